"""Weights for the priors of ``master`` in Iris; see :mod:`tools.train.priors`."""

from __future__ import annotations

from collections.abc import Callable
from random import Random
from typing import Final

import numpy as np

from tabuleiro.rules import registry
from tabuleiro.rules.games.iris import Iris
from tabuleiro_server.bots.engine.iris.board import iris_tables, play_iris
from tabuleiro_server.bots.engine.iris.patterns import FEATURE_COUNT, find_features, new_look
from tabuleiro_server.bots.engine.iris.search import IrisKernels
from tabuleiro_server.bots.engine.kernels import Array, new_rng
from tabuleiro_server.bots.engine.mcts import UNPROVEN, best_child, forget, new_tree
from tools.train.priors import DECIDED, RANDOM_FIRST, VARIED_SHARE, Examples, examples_of, train_priors

NODES: Final = 5_000
"""The playouts for a position."""
NODE_LIMIT: Final = 400_000
VARIED_ACTIONS: Final = 30


def train(games: int, seed: int, jobs: int, tell: Callable[[str], None]) -> bytes:
    """Return a file of weights."""
    return train_priors(play_game, FEATURE_COUNT, games, seed, jobs, tell)


def play_game(seed: int, number: int) -> Examples:
    """Play a game and return its positions with a choice of stones, as far as none is decided."""
    rng = Random(f"{seed} game {number}")
    game = registry.load(Iris.name)
    assert isinstance(game, Iris)
    tables, kernels, tree = iris_tables(game), IrisKernels(game), new_tree(NODE_LIMIT)
    look, chance = new_look(tables), new_rng(rng.getrandbits(32))
    state = game.initial_state()
    for _ in range(rng.randrange(RANDOM_FIRST + 1)):
        state = state.child(rng.choice([each for each in state.legal_actions() if each != game.pass_action]))
    board = kernels.pack(state)
    found = list[tuple[Array, Array]]()
    while not state.is_terminal:
        forget(tree)
        kernels.grow(tree, 0, board, chance, NODES)
        if tree.proof[0] != UNPROVEN or abs(tree.total[0] / tree.visits[0]) >= DECIDED:
            break
        children = np.arange(tree.first_child[0], tree.first_child[0] + tree.child_count[0])
        actions, visits = tree.action[children], tree.visits[children].astype(float)
        if len(actions) > 1:
            are_stones = actions != game.pass_action
            stones, shares = actions[are_stones], visits[are_stones]
            find_features(board, tables, look, stones, len(stones))
            found.append((look.features[: len(stones)].copy(), shares / shares.sum()))
        if len(found) <= VARIED_ACTIONS and rng.random() < VARIED_SHARE:
            action = rng.choices(actions.tolist(), visits.tolist())[0]
        else:
            action = int(tree.action[best_child(tree, 0)])
        state = state.child(action)
        # Played on, as in a search: it knows the stones of the other player's last turn also within a turn.
        play_iris(board, tables, action)
    return examples_of(found)
