r"""Records as text that people read and programs replay: our own, and what others write much like it.

We write headers, an empty line, and one line a turn::

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
for each option. A line is the number of the turn and its actions.

Much more is read, after the Portable Game Notation of chess and what people type:

- Headers that are missing have the value of the example, those of other names are passed over; ``White`` and
  ``Black`` name players too. A record without ``Game`` is of the game that the caller names.
- Comments in braces, after ``;``, and in lines that begin with ``#`` or ``%``; variations in brackets; ``$1``,
  ``!`` and ``?``. A cell in the form ``(3,4)`` is no variation.
- Turns go on in any number of lines. Numbers may count turns, as ours do, or rounds of both, or be left out.
- A result after the last turn. Without ``Termination`` the rules say how the match ended; if they do not end it,
  the loser resigned, or a draw was agreed.
- Several records, told apart by a result or by headers.

Every option and action is checked. Files, encodings and the clock are left to the callers, other formats to
:mod:`tabuleiro.notation.formats`.
"""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from difflib import get_close_matches
from typing import Final, TypeVar
from unicodedata import normalize

from tabuleiro.clock.texts import format_time_control, parse_time_control
from tabuleiro.errors import GameOptionError, IllegalActionError, NotationError, RecordError, UnknownGameError
from tabuleiro.ids import PLAYERS, Player
from tabuleiro.notation.actions import split_actions
from tabuleiro.notation.record import (
    DRAW,
    NO_RESULT,
    UNFINISHED,
    UNKNOWN,
    WINS,
    MatchRecord,
    RecordPlayer,
    assumed_outcome,
    format_timestamp,
    outcome_problem,
    parse_timestamp,
    replay,
    result_of,
    turns,
)
from tabuleiro.rules import Game, State, registry
from tabuleiro.rules.base import Outcome, Termination
from tabuleiro.rules.options import Options, OptionValue, parse_options
from tabuleiro.text import one_of

ACTIONS_MAX_COUNT: Final = 10_000
"""The actions of one record; reading is refused beyond."""
WORDS_MAX_COUNT: Final = 4 * ACTIONS_MAX_COUNT
"""The words in the turns of one record: actions, numbers and signs; also the lines."""
RECORDS_MAX_COUNT: Final = 10_000
"""The records in one text."""

_HEADER_START: Final = re.compile(r"\s*\[(?!\s*[0-9])")
"""Not a cell in the form ``[3, 4]``."""
_HEADER: Final = re.compile(r'\[\s*([A-Za-z][A-Za-z0-9_-]*)\s+("(?:[^"\\]|\\.)*")\s*\]')
_ODD_HEADER: Final = re.compile(r'\[\s*([A-Za-z][A-Za-z0-9_-]*)\s+(".*")\s*\]\s*')
_SPECIAL: Final = frozenset("{;(")
"""What begins a comment or a variation, or a cell in brackets."""
_CELL_IN_BRACKETS: Final = re.compile(r"\(\s*[0-9]{1,2}\s*,\s*[0-9]{1,2}\s*\)")
_RESULT: Final = re.compile(r"(?<![^\s,])(?:1\s?-\s?0|0\s?-\s?1|1/2\s?-\s?1/2|\*)(?![^\s,])")
_NUMBERED: Final = re.compile(r"([0-9]{1,9})\.+")
_GLYPH: Final = re.compile(r"\$[0-9]{1,3}|\.+")
"""The number of a comment in records of chess, and the dots for a turn left out."""
_OPTION: Final = "Option"
_HEADERS: Final = (
    "Game",
    _OPTION,
    *("Player0", "Player1", "Bot0", "Bot1"),
    *("Started", "Ended", "Result", "Termination", "TimeControl"),
    *("White", "Black"),
)
_NEARLY: Final = 0.82
"""How like a known header another one may not be: a slip in ``Option`` would make another game of it."""
_PGN_TERMINATIONS: Final[Mapping[str, str | None]] = {
    "normal": None,
    "time forfeit": Termination.TIMEOUT.value,
    "unterminated": UNFINISHED,
}
"""Words of other programs for what ends a match, in ours; ``None``: the result is all they say."""
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
        ("TimeControl", canonical_time_control(record.time_control)),
    ]
    lines = [f"[{key} {_quote(value)}]" for key, value in headers]
    lines.append("")
    lines += [f"{turn.number}. {' '.join(turn.actions)}" for turn in turns(record, states)]
    return "\n".join(lines).rstrip("\n") + "\n"


