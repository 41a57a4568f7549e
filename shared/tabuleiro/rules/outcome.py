"""How a game ends: who won, and by what."""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum
from typing import Final

from tabuleiro.ids import Player


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
