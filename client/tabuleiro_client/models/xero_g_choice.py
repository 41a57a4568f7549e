"""Choosing an action of Xero-G in steps: where a ship can go, boost or reprogram, and the route of a move.

Where ships may go is asked of the position (:class:`~tabuleiro.rules.games.xero_g.state.XeroGState`).
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace

from tabuleiro.errors import IllegalActionError, NotationError
from tabuleiro.rules import State
from tabuleiro.rules.games.xero_g.actions import Move, action_of, target_name
from tabuleiro.rules.games.xero_g.moves import BASE, BOARD
from tabuleiro.rules.games.xero_g.state import Landing, XeroGState
from tabuleiro.rules.view import BoardView, Mark
from tabuleiro_client.models.action_guide import ActionGuide, Question, Sight

_BOOST_WORDS = ("boost", "b")
_REPROGRAM_WORDS = ("reprogram", "r")


class XeroGGuide(ActionGuide):
    """The guide of Xero-G."""

    def look_at(self, state: State, text: str) -> Sight | None:
        position = _position(state)
        square = _read_square(text)
        if position.is_setup or square is None or not position.ships[square]:
            return None
        landings = position.landings_of(square)
        view = _with_targets(position.view(), {landing.target for landing in landings})
        return Sight(view, tuple(_iter_landing_lines(position, square, landings)))

    def question(self, state: State, text: str) -> Question | None:
        position = _position(state)
        action = _read_open_move(position, text)
        move = None if action is None else action_of(action)
        if action is None or not isinstance(move, Move):
            return None
        landing = _find_landing(position, move.start, move.target)
        if landing is None or landing.action is not None:
            reason = position.illegal_reason(action)
            if reason:
                raise IllegalActionError(text, position.to_position(), reason)
            return None
        return _landed(position, move.start, landing)

    def routes(self, state: State, texts: Sequence[str]) -> tuple[str, ...]:
        position, lines = _position(state), []
        for text in texts:
            action = position.string_to_action(text)
            names = position.route(action)
            if names:
                steps = (names[0], *(_step(position, names[0], name) for name in names[1:-1]), names[-1])
                lines.append(f"its route: {' '.join(steps)}")
            position = position.apply(action)
        return tuple(lines)

    def overview(self, state: State) -> str:
        if _position(state).is_setup:
            return ""
        return "name a ship to see where it can go, e.g. b1"


@dataclass(frozen=True, slots=True)
class LandingQuestion:
    """The ship on ``start`` has landed on another: shall it run on, or stay?"""

    state: XeroGState
    start: int
    landing: Landing

    @property
    def lines(self) -> tuple[str, ...]:
        other = self.landing.name
        boosts = self.state.boost_targets(self.start, self.landing.target)
        return (
            f"your {_ship(self.state, self.start)} lands on the {_ship(self.state, self.landing.target)}; type",
            f"  boost SQUARE      to run on from {other}, to {_listed(self.state, self.start, boosts)}",
            f"  reprogram SQUARE  to stay on {other} and put the ship that is there on SQUARE",
            "  no                to do neither",
        )

    def answer(self, text: str) -> str | Question:
        word, _, square = " ".join(text.lower().split()).partition(" ")
        if word in _BOOST_WORDS:
            boost = BoostQuestion(self.state, self.start, self.landing.target)
            return boost.answer(square) if square else boost
        if word in _REPROGRAM_WORDS:
            drop = DropQuestion(self.state, self.start, self.landing)
            return drop.answer(square) if square else drop
        raise NotationError(text, "boost SQUARE, reprogram SQUARE, or no")


@dataclass(frozen=True, slots=True)
class BoostQuestion:
    """Where does the ship on ``start`` go, boosted by the one on ``booster``?"""

    state: XeroGState
    start: int
    booster: int

    @property
    def lines(self) -> tuple[str, ...]:
        targets = _listed(self.state, self.start, self.state.boost_targets(self.start, self.booster))
        return (f"boosted from {target_name(self.booster)}, where to? {targets} (no to leave it)",)

    def answer(self, text: str) -> str | Question:
        targets = self.state.boost_targets(self.start, self.booster)
        target = _read_target(text)
        if target is None or target not in targets:
            raise NotationError(text, f"one of {' '.join(map(target_name, targets))}, or no")
        landing = _find_landing(self.state, self.start, target)
        if landing is None:
            raise NotationError(text, "a square that the ship can reach, or no")
        if landing.action is not None:
            return self.state.action_to_string(landing.action)
        return _landed(self.state, self.start, landing)


@dataclass(frozen=True, slots=True)
class DropQuestion:
    """Where is the ship put on which the one from ``start`` has landed?"""

    state: XeroGState
    start: int
    landing: Landing

    @property
    def lines(self) -> tuple[str, ...]:
        squares = " ".join(target_name(square) for square, _ in self.landing.drops)
        ship = _ship(self.state, self.landing.target)
        return (f"where shall the {ship} be put? {squares} (no to leave it)",)

    def answer(self, text: str) -> str | Question:
        drops = dict(self.landing.drops)
        square = _read_target(text)
        if square is None or square not in drops:
            raise NotationError(text, f"one of {' '.join(map(target_name, drops))}, or no")
        return self.state.action_to_string(drops[square])


def _position(state: State) -> XeroGState:
    if not isinstance(state, XeroGState):
        raise TypeError(f"a guide of Xero-G was asked about a {type(state).__name__}")
    return state


def _landed(state: XeroGState, start: int, landing: Landing) -> Question:
    if state.boost_targets(start, landing.target):
        return LandingQuestion(state, start, landing)
    return DropQuestion(state, start, landing)


def _read_square(text: str) -> int | None:
    try:
        return BOARD.parse_cell(text.strip())
    except NotationError:
        return None


def _read_target(text: str) -> int | None:
    return BASE if text.strip().lower() == target_name(BASE) else _read_square(text)


def _read_open_move(state: XeroGState, text: str) -> int | None:
    """A move that does not say what becomes of a ship landed on, ``a1-b3`` or ``a1xb3``, as some action of it."""
    if "@" in text:
        return None
    for whole in (text, f"{text}@{BOARD.names[0]}"):
        try:
            return state.string_to_action(whole)
        except NotationError:
            continue
    return None


def _find_landing(state: XeroGState, start: int, target: int) -> Landing | None:
    return next((landing for landing in state.landings_of(start) if landing.target == target), None)


def _ship(state: XeroGState, square: int) -> str:
    return f"{state.ships[square]} on {BOARD.names[square]}"


def _is_ship_met(state: XeroGState, start: int, target: int) -> bool:
    return target not in (BASE, start) and bool(state.ships[target])


def _listed(state: XeroGState, start: int, targets: Iterable[int]) -> str:
    """Targets by name, with the value of the ship that stands there."""
    return " ".join(
        f"{target_name(target)}({state.ships[target]})"
        if _is_ship_met(state, start, target)
        else target_name(target)
        for target in targets
    )


def _iter_landing_lines(state: XeroGState, start: int, landings: Sequence[Landing]) -> Iterable[str]:
    if not landings:
        yield f"the {_ship(state, start)} cannot move now"
        yield from (hint.text for hint in state.view().hints if hint.owner == state.to_move)
        return
    free = [landing.name for landing in landings if landing.action is not None]
    if free:
        yield f"the {_ship(state, start)} can end on {' '.join(free)}: type e.g. {BOARD.names[start]}-{free[0]}"
    for landing in landings:
        if landing.action is None:
            boosts = _listed(state, start, state.boost_targets(start, landing.target))
            run_on = f"boost on to {boosts}, or " if boosts else ""
            typed = f"{BOARD.names[start]}x{landing.name}"
            yield f"it can land on the {_ship(state, landing.target)}: {run_on}reprogram that one; type {typed}"


def _step(state: XeroGState, start: str, name: str) -> str:
    square = _read_square(name)
    is_booster = name != start and square is not None and state.ships[square]
    return f"{name} (boost)" if is_booster else name


def _with_targets(view: BoardView, targets: Iterable[int]) -> BoardView:
    """The picture in which the ``targets``, and nothing else, are marked as legal."""
    wanted = set(targets)
    cells = tuple(
        replace(cell, marks=cell.marks - {Mark.LEGAL} | ({Mark.LEGAL} if cell.index in wanted else set()))
        for cell in view.cells
    )
    edges = tuple(
        replace(edge, is_target=edge.is_target and BASE in wanted) if edge.owner == view.to_move else edge
        for edge in view.edges
    )
    return replace(view, cells=cells, edges=edges)
