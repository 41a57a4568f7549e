"""Match records as JSON: the game records of AbstractPlay, written and read, and other lists of games, read.

The layout of a game record is the public schema https://www.abstractplay.com/schemas/gamerecord/1-0-0.json: a
header with game, site, dates and players, then the moves by rounds. It has no place for the options, the way a
match ended or the time control: ours stand under ``tabuleiro`` in the header, which the schema leaves open for
such things. It wants finished matches with known dates; of others, the dates that are not known are left out.

Also read are the results of ``tabuleiro arena --json``, games in the form of check vectors
(:mod:`tabuleiro.notation.vectors`), lists of all of these, and lists of actions.
"""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Iterable, Iterator
from contextlib import suppress
from dataclasses import dataclass
from functools import partial
from typing import Any, Final

from tabuleiro.errors import GameOptionError, IllegalActionError, NotationError, RecordError
from tabuleiro.ids import PLAYERS, Player, TimestampMs
from tabuleiro.notation.actions import split_actions
from tabuleiro.notation.record import (
    NO_RESULT,
    UNFINISHED,
    UNKNOWN,
    WINS,
    MatchRecord,
    RecordPlayer,
    RecordTurn,
    assumed_outcome,
    format_timestamp,
    outcome_problem,
    parse_timestamp,
    replay,
    result_of,
    turns,
)
from tabuleiro.notation.record_text import (
    ACTIONS_MAX_COUNT,
    RECORDS_MAX_COUNT,
    canonical_time_control,
    named_game,
)
from tabuleiro.rules import Game, State, registry
from tabuleiro.rules.base import Outcome, Termination
from tabuleiro.rules.options import OptionValue, parse_options
from tabuleiro.text import one_of

SITE: Final = "tabuleiro"
ABSTRACT_PLAY: Final = "Abstract Play"
"""The name of that site in its records."""

_ABSTRACT_PLAY_MINEFIELD_SIZE: Final = 11
"""The board of Minefield there without a variant that names another."""
_SIZE_VARIANT: Final = re.compile(r"[^0-9=]*([0-9]{1,3})(?:\s*[x×-]\s*\1)?[^0-9=]*")
_ENDINGS: Final = {
    "resign": Termination.RESIGNATION,
    "resigned": Termination.RESIGNATION,
    "timeout": Termination.TIMEOUT,
    "drawagreed": Termination.AGREEMENT,
    "abandoned": Termination.ABANDONED,
    "gameabandoned": Termination.ABANDONED,
}
"""What ended a match, in moves and their results there."""
_SPACE: Final = re.compile(r"[\s\ufeff]*")

JsonValue = None | bool | int | str | list["JsonValue"] | dict[str, "JsonValue"]


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


class _Fault(Exception):
    """A value in JSON that cannot be; ``path`` leads to it."""

    def __init__(self, path: tuple[str | int, ...], value: object, expected: str) -> None:
        super().__init__(expected)
        self.path = path
        self.value = value
        self.expected = expected


@dataclass(frozen=True, slots=True)
class _Json:
    """A value in JSON, and the names and numbers that lead to it. Its methods raise _Fault for another kind."""

    value: Any
    path: tuple[str | int, ...] = ()

    def fault(self, expected: str) -> _Fault:
        return _Fault(self.path, self.value, expected)

    def has(self, *names: str) -> bool:
        """Return True for an object with all these fields, none of them null."""
        return isinstance(self.value, dict) and all(self.value.get(name) is not None for name in names)

    def field(self, name: str) -> _Json:
        if not self.has(name):
            raise self.fault(f"an object with the field {name}")
        return _Json(self.value[name], (*self.path, name))

    def items(self) -> Iterator[_Json]:
        if not isinstance(self.value, list):
            raise self.fault("a list")
        return (_Json(item, (*self.path, place)) for place, item in enumerate(self.value))

    def pair(self) -> tuple[_Json, _Json]:
        """Return the items of a list of two, of player 0 and of player 1."""
        items = list(self.items())
        if len(items) != len(PLAYERS):
            raise self.fault("a list of two, for both players")
        return items[0], items[1]

    def text(self) -> str:
        if not isinstance(self.value, str):
            raise self.fault("a text")
        return self.value

    def optional_text(self, name: str) -> str | None:
        return self.field(name).text() if self.has(name) else None

    def options(self) -> dict[str, OptionValue]:
        """Return the options of a game, whose values the game checks; none without the field."""
        if not self.has("options"):
            return {}
        given = self.field("options")
        if not isinstance(given.value, dict):
            raise given.fault("an object of options")
        whole = {
            name: int(value) if isinstance(value, float) and value.is_integer() else value
            for name, value in given.value.items()
        }
        return {name: value if isinstance(value, int | str) else str(value) for name, value in whole.items()}


