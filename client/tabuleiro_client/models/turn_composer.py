"""A turn in the making: actions are chosen one by one, can be undone, and go to the server together.

What is legal, and where a turn ends, is asked of the position; here actions are only collected. In Xero-G an
action is more than a cell: its ships are chosen by :mod:`tabuleiro_client.models.ships`.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Final

from tabuleiro.errors import IllegalActionError, MatchOverError, NotationError, TurnError, shown
from tabuleiro.notation.actions import format_turn, parse_turn
from tabuleiro.rules import State
from tabuleiro.rules.games.iris import IrisState
from tabuleiro.rules.games.xero_g.actions import target_name
from tabuleiro.rules.games.xero_g.moves import BASE
from tabuleiro.rules.games.xero_g.state import XeroGState
from tabuleiro.rules.view import BoardView, EdgeSide, Target
from tabuleiro_client.models.ships import ShipChoice, Way
from tabuleiro_client.models.timeline import changed_cells, picture_of
from tabuleiro_client.text.board import laid_text


@dataclass(frozen=True, slots=True)
class Choice:
    """Something to press beside the board: the ``key`` that does it, what it says, and the screen's action."""

    key: str
    label: str
    action: str


UNDO: Final = Choice("Bksp", "undo", "undo")
SEND: Final = Choice("^e", "send now", "send")
SEND_TURN: Final = Choice("Enter", "send", "send")
PASS: Final = Choice("F6", "pass", "pass_turn")
PASS_TEXT: Final = "pass"


def forced_action(state: State) -> int | None:
    """Return the second stone of Iris where the rules leave one cell for it; ``None`` elsewhere."""
    if not isinstance(state, IrisState) or not state.actions_in_turn or state.legal_count() != 1:
        return None
    return state.legal_actions()[0]


