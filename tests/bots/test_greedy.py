"""The greedy players against choosing by naive values, and in positions where a person sees what is best."""

from __future__ import annotations

from itertools import zip_longest
from random import Random
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tabuleiro.rules import State, registry
from tabuleiro.rules.base import Termination
from tabuleiro_server.bots.greedy import best_actions, best_iris_turns, connection_lead, ship_progress
from tabuleiro_server.bots.levels import choose_turn, level_names

WEIGHTS = (1, 5, 6, 8, 10, 12, 20)


def start(game: str, **options: int | str) -> Any:
    return registry.load(game, options).initial_state()


def after_random_play(state: Any, seed: int, action_count: int) -> Any:
    """Return a position before the end of a random playout."""
    rng = Random(seed)
    for _ in range(action_count):
        later = state.child(rng.choice(state.legal_actions()))
        if later.is_terminal:
            break
        state = later
    return state


def texts(state: State, actions: tuple[int, ...]) -> list[str]:
    return [state.action_to_string(action) for action in actions]


def ship_value(state: Any, player: int) -> int:
    """Return the value of a Xero-G position, added up from its text."""
    rows, _, *base = state.to_position().split()
    sums = [sum(map(int, row)) for row in rows.split("/")]
    sums = (sums if player == 0 else sums[::-1]) + [int(base[0]) if base else 0]
    return sum(weight * total for weight, total in zip(WEIGHTS, sums, strict=True))


def iris_lead(state: Any, player: int) -> list[int]:
    scores = state.scores()
    lead = [own - other for own, other in zip_longest(scores[player], scores[1 - player], fillvalue=0)]
    return lead + [0] * (50 - len(lead))


@settings(max_examples=30)
@given(
    seed=st.integers(0, 10**6),
    action_count=st.integers(0, 40),
    variant=st.sampled_from(["xero-g", "gyges"]),
    setup=st.sampled_from(["manual", "random"]),
)
def test_xero_g_takes_the_actions_of_the_best_value(
    seed: int, action_count: int, variant: str, setup: str
) -> None:
    state = after_random_play(start("xero-g", variant=variant, setup=setup), seed, action_count)
    values = {action: ship_value(state.child(action), state.to_move) for action in state.legal_actions()}
    best = tuple(action for action in values if values[action] == max(values.values()))
    assert best_actions(state, ship_progress) == best


@settings(max_examples=25)
@given(seed=st.integers(0, 10**6), action_count=st.integers(0, 58))
def test_iris_takes_the_turns_with_the_best_scores(seed: int, action_count: int) -> None:
    state = after_random_play(start("iris", side=5), seed, action_count)
    mover = state.to_move
    leads = {}
    for first in state.legal_actions():
        later = state.child(first)
        if first == state.game.pass_action:
            continue
        if later.turn_number == state.turn_number and not later.is_terminal:
            leads |= {(first, second): iris_lead(later.child(second), mover) for second in later.legal_actions()}
        else:
            leads[(first,)] = iris_lead(later, mover)
    best = tuple(turn for turn in leads if leads[turn] == max(leads.values()))
    is_won_by_passing = state.passes == 1 and iris_lead(state, mover) > [0] * 50
    assert best_iris_turns(state) == (((state.game.pass_action,),) if is_won_by_passing else best)


@pytest.mark.parametrize(
    ("row_a", "mover", "is_passing"),
    [("bb...", 0, True), ("bb...", 1, False), ("ww...", 1, True), ("ww...", 0, False), (".....", 0, False)],
)
def test_iris_answers_a_pass_with_a_pass_only_when_that_wins(row_a: str, mover: int, is_passing: bool) -> None:
    opposite = row_a[::-1]
    rows = [row_a, "......", ".......", "........", "..b...w..", "........", ".......", "......", opposite]
    state = start("iris", side=5, position=f"{'/'.join(rows)} {mover} - 1")
    turn = choose_turn(state, "greedy", 1, None)
    assert (texts(state, turn) == ["pass"]) == is_passing
    if is_passing:
        assert state.apply(turn[0]).outcome.winner == mover


def test_iris_completes_a_turn_that_was_begun() -> None:
    state = start("iris", side=5)
    state = state.apply(state.string_to_action("e5"))
    begun = state.apply(state.string_to_action("a1"))
    assert texts(begun, choose_turn(begun, "greedy", 1, None)) == ["i5"]


@pytest.mark.parametrize("rules", ["standard", "beginner"])
@settings(max_examples=15)
@given(seed=st.integers(0, 10**6), action_count=st.integers(0, 30))
def test_minefield_takes_the_actions_of_the_best_value(rules: str, seed: int, action_count: int) -> None:
    state = after_random_play(start("minefield", size=6, rules=rules), seed, action_count)
    mover = state.to_move
    values = {action: connection_lead(state.child(action), mover) for action in state.legal_actions()}
    best = tuple(action for action in values if values[action] == max(values.values()))
    assert best_actions(state, connection_lead) == best


@pytest.mark.parametrize(
    ("position", "lead"),
    [
        ("...../...../...../...../..... 0", 0),
        ("..b../...../...../...../..... 1", 5 - 4),
        ("w.b.w/..b../w.b.w/..b../..b.. 1", 26 - 0),
        ("wwwww/bbbbb/...../...../..... 0", 0 - 26),
        # Corners do not connect: white still needs a staircase of four, and black cannot cross the diagonal.
        ("wbbbb/.wb../..w../...w./....w 0", 4 - 26),
    ],
)
def test_minefield_counts_the_stones_that_the_players_still_need(position: str, lead: int) -> None:
    state = start("minefield", size=5, rules="beginner", position=position)
    assert connection_lead(state, 0) == lead
    assert connection_lead(state, 1) == -lead


def test_minefield_joins_its_edges_when_one_stone_is_missing() -> None:
    state = start("minefield", size=5, position="w.b../..b../w...w/..b../..b.w 0")
    assert texts(state, choose_turn(state, "greedy", 1, None)) == ["c3"]
    assert state.apply(state.string_to_action("c3")).outcome.winner == 0


@pytest.mark.parametrize(
    ("game", "options"),
    [("xero-g", {}), ("xero-g", {"variant": "gyges"}), ("iris", {}), ("minefield", {"size": 9})],
)
def test_greedy_wins_most_games_against_random(game: str, options: dict[str, int | str]) -> None:
    assert level_names(game)[:2] == ("random", "greedy")
    wins = 0
    for seed in range(6):
        state = start(game, **options)
        while not state.is_terminal:
            turn = choose_turn(state, "greedy" if state.to_move == seed % 2 else "random", seed, None)
            for action in turn:
                state = state.apply(action)
        wins += state.outcome.winner == seed % 2
    assert wins >= 5


def test_two_greedy_bots_of_xero_g_go_in_circles_as_the_rules_page_tells() -> None:
    for seed in range(5, 9):
        state, plies = start("xero-g", setup="random", seed=seed), 0
        while not state.is_terminal:
            for action in choose_turn(state, "greedy", plies, None):
                state = state.child(action)
            plies += 1
        assert state.outcome.termination == Termination.REPETITION
        assert 7 <= plies <= 71
