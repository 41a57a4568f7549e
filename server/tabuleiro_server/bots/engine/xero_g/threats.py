"""Who could enter a base, as kernels: each way in that is found is kept as a *pattern* and tried first later.

A pattern says which ships must stand where, and which squares must be empty, for one way into the base. It serves
for every position: most moves that let the other player in are found by comparing a few sets.
"""

from __future__ import annotations

from typing import Final

import numpy as np

from tabuleiro.rules.games.xero_g.moves import SIDE, SQUARE_COUNT
from tabuleiro_server.bots.engine.kernels import Array, as_index, lean_kernel, lowest_bit
from tabuleiro_server.bots.engine.xero_g.board import home_ships
from tabuleiro_server.bots.engine.xero_g.geometry import (
    BASE_BIT,
    FULL,
    ONES,
    PATH_EDGES,
    PATH_ENDS,
    PATH_PASSED,
    PATH_RANGES,
    ROW,
    Ints,
    value_at,
)
from tabuleiro_server.bots.engine.xero_g.targets import WAYS, Room, bound_targets, find_targets, leading_to

Patterns = Array
"""By player and place: the ships of value 1, 2 and 3 that must be there, and the squares that must be empty."""

PATTERN_COUNT: Final = 24
"""The patterns kept for a player; those that held lately come first."""

_STEPS_MAX: Final = 400
"""The runs that are tried for one ship before all its targets are looked for instead."""

_NONE: Final = 0
_FOUND: Final = 1
_GIVEN_UP: Final = 2

# The places of a walk: the square, the edges crossed on the way there, its paths and the next of them to try.
_FRAME_SIZE: Final = 5
_SQUARE: Final = 0
_EDGES: Final = 1
_FIRST: Final = 2
_NEXT: Final = 3
_END: Final = 4


def new_patterns() -> Patterns:
    """Return patterns that hold nowhere."""
    patterns = np.zeros((2, PATTERN_COUNT, 4), dtype=np.int64)
    patterns[:, :, 3] = FULL
    return patterns


@lean_kernel
def lets_in(position: Ints, player: int, room: Room, patterns: Patterns) -> bool:
    """Return True if ``player`` could enter the base if it were their turn; the way in is kept in ``patterns``."""
    return is_known_to_enter(position, player, patterns) or _finds_way(position, player, room, patterns)


@lean_kernel
def is_known_to_enter(position: Ints, player: int, patterns: Patterns) -> bool:
    """Return True if one of the patterns holds, which is then brought forward."""
    ones, twos, threes = position[ONES], position[ONES + 1], position[ONES + 2]
    occupied = ones | twos | threes
    for place in range(PATTERN_COUNT):
        missing = patterns[player, place, 0] & ~ones | patterns[player, place, 1] & ~twos
        missing |= patterns[player, place, 2] & ~threes | patterns[player, place, 3] & occupied
        if missing == 0:
            if place:
                for part in range(4):
                    kept = patterns[player, place >> 1, part]
                    patterns[player, place >> 1, part] = patterns[player, place, part]
                    patterns[player, place, part] = kept
            return True
    return False


@lean_kernel
def _finds_way(position: Ints, player: int, room: Room, patterns: Patterns) -> bool:
    """Return True if a way into the base is found; it becomes a pattern, in the place of the one used least."""
    occupied = position[ONES] | position[ONES + 1] | position[ONES + 2]
    goal = ROW if player else ROW << SQUARE_COUNT - SIDE
    home = home_ships(position, player)
    last = PATTERN_COUNT - 1
    ships = home
    while ships:
        start = ships & -ships
        ships ^= start
        others = occupied ^ start
        bound = bound_targets(position, start, others, goal, room)
        if bound & BASE_BIT == 0:
            continue
        leading = leading_to(BASE_BIT, bound & others, room)
        found = _walk(position, player, start, others, leading, room, patterns)
        if found == _FOUND:
            patterns[player, last, 3] = patterns[player, last, 3] & ~start | _nearer_than(home, player)
            return True
        if found == _NONE:
            continue
        if find_targets(position, player, start, room) & BASE_BIT:
            for part in range(3):
                patterns[player, last, part] = position[ONES + part]
            patterns[player, last, 3] = FULL & ~occupied
            return True
    return False


