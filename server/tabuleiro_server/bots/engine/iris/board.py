"""Iris as kernels: the board as one array, its actions, its end and its scores. Source: RULES.md, "Iris".

Tests keep it equal to :mod:`tabuleiro.rules.games.iris`.

A board is an array of int16: a header, then the owner of each cell (-1 for empty, else the player) and of one more
that stands for everything off the board, then the empty cells in two lists, neutral ones first, and last the place
of each empty cell in its list.
"""

from __future__ import annotations

from typing import Final, NamedTuple

import numpy as np

from tabuleiro.rules.board import bit_indexes
from tabuleiro.rules.games.iris import Iris, IrisState
from tabuleiro.rules.games.iris.state import PASSES_TO_END
from tabuleiro_server.bots.engine.kernels import Array, kernel

Board = Array

MOVER: Final = 0
FIRST: Final = 1
"""The first stone of the turn begun, -1 between turns."""
PASSES: Final = 2
IS_STARTED: Final = 3
"""1 when there is a black stone; before, the first turn is being played."""
IS_OVER: Final = 4
NEUTRAL_COUNT: Final = 5
RIM_COUNT: Final = 6
"""The numbers of empty neutral cells and of empty coloured cells."""
RIM_START: Final = 7
"""The place of the first empty coloured cell in the lists."""
LAST_FIRST: Final = 8
LAST_SECOND: Final = 9
"""The stones of the last complete turn, -1 where there is none."""
HEADER: Final = 10

OFF_BOARD: Final = 2
"""The owner of the cell that stands for everything off the board."""

ROW_COUNT: Final = 2 * 8 - 1 + 2
"""The rows of bit sets for the biggest board, with one before and one after them."""

_STEPS_CLOCKWISE = ((2, 0), (1, 1), (-1, 1), (-2, 0), (-1, -1), (1, -1))


class IrisTables(NamedTuple):
    """The geometry of one board, by cell.

    ``around`` (cells x 8, int16) holds the six neighbours clockwise, with the last also before the first and the
    first also after the last; ``before`` (cells x 3, int16) those with lower numbers. The number of cells stands
    for off the board. ``is_rim`` (int8) is 1 on coloured cells.

    ``rows`` and ``bits`` (int16) say where a cell is in bit sets by row: the two cells above it have its bit and
    the one before, the two below its bit and the next. There is a row before the first one and one after the last.
    ``rim_rows`` (int32) has the coloured cells as such a set.
    """

    around: Array
    before: Array
    is_rim: Array
    rows: Array
    bits: Array
    rim_rows: Array


