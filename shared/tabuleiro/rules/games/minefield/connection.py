"""Connection in Minefield: joined edges, the path that joins them, the distance to it.

Works on bit sets; where stones may be put is left to the rules. Source: RULES.md, "Minefield" and
"Computer players of the reports" (the connection value that [MF] wished for).
"""

from __future__ import annotations

from tabuleiro.ids import Player
from tabuleiro.rules.board import SquareBoard


def edges_of(board: SquareBoard, player: Player) -> tuple[int, int]:
    """Return the cells of the two edges ``player`` has to join: top and bottom, or left and right."""
    return (board.left_column, board.right_column) if player else (board.top_row, board.bottom_row)


def joined_through(board: SquareBoard, own: int, cell: int, player: Player) -> bool:
    """Return True if the group of the own stone on ``cell`` touches both edges of ``player``."""
    first, last = edges_of(board, player)
    stone = 1 << cell
    # Most stones join nothing, and need no flood: no path is shorter than the board is wide, and on it a stone has
    # two neighbours, or one on an edge.
    neighbours = (board.spread4(stone) & own ^ stone).bit_count()
    if own.bit_count() < board.rows or neighbours < (1 if stone & (first | last) else 2):
        return False
    group = _flood(board, stone, own)
    return bool(group & first) and bool(group & last)


def is_joined(board: SquareBoard, own: int, player: Player) -> bool:
    """Return True if the stones ``own`` join the two edges of ``player``."""
    first, last = edges_of(board, player)
    return bool(_flood(board, own & first, own) & last)


def shortest_path(board: SquareBoard, own: int, player: Player) -> tuple[int, ...]:
    """Return the cells of a shortest chain of ``own`` stones from the first edge of ``player`` to the second.

    Of several the one that takes the lowest indexes from the second edge on; empty when the edges are not
    joined.
    """
    first, last = edges_of(board, player)
    layers = [own & first]
    seen = layers[0]
    while not layers[-1] & last:
        layer = board.spread4(layers[-1]) & own & ~seen
        if not layer:
            return ()
        layers.append(layer)
        seen |= layer
    reachable, path = last, []
    for layer in reversed(layers):
        step = layer & reachable
        step &= -step
        path.append(step.bit_length() - 1)
        reachable = board.spread4(step)
    return tuple(reversed(path))


def deciding_cells(board: SquareBoard, own: int, player: Player) -> tuple[int, ...]:
    """Return the stones of which each one is needed to join the edges of ``player``."""
    path = shortest_path(board, own, player)
    return tuple(cell for cell in path if not is_joined(board, own ^ (1 << cell), player))


def connection_distance(board: SquareBoard, stones: tuple[int, int], player: Player) -> int | None:
    """Return the least number of stones that ``player`` still needs to join their edges.

    A path may cross own stones for nothing and empty cells for one stone each, whether the rules forbid the
    cell now or not. 0 when joined, ``None`` when the enemy's stones have cut every path.
    """
    own = stones[player]
    first, last = edges_of(board, player)
    empty = board.full ^ (own | stones[1 - player])
    reached = _flood(board, own & first, own)
    distance, entrance = 0, first
    while not reached & last:
        step = (board.spread4(reached) | entrance) & empty & ~reached
        if not step:
            return None
        entrance = 0
        reached |= step
        reached |= _flood(board, board.spread4(step) & own, own)
        distance += 1
    return distance


def _flood(board: SquareBoard, start: int, cells: int) -> int:
    """Return ``start`` and all of ``cells`` orthogonally connected to it within ``cells``."""
    spread4, group = board.spread4, start
    while True:
        wider = spread4(group) & cells | group
        if wider == group:
            return group
        group = wider
