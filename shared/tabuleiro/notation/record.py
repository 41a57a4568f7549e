r"""Game records: a match as a value, and as a text that people read and programs replay.

:class:`MatchRecord` is the value that every format is read into and written from. The text of our own format is
headers, an empty line, and one line a turn::

    [Game "virus-wars"]
    [Option "rows=11"]
    [Player0 "Ana"]
    [Player1 "computer"]
    [Bot1 "minimax-3"]
    [Started "2026-11-27T20:15:00.000Z"]
    [Ended "?"]
    [Result "*"]
    [Termination "unfinished"]
    [TimeControl "none"]

    1. b10 c9 d8 e7 f6
    2. j2 i3

Values are quoted as in JSON. ``Player0`` moved first; ``Bot`` names the level of a bot; dates are ISO
8601, ``?`` when not known; ``Result`` is ``1-0``, ``0-1``, ``1/2-1/2`` or ``*``; there is one ``Option`` header
for each option. A line is the number of the turn and its actions; a turn may go on in another line of the same
number. Lines that begin with ``#`` are comments. Headers that are missing have the value of the example, but
``Game`` must be there, and with neither ``Result`` nor ``Termination`` the rules alone say how it ended.

Reading trusts nothing: every option and action is checked. Files, encodings and the clock are left to the
callers, other formats to :mod:`tabuleiro.notation.formats`.
"""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime, timedelta
from typing import Final, TypeVar

from tabuleiro.clock.texts import format_time_control, parse_time_control
from tabuleiro.errors import GameOptionError, NotationError, RecordError, TurnError
from tabuleiro.ids import PLAYERS, Player, TimestampMs
from tabuleiro.notation.actions import iter_actions, split_actions
from tabuleiro.rules import Game, State, registry
from tabuleiro.rules.base import RULE_TERMINATIONS, Outcome, Termination
from tabuleiro.rules.options import Options, OptionValue, parse_options
from tabuleiro.text import one_of

UNFINISHED: Final = "unfinished"
"""The termination of a match that goes on, or whose end nobody recorded."""
NO_RESULT: Final = "*"
WINS: Final = ("1-0", "0-1")
DRAW: Final = "1/2-1/2"
WITHOUT_RESULT: Final = frozenset({Termination.ABORTED, Termination.ABANDONED})
"""Terminations that leave no result when nobody won by them."""


@dataclass(frozen=True, slots=True)
class RecordPlayer:
    """The player of a side; ``bot`` is the level of a bot, ``None`` for a person."""

    name: str
    bot: str | None = None


@dataclass(frozen=True, slots=True)
class MatchRecord:
    """One match, finished or not.

    ``actions`` are canonical texts since the start, ``options`` may leave out defaults. ``outcome`` is ``None``
    for a match that goes on; times are ``None`` when not known. ``time_control`` is a text that
    :func:`tabuleiro.clock.texts.parse_time_control` reads.
    """

    game: str
    options: Options
    players: tuple[RecordPlayer, RecordPlayer]
    actions: tuple[str, ...] = ()
    outcome: Outcome | None = None
    started_at_ms: TimestampMs | None = None
    ended_at_ms: TimestampMs | None = None
    time_control: str = "none"

    @property
    def result(self) -> str:
        """``1-0``, ``0-1``, ``1/2-1/2``, or ``*`` for a match without a result."""
        return result_of(self.outcome)

    @property
    def termination(self) -> str:
        """The cause of the end, ``unfinished`` when the match goes on."""
        return UNFINISHED if self.outcome is None else self.outcome.termination.value


@dataclass(frozen=True, slots=True)
class RecordTurn:
    """The actions that ``player`` made in one turn; ``ply`` counts the actions of the match before them."""

    number: int
    player: Player
    ply: int
    actions: tuple[str, ...] = ()


def replay(record: MatchRecord) -> tuple[State, ...]:
    """Return all states of a match: the start, and the state after each action.

    Raises:
        GameOptionError, NotationError, IllegalActionError: The rules refuse the record.
    """
    state = registry.load(record.game, record.options).initial_state()
    states = [state]
    for text in record.actions:
        state = state.apply(state.string_to_action(text))
        states.append(state)
    return tuple(states)


