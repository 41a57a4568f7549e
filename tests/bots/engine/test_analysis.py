"""Analyses of positions: forced wins are told with their length, candidates differ, lines are legal."""

from __future__ import annotations

import json
import time
from pathlib import Path
from random import Random
from typing import Any

import pytest

from tabuleiro.errors import BotError
from tabuleiro.rules import State, registry
from tabuleiro.rules.analysis import Analysis
from tabuleiro.rules.games.minefield import MinefieldState
from tabuleiro_server.bots import engine
from tabuleiro_server.bots.analysis import best_search
from tabuleiro_server.bots.engine.base import Searcher, after, is_same_turn

DATA = Path(__file__).parents[2] / "data"
CASES: list[dict[str, Any]] = [
    json.loads(line)
    for name in ("tactics.jsonl", "turn_tactics.jsonl")
    for line in (DATA / name).read_text().splitlines()
]
GAMES: list[tuple[str, dict[str, int | str], int]] = [
    ("virus-wars", {"rows": 6, "cols": 6, "steps": 3}, 12),
    ("virus-wars", {"preset": "feup-a"}, 7),
    ("xero-g", {}, 20),
    ("xero-g", {"variant": "gyges"}, 14),
    ("iris", {"side": 5}, 9),
    ("iris", {"side": 6}, 2),
    ("minefield", {"size": 7}, 10),
]


def name_of(case: dict[str, Any]) -> str:
    return f"{case['game']}-{case['turns']}-{case['options']['position']}"


def some_position(name: str, options: dict[str, int | str], actions_count: int) -> State:
    """Return a position some random actions after the start."""
    given = dict(options)
    preset = given.pop("preset", None)
    chosen = dict(registry.game_type(name).presets[str(preset)]) if preset else given
    rng, state = Random(7), registry.load(name, chosen).initial_state()
    for _ in range(actions_count):
        state = state.child(rng.choice(state.legal_actions()))
    return state


def search_of(state: Any, *, is_compiled: bool) -> Searcher:
    return best_search(state.game, None) if is_compiled else engine.plain_searcher(state.game)


def check_is_sound(state: State, analysis: Analysis, count: int) -> None:
    """Check that every candidate is a whole legal turn to a position of its own, with a legal line."""
    assert 1 <= len(analysis.candidates) <= count
    assert len({after(state, candidate.actions).key() for candidate in analysis.candidates}) == len(
        analysis.candidates
    )
    for candidate in analysis.candidates:
        assert candidate.line[: len(candidate.actions)] == candidate.actions
        later = state
        for place, action in enumerate(candidate.line, start=1):
            later = later.apply(action)
            assert is_same_turn(state, later) == (place < len(candidate.actions)) or place > len(candidate.actions)
        assert candidate.is_proven == (abs(candidate.value) == 1.0) or candidate.value == 0.0
        assert -1.0 <= candidate.value <= 1.0


def has_skip(state: State, line: tuple[int, ...]) -> bool:
    """Return True if a player is skipped in a line of Minefield: cases count actions, the rules turns."""
    later = [after(state, line[:count]) for count in range(len(line))]
    return isinstance(state, MinefieldState) and any(each.actions_in_turn for each in later)


def one_of_each_kind(cases: list[dict[str, Any]]) -> list[Any]:
    """Return all cases, marked as slow but for the first of each game, length and trap."""
    seen: set[object] = set()
    marked = []
    for case in cases:
        kind = (case["game"], case["turns"], case["is_sign_trap"])
        marked.append(pytest.param(case, marks=[pytest.mark.slow] if kind in seen else [], id=name_of(case)))
        seen.add(kind)
    return marked


