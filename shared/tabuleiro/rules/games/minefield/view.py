"""A position of Minefield as a picture: marks, edges, and sentences that say why a cell is forbidden.

Decides nothing: what is legal, banned or won is asked of the state. Source: RULES.md, "Minefield".
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from tabuleiro.ids import Player
from tabuleiro.rules.board import COLUMN_LETTERS, bit_indexes
from tabuleiro.rules.games.minefield.areas import name_stones
from tabuleiro.rules.games.minefield.connection import shortest_path
from tabuleiro.rules.view import BoardView, CellView, EdgeView, Hint, Mark

if TYPE_CHECKING:
    from tabuleiro.rules.games.minefield import MinefieldState

_PIECE_NAMES = {"b": "black stone", "w": "white stone"}
_EDGES = (
    EdgeView("top", 0, "black joins top and bottom"),
    EdgeView("bottom", 0, "black joins top and bottom"),
    EdgeView("left", 1, "white joins left and right"),
    EdgeView("right", 1, "white joins left and right"),
)
_EDGE_NAMES = ("top and bottom", "left and right")


def board_view(state: MinefieldState) -> BoardView:
    """The picture of ``state``."""
    size = state.game.size
    path = _winning_path(state)
    return BoardView(
        topology="square",
        cells=tuple(_cell_view(state, index, path) for index in range(size * size)),
        row_labels=tuple(str(row) for row in range(size, 0, -1)),
        column_labels=tuple((2 * col, COLUMN_LETTERS[col]) for col in range(size)),
        to_move=state.to_move,
        actions_left=None,
        edges=_EDGES,
        hints=_path_hints(state, path) + _ban_hints(state),
        notices=_notices(state),
        piece_names=_PIECE_NAMES,
    )


def _winning_path(state: MinefieldState) -> tuple[int, ...]:
    """A shortest chain of stones that joins the winner's edges, from edge to edge; empty without a winner."""
    if state.outcome is None or state.outcome.winner is None:
        return ()
    winner = state.outcome.winner
    return shortest_path(state.game.board, state.stones[winner], winner)


def _cell_view(state: MinefieldState, index: int, path: tuple[int, ...]) -> CellView:
    marks = set()
    if index == state.last_action:
        marks.add(Mark.LAST)
    if index in path:
        marks.add(Mark.WINNING)
    if state.is_legal(index):
        marks.add(Mark.LEGAL)
    elif state.to_move is not None and state.banned[state.to_move] >> index & 1:
        marks.add(Mark.FORBIDDEN)
    piece = state.piece_at(index)
    row, col = divmod(index, state.game.size)
    return CellView(
        index=index,
        name=state.game.board.names[index],
        x=2 * col,
        y=state.game.size - 1 - row,
        piece=piece,
        owner=None if piece == "." else 0 if piece == "b" else 1,
        marks=frozenset(marks),
    )


def _path_hints(state: MinefieldState, path: tuple[int, ...]) -> tuple[Hint, ...]:
    if not path:
        return ()
    winner: Player = 1 if state.stones[1] >> path[0] & 1 else 0
    # Part of a list of words about a cell, unlike the bans, which are sentences.
    text = f"{state.game.sides[winner]} joined {_EDGE_NAMES[winner]} with a chain of {len(path)} stones"
    return (Hint("path", text, path, winner),)


def _ban_hints(state: MinefieldState) -> tuple[Hint, ...]:
    """One hint for each hard corner and each switch that keeps the player to move off a cell."""
    player, areas, board = state.to_move, state.game.areas, state.game.board
    if player is None or areas is None:
        return ()
    own, enemy, side = state.stones[player], state.stones[1 - player], _side(state, player)
    hints = []
    for cell in bit_indexes(state.banned[player]):
        for pattern in areas.iter_bans(cell, own, enemy):
            made_with = name_stones(board, pattern.stones, state.stones)
            text = f"{side} may not take {board.names[cell]}: it would make a {pattern.name} with {made_with}."
            hints.append(Hint(pattern.kind, text, bit_indexes(pattern.stones), player, cell))
    return tuple(hints)


def _notices(state: MinefieldState) -> tuple[str, ...]:
    if state.skipped is None:
        return ()
    skipped, other = _side(state, state.skipped), state.game.sides[state.mover]
    return (f"{skipped} has no legal cell and is skipped: {other} moves again.",)


def _side(state: MinefieldState, player: Player) -> str:
    return state.game.sides[player].capitalize()