def turns(record: MatchRecord, states: Sequence[State]) -> tuple[RecordTurn, ...]:
    """Return the actions of a match by turns, in canonical texts; ``states`` is the result of :func:`replay`."""
    played = zip(record.actions, states[:-1], strict=True)
    return parted_turns([state.action_to_string(state.string_to_action(text)) for text, state in played], states)


def parted_turns(actions: Sequence[str], states: Sequence[State]) -> tuple[RecordTurn, ...]:
    """Return ``actions`` by turns; ``states`` holds the position before each of them, and the last one."""
    found: list[RecordTurn] = []
    for ply, (text, state) in enumerate(zip(actions, states[:-1], strict=True)):
        if found and found[-1].number == state.turn_number:
            found[-1] = replace(found[-1], actions=(*found[-1].actions, text))
        elif state.to_move is not None:
            found.append(RecordTurn(state.turn_number, state.to_move, ply, (text,)))
    return tuple(found)


def result_of(outcome: Outcome | None) -> str:
    """Return ``1-0``, ``0-1``, ``1/2-1/2``, or ``*`` for no result; ``None`` is a match that goes on.

    >>> result_of(Outcome(0, Termination.RESIGNATION)), result_of(Outcome(None, Termination.ABORTED))
    ('1-0', '*')
    """
    if outcome is None:
        return NO_RESULT
    if outcome.winner is not None:
        return WINS[outcome.winner]
    return NO_RESULT if outcome.termination in WITHOUT_RESULT else DRAW


def outcome_problem(state: State, outcome: Outcome | None) -> str | None:
    """Return the reason why a match with the last state ``state`` cannot have this outcome; ``None`` if it can."""
    by_rules = state.outcome
    if by_rules is not None and outcome != by_rules:
        winner = "nobody" if by_rules.winner is None else f"player {by_rules.winner}"
        return f"by the rules the game ends here: {winner} wins by {by_rules.termination}"
    if by_rules is None and outcome is not None and outcome.termination in RULE_TERMINATIONS:
        return "by the rules the game does not end here"
    if outcome is not None and outcome.termination is Termination.ABORTED and outcome.winner is not None:
        return "nobody wins an aborted match"
    return None


UNKNOWN: Final = "?"

_EPOCH: Final = datetime(1970, 1, 1, tzinfo=UTC)
_HEADER: Final = re.compile(r'\[\s*([A-Za-z]+[01]?)\s+(".*")\s*\]\s*')
_TURN: Final = re.compile(r"\s*([0-9]{1,9})\.(.*)")
_OPTION: Final = "Option"
_HEADERS: Final = (
    "Game",
    _OPTION,
    *("Player0", "Player1", "Bot0", "Bot1"),
    *("Started", "Ended", "Result", "Termination", "TimeControl"),
)
_Value = TypeVar("_Value")


def format_record(record: MatchRecord) -> str:
    """Write a record as text, every option named; it ends with a line end.

    Raises:
        GameOptionError, NotationError, IllegalActionError: The rules refuse the record.
        ValueError: The outcome contradicts the rules.
    """
    states = replay(record)
    problem = outcome_problem(states[-1], record.outcome)
    if problem is not None:
        raise ValueError(f"{record.result} by {record.termination}: {problem}")
    game = registry.load(record.game, record.options)
    headers = [("Game", record.game)]
    headers += [
        (_OPTION, f"{spec.key}={str(game.options[spec.key]).strip()}")
        for spec in game.option_specs
        if spec.key in game.options
    ]
    headers += [(f"Player{seat}", player.name) for seat, player in enumerate(record.players)]
    headers += [(f"Bot{seat}", player.bot) for seat, player in enumerate(record.players) if player.bot is not None]
    headers += [
        ("Started", format_timestamp(record.started_at_ms)),
        ("Ended", format_timestamp(record.ended_at_ms)),
        ("Result", record.result),
        ("Termination", record.termination),
        ("TimeControl", _canonical_time_control(record.time_control)),
    ]
    lines = [f"[{key} {_quote(value)}]" for key, value in headers]
    lines.append("")
    lines += [f"{turn.number}. {' '.join(turn.actions)}" for turn in turns(record, states)]
    return "\n".join(lines).rstrip("\n") + "\n"


