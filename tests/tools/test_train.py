from __future__ import annotations

import json
from pathlib import Path
from random import Random
from types import ModuleType

import pytest

from tabuleiro.rules import registry
from tabuleiro.rules.games.virus_wars import VirusWarsState

pytest.importorskip("numba", reason="the extra `bots` is not installed, so there are no kernels")

import numpy as np

from tabuleiro_server.bots.engine.alpha_beta import ESTIMATE_UNIT
from tabuleiro_server.bots.engine.minefield.patterns import FEATURE_COUNT as MINEFIELD_FEATURE_COUNT
from tabuleiro_server.bots.engine.virus_wars.board import (
    SET_WORDS,
    board_of,
    find_reach,
    place_of,
    virus_wars_tables,
)
from tabuleiro_server.bots.engine.virus_wars.master import WEIGHT_COUNT
from tabuleiro_server.bots.engine.virus_wars.values import RATING_COUNT, rate
from tabuleiro_server.bots.engine.xero_g import master
from tabuleiro_server.bots.engine.xero_g.values import FEATURE_COUNT
from tools.train import iris, minefield, priors, virus_wars
from tools.train.xero_g import fit, train


def test_weights_that_made_the_values_are_found_again() -> None:
    rng = np.random.default_rng(5)
    features = rng.integers(0, 30, size=(2_000, 4)).astype(float)
    weights = np.array([120.0, -80.0, 5.5, -40.0])
    values = np.tanh(features @ weights / ESTIMATE_UNIT) + rng.normal(0, 0.01, 2_000)
    assert np.abs(fit(features, values) - weights).max() < 1


def test_a_feature_that_no_position_has_weighs_nothing() -> None:
    features = np.array([[1.0, 0.0], [2.0, 0.0]])
    assert fit(features, np.tanh(features[:, 0] / 10))[1] == 0


@pytest.mark.slow
def test_the_same_seed_gives_the_same_weights_whatever_was_learnt_before_and_another_one_others(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    told = list[str]()
    first = train(14, 3, 1, told.append)
    (tmp_path / "weights.json").write_bytes(first)
    monkeypatch.setattr(master, "WEIGHTS_FILE", tmp_path / "weights.json")
    again, other = train(14, 3, 1, told.append), train(14, 4, 1, told.append)
    assert first == again
    assert len(json.loads(first)) == FEATURE_COUNT
    assert first != other
    assert told[0].startswith(f"{told[0].split()[0]} positions, mean squared error")


def test_ratings_that_made_the_choices_are_found_again() -> None:
    rng = np.random.default_rng(6)
    weights, choices = np.array([1.5, -0.8, 0.0]), []
    for _ in range(3_000):
        features = rng.integers(0, 4, size=(6, 3)).astype(float)
        likely = np.exp(features @ weights)
        choices.append((features, np.eye(6)[rng.choice(6, p=likely / likely.sum())]))
    assert np.abs(virus_wars.fit(virus_wars.joined(choices)) - weights).max() < 0.1


def test_ratings_are_made_of_the_features_of_an_action() -> None:
    state = registry.load("virus-wars", {"rows": 9, "cols": 9, "steps": 3}).initial_state()
    rng = Random(4)
    rating = np.arange(1.0, 2 * RATING_COUNT + 1)
    while not state.is_terminal:
        assert isinstance(state, VirusWarsState)
        tables = virus_wars_tables(state.game)
        board = board_of(state, tables)
        reach, asleep = np.zeros((2, SET_WORDS), dtype=np.uint64), np.zeros((2, SET_WORDS), dtype=np.uint64)
        for side in (0, 1):
            find_reach(tables, board, (state.mover + side) % 2, reach[side], asleep[side])
        expected = [
            rate(tables, board, reach[1], asleep[0], rating, place_of(action, 9))
            for action in state.legal_actions()
        ]
        assert list(virus_wars.features_of(state, tables) @ rating) == expected
        state = state.child(rng.choice(state.legal_actions()))


def test_values_that_made_the_results_are_found_again() -> None:
    rng = np.random.default_rng(7)
    features = rng.integers(-5, 6, size=(20_000, 3)).astype(float)
    are_won = rng.random(20_000) < (1 + np.tanh(features @ np.array([0.2, -0.1, 0.0]) + 0.3)) / 2
    assert virus_wars.fit_values(features, are_won) == pytest.approx([0.2, -0.1, 0.0, 0.3], abs=0.02)


@pytest.mark.slow
def test_the_same_seed_gives_the_same_ratings_and_values() -> None:
    told = list[str]()
    first = virus_wars.train(14, 3, 1, told.append)
    assert first == virus_wars.train(14, 3, 1, told.append)
    assert first != virus_wars.train(14, 4, 1, told.append)
    assert len(json.loads(first)) == WEIGHT_COUNT
    assert told[0].startswith("14 games, ")


def test_chances_that_features_explain_are_learnt() -> None:
    rng = np.random.default_rng(5)
    sizes = np.full(300, 20)
    features = rng.integers(0, 6, size=(sizes.sum(), 2)) + np.array([0, 10])
    weights = np.zeros(MINEFIELD_FEATURE_COUNT)
    weights[:6], weights[10:16] = rng.normal(size=6), rng.normal(size=6)
    shares = np.exp(weights[features].sum(axis=1)).reshape(300, 20)
    chances = (shares / shares.sum(axis=1, keepdims=True)).reshape(-1)
    examples = priors.Examples(features, chances, sizes)
    learnt = priors.fit(examples, MINEFIELD_FEATURE_COUNT)
    even, best = np.zeros(MINEFIELD_FEATURE_COUNT), priors.cross_entropy(weights, examples)
    assert priors.cross_entropy(even, examples) - best > 0.1
    assert priors.cross_entropy(learnt, examples) - best < 0.01
    assert learnt[7] == 0


@pytest.mark.slow
@pytest.mark.parametrize("trainer", [minefield, iris])
def test_the_same_seed_gives_the_same_weights_of_features(
    trainer: ModuleType, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(trainer, "NODES", 100)
    told = list[str]()
    first, again = (trainer.train(14, 3, 1, told.append) for _ in range(2))
    assert first == again
    assert first != trainer.train(14, 4, 1, told.append)
    assert "cross-entropy of those held out" in told[0]
