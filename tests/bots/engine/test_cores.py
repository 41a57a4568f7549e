"""``master`` on several cores, in every game."""

from __future__ import annotations

import time

import pytest

from tabuleiro.rules import registry
from tabuleiro_server.bots import engine

pytest.importorskip("numba", reason="the extra `bots` is not installed, so there are no kernels")

TURNS = 6
GAMES = [
    ("virus-wars", {"rows": 7, "cols": 7}),
    ("xero-g", {}),
    ("iris", {"side": 5}),
    ("minefield", {"size": 7}),
]


@pytest.mark.parametrize(("name", "options"), GAMES)
def test_several_cores_choose_whole_turns_one_after_the_other(name: str, options: dict[str, int | str]) -> None:
    state = registry.load(name, options).initial_state()
    search = engine.master_searcher(state.game)
    search.cores = 3
    for number in range(TURNS):
        mover, turn = state.to_move, state.turn_number
        result = search.choose_turn(state, max_nodes=None, deadline_s=time.monotonic() + 0.1, seed=number)
        for action in result.actions:
            assert (state.to_move, state.turn_number) == (mover, turn)
            state = state.apply(action)
        assert (state.to_move, state.turn_number) != (mover, turn)
        assert result.nodes > 0


@pytest.mark.parametrize(("name", "options"), GAMES)
def test_with_a_limit_of_nodes_cores_change_nothing(name: str, options: dict[str, int | str]) -> None:
    state = registry.load(name, options).initial_state()
    results = []
    for cores in (1, 3):
        search = engine.master_searcher(state.game)
        search.cores = cores
        results.append(search.choose_turn(state, max_nodes=300, deadline_s=None, seed=1))
    assert results[0] == results[1]