def _quote(text: str) -> str:
    """Quote a value as JSON does, with everything escaped that would not be seen or could not be encoded."""
    whole = text.encode("utf-16", "surrogatepass").decode("utf-16", "replace")
    quoted = json.dumps(whole, ensure_ascii=False)
    return "".join(letter if letter.isprintable() else json.dumps(letter)[1:-1] for letter in quoted)


@dataclass(frozen=True, slots=True)
class _Word:
    """A text in a record and the place where it begins."""

    text: str
    line: int
    column: int

    def error(self, expected: str) -> RecordError:
        return RecordError(self.text, self.line, self.column, expected)


@dataclass(slots=True)
class RecordText:
    """The text of one match, taken apart but not yet checked: :meth:`read` does that.

    ``lines`` holds what follows the headers, without comments and variations, each line with its number.
    """

    headers: dict[str, _Word] = field(default_factory=dict)
    options: list[_Word] = field(default_factory=list)
    lines: list[tuple[int, str]] = field(default_factory=list)
    result: _Word | None = None
    first_header: _Word | None = None
    is_first: bool = True

    @property
    def names_game(self) -> bool:
        """True if the record says which game it is of."""
        return "Game" in self.headers

    @property
    def is_empty(self) -> bool:
        """True if there is nothing in it."""
        return self.first_header is None and not self.lines and self.result is None

    def read(self, default: Game | None = None) -> MatchRecord:
        """Check the record against the rules; ``default`` is the game of one that names none.

        Raises:
            RecordError: Something is wrong; it names line and column of the first such text.
        """
        game = _read_game(self, default)
        actions, state = _play(game, list(_words(self.lines)))
        outcome = _read_outcome(self, state)
        first, second = (self._player(seat, game) for seat in PLAYERS)
        return MatchRecord(
            game=game.name,
            options=game.options,
            players=(first, second),
            actions=actions,
            outcome=outcome,
            started_at_ms=_read_header(self, "Started", parse_timestamp, None),
            ended_at_ms=_read_header(self, "Ended", parse_timestamp, None),
            time_control=_read_header(self, "TimeControl", _read_time_control, "none"),
        )

    def _player(self, seat: Player, game: Game) -> RecordPlayer:
        colours = ("black", "white") if game.sides == ("black", "white") else ("white", "black")
        name = self.headers.get(f"Player{seat}") or self.headers.get(colours[seat].title())
        bot = self.headers.get(f"Bot{seat}")
        return RecordPlayer(UNKNOWN if name is None else name.text, None if bot is None else bot.text)


def parse_record(text: str, default: Game | None = None) -> MatchRecord:
    """Read the one record in a text and check all of it against the rules.

    ``default`` is the game of a record that names none.

    Raises:
        RecordError: Something is wrong; it names line and column of the first such text.
    """
    first, *others = split_records(text) or (RecordText(),)
    for other in others:
        if not other.names_game and default is None:
            return other.read()
        place = other.first_header or _Word("", *next(((line, 1) for line, _ in other.lines), (1, 1)))
        raise place.error(f"expected one record, and this is the second of {len(others) + 1}")
    return first.read(default)


def split_records(text: str) -> tuple[RecordText, ...]:
    """Part a text into its records, which headers after turns, or a result, tell apart.

    Raises:
        RecordError: A header, a comment or a variation is not well formed, or there is too much of something.
    """
    scanner = _Scanner()
    for number, line in enumerate(text.removeprefix("\ufeff").split("\n"), start=1):
        scanner.read_line(line, number)
    scanner.close()
    return tuple(record for record in scanner.records if not record.is_empty)