@dataclass(frozen=True, slots=True)
class JsonRecord:
    """The record of one match in JSON, found but not yet checked: :meth:`read` does that."""

    document: str
    start: int
    found: _Json
    reader: Callable[[_Json, Game | None], MatchRecord]
    names_game: bool = True

    def read(self, default: Game | None = None) -> MatchRecord:
        """Check the record against the rules; ``default`` is the game of one that names none.

        Raises:
            RecordError: Something is wrong; it names line and column of it.
        """
        try:
            return self.reader(self.found, default)
        except _Fault as fault:
            raise _located(fault, self.document, self.start) from None


def find_json_records(text: str) -> tuple[JsonRecord, ...]:
    """Return the records in JSON values that follow each other in ``text``.

    Raises:
        RecordError: It is no JSON, or a value is none of those that hold records.
    """
    decoder, found = json.JSONDecoder(), list[JsonRecord]()
    start = _after_space(text, 0)
    while start < len(text):
        try:
            value, end = decoder.raw_decode(text, start)
            found += (JsonRecord(text, start, *each) for each in _iter_records(_Json(value)))
        except json.JSONDecodeError as error:
            raise RecordError("", error.lineno, error.colno, f"this is not JSON: {error.msg}") from None
        except (ValueError, RecursionError):
            raise _located(_Fault((), "", "numbers and lists of a usual size"), text, start) from None
        except _Fault as fault:
            raise _located(fault, text, start) from None
        if len(found) > RECORDS_MAX_COUNT:
            raise _located(_Fault((), "", f"at most {RECORDS_MAX_COUNT} records"), text, start)
        start = _after_space(text, end)
    return tuple(found)


_Found = tuple[_Json, Callable[[_Json, Game | None], MatchRecord], bool]
_DEPTH_MAX: Final = 3
"""How deep in lists records may be."""


def _iter_records(value: _Json) -> Iterator[_Found]:
    """Yield the values that are records, how each is read, and whether it names its game."""
    if value.has("header", "moves"):
        yield value, _read_game_record, True
    elif value.has("game", "games"):
        for game in value.field("games").items():
            yield game, partial(_read_arena_game, value), True
    elif value.has("game", "actions"):
        yield value, _read_plain_game, True
    elif isinstance(value.value, list) and value.value and all(isinstance(item, str) for item in value.value):
        yield value, _read_actions, False
    elif isinstance(value.value, list) and len(value.path) < _DEPTH_MAX:
        for item in value.items():
            yield from _iter_records(item)
    else:
        raise value.fault(
            "a record: an object with header and moves, as export writes it, the results of an arena, "
            "an object with game, options and actions, or a list of these"
        )


def _read_actions(actions: _Json, default: Game | None) -> MatchRecord:
    if default is None:
        raise actions.fault("an object with game, options and actions, or the game named beside the file")
    play = _Play(default)
    play.add_all(actions)
    return play.record(actions)


def _read_plain_game(value: _Json, _: Game | None) -> MatchRecord:
    """Read a game in the form of check vectors."""
    play = _Play(_load(value.field("game"), value))
    play.add_all(value.field("actions"))
    return play.record(value)


def _read_arena_game(arena: _Json, value: _Json, _: Game | None) -> MatchRecord:
    play = _Play(_load(arena.field("game"), value if value.has("options") else arena))
    play.add_all(value.field("actions"))
    levels = {}
    for each in arena.field("players").items():
        levels[each.field("label").text()] = each.optional_text("level")
    first, second = (label.text() for label in value.field("players").pair())
    play.players = (
        RecordPlayer(first, levels.get(first) or first),
        RecordPlayer(second, levels.get(second) or second),
    )
    winner = value.value.get("winner")
    ended = value.optional_text("termination")
    if winner is not None and (isinstance(winner, bool) or winner not in PLAYERS):
        raise value.field("winner").fault("0, 1 or null")
    if ended == "fault":
        play.outcome = Outcome(winner, Termination.ABANDONED)  # a program that fails leaves
    elif ended == "ply-limit":
        play.outcome = Outcome(None, Termination.AGREEMENT)  # the terms of the arena are agreed on beforehand
    elif play.outcome is None or play.outcome.winner != winner:
        raise value.fault("the winner and termination that the rules give")
    return play.record(value)


