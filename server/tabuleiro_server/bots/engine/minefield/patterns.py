"""The neighbourhood of cells of Minefield as numbers, for playouts and for the priors of ``master``.

The eight cells around a cell are a number of 16 bits, two for each: empty, a stone of player 0, one of player 1,
or off the board. It says at once if a stone is banned by a hard corner.
"""

from __future__ import annotations

from itertools import product
from typing import Final, NamedTuple

import numpy as np

from tabuleiro_server.bots.engine.kernels import Array, as_index, kernel, lean_kernel
from tabuleiro_server.bots.engine.minefield.board import (
    BORDER,
    EMPTY,
    HEADER,
    MOVER,
    OFF_BOARD,
    Board,
    MinefieldTables,
)

PATTERN_COUNT: Final = 1 << 16

_CIRCLE: Final = ((0, 1), (1, 1), (1, 0), (1, -1), (0, -1), (-1, -1), (-1, 0), (-1, 1))
"""Steps (down, right) around a cell; each second one leads to a corner."""

BANNED: Final = 1
MAYBE_BANNED: Final = 4
"""The bits of :func:`ban_table` for player 0; those of player 1 are the next."""


def ban_table() -> Array:
    """Return by pattern if stones are banned by a hard corner, or may be banned by a switch."""
    patterns = np.arange(PATTERN_COUNT)
    cells = [patterns >> 2 * place & 3 for place in range(8)]
    table = np.zeros(PATTERN_COUNT, dtype=np.uint8)
    for player in (0, 1):
        own, enemy = player + 1, 2 - player
        for beside in (0, 2, 4, 6):
            for turn in (1, -1):
                corner, near = cells[(beside + turn) % 8], cells[(beside + 2 * turn) % 8]
                has_enemy = cells[beside] == enemy
                is_hard = has_enemy & (((near == 0) & (corner == own)) | ((near == enemy) & (corner == 0)))
                table[is_hard] |= BANNED << player
                table[has_enemy & (near == 0) & (corner == 0)] |= MAYBE_BANNED << player
    return table


FEATURES: Final = 7
"""Features of a stone: its pattern, its place in the shortest chains, beside the last stone, and its sides."""

SLACKS: Final = 6
REACH: Final = 4
_SLACK_START: Final = PATTERN_COUNT
_LAST_START: Final = _SLACK_START + SLACKS * SLACKS
_FAR_FROM_LAST: Final = _LAST_START + (REACH + 1) * (REACH + 1)
_SIDE_START: Final = _FAR_FROM_LAST + 1
FEATURE_COUNT: Final = _SIDE_START + 2 * 64

DISTANT: Final = 100
"""A distance that stands for none."""


def mirror_table() -> Array:
    """Return by player and pattern the pattern that stands for it and its mirror images.

    Patterns of player 1 are turned to those of player 0: colours change, and rows become columns.
    """
    patterns = np.arange(PATTERN_COUNT)
    cells = [patterns >> 2 * place & 3 for place in range(8)]
    tables = []
    for player, colours in ((0, np.array([0, 1, 2, 3])), (1, np.array([0, 2, 1, 3]))):
        images = []
        for down_sign, right_sign in product((1, -1), repeat=2):
            image = np.zeros(PATTERN_COUNT, dtype=np.int32)
            for place, (down, right) in enumerate(_CIRCLE):
                source = (down * down_sign, right * right_sign)
                image |= colours[cells[_CIRCLE.index(source if player == 0 else source[::-1])]] << 2 * place
            images.append(image)
        tables.append(np.min(images, axis=0))
    return np.array(tables, dtype=np.int32)


class Look(NamedTuple):
    """What is seen of a board, and room to find it: all arrays by cell, and numbers for all boards of one width.

    ``around`` (uint16) holds patterns, ``distances`` (4 x cells) the stones that join a cell to an edge: of player
    0 to both edges, then of player 1. ``features`` has a row for each action, ``circle`` the steps around a cell,
    ``mirror`` and ``bans`` are :func:`mirror_table` and :func:`ban_table`.
    """

    circle: Array
    mirror: Array
    bans: Array
    around: Array
    distances: Array
    queue: Array
    features: Array


def new_look(size: int) -> Look:
    """Return the room for boards of ``size`` x ``size`` cells."""
    width = size + 2 * BORDER
    cell_count = width * width
    return Look(
        np.array([down * width + right for down, right in _CIRCLE], dtype=np.int16),
        mirror_table(),
        ban_table(),
        np.zeros(cell_count, dtype=np.uint16),
        np.zeros((4, cell_count), dtype=np.int16),
        np.zeros(2 * 9 * cell_count, dtype=np.int16),
        np.zeros((size * size, FEATURES), dtype=np.int32),
    )


