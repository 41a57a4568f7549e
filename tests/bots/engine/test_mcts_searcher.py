"""Turns chosen by the searches of Iris and Minefield: legal, whole, repeatable, and within their limits."""

from __future__ import annotations

import time
from random import Random

import pytest

from tabuleiro.errors import BotError
from tabuleiro.rules import State, registry
from tabuleiro_server.bots import engine
from tabuleiro_server.bots.engine.base import Searcher, is_same_turn
from tabuleiro_server.bots.engine.plain_search import PlainSearcher

pytest.importorskip("numba", reason="the kernels need the extra bots")

GAMES = [
    ("iris", {"side": 5}),
    ("iris", {"side": 8}),
    ("minefield", {"size": 5, "rules": "standard"}),
    ("minefield", {"size": 9, "rules": "beginner"}),
]
every_game = pytest.mark.parametrize(("name", "options"), GAMES)


def start(name: str, options: dict[str, int | str]) -> tuple[State, Searcher]:
    game = registry.load(name, options)
    return game.initial_state(), engine.searcher(game)


def after(state: State, actions: tuple[int, ...]) -> State:
    """Return the state after ``actions``, which must be exactly the rest of the turn."""
    later = state
    for action in actions:
        assert later == state or is_same_turn(state, later)
        later = later.apply(action)
    assert not is_same_turn(state, later)
    return later


@every_game
def test_games_of_whole_legal_turns_reach_the_end(name: str, options: dict[str, int | str]) -> None:
    state, search = start(name, options)
    while not state.is_terminal:
        result = search.choose_turn(state, max_nodes=30, deadline_s=None, seed=5)
        assert -1.0 <= result.value <= 1.0
        assert result.nodes <= 31
        assert result.lines[0][: len(result.actions)] == result.actions
        state = after(state, result.actions)


@every_game
def test_the_same_seed_and_nodes_choose_the_same_turn(name: str, options: dict[str, int | str]) -> None:
    state, search = start(name, options)
    results = [search.choose_turn(state, max_nodes=300, deadline_s=None, seed=seed) for seed in (1, 2, 1)]
    assert results[0] == results[2]
    assert results[0] != results[1]
    # A searcher keeps nothing of an earlier search.
    assert (
        engine.searcher(registry.load(name, options)).choose_turn(state, max_nodes=300, deadline_s=None, seed=2)
        == results[1]
    )


def test_a_deadline_that_is_far_changes_nothing() -> None:
    state, search = start("iris", {"side": 6})
    results = [
        search.choose_turn(state, max_nodes=3_000, deadline_s=deadline_s, seed=6)
        for deadline_s in (None, time.monotonic() + 3_600)
    ]
    assert results[0] == results[1]


@every_game
def test_lines_are_legal_to_their_ends(name: str, options: dict[str, int | str]) -> None:
    state, search = start(name, options)
    for _ in range(3):
        result = search.choose_turn(state, max_nodes=500, deadline_s=None, seed=8)
        assert len({line[: len(result.actions)] for line in result.lines}) == len(result.lines)
        for line in result.lines:
            later = state
            for action in line:
                later = later.apply(action)
        state = after(state, result.actions)


def test_a_deadline_that_has_passed_still_gives_a_turn() -> None:
    state, search = start("minefield", {"size": 19})
    result = search.choose_turn(state, max_nodes=None, deadline_s=time.monotonic() - 1, seed=0)
    after(state, result.actions)
    assert result.nodes < 1000


def test_a_turn_begun_is_completed() -> None:
    begun, search = start("iris", {"side": 5})
    begun = begun.apply(begun.string_to_action("e5")).apply(begun.string_to_action("c3"))
    result = search.choose_turn(begun, max_nodes=200, deadline_s=None, seed=0)
    assert len(result.actions) == 1
    after(begun, result.actions)


@pytest.mark.parametrize("is_plain", [True, False])
def test_no_limit_and_no_game_left_are_refused(is_plain: bool) -> None:
    state, search = start("minefield", {"size": 5, "rules": "beginner"})
    search = PlainSearcher() if is_plain else search
    with pytest.raises(BotError, match="needs a limit"):
        search.choose_turn(state, max_nodes=None, deadline_s=None, seed=0)
    with pytest.raises(BotError, match="needs a limit"):
        next(search.analyse(state, candidate_count=1, max_nodes=None, deadline_s=None, seed=0))
    random = Random(1)
    while not state.is_terminal:
        state = state.apply(random.choice(state.legal_actions()))
    with pytest.raises(BotError, match="the game is over"):
        search.choose_turn(state, max_nodes=1, deadline_s=None, seed=0)
    with pytest.raises(BotError, match="the game is over"):
        next(search.analyse(state, candidate_count=1, max_nodes=1, deadline_s=None, seed=0))


def test_games_without_a_search_are_named() -> None:
    missing = [name for name in registry.names() if name not in engine.SEARCHED_GAMES]
    for name in missing:
        with pytest.raises(BotError, match="there is no search for"):
            engine.searcher(registry.load(name))
