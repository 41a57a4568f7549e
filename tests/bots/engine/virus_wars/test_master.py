"""The search of the level ``master`` of Virus Wars: the wins that it finds, what it proves, repeats and keeps."""

from __future__ import annotations

import json
import time
from collections.abc import Iterator
from functools import partial
from pathlib import Path
from random import Random
from typing import Any

import pytest

from tabuleiro.rules import State, registry
from tabuleiro.rules.games.virus_wars import VirusWars, VirusWarsState

pytest.importorskip("numba", reason="the extra `bots` is not installed, so there are no kernels")

from tabuleiro_server.bots.engine.base import SearchResult, is_same_turn
from tabuleiro_server.bots.engine.guided import GuidedSearcher
from tabuleiro_server.bots.engine.kernels import new_rng
from tabuleiro_server.bots.engine.mcts import UNPROVEN, Tree, new_tree
from tabuleiro_server.bots.engine.virus_wars import master
from tabuleiro_server.bots.engine.weights import read_weights
from tests.bots.engine.counting_searcher import CountingSearcher
from tests.bots.engine.turn_tactics import ForcedWins

NODES = 3_000
CASES_FILE = Path(__file__).parents[3] / "data" / "turn_tactics.jsonl"
CASES: list[dict[str, Any]] = [
    case for line in CASES_FILE.read_text().splitlines() if (case := json.loads(line))["game"] == "virus-wars"
]


def new_game(**options: int | str) -> VirusWars:
    game = registry.load("virus-wars", options)
    assert isinstance(game, VirusWars)
    return game


def new_searcher(**options: int | str) -> tuple[State, CountingSearcher]:
    """Return the start of a game and a searcher for it."""
    game = new_game(**options)
    return game.initial_state(), CountingSearcher(partial(master.MasterVirusWarsKernels, game))


def grown(state: State, visit_count: int) -> tuple[Tree, master.MasterVirusWarsKernels]:
    """Return a tree of so many visits whose root is ``state``, and the kernels that made it."""
    assert isinstance(state.game, VirusWars)
    tree, kernels = new_tree(200_000), master.MasterVirusWarsKernels(state.game)
    kernels.grow(tree, 0, kernels.pack(state), new_rng(1), visit_count)
    return tree, kernels


def chosen_in(state: State, searcher: GuidedSearcher, nodes: int = NODES) -> SearchResult:
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
    assert at_once.nodes < searched.nodes // 20
    assert at_once.actions == searched.actions
    assert searcher.kept == [0, searcher.kept[1]]
    assert searcher.kept[1] > 5_000


def test_the_tree_is_kept_when_the_opponent_absorbs_a_new_virus() -> None:
    state, searcher = new_searcher(rows=4, cols=4, steps=2)
    actions, answer = tuple[int, ...](), tuple[int, ...]()
    while not set(answer) & set(actions):
        for action in actions:
            state = state.child(action)
        result = searcher.choose_turn(state, max_nodes=2_000, deadline_s=time.monotonic() + 60, seed=1)
        actions = result.actions
        answer = result.lines[0][len(actions) :][:2]
    for action in (*actions, *answer):
        state = state.child(action)
    searcher.choose_turn(state, max_nodes=1, deadline_s=time.monotonic() + 60, seed=1)
    assert searcher.kept[-1] > 0


def test_other_weights_lead_to_other_turns_and_those_of_the_file_are_taken_by_themselves() -> None:
    state, searcher = new_searcher()
    assert isinstance(state.game, VirusWars)
    of_file = read_weights(master.WEIGHTS_FILE)
    assert len(of_file) == master.WEIGHT_COUNT
    same, other = (
        CountingSearcher(partial(master.MasterVirusWarsKernels, state.game, weights))
        for weights in (of_file, [-each for each in of_file])
    )
    found = chosen_in(state, searcher)
    assert chosen_in(state, same) == found
    assert chosen_in(state, other).actions != found.actions


