"""The search of the level ``master`` of Iris: priors by learnt weights of features lead it."""

from __future__ import annotations

from pathlib import Path
from typing import Final

import numpy as np

from tabuleiro.rules.games.iris import Iris
from tabuleiro_server.bots.engine.guided import select_guided, set_priors, sum_weights
from tabuleiro_server.bots.engine.iris.board import (
    HEADER,
    IS_OVER,
    MOVER,
    PASSES,
    Board,
    IrisTables,
    list_iris,
    play_iris,
)
from tabuleiro_server.bots.engine.iris.patterns import FEATURE_COUNT, Look, find_features, new_look
from tabuleiro_server.bots.engine.iris.scores import compare_scores
from tabuleiro_server.bots.engine.iris.search import IrisKernels, play_out_iris, proof_of, prove_pass
from tabuleiro_server.bots.engine.kernels import Array, RandomState, kernel
from tabuleiro_server.bots.engine.mcts import (
    UNPROVEN,
    Tree,
    Tuning,
    add_children,
    back_up,
    back_up_proof,
    result_of_proof,
)
from tabuleiro_server.bots.engine.weights import read_feature_weights

TUNING: Final = Tuning(exploration=0.02, rave_weight=0.002, prior_visits=100.0, expand_at_visits=8)
PRIOR_WEIGHT: Final = 0.3
PRIOR_GAIN: Final = 0.1
"""How much better than its parent a new child starts whose prior is e times the geometric mean."""
PASS_LOGIT: Final = -6.0
"""The logarithm of the prior of a pass, before priors are made to add up to 1: about that of the worst stones."""


@kernel
def rate_actions(
    board: Board, tables: IrisTables, look: Look, weights: Array, actions: Array, count: int, logits: Array
) -> int:
    """Write logarithms of the priors of the first ``count`` of ``actions`` to ``logits``, up to a constant.

    Return the number of stones among them: all, or all but the last, which is the pass.
    """
    stones = count - 1 if actions[count - 1] == len(tables.is_rim) else count
    find_features(board, tables, look, actions, stones)
    sum_weights(look.features, weights, stones, logits)
    logits[stones] = PASS_LOGIT
    return stones


@kernel
def add_gains(tree: Tree, node: int, logits: Array, stones: int, tuning: Tuning, gain: float) -> None:
    """Start the new children of ``node``, first ``stones``, the better the likelier they are: see PRIOR_GAIN."""
    first = tree.first_child[node]
    mean = np.mean(logits[:stones])
    whole = tuning.prior_visits * gain * (1.0 if tree.mover[node] == 0 else -1.0)
    for place in range(tree.child_count[node]):
        tree.rave_total[first + place] = whole * min(max(logits[place] - mean, -2.0), 2.0)


@kernel
def search_guided(
    tree: Tree,
    root: int,
    start: Board,
    tables: IrisTables,
    look: Look,
    weights: Array,
    rng: RandomState,
    playout_count: int,
    tuning: Tuning,
    prior_weight: float,
    prior_gain: float,
) -> int:
    """Grow the tree below ``root``, whose board is ``start``, and return the number of playouts.

    There are fewer than ``playout_count`` only when the root is proven.
    """
    count = len(tables.is_rim)
    board = np.empty_like(start)
    actions = np.empty(count + 1, dtype=np.int16)
    logits, scores = np.empty((2, count + 1), dtype=np.float32)
    path = np.empty(2 * count + 4, dtype=np.int32)
    for done in range(playout_count):
        if tree.proof[root] != UNPROVEN:
            return done
        board[:] = start
        node, length = root, 1
        path[0] = root
        while tree.child_count[node] > 0 and tree.proof[node] == UNPROVEN:
            node = select_guided(tree, node, tuning, prior_weight, scores)
            play_iris(board, tables, tree.action[node])
            path[length] = node
            length += 1
        if tree.proof[node] == UNPROVEN:
            if board[IS_OVER]:
                tree.proof[node] = proof_of(compare_scores(board, tables))
            elif tree.visits[node] >= tuning.expand_at_visits or node == root:
                found = list_iris(board, tables, actions)
                if add_children(tree, node, board[MOVER], actions, found, tuning, node == root):
                    stones = rate_actions(board, tables, look, weights, actions, found, logits)
                    set_priors(tree, node, logits)
                    add_gains(tree, node, logits, stones, tuning, prior_gain)
                    if board[PASSES] > 0:
                        prove_pass(tree, node, proof_of(compare_scores(board, tables)))
            if tree.proof[node] != UNPROVEN:
                back_up_proof(tree, path, length)
        if tree.proof[node] != UNPROVEN:
            result = result_of_proof(tree.proof[node])
        else:
            result = float(play_out_iris(board, tables, rng))
        back_up(tree, path, length, result, board[HEADER : HEADER + count + 1])
    return playout_count


WEIGHTS_FILE: Final = Path(__file__).with_name("weights.json")
"""The weights of features in hundredths, by feature; ``make train GAME=iris`` makes it."""


class MasterIrisKernels(IrisKernels):
    """The :class:`~tabuleiro_server.bots.engine.mcts.GameKernels` of ``master`` with the options of ``game``."""

    def __init__(self, game: Iris, tuning: Tuning = TUNING) -> None:
        super().__init__(game, tuning)
        self._look = new_look(self._tables)
        self._weights = np.array(read_feature_weights(WEIGHTS_FILE, FEATURE_COUNT), dtype=np.float32)

    def grow(self, tree: Tree, root: int, board: Board, rng: RandomState, playout_count: int) -> int:
        """Search below the node ``root``; see :func:`search_guided`."""
        return search_guided(
            tree,
            root,
            board,
            self._tables,
            self._look,
            self._weights,
            rng,
            playout_count,
            self._tuning,
            PRIOR_WEIGHT,
            PRIOR_GAIN,
        )