def _read_game_record(value: _Json, _: Game | None) -> MatchRecord:
    """Read a game record of AbstractPlay, or one of ours, which says more."""
    header = value.field("header")
    is_of_abstract_play = header.has("site") and header.field("site").optional_text("name") == ABSTRACT_PLAY
    own = header.field(SITE) if header.has(SITE) else None
    play = _Play(_load(own.field("game"), own) if own else _game_of_header(header, is_of_abstract_play))
    ending: Termination | None = None
    for entry in value.field("moves").items():
        for seat, move, words in _moves_of_round(entry):
            text, mover = move.text().strip().lower(), play.state.to_move
            ending = next((_ENDINGS[word] for word in (text, *words) if word in _ENDINGS), ending)
            if text in _ENDINGS or (text == "pass" and mover not in (seat, None)):
                continue  # no action, or the pass of a player whom our rules skip
            if mover not in (seat, None):
                raise move.fault(f"the turn of player {mover}")
            play.add(
                _without_goal_rows(text) if is_of_abstract_play and play.game.name == "xero-g" else text, move
            )
    first, second = header.field("players").pair()
    play.players = (_player_in(first), _player_in(second))
    play.outcome = _own_outcome(own) if own else _outcome_of_header(header, ending, play.state)
    play.started_at_ms, play.ended_at_ms = _moment(header, "date-start"), _moment(header, "date-end")
    if own and own.has("time-control"):
        control = own.field("time-control")
        try:
            play.time_control = canonical_time_control(control.text())
        except NotationError as error:
            raise control.fault(error.expected) from error
    return play.record(header)


class _Play:
    """A match that is being played after a record, and what else the record says of it."""

    def __init__(self, game: Game) -> None:
        self.game = game
        self.state = game.initial_state()
        self.outcome = self.state.outcome
        self.players = (RecordPlayer(UNKNOWN), RecordPlayer(UNKNOWN))
        self.started_at_ms: TimestampMs | None = None
        self.ended_at_ms: TimestampMs | None = None
        self.time_control = "none"
        self._texts: list[str] = []

    def add(self, text: str, at: _Json) -> None:
        """Play the actions in ``text``."""
        for part in split_actions(text):
            if len(self._texts) == ACTIONS_MAX_COUNT:
                raise at.fault(f"at most {ACTIONS_MAX_COUNT} actions in a record")
            try:
                action = self.state.string_to_action(part.text)
                self._texts.append(self.state.action_to_string(action))
                self.state = self.state.apply(action)
            except IllegalActionError as error:
                raise _Fault(at.path, part.text, f"a legal action: {error.reason}") from error
            except NotationError as error:
                raise _Fault(at.path, part.text, error.expected) from error
        self.outcome = self.state.outcome

    def add_all(self, actions: _Json) -> None:
        """Play a list of actions."""
        for action in actions.items():
            self.add(action.text(), action)

    def record(self, at: _Json) -> MatchRecord:
        """Return the record, whose end is checked."""
        problem = outcome_problem(self.state, self.outcome)
        if problem is not None:
            raise _Fault(at.path, self.outcome and self.outcome.termination.value, f"another end: {problem}")
        return MatchRecord(
            game=self.game.name,
            options=self.game.options,
            players=self.players,
            actions=tuple(self._texts),
            outcome=self.outcome,
            started_at_ms=self.started_at_ms,
            ended_at_ms=self.ended_at_ms,
            time_control=self.time_control,
        )


def _load(name: _Json, holder: _Json) -> Game:
    """Return the game called ``name`` with the options that ``holder`` has."""
    try:
        game, preset = named_game(name.text())
        return registry.load(game, {**preset, **holder.options()})
    except GameOptionError as error:
        if holder.has("options") and error.option in holder.field("options").value:
            raise holder.field("options").field(error.option).fault(error.expected) from error
        raise name.fault(error.expected) from error


def _game_of_header(header: _Json, is_of_abstract_play: bool) -> Game:
    """Return the game that a header names, with its variants as options."""
    here = name = header.field("game").field("name")
    try:
        game, preset = named_game(name.text())
        options: dict[str, OptionValue] = dict(preset)
        for here in header.field("game").field("variants").items() if header.field("game").has("variants") else ():
            variant = here.text()
            size = _SIZE_VARIANT.fullmatch(variant) if game == "minefield" else None
            texts = [f"size={size[1]}"] if size is not None else [variant]
            options.update(parse_options(registry.game_type(game).option_specs, texts))
        if is_of_abstract_play and game == "minefield":
            options.setdefault("size", _ABSTRACT_PLAY_MINEFIELD_SIZE)
        if header.has("startingPosition"):
            here = header.field("startingPosition")
            options["position"] = here.text()
        return registry.load(game, options)
    except GameOptionError as error:
        raise here.fault(error.expected) from error


