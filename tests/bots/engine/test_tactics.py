"""Forced wins that ``tactics.py`` found by exhaustive search, and must be found here by playouts."""

from __future__ import annotations

import json
from collections import Counter
from pathlib import Path
from typing import Any

import pytest

from tabuleiro.rules import registry
from tabuleiro_server.bots import engine
from tabuleiro_server.bots.engine.base import Searcher, SearchResult
from tabuleiro_server.bots.engine.plain_search import PlainSearcher
from tabuleiro_server.bots.levels import SEARCH_LEVELS

CASES_FILE = Path(__file__).parents[2] / "data" / "tactics.jsonl"
CASES: list[dict[str, Any]] = [json.loads(line) for line in CASES_FILE.read_text().splitlines()]
LEVELS = ("hard", "expert")
MASTER_NODES = 10_000


def name_of(case: dict[str, Any]) -> str:
    trap = "-sign-trap" if case["is_sign_trap"] else ""
    return f"{case['game']}-{case['turns']}{trap}-{case['options']['position']}"


def chosen_by(search: Searcher, case: dict[str, Any], max_nodes: int) -> tuple[str, SearchResult]:
    state = registry.load(case["game"], case["options"]).initial_state()
    result = search.choose_turn(state, max_nodes=max_nodes, deadline_s=None, seed=1)
    texts = []
    for action in result.actions:
        texts.append(state.action_to_string(action))
        state = state.apply(action)
    return " ".join(texts), result


def test_there_are_enough_cases_of_every_kind() -> None:
    kinds = Counter((case["game"], case["turns"], case["is_sign_trap"]) for case in CASES)
    assert all(kinds[game, turns, False] >= 6 for game in ("iris", "minefield") for turns in (1, 2, 3))
    assert sum(kinds["iris", turns, True] for turns in (1, 2, 3)) >= 10


@pytest.mark.parametrize("level_name", LEVELS)
@pytest.mark.parametrize("case", CASES, ids=name_of)
def test_hard_and_expert_find_a_forced_win(case: dict[str, Any], level_name: str) -> None:
    pytest.importorskip("numba", reason="the kernels need the extra bots")
    level = next(level for level in SEARCH_LEVELS[case["game"]] if level.name == level_name)
    search = engine.searcher(registry.load(case["game"], case["options"]))
    turn, result = chosen_by(search, case, level.max_nodes)
    assert turn in case["winning"]
    if result.is_proven:
        assert result.value == 1.0


@pytest.mark.parametrize("case", CASES, ids=name_of)
def test_master_finds_a_forced_win(case: dict[str, Any]) -> None:
    pytest.importorskip("numba", reason="the kernels need the extra bots")
    search = engine.master_searcher(registry.load(case["game"], case["options"]))
    turn, result = chosen_by(search, case, MASTER_NODES)
    assert turn in case["winning"]
    assert result.value == 1.0 or not result.is_proven


@pytest.mark.parametrize("case", [case for case in CASES if case["turns"] == 1], ids=name_of)
def test_plain_search_finds_wins_in_one_turn(case: dict[str, Any]) -> None:
    turn, result = chosen_by(PlainSearcher(), case, 60)
    assert turn in case["winning"]
    assert (result.value, result.is_proven) == (1.0, True)
