from __future__ import annotations

import json
from pathlib import Path

import pytest

pytest.importorskip("numba", reason="the extra `bots` is not installed, so there are no kernels")

import numpy as np

from tabuleiro_server.bots.engine.alpha_beta import ESTIMATE_UNIT
from tabuleiro_server.bots.engine.xero_g import master
from tabuleiro_server.bots.engine.xero_g.values import FEATURE_COUNT
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