def format_timestamp(moment_ms: TimestampMs | None) -> str:
    """Write a moment in ISO 8601, to the millisecond, in UTC; ``None`` is ``?``.

    Raises:
        OverflowError: The moment is outside the years 1 to 9999.

    >>> format_timestamp(TimestampMs(1))
    '1970-01-01T00:00:00.001Z'
    """
    if moment_ms is None:
        return UNKNOWN
    moment = _EPOCH + timedelta(milliseconds=moment_ms)
    return moment.isoformat(timespec="milliseconds").removesuffix("+00:00") + "Z"


def parse_timestamp(text: str) -> TimestampMs | None:
    """Read an ISO 8601 date, with a time or without; without a time zone it is UTC. ``?`` is ``None``.

    Raises:
        NotationError: The text is no such date.
    """
    if text == UNKNOWN:
        return None
    try:
        moment = datetime.fromisoformat(text)
        if moment.tzinfo is None:
            moment = moment.replace(tzinfo=UTC)
        return TimestampMs((moment - _EPOCH) // timedelta(milliseconds=1))
    except (ValueError, OverflowError):
        raise NotationError(text, "an ISO 8601 date and time, e.g. 2026-11-27T20:15:00.000Z, or ?") from None


def _quote(text: str) -> str:
    """Quote a value as JSON does, with everything escaped that would not be seen or could not be encoded."""
    whole = text.encode("utf-16", "surrogatepass").decode("utf-16", "replace")
    quoted = json.dumps(whole, ensure_ascii=False)
    return "".join(letter if letter.isprintable() else json.dumps(letter)[1:-1] for letter in quoted)


@dataclass(frozen=True, slots=True)
class _Header:
    """The value of a header and where its quotes begin."""

    value: str
    line: int
    column: int

    def error(self, expected: str) -> RecordError:
        return RecordError(self.value, self.line, self.column, expected)


@dataclass(slots=True)
class _Parts:
    """A record taken apart: its headers by name, its options in order, its turns as (line, number, rest)."""

    headers: dict[str, _Header] = field(default_factory=dict)
    options: list[_Header] = field(default_factory=list)
    turns: list[tuple[int, re.Match[str]]] = field(default_factory=list)

    def text(self, name: str, default: str) -> str:
        header = self.headers.get(name)
        return default if header is None else header.value


def parse_record(text: str) -> MatchRecord:
    """Read a record and check all of it against the rules. The record names every option.

    Raises:
        RecordError: Something is wrong; it names line and column of the first such text.
    """
    parts = _take_apart(text)
    game = _read_game(parts)
    actions, state = _play(game, parts.turns)
    outcome = _read_outcome(parts, state)
    bots = [parts.headers.get(f"Bot{seat}") for seat in PLAYERS]
    names = [parts.text(f"Player{seat}", UNKNOWN) for seat in PLAYERS]
    first, second = (
        RecordPlayer(name, None if bot is None else bot.value) for name, bot in zip(names, bots, strict=True)
    )
    return MatchRecord(
        game=game.name,
        options=game.options,
        players=(first, second),
        actions=actions,
        outcome=outcome,
        started_at_ms=_read_header(parts, "Started", parse_timestamp, None),
        ended_at_ms=_read_header(parts, "Ended", parse_timestamp, None),
        time_control=_read_header(parts, "TimeControl", _canonical_time_control, "none"),
    )


def _take_apart(text: str) -> _Parts:
    parts = _Parts()
    for number, line in enumerate(text.removeprefix("\ufeff").split("\n"), start=1):
        bare = line.strip()
        if not bare or bare.startswith("#"):
            continue
        column = len(line) - len(line.lstrip()) + 1
        if bare.startswith("["):
            if parts.turns:
                raise RecordError(bare, number, column, "headers come before the turns")
            _add_header(parts, line, number, column)
            continue
        turn = _TURN.match(line)
        if turn is None:
            raise RecordError(bare, number, column, "expected the number of a turn and its actions, e.g. 1. c3")
        parts.turns.append((number, turn))
    return parts


def _add_header(parts: _Parts, line: str, number: int, column: int) -> None:
    found = _HEADER.fullmatch(line, column - 1)
    if found is None:
        raise RecordError(line.strip(), number, column, 'expected a header, e.g. [Game "virus-wars"]')
    name = next((known for known in _HEADERS if known.lower() == found[1].lower()), None)
    if name is None:
        raise RecordError(found[1], number, found.start(1) + 1, "expected " + one_of(_HEADERS))
    try:
        value = str(json.loads(found[2]))
    except ValueError:
        expected = "expected one text in double quotes, with \\ before quotes and backslashes inside it"
        raise RecordError(found[2], number, found.start(2) + 1, expected) from None
    header = _Header(value, number, found.start(2) + 1)
    if name == _OPTION:
        parts.options.append(header)
    elif parts.headers.setdefault(name, header) is not header:
        raise RecordError(found[1], number, found.start(1) + 1, "this header is there already")


def _read_game(parts: _Parts) -> Game:
    """Return the game that the headers name, its options checked."""
    named = parts.headers.get("Game")
    if named is None:
        raise RecordError("", 1, 1, 'expected a header that names the game, e.g. [Game "virus-wars"]')
    options: dict[str, OptionValue] = {}
    places: dict[str, _Header] = {}
    here = named
    try:
        specs = registry.game_type(named.value).option_specs
        for here in parts.options:
            for name, value in parse_options(specs, [here.value]).items():
                if name in options:
                    raise here.error("this option is there already")
                options[name], places[name] = value, here
        here = named
        return registry.load(named.value, options)
    except GameOptionError as error:
        raise places.get(error.option, here).error(f"expected {error.expected}") from error


def _play(game: Game, lines: Iterable[tuple[int, re.Match[str]]]) -> tuple[tuple[str, ...], State]:
    """Play the turns and return the actions in canonical texts and the last state."""
    state, texts = game.initial_state(), []
    for line, turn in lines:
        number, place = turn[1], turn.start(1) + 1
        if state.is_terminal:
            raise RecordError(f"{number}.", line, place, "the game is over before this turn")
        if int(number) != state.turn_number:
            raise RecordError(f"{number}.", line, place, f"expected turn {state.turn_number}")
        parts = split_actions(turn[2])
        if not parts:
            raise RecordError(f"{number}.", line, place, "expected the actions of the turn after its number")
        try:
            for action, after in iter_actions(state, parts):
                texts.append(state.action_to_string(action))
                state = after
        except TurnError as error:
            raise RecordError(error.text, line, turn.start(2) + error.column, error.expected) from error
    return tuple(texts), state


def _read_outcome(parts: _Parts, state: State) -> Outcome | None:
    """Return the end of the match, checked against the last state."""
    result, termination = parts.headers.get("Result"), parts.headers.get("Termination")
    if result is None and termination is None:
        return state.outcome
    word = UNFINISHED if termination is None else termination.value.lower()
    known = (UNFINISHED, *(known.value for known in Termination))
    if termination is not None and word not in known:
        raise termination.error("expected " + one_of(known))
    shown = NO_RESULT if result is None else result.value
    winner: Player | None = 0 if shown == WINS[0] else 1 if shown == WINS[1] else None
    outcome = None if word == UNFINISHED else Outcome(winner, Termination(word))
    place = result or termination
    if place is not None and shown != result_of(outcome):
        raise place.error(f"expected the result {result_of(outcome)} with the termination {word}")
    problem = outcome_problem(state, outcome)
    if place is not None and problem is not None:
        raise place.error(problem)
    return outcome


def _canonical_time_control(text: str) -> str:
    return format_time_control(parse_time_control(text))


def _read_header(parts: _Parts, name: str, parse: Callable[[str], _Value], default: _Value) -> _Value:
    """Return the value of a header; ``default`` when the record has none."""
    header = parts.headers.get(name)
    if header is None:
        return default
    try:
        return parse(header.value)
    except NotationError as error:
        raise header.error(f"expected {error.expected}") from error
