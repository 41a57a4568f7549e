"""Minefield as kernels: the board as one array, bans, connection and the end. Source: RULES.md, "Minefield".

Tests keep it equal to :mod:`tabuleiro.rules.games.minefield`.

Cells are numbered on a board with a border of three cells on all sides, wide enough for every area that could hold
a ban. A board is an array of int16: a header, then by cell its owner, the players banned from it, its place in the
list of empty cells, and that list; last the links of the groups, by cell and by edge.
"""

from __future__ import annotations

from typing import Final, NamedTuple

import numpy as np

from tabuleiro.rules.board import bit_indexes
from tabuleiro.rules.games.minefield import Minefield, MinefieldState
from tabuleiro_server.bots.engine.kernels import Array, kernel

Board = Array

MOVER: Final = 0
IS_OVER: Final = 1
WINNER: Final = 2
"""-1 without a winner."""
EMPTY_COUNT: Final = 3
BANNED_COUNT: Final = 4
"""The number of empty cells banned to player 0; that of player 1 comes next."""
HEADER: Final = 6

BORDER: Final = 3
EMPTY: Final = -1
OFF_BOARD: Final = 2
"""The owners of a cell that belongs to neither player 0 nor player 1."""

NEARBY_OFFSETS: Final = tuple(
    (down, right)
    for down in range(-BORDER, BORDER + 1)
    for right in range(-BORDER, BORDER + 1)
    if min(abs(down), abs(right)) <= 1 and (down, right) != (0, 0)
)
"""The offsets from a cell to the other cells of all 2x2, 2x3 and 2x4 areas with it."""


class MinefieldTables(NamedTuple):
    """The geometry of one board.

    ``steps`` (4) leads to the neighbours of a cell, in a circle; ``nearby`` to all cells that share an area with
    it, and is empty when the rules know no bans. ``edges`` (2 x cells) has for each player the number of their
    edge that a cell lies on, 0 or 1, or -1. ``cell_of`` has the cell of each action. All are int16.
    """

    steps: Array
    nearby: Array
    edges: Array
    cell_of: Array


def minefield_tables(game: Minefield) -> MinefieldTables:
    """Return the tables of the board of ``game``."""
    size, width = game.size, game.size + 2 * BORDER
    cells = np.arange(width * width, dtype=np.int16).reshape(width, width)
    inner = cells[BORDER:-BORDER, BORDER:-BORDER]
    edges = np.full((2, width * width), -1, dtype=np.int16)
    edges[0, inner[0]], edges[0, inner[size - 1]] = 0, 1
    edges[1, inner[:, 0]], edges[1, inner[:, size - 1]] = 0, 1
    nearby = [down * width + right for down, right in NEARBY_OFFSETS] if game.areas is not None else []
    return MinefieldTables(
        np.array([1, width, -1, -width], dtype=np.int16),
        np.array(nearby, dtype=np.int16),
        edges,
        inner.reshape(-1).copy(),
    )


def pack_minefield(state: MinefieldState, tables: MinefieldTables) -> Board:
    """Return the board of ``state``."""
    game = state.game
    cell_count = tables.edges.shape[1]
    board = np.zeros(HEADER + 5 * cell_count + 4, dtype=np.int16)
    owners, banned, places, empties = board[HEADER : HEADER + 4 * cell_count].reshape(4, cell_count)
    owners[:] = OFF_BOARD
    owners[tables.cell_of] = EMPTY
    links = board[HEADER + 4 * cell_count :]
    links[:] = np.arange(len(links))
    winner = state.outcome.winner if state.outcome is not None else None
    free = bit_indexes(game.board.full ^ (state.stones[0] | state.stones[1]))
    board[:HEADER] = (
        state.mover,
        state.is_terminal,
        -1 if winner is None else winner,
        len(free),
        state.banned[0].bit_count(),
        state.banned[1].bit_count(),
    )
    for player in (0, 1):
        for action in bit_indexes(state.banned[player]):
            banned[tables.cell_of[action]] |= 1 << player
        for action in bit_indexes(state.stones[player]):
            owners[tables.cell_of[action]] = player
            join_neighbours(board, tables, tables.cell_of[action], player)
    for place, action in enumerate(free):
        empties[place] = tables.cell_of[action]
        places[tables.cell_of[action]] = place
    return board


@kernel
def root_of(board: Board, links: int, cell: int) -> int:
    """Return the cell or edge that stands for the group of ``cell``; links begin at ``links``."""
    node = cell
    while board[links + node] != node:
        board[links + node] = board[links + board[links + node]]
        node = int(board[links + node])
    return node


@kernel
def join_neighbours(board: Board, tables: MinefieldTables, cell: int, player: int) -> bool:
    """Join the stone of ``player`` on ``cell`` to its neighbours; return True if their edges are joined now."""
    cell_count = tables.edges.shape[1]
    links = HEADER + 4 * cell_count
    first_edge = cell_count + 2 * player
    root = cell
    for step in range(4):
        near = cell + tables.steps[step]
        if board[HEADER + near] == player:
            other = root_of(board, links, near)
            if other != root:
                board[links + root] = other
                root = other
    edge = tables.edges[player, cell]
    if edge >= 0:
        board[links + root] = root_of(board, links, first_edge + edge)
    return root_of(board, links, first_edge) == root_of(board, links, first_edge + 1)


