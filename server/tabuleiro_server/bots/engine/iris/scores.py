"""The scores of Iris by bit sets. Source: RULES.md, "Iris".

Sets come by row, as :class:`~tabuleiro_server.bots.engine.iris.board.IrisTables` says, and are made of four words
of four rows each, 16 bits a row. A group grows from one stone by all its neighbours at once, without branches: no
processor could foresee who owns a cell. Most playouts are decided by the best group of each player.
"""

from __future__ import annotations

from typing import Final, TypeAlias

import numpy as np

from tabuleiro_server.bots.engine.iris.board import HEADER, ROW_COUNT, Board, IrisTables
from tabuleiro_server.bots.engine.kernels import Array, count_bits, kernel, lean_kernel

CellSet: TypeAlias = tuple[np.uint64, np.uint64, np.uint64, np.uint64]

EMPTY_SET: Final = 2
"""The place of the empty cells among bit sets; those of the players are before it."""

SCORE_COUNT: Final = 43
"""Scores go from 0 to the 42 coloured cells of the biggest board."""

_NONE: Final = np.uint64(0)
_ONE: Final = np.uint64(1)
_ROW: Final = np.uint64(16)
_TWO_ROWS: Final = np.uint64(32)
_THREE_ROWS: Final = np.uint64(48)


@kernel
def row_sets(board: Board, tables: IrisTables) -> Array:
    """Return the bit sets of the stones of both players and of the empty cells, by row."""
    sets = np.zeros((EMPTY_SET + 1, ROW_COUNT), dtype=np.int32)
    for cell in range(len(tables.is_rim)):
        owner = int(board[HEADER + cell])
        sets[owner if owner >= 0 else EMPTY_SET, tables.rows[cell]] |= 1 << int(tables.bits[cell])
    return sets


@lean_kernel
def word_of(rows: Array, first: int) -> np.uint64:
    """Return four rows from ``first`` on as a word."""
    low = np.uint64(rows[first]) | np.uint64(rows[first + 1]) << _ROW
    return low | (np.uint64(rows[first + 2]) | np.uint64(rows[first + 3]) << _ROW) << _TWO_ROWS


@lean_kernel
def set_of(rows: Array) -> CellSet:
    """Return the set of ``rows``; the row before the first one is left out."""
    return word_of(rows, 1), word_of(rows, 5), word_of(rows, 9), word_of(rows, 13)


@lean_kernel
def size_of(cells: CellSet) -> int:
    """Return the number of cells of a set."""
    return count_bits(cells[0]) + count_bits(cells[1]) + count_bits(cells[2]) + count_bits(cells[3])


@lean_kernel
def in_both(cells: CellSet, others: CellSet) -> CellSet:
    """Return the cells of a set that are also in another."""
    return cells[0] & others[0], cells[1] & others[1], cells[2] & others[2], cells[3] & others[3]


@lean_kernel
def without(cells: CellSet, others: CellSet) -> CellSet:
    """Return the cells of a set that are not in another."""
    return cells[0] & ~others[0], cells[1] & ~others[1], cells[2] & ~others[2], cells[3] & ~others[3]


@lean_kernel
def first_of(cells: CellSet) -> CellSet:
    """Return a set of one cell of ``cells``, which has one at least."""
    if cells[0] != _NONE:
        return cells[0] & (~cells[0] + _ONE), _NONE, _NONE, _NONE
    if cells[1] != _NONE:
        return _NONE, cells[1] & (~cells[1] + _ONE), _NONE, _NONE
    if cells[2] != _NONE:
        return _NONE, _NONE, cells[2] & (~cells[2] + _ONE), _NONE
    return _NONE, _NONE, _NONE, cells[3] & (~cells[3] + _ONE)


@lean_kernel
def with_neighbours(above: np.uint64, here: np.uint64, below: np.uint64) -> np.uint64:
    """Return the cells of the word ``here`` and the neighbours there of these and of the words beside it."""
    found = here | here << _ONE | here >> _ONE
    found |= (here | here << _ONE) << _ROW | (here | here >> _ONE) >> _ROW
    return found | (above | above << _ONE) >> _THREE_ROWS | (below | below >> _ONE) << _THREE_ROWS


@lean_kernel
def group_around(start: CellSet, stones: CellSet) -> CellSet:
    """Return the group of ``stones`` in which the stone ``start`` is."""
    one, two, three, four = start
    is_growing = True
    while is_growing:
        old_one, old_two, old_three, old_four = one, two, three, four
        one = stones[0] & with_neighbours(_NONE, one, two)
        two = stones[1] & with_neighbours(one, two, three)
        three = stones[2] & with_neighbours(two, three, four)
        four = stones[3] & with_neighbours(three, four, _NONE)
        three = stones[2] & with_neighbours(two, three, four)
        two = stones[1] & with_neighbours(one, two, three)
        one = stones[0] & with_neighbours(_NONE, one, two)
        is_growing = (one ^ old_one) | (two ^ old_two) | (three ^ old_three) | (four ^ old_four) != _NONE
    return one, two, three, four


@lean_kernel
def best_score(stones: CellSet, rim: CellSet) -> int:
    """Return the score of the best group of ``stones``; ``rim`` are the coloured cells."""
    left, best = in_both(stones, rim), 0
    left_count = size_of(left)
    while left_count > best:
        group = group_around(first_of(left), stones)
        score = size_of(in_both(group, left))
        best = max(best, score)
        left = without(left, group)
        left_count -= score
    return best


@kernel
def count_scores(stones: CellSet, rim: CellSet) -> Array:
    """Return the number of groups of ``stones`` by their scores, of those with a coloured cell."""
    counts = np.zeros(SCORE_COUNT, dtype=np.int32)
    left = in_both(stones, rim)
    while size_of(left) > 0:
        group = group_around(first_of(left), stones)
        counts[size_of(in_both(group, left))] += 1
        left = without(left, group)
    return counts


@kernel
def compare_sets(black: Array, white: Array, rim_rows: Array) -> int:
    """Return 1 if the scores of ``black`` are better, -1 if those of ``white`` are, 0 if they are equal.

    All three sets are given by row.
    """
    rim = set_of(rim_rows)
    stones, others = set_of(black), set_of(white)
    lead = best_score(stones, rim) - best_score(others, rim)
    if lead == 0:
        counts, other_counts = count_scores(stones, rim), count_scores(others, rim)
        for score in range(SCORE_COUNT - 1, 0, -1):
            # Above this score both have the same groups; the player with one more group of it is ahead.
            lead = int(counts[score] - other_counts[score])
            if lead != 0:
                break
    return 0 if lead == 0 else 1 if lead > 0 else -1


@kernel
def compare_scores(board: Board, tables: IrisTables) -> int:
    """Return 1 if the scores of black are better, -1 if those of white are, 0 if they are equal."""
    sets = row_sets(board, tables)
    return compare_sets(sets[0], sets[1], tables.rim_rows)
