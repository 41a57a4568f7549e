"""The search of the level ``master`` of Minefield: priors by learnt weights of features, and quick playouts."""

from __future__ import annotations

from pathlib import Path
from typing import Final

import numpy as np

from tabuleiro.rules import State
from tabuleiro.rules.games.minefield import Minefield, MinefieldState
from tabuleiro_server.bots.engine.guided import select_guided, set_priors, sum_weights
from tabuleiro_server.bots.engine.kernels import Array, RandomState, as_index, kernel, random_below
from tabuleiro_server.bots.engine.mcts import (
    UNPROVEN,
    Tree,
    Tuning,
    back_up,
    back_up_proof,
    result_of_proof,
)
from tabuleiro_server.bots.engine.minefield.board import (
    EMPTY_COUNT,
    HEADER,
    MOVER,
    Board,
    MinefieldTables,
    is_banned,
    minefield_tables,
    pack_minefield,
    play_minefield,
    put,
)
from tabuleiro_server.bots.engine.minefield.patterns import (
    BANNED,
    FEATURE_COUNT,
    MAYBE_BANNED,
    Look,
    find_features,
    look_around,
    new_look,
    note_stone,
)
from tabuleiro_server.bots.engine.minefield.search import settle_minefield
from tabuleiro_server.bots.engine.weights import read_feature_weights

TUNING: Final = Tuning(exploration=0.02, rave_weight=0.001, prior_visits=4.0, expand_at_visits=4)
PRIOR_WEIGHT: Final = 2.0


@kernel
def joins_edges(board: Board, tables: MinefieldTables, player: int, queue: Array, seen: Array) -> bool:
    """Return True if stones of ``player`` join both edges; ``queue`` and ``seen``, by cell, are overwritten."""
    seen[:] = 0
    count = 0
    for cell in tables.cell_of:
        if tables.edges[player, cell] == 0 and board[HEADER + cell] == player:
            seen[cell] = 1
            queue[count] = cell
            count += 1
    while count > 0:
        count -= 1
        cell = queue[count]
        if tables.edges[player, cell] == 1:
            return True
        for step in range(4):
            near = cell + tables.steps[step]
            if board[HEADER + near] == player and not seen[near]:
                seen[near] = 1
                queue[count] = near
                count += 1
    return False


@kernel
def fill_board(board: Board, tables: MinefieldTables, look: Look, rng: RandomState) -> int:
    """Play random legal actions until there are no more, also past a win, and return the winner, -1 for a draw.

    The patterns around cells tell bans. They must be up to date. Once both edges of a player are joined, those of
    the other never are. Of the board only the owners and the list of empty cells stay up to date.
    """
    empties = HEADER + 3 * tables.edges.shape[1]
    count, player = int(board[EMPTY_COUNT]), int(board[MOVER])
    has_bans = len(tables.nearby) > 0
    skip_count = 0
    while skip_count < 2:
        left = count
        while left > 0:
            place = as_index(empties + random_below(rng, left))
            left -= 1
            cell = int(board[place])
            board[place] = board[as_index(empties + left)]
            if has_bans:
                ban = look.bans[look.around[as_index(cell)]] >> player
                if ban & BANNED or (ban & MAYBE_BANNED and is_banned(board, tables, cell, player)):
                    # Left out for this turn, but still in the list.
                    board[as_index(empties + left)] = cell
                    continue
            count -= 1
            board[as_index(empties + left)] = board[as_index(empties + count)]
            board[as_index(HEADER + cell)] = player
            note_stone(look, cell, player)
            skip_count = -1
            break
        skip_count += 1
        player = 1 - player
    for player in range(2):
        if joins_edges(board, tables, player, look.queue, look.distances[0]):
            return player
    return -1


@kernel
def rate_actions(
    board: Board,
    tables: MinefieldTables,
    look: Look,
    weights: Array,
    last: int,
    actions: Array,
    count: int,
    logits: Array,
) -> None:
    """Write logarithms of the priors of the first ``count`` of ``actions`` to ``logits``, up to a constant."""
    find_features(board, tables, look, last, actions, count)
    sum_weights(look.features, weights, count, logits)


