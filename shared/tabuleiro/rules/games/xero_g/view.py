"""The picture of a Xero-G position. Source: RULES.md, "Xero-G"."""

from __future__ import annotations

from typing import TYPE_CHECKING

from tabuleiro.ids import PLAYERS, Player
from tabuleiro.rules.board import COLUMN_LETTERS
from tabuleiro.rules.games.xero_g.actions import Placement, action_of
from tabuleiro.rules.games.xero_g.moves import BASE_BIT, BOARD, ROWS, SIDE, VALUES, home_row
from tabuleiro.rules.view import BoardView, CellView, EdgeView, Hint, Mark

if TYPE_CHECKING:
    from tabuleiro.rules.games.xero_g.state import XeroGState

PIECE_NAMES = {str(value): f"ship of value {value}" for value in VALUES}


def board_view(state: XeroGState) -> BoardView:
    """The position for a renderer: home rows, the bases as edges, what may be chosen first."""
    marked = _marked_squares(state)
    actions_left = None
    if not state.is_terminal:
        actions_left = sum(count for _, count in state.supply()) if state.is_setup else 1
    return BoardView(
        topology="square",
        cells=tuple(_cell_view(state, square, marked) for square in range(BOARD.cell_count)),
        row_labels=tuple(str(row) for row in range(SIDE, 0, -1)),
        column_labels=tuple((2 * col, COLUMN_LETTERS[col]) for col in range(SIDE)),
        to_move=state.to_move,
        actions_left=actions_left,
        edges=tuple(_base_view(state, player) for player in PLAYERS),
        hints=(_supply_hint(state),) if state.is_setup else tuple(_home_hint(state, each) for each in PLAYERS),
        piece_names=PIECE_NAMES,
    )


def _marked_squares(state: XeroGState) -> dict[Mark, int]:
    """The squares that have each mark, as bit sets (in which the base may be, too)."""
    marked = {Mark.LAST: 0, Mark.LEGAL: 0, Mark.HOME: 0}
    if state.last_action is not None:
        last = action_of(state.last_action)
        squares = (last.square,) if isinstance(last, Placement) else (last.start, last.target, last.drop)
        for square in squares:
            marked[Mark.LAST] |= 1 << square
    for ship in state.ship_moves():
        marked[Mark.LEGAL] |= 1 << ship.start
    if state.is_setup:
        marked[Mark.LEGAL] = state.free_setup_squares()
    elif not state.is_terminal:
        marked[Mark.HOME] = ROWS[home_row(state.occupied, state.mover)]
    return marked


def _cell_view(state: XeroGState, square: int, marked: dict[Mark, int]) -> CellView:
    row, col = divmod(square, SIDE)
    value = state.ships[square]
    return CellView(
        index=square,
        name=BOARD.names[square],
        x=2 * col,
        y=SIDE - 1 - row,
        piece=str(value) if value else ".",
        marks=frozenset(mark for mark, squares in marked.items() if squares >> square & 1),
    )


def _base_view(state: XeroGState, player: Player) -> EdgeView:
    """The base that ``player`` wants to enter."""
    name = state.game.sides[player]
    text = f"base that {name} enters"
    if state.base_ship and state.mover != player:
        text = f"base that {name} has entered with a ship of value {state.base_ship}"
    is_target = state.to_move == player and any(ship.targets & BASE_BIT for ship in state.ship_moves())
    return EdgeView("bottom" if player else "top", player, text, is_target)


def _home_hint(state: XeroGState, player: Player) -> Hint:
    row = home_row(state.occupied, player)
    squares = range(SIDE * row, SIDE * (row + 1))
    return Hint("home-row", f"home row of {state.game.sides[player]}: row {row + 1}", tuple(squares), player)


def _supply_hint(state: XeroGState) -> Hint:
    """What the mover still has to place."""
    values = ", ".join(str(value) for value, count in state.supply() for _ in range(count))
    return Hint("to-place", f"{state.game.sides[state.mover]} still has to place {values}", (), state.mover)
