"""Squares, edges and paths of Xero-G as numbers, for kernels. Source: RULES.md, "Xero-G".

A set of squares is a number of 36 bits. A set of edges is a number of 64: an edge across has the bit of its left
square, and an edge upwards that of its lower one, :data:`UPWARDS` bits further on. The last of these would not
fit: it has bit :data:`LAST_EDGE`, which no edge across needs, as there is no square right of the last column.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final

import numpy as np

from tabuleiro.rules.games.xero_g.moves import BASE, SIDE, SQUARE_COUNT
from tabuleiro_server.bots.engine.kernels import Array, lean_kernel

Ints = Array
"""Numbers of 64 bits."""

ONES: Final = 0
"""The place in a position of the set of ships of value 1; those of value 2 and 3 follow."""

FULL: Final = (1 << SQUARE_COUNT) - 1
ROW: Final = (1 << SIDE) - 1
"""The squares of row 1."""
BASE_BIT: Final = 1 << BASE
_LAST_COLUMN: Final = sum(1 << row * SIDE + SIDE - 1 for row in range(SIDE))
_NOT_LAST: Final = FULL & ~_LAST_COLUMN
_NOT_FIRST: Final = FULL & ~(_LAST_COLUMN >> SIDE - 1)

UPWARDS: Final = SQUARE_COUNT - 1
LAST_EDGE: Final = SIDE - 1
_UPWARD_COUNT: Final = 64 - UPWARDS
"""The edges upwards that fit in behind the edges across: all but the last."""
_UPWARD_MASK: Final = (1 << _UPWARD_COUNT) - 1


@lean_kernel
def around(squares: int) -> int:
    """Return all squares next to any of ``squares``."""
    return (squares & _NOT_LAST) << 1 | (squares & _NOT_FIRST) >> 1 | (squares << SIDE & FULL) | squares >> SIDE


@lean_kernel
def upward_edges(edges: int) -> int:
    """Return the lower squares of the edges upwards among ``edges``."""
    return edges >> UPWARDS & _UPWARD_MASK | (edges & 1 << LAST_EDGE) << _UPWARD_COUNT - LAST_EDGE


@lean_kernel
def open_around(squares: int, edges: int, upwards: int) -> int:
    """Return all squares next to any of ``squares`` over an edge not among ``edges``.

    ``upwards`` is :func:`upward_edges` of ``edges``, worked out once for all steps.
    """
    return (
        (squares & _NOT_LAST & ~edges) << 1
        | (squares & _NOT_FIRST) >> 1 & ~edges
        | ((squares & ~upwards) << SIDE & FULL)
        | squares >> SIDE & ~upwards
    )


@lean_kernel
def edge_between(square: int, other: int) -> int:
    """Return the edge between two neighbours, each a set of one."""
    low, high = min(square, other), max(square, other)
    if high == low << 1:
        return low
    return low << UPWARDS | (low >> _UPWARD_COUNT - LAST_EDGE & 1 << LAST_EDGE)


@lean_kernel
def value_at(position: Ints, square: int) -> int:
    """Return the value of the ship on ``square`` (a set of one)."""
    if position[ONES] & square:
        return 1
    return 2 if position[ONES + 1] & square else 3


def _iter_paths(square: int, steps: int, edges: int = 0, passed: int = 0) -> Iterator[tuple[int, int, int]]:
    """Yield end, squares passed and edges of all paths of ``steps`` from ``square`` on an empty board."""
    column, row = square % SIDE, square // SIDE
    for other in (square + 1, square - 1, square + SIDE, square - SIDE):
        if abs(other % SIDE - column) + abs(other // SIDE - row) != 1 or not 0 <= other < SQUARE_COUNT:
            continue
        low = min(square, other)
        bit = low if abs(other - square) == 1 else low + UPWARDS
        edge = 1 << (bit if bit < 64 else LAST_EDGE)
        if edge & edges:
            continue
        if steps == 1:
            yield other, passed, edges | edge
        else:
            yield from _iter_paths(other, steps - 1, edges | edge, passed | 1 << other)


def _list_paths() -> tuple[Array, Ints, Ints]:
    firsts = np.zeros((3, SQUARE_COUNT, SQUARE_COUNT), dtype=np.int16)
    passed, edges = list[int](), list[int]()
    for value in (1, 2, 3):
        for square in range(SQUARE_COUNT):
            paths = sorted(_iter_paths(square, value))
            for index, (end, _, _) in reversed(list(enumerate(paths))):
                firsts[value - 1, square, end] = len(passed) + index
            passed += [path[1] for path in paths]
            edges += [path[2] for path in paths]
    return firsts, np.array(passed, dtype=np.int64), np.array(edges, dtype=np.uint64).view(np.int64)


FIRST_PATH, PASSED, EDGES = _list_paths()
"""All paths: the squares that each passes, and its edges; and the first one by value - 1, square and end.

Paths between the same squares follow each other. Entries for squares that no path joins have no meaning.
"""


def _list_runs() -> tuple[Ints, Ints, Ints, Array]:
    """List the paths by value, goal and square: to any square, then into the base of player 0 and of player 1.

    A path into a base ends with a step from a square of the goal row, which is passed.
    """
    ends, passed, edges, ranges = list[int](), list[int](), list[int](), list[tuple[int, int]]()
    for value in (1, 2, 3):
        for goal_row in (None, SIDE - 1, 0):
            for square in range(SQUARE_COUNT):
                first = len(ends)
                if goal_row is None:
                    paths = [(1 << end, through, crossed) for end, through, crossed in _iter_paths(square, value)]
                elif value == 1:
                    paths = [(BASE_BIT, 0, 0)] if square // SIDE == goal_row else []
                else:
                    paths = [
                        (BASE_BIT, through | 1 << end, crossed)
                        for end, through, crossed in _iter_paths(square, value - 1)
                        if end // SIDE == goal_row
                    ]
                ends += [path[0] for path in paths]
                passed += [path[1] for path in paths]
                edges += [path[2] for path in paths]
                ranges.append((first, len(ends)))
    crossed_edges = np.array(edges, dtype=np.uint64).view(np.int64)
    return np.array(ends, dtype=np.int64), np.array(passed, dtype=np.int64), crossed_edges, np.array(ranges)


PATH_ENDS, PATH_PASSED, PATH_EDGES, PATH_RANGES = _list_runs()
"""All paths: the end as a set of one, the squares passed, the edges; and the first and the last of each list.

Lists are numbered ``((value - 1) * 3 + goal) * 36 + square``, where goal is 0 for any square, 1 and 2 for the base
that player 0 and player 1 want to enter.
"""
