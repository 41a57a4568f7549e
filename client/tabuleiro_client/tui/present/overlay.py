"""Marks that a person adds to a position: cursor, hover, a turn in the making, a reason."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Final

from tabuleiro.rules.view import Target

if TYPE_CHECKING:  # a board alone starts quicker without the rules that composers know
    from tabuleiro_client.models.turn_composer import TurnComposer


@dataclass(frozen=True, slots=True)
class Overlay:
    """Cells by index; ``None`` for nothing pointed at.

    ``targets`` are what may be chosen, ``None``: what the view marks as legal. ``picked`` has been chosen in the
    turn in the making, ``last`` was changed by the last turn (beside what the view marks). ``route`` is walked on,
    ``opposite`` lies opposite the cursor, ``reasons`` are the cells of a fact that was asked for, ``hint`` those
    of a turn that was suggested.
    """

    cursor: Target | None = None
    hover: Target | None = None
    targets: frozenset[Target] | None = None
    picked: frozenset[int] = frozenset()
    last: frozenset[int] = frozenset()
    route: tuple[int, ...] = ()
    opposite: int | None = None
    reasons: frozenset[int] = frozenset()
    hint: frozenset[int] = frozenset()
    shows_legal: bool = False
    shows_forbidden: bool = False


NOTHING: Final = Overlay()


def composed_overlay(
    composer: TurnComposer, cursor: Target | None, hover: Target | None, last: frozenset[int], *, shows_legal: bool
) -> Overlay:
    """Return what the turn in the making adds to the picture; ``last`` is what the turn before it has changed."""
    pointed_at = hover if hover is not None else cursor
    picked = composer.picked()
    return Overlay(
        cursor=cursor,
        hover=hover,
        targets=composer.targets(),
        picked=picked,
        last=last - picked,
        route=composer.route_to(pointed_at),
        opposite=composer.opposite_of(pointed_at),
        shows_legal=shows_legal,
        shows_forbidden=True,
    )