class _Scanner:
    """Takes the text of records apart, line by line; :attr:`records` is the result."""

    def __init__(self) -> None:
        self.records = [RecordText()]
        self._is_after_blank = False
        self._comment: _Word | None = None
        """The comment that is open, ``None`` outside of one."""
        self._variations: list[_Word] = []
        """The variations that are open, each in the one before."""

    def read_line(self, line: str, number: int) -> None:
        """Take the next line apart."""
        start = 0
        if self._comment is None and not self._variations:
            if not line.strip():
                self._is_after_blank = True
                return
            if line.lstrip().startswith("#") or line.startswith("%"):
                return
            while (found := _HEADER_START.match(line, start)) is not None:
                start = self._add_header(line, number, found.end() - 1)
        rest = line[start:]
        if self._comment is not None or self._variations or not _SPECIAL.isdisjoint(rest):
            rest = self._without_remarks(rest, number, start)
        if rest.strip():
            self._add_moves(" " * start + rest, number)

    def close(self) -> None:
        """Check that nothing is left open at the end."""
        if self._comment is not None:
            raise self._comment.error("this comment has no end: expected } after it")
        if self._variations:
            raise self._variations[-1].error("this variation has no end: expected ) after it")

    def _begin(self) -> RecordText:
        if len(self.records) == RECORDS_MAX_COUNT:
            record = self.records[-1]
            line = record.lines[-1][0] if record.lines else 1
            raise RecordError("", line, 1, f"expected at most {RECORDS_MAX_COUNT} records in a text")
        self.records.append(RecordText(is_first=False))
        return self.records[-1]

    def _add_header(self, line: str, number: int, start: int) -> int:
        """Add the header that begins at ``start``, and return where it ends."""
        found = _HEADER.match(line, start) or _ODD_HEADER.fullmatch(line, start)
        if found is None:
            raise RecordError(line.strip(), number, start + 1, 'expected a header, e.g. [Game "virus-wars"]')
        name = next((known for known in _HEADERS if known.lower() == found[1].lower()), None)
        record = self.records[-1]
        is_second = name in record.headers and self._is_after_blank
        if record.lines or record.result is not None or is_second:
            record = self._begin()
        self._is_after_blank = False
        if record.first_header is None:
            record.first_header = _Word(line.strip(), number, start + 1)
        if name is None:
            nearly = get_close_matches(found[1].lower(), map(str.lower, _HEADERS), 1, _NEARLY)
            if nearly:
                meant = next(known for known in _HEADERS if known.lower() == nearly[0])
                raise RecordError(
                    found[1], number, found.start(1) + 1, f"expected {meant}, or a name less like it"
                )
            return found.end()
        try:
            value = str(json.loads(found[2]))
        except ValueError:
            expected = "expected one text in double quotes, with \\ before quotes and backslashes inside it"
            raise RecordError(found[2], number, found.start(2) + 1, expected) from None
        header = _Word(value, number, found.start(2) + 1)
        if name == _OPTION:
            record.options.append(header)
        elif record.headers.setdefault(name, header) is not header:
            raise RecordError(found[1], number, found.start(1) + 1, "this header is there already")
        return found.end()

    def _without_remarks(self, text: str, number: int, start: int) -> str:
        """Return a line with spaces in the place of comments and variations; cells in brackets stay."""
        kept = [" "] * len(text)
        at = 0
        while at < len(text):
            letter, cell = text[at], None
            if self._comment is not None:
                if letter == "}":
                    self._comment = None
            elif letter == "{":
                self._comment = _Word("{", number, start + at + 1)
            elif letter == ";":
                break
            elif letter == "(" and (self._variations or not text[:at].strip() or text[at - 1].isspace()):
                cell = _CELL_IN_BRACKETS.match(text, at)
                if cell is None:
                    self._variations.append(_Word("(", number, start + at + 1))
                elif not self._variations:
                    kept[at : cell.end()] = cell[0]
            elif self._variations:
                if letter == ")":
                    self._variations.pop()
            else:
                kept[at] = letter
            at = at + 1 if cell is None else cell.end()
        return "".join(kept)

    def _add_moves(self, line: str, number: int) -> None:
        """Add what follows headers; after a result, another record begins."""
        self._is_after_blank = False
        start = 0
        for found in _RESULT.finditer(line):
            self._add_line(line[: found.start()], start, number)
            if self.records[-1].result is None:  # a result that is told twice begins no other record
                self.records[-1].result = _Word("".join(found[0].split()), number, found.start() + 1)
            start = found.end()
        self._add_line(line, start, number)

    def _add_line(self, line: str, start: int, number: int) -> None:
        if not line[start:].strip():
            return
        record = self.records[-1] if self.records[-1].result is None else self._begin()
        if len(record.lines) == WORDS_MAX_COUNT:
            raise RecordError(
                line.strip(), number, 1, f"expected at most {WORDS_MAX_COUNT} lines of turns in a record"
            )
        record.lines.append((number, " " * start + line[start:]))


