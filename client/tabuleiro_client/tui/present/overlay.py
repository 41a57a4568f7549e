"""What a person adds to a position while looking at it: cursor, hover, a turn in the making, a reason."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final

from tabuleiro.rules.view import EdgeSide

Target = int | EdgeSide
"""What can be pointed at: a cell by its index, or an edge of the board that can be entered."""


@dataclass(frozen=True, slots=True)
class Overlay:
    """Cells by index; ``None`` for nothing pointed at.

    ``targets`` are what may be chosen, ``None``: what the view marks as legal. ``picked`` has been chosen in the
    turn in the making, ``last`` was changed by the last turn (beside what the view marks). ``route`` is walked on,
    ``opposite`` lies opposite the cursor, ``reasons`` are the cells of a fact or of a suggestion
    that was asked for.
    """

    cursor: Target | None = None
    hover: Target | None = None
    targets: frozenset[Target] | None = None
    picked: frozenset[int] = frozenset()
    last: frozenset[int] = frozenset()
    route: tuple[int, ...] = ()
    opposite: int | None = None
    reasons: frozenset[int] = frozenset()
    shows_legal: bool = False
    shows_forbidden: bool = False


NOTHING: Final = Overlay()
