"""Explanations of every kind of level, and their texts."""

from __future__ import annotations

from typing import Any

import pytest

from tabuleiro.errors import BotError
from tabuleiro.protocol.messages import ExplainedTerm, ExplainedTurn, Explanation
from tabuleiro.rules import registry
from tabuleiro_client.text.explanation import explanation_lines
from tabuleiro_server.bots.explanation import explain
from tabuleiro_server.bots.greedy import best_iris_turns
from tabuleiro_server.bots.levels import choose, level_names

OPTIONS: dict[str, dict[str, int | str]] = {
    "virus-wars": {"rows": 4, "cols": 4, "steps": 2},
    "xero-g": {"setup": "random", "seed": 3},
    "iris": {"side": 5},
    "minefield": {"size": 5},
}


def start(game: str, **options: int | str) -> Any:
    return registry.load(game, {**OPTIONS[game], **options}).initial_state()


@pytest.mark.parametrize("game", OPTIONS)
@pytest.mark.parametrize("place", [0, 1])
def test_the_first_candidate_is_one_that_the_level_chooses(game: str, place: int) -> None:
    state = start(game)
    level = level_names(game)[place]
    found = explain(state, level, 1_000)
    assert (found.level, found.player, found.position) == (level, 0, state.to_position())
    best = {turn.actions[0] for turn in found.turns if turn.value == found.turns[0].value}
    chosen = state.action_to_string(choose(state, level, 7).actions[0])
    assert chosen in best
    assert [turn.value for turn in found.turns] == sorted((turn.value for turn in found.turns), reverse=True)


def test_terms_add_up_to_values() -> None:
    for game, level in (
        ("virus-wars", "alpha-beta depth=2 weights=1,-1"),
        ("xero-g", "greedy"),
        ("iris", "greedy"),
    ):
        found = explain(start(game), level, 30)
        assert found.unit == "evaluation"
        for turn in found.turns:
            assert sum(term.measure * term.weight for term in turn.terms) == turn.value
        assert found.terms


def test_the_whole_turns_of_iris_are_ranked_as_its_greedy_player_ranks_them() -> None:
    state = start("iris")
    for text in ("e5", "a1"):
        state = state.apply(state.string_to_action(text))
    found = explain(state, "greedy", 3)
    best = [tuple(state.action_to_string(action) for action in turn) for turn in best_iris_turns(state)]
    assert found.turns[0].actions in best


def test_a_forced_end_is_told_as_such() -> None:
    state = start("virus-wars", position="x.../.o../..../.... 0 1")
    found = explain(state, "minimax-1")
    assert (found.turns[0].actions, found.turns[0].value, found.turns[0].is_proven) == (("b2",), 100, True)
    assert found.turns[0].terms == ()
    assert "1. b2  wins (100)" in "\n".join(explanation_lines(state.game, found))


def test_searches_tell_their_depth_nodes_and_lines() -> None:
    found = explain(start("minefield"), "mcts playouts=40", 3, 60_000)
    assert (found.unit, found.nodes) == ("expectation", 40)
    assert all(turn.line[: len(turn.actions)] == turn.actions for turn in found.turns)
    assert len(found.turns) <= 3


def test_little_time_makes_a_shallow_explanation() -> None:
    found = explain(start("minefield"), "alpha-beta depth=3", 5, 0)
    assert (found.depth, found.turn_count, len(found.turns)) == (1, 25, 5)


def test_an_end_and_an_unknown_level_are_refused() -> None:
    with pytest.raises(BotError, match="nothing to explain"):
        explain(start("virus-wars", position="XXXX/XXxX/XXXX/XXXo 1 1"))
    with pytest.raises(BotError, match="level 'genius'"):
        explain(start("iris"), "genius")


def test_the_text_tells_everything_in_a_line_each() -> None:
    term = ExplainedTerm("own choices", 3, 1)
    turn = ExplainedTurn(("a2",), 5, (ExplainedTerm("own choices", 5, 1),), ("a2", "b2"))
    found = Explanation("minimax-2", "x 0 1", 0, "evaluation", (turn,), 3, (term,), 2, 1_234, 210)
    assert explanation_lines(registry.load("virus-wars"), found) == [
        "minimax-2 for blue, who is to move; values are sums of its terms, for blue",
        "the position: own choices 3 = 3",
        " 1. a2  5: own choices 5 = 5, then b2",
        "    and 2 more",
        "2 actions deep, 1234 positions looked at, 0.21 s",
    ]
