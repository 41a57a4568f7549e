"""The search of the level ``master`` of Iris: priors by learnt weights of features lead it."""

from __future__ import annotations

from pathlib import Path
from typing import Final

import numpy as np

from tabuleiro.rules import State
from tabuleiro.rules.games.iris import Iris, IrisState
from tabuleiro_server.bots.engine.guided import inherit_rave, read_feature_weights, select_guided, set_priors
from tabuleiro_server.bots.engine.iris.board import (
    HEADER,
    IS_OVER,
    MOVER,
    PASSES,
    Board,
    IrisTables,
    compare_scores,
    iris_tables,
    list_iris,
    pack_iris,
    play_iris,
)
from tabuleiro_server.bots.engine.iris.patterns import FEATURE_COUNT, Look, find_features, new_look
from tabuleiro_server.bots.engine.iris.search import play_out_iris, proof_of, prove_pass
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

TUNING: Final = Tuning(exploration=0.02, rave_weight=0.002, prior_visits=100.0, expand_at_visits=8)
PRIOR_WEIGHT: Final = 0.3
PRIOR_GAIN: Final = 0.1
"""How much better a new child starts whose prior is e times the mean."""
PASS_LOGIT: Final = -6.0
"""The logarithm of the prior of a pass, before priors are made to add up to 1: about that of the worst stones."""


@kernel
def add_gains(tree: Tree, node: int, logits: Array, tuning: Tuning, gain: float) -> None:
    """Start the new children of ``node`` the better the likelier they are; see :data:`PRIOR_GAIN`."""
    first, count = tree.first_child[node], tree.child_count[node]
    mean = np.mean(logits[:count])
    most = tuning.prior_visits * gain * (1.0 if tree.mover[node] == 0 else -1.0)
    for place in range(count):
        tree.rave_total[first + place] += most * min(max(logits[place] - mean, -2.0), 2.0)


@kernel
def rate_actions(
    board: Board, tables: IrisTables, look: Look, weights: Array, actions: Array, count: int, logits: Array
) -> None:
    """Write logarithms of the priors of the first ``count`` of ``actions`` to ``logits``, up to a constant."""
    stones = count - 1 if actions[count - 1] == len(tables.is_rim) else count
    find_features(board, tables, look, actions, stones)
    logits[stones] = PASS_LOGIT
    for place in range(stones):
        logits[place] = 0.0
        for feature in look.features[place]:
            logits[place] += weights[feature]


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
) -> int:
    """Grow the tree below ``root``, whose board is ``start``, and return the number of playouts.

    There are fewer than ``playout_count`` only when the root is proven.
    """
    count = len(tables.is_rim)
    board = np.empty_like(start)
    actions = np.empty(count + 1, dtype=np.int16)
    logits, scores, gains = np.empty((3, count + 1), dtype=np.float32)
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
                tree.proof[node] = proof_of(compare_scores(board, tables, look.parents, look.sizes))
            elif tree.visits[node] >= tuning.expand_at_visits or node == root:
                found = list_iris(board, tables, actions)
                if add_children(tree, node, board[MOVER], actions, found, tuning, node == root):
                    inherit_rave(tree, path, length, gains, tuning)
                    rate_actions(board, tables, look, weights, actions, found, logits)
                    set_priors(tree, node, logits)
                    add_gains(tree, node, logits, tuning, PRIOR_GAIN)
                    if board[PASSES] > 0:
                        prove_pass(tree, node, proof_of(compare_scores(board, tables, look.parents, look.sizes)))
            if tree.proof[node] != UNPROVEN:
                back_up_proof(tree, path, length)
        if tree.proof[node] != UNPROVEN:
            result = result_of_proof(tree.proof[node])
        else:
            play_out_iris(board, tables, rng)
            result = float(compare_scores(board, tables, look.parents, look.sizes))
        back_up(tree, path, length, result, board[HEADER : HEADER + count + 1])
    return playout_count


WEIGHTS_FILE: Final = Path(__file__).with_name("weights.json")
"""The weights of features in hundredths, by feature; ``make train GAME=iris`` makes it."""


class MasterIrisKernels:
    """The :class:`~tabuleiro_server.bots.engine.mcts.GameKernels` of ``master`` with the options of ``game``."""

    def __init__(
        self, game: Iris, tuning: Tuning = TUNING, prior_weight: float = PRIOR_WEIGHT, weights: Array | None = None
    ) -> None:
        self._tuning, self._prior_weight = tuning, prior_weight
        self._tables = iris_tables(game)
        self._look = new_look(self._tables)
        self._weights = read_feature_weights(WEIGHTS_FILE, FEATURE_COUNT) if weights is None else weights

    def pack(self, state: State) -> Board:
        """Return the board of ``state``."""
        assert isinstance(state, IrisState)
        return pack_iris(state)

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
            self._prior_weight,
        )

    def action_of(self, number: int) -> int:
        """Return the action of the rules: the same number."""
        return number

    def actions_left(self, state: State) -> int:
        """Return 2 at the start of any turn but the first, else 1."""
        assert isinstance(state, IrisState)
        return 2 if state.first is None and state.stones[0] else 1
