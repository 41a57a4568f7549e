"""The search of the level ``master`` of Minefield: boards of all kinds, and what it has learnt."""

from __future__ import annotations

import pytest

from tabuleiro.rules import registry

pytest.importorskip("numba", reason="the extra `bots` is not installed, so there are no kernels")

import numpy as np

from tabuleiro_server.bots import engine
from tabuleiro_server.bots.engine.minefield.master import WEIGHTS_FILE
from tabuleiro_server.bots.engine.minefield.patterns import FEATURE_COUNT
from tabuleiro_server.bots.engine.weights import read_feature_weights


@pytest.mark.parametrize("options", [{"size": 5}, {"size": 19}, {"size": 6, "rules": "beginner"}])
def test_master_plays_on_any_board(options: dict[str, int | str]) -> None:
    game = registry.load("minefield", options)
    state, search = game.initial_state(), engine.master_searcher(game)
    for _ in range(8):
        result = search.choose_turn(state, max_nodes=200, deadline_s=None, seed=1)
        for action in result.actions:
            state = state.apply(action)


def test_what_features_are_worth_is_in_a_small_file() -> None:
    weights = np.array(read_feature_weights(WEIGHTS_FILE, FEATURE_COUNT))
    assert weights.shape == (FEATURE_COUNT,)
    assert abs(weights).max() > 0.5
    assert WEIGHTS_FILE.stat().st_size < 60_000