def test_within_a_turn_a_search_starts_anew() -> None:
    """Symptom: actions that others of the start of the turn stood for were never looked at."""
    state, searcher = new_searcher(rows=6, cols=6, steps=3)
    for action in (*(0, 6, 12), *(35, 29, 23)):
        state = state.child(action)
    chosen = searcher.choose_turn(state, max_nodes=500, deadline_s=time.monotonic() + 60, seed=1)
    for action in chosen.actions[:2]:
        state = state.child(action)
        searcher.choose_turn(state, max_nodes=500, deadline_s=time.monotonic() + 60, seed=1)
    assert searcher.kept == [0, 0, 0]


def test_weights_of_another_number_are_refused() -> None:
    with pytest.raises(ValueError, match=r"3 weights of Virus Wars, expected 28"):
        master.MasterVirusWarsKernels(new_game(), [1.0, 2.0, 3.0])


def test_what_is_proven_is_true() -> None:
    proven = {-1.0: 0, 1.0: 0}
    rng = Random(3)
    for _ in range(30):
        game = new_game(rows=4, cols=4, steps=2)
        state, searcher = game.initial_state(), CountingSearcher(partial(master.MasterVirusWarsKernels, game))
        for _ in range(rng.randrange(4, 9)):
            if not state.is_terminal:
                state = state.child(rng.choice(state.legal_actions()))
        if not state.is_terminal and state.to_move is not None:
            result = chosen_in(state, searcher, nodes=20_000)
            if result.is_proven:
                assert isinstance(state, VirusWarsState)
                assert ForcedWins(state.to_move).is_forced(state, None) == (result.value == 1.0)
                proven[result.value] += 1
    assert min(proven.values()) >= 5


def turns_in(tree: Tree, kernels: master.MasterVirusWarsKernels, state: State) -> Iterator[State]:
    """Yield the states after each whole turn from ``state``, the root, in a tree."""
    waiting = [(0, state)]
    while waiting:
        node, there = waiting.pop()
        if not is_same_turn(state, there):
            yield there
        else:
            children = tree.first_child[node] + range(int(tree.child_count[node]))
            waiting += [(child, there.child(kernels.action_of(int(tree.action[child])))) for child in children]


def test_each_set_of_actions_is_in_the_tree_once() -> None:
    state = new_game().initial_state()
    found = [each.key() for each in turns_in(*grown(state, 10_000), state)]
    assert len(found) > 100
    assert len(set(found)) == len(found)


def test_a_node_gets_more_children_in_time_with_falling_priors() -> None:
    state = new_game().initial_state()
    for action in (100, 90, 80, 70, 60):
        state = state.child(action)
    for action in (20, 30, 40):
        state = state.child(action)
    assert len(state.legal_actions()) > 2 * master.FIRST_CHILDREN
    tree, kernels = grown(state, 1)
    assert tree.child_count[0] == master.FIRST_CHILDREN
    tree, kernels = grown(state, 20_000)
    children = tree.first_child[0] + range(int(tree.child_count[0]))
    assert len(children) > master.FIRST_CHILDREN
    assert {kernels.action_of(int(action)) for action in tree.action[children]} <= set(state.legal_actions())
    assert len(set(tree.action[children])) == len(children)
    assert list(tree.prior[children]) == sorted(tree.prior[children], reverse=True)
    assert tree.visits[children].sum() == tree.visits[0]


def test_in_a_full_tree_the_search_goes_on_without_new_nodes() -> None:
    state = new_game().initial_state()
    kernels, tree = master.MasterVirusWarsKernels(new_game()), new_tree(3_000)
    assert kernels.grow(tree, 0, kernels.pack(state), new_rng(1), 20_000) == 20_000
    assert tree.visits[0] == 20_000
    assert tree.used[0] <= 3_000
    assert tree.proof[0] == UNPROVEN


def test_the_seed_changes_the_search_a_little() -> None:
    state, searcher = new_searcher()
    results = [searcher.choose_turn(state, max_nodes=NODES, deadline_s=None, seed=seed) for seed in (1, 2)]
    assert results[0].value != results[1].value
    assert results[0].value == pytest.approx(results[1].value, abs=0.2)