@kernel
def look_around(board: Board, tables: MinefieldTables, look: Look) -> None:
    """Find the pattern of each cell."""
    for cell in tables.cell_of:
        pattern = 0
        for place in range(8):
            owner = board[HEADER + cell + look.circle[place]]
            pattern |= (0 if owner == EMPTY else 3 if owner == OFF_BOARD else owner + 1) << 2 * place
        look.around[cell] = pattern


@lean_kernel
def note_stone(look: Look, cell: int, player: int) -> None:
    """Add a new stone to the patterns of the cells around it."""
    for place in range(8):
        look.around[as_index(cell + look.circle[place])] += (player + 1) << 2 * ((place + 4) % 8)


@kernel
def measure_distances(board: Board, tables: MinefieldTables, look: Look, player: int, edge: int) -> None:
    """Find the distances of ``player`` to an edge.

    Chains may turn over a corner where both other cells of the 2x2 area are empty: nobody can cut there.
    """
    banned = HEADER + tables.edges.shape[1]
    bit = 1 << player
    distances, queue, circle = look.distances[2 * player + edge], look.queue, look.circle
    distances[:] = DISTANT
    # Cells at the same distance go to the front, those one stone farther to the back.
    front = back = len(queue) // 2
    for cell in tables.cell_of:
        if tables.edges[player, cell] == edge:
            if board[HEADER + cell] == player:
                distances[cell] = 0
                front -= 1
                queue[front] = cell
            elif board[HEADER + cell] == EMPTY and not board[banned + cell] & bit:
                distances[cell] = 1
                queue[back] = cell
                back += 1
    while front < back:
        cell = queue[front]
        front += 1
        far = distances[cell]
        for place in range(8):
            near = cell + circle[place]
            owner = board[HEADER + near]
            if place % 2 == 0:
                is_open = True
            else:
                before = board[HEADER + cell + circle[place - 1]]
                after = board[HEADER + cell + circle[(place + 1) % 8]]
                is_open = before == EMPTY and after == EMPTY
            if not is_open:
                continue
            if owner == player:
                if far < distances[near]:
                    distances[near] = far
                    front -= 1
                    queue[front] = near
            elif owner == EMPTY and far + 1 < distances[near] and not board[banned + near] & bit:
                distances[near] = far + 1
                queue[back] = near
                back += 1


@kernel
def shortest_chain(tables: MinefieldTables, look: Look, player: int) -> int:
    """Return the stones that the shortest chain of ``player`` between both edges lacks."""
    shortest = DISTANT
    for cell in tables.cell_of:
        if tables.edges[player, cell] == 1:
            shortest = min(shortest, look.distances[2 * player, cell])
    return shortest


@kernel
def slack_of(look: Look, player: int, shortest: int, cell: int) -> int:
    """Return how many stones more than the shortest chain of ``player`` one over the empty ``cell`` needs."""
    over = look.distances[2 * player, cell] + look.distances[2 * player + 1, cell] - 1
    return int(min(SLACKS - 1, over - shortest))


@kernel
def colour_at(board: Board, cell: int, mover: int) -> int:
    """Return 0 for an empty cell, 1 for a stone of ``mover``, 2 for one of the other player, 3 off the board."""
    owner = board[HEADER + cell]
    if owner == EMPTY:
        return 0
    if owner == OFF_BOARD:
        return 3
    return 1 if owner == mover else 2


@kernel
def find_features(
    board: Board, tables: MinefieldTables, look: Look, last: int, actions: Array, count: int
) -> None:
    """Find the features of the first ``count`` of ``actions`` of the mover; ``last`` is the last stone or -1.

    Patterns must be up to date. All features are as player 0 sees the board: rows of player 1 become columns.
    """
    mover = int(board[MOVER])
    width = int(look.circle[2])
    for player in range(2):
        for edge in range(2):
            measure_distances(board, tables, look, player, edge)
    own, enemy = shortest_chain(tables, look, mover), shortest_chain(tables, look, 1 - mover)
    for place in range(count):
        cell = int(actions[place])
        features = look.features[place]
        features[0] = look.mirror[mover, look.around[cell]]
        features[1] = (
            _SLACK_START + SLACKS * slack_of(look, mover, own, cell) + slack_of(look, 1 - mover, enemy, cell)
        )
        features[2] = _FAR_FROM_LAST
        if last >= 0:
            down, right = abs(cell // width - last // width), abs(cell % width - last % width)
            if mover == 1:
                down, right = right, down
            if down <= REACH and right <= REACH:
                features[2] = _LAST_START + (REACH + 1) * down + right
        for side in range(4):
            step, aside = int(look.circle[2 * side]), int(look.circle[(2 * side + 2) % 8])
            ahead = colour_at(board, cell + 2 * step, mover)
            one = colour_at(board, cell + 2 * step + aside, mover)
            other = colour_at(board, cell + 2 * step - aside, mover)
            # Sides 1 and 3 lie towards the edges of player 0.
            is_towards = (side % 2 == 1) == (mover == 0)
            features[3 + side] = _SIDE_START + 64 * is_towards + 16 * ahead + 4 * min(one, other) + max(one, other)