def _words(lines: Iterable[tuple[int, str]]) -> Iterator[_Word]:
    """Yield the numbers of turns, with their full stop, and the texts of actions, without ``!`` and ``?``."""
    words = actions = 0
    for number, line in lines:
        for part in split_actions(line):
            text, column = part.text, part.column
            numbered = _NUMBERED.match(text)
            if numbered is not None:
                yield _Word(f"{numbered[1]}.", number, column)
                text, column = text[numbered.end() :], column + numbered.end()
            text = text.rstrip("!?")
            words += 1
            actions += bool(text) and not _GLYPH.fullmatch(text)
            if actions > ACTIONS_MAX_COUNT or words > WORDS_MAX_COUNT:
                raise RecordError(
                    text, number, column, f"expected at most {ACTIONS_MAX_COUNT} actions in a record"
                )
            if text and not _GLYPH.fullmatch(text):
                yield _Word(text, number, column)


def _read_game(record: RecordText, default: Game | None) -> Game:
    """Return the game that the headers name, its options checked."""
    named = record.headers.get("Game")
    if named is None and default is None:
        expected = 'expected a header that names the game, e.g. [Game "virus-wars"]'
        if record.is_first or record.first_header is None:
            raise RecordError("", 1, 1, expected)
        raise record.first_header.error(f"headers come before the turns; for another record, {expected}")
    options: dict[str, OptionValue] = {} if default is None or named is not None else dict(default.options)
    places: dict[str, _Word] = {}
    here = named or _Word("", 1, 1)
    try:
        name = "" if default is None else default.name
        if named is not None:
            name, preset = named_game(named.text)
            options.update(preset)
        specs = registry.game_type(name).option_specs
        for here in record.options:
            for option, value in parse_options(specs, [here.text]).items():
                if option in places:
                    raise here.error("this option is there already")
                options[option], places[option] = value, here
        here = named or here
        return registry.load(name, options)
    except GameOptionError as error:
        raise places.get(error.option, here).error(f"expected {error.expected}") from error


def named_game(text: str) -> tuple[str, Options]:
    """Return the name of a game and the options that ``text`` means: a name, a title, or Gygès.

    Raises: GameOptionError for none of them.

    >>> named_game("Virus Wars"), named_game("Gygès")
    (('virus-wars', {}), ('xero-g', {'variant': 'gyges'}))
    """
    if registry.GAMES.get(text) is not None:
        return text, {}
    plain = normalize("NFKD", text).encode("ascii", "ignore").decode().strip().lower().replace(" ", "-")
    if plain == "gyges":
        return "xero-g", registry.preset("xero-g", "gyges")
    if plain not in registry.GAMES:
        raise UnknownGameError(text, registry.names())
    return plain, {}


def _play(game: Game, words: Sequence[_Word]) -> tuple[tuple[str, ...], State]:
    """Play the turns and return the actions in canonical texts and the last state.

    Numbers may count turns, as ours do, or rounds, a turn of each player, as in records of chess.
    """
    try:
        return _play_numbered(game, words, is_by_rounds=False)
    except RecordError as error:
        if not any(_NUMBERED.match(word.text) for word in words):
            raise
        by_turns = error
    try:
        return _play_numbered(game, words, is_by_rounds=True)
    except RecordError as by_rounds:
        # What goes further is what was meant.
        raise max(by_turns, by_rounds, key=lambda error: (error.line, error.column)) from None