def _moves_of_round(entry: _Json) -> list[tuple[Player, _Json, list[str]]]:
    """Return the moves of a round in the order of play: the seat, the move, and words for what came of it."""
    found, order = list[tuple[Player, _Json, list[str]]](), list[object]()
    for seat, move in zip(PLAYERS, entry.items(), strict=False):
        if move.value is None:
            continue
        words: list[str] = []
        if move.has("result") and isinstance(move.field("result").value, list):
            words = [each.optional_text("type") or "" for each in move.field("result").items()]
        order.append(move.value.get("sequence") if isinstance(move.value, dict) else None)
        found.append((seat, move.field("move") if isinstance(move.value, dict) else move, words))
    if len(entry.value) > len(PLAYERS):
        raise entry.fault("a list of two, for both players")
    numbers = [number for number in order if isinstance(number, int)]
    return found[::-1] if len(numbers) == len(PLAYERS) and numbers[1] < numbers[0] else found


def _without_goal_rows(text: str) -> str:
    """Return a move of Gygès as we write it: AbstractPlay counts the goals, c1 and d8, among the rows.

    >>> [_without_goal_rows(text) for text in ("3a2,1b2", "a2-c4(d7)", "a2-c7-d8")]
    ['3@a1,1@b1', 'a1-c3(d6)', 'a1-c6-base']
    """
    placed = re.sub(r"(?<![a-z0-9])([123])(?=[a-f])", r"\1@", text)
    named = re.sub(r"c1|d8", "base", placed)
    return re.sub(r"([a-f])([2-7])(?![0-9])", lambda cell: f"{cell[1]}{int(cell[2]) - 1}", named)


def _player_in(described: _Json) -> RecordPlayer:
    is_bot = described.has("is_ai") and described.field("is_ai").value is True
    name = described.field("name").text()
    return RecordPlayer(name, (described.optional_text("level") or "bot") if is_bot else None)


def _own_outcome(own: _Json) -> Outcome | None:
    """Return the end of a match as our own exports tell it."""
    result, termination = own.field("result"), own.field("termination")
    word, known = termination.text(), (UNFINISHED, *(known.value for known in Termination))
    if word not in known:
        raise termination.fault(one_of(known))
    winner: Player | None = 0 if result.value == WINS[0] else 1 if result.value == WINS[1] else None
    outcome = None if word == UNFINISHED else Outcome(winner, Termination(word))
    if result.value != result_of(outcome):
        raise result.fault(f"the result {result_of(outcome)} with the termination {word}")
    return outcome


def _outcome_of_header(header: _Json, ending: Termination | None, state: State) -> Outcome | None:
    """Return the end of a match by the results of the players, of whom the winner has more."""
    results = [player.field("result") for player in header.field("players").pair()]
    for result in results:
        if isinstance(result.value, bool) or not isinstance(result.value, int | float):
            raise result.fault("a number")
    first, second = (result.value for result in results)
    winner: Player | None = 0 if first > second else 1 if second > first else None
    if ending is not None and state.outcome is None:
        return Outcome(winner, ending)
    return assumed_outcome(state, winner, is_draw=winner is None and header.has("date-end"))


def _moment(header: _Json, name: str) -> TimestampMs | None:
    if not header.has(name):
        return None
    moment = header.field(name)
    try:
        return parse_timestamp(moment.text())
    except NotationError as error:
        raise moment.fault(error.expected) from error


def _located(fault: _Fault, document: str, start: int) -> RecordError:
    """Return the error with the line and column of the value that is wrong."""
    position = _after_space(document, start)
    with suppress(ValueError, RecursionError, IndexError):
        for name in fault.path:
            position = _position_of(document, position, name)
    line = document.count("\n", 0, position) + 1
    text = fault.value if isinstance(fault.value, str) else json.dumps(fault.value)[:100]
    return RecordError(text, line, position - document.rfind("\n", 0, position), f"expected {fault.expected}")


def _position_of(document: str, start: int, name: str | int) -> int:
    """Return where the value called ``name`` begins in the object or list that begins at ``start``."""
    decoder, found = json.JSONDecoder(), start
    position, place, is_object = _after_space(document, start + 1), 0, document[start] == "{"
    while document[position] not in "]}":
        key: object = place
        if is_object:
            key, position = decoder.raw_decode(document, position)
            position = _after_space(document, _after_space(document, position) + 1)
        if key == name:
            found = position
            if not is_object:
                break
        _, position = decoder.raw_decode(document, position)
        position = _after_space(document, position)
        if document[position] == ",":
            position = _after_space(document, position + 1)
        place += 1
    return found


def _after_space(text: str, start: int) -> int:
    found = _SPACE.match(text, start)
    return start if found is None else found.end()
