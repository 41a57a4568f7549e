"""The search of the level ``master`` of Iris: forced wins, boards of all sizes, and what it has learnt."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from tabuleiro.rules import registry

pytest.importorskip("numba", reason="the extra `bots` is not installed, so there are no kernels")

import numpy as np

from tabuleiro_server.bots import engine
from tabuleiro_server.bots.engine.guided import read_feature_weights
from tabuleiro_server.bots.engine.iris.master import TUNING, WEIGHTS_FILE, add_gains
from tabuleiro_server.bots.engine.iris.patterns import FEATURE_COUNT
from tabuleiro_server.bots.engine.mcts import add_children, new_tree

CASES_FILE = Path(__file__).parents[3] / "data" / "tactics.jsonl"
CASES: list[dict[str, Any]] = [json.loads(line) for line in CASES_FILE.read_text().splitlines()]
NODES = 10_000


@pytest.mark.parametrize(
    "case", [case for case in CASES if case["game"] == "iris"], ids=lambda case: case["options"]["position"]
)
def test_master_finds_a_forced_win(case: dict[str, Any]) -> None:
    game = registry.load(case["game"], case["options"])
    state = game.initial_state()
    result = engine.master_searcher(game).choose_turn(state, max_nodes=NODES, deadline_s=None, seed=1)
    turn = " ".join(state.action_to_string(action) for action in result.actions)
    assert turn in case["winning"]
    assert result.value == 1.0 or not result.is_proven


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
    weights = read_feature_weights(WEIGHTS_FILE, FEATURE_COUNT)
    assert abs(weights).max() > 0.5
    assert WEIGHTS_FILE.stat().st_size < 60_000
