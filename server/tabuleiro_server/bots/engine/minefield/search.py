"""The search of Minefield: a Monte-Carlo tree with random legal playouts, and wins in one action seen at once."""

from __future__ import annotations

from typing import Final

import numpy as np

from tabuleiro.rules import State
from tabuleiro.rules.games.minefield import Minefield, MinefieldState
from tabuleiro_server.bots.engine.kernels import Array, RandomState, kernel, random_below
from tabuleiro_server.bots.engine.mcts import (
    DRAWN,
    UNPROVEN,
    Tree,
    Tuning,
    add_children,
    back_up,
    back_up_proof,
    result_of_proof,
    select_child,
)
from tabuleiro_server.bots.engine.minefield.board import (
    EMPTY_COUNT,
    HEADER,
    IS_OVER,
    MOVER,
    WINNER,
    Board,
    MinefieldTables,
    is_banned,
    join_neighbours,
    list_minefield,
    minefield_tables,
    pack_minefield,
    play_minefield,
    would_join,
)

TUNING: Final = Tuning(exploration=0.05, rave_weight=0.001, prior_visits=4.0, expand_at_visits=2)


@kernel
def play_out_minefield(board: Board, tables: MinefieldTables, rng: RandomState) -> int:
    """Play random legal actions to the end and return the winner, -1 for a draw.

    Bans are tested only for the cells chosen at random; of the board only the owners, the list of empty cells and
    the links stay up to date.
    """
    empties = HEADER + 3 * tables.edges.shape[1]
    count, player = int(board[EMPTY_COUNT]), int(board[MOVER])
    has_bans = len(tables.nearby) > 0
    skip_count = 0
    while skip_count < 2:
        left = count
        while left > 0:
            place = empties + random_below(rng, left)
            left -= 1
            cell = int(board[place])
            board[place] = board[empties + left]
            if has_bans and is_banned(board, tables, cell, player):
                # Left out for this turn, but still in the list.
                board[empties + left] = cell
                continue
            count -= 1
            board[empties + left] = board[empties + count]
            board[HEADER + cell] = player
            if join_neighbours(board, tables, cell, player):
                return player
            skip_count = -1
            break
        skip_count += 1
        player = 1 - player
    return -1


@kernel
def settle_minefield(
    tree: Tree, node: int, board: Board, tables: MinefieldTables, actions: Array, tuning: Tuning, is_root: bool
) -> bool:
    """Prove ``node``, whose board is ``board``, if the game is over; else add its children if it is due.

    Children that win at once are proven, and so is the node then. Return True if children were added.
    """
    if board[IS_OVER]:
        tree.proof[node] = DRAWN if board[WINNER] < 0 else board[WINNER] + 1
        return False
    if not is_root and tree.visits[node] < tuning.expand_at_visits:
        return False
    player = int(board[MOVER])
    found = list_minefield(board, tables, actions)
    if not add_children(tree, node, player, actions, found, tuning, is_root):
        return False
    for child in range(tree.first_child[node], tree.first_child[node] + found):
        if would_join(board, tables, tree.action[child], player):
            tree.proof[child] = tree.proof[node] = player + 1
    return True


@kernel
def search_minefield(
    tree: Tree,
    root: int,
    start: Board,
    tables: MinefieldTables,
    rng: RandomState,
    playout_count: int,
    tuning: Tuning,
) -> int:
    """Grow the tree below ``root``, whose board is ``start``, and return the number of playouts.

    There are fewer than ``playout_count`` only when the root is proven.
    """
    cell_count = tables.edges.shape[1]
    board = np.empty_like(start)
    actions = np.empty(len(tables.cell_of), dtype=np.int16)
    path = np.empty(len(tables.cell_of) + 2, dtype=np.int32)
    for done in range(playout_count):
        if tree.proof[root] != UNPROVEN:
            return done
        board[:] = start
        node, length = root, 1
        path[0] = root
        while tree.child_count[node] > 0 and tree.proof[node] == UNPROVEN:
            node = select_child(tree, node, tuning)
            play_minefield(board, tables, tree.action[node])
            path[length] = node
            length += 1
        if tree.proof[node] == UNPROVEN:
            settle_minefield(tree, node, board, tables, actions, tuning, node == root)
            if tree.proof[node] != UNPROVEN:
                back_up_proof(tree, path, length)
        if tree.proof[node] != UNPROVEN:
            result = result_of_proof(tree.proof[node])
        else:
            winner = play_out_minefield(board, tables, rng)
            result = 0.0 if winner < 0 else 1.0 - 2.0 * winner
        back_up(tree, path, length, result, board[HEADER : HEADER + cell_count])
    return playout_count


class MinefieldKernels:
    """The :class:`~tabuleiro_server.bots.engine.mcts.GameKernels` of Minefield with the options of ``game``."""

    def __init__(self, game: Minefield, tuning: Tuning = TUNING) -> None:
        self._tuning = tuning
        self._tables = minefield_tables(game)
        self._action_of = {int(cell): action for action, cell in enumerate(self._tables.cell_of)}

    def pack(self, state: State) -> Board:
        """Return the board of ``state``."""
        assert isinstance(state, MinefieldState)
        return pack_minefield(state, self._tables)

    def grow(self, tree: Tree, root: int, board: Board, rng: RandomState, playout_count: int) -> int:
        """Search below the node ``root``; see :func:`search_minefield`."""
        return search_minefield(tree, root, board, self._tables, rng, playout_count, self._tuning)

    def action_of(self, number: int) -> int:
        """Return the action that puts a stone on the cell ``number``."""
        return self._action_of[number]

    def actions_left(self, state: State) -> int:
        """Return 1: a turn is only longer when the other player is skipped."""
        return 1
