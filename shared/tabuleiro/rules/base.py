"""The base of all games: positions (:class:`State`), rules plus options (:class:`Game`), and outcomes.

Names follow OpenSpiel and python-chess. The invariants written here are checked for every registered game by
one conformance suite, ``tests/rules/test_conformance.py``.
"""

from __future__ import annotations

import hashlib
from abc import ABC, abstractmethod
from collections.abc import Hashable, Mapping, Sequence
from dataclasses import dataclass, replace
from enum import StrEnum
from itertools import islice
from typing import ClassVar, Final, Self

from tabuleiro.descriptors import GameOption
from tabuleiro.errors import IllegalActionError, MatchOverError
from tabuleiro.ids import Player
from tabuleiro.rules.board import bit_indexes
from tabuleiro.rules.options import Options, OptionValue
from tabuleiro.rules.page import ALL, Diagram, Stage
from tabuleiro.rules.view import EMPTY, BoardView, Choice, Piece, marked


class Termination(StrEnum):
    """The cause of a game's end: the rules (first group) or the match around them (second group)."""

    BLOCKED = "blocked"
    """The player to move had no legal action and loses (Virus Wars, Xero-G)."""
    BASE = "base"
    """A ship entered the opponent's base (Xero-G)."""
    REPETITION = "repetition"
    """The same position for the third time: a draw (Xero-G)."""
    SCORE = "score"
    """The scores were compared (Iris)."""
    CONNECTION = "connection"
    """The two edges of a player were joined (Minefield)."""
    DEADLOCK = "deadlock"
    """Neither player had a legal action: a draw (Minefield)."""

    RESIGNATION = "resignation"
    TIMEOUT = "timeout"
    AGREEMENT = "agreement"
    ABANDONED = "abandoned"
    ABORTED = "aborted"


RULE_TERMINATIONS: Final = frozenset(
    {
        Termination.BLOCKED,
        Termination.BASE,
        Termination.REPETITION,
        Termination.SCORE,
        Termination.CONNECTION,
        Termination.DEADLOCK,
    }
)
"""The terminations that a :class:`~tabuleiro.rules.base.State` itself can report."""


@dataclass(frozen=True, slots=True)
class Outcome:
    """The result of a finished game. ``winner`` is ``None`` for a draw (and for an aborted match)."""

    winner: Player | None
    termination: Termination


class State(ABC):
    """A position with the side to move. Immutable: playing an action makes a new state.

    Invariants: ``legal_actions()`` is ascending and empty exactly when the state is terminal; ``to_move`` is
    ``None`` exactly then; equal sequences of actions from equal starts give equal states with equal hashes.
    """

    __slots__ = ("_turn_number", "game")

    game: Game
    _turn_number: int

    @property
    @abstractmethod
    def to_move(self) -> Player | None:
        """The player who must act, ``None`` at the end."""

    @property
    @abstractmethod
    def outcome(self) -> Outcome | None:
        """The result by the rules, ``None`` while the game goes on."""

    @property
    def is_terminal(self) -> bool:
        """True if the game is over by its rules."""
        return self.outcome is not None

    @property
    def turn_number(self) -> int:
        """The number of the turn being played (or of the last one, at the end), counted from 1."""
        return self._turn_number

    @property
    @abstractmethod
    def actions_in_turn(self) -> int:
        """The number of actions that the mover has already made in this turn: 0 at its start."""

    @abstractmethod
    def legal_actions(self) -> tuple[int, ...]:
        """Return all legal actions, ascending; empty at the end."""

    def legal_count(self) -> int:
        """Return ``len(legal_actions())``; games override it where counting is faster than listing."""
        return len(self.legal_actions())

    def is_legal(self, action: int) -> bool:
        """Return True if ``action`` is legal here."""
        return action in self.legal_actions()

    @abstractmethod
    def child(self, action: int) -> Self:
        """Return the state after ``action``, which must be legal: nothing is checked."""

    def apply(self, action: int) -> Self:
        """Return the state after ``action``.

        Raises:
            IllegalActionError: The action is not legal here.
            MatchOverError: The game is over.
        """
        if self.is_terminal:
            raise MatchOverError(self.describe_action(action), self.to_position())
        if not self.is_legal(action):
            raise IllegalActionError(self.describe_action(action), self.to_position(), self.illegal_reason(action))
        return self.child(action)

    def describe_action(self, action: int) -> str:
        """Return a text for any number given as an action, legal or not, for messages."""
        return self.action_to_string(action) if self.is_legal(action) else self.text_of_number(action)

    def text_of_number(self, action: int) -> str:
        """Return the text of an action that need not be legal here; the bare number where it names nothing."""
        try:
            return self.action_to_string(action)
        except ValueError:
            return str(action)

    def illegal_reason(self, action: int) -> str:
        """Return the reason why ``action`` is not legal here, as the end of a sentence."""
        return "it is not a legal action here"

    @abstractmethod
    def action_to_string(self, action: int) -> str:
        """Return the canonical text of ``action``.

        Raises:
            ValueError: The number names no action.
        """

    def choice(self, action: int) -> Choice:
        """Return a legal action as something to choose on the board; here, that is the cell of its number."""
        return Choice(self.action_to_string(action), (action,))

    def route(self, action: int) -> tuple[str, ...]:
        """Return the names of the cells on the way of a legal action; empty for games without ways."""
        return ()

    @abstractmethod
    def string_to_action(self, text: str) -> int:
        """Read an action, legal here or not: canonical text, upper case, spaces around, report forms.

        Raises:
            NotationError: The text names no action of this game.
        """

    @abstractmethod
    def pieces(self) -> tuple[tuple[Piece, int], ...]:
        """Return every kind of piece with the bit set of the cells it is on."""

    def piece_at(self, index: int) -> str:
        """Return the character of the piece on the cell ``index``, ``.`` where it is empty."""
        return next((piece.letter for piece, cells in self.pieces() if cells >> index & 1), EMPTY)

    def position_rows(self, row_lengths: Sequence[int]) -> str:
        """Return the rows of the position text."""
        letters = [EMPTY] * sum(row_lengths)
        for piece, cells in self.pieces():
            for index in bit_indexes(cells):
                letters[index] = piece.letter
        rest = iter(letters)
        return "/".join("".join(islice(rest, length)) for length in row_lengths)

    @abstractmethod
    def to_position(self) -> str:
        """Return the position text that the option ``position`` reads back. Source: RULES.md, "Words"."""

    @abstractmethod
    def view(self) -> BoardView:
        """Return the position as a picture for renderers."""

    @abstractmethod
    def key(self) -> Hashable:
        """Return the repetition key: equal keys mean the same position with the same side to move.

        It consists of plain values (numbers, texts, tuples of them), so that its ``repr`` is the same everywhere.
        """

    def digest(self) -> str:
        """Return 16 hexadecimal digits by which server and client compare their positions."""
        return hashlib.blake2b(repr((self.turn_number, self.key())).encode(), digest_size=8).hexdigest()

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, type(self)):
            return NotImplemented
        return self._identity() == other._identity()

    def __hash__(self) -> int:
        return hash((self.key(), self._turn_number))

    def _identity(self) -> tuple[object, ...]:
        """Return all values that equal states have in common."""
        return (self.game, self.key(), self._turn_number)


