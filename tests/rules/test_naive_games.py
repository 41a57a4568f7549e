"""Random games played side by side with deliberately naive versions of the rules, kept in tests/bench."""

from __future__ import annotations

from random import Random

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tabuleiro.rules import State, registry
from tabuleiro.rules.games.minefield import MinefieldState
from tests.bench.naive_minefield import NaiveMinefield
from tests.bench.naive_virus_wars import NaiveVirusWars


def play_side_by_side(state: State, naive: NaiveMinefield | NaiveVirusWars, random: Random) -> list[State]:
    """Play a random game to its end and return the states it went through."""
    states = [state]
    while not state.is_terminal:
        texts = [state.action_to_string(action) for action in state.legal_actions()]
        assert texts == naive.legal_texts()
        assert state.to_move == naive.to_move
        assert not naive.is_over
        text = random.choice(texts)
        state, naive = state.apply(state.string_to_action(text)), naive.child(text)
        states.append(state)
    assert naive.is_over
    assert naive.legal_texts() == []
    assert naive.to_move is None
    assert state.outcome is not None
    assert naive.winner == state.outcome.winner
    return states


@settings(max_examples=12)
@given(
    random=st.randoms(use_true_random=False),
    size=st.integers(5, 7),
    rules=st.sampled_from(["standard", "beginner"]),
)
def test_minefield_agrees_with_its_naive_version(random: Random, size: int, rules: str) -> None:
    state = registry.load("minefield", {"size": size, "rules": rules}).initial_state()
    play_side_by_side(state, NaiveMinefield(size, rules), random)


@settings(max_examples=40)
@given(
    random=st.randoms(use_true_random=False),
    rows=st.integers(4, 7),
    cols=st.integers(4, 7),
    steps=st.integers(1, 3),
    opening=st.sampled_from(["corners", "edges", "edges, free"]),
    data=st.data(),
)
def test_virus_wars_agrees_with_its_naive_version(
    random: Random, rows: int, cols: int, steps: int, opening: str, data: st.DataObject
) -> None:
    opening, _, free = opening.partition(", ")
    first = data.draw(st.integers(1, steps))
    options: dict[str, int | str] = {"rows": rows, "cols": cols, "steps": steps, "opening": opening}
    options["first_turn_steps"] = first
    options["first_virus"] = free or "counts"
    play_side_by_side(
        registry.load("virus-wars", options).initial_state(),
        NaiveVirusWars(rows, cols, steps, opening, first, is_first_virus_free=bool(free)),
        random,
    )


@pytest.mark.parametrize("seed", [46, 60, 64])
def test_a_skip_agrees_with_the_naive_version(seed: int) -> None:
    states = play_side_by_side(
        registry.load("minefield", {"size": 5}).initial_state(), NaiveMinefield(5), Random(seed)
    )
    assert any(isinstance(state, MinefieldState) and state.skipped is not None for state in states)
