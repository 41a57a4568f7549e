"""Composing a turn of Xero-G: place ships; pick one, see where it may land, boost on or reprogram, drop.

Where ships may go, their routes, boosts and drops are asked of the position; nothing is worked out here.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Final

from tabuleiro.rules import State
from tabuleiro.rules.games.xero_g.moves import BASE
from tabuleiro.rules.games.xero_g.state import Landing, XeroGState
from tabuleiro.rules.view import EdgeSide
from tabuleiro_client.tui.present.overlay import Overlay, Target
from tabuleiro_client.tui.turn_composer import UNDO, Choice, TurnComposer

BOOST: Final = Choice("f", "boost", "boost")
REPROGRAM: Final = Choice("x", "reprogram", "reprogram")


class ShipComposer(TurnComposer):
    """Beside the actions: the value to place next, the ship picked, the ship it landed on, and what to do there.

    ``start`` is the square of the ship picked, ``landed`` that of the ship landed on; ``None`` for none.
    """

    def __init__(self, base: XeroGState) -> None:
        super().__init__(base)
        self.value = 0
        self.start: int | None = None
        self.landed: int | None = None
        self.is_boosting = False
        self.is_dropping = False
        self._is_circling = False

    @property
    def position(self) -> XeroGState:
        """The position composed so far."""
        assert isinstance(self.state, XeroGState)
        return self.state

    @property
    def can_step_back(self) -> bool:
        return self.start is not None or super().can_step_back

    def rebase(self, base: State) -> bool:
        if base != self.base:
            self._let_go()
        return super().rebase(base)

    def drop(self) -> None:
        self._let_go()
        super().drop()

    def set_value(self, value: int) -> bool:
        """Choose the value to place next; return whether there is such a ship left."""
        is_left = self.position.is_setup and value in dict(self.position.supply())
        if is_left:
            self.value = value
        self.message = "" if is_left else f"no ship of value {value} is left to be placed"
        return is_left

    def next_value(self) -> int:
        """The value that is placed next; 0 when nothing is to be placed."""
        left = dict(self.position.supply()) if self.position.is_setup else {}
        return self.value if self.value in left else min(left, default=0)

    def choose(self, target: Target) -> bool:
        self.message = ""
        if self.is_complete:
            self.message = "the turn is complete: send it, or undo"
            return False
        if self.position.is_setup:
            return isinstance(target, int) and self._place(target)
        if self.start is None:
            return isinstance(target, int) and self._pick(target)
        if self.is_dropping:
            return self._drop(target)
        return self._land(target)

    def boost(self) -> bool:
        """Run on from the ship landed on; return whether any run goes on from there."""
        if self.landed is None or not self._boost_targets():
            self.message = "no run goes on from there"
            return False
        self.is_boosting, self.is_dropping, self.message = True, False, ""
        return True

    def reprogram(self) -> bool:
        """Choose where the ship landed on is put; return whether there is one."""
        if self.landed is None:
            self.message = "land on a ship first"
            return False
        self.is_boosting, self.is_dropping, self.message = False, True, ""
        return True

    def step_back(self) -> bool:
        if self._is_circling:
            self._is_circling = False
        elif self.is_dropping or self.is_boosting:
            self.is_dropping = self.is_boosting = False
            if self.landed is not None and not self._boost_targets():
                self.landed = None
        elif self.landed is not None:
            self.landed = None
        elif self.start is not None:
            self.start = None
        else:
            return super().step_back()
        self.message = ""
        return True

    def add_text(self, text: str) -> bool:
        self._let_go()
        return super().add_text(text)

    def add_turn(self, text: str) -> bool:
        self._let_go()
        return super().add_turn(text)

    def choices(self) -> Sequence[Choice]:
        if self.landed is not None and not self.is_dropping and not self.is_boosting:
            return [BOOST, REPROGRAM, UNDO]
        if self.position.is_setup and not self.is_complete:
            ships = [Choice(str(value), f"({count} left)", f"ship({value})") for value, count in self._supply()]
            return [*ships, *super().choices()]
        return super().choices()

    def targets(self) -> frozenset[Target] | None:
        if self.is_complete:
            return frozenset()
        if self.position.is_setup or self.start is None:
            return None
        if self.is_dropping:
            return frozenset(drop for drop, _ in self._landing(self.landed).drops)
        if self.is_boosting:
            return self._as_targets(self._boost_targets())
        if self.landed is not None:
            return frozenset()
        return self._as_targets(landing.target for landing in self.position.landings_of(self.start))

    def prompt(self) -> str:
        if self.is_complete and not self.is_single:
            return super().prompt()
        names = self.view.cells
        if self.position.is_setup:
            return f"place a ship of value {self.next_value()} on your row (1 2 3 choose the value)"
        if self.start is None:
            return "choose a ship of your home row (<)"
        ship = f"{names[self.start].piece} on {names[self.start].name}"
        if self._is_circling:
            return f"{ship}: choose {names[self.start].name} again to run a circle and end there"
        if self.landed is None:
            return f"{ship}: choose where it lands"
        other = names[self.landed]
        if self.is_dropping:
            return f"{ship} takes {other.name}: choose a square for the {other.piece}"
        if self.is_boosting:
            return f"{ship}, boosted by {other.piece} on {other.name}: choose where it lands"
        return f"{ship} lands on {other.piece} on {other.name}: f boosts on, x reprograms it"

    def overlay(self, cursor: Target | None, hover: Target | None) -> Overlay:
        picked = set(self.picked())
        picked |= {square for square in (self.start, self.landed) if square is not None}
        return Overlay(
            cursor=cursor,
            hover=hover,
            targets=self.targets(),
            picked=frozenset(picked),
            route=self.route_to(hover if hover is not None else cursor),
        )

    def route_to(self, target: Target | None) -> tuple[int, ...]:
        """The squares of a shortest route from the ship picked to ``target``; empty where it cannot land."""
        if self.start is None or target is None:
            return ()
        aim = self.landed if self.landed is not None and not self.is_boosting else target
        landing = self._find(aim)
        if landing is None:
            return ()
        action = landing.action if landing.action is not None else landing.drops[0][1] if landing.drops else None
        names = self.position.route(action) if action is not None else ()
        index = {cell.name: cell.index for cell in self.view.cells}
        return tuple(index[name] for name in names if name in index and index[name] != self.start)

    def _supply(self) -> tuple[tuple[int, int], ...]:
        return self.position.supply()

    def _place(self, square: int) -> bool:
        return super().add_text(f"{self.next_value()}@{self.view.cells[square].name}")

    def _pick(self, square: int) -> bool:
        cell = self.view.cells[square]
        if not self.position.landings_of(square):
            is_ship = cell.piece != "."
            self.message = f"{cell.name}: " + ("that ship cannot move now" if is_ship else "there is no ship")
            return False
        self.start = square
        return True

    def _land(self, target: Target) -> bool:
        allowed = self.targets() or frozenset()
        landing = self._find(target)
        if target == self.start and not self.is_boosting:
            return self._circle(landing)
        self._is_circling = False
        if landing is None or target not in allowed:
            return self._pick_another(target)
        if landing.action is not None:
            return self._play(landing.action)
        self.landed, self.is_boosting = landing.target, False
        if not self._boost_targets():
            self.is_dropping = True
        return True

    def _pick_another(self, target: Target) -> bool:
        """Another ship that can move takes the place of the one picked, as long as that has landed nowhere."""
        if isinstance(target, int) and self.landed is None and self.position.landings_of(target):
            self.start = target
            return True
        self.message = "no run of this ship ends there"
        return False

    def _circle(self, landing: Landing | None) -> bool:
        """The square of the ship itself: end there after a circle, on the second asking; or put it down."""
        if landing is None or landing.action is None:
            self._let_go()
            return True
        if self._is_circling:
            return self._play(landing.action)
        self._is_circling = True
        return True

    def _drop(self, target: Target) -> bool:
        for drop, action in self._landing(self.landed).drops:
            if drop == target:
                return self._play(action)
        self.message = "that ship cannot be put there"
        return False

    def _play(self, action: int) -> bool:
        self._let_go()
        return super().add_text(self.position.action_to_string(action))

    def _let_go(self) -> None:
        self.start = self.landed = None
        self.is_boosting = self.is_dropping = self._is_circling = False

    def _boost_targets(self) -> tuple[int, ...]:
        if self.start is None or self.landed is None:
            return ()
        return self.position.boost_targets(self.start, self.landed)

    def _find(self, target: Target | None) -> Landing | None:
        if self.start is None or target is None:
            return None
        square = target if isinstance(target, int) else BASE if target == self._base_edge else None
        landings = self.position.landings_of(self.start)
        return next((landing for landing in landings if landing.target == square), None)

    def _landing(self, target: int | None) -> Landing:
        landing = self._find(target)
        assert landing is not None
        return landing

    def _as_targets(self, squares: Iterable[int]) -> frozenset[Target]:
        return frozenset(self._base_edge if square == BASE else square for square in squares)

    @property
    def _base_edge(self) -> EdgeSide:
        """The edge of the board behind which the mover's aim lies."""
        mover = self.position.to_move
        return next(edge.side for edge in self.view.edges if edge.owner == mover)


def composer_for(state: State) -> TurnComposer:
    """The composer that suits the game of ``state``."""
    return ShipComposer(state) if isinstance(state, XeroGState) else TurnComposer(state)
