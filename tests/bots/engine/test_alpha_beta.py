"""The searches of Virus Wars and Xero-G: whole turns, repeatable, within limits, and no proof that is none."""

from __future__ import annotations

import time
from typing import Any

import pytest

from tabuleiro.errors import BotError
from tabuleiro.rules import State, registry
from tabuleiro.rules.base import Termination
from tabuleiro.rules.games.xero_g import XeroGState
from tabuleiro_server.bots.engine.base import is_same_turn

pytest.importorskip("numba", reason="the extra `bots` is not installed, so there are no kernels")

from tabuleiro_server.bots import engine

GAMES: tuple[tuple[str, dict[str, Any]], ...] = (
    ("virus-wars", {}),
    ("virus-wars", {"rows": 5, "cols": 7, "steps": 3, "opening": "edges", "first_turn_steps": 1}),
    ("virus-wars", {"rows": 4, "cols": 4, "steps": 2, "opening": "edges", "first_virus": "free"}),
    ("virus-wars", {"rows": 19, "cols": 19, "steps": 9}),
    ("virus-wars", {"rows": 4, "cols": 4, "steps": 1}),
    ("xero-g", {}),
    ("xero-g", {"variant": "gyges", "setup": "random", "seed": 3}),
)
every_game = pytest.mark.parametrize(("name", "options"), GAMES, ids=repr)


def start_of(name: str, **options: int | str) -> State:
    return registry.load(name, options).initial_state()


def chosen(state: State, max_nodes: int | None = 500, deadline_s: float | None = None, seed: int = 1) -> Any:
    search = engine.searcher(state.game)  # type: ignore[attr-defined]
    return search.choose_turn(state, max_nodes=max_nodes, deadline_s=deadline_s, seed=seed)


def after(state: State, actions: tuple[int, ...]) -> State:
    for action in actions:
        state = state.apply(action)
    return state


@every_game
def test_turns_are_whole_legal_and_repeatable(name: str, options: dict[str, Any]) -> None:
    state = start_of(name, **options)
    for turn in range(6):
        if state.is_terminal:
            return
        result = chosen(state, seed=turn)
        assert result == chosen(state, seed=turn)
        later = after(state, result.actions)
        assert not is_same_turn(state, later)
        assert result.lines[0][: len(result.actions)] == result.actions
        assert -1.0 <= result.value <= 1.0
        assert result.is_proven == (abs(result.value) == 1.0)
        state = later


@every_game
def test_a_turn_begun_by_somebody_else_is_completed(name: str, options: dict[str, Any]) -> None:
    state = start_of(name, **options)
    begun = state.apply(state.legal_actions()[0])
    assert not is_same_turn(begun, after(begun, chosen(begun).actions))


@every_game
def test_the_lines_are_legal_to_their_end(name: str, options: dict[str, Any]) -> None:
    state = start_of(name, **options)
    for line in chosen(state, max_nodes=3_000).lines:
        after(state, line)


@every_game
def test_a_deadline_that_has_passed_still_gives_a_turn(name: str, options: dict[str, Any]) -> None:
    state = start_of(name, **options)
    result = chosen(state, max_nodes=None, deadline_s=time.monotonic() - 1)
    assert not is_same_turn(state, after(state, result.actions))


@pytest.mark.parametrize("name", ["virus-wars", pytest.param("xero-g", marks=pytest.mark.slow)])
def test_different_seeds_give_different_turns(name: str) -> None:
    state = start_of(name)
    assert len({chosen(state, seed=seed).actions for seed in range(12)}) > 1


def test_a_search_needs_a_limit_and_a_game_that_goes_on() -> None:
    for name in ("virus-wars", "xero-g"):
        with pytest.raises(BotError, match="limit"):
            chosen(start_of(name), max_nodes=None)
    over = start_of("virus-wars", rows=4, cols=4, position="XXXX/XxXX/XXXX/XXXo 1 1")
    with pytest.raises(BotError, match="over"):
        chosen(over)


def test_a_loss_is_proven_as_a_loss() -> None:
    # Red has two cells left to go to, blue a whole corner: in any case, blue goes on longer.
    state = start_of("virus-wars", rows=4, cols=4, steps=1, position="..xX/.xXX/xXXO/XXo. 1 1")
    result = chosen(state, max_nodes=100_000)
    assert (result.value, result.is_proven) == (-1.0, True)


def test_a_third_repetition_is_a_draw_to_the_search_too() -> None:
    state = start_of("xero-g", setup="random", seed=11)
    assert isinstance(state, XeroGState)
    free = chosen(state, max_nodes=4_000)
    wanted = state.child(free.actions[0])
    # As if the position that was chosen had been on the board twice.
    past = ((wanted.ships, state.ships, wanted.ships), None)
    again = XeroGState(state.game, state.mover, state.ships, state.occupied, 0, 4, past, None)
    outcome = again.child(free.actions[0]).outcome
    assert outcome is not None
    assert outcome.termination is Termination.REPETITION
    bound = chosen(again, max_nodes=4_000)
    assert bound.value >= 0.0
    assert (bound.actions != free.actions) == (bound.value > 0.0)


def test_a_row_of_the_setup_is_no_gift() -> None:
    state = start_of("xero-g")
    for _ in range(2):
        state = after(state, chosen(state, max_nodes=30_000).actions)
    assert not any(state.action_to_string(action).endswith("base") for action in state.legal_actions())
