"""Iris in random play: invariants, and agreement with a naive second opinion. Source: RULES.md, "Iris"."""

from __future__ import annotations

from random import Random

from hypothesis import given, settings
from hypothesis import strategies as st

from tabuleiro.rules import registry
from tabuleiro.rules.games.iris import IrisState
from tests.bench.naive_iris import NaiveIris


def start(side: int) -> IrisState:
    state = registry.load("iris", {"side": side}).initial_state()
    assert isinstance(state, IrisState)
    return state


@st.composite
def choosers(draw: st.DrawFn) -> Chooser:
    return Chooser(
        Random(draw(st.integers(0, 2**32))),
        pass_rate=draw(st.sampled_from([0.0, 0.05, 0.3])),
        likes_neutral=draw(st.booleans()),
    )


class Chooser:
    """Picks actions at random; some pass often, some fill the neutral cells first, which brings forfeits."""

    def __init__(self, random: Random, pass_rate: float, likes_neutral: bool) -> None:
        self.random = random
        self.pass_rate = pass_rate
        self.likes_neutral = likes_neutral

    def pick(self, state: IrisState) -> int:
        if state.can_pass and self.random.random() < self.pass_rate:
            return state.game.pass_action
        actions = state.legal_actions()
        neutral = [action for action in actions if state.game.neutral >> action & 1]
        return self.random.choice(neutral if self.likes_neutral and neutral else actions)


@settings(max_examples=12)
@given(side=st.sampled_from([5, 5, 6, 7]), chooser=choosers())
def test_random_games_agree_with_the_naive_rules(side: int, chooser: Chooser) -> None:
    state, naive = start(side), NaiveIris(side)
    while True:
        assert [state.action_to_string(action) for action in state.legal_actions()] == naive.legal_texts()
        assert (state.to_move, state.is_terminal) == (naive.to_move, naive.is_over)
        if state.is_terminal:
            break
        action = chooser.pick(state)
        naive = naive.child(state.action_to_string(action))
        state = state.apply(action)
    assert state.outcome is not None
    assert state.outcome.winner == naive.winner
    assert [list(scores) for scores in state.scores()] == naive.scores()


@settings(max_examples=12)
@given(side=st.sampled_from([5, 6, 7, 8]), chooser=choosers())
def test_coloured_cells_are_always_taken_in_opposite_pairs(side: int, chooser: Chooser) -> None:
    state = start(side)
    board = state.game.board
    while not state.is_terminal:
        mover = state.mover
        state = state.child(chooser.pick(state))
        for index in board.perimeter:
            pair = {state.piece_at(index), state.piece_at(board.opposite(index))}
            if state.first in (index, board.opposite(index)):
                assert pair == {"bw"[mover], "."}
            else:
                assert len(pair) == 1


@settings(max_examples=15)
@given(side=st.sampled_from([5, 6]), chooser=choosers(), length=st.integers(0, 91))
def test_scores_agree_with_a_naive_counting(side: int, chooser: Chooser, length: int) -> None:
    state, naive = start(side), NaiveIris(side)
    for _ in range(length):
        if state.is_terminal:
            break
        action = chooser.pick(state)
        naive = naive.child(state.action_to_string(action))
        state = state.child(action)
    view = state.view()
    assert [list(scores) for scores in view.scores or ()] == naive.scores()
    groups = [note for note in view.notes if note.kind == "group"]
    for player in (0, 1):
        coloured = [
            sum(bool(view.cells[index].ground) for index in note.cells) for note in groups if note.owner == player
        ]
        assert coloured == naive.scores()[player]


@settings(max_examples=15)
@given(chooser=choosers())
def test_a_full_board_is_never_a_draw(chooser: Chooser) -> None:
    state = start(5)
    while not state.is_terminal:
        state = state.child(chooser.pick(state))
    assert state.outcome is not None
    if not state.passes:
        assert state.outcome.winner is not None
