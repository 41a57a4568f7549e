"""Values as chances of a win: proven results stay, the order of candidates stays, and no depth looks better."""

from __future__ import annotations

import itertools
from collections.abc import Callable

import pytest

from tabuleiro.rules import Game, registry
from tabuleiro.rules.analysis import Analysis, Candidate
from tabuleiro_server.bots import engine
from tabuleiro_server.bots.analysis import CALIBRATIONS, EVEN_BELOW, Calibration, calibrated
from tabuleiro_server.bots.engine.base import Searcher


def candidates(*values: float) -> Analysis:
    given = [Candidate((place,), (place,), value, is_proven=abs(value) == 1) for place, value in enumerate(values)]
    return Analysis(tuple(given), nodes=1)


@pytest.mark.parametrize("game", registry.names())
def test_estimates_become_chances_in_the_same_order_and_what_is_proven_stays(game: str) -> None:
    options = {"setup": "random"} if game == "xero-g" else {}
    state = registry.load(game, options | ({"seed": 1} if options else {})).initial_state()
    values = [
        each.value for each in calibrated(candidates(1.0, 0.999, 0.3, 0.0, -0.3, -0.999, -1.0), state).candidates
    ]
    assert (values[0], values[-1]) == (1.0, -1.0)
    assert values == sorted(values, reverse=True)
    assert len(set(values)) == len(values)
    assert values[3] == pytest.approx(CALIBRATIONS[game].value(0.0))


def test_a_value_that_cannot_tell_who_is_better_is_given_as_even() -> None:
    values = [Calibration(1.0, 0.0).value(raw) for raw in (-0.06, -0.04, 0.0, 0.04, 0.06)]
    assert values[1:4] == [0.0, 0.0, 0.0]
    assert values[0] < -EVEN_BELOW
    assert values[4] > EVEN_BELOW


def test_slope_1_without_a_lead_changes_nothing_that_shows() -> None:
    assert Calibration(1.0, 0.0).value(0.5) == pytest.approx(0.5, abs=0.001)


def test_rows_of_the_setup_keep_their_values() -> None:
    given = candidates(0.25, 0.0)
    assert calibrated(given, registry.load("xero-g", {}).initial_state()) == given


@pytest.mark.parametrize("search", [engine.searcher, engine.master_searcher])
def test_the_value_in_xero_g_does_not_go_to_and_fro_with_the_depth(search: Callable[[Game], Searcher]) -> None:
    pytest.importorskip("numba", reason="the kernels need the extra bots")
    for seed in range(4):
        state = registry.load("xero-g", {"setup": "random", "seed": seed}).initial_state()
        found = search(state.game).analyse(state, candidate_count=1, max_nodes=60_000, deadline_s=None, seed=1)
        by_depth = {analysis.depth: analysis.best.value for analysis in found}
        assert len(by_depth) >= 3
        assert all(abs(one - other) < 0.5 for one, other in itertools.pairwise(list(by_depth.values())[1:]))
