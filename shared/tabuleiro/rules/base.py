"""What a game is to everybody else: :class:`Game` (rules plus options) and :class:`State` (a position).

Names follow OpenSpiel and python-chess. The invariants written here are checked for every registered game by
one conformance suite, ``tests/rules/test_conformance.py``.
"""

from __future__ import annotations

import hashlib
from abc import ABC, abstractmethod
from collections.abc import Hashable, Mapping
from dataclasses import dataclass
from enum import StrEnum
from typing import ClassVar, Final, Self

from tabuleiro.errors import IllegalActionError, MatchOverError
from tabuleiro.ids import Player
from tabuleiro.rules.options import Options, OptionSpec, OptionValue
from tabuleiro.rules.view import BoardView


class Termination(StrEnum):
    """What ended a game: the rules (first group) or the match around them (second group)."""

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

    __slots__ = ("_applied",)

    _applied: tuple[int, Self]
    """What :meth:`apply` was asked for last, and gave; not there before."""

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
        """Whether the game is over by its rules."""
        return self.outcome is not None

    @property
    @abstractmethod
    def turn_number(self) -> int:
        """The number of the turn being played (or of the last one, at the end), counted from 1."""

    @property
    @abstractmethod
    def actions_in_turn(self) -> int:
        """How many actions the mover has already made in this turn: 0 at its start."""

    @abstractmethod
    def legal_actions(self) -> tuple[int, ...]:
        """All legal actions, ascending; empty at the end."""

    def legal_count(self) -> int:
        """``len(legal_actions())``, for games that can count faster than they list."""
        return len(self.legal_actions())

    def is_legal(self, action: int) -> bool:
        """Whether ``action`` is legal here."""
        return action in self.legal_actions()

    @abstractmethod
    def child(self, action: int) -> Self:
        """The state after ``action``, which must be legal: nothing is checked."""

    def apply(self, action: int) -> Self:
        """The state after ``action``.

        Raises: IllegalActionError when it is not legal here, MatchOverError when the game is over.
        """
        if self.is_terminal:
            raise MatchOverError(self.describe_action(action), self.to_position())
        if not self.is_legal(action):
            raise IllegalActionError(self.describe_action(action), self.to_position(), self.illegal_reason(action))
        child = self.child(action)
        self._applied = (action, child)
        return child

    def after(self, action: int) -> Self:
        """The state after ``action``, which must be legal: the one that :meth:`apply` gave, if it was asked last.

        Who has an action checked and then plays it works the position out once this way.
        """
        applied: tuple[int, Self] | None = getattr(self, "_applied", None)
        if applied is None or applied[0] != action:
            return self.child(action)
        # Whoever keeps a position would keep all that came after it, too.
        del self._applied
        return applied[1]

    def describe_action(self, action: int) -> str:
        """The text of any number given as an action, legal or not, for messages."""
        return self.action_to_string(action) if self.is_legal(action) else self.text_of_number(action)

    def text_of_number(self, action: int) -> str:
        """The text of an action that need not be legal here; the bare number where it names nothing."""
        try:
            return self.action_to_string(action)
        except ValueError:
            return str(action)

    def illegal_reason(self, action: int) -> str:
        """Why ``action`` is not legal here, as the end of a sentence. Games override it to say more."""
        return "it is not a legal action here"

    @abstractmethod
    def action_to_string(self, action: int) -> str:
        """The canonical text of ``action``. Raises: ValueError for a number that names no action."""

    @abstractmethod
    def string_to_action(self, text: str) -> int:
        """Read an action, legal here or not: canonical text, upper case, spaces around, report forms.

        Raises: NotationError when the text names no action of this game.
        """

    @abstractmethod
    def to_position(self) -> str:
        """The position text (RULES.md, "Words") that the option ``position`` reads back."""

    @abstractmethod
    def view(self) -> BoardView:
        """The position for a renderer."""

    @abstractmethod
    def key(self) -> Hashable:
        """The repetition key: equal keys mean the same position with the same side to move.

        Made of plain values only (numbers, texts, tuples of them), so that its ``repr`` is the same everywhere.
        """

    def digest(self) -> str:
        """A fingerprint of 16 hexadecimal digits by which server and client compare their positions."""
        return hashlib.blake2b(repr((self.turn_number, self.key())).encode(), digest_size=8).hexdigest()


class Game(ABC):
    """Rules plus options. Two games of the same name and options are equal.

    ``options`` holds every option with its value, so that ``registry.load(game.name, game.options)`` is the
    same game again; ``position`` is there only when it was given.
    """

    name: ClassVar[str]
    """The registry name, e.g. ``virus-wars``."""
    title: ClassVar[str]
    """The name for people, e.g. ``Virus Wars``."""
    sides: ClassVar[tuple[str, str]]
    """What the two players are called, e.g. ``("blue", "red")``."""
    option_specs: ClassVar[tuple[OptionSpec, ...]]
    presets: ClassVar[Mapping[str, Options]]
    rules_page: ClassVar[str]
    """A short page of rules for players, as plain text of at most 78 columns."""

    def __init__(self, options: Mapping[str, OptionValue]) -> None:
        self.options: Options = dict(options)

    @classmethod
    @abstractmethod
    def from_options(cls, options: Options) -> Self:
        """Make the game. ``options`` need not be complete.

        Raises: GameOptionError naming the option, the value and its range.
        """

    @classmethod
    def needs_seed(cls, options: Options) -> bool:
        """Whether a match with these options should be given a freshly drawn option ``seed``."""
        return False

    @abstractmethod
    def initial_state(self) -> State:
        """The state before the first action."""

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, Game):
            return NotImplemented
        return self.name == other.name and self.options == other.options

    def __hash__(self) -> int:
        return hash((self.name, tuple(sorted(self.options.items()))))

    def __repr__(self) -> str:
        return f"{type(self).__name__}({dict(self.options)!r})"
