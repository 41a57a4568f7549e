"""Forced wins that ``turn_tactics.py`` found by exhaustive search, and must be found here by hard and expert."""

from __future__ import annotations

import json
from collections import Counter
from pathlib import Path
from typing import Any

import pytest

from tabuleiro.rules import registry
from tabuleiro_server.bots import engine
from tabuleiro_server.bots.engine.xero_g.plain import PlainXeroGSearcher
from tabuleiro_server.bots.levels import SEARCH_LEVELS

CASES_FILE = Path(__file__).parents[2] / "data" / "turn_tactics.jsonl"
CASES: list[dict[str, Any]] = [json.loads(line) for line in CASES_FILE.read_text().splitlines()]


def name_of(case: dict[str, Any]) -> str:
    trap = "-sign-trap" if case["is_sign_trap"] else ""
    return f"{case['game']}-{case['turns']}{trap}-{case['options']['position']}"


def test_there_are_enough_cases_of_every_kind() -> None:
    games = Counter((case["game"], case["is_sign_trap"]) for case in CASES)
    assert games["virus-wars", False] >= 10
    assert games["virus-wars", True] >= 10
    assert games["xero-g", False] >= 10
    for name in ("virus-wars", "xero-g"):
        assert {case["turns"] for case in CASES if case["game"] == name} == {1, 2, 3}


@pytest.mark.parametrize("level_name", ["hard", "expert"])
@pytest.mark.parametrize("case", CASES, ids=name_of)
def test_hard_and_expert_find_a_forced_win(case: dict[str, Any], level_name: str) -> None:
    pytest.importorskip("numba", reason="the kernels need the extra bots")
    level = next(level for level in SEARCH_LEVELS[case["game"]] if level.name == level_name)
    game = registry.load(case["game"], case["options"])
    state = game.initial_state()
    result = engine.searcher(game).choose_turn(state, max_nodes=level.max_nodes, deadline_s=None, seed=1)
    assert state.action_to_string(result.actions[0]) in case["winning"]
    # The nodes of `hard` may be spent before the last of a long win is proven.
    assert level_name == "hard" or (result.value, result.is_proven) == (1.0, True)
    for action in result.actions:
        state = state.apply(action)
    assert result.lines[0][: len(result.actions)] == result.actions


@pytest.mark.parametrize("case", [case for case in CASES if case["game"] == "xero-g"], ids=name_of)
def test_plain_search_does_not_let_the_opponent_enter_at_once(case: dict[str, Any]) -> None:
    state = registry.load(case["game"], case["options"]).initial_state()
    result = PlainXeroGSearcher().choose_turn(state, max_nodes=400, deadline_s=None, seed=1)
    later = state.apply(result.actions[0])
    assert not any(later.action_to_string(action).endswith("base") for action in later.legal_actions())