class Game(ABC):
    """Rules plus options. Two games of the same name and options are equal.

    ``options`` holds every option with its value, so that ``registry.load(game.name, game.options)`` is the
    same game again; ``position`` is there only when it was given, and what came later (``first_virus`` of Virus
    Wars) only when it is not the default, so that earlier versions read the rest.
    """

    name: ClassVar[str]
    """The registry name, e.g. ``virus-wars``."""
    title: ClassVar[str]
    """The name for people, e.g. ``Virus Wars``."""
    sides: ClassVar[tuple[str, str]]
    """The names of the two players, e.g. ``("blue", "red")``."""
    has_draws: ClassVar[bool] = True
    """False where the rules know no draw: then none is agreed on either."""
    option_specs: ClassVar[tuple[GameOption, ...]]
    presets: ClassVar[Mapping[str, Options]]
    rules_page: ClassVar[str]
    """A short page of rules for players, as plain text of at most 78 columns; see :mod:`tabuleiro.rules.page`."""
    diagrams: ClassVar[Mapping[str, Diagram]]
    """The diagrams of the page, by the names that stand there in brackets."""

    def __init__(self, options: Mapping[str, OptionValue]) -> None:
        self.options: Options = dict(options)

    @classmethod
    @abstractmethod
    def from_options(cls, options: Options) -> Self:
        """Make the game; options that are not given take their defaults.

        Raises:
            GameOptionError: An option is unknown or out of its range.
        """

    @classmethod
    def needs_seed(cls, options: Options) -> bool:
        """Return True if a match with these options should be given a fresh random option ``seed``."""
        return False

    @abstractmethod
    def initial_state(self) -> State:
        """Return the state before the first action."""

    @classmethod
    def stages(cls, name: str) -> tuple[Stage, ...]:
        """Return the positions that the diagram called ``name`` shows.

        Of what may be played they mark only what the diagram tells of.
        """
        diagram = cls.diagrams[name]
        state = start = cls.from_options(diagram.options).initial_state()
        route: tuple[str, ...] = ()
        for text in diagram.turn.split():
            action = state.string_to_action(text)
            route, state = state.route(action), state.apply(action)
        allowed = (
            [state.action_to_string(action) for action in state.legal_actions()]
            if diagram.allowed == ALL
            else diagram.allowed.split()
        )
        end = marked(state.view(), allowed, diagram.refused.split())
        if not diagram.shows_edges:
            end = replace(end, edges=())
        cells = tuple(cell.index for name in route for cell in end.cells if cell.name == name)
        if not diagram.shows_both:
            return (Stage(end, cells),)
        return Stage(marked(start.view()), cells), Stage(end)

    @property
    def first_player(self) -> Player:
        """The player who acts first: player 0, unless the option ``position`` says otherwise."""
        return self.initial_state().to_move or 0

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, Game):
            return NotImplemented
        return self.name == other.name and self.options == other.options

    def __hash__(self) -> int:
        return hash((self.name, tuple(sorted(self.options.items()))))

    def __repr__(self) -> str:
        return f"{type(self).__name__}({dict(self.options)!r})"
