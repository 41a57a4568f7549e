"""Minimax and alpha-beta by any evaluation, against a plain minimax that is written for reading."""

from __future__ import annotations

from random import Random
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tabuleiro.ids import Player
from tabuleiro.rules import registry
from tabuleiro.rules.perft import perft
from tabuleiro_server.bots import minimax
from tabuleiro_server.bots.engine.base import ThinkingTime
from tabuleiro_server.bots.evaluation import Evaluation, find_evaluation
from tabuleiro_server.bots.look_ahead import UNLIMITED, LookAhead, deepest

SMALL: dict[str, dict[str, int | str]] = {
    "virus-wars": {"rows": 4, "cols": 4, "steps": 2},
    "iris": {"side": 5},
    "minefield": {"size": 5},
    "xero-g": {"setup": "random", "seed": 3},
}


LATER = {"iris": 52, "minefield": 12}
"""Actions played before, so that few are left."""


def position(game: str, seed: int) -> Any:
    state: Any = registry.load(game, SMALL[game]).initial_state()
    rng = Random(seed)
    for _ in range(seed % 7 + LATER.get(game, 0)):
        later = state.child(rng.choice(state.legal_actions()))
        if later.is_terminal:
            break
        state = later
    return state


def plain_value(state: Any, evaluation: Evaluation, player: Player, depth: int) -> float:
    if state.outcome is not None:
        return evaluation.value_of_end(state.outcome.winner, player)
    if depth == 0:
        return evaluation.value(state, player)
    values = [plain_value(state.child(action), evaluation, player, depth - 1) for action in state.legal_actions()]
    return max(values) if state.to_move == player else min(values)


@pytest.mark.parametrize(
    "game", [pytest.param(game, marks=pytest.mark.slow if game == "xero-g" else ()) for game in SMALL]
)
@settings(max_examples=4)
@given(seed=st.integers(0, 200), depth=st.integers(1, 2))
def test_both_find_the_values_of_the_plain_search(game: str, seed: int, depth: int) -> None:
    state, evaluation = position(game, seed), find_evaluation(game)
    values = {
        action: plain_value(state.child(action), evaluation, state.to_move, depth - 1)
        for action in state.legal_actions()
    }
    best = tuple(action for action in values if values[action] == max(values.values()))
    for prunes in (False, True):
        search = LookAhead(state, evaluation, prunes=prunes)
        found = search.best(depth)
        assert tuple(each.action for each in found) == best
        assert {each.value for each in found} == {max(values.values())}
        assert {each.action: each.value for each in search.all(depth)} == values


def test_minimax_looks_at_every_position_and_alpha_beta_at_fewer() -> None:
    state, evaluation = position("virus-wars", 0), find_evaluation("virus-wars")
    every, fewer = (LookAhead(state, evaluation, prunes=prunes) for prunes in (False, True))
    every.best(3)
    fewer.best(3)
    assert every.nodes == sum(perft(state, depth) for depth in (1, 2, 3))
    assert fewer.nodes < every.nodes


def test_lines_lead_to_their_values() -> None:
    state, evaluation = position("virus-wars", 3), find_evaluation("virus-wars")
    search = LookAhead(state, evaluation, prunes=True)
    for each in search.all(3):
        later = state
        for action in each.line:
            later = later.apply(action)
        assert search.leaf_value(later) == each.value
        assert len(each.line) == 3 or later.is_terminal


@pytest.mark.parametrize("seed", range(6))
def test_it_agrees_with_the_quick_search_of_the_report(seed: int) -> None:
    state = position("virus-wars", seed)
    found = LookAhead(state, find_evaluation("virus-wars"), prunes=True).best(3)
    assert tuple(each.action for each in found) == minimax.best_actions(state, 3, UNLIMITED)


def test_out_of_time_the_last_finished_depth_counts() -> None:
    state = position("minefield", 0)
    search = LookAhead(state, find_evaluation("minefield"), prunes=True, time_left=ThinkingTime(0))
    reached, found = deepest(search, 3)
    assert reached == 1
    assert found == LookAhead(state, find_evaluation("minefield"), prunes=True).best(1)
