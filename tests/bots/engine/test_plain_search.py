"""The search in plain Python: whole turns, repeatable, and wins and losses that it proves."""

from __future__ import annotations

import time

import pytest

from tabuleiro.rules import State, registry
from tabuleiro_server.bots.engine.base import is_same_turn
from tabuleiro_server.bots.engine.plain_search import PlainSearcher

SMALLEST = {
    "virus-wars": {"rows": 4, "cols": 4, "steps": 3},
    "iris": {"side": 5},
    "minefield": {"size": 5},
    "xero-g": {"variant": "gyges"},
}


@pytest.mark.parametrize("name", registry.names())
def test_turns_of_every_game_are_whole_legal_and_repeatable(name: str) -> None:
    state: State = registry.load(name, SMALLEST[name]).initial_state()
    for _ in range(3):
        results = [PlainSearcher().choose_turn(state, max_nodes=3, deadline_s=None, seed=4) for _ in range(2)]
        assert results[0] == results[1]
        later = state
        for action in results[0].actions:
            later = later.apply(action)
        assert not is_same_turn(state, later)
        state = later


def test_a_win_in_one_action_is_proven_before_any_playout() -> None:
    position = "b..../b..../b..../b...w/.www. 0"
    state = registry.load("minefield", {"size": 5, "rules": "beginner", "position": position}).initial_state()
    result = PlainSearcher().choose_turn(state, max_nodes=10, deadline_s=None, seed=0)
    assert [state.action_to_string(action) for action in result.actions] == ["a5"]
    assert (result.value, result.is_proven, result.nodes) == (1.0, True, 0)


def test_two_threats_are_a_proven_loss_for_the_other() -> None:
    position = "bwwb./bwwb./b.wb./bwwb./..... 1"
    state = registry.load("minefield", {"size": 5, "rules": "beginner", "position": position}).initial_state()
    result = PlainSearcher().choose_turn(state, max_nodes=3000, deadline_s=None, seed=0)
    assert (result.value, result.is_proven) == (-1.0, True)


def test_a_deadline_that_has_passed_still_gives_a_turn() -> None:
    state = registry.load("iris").initial_state()
    result = PlainSearcher().choose_turn(state, max_nodes=None, deadline_s=time.monotonic() - 1, seed=0)
    assert state.apply(result.actions[0]).turn_number == 2
    assert result.nodes == 0