class TurnComposer:
    """The turn being composed on top of ``base``, the position that the server knows.

    ``state`` is the position with the actions composed so far, ``message`` what is to be said about the last
    choice (empty: nothing). ``column`` (from 1) is the place in the typed line that it is
    about, ``None`` for none. With ``lays_forced`` a :func:`forced_action` is composed by itself, which
    ``has_laid`` tells of the last one.
    """

    def __init__(self, base: State) -> None:
        self.base = base
        self.state = base
        self.actions: list[int] = []
        self.message = ""
        self.column: int | None = None
        self.lays_forced = False
        self.has_laid = False

    @property
    def view(self) -> BoardView:
        """The picture of ``state``."""
        return picture_of(self.state)

    @property
    def base_view(self) -> BoardView:
        """The picture of ``base``."""
        return picture_of(self.base)

    @property
    def is_complete(self) -> bool:
        """True if the turn has nothing left to choose."""
        is_over = self.state.is_terminal or self.state.turn_number != self.base.turn_number
        return bool(self.actions) and is_over

    @property
    def is_single(self) -> bool:
        """True if the turn at ``base`` is a single action, so that there is nothing to compose."""
        return self.base_view.actions_left in (None, 1)

    @property
    def can_step_back(self) -> bool:
        """True if :meth:`step_back` would do something."""
        return bool(self.actions)

    @property
    def is_asking(self) -> bool:
        """True if one of :meth:`choices` has to be made before anything else."""
        return False

    def texts(self) -> list[str]:
        """Return the canonical texts of the actions composed so far."""
        return format_turn(self.base, self.actions).split()

    def rebase(self, base: State) -> bool:
        """Start anew from another position; return whether actions were dropped by it."""
        if base == self.base:
            return False
        had_actions = bool(self.actions)
        self.base, self.actions, self.message, self.has_laid = base, [], "", False
        self._replay()
        return had_actions

    def drop(self) -> None:
        """Forget everything composed so far."""
        self.actions, self.message, self.has_laid = [], "", False
        self._replay()

    def choose(self, target: Target) -> bool:
        """Choose a cell or an edge; return whether something came of it. ``message`` says why not."""
        self.message = ""
        if self.is_complete:
            self.message = "the turn is complete: send it, or undo"
            return False
        return isinstance(target, int) and self.add_text(self.view.cells[target].name)

    def add_text(self, text: str) -> bool:
        """Add one action by its text; return whether it was legal. ``message`` says why not."""
        self.message = ""
        try:
            action = self.state.string_to_action(text)
            after = self.state.apply(action)
        except IllegalActionError as error:
            self.message = f"{text}: {error.reason}"
            return False
        except (NotationError, MatchOverError) as error:
            self.message = str(error)
            return False
        self.actions.append(action)
        self.state = after
        self._lay_forced()
        return True

    def add_turn(self, text: str) -> bool:
        """Add typed actions, all or none; return whether they were legal. ``message`` says why not."""
        self.message, self.column = "", None
        if self.has_laid and text.strip().lower() == self.texts()[-1]:
            return True  # it is there already
        try:
            actions = parse_turn(self.state, text)
        except TurnError as error:
            self.message, self.column = f"{shown(error.text)}: {error.expected}", error.column
            return False
        if not actions:
            self.message = f"{shown(text)}: there is no action in it"
        self.actions += actions
        self._replay()
        self._lay_forced()
        return bool(actions)

    def _lay_forced(self) -> None:
        forced = forced_action(self.state) if self.lays_forced and self.actions and not self.is_complete else None
        self.has_laid = forced is not None
        if forced is not None:
            self.actions.append(forced)
            self._replay()

    def step_back(self) -> bool:
        """Undo the last choice; return whether there was one."""
        self.message = ""
        if not self.actions:
            return False
        del self.actions[-1 - self.has_laid :]
        self.has_laid = False
        self._replay()
        return True

    def can_pass(self) -> bool:
        """Return whether the game has a pass, and it is legal now."""
        if self.is_complete:
            return False
        try:
            return self.state.is_legal(self.state.string_to_action(PASS_TEXT))
        except NotationError:
            return False

    def choices(self) -> Sequence[Choice]:
        """Return the choices to press beside the board now."""
        offered = [SEND_TURN] if self.is_complete else [SEND] if self.actions else []
        if self.can_pass():
            offered.append(PASS)
        return [*offered, UNDO] if self.can_step_back else offered

    def targets(self) -> frozenset[Target] | None:
        """Return the targets that may be chosen next; ``None``: those that the view marks as legal."""
        return frozenset() if self.is_complete else None

    def prompt(self) -> str:
        """Return the next thing to do, as a sentence."""
        if self.has_laid:
            return f"{laid_text(self.texts()[-1])}. Enter sends {' '.join(self.texts())}, Backspace undoes"
        if self.is_complete:
            return f"Turn complete: {' '.join(self.texts())}. Enter sends it, Backspace undoes"
        if not self.actions:
            return "Choose a cell: type its name, or use the arrows and Enter"
        left = self.view.actions_left
        more = "" if left is None else f" {left} more"
        return f"{' '.join(self.texts())} chosen. Choose{more}, or ^e sends the turn as it is"

    def picked(self) -> frozenset[int]:
        """Return the cells that the composed actions changed."""
        return changed_cells(self.base_view, self.view) if self.actions else frozenset()

    def route_to(self, target: Target | None) -> tuple[int, ...]:
        """Return the cells on the way to ``target``; empty where nothing moves."""
        return ()

    def opposite_of(self, target: Target | None) -> int | None:
        """Return the cell opposite ``target`` through the centre in Iris; ``None`` elsewhere."""
        if isinstance(self.state, IrisState) and isinstance(target, int):
            return self.state.game.board.opposite(target)
        return None

    def _replay(self) -> None:
        state = self.base
        for action in self.actions:
            state = state.apply(action)
        self.state = state


BOOST: Final = Choice("b", "boost", "boost")
REPROGRAM: Final = Choice("r", "reprogram", "reprogram")


