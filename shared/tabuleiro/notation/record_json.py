"""Match records as JSON in the layout of the AbstractPlay game records.

The layout is the public schema https://www.abstractplay.com/schemas/gamerecord/1-0-0.json: a header with game,
site, dates and players, then the moves by rounds. It has no place for the options, the way a match ended or the
time control: they stand under ``tabuleiro`` in the header, which the schema leaves open for such things.

The schema wants finished matches with known dates; of others, the dates that are not known are left out. Making
bytes of the value, and the clock, are left to the callers.
"""

from __future__ import annotations

from collections.abc import Iterable

from tabuleiro.ids import TimestampMs
from tabuleiro.notation.match_record import NO_RESULT, MatchRecord, RecordTurn, replay, turns
from tabuleiro.notation.record import format_timestamp
from tabuleiro.rules import Game, registry

SITE = "tabuleiro"

JsonValue = None | bool | int | str | list["JsonValue"] | dict[str, "JsonValue"]


def export_json(
    record: MatchRecord, *, game_id: str | None = None, generated_at_ms: TimestampMs | None = None
) -> dict[str, JsonValue]:
    """Return ``record`` as an AbstractPlay game record, made of plain JSON values.

    ``game_id`` is the name of the match on its server, ``None`` for none; ``generated_at_ms`` is the moment of the
    export, ``None`` for the end of the match. A match without a result gives both players 0 and is ``unrated``.

    Raises: GameOptionError, NotationError or IllegalActionError for a record that the rules refuse.
    """
    states = replay(record)
    return {"header": _header(record, game_id, generated_at_ms), "moves": _rounds(turns(record, states))}


def _header(record: MatchRecord, game_id: str | None, generated_at_ms: TimestampMs | None) -> dict[str, JsonValue]:
    game = registry.load(record.game, record.options)
    own: dict[str, JsonValue] = {
        "game": game.name,
        "options": dict(game.options),
        "result": record.result,
        "termination": record.termination,
        "time-control": record.time_control,
    }
    header: dict[str, JsonValue] = {
        "game": {"name": game.title, "variants": _variants(game)},
        "site": {"name": SITE} if game_id is None else {"name": SITE, "gameid": game_id},
    }
    moments = {
        "date-start": record.started_at_ms,
        "date-end": record.ended_at_ms,
        "date-generated": record.ended_at_ms if generated_at_ms is None else generated_at_ms,
    }
    header.update({key: format_timestamp(moment) for key, moment in moments.items() if moment is not None})
    if record.result == NO_RESULT:
        header["unrated"] = True
    header["players"] = [_player(record, seat) for seat in (0, 1)]
    if "position" in game.options:
        header["startingPosition"] = str(game.options["position"])
    return {**header, SITE: own}


def _player(record: MatchRecord, seat: int) -> JsonValue:
    """One player; ``seat`` keeps the two apart even when all else is equal, as the schema wants."""
    player, winner = record.players[seat], None if record.outcome is None else record.outcome.winner
    described: dict[str, JsonValue] = {"name": player.name, "seat": seat, "result": 1 if winner == seat else 0}
    described["is_ai"] = player.bot is not None
    if player.bot is not None:
        described["level"] = player.bot
    return described


def _variants(game: Game) -> list[JsonValue]:
    """The options that differ from those of the game without any, as ``name=value``; the position apart."""
    usual = registry.load(game.name).options
    return [
        f"{name}={value}"
        for name, value in game.options.items()
        if name != "position" and usual.get(name) != value
    ]


def _rounds(played: Iterable[RecordTurn]) -> list[JsonValue]:
    """The turns by rounds of two, in seating order; ``None`` for a player who did not play in a round."""
    rounds: list[list[JsonValue]] = []
    for turn in played:
        if not rounds or rounds[-1][turn.player] is not None or (turn.player == 0 and rounds[-1][1] is not None):
            rounds.append([None, None])
        rounds[-1][turn.player] = " ".join(turn.actions)
    return [list(entry) for entry in rounds]
