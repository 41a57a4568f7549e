"""What ``master`` sees of an empty cell of Iris: features of a stone on it, for priors."""

from __future__ import annotations

from itertools import product
from typing import Final, NamedTuple

import numpy as np

from tabuleiro_server.bots.engine.iris.board import (
    FIRST,
    HEADER,
    LAST_FIRST,
    LAST_SECOND,
    MOVER,
    NEUTRAL_COUNT,
    OFF_BOARD,
    RIM_COUNT,
    Board,
    IrisTables,
    count_groups,
)
from tabuleiro_server.bots.engine.kernels import Array, kernel

FEATURES: Final = 12
"""Features of a stone: the cells around it, its ring, steps to the last turn and to the first stone of this one,
groups joined and cut, six bridges."""

PATTERN_COUNT: Final = 4**6
RINGS: Final = 8
PHASES: Final = 4
REACH: Final = 6
"""Distances to other stones are told up to this; all farther ones are the same."""
JOINS: Final = 6 * 6
BRIDGES: Final = 4 * 16

_RING_START: Final = PATTERN_COUNT
_LAST_START: Final = _RING_START + RINGS * PHASES
_FIRST_START: Final = _LAST_START + (REACH + 1) * (REACH + 1)
_OWN_START: Final = _FIRST_START + REACH + 2
_ENEMY_START: Final = _OWN_START + JOINS
_BRIDGE_START: Final = _ENEMY_START + JOINS
FEATURE_COUNT: Final = _BRIDGE_START + BRIDGES


def mirror_table() -> Array:
    """Return by pattern the one that stands for it, its turns and its mirror images.

    A pattern has two bits for each of the six cells around a cell, clockwise: 0 for empty, 1 for an own stone, 2
    for one of the other player, 3 for off the board.
    """
    patterns = np.arange(PATTERN_COUNT, dtype=np.int32)
    cells = [patterns >> 2 * place & 3 for place in range(6)]
    images = []
    for start, sign in product(range(6), (1, -1)):
        image = np.zeros(PATTERN_COUNT, dtype=np.int32)
        for place in range(6):
            image |= cells[(start + sign * place) % 6] << 2 * place
        images.append(image)
    return np.asarray(np.min(images, axis=0))


class Look(NamedTuple):
    """The geometry that features need, and room to find them.

    ``bridges`` (cells x 6, int16) holds the cells over the gaps between two neighbours, clockwise from that
    between the first and the second. ``steps`` (cells x cells, int8) are the steps from cell to cell,
    ``rings`` (int8) those to the rim. ``mirror`` is :func:`mirror_table`, ``colours`` and ``near`` (int8) hold
    what is on the cells and around one of them, ``parents`` and ``sizes`` groups, and ``features`` has a row for
    each action.
    """

    bridges: Array
    steps: Array
    rings: Array
    mirror: Array
    colours: Array
    near: Array
    parents: Array
    sizes: Array
    features: Array


def new_look(tables: IrisTables) -> Look:
    """Return what features need on the board of ``tables``."""
    count = len(tables.is_rim)
    bridges = np.full((count, 6), count, dtype=np.int16)
    steps = np.full((count, count), count, dtype=np.int16)
    for cell in range(count):
        for place in range(6):
            for first, then in ((place, place + 1), (place + 1, place)):
                near = tables.around[cell, 1 + first % 6]
                if near < count:
                    bridges[cell, place] = tables.around[near, 1 + then % 6]
        steps[cell, cell], edge = 0, [cell]
        for distance in range(1, count):
            near_cells = {int(near) for each in edge for near in tables.around[each, 1:7] if near < count}
            edge = [near for near in near_cells if steps[cell, near] == count]
            steps[cell, edge] = distance
    return Look(
        bridges,
        np.minimum(steps, REACH).astype(np.int8),
        steps[:, tables.is_rim == 1].min(axis=1).astype(np.int8),
        mirror_table(),
        np.zeros(count + 1, dtype=np.int8),
        np.zeros(7, dtype=np.int8),
        np.zeros(count, dtype=np.int16),
        np.zeros(count, dtype=np.int32),
        np.zeros((count + 1, FEATURES), dtype=np.int32),
    )