@lean_kernel
def _walk(
    position: Ints, player: int, start: int, others: int, leading: int, room: Room, patterns: Patterns
) -> int:
    """Look for runs from the ship on ``start`` over those of ``leading`` into the base, in depth.

    Return :data:`_FOUND` with the last pattern telling what they need, :data:`_NONE`, or :data:`_GIVEN_UP`.
    """
    last, depth, steps = PATTERN_COUNT - 1, 0, 0
    _begin(position, start, 0, 0, room)
    while depth >= 0:
        frame = WAYS + _FRAME_SIZE * depth
        square, edges = room[as_index(frame + _SQUARE)], room[as_index(frame + _EDGES)]
        path = room[as_index(frame + _NEXT)]
        if path == room[as_index(frame + _FIRST)]:
            direct = _open_path(position, player, square, others, edges)
            if direct >= 0:
                for part in range(3):
                    patterns[player, last, part] = 0
                empty = PATH_PASSED[as_index(direct)]
                for place in range(depth + 1):
                    frame = WAYS + _FRAME_SIZE * place
                    square = room[as_index(frame + _SQUARE)]
                    patterns[player, last, value_at(position, square) - 1] |= square
                    if place < depth:
                        empty |= PATH_PASSED[as_index(room[as_index(frame + _NEXT)] - 1)]
                patterns[player, last, 3] = empty
                return _FOUND
        end = room[as_index(frame + _END)]
        while path < end:
            if PATH_ENDS[as_index(path)] & leading and not (
                PATH_PASSED[as_index(path)] & others | PATH_EDGES[as_index(path)] & edges
            ):
                break
            path += 1
        room[as_index(frame + _NEXT)] = path + 1
        if path == end:
            depth -= 1
            continue
        steps += 1
        if steps > _STEPS_MAX:
            return _GIVEN_UP
        depth += 1
        _begin(position, PATH_ENDS[as_index(path)], edges | PATH_EDGES[as_index(path)], depth, room)
    return _NONE


@lean_kernel
def _begin(position: Ints, square: int, edges: int, depth: int, room: Room) -> None:
    """Make the ship on ``square`` the place number ``depth`` of the walk, reached over ``edges``."""
    runs = as_index((value_at(position, square) - 1) * 3 * SQUARE_COUNT + lowest_bit(square))
    frame = WAYS + _FRAME_SIZE * depth
    room[as_index(frame + _SQUARE)], room[as_index(frame + _EDGES)] = square, edges
    room[as_index(frame + _FIRST)] = room[as_index(frame + _NEXT)] = PATH_RANGES[runs, 0]
    room[as_index(frame + _END)] = PATH_RANGES[runs, 1]


@lean_kernel
def _open_path(position: Ints, player: int, square: int, others: int, edges: int) -> int:
    """Return an open path from the ship on ``square`` straight into the base, -1 if there is none."""
    runs = as_index(((value_at(position, square) - 1) * 3 + 1 + player) * SQUARE_COUNT + lowest_bit(square))
    for path in range(PATH_RANGES[runs, 0], PATH_RANGES[runs, 1]):
        if PATH_PASSED[as_index(path)] & others | PATH_EDGES[as_index(path)] & edges == 0:
            return int(path)
    return -1


@lean_kernel
def _nearer_than(ships: int, player: int) -> int:
    """Return the squares of the rows that are nearer to ``player`` than the row of ``ships``."""
    nearer, row = 0, ROW if player == 0 else ROW << SQUARE_COUNT - SIDE
    while ships & row == 0:
        nearer |= row
        row = row << SIDE if player == 0 else row >> SIDE
    return nearer