def iris_tables(game: Iris) -> IrisTables:
    """Return the tables of the board of ``game``."""
    board = game.board
    places = list(zip(board.xs, board.ys, strict=True))
    index_at = {place: index for index, place in enumerate(places)}
    off = board.cell_count
    nears = [[index_at.get((x + right, y + down), off) for right, down in _STEPS_CLOCKWISE] for x, y in places]
    around = [[six[-1], *six, six[0]] for six in nears]
    # The last three steps lead left and up.
    before = [six[3:] for six in nears]
    is_rim = [board.rim >> cell & 1 for cell in range(board.cell_count)]
    first_row, first_bit = min(board.ys), min(x + y for x, y in places) // 2
    rows = np.array([y - first_row + 1 for y in board.ys], dtype=np.int16)
    bits = np.array([(x + y) // 2 - first_bit + 1 for x, y in places], dtype=np.int16)
    rim_rows = np.zeros(ROW_COUNT, dtype=np.int32)
    np.bitwise_or.at(rim_rows, rows, np.where(is_rim, 1 << bits.astype(np.int32), 0))
    return IrisTables(
        np.array(around, dtype=np.int16),
        np.array(before, dtype=np.int16),
        np.array(is_rim, dtype=np.int8),
        rows,
        bits,
        rim_rows,
    )


def pack_iris(state: IrisState) -> Board:
    """Return the board of ``state``."""
    game = state.game
    count = game.board.cell_count
    board = np.full(HEADER + 1 + 3 * count, -1, dtype=np.int16)
    board[HEADER + count] = OFF_BOARD
    for player in (0, 1):
        for cell in bit_indexes(state.stones[player]):
            board[HEADER + cell] = player
    empty = game.board.full ^ (state.stones[0] | state.stones[1])
    neutral, rim = bit_indexes(empty & game.neutral), bit_indexes(empty & game.board.rim)
    rim_start = game.neutral.bit_count()
    for start, cells in ((0, neutral), (rim_start, rim)):
        for place, cell in enumerate(cells, start):
            board[HEADER + 1 + count + place] = cell
            board[HEADER + 1 + 2 * count + cell] = place
    last = bit_indexes(state.last_stones) if state.first is None else ()
    board[:HEADER] = (
        state.mover,
        -1 if state.first is None else state.first,
        state.passes,
        bool(state.stones[0]),
        state.is_terminal,
        len(neutral),
        len(rim),
        rim_start,
        *(*last, -1, -1)[:2],
    )
    return board


@kernel
def put(board: Board, tables: IrisTables, cell: int, player: int) -> None:
    """Put a stone on an empty cell; the turn stays as it is."""
    count = len(tables.is_rim)
    lists, places = HEADER + 1 + count, HEADER + 1 + 2 * count
    board[HEADER + cell] = player
    if tables.is_rim[cell]:
        board[RIM_COUNT] -= 1
        end = board[RIM_START] + board[RIM_COUNT]
    else:
        board[NEUTRAL_COUNT] -= 1
        end = int(board[NEUTRAL_COUNT])
    moved = board[lists + end]
    place = board[places + cell]
    board[lists + place] = moved
    board[places + moved] = place


@kernel
def is_beside(tables: IrisTables, cell: int, other: int) -> bool:
    """Return True if two cells are neighbours."""
    found = False
    for step in range(1, 7):
        found |= tables.around[cell, step] == other
    return found


@kernel
def has_second(board: Board, tables: IrisTables, first: int) -> bool:
    """Return True if there is a cell for the second stone of a turn after a stone on ``first``."""
    count = len(tables.is_rim)
    if tables.is_rim[first]:
        return bool(board[HEADER + count - 1 - first] < 0)
    if board[NEUTRAL_COUNT] > 6:
        return True
    near = 0
    for step in range(1, 7):
        cell = tables.around[first, step]
        if board[HEADER + cell] < 0 and not tables.is_rim[cell]:
            near += 1
    return bool(board[NEUTRAL_COUNT] > near)


@kernel
def end_turn(board: Board, first: int, second: int) -> None:
    """Give the turn to the other player after stones on ``first`` and ``second``, -1 where there is none."""
    board[MOVER] = 1 - board[MOVER]
    board[FIRST] = -1
    board[LAST_FIRST] = first
    board[LAST_SECOND] = second
    board[IS_OVER] = board[NEUTRAL_COUNT] + board[RIM_COUNT] == 0


@kernel
def play_iris(board: Board, tables: IrisTables, action: int) -> None:
    """Play a legal action; the number of cells is the pass."""
    count = len(tables.is_rim)
    if action == count:
        passes = board[PASSES] + 1
        end_turn(board, -1, -1)
        board[PASSES] = passes
        board[IS_OVER] = passes == PASSES_TO_END
        return
    first = board[FIRST]
    put(board, tables, action, board[MOVER])
    board[PASSES] = 0
    if first >= 0:
        end_turn(board, first, action)
    elif not board[IS_STARTED]:
        board[IS_STARTED] = 1
        end_turn(board, action, -1)
    elif has_second(board, tables, action):
        board[FIRST] = action
    else:
        end_turn(board, action, -1)


@kernel
def list_iris(board: Board, tables: IrisTables, out: Array) -> int:
    """Write the legal actions to ``out`` in no particular order and return their number."""
    count = len(tables.is_rim)
    if board[IS_OVER]:
        return 0
    first = board[FIRST]
    if first >= 0 and tables.is_rim[first]:
        out[0] = count - 1 - first
        return 1
    found = 0
    for place in range(board[NEUTRAL_COUNT]):
        cell = board[HEADER + 1 + count + place]
        if first < 0 or not is_beside(tables, first, cell):
            out[found] = cell
            found += 1
    if first >= 0 or not board[IS_STARTED]:
        return found
    for place in range(board[RIM_START], board[RIM_START] + board[RIM_COUNT]):
        out[found] = board[HEADER + 1 + count + place]
        found += 1
    out[found] = count
    return found + 1


@kernel
def count_groups(board: Board, tables: IrisTables, parents: Array, sizes: Array) -> None:
    """Find the groups: ``parents`` leads from a cell to the root of its group, ``sizes`` has its score there."""
    count = len(tables.is_rim)
    owners = board[HEADER : HEADER + count + 1]
    for cell in range(count):
        owner = owners[cell]
        parents[cell] = root = cell
        sizes[cell] = tables.is_rim[cell]
        if owner < 0:
            continue
        left, left_above, right_above = tables.before[cell, 0], tables.before[cell, 1], tables.before[cell, 2]
        is_left, is_left_above = owners[left] == owner, owners[left_above] == owner
        is_right_above = owners[right_above] == owner
        if is_left:
            root = left
            while parents[root] != root:
                root = parents[root]
            parents[cell] = root
            sizes[root] += sizes[cell]
        # A cell that both this one and the one on the left touch is in the group already, and two above join.
        if is_left_above and not is_left:
            near = left_above
        elif is_right_above and not is_left_above:
            near = right_above
        else:
            continue
        while parents[near] != near:
            parents[near] = parents[parents[near]]
            near = parents[near]
        if near != root:
            parents[root] = near
            sizes[near] += sizes[root]


@kernel
def perft_iris(board: Board, tables: IrisTables, depth: int) -> int:
    """Return the number of sequences of ``depth`` (1 or more) actions from ``board``."""
    boards = np.empty((depth, len(board)), dtype=np.int16)
    actions = np.empty((depth, len(tables.is_rim) + 1), dtype=np.int16)
    found, tried = np.zeros((2, depth), dtype=np.int64)
    boards[0] = board
    found[0] = list_iris(boards[0], tables, actions[0])
    ply, total = 0, 0
    while ply >= 0:
        if ply == depth - 1:
            total += found[ply]
        elif tried[ply] < found[ply]:
            boards[ply + 1] = boards[ply]
            play_iris(boards[ply + 1], tables, actions[ply, tried[ply]])
            tried[ply] += 1
            ply += 1
            tried[ply], found[ply] = 0, list_iris(boards[ply], tables, actions[ply])
            continue
        ply -= 1
    return int(total)
