"""Formats of match records beside our own text: today JSON in the layout of the AbstractPlay game records.

The layout is the public schema https://www.abstractplay.com/schemas/gamerecord/1-0-0.json: a header with game,
site, dates and players, then the moves by rounds. It has no place for the options, the way a match ended or the
time control: they stand under ``tabuleiro`` in the header, which the schema leaves open for such things.

The schema wants finished matches with known dates; of others, the dates that are not known are left out. Files and
the clock are left to the callers.
"""

from __future__ import annotations

import json
from collections.abc import Iterable
from enum import StrEnum

from tabuleiro.ids import PLAYERS, TimestampMs
from tabuleiro.notation.record import (
    NO_RESULT,
    MatchRecord,
    RecordTurn,
    format_record,
    format_timestamp,
    replay,
    turns,
)
from tabuleiro.rules import Game, registry

SITE = "tabuleiro"

JsonValue = None | bool | int | str | list["JsonValue"] | dict[str, "JsonValue"]


class RecordFormat(StrEnum):
    """The formats in which a match is exported."""

    RECORD = "record"
    JSON = "json"


def write_record(record: MatchRecord, record_format: RecordFormat, *, game_id: str | None = None) -> str:
    """Write a record in a format; the text ends with a line end.

    ``game_id`` is the name of the match on its server, ``None`` for none.

    Raises:
        GameOptionError, NotationError, IllegalActionError: The rules refuse the record.
        ValueError: The outcome contradicts the rules.
    """
    if record_format is RecordFormat.RECORD:
        return format_record(record)
    return json.dumps(export_json(record, game_id=game_id), indent=2, ensure_ascii=False) + "\n"


def export_json(
    record: MatchRecord, *, game_id: str | None = None, generated_at_ms: TimestampMs | None = None
) -> dict[str, JsonValue]:
    """Return ``record`` as an AbstractPlay game record, made of plain JSON values.

    ``game_id`` is the name of the match on its server, ``None`` for none; ``generated_at_ms`` is the moment of the
    export, ``None`` for the end of the match. A match without a result gives both players 0 and is ``unrated``.

    Raises:
        GameOptionError, NotationError, IllegalActionError: The rules refuse the record.
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
    header["players"] = [_player(record, seat) for seat in PLAYERS]
    if "position" in game.options:
        header["startingPosition"] = str(game.options["position"])
    return {**header, SITE: own}


def _player(record: MatchRecord, seat: int) -> JsonValue:
    """Return one player; ``seat`` keeps the two apart even when all else is equal, as the schema wants."""
    player, winner = record.players[seat], None if record.outcome is None else record.outcome.winner
    described: dict[str, JsonValue] = {"name": player.name, "seat": seat, "result": 1 if winner == seat else 0}
    described["is_ai"] = player.bot is not None
    if player.bot is not None:
        described["level"] = player.bot
    return described


def _variants(game: Game) -> list[JsonValue]:
    """Return the options that differ from those of the game without any, as ``name=value``; the position apart."""
    usual = registry.load(game.name).options
    return [
        f"{name}={value}"
        for name, value in game.options.items()
        if name != "position" and usual.get(name) != value
    ]


def _rounds(played: Iterable[RecordTurn]) -> list[JsonValue]:
    """Return the turns by rounds of two, in seating order; ``None`` for a player without a turn in a round."""
    rounds: list[list[JsonValue]] = []
    for turn in played:
        if not rounds or rounds[-1][turn.player] is not None or (turn.player == 0 and rounds[-1][1] is not None):
            rounds.append([None, None])
        rounds[-1][turn.player] = " ".join(turn.actions)
    return [list(entry) for entry in rounds]
