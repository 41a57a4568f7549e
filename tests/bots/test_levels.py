"""Levels: their names and limits, the same turn for the same seed, and turns completed exactly."""

from __future__ import annotations

from collections import Counter
from itertools import pairwise
from random import Random

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tabuleiro.errors import BotError, GameOptionError
from tabuleiro.rules import State, registry
from tabuleiro_server.bots.levels import SEARCH_LEVELS, choose, choose_turn, find_level, level_names

SMALL = {"rows": 5, "cols": 5, "steps": 3}


def small_start(**options: int | str) -> State:
    return registry.load("virus-wars", {**SMALL, **options}).initial_state()


def after(state: State, actions: tuple[int, ...]) -> State:
    for action in actions:
        state = state.apply(action)
    return state


# The levels that search take their time.
every_level = pytest.mark.parametrize("level", ["random", "minimax-1", "minimax-3"])


def test_every_game_has_random_as_its_weakest_level() -> None:
    for game in registry.names():
        assert level_names(game)[0] == "random"
        assert len(set(level_names(game))) == len(level_names(game))


def test_unknown_games_and_levels_are_named() -> None:
    with pytest.raises(GameOptionError, match="chess"):
        level_names("chess")
    with pytest.raises(BotError, match=r"level 'genius' is not possible.*random, minimax-1, minimax-3"):
        find_level("virus-wars", "genius")
    with pytest.raises(BotError, match=r"level 'genius' is not possible.*random, minimax-1, minimax-3"):
        choose_turn(small_start(), "genius", 1, None)
    find_level("virus-wars", "minimax-3")


@every_level
def test_no_level_thinks_about_a_finished_game(level: str) -> None:
    over = small_start(position="XXXXX/XXXXX/XXxXX/XXXXX/XXXXo 1 1")
    assert over.is_terminal
    with pytest.raises(BotError, match="game is over"):
        choose_turn(over, level, 1, None)


@every_level
@settings(max_examples=15)
@given(seed=st.integers(0, 2**63), opening=st.sampled_from(["corners", "edges"]), first=st.integers(1, 3))
def test_a_game_of_whole_turns_reaches_the_end(level: str, seed: int, opening: str, first: int) -> None:
    state = small_start(opening=opening, first_turn_steps=first)
    while not state.is_terminal:
        turn = choose_turn(state, level, seed, None)
        assert turn == choose_turn(state, level, seed, None)
        later = after(state, turn)
        assert later.is_terminal or (later.turn_number, later.actions_in_turn) == (state.turn_number + 1, 0)
        state = later


@every_level
def test_a_turn_begun_by_somebody_else_is_completed(level: str) -> None:
    state = after(small_start(), choose_turn(small_start(), "random", 4, None)[:1])
    assert len(choose_turn(state, level, 4, None)) == 2


@every_level
def test_different_seeds_give_different_turns(level: str) -> None:
    state = registry.load("virus-wars", {"rows": 6, "cols": 6, "steps": 2, "opening": "edges"}).initial_state()
    assert len({choose_turn(state, level, seed, None) for seed in range(40)}) > 1


def test_one_seed_gives_new_random_numbers_every_turn() -> None:
    state = registry.load("virus-wars", {"rows": 19, "cols": 19, "steps": 1, "opening": "edges"}).initial_state()
    pairs = set()
    for seed in range(40):
        # The right column offers the second player as many cells as the left one offered the first.
        turn = choose_turn(state, "random", seed, None)
        answered = after(state, turn)
        pairs.add((turn[0] // 19, choose_turn(answered, "random", seed, None)[0] // 19))
    assert any(first != second for first, second in pairs)


def test_random_gives_all_actions_equal_chances() -> None:
    state = registry.load("virus-wars", {"rows": 4, "cols": 4, "steps": 1}).initial_state()
    counts = Counter(choose_turn(state, "random", seed, None)[0] for seed in range(3000))
    assert sorted(counts) == list(state.legal_actions())
    # Three actions, 1000 expected each, standard deviation 26.
    assert all(850 < count < 1150 for count in counts.values())


def test_without_time_the_deep_level_still_answers_a_whole_turn() -> None:
    state = registry.load("virus-wars", {"rows": 19, "cols": 19, "steps": 9}).initial_state()
    assert len(choose_turn(state, "minimax-3", 1, 0)) == 9


@pytest.mark.parametrize("game", sorted(SEARCH_LEVELS))
def test_levels_look_further_and_further_within_two_seconds(game: str) -> None:
    levels = SEARCH_LEVELS[game]
    assert [level.name for level in levels] == ["easy", "medium", "hard", "expert"]
    assert all(near.max_nodes * 4 <= far.max_nodes for near, far in pairwise(levels))
    assert max(level.limit_ms for level in levels) <= 2_000
    assert level_names(game)[-5:-1] == tuple(level.name for level in levels)


@pytest.mark.parametrize("game", sorted(SEARCH_LEVELS))
def test_master_is_the_last_level_of_a_game_and_takes_two_seconds(game: str) -> None:
    level = find_level(game, "master")
    assert level_names(game)[-1] == level.name
    assert level.limit_ms == 2_000


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
    for level in ("easy", "expert", *level_names(game)[-1:]):
        later = state
        for action in choose_turn(state, level, seed=1, budget_ms=1):
            assert later.turn_number == 1
            later = later.apply(action)
        assert later.turn_number == 2


@pytest.mark.parametrize("level", level_names("virus-wars"))
def test_every_level_of_virus_wars_plays_on_the_largest_board(level: str) -> None:
    state, chance = registry.load("virus-wars", {"rows": 30, "cols": 30}).initial_state(), Random(3)
    for _ in range(100):
        state = state.child(chance.choice(state.legal_actions()))
    before = state.turn_number
    for action in choose(state, level, 1, max_nodes=8).actions:
        state = state.apply(action)
    assert state.turn_number > before
