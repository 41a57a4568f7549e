"""The search of the level ``master`` of Minefield: forced wins, boards of all kinds, and what it has learnt."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from tabuleiro.rules import registry

pytest.importorskip("numba", reason="the extra `bots` is not installed, so there are no kernels")

from tabuleiro_server.bots import engine
from tabuleiro_server.bots.engine.guided import read_feature_weights
from tabuleiro_server.bots.engine.minefield.master import WEIGHTS_FILE
from tabuleiro_server.bots.engine.minefield.patterns import FEATURE_COUNT

CASES_FILE = Path(__file__).parents[3] / "data" / "tactics.jsonl"
CASES: list[dict[str, Any]] = [json.loads(line) for line in CASES_FILE.read_text().splitlines()]
NODES = 10_000


@pytest.mark.parametrize(
    "case", [case for case in CASES if case["game"] == "minefield"], ids=lambda case: case["options"]["position"]
)
def test_master_finds_a_forced_win(case: dict[str, Any]) -> None:
    game = registry.load(case["game"], case["options"])
    state = game.initial_state()
    result = engine.master_searcher(game).choose_turn(state, max_nodes=NODES, deadline_s=None, seed=1)
    turn = " ".join(state.action_to_string(action) for action in result.actions)
    assert turn in case["winning"]
    assert result.value == 1.0 or not result.is_proven


@pytest.mark.parametrize("options", [{"size": 5}, {"size": 19}, {"size": 6, "rules": "beginner"}])
def test_master_plays_on_any_board(options: dict[str, int | str]) -> None:
    game = registry.load("minefield", options)
    state, search = game.initial_state(), engine.master_searcher(game)
    for _ in range(8):
        result = search.choose_turn(state, max_nodes=200, deadline_s=None, seed=1)
        for action in result.actions:
            state = state.apply(action)


def test_what_features_are_worth_is_in_a_small_file() -> None:
    weights = read_feature_weights(WEIGHTS_FILE, FEATURE_COUNT)
    assert weights.shape == (FEATURE_COUNT,)
    assert abs(weights).max() > 0.5
    assert WEIGHTS_FILE.stat().st_size < 60_000