@kernel
def colour_cells(board: Board, tables: IrisTables, look: Look) -> None:
    """Write the colours of all cells, and of that off the board, as the mover sees them.

    They are 0 for an empty cell, 1 for an own stone, 2 for one of the other player, 3 off the board.
    """
    mover = board[MOVER]
    for cell in range(len(tables.is_rim) + 1):
        owner = board[HEADER + cell]
        look.colours[cell] = 0 if owner < 0 else 3 if owner == OFF_BOARD else 1 + (owner ^ mover)


@kernel
def rank_groups(board: Board, tables: IrisTables, look: Look) -> None:
    """Find the groups: ``parents`` leads from each stone straight to the root, ``sizes`` has its rank there."""
    count_groups(board, tables, look.parents, look.sizes)
    parents, sizes = look.parents, look.sizes
    for cell in range(len(tables.is_rim)):
        root = parents[cell]
        while parents[root] != root:
            root = parents[root]
        parents[cell] = root
        if root == cell:
            # A root may stand behind cells of its group: these have no use for its score.
            sizes[cell] = rank_of_score(sizes[cell])


@kernel
def rank_of_score(score: int) -> int:
    """Return 1 to 5 for a group with ``score`` coloured cells."""
    if score <= 2:
        return 1 + score
    return 4 if score <= 4 else 5


@kernel
def rank_of_join(tables: IrisTables, look: Look, cell: int, colour: int) -> int:
    """Return a number from 0 to 35 for the two best groups of stones of ``colour`` beside an empty cell."""
    best = second = 0
    best_root = -1
    for step in range(1, 7):
        near = tables.around[cell, step]
        if look.colours[near] != colour:
            continue
        root = look.parents[near]
        rank = look.sizes[root]
        if root == best_root:
            continue
        if rank > best:
            best, second, best_root = rank, best, root
        elif rank > second:
            second = rank
    return 6 * best + second


@kernel
def find_features(board: Board, tables: IrisTables, look: Look, actions: Array, count: int) -> None:
    """Find the features of the first ``count`` of ``actions`` of the mover, none of them the pass."""
    cell_count = len(tables.is_rim)
    colours, near = look.colours, look.near
    colour_cells(board, tables, look)
    rank_groups(board, tables, look)
    empty = board[NEUTRAL_COUNT] + board[RIM_COUNT]
    phase = PHASES - 1 - (PHASES * empty - 1) // cell_count
    first, last, last_second = int(board[FIRST]), int(board[LAST_FIRST]), int(board[LAST_SECOND])
    for place in range(count):
        cell = int(actions[place])
        features = look.features[place]
        pattern, kinds = 0, 0
        for step in range(6):
            colour = colours[tables.around[cell, 1 + step]]
            near[step] = colour
            pattern |= colour << 2 * step
            kinds |= 1 << colour
        near[6] = near[0]
        features[0] = look.mirror[pattern]
        features[1] = _RING_START + PHASES * look.rings[cell] + phase
        to_one = look.steps[cell, last] if last >= 0 else REACH
        to_other = look.steps[cell, last_second] if last_second >= 0 else REACH
        features[2] = _LAST_START + (REACH + 1) * min(to_one, to_other) + max(to_one, to_other)
        features[3] = _FIRST_START + (look.steps[cell, first] if first >= 0 else REACH + 1)
        features[4] = _OWN_START + (rank_of_join(tables, look, cell, 1) if kinds & 2 else 0)
        features[5] = _ENEMY_START + (rank_of_join(tables, look, cell, 2) if kinds & 4 else 0)
        for step in range(6):
            one, other, beyond = near[step], near[step + 1], colours[look.bridges[cell, step]]
            features[6 + step] = _BRIDGE_START + 16 * beyond + 4 * min(one, other) + max(one, other)
