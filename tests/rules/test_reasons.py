"""What speaks for a turn: threats, threats that it stops, groups it joins, and reach won and taken."""

from __future__ import annotations

from random import Random
from typing import Any

import pytest

from tabuleiro.rules import registry
from tabuleiro.rules.reasons import ReasonKind, reasons_for

MINEFIELD: dict[str, int | str] = {"size": 5, "rules": "beginner"}


def start(game: str, **options: int | str) -> Any:
    return registry.load(game, options).initial_state()


def found(state: Any, *texts: str) -> dict[ReasonKind, int]:
    """Return the kinds of reasons for a turn, with their counts."""
    actions, later = [], state
    for text in texts:
        actions.append(later.string_to_action(text))
        later = later.apply(actions[-1])
    return {reason.kind: reason.count for reason in reasons_for(state, actions)}


def test_a_stone_of_minefield_joins_groups_and_threatens_to_connect_and_the_answer_stops_that() -> None:
    state = start("minefield", **MINEFIELD, position="..b../..b../...../..b../ww.w. 0")
    assert found(state, "c3") == {ReasonKind.THREATENS: 0, ReasonKind.JOINS: 2}
    threatened = state.apply(state.string_to_action("c3"))
    answer = found(threatened, "c5")
    assert ReasonKind.SAVES in answer
    assert answer[ReasonKind.HINDERS] > 0
    assert ReasonKind.SAVES not in found(threatened, "a1")


def test_a_turn_that_ends_the_game_needs_no_reasons() -> None:
    state = start("minefield", **MINEFIELD, position="..b../..b../..b../..b../ww.ww 0")
    assert found(state, "c5") == {}


def test_viruses_that_are_taken_and_cells_in_reach_are_counted() -> None:
    state = start("virus-wars", rows=4, cols=4, steps=1, position="x.../.o../...o/.... 0 1")
    taken = found(state, "b2")
    assert taken[ReasonKind.TAKES] == 1
    later = state.apply(state.string_to_action("b2"))
    assert taken[ReasonKind.HINDERS] == (state.accessible_to(1).bit_count() - later.accessible_to(1).bit_count())
    assert taken[ReasonKind.GAINS] == (later.accessible_to(0).bit_count() - state.accessible_to(0).bit_count())


def test_a_turn_of_iris_tells_the_groups_that_it_joins() -> None:
    joined_count = 0
    for seed in range(20):
        rng, state = Random(seed), start("iris", side=5)
        while not state.is_terminal:
            later, actions = state, list[int]()
            while later.to_move is not None and later.turn_number == state.turn_number:
                actions.append(rng.choice(later.legal_actions()))
                later = later.child(actions[-1])
            reasons = reasons_for(state, actions)
            parts = state.game.board.components
            player = state.mover
            lost_count = len(parts(state.stones[player])) - len(parts(later.stones[player]))
            assert not reasons or reasons[0].kind is ReasonKind.JOINS
            if lost_count > 0 and not later.is_terminal:
                assert reasons
                joined_count += 1
            state = later
    assert joined_count > 20


@pytest.mark.parametrize("variant", ["xero-g", "gyges"])
def test_threats_in_xero_g_are_those_of_the_same_position_with_the_other_player_to_move(variant: str) -> None:
    counts = dict.fromkeys((ReasonKind.SAVES, ReasonKind.THREATENS), 0)

    def could_enter(state: Any, player: int) -> bool:
        turned = start("xero-g", variant=variant, position=f"{state.to_position().split()[0]} {player}")
        return any(turned.action_to_string(action).endswith("base") for action in turned.legal_actions())

    for seed in range(12):
        rng, state = Random(seed), start("xero-g", variant=variant, setup="random", seed=seed)
        for _ in range(8):
            action = rng.choice(state.legal_actions())
            later, player = state.child(action), state.mover
            if later.is_terminal:
                assert reasons_for(state, [action]) == ()
                break
            reasons = {reason.kind for reason in reasons_for(state, [action])}
            assert (ReasonKind.THREATENS in reasons) == could_enter(later, player)
            saves = could_enter(state, 1 - player) and not could_enter(later, 1 - player)
            assert (ReasonKind.SAVES in reasons) == saves
            for kind in counts:
                counts[kind] += kind in reasons
            state = later
    assert all(counts.values())


def test_rows_of_a_setup_have_no_reasons() -> None:
    state = start("xero-g")
    assert reasons_for(state, [state.legal_actions()[0]]) == ()
