"""Choosing a move of Xero-G step by step: a ship, the square it lands on, and what becomes of a ship met there.

Everything is asked of the position; nothing is worked out here. Words and keys are left to each client.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Final, Literal

from tabuleiro.rules.games.xero_g.state import Landing, XeroGState

Way = Literal["boost", "reprogram"]
"""What can be done with a ship landed on: run on from it, or put it elsewhere."""

BOOST: Final[Way] = "boost"
REPROGRAM: Final[Way] = "reprogram"


@dataclass(frozen=True, slots=True)
class ShipChoice:
    """The ship on ``start`` is chosen; ``landed`` is where it met another one, ``None`` as long as it has not.

    ``way`` is what was decided about the ship met, ``None`` while that is open. Squares are numbers, or ``BASE``.
    """

    position: XeroGState
    start: int
    landed: Landing | None = None
    way: Way | None = None

    @property
    def is_undecided(self) -> bool:
        """True if a way has to be chosen before anything else."""
        return self.landed is not None and self.way is None

    @property
    def boosts(self) -> tuple[int, ...]:
        """The squares to which the ship met may boost the chosen one; empty when no run goes on from there."""
        return () if self.landed is None else self.position.boost_targets(self.start, self.landed.target)

    def targets(self) -> tuple[int, ...]:
        """Return the squares that can be chosen now; none while the way is undecided."""
        if self.landed is None:
            return tuple(landing.target for landing in self.position.landings_of(self.start))
        if self.way == REPROGRAM:
            return tuple(square for square, _ in self.landed.drops)
        return self.boosts if self.way == BOOST else ()

    def choose(self, target: int) -> int | ShipChoice | None:
        """Return the action that ``target`` completes, or the choice it leaves open; ``None`` for no target."""
        if target not in self.targets():
            return None
        if self.landed is not None and self.way == REPROGRAM:
            return dict(self.landed.drops)[target]
        landing = self.landing_on(target)
        if landing is None or landing.action is not None:
            return None if landing is None else landing.action
        landed = replace(self, landed=landing, way=None)
        return landed if landed.boosts else replace(landed, way=REPROGRAM)

    def decide(self, way: Way) -> ShipChoice | None:
        """Return the choice with the way decided; ``None`` where no ship was met, or no run goes on from it."""
        if self.landed is None or (way == BOOST and not self.boosts):
            return None
        return replace(self, way=way)

    def step_back(self) -> ShipChoice | None:
        """Return the choice before the last decision; ``None`` before the ship was chosen."""
        if self.way is not None and self.boosts:
            return replace(self, way=None)
        return None if self.landed is None else replace(self, landed=None, way=None)

    def landing_on(self, target: int) -> Landing | None:
        """Return how the ship may end on ``target``; ``None`` when it may not."""
        return next((each for each in self.position.landings_of(self.start) if each.target == target), None)

    def route_to(self, target: int) -> tuple[str, ...]:
        """Return the names of the squares of a shortest route; to the ship met, as long as that does not boost."""
        landing = self.landed if self.landed is not None and self.way != BOOST else self.landing_on(target)
        if landing is None:
            return ()
        action = landing.drops[0][1] if landing.action is None and landing.drops else landing.action
        return () if action is None else self.position.route(action)