@kernel
def would_join(board: Board, tables: MinefieldTables, cell: int, player: int) -> bool:
    """Return True if a stone of ``player`` on the empty ``cell`` would join both edges of the player."""
    cell_count = tables.edges.shape[1]
    links = HEADER + 4 * cell_count
    first_root = root_of(board, links, cell_count + 2 * player)
    last_root = root_of(board, links, cell_count + 2 * player + 1)
    edge = tables.edges[player, cell]
    has_first, has_last = edge == 0, edge == 1
    for step in range(4):
        near = cell + tables.steps[step]
        if board[HEADER + near] == player:
            root = root_of(board, links, near)
            has_first |= root == first_root
            has_last |= root == last_root
    return bool(has_first and has_last)


@kernel
def is_banned(board: Board, tables: MinefieldTables, cell: int, player: int) -> bool:
    """Return True if a stone of ``player`` on the empty ``cell`` would make a hard corner or a switch.

    Either has an enemy stone next to the cell; the area is on one side of the line through the two.
    """
    here, enemy = HEADER + cell, 1 - player
    for step in range(4):
        beside = here + tables.steps[step]
        if board[beside] != enemy:
            continue
        for turn in (1, 3):
            aside = tables.steps[(step + turn) % 4]
            near, corner = board[here + aside], board[beside + aside]
            if (near == EMPTY and corner == player) or (near == enemy and corner == EMPTY):
                return True
            for length in (2, 3):
                if near != EMPTY or corner != EMPTY:
                    break
                near, corner = board[here + length * aside], board[beside + length * aside]
                if near == enemy and corner == player:
                    return True
    return False


@kernel
def renew_ban(board: Board, tables: MinefieldTables, cell: int) -> None:
    """Update the bans of a cell."""
    at = HEADER + tables.edges.shape[1] + cell
    before, after = int(board[at]), 0
    if board[HEADER + cell] == EMPTY:
        after = is_banned(board, tables, cell, 0) + 2 * is_banned(board, tables, cell, 1)
    if after != before:
        board[at] = after
        board[BANNED_COUNT] += (after & 1) - (before & 1)
        board[BANNED_COUNT + 1] += (after >> 1) - (before >> 1)


@kernel
def put(board: Board, tables: MinefieldTables, cell: int, player: int) -> None:
    """Put a stone on an empty cell; bans, links and the mover stay as they are."""
    cell_count = tables.edges.shape[1]
    places, empties = HEADER + 2 * cell_count, HEADER + 3 * cell_count
    board[HEADER + cell] = player
    board[EMPTY_COUNT] -= 1
    moved = board[empties + board[EMPTY_COUNT]]
    board[empties + board[places + cell]] = moved
    board[places + moved] = board[places + cell]


@kernel
def play_minefield(board: Board, tables: MinefieldTables, cell: int) -> None:
    """Put a stone of the mover on a legal cell, and find the next mover."""
    player = int(board[MOVER])
    put(board, tables, cell, player)
    if len(tables.nearby) > 0:
        renew_ban(board, tables, cell)
        for offset in tables.nearby:
            if board[HEADER + cell + offset] == EMPTY:
                renew_ban(board, tables, cell + offset)
    if join_neighbours(board, tables, cell, player):
        board[WINNER] = player
        board[IS_OVER] = 1
    elif board[BANNED_COUNT + 1 - player] < board[EMPTY_COUNT]:
        board[MOVER] = 1 - player
    elif board[BANNED_COUNT + player] == board[EMPTY_COUNT]:
        board[IS_OVER] = 1


@kernel
def count_minefield(board: Board) -> int:
    """Return the number of legal actions."""
    if board[IS_OVER]:
        return 0
    return int(board[EMPTY_COUNT]) - int(board[BANNED_COUNT + board[MOVER]])


@kernel
def list_minefield(board: Board, tables: MinefieldTables, out: Array) -> int:
    """Write the legal cells to ``out`` in no particular order and return their number."""
    if board[IS_OVER]:
        return 0
    cell_count = tables.edges.shape[1]
    bit = 1 << board[MOVER]
    found = 0
    for place in range(board[EMPTY_COUNT]):
        cell = board[HEADER + 3 * cell_count + place]
        if not board[HEADER + cell_count + cell] & bit:
            out[found] = cell
            found += 1
    return found


@kernel
def perft_minefield(board: Board, tables: MinefieldTables, depth: int) -> int:
    """Return the number of sequences of ``depth`` (1 or more) actions from ``board``."""
    if depth == 1:
        return count_minefield(board)
    out = np.empty(len(tables.cell_of), dtype=np.int16)
    total = 0
    child = np.empty_like(board)
    for place in range(list_minefield(board, tables, out)):
        child[:] = board
        play_minefield(child, tables, out[place])
        total += perft_minefield(child, tables, depth - 1)
    return total