@pytest.mark.parametrize("case", one_of_each_kind(CASES))
def test_a_forced_win_is_told_with_its_length(case: dict[str, Any]) -> None:
    pytest.importorskip("numba", reason="the kernels need the extra bots")
    state = registry.load(case["game"], case["options"]).initial_state()
    search = search_of(state, is_compiled=True)
    *_, last = search.analyse(state, candidate_count=3, max_nodes=200_000, deadline_s=None, seed=1)
    check_is_sound(state, last, 3)
    best = last.best
    assert state.action_to_string(best.actions[0]) in {winning.split()[0] for winning in case["winning"]}
    assert (best.value, best.is_proven) == (1.0, True)
    assert best.turns_to_end == case["turns"] or has_skip(state, best.line)


@pytest.mark.parametrize(("name", "options", "actions_count"), GAMES)
@pytest.mark.parametrize("is_compiled", [True, False], ids=["compiled", "plain"])
def test_candidates_are_whole_legal_turns_and_differ(
    name: str, options: dict[str, int | str], actions_count: int, is_compiled: bool
) -> None:
    if is_compiled:
        pytest.importorskip("numba", reason="the kernels need the extra bots")
    state = some_position(name, options, actions_count)
    search = search_of(state, is_compiled=is_compiled)
    max_nodes = 20_000 if is_compiled else 60
    analyses = list(search.analyse(state, candidate_count=4, max_nodes=max_nodes, deadline_s=None, seed=1))
    for analysis in analyses:
        check_is_sound(state, analysis, 4)
        assert analysis.is_compiled == is_compiled
    depths = [analysis.depth or 0 for analysis in analyses]
    assert depths == sorted(depths)


@pytest.mark.parametrize("is_compiled", [True, False], ids=["compiled", "plain"])
def test_whoever_loses_in_one_turn_is_told(is_compiled: bool) -> None:
    if is_compiled:
        pytest.importorskip("numba", reason="the kernels need the extra bots")
    # Black joins top and bottom with either of two cells: white can take one of them.
    position = "w.b.w/..b../..b../.bb../w...w 1"
    state = registry.load("minefield", {"size": 5, "rules": "beginner", "position": position}).initial_state()
    search = search_of(state, is_compiled=is_compiled)
    *_, last = search.analyse(state, candidate_count=3, max_nodes=5_000, deadline_s=None, seed=1)
    assert (last.best.value, last.best.is_proven, last.best.turns_to_end) == (-1.0, True, 1)


@pytest.mark.parametrize("name", registry.names())
@pytest.mark.parametrize("is_compiled", [True, False], ids=["compiled", "plain"])
def test_a_deadline_that_has_passed_still_gives_an_analysis(name: str, is_compiled: bool) -> None:
    if is_compiled:
        pytest.importorskip("numba", reason="the kernels need the extra bots")
    state = registry.load(name).initial_state()
    search = search_of(state, is_compiled=is_compiled)
    past_s = time.monotonic() - 1
    *_, last = search.analyse(state, candidate_count=3, max_nodes=None, deadline_s=past_s, seed=1)
    check_is_sound(state, last, 3)


@pytest.mark.parametrize("is_compiled", [True, False], ids=["compiled", "plain"])
def test_a_game_that_is_over_and_a_search_without_limits_are_refused(is_compiled: bool) -> None:
    if is_compiled:
        pytest.importorskip("numba", reason="the kernels need the extra bots")
    state = registry.load("minefield", {"size": 5, "rules": "beginner"}).initial_state()
    for text in ["a1", "a2", "b1", "b2", "c1", "c2", "d1", "d2", "e1", "e2"]:
        if not state.is_terminal:
            state = state.apply(state.string_to_action(text))
    search = search_of(state, is_compiled=is_compiled)
    fresh = registry.load("minefield", {"size": 5}).initial_state()
    with pytest.raises(BotError, match="limit"):
        list(search.analyse(fresh, candidate_count=1, max_nodes=None, deadline_s=None, seed=1))
    while not state.is_terminal:
        state = state.child(state.legal_actions()[0])
    with pytest.raises(BotError, match="the game is over"):
        list(search.analyse(state, candidate_count=1, max_nodes=9, deadline_s=None, seed=1))