def _play_numbered(game: Game, words: Sequence[_Word], *, is_by_rounds: bool) -> tuple[tuple[str, ...], State]:
    state, texts = game.initial_state(), []
    number = turns_in_round = 0
    last_mark: _Word | None = None
    for word in words:
        if _NUMBERED.match(word.text):
            if last_mark is not None:
                raise last_mark.error("expected the actions of the turn after its number")
            last_mark = word
            if state.is_terminal:
                raise word.error("the game is over before this turn")
            before, number = number, int(word.text[:-1])
            if not is_by_rounds and number != state.turn_number:
                raise word.error(f"expected turn {state.turn_number}")
            if is_by_rounds and number != before:
                turns_in_round = 0
                is_early = before > 0 and (state.actions_in_turn > 0 or state.to_move != PLAYERS[0])
                if is_early or number != before + 1:
                    raise word.error(f"expected round {before if is_early else before + 1}")
            continue
        last_mark = None
        if is_by_rounds and not state.actions_in_turn:
            turns_in_round += 1
            if turns_in_round > len(PLAYERS) and number:
                raise word.error(f"both have had their turns in round {number}")
        if not is_by_rounds and number not in (0, state.turn_number):
            raise word.error("the turn has ended before this action")
        action, state = _play_word(state, word)
        texts.append(action)
    if last_mark is not None:
        raise last_mark.error("expected the actions of the turn after its number")
    return tuple(texts), state


def _play_word(state: State, word: _Word) -> tuple[str, State]:
    """Return the canonical text of an action and the state after it."""
    try:
        action = state.string_to_action(word.text)
        return state.action_to_string(action), state.apply(action)
    except IllegalActionError as error:
        raise word.error(error.reason) from error
    except NotationError as error:
        raise word.error(f"expected {error.expected}") from error


def _read_outcome(record: RecordText, state: State) -> Outcome | None:
    """Return the end of the match, checked against the last state."""
    result, termination = record.headers.get("Result"), record.headers.get("Termination")
    if result is not None and result.text == UNKNOWN:
        result = None
    if record.result is not None:
        if result is not None and "".join(result.text.split()) != record.result.text:
            raise record.result.error(f"expected the result of the headers, {result.text}")
        result = result or record.result
    word = None if termination is None else termination.text.lower()
    word = _PGN_TERMINATIONS.get(word or "", word)
    if result is None and word is None:
        return state.outcome
    shown = NO_RESULT if result is None else "".join(result.text.split())
    winner: Player | None = 0 if shown == WINS[0] else 1 if shown == WINS[1] else None
    if word is None:
        outcome = assumed_outcome(state, winner, is_draw=shown == DRAW)
        word = UNFINISHED if outcome is None else outcome.termination.value
    else:
        known = (UNFINISHED, *(known.value for known in Termination))
        if termination is not None and word not in known:
            raise termination.error("expected " + one_of(known))
        outcome = None if word == UNFINISHED else Outcome(winner, Termination(word))
    place = result or termination
    if place is not None and shown != result_of(outcome):
        raise place.error(f"expected the result {result_of(outcome)} with the termination {word}")
    problem = outcome_problem(state, outcome)
    if place is not None and problem is not None:
        raise place.error(problem)
    return outcome


def _read_time_control(text: str) -> str:
    return "none" if text in (UNKNOWN, "-") else canonical_time_control(text)


def canonical_time_control(text: str) -> str:
    """Return a time control as we write it. Raises: NotationError."""
    return format_time_control(parse_time_control(text))


def _read_header(record: RecordText, name: str, parse: Callable[[str], _Value], default: _Value) -> _Value:
    """Return the value of a header; ``default`` when the record has none."""
    header = record.headers.get(name)
    if header is None:
        return default
    try:
        return parse(header.text)
    except NotationError as error:
        raise header.error(f"expected {error.expected}") from error
