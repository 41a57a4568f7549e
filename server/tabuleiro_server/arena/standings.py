"""What the results of an arena say: scores, how sure they are, and Elo differences. Writes nothing."""

from __future__ import annotations

import math
from collections.abc import Iterable
from dataclasses import dataclass
from typing import Final

from tabuleiro_server.arena.play import GameResult

Z_95: Final = 1.959964
"""Standard deviations to either side that hold 95 % of a normal distribution."""


@dataclass(frozen=True, slots=True)
class Tally:
    """Games of one against another, or against all, counted from the side of the one."""

    wins: int = 0
    draws: int = 0
    losses: int = 0

    @property
    def game_count(self) -> int:
        """How many games were played."""
        return self.wins + self.draws + self.losses

    @property
    def points(self) -> float:
        """A point for a win, half of one for a draw."""
        return self.wins + self.draws / 2

    @property
    def score(self) -> float | None:
        """The part of the possible points, 0 to 1; ``None`` without games."""
        return self.points / self.game_count if self.game_count else None

    @property
    def interval(self) -> tuple[float, float] | None:
        """The 95 % interval of the score after Wilson, which stays honest near 0 and 1; ``None`` without games.

        A draw counts as half a win, which makes it a little wider than need be.
        """
        if self.score is None:
            return None
        count, spread = self.game_count, Z_95**2
        middle = (self.score + spread / (2 * count)) / (1 + spread / count)
        half = math.sqrt(self.score * (1 - self.score) / count + spread / (4 * count**2))
        half *= Z_95 / (1 + spread / count)
        # The bounds at scores of 0 and 1 are exact; without this they would be off by what floats round.
        return min(self.score, max(0.0, middle - half)), max(self.score, min(1.0, middle + half))

    def __add__(self, other: Tally) -> Tally:
        return Tally(self.wins + other.wins, self.draws + other.draws, self.losses + other.losses)


def elo_difference(score: float) -> float:
    """How many Elo points a score of 0 to 1 means; infinite at either end.

    >>> round(elo_difference(0.75)), elo_difference(1)
    (191, inf)
    """
    if score <= 0 or score >= 1:
        return math.inf if score >= 1 else -math.inf
    return 400 * math.log10(score / (1 - score))


class Standings:
    """Every entrant's games against every other; entrants are named by their place in the list."""

    def __init__(self, entrant_count: int, results: Iterable[GameResult]) -> None:
        self._tallies = [[Tally() for _ in range(entrant_count)] for _ in range(entrant_count)]
        for result in results:
            for side in (0, 1):
                one, other = result.pairing.sides[side], result.pairing.sides[1 - side]
                self._tallies[one][other] += _single(result, side)

    def between(self, one: int, other: int) -> Tally:
        """The games of ``one`` against ``other``."""
        return self._tallies[one][other]

    def total(self, one: int) -> Tally:
        """All games of ``one``."""
        return sum(self._tallies[one], Tally())

    def ranking(self) -> list[int]:
        """The entrants, best first; those with equal scores as they were named."""
        return sorted(range(len(self._tallies)), key=lambda one: -(self.total(one).score or 0.0))


def _single(result: GameResult, side: int) -> Tally:
    if result.winner is None:
        return Tally(draws=1)
    return Tally(wins=1) if result.winner == side else Tally(losses=1)