@kernel
def search_guided(
    tree: Tree,
    root: int,
    start: Board,
    last_at_start: int,
    tables: MinefieldTables,
    look: Look,
    weights: Array,
    rng: RandomState,
    playout_count: int,
    tuning: Tuning,
    prior_weight: float,
) -> int:
    """Grow the tree below ``root``, whose board is ``start``, and return the number of playouts.

    ``last_at_start`` is the last stone before, or -1. There are fewer than ``playout_count`` playouts only when
    the root is proven.
    """
    cell_count = tables.edges.shape[1]
    board = np.empty_like(start)
    actions = np.empty(len(tables.cell_of), dtype=np.int16)
    logits, scores = np.empty((2, len(tables.cell_of)), dtype=np.float32)
    path = np.empty(len(tables.cell_of) + 2, dtype=np.int32)
    look_around(start, tables, look)
    around = look.around.copy()
    for done in range(playout_count):
        if tree.proof[root] != UNPROVEN:
            return done
        board[:] = start
        look.around[:] = around
        node, length, last = root, 1, last_at_start
        path[0] = root
        while tree.child_count[node] > 0 and tree.proof[node] == UNPROVEN:
            mover = int(tree.mover[node])
            node = select_guided(tree, node, tuning, prior_weight, scores)
            last = int(tree.action[node])
            put(board, tables, last, mover)
            note_stone(look, last, mover)
            # One who cannot move is passed over by the playout.
            board[MOVER] = 1 - mover
            path[length] = node
            length += 1
        if tree.proof[node] == UNPROVEN and (node == root or tree.visits[node] >= tuning.expand_at_visits):
            # Only now are bans and links needed, which take longer than all stones of the path.
            board[:] = start
            for depth in range(1, length):
                play_minefield(board, tables, tree.action[path[depth]])
            if settle_minefield(tree, node, board, tables, actions, tuning, node == root):
                rate_actions(board, tables, look, weights, last, actions, tree.child_count[node], logits)
                set_priors(tree, node, logits)
            if tree.proof[node] != UNPROVEN:
                back_up_proof(tree, path, length)
        if tree.proof[node] != UNPROVEN:
            result = result_of_proof(tree.proof[node])
        else:
            winner = fill_board(board, tables, look, rng)
            result = 0.0 if winner < 0 else 1.0 - 2.0 * winner
        back_up(tree, path, length, result, board[HEADER : HEADER + cell_count])
    return playout_count


WEIGHTS_FILE: Final = Path(__file__).with_name("weights.json")
"""The weights of features in hundredths, by feature; ``make train GAME=minefield`` makes it."""


class MasterMinefieldKernels:
    """The :class:`~tabuleiro_server.bots.engine.mcts.GameKernels` of ``master`` with the options of ``game``."""

    def __init__(self, game: Minefield, tuning: Tuning = TUNING, prior_weight: float = PRIOR_WEIGHT) -> None:
        self._tuning, self._prior_weight = tuning, prior_weight
        self._tables = minefield_tables(game)
        self._look = new_look(game.size)
        self._weights = np.array(read_feature_weights(WEIGHTS_FILE, FEATURE_COUNT), dtype=np.float32)
        self._action_of = {int(cell): action for action, cell in enumerate(self._tables.cell_of)}
        self._last = -1

    def pack(self, state: State) -> Board:
        """Return the board of ``state``, and keep its last stone for :meth:`grow`."""
        assert isinstance(state, MinefieldState)
        self._last = -1 if state.last_action is None else int(self._tables.cell_of[state.last_action])
        return pack_minefield(state, self._tables)

    def grow(self, tree: Tree, root: int, board: Board, rng: RandomState, playout_count: int) -> int:
        """Search below the node ``root``; see :func:`search_guided`."""
        return search_guided(
            tree,
            root,
            board,
            self._last,
            self._tables,
            self._look,
            self._weights,
            rng,
            playout_count,
            self._tuning,
            self._prior_weight,
        )

    def action_of(self, number: int) -> int:
        """Return the action that puts a stone on the cell ``number``."""
        return self._action_of[number]

    def actions_left(self, state: State) -> int:
        """Return 1: a turn is only longer when the other player is skipped."""
        return 1
