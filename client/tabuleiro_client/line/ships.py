"""Typing the actions of Xero-G: the moves of a named ship, the question that a move leaves open, and routes.

Moves are chosen by :mod:`tabuleiro_client.models.ships`; the actions of other games are typed as they are.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace

from tabuleiro.errors import IllegalActionError, NotationError
from tabuleiro.rules import State
from tabuleiro.rules.games.xero_g.actions import Move, action_of, target_name
from tabuleiro.rules.games.xero_g.moves import BASE, BOARD
from tabuleiro.rules.games.xero_g.state import XeroGState
from tabuleiro.rules.view import BoardView, Mark
from tabuleiro_client.models.ships import ShipChoice, Way

_WAYS: dict[str, Way] = {"boost": "boost", "b": "boost", "reprogram": "reprogram", "r": "reprogram"}


@dataclass(frozen=True, slots=True)
class Sight:
    """The moves of one ship: a picture in which they alone are marked as legal, and ``lines`` that say them."""

    view: BoardView
    lines: tuple[str, ...]


def sight_of(state: State, text: str) -> Sight | None:
    """Return what the ship that ``text`` names can do; ``None`` when it names none."""
    square = _read_square(text)
    if not isinstance(state, XeroGState) or state.is_setup or square is None or not state.ships[square]:
        return None
    ship = ShipChoice(state, square)
    return Sight(_with_targets(state.view(), ship.targets()), tuple(_iter_landing_lines(ship)))


def open_move(state: State, text: str) -> ShipChoice | None:
    """Return the move that ``text`` begins and leaves open; ``None`` when it is a whole action, or none at all.

    Raises: IllegalActionError when no answer could make a legal action of it.
    """
    action = _read_open_move(state, text) if isinstance(state, XeroGState) else None
    move = None if action is None else action_of(action)
    if not isinstance(state, XeroGState) or action is None or not isinstance(move, Move):
        return None
    chosen = ShipChoice(state, move.start).choose(move.target)
    if isinstance(chosen, ShipChoice):
        return chosen
    reason = state.illegal_reason(action)
    if reason:
        raise IllegalActionError(text, state.to_position(), reason)
    return None


def question_lines(ship: ShipChoice) -> tuple[str, ...]:
    """Return the question that an open move leaves, with all answers."""
    assert ship.landed is not None
    other = ship.landed.name
    if ship.way == "boost":
        return (
            f"boosted from {other}, where to? {_listed(ship, ship.boosts)} (reprogram instead, no to leave it)",
        )
    if ship.way == "reprogram":
        squares = " ".join(map(target_name, ship.targets()))
        return (f"where shall the {_ship(ship, ship.landed.target)} be put? {squares} (no to leave it)",)
    return (
        f"your {_ship(ship, ship.start)} lands on the {_ship(ship, ship.landed.target)}; type",
        f"  boost SQUARE      to run on from {other}, to {_listed(ship, ship.boosts)}",
        f"  reprogram SQUARE  to stay on {other} and put the ship that is there on SQUARE",
        "  no                to do neither",
    )


def answered(ship: ShipChoice, text: str) -> str | ShipChoice:
    """Return the text of the action that an answer decides on, or the move that it leaves open.

    Raises: NotationError for no answer.
    """
    word, _, square = " ".join(text.lower().split()).partition(" ")
    if word in _WAYS and not square.isdigit():  # "b 1" is a square
        decided = ship.decide(_WAYS[word])
        if decided is not None:
            return answered(decided, square) if square else decided
    if ship.is_undecided:
        raise NotationError(text, "boost SQUARE, reprogram SQUARE, or no")
    target = _read_target(text)
    chosen = None if target is None else ship.choose(target)
    if chosen is None:
        raise NotationError(text, f"one of {' '.join(map(target_name, ship.targets()))}, boost, reprogram or no")
    return chosen if isinstance(chosen, ShipChoice) else ship.position.action_to_string(chosen)


def route_lines(state: State, texts: Sequence[str]) -> tuple[str, ...]:
    """Return how the ships went in the legal actions ``texts``, a line for each that has something to tell."""
    if not isinstance(state, XeroGState):
        return ()
    position, lines = state, []
    for text in texts:
        action = position.string_to_action(text)
        names = position.route(action)
        if names:
            steps = (names[0], *(_step(position, names[0], name) for name in names[1:-1]), names[-1])
            lines.append(f"its route: {' '.join(steps)}")
        position = position.apply(action)
    return tuple(lines)


def overview(state: State) -> str:
    """Return how to find out what can be played, where listing every action would be too much; empty otherwise."""
    is_listed = not isinstance(state, XeroGState) or state.is_setup
    return "" if is_listed else "name a ship to see where it can go, e.g. b1"


def _read_square(text: str) -> int | None:
    try:
        return BOARD.parse_cell(text.strip())
    except NotationError:
        return None


def _read_target(text: str) -> int | None:
    return BASE if text.strip().lower() == target_name(BASE) else _read_square(text)


def _read_open_move(state: XeroGState, text: str) -> int | None:
    """Return some action of a move that says nothing of the ship it lands on, ``a1-b3`` or ``a1xb3``."""
    if "@" in text:
        return None
    for whole in (text, f"{text}@{BOARD.names[0]}"):
        try:
            return state.string_to_action(whole)
        except NotationError:
            continue
    return None


def _ship(ship: ShipChoice, square: int) -> str:
    return f"{ship.position.ships[square]} on {BOARD.names[square]}"


def _listed(ship: ShipChoice, targets: Iterable[int]) -> str:
    """Targets by name, with the value of another ship that stands there."""
    ships = ship.position.ships
    met = {target: ships[target] for target in targets if target not in (BASE, ship.start)}
    return " ".join(
        f"{target_name(target)}({met[target]})" if met.get(target) else target_name(target) for target in targets
    )


def _iter_landing_lines(ship: ShipChoice) -> Iterable[str]:
    landings = ship.position.landings_of(ship.start)
    if not landings:
        yield f"the {_ship(ship, ship.start)} cannot move now"
        yield from (note.text for note in ship.position.view().notes if note.owner == ship.position.to_move)
        return
    own = BOARD.names[ship.start]
    free = [landing.name for landing in landings if landing.action is not None]
    if free:
        yield f"the {_ship(ship, ship.start)} can end on {' '.join(free)}: type e.g. {own}-{free[0]}"
    for landing in landings:
        if landing.action is None:
            boosts = _listed(ship, replace(ship, landed=landing).boosts)
            run_on = f"boost on to {boosts}, or " if boosts else ""
            met = _ship(ship, landing.target)
            yield f"it can land on the {met}: {run_on}reprogram that one; type {own}x{landing.name}"


def _step(state: XeroGState, start: str, name: str) -> str:
    square = _read_square(name)
    is_booster = name != start and square is not None and state.ships[square]
    return f"{name} (boost)" if is_booster else name


def _with_targets(view: BoardView, targets: Iterable[int]) -> BoardView:
    """Return the picture in which the ``targets``, and nothing else, are marked as legal."""
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
