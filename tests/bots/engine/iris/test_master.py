"""The search of the level ``master`` of Iris: boards of all sizes, and what it has learnt."""

from __future__ import annotations

import pytest

from tabuleiro.rules import registry

pytest.importorskip("numba", reason="the extra `bots` is not installed, so there are no kernels")

import numpy as np

from tabuleiro_server.bots import engine
from tabuleiro_server.bots.engine.iris.master import TUNING, WEIGHTS_FILE, add_gains
from tabuleiro_server.bots.engine.iris.patterns import FEATURE_COUNT
from tabuleiro_server.bots.engine.mcts import add_children, new_tree
from tabuleiro_server.bots.engine.weights import read_feature_weights


@pytest.mark.parametrize("side", [5, 8])
def test_master_plays_whole_games_on_any_board(side: int) -> None:
    game = registry.load("iris", {"side": side})
    state, search = game.initial_state(), engine.master_searcher(game)
    while not state.is_terminal:
        result = search.choose_turn(state, max_nodes=60, deadline_s=None, seed=1)
        for action in result.actions:
            state = state.apply(action)


def test_a_likely_child_starts_as_a_better_one_for_its_player() -> None:
    for mover in (0, 1):
        tree = new_tree(5_000)
        assert add_children(tree, 0, mover, np.arange(3, dtype=np.int16), 3, TUNING, True)
        add_gains(tree, 0, np.array([1.0, -1.0, -6.0], dtype=np.float32), 2, TUNING, 0.1)
        gains = (1 - 2 * mover) * tree.rave_total[1:4] / TUNING.prior_visits
        assert gains == pytest.approx([0.1, -0.1, -0.2])


def test_what_features_are_worth_is_in_a_small_file() -> None:
    weights = np.array(read_feature_weights(WEIGHTS_FILE, FEATURE_COUNT))
    assert abs(weights).max() > 0.5
    assert WEIGHTS_FILE.stat().st_size < 60_000
