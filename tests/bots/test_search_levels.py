"""The search levels: which there are, and that each looks further than the one before."""

from __future__ import annotations

from itertools import pairwise

import pytest

from tabuleiro.rules import registry
from tabuleiro_server.bots.levels import SEARCH_LEVELS, choose_turn, level_names


@pytest.mark.parametrize("game", sorted(SEARCH_LEVELS))
def test_levels_look_further_and_further_within_two_seconds(game: str) -> None:
    levels = SEARCH_LEVELS[game]
    assert [level.name for level in levels] == ["easy", "medium", "hard", "expert"]
    assert all(near.max_nodes * 4 <= far.max_nodes for near, far in pairwise(levels))
    assert max(level.limit_ms for level in levels) <= 2_000
    assert level_names(game)[-4:] == tuple(level.name for level in levels)


@pytest.mark.parametrize(
    ("game", "options"),
    [
        ("iris", {"side": 5}),
        ("minefield", {"size": 7}),
        ("virus-wars", {"rows": 6, "cols": 6}),
        ("xero-g", {"setup": "random", "seed": 5}),
        ("xero-g", {}),
    ],
)
def test_a_level_answers_with_a_whole_turn_even_without_time(game: str, options: dict[str, int | str]) -> None:
    state = registry.load(game, options).initial_state()
    for level in ("easy", "expert"):
        later = state
        for action in choose_turn(state, level, seed=1, budget_ms=1):
            assert later.turn_number == 1
            later = later.apply(action)
        assert later.turn_number == 2
