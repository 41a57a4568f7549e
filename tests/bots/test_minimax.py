"""The minimax players against a plain, full-width minimax that is written for reading."""

from __future__ import annotations

from random import Random

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tabuleiro.ids import Player
from tabuleiro.rules import registry
from tabuleiro.rules.games.virus_wars import VirusWarsState
from tabuleiro_server.bots.engine.base import ThinkingTime
from tabuleiro_server.bots.minimax import best_actions, choose_action, highest_after, lowest_after, mobility

UNLIMITED = ThinkingTime(float("inf"))


OPENINGS: tuple[dict[str, int | str], ...] = (
    {"opening": "corners"},
    {"opening": "edges"},
    {"opening": "edges", "first_virus": "free"},
)


def start(**options: int | str) -> VirusWarsState:
    state = registry.load("virus-wars", options).initial_state()
    assert isinstance(state, VirusWarsState)
    return state


def plain_value(state: VirusWarsState, player: Player, depth: int) -> int:
    if state.outcome is not None:
        return 100 if state.outcome.winner == player else -100
    if depth == 0:
        return state.accessible_to(player).bit_count()
    values = [plain_value(state.child(action), player, depth - 1) for action in state.legal_actions()]
    return max(values) if state.to_move == player else min(values)


def plain_best_actions(state: VirusWarsState, depth: int) -> tuple[int, ...]:
    values = {action: plain_value(state.child(action), state.mover, depth - 1) for action in state.legal_actions()}
    return tuple(action for action, value in values.items() if value == max(values.values()))


@st.composite
def positions(draw: st.DrawFn) -> VirusWarsState:
    """Return a position before the end of a random playout on a small board."""
    rows, cols = draw(st.integers(4, 5)), draw(st.integers(4, 5))
    state = start(
        rows=rows,
        cols=cols,
        steps=draw(st.integers(1, 3)),
        **draw(st.sampled_from(OPENINGS)),
    )
    rng = Random(draw(st.integers(0, 10**6)))
    for _ in range(draw(st.integers(0, rows * cols + 8))):
        later = state.child(rng.choice(state.legal_actions()))
        if later.is_terminal:
            break
        state = later
    return state


@settings(max_examples=150)
@given(state=positions(), depth=st.integers(1, 3))
def test_best_actions_are_those_of_the_plain_search(state: VirusWarsState, depth: int) -> None:
    assert best_actions(state, depth, UNLIMITED) == plain_best_actions(state, depth)


@settings(max_examples=10)
@given(state=positions())
def test_best_actions_four_deep_are_those_of_the_plain_search(state: VirusWarsState) -> None:
    assert best_actions(state, 4, UNLIMITED) == plain_best_actions(state, 4)


@settings(max_examples=300)
@given(state=positions())
def test_extremes_after_one_action_are_those_of_the_states_made(state: VirusWarsState) -> None:
    children = [state.child(action) for action in state.legal_actions()]
    mover, other = state.mover, 1 - state.mover
    assert highest_after(state) == max(mobility(child, mover) for child in children)
    assert lowest_after(state) == min(mobility(child, 0 if other == 0 else 1) for child in children)


def test_small_boards_have_ties_and_each_tied_action_is_drawn() -> None:
    state = start(rows=4, cols=4, steps=3, position=".ooo/x.../x.../xx.. 1 1")
    best = best_actions(state, 3, UNLIMITED)
    assert best == plain_best_actions(state, 3)
    assert best is not None
    assert len(best) == 3
    assert {choose_action(state, 3, Random(seed), UNLIMITED)[0] for seed in range(60)} == set(best)


@pytest.mark.parametrize(
    ("depth", "position", "best", "best_of_flipped"),
    [
        (2, "..oo/..Xo/...x/xxx. 0 2", ["c1", "d2"], ["b1", "b2"]),
        (3, "oooo/.ox./xxx./xxx. 1 2", ["c2", "b3"], ["c3"]),
    ],
)
def test_the_mover_maximises_again_in_mid_turn(
    depth: int, position: str, best: list[str], best_of_flipped: list[str]
) -> None:
    # One action of three is made. A search that takes every second action for the opponent's chooses others.
    state = start(rows=4, cols=4, steps=3, position=position)
    assert state.actions_in_turn == 1

    def flipped_value(later: VirusWarsState, depth: int, is_own: bool) -> int:
        if depth == 0 or later.is_terminal:
            return plain_value(later, state.mover, 0)
        values = [flipped_value(later.child(action), depth - 1, not is_own) for action in later.legal_actions()]
        return max(values) if is_own else min(values)

    flipped = {action: flipped_value(state.child(action), depth - 1, False) for action in state.legal_actions()}
    highest = max(flipped.values())
    assert [state.action_to_string(action) for action in best_actions(state, depth, UNLIMITED) or ()] == best
    assert [state.action_to_string(action) for action in flipped if flipped[action] == highest] == best_of_flipped


def test_a_win_in_the_last_action_of_the_turn_is_found() -> None:
    # Absorbing the last virus of red leaves red without an action.
    state = start(rows=4, cols=4, steps=2, position="x.../.o../..../.... 0 1")
    winning = state.string_to_action("b2")
    assert best_actions(state, 1, UNLIMITED) == (winning,)
    assert best_actions(state, 3, UNLIMITED) == (winning,)


def test_when_the_time_is_over_one_action_deep_decides() -> None:
    state = start(rows=5, cols=5, steps=3)
    over = ThinkingTime(0)
    assert best_actions(state, 3, over) is None
    shallow = best_actions(state, 1, over)
    assert shallow is not None
    assert choose_action(state, 3, Random(5), over)[0] in shallow
