"""The search of the level ``master`` of Virus Wars: the wins that it finds, what it repeats, and what it keeps."""

from __future__ import annotations

import json
import time
from pathlib import Path
from typing import Any

import pytest

from tabuleiro.rules import State, registry
from tabuleiro.rules.games.virus_wars import VirusWars

pytest.importorskip("numba", reason="the extra `bots` is not installed, so there are no kernels")

from tabuleiro_server.bots.engine.base import SearchResult, is_same_turn
from tabuleiro_server.bots.engine.virus_wars import master
from tabuleiro_server.bots.engine.virus_wars.values import RATING_COUNT
from tabuleiro_server.bots.engine.weights import read_weights

NODES = 3_000
CASES_FILE = Path(__file__).parents[3] / "data" / "turn_tactics.jsonl"
CASES: list[dict[str, Any]] = [
    case for line in CASES_FILE.read_text().splitlines() if (case := json.loads(line))["game"] == "virus-wars"
]


def new_searcher(**options: int | str) -> tuple[State, master.MasterVirusWarsSearcher]:
    """Return the start of a game and a searcher for it."""
    game = registry.load("virus-wars", options)
    assert isinstance(game, VirusWars)
    return game.initial_state(), master.MasterVirusWarsSearcher(game)


def chosen_in(state: State, searcher: master.MasterVirusWarsSearcher, nodes: int = NODES) -> SearchResult:
    return searcher.choose_turn(state, max_nodes=nodes, deadline_s=None, seed=1)


def later(state: State, result: SearchResult) -> State:
    for action in result.actions:
        state = state.apply(action)
    return state


@pytest.mark.parametrize("case", CASES, ids=lambda case: f"{case['turns']}-{case['options']['position']}")
def test_a_forced_win_is_found_and_proven(case: dict[str, Any]) -> None:
    state, searcher = new_searcher(**case["options"])
    result = chosen_in(state, searcher, nodes=200_000)
    assert state.action_to_string(result.actions[0]) in case["winning"]
    assert (result.value, result.is_proven) == (1.0, True)


@pytest.mark.parametrize("options", [{}, {"rows": 10, "cols": 10, "steps": 3, "opening": "edges"}])
def test_a_game_is_played_by_whole_turns_to_its_end(options: dict[str, int | str]) -> None:
    state, searcher = new_searcher(**options)
    while not state.is_terminal:
        after = later(state, chosen_in(state, searcher, nodes=60))
        assert not is_same_turn(state, after)
        state = after


def test_searches_limited_by_nodes_are_the_same_whatever_was_searched_before() -> None:
    state, searcher = new_searcher()
    first = chosen_in(state, searcher)
    chosen_in(later(state, first), searcher)
    searcher.choose_turn(state, max_nodes=NODES, deadline_s=time.monotonic() + 60, seed=2)
    assert chosen_in(state, searcher) == first


def test_a_search_by_time_begins_with_what_was_found_before() -> None:
    state, searcher = new_searcher()
    searched = searcher.choose_turn(state, max_nodes=20_000, deadline_s=time.monotonic() + 60, seed=1)
    at_once = searcher.choose_turn(state, max_nodes=None, deadline_s=time.monotonic() - 1, seed=1)
    assert at_once.nodes < searched.nodes // 100
    assert at_once.actions == searched.actions
    assert (
        new_searcher()[1].choose_turn(state, max_nodes=None, deadline_s=time.monotonic() - 1, seed=1).actions
        != searched.actions
    )


def test_other_weights_lead_to_other_turns_and_those_of_the_file_are_taken_by_themselves() -> None:
    state, searcher = new_searcher()
    assert isinstance(state.game, VirusWars)
    of_file = read_weights(master.WEIGHTS_FILE)
    assert len(of_file) == 2 * RATING_COUNT
    same, other = (
        master.MasterVirusWarsSearcher(state.game, weights) for weights in (of_file, [-each for each in of_file])
    )
    found = chosen_in(state, searcher)
    assert chosen_in(state, same) == found
    assert chosen_in(state, other).actions != found.actions