_WORDS_OF_WAYS: Final[Mapping[str, tuple[Way, str]]] = {
    "boost": ("boost", "no run goes on from there"),
    "b": ("boost", "no run goes on from there"),
    "reprogram": ("reprogram", "land on a ship first"),
    "r": ("reprogram", "land on a ship first"),
}
"""The words for each way, with what is said where it cannot be gone."""
_CELL_ALONE: Final = re.compile(r"[a-f][1-6]|base")
_CELLS_ALONE: Final = re.compile(rf"(?:{_CELL_ALONE.pattern})(?:[-x,\s]+(?:{_CELL_ALONE.pattern}))*")


class ShipComposer(TurnComposer):
    """A turn of Xero-G: ``value`` is what is placed next, ``ship`` the move in the making, ``None`` for none."""

    def __init__(self, base: XeroGState) -> None:
        super().__init__(base)
        self.value = 0
        self.ship: ShipChoice | None = None
        self._is_circling = False

    @property
    def position(self) -> XeroGState:
        """The position composed so far."""
        assert isinstance(self.state, XeroGState)
        return self.state

    @property
    def can_step_back(self) -> bool:
        return self.ship is not None or super().can_step_back

    @property
    def is_asking(self) -> bool:
        return self.ship is not None and self.ship.is_undecided

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
        """Return the value that is placed next; 0 when nothing is to be placed."""
        left = dict(self.position.supply()) if self.position.is_setup else {}
        return self.value if self.value in left else min(left, default=0)

    def choose(self, target: Target) -> bool:
        self.message = ""
        if self.is_complete:
            self.message = "the turn is complete: send it, or undo"
            return False
        if self.position.is_setup:
            return isinstance(target, int) and self._place(target)
        if self.ship is None:
            return isinstance(target, int) and self._pick(target)
        if target == self.ship.start and self.ship.way is None:
            return self._circle(self.ship)
        self._is_circling = False
        chosen = self.ship.choose(self._square(target))
        if isinstance(chosen, ShipChoice):
            self.ship = chosen
            return True
        return self._refuse(self.ship, target) if chosen is None else self._play(chosen)

    def boost(self) -> bool:
        """Run on from the ship landed on; return whether any run goes on from there."""
        return self._decide(*_WORDS_OF_WAYS["boost"])

    def reprogram(self) -> bool:
        """Choose where the ship landed on is put; return whether there is one."""
        return self._decide(*_WORDS_OF_WAYS["reprogram"])

    def _decide(self, way: Way, refusal: str) -> bool:
        decided = None if self.ship is None else self.ship.decide(way)
        if decided is not None:
            self.ship = decided
        self.message = "" if decided is not None else refusal
        return decided is not None

    def step_back(self) -> bool:
        if self.ship is None:
            return super().step_back()
        self.ship = self.ship if self._is_circling else self.ship.step_back()
        self._is_circling = False
        self.message = ""
        return True

    def add_text(self, text: str) -> bool:
        self._let_go()
        return super().add_text(text)

    def add_turn(self, text: str) -> bool:
        """Add typed actions as :meth:`TurnComposer.add_turn`; cells alone are chosen one after the other.

        So a digit is the value to place next, and ``b1``, or ``b1xc1`` without what becomes of the ship there,
        leaves the rest to be chosen.
        """
        if self.position.is_setup and text.strip() in ("1", "2", "3"):
            return self.set_value(int(text))
        word = text.strip().lower()
        if self.ship is not None and self.ship.landed is not None and word in _WORDS_OF_WAYS:
            return self._decide(*_WORDS_OF_WAYS[word])
        is_alone = _CELLS_ALONE.fullmatch(text.strip().lower())
        names = _CELL_ALONE.findall(text.lower()) if is_alone else []
        if self.ship is None or len(names) != 1:
            self._let_go()
            if super().add_turn(text):
                return True
        squares: dict[str, Target] = {cell.name: cell.index for cell in self.view.cells}
        is_chosen = False
        for name in names:
            self.column = None
            is_chosen = self.choose(self._base_edge if name == target_name(BASE) else squares[name])
            if not is_chosen:
                break
        if not is_chosen and len(names) > 1:
            self._let_go()
        return is_chosen

    def choices(self) -> Sequence[Choice]:
        if self.is_asking:
            return [BOOST, REPROGRAM, UNDO]
        if self.position.is_setup and not self.is_complete:
            supply = self.position.supply()
            return [
                *(Choice(str(value), f"({count} left)", f"ship({value})") for value, count in supply),
                *super().choices(),
            ]
        return super().choices()

    def targets(self) -> frozenset[Target] | None:
        if self.is_complete:
            return frozenset()
        if self.ship is None:
            return None
        return frozenset(self._base_edge if square == BASE else square for square in self.ship.targets())

    def prompt(self) -> str:
        if self.is_complete and not self.is_single:
            return super().prompt()
        if self.position.is_setup:
            return f"Place a ship of value {self.next_value()} on your row; e.g. 2 and Enter choose value 2"
        if self.ship is None:
            return "Choose a ship of your home row (<)"
        own = self.view.cells[self.ship.start]
        ship = f"{own.piece} on {own.name}"
        if self._is_circling:
            return f"{ship}: choose {own.name} again to run a circle and end there"
        if self.ship.landed is None:
            return f"{ship}: choose where it lands"
        other = self.view.cells[self.ship.landed.target]
        match self.ship.way:
            case "reprogram":
                return f"{ship} takes {other.name}: choose a square for the {other.piece}"
            case "boost":
                return f"{ship}, boosted by {other.piece} on {other.name}: choose where it lands"
        return f"{ship} lands on {other.piece} on {other.name}: b boosts on, r reprograms it"

    def picked(self) -> frozenset[int]:
        ship = self.ship
        met = () if ship is None else (ship.start,) if ship.landed is None else (ship.start, ship.landed.target)
        return super().picked().union(met)

    def route_to(self, target: Target | None) -> tuple[int, ...]:
        """Return the squares of a shortest route of the ship picked to ``target``; empty where it cannot land."""
        if self.ship is None or target is None:
            return ()
        index = {cell.name: cell.index for cell in self.view.cells}
        squares = [index[name] for name in self.ship.route_to(self._square(target)) if name in index]
        return tuple(square for square in squares if square != self.ship.start)

    def _place(self, square: int) -> bool:
        return super().add_text(f"{self.next_value()}@{self.view.cells[square].name}")

    def _pick(self, square: int) -> bool:
        ship, cell = ShipChoice(self.position, square), self.view.cells[square]
        if not ship.targets():
            is_ship = cell.piece != "."
            self.message = f"{cell.name}: " + ("that ship cannot move now" if is_ship else "there is no ship")
            return False
        self.ship = ship
        return True

    def _refuse(self, ship: ShipChoice, target: Target) -> bool:
        """Pick another ship that can move, as long as the one picked has met none; else say what is wrong."""
        if isinstance(target, int) and ship.landed is None and self._pick(target):
            return True
        is_putting = ship.way == "reprogram"
        self.message = "that ship cannot be put there" if is_putting else "no run of this ship ends there"
        return False

    def _circle(self, ship: ShipChoice) -> bool:
        """End on the ship's own square after a circle, when asked twice; without a circle, put the ship down."""
        landing = ship.landing_on(ship.start)
        if landing is None or landing.action is None:
            self._let_go()
        elif self._is_circling:
            return self._play(landing.action)
        else:
            self._is_circling = True
        return True

    def _play(self, action: int) -> bool:
        return self.add_text(self.position.action_to_string(action))

    def _let_go(self) -> None:
        self.ship = None
        self._is_circling = False

    def _square(self, target: Target) -> int:
        """Return the square that ``target`` stands for; -1 for the edge that is not the mover's aim."""
        return target if isinstance(target, int) else BASE if target == self._base_edge else -1

    @property
    def _base_edge(self) -> EdgeSide:
        """The edge of the board behind which the mover's aim lies."""
        mover = self.position.to_move
        return next(edge.side for edge in self.view.edges if edge.owner == mover)


def composer_for(state: State) -> TurnComposer:
    """Return the composer that suits the game of ``state``."""
    return ShipComposer(state) if isinstance(state, XeroGState) else TurnComposer(state)
