"""The kernels of Iris beside the rules package."""

from __future__ import annotations

from random import Random

import pytest

from tabuleiro.rules import perft, registry
from tabuleiro.rules.games.iris import Iris, IrisState

pytest.importorskip("numba", reason="the kernels need the extra bots")

import numpy as np

from tabuleiro_server.bots.engine.iris import board as kernels
from tabuleiro_server.bots.engine.iris.board import HEADER, IS_OVER, MOVER, Board, IrisTables
from tabuleiro_server.bots.engine.iris.scores import compare_scores


def load(side: int) -> tuple[IrisState, IrisTables]:
    game = registry.load("iris", {"side": side})
    assert isinstance(game, Iris)
    return game.initial_state(), kernels.iris_tables(game)


def legal(board: Board, tables: IrisTables) -> list[int]:
    out = np.empty(len(tables.is_rim) + 1, dtype=np.int16)
    found = kernels.list_iris(board, tables, out)
    return sorted(map(int, out[:found]))


def assert_same(state: IrisState, board: Board, tables: IrisTables) -> None:
    """Compare all that rules and kernels know of a position."""
    assert legal(board, tables) == list(state.legal_actions())
    assert bool(board[IS_OVER]) == state.is_terminal
    if not state.is_terminal:
        assert board[MOVER] == state.to_move
    black, white = state.scores()
    assert compare_scores(board, tables) == (black > white) - (black < white)
    # A fresh board means the same as the one played on; the order of its lists does not matter.
    packed = kernels.pack_iris(state)
    stones = slice(HEADER, HEADER + len(tables.is_rim) + 1)
    assert packed[stones].tolist() == board[stones].tolist()
    assert legal(packed, tables) == list(state.legal_actions())


def play_side_by_side(side: int, random: Random, pass_odds: float) -> IrisState:
    state, tables = load(side)
    board = kernels.pack_iris(state)
    assert_same(state, board, tables)
    while not state.is_terminal:
        is_pass = state.can_pass and random.random() < pass_odds
        action = state.game.pass_action if is_pass else random.choice(state.legal_actions())
        state = state.apply(action)
        kernels.play_iris(board, tables, action)
        assert_same(state, board, tables)
    return state


@pytest.mark.parametrize("side", [5, 6, 7, 8])
def test_random_games_agree_action_by_action_on_every_board(side: int) -> None:
    random = Random(side)
    for _ in range(6):
        play_side_by_side(side, random, pass_odds=0.03)


def test_games_that_end_by_passing_agree() -> None:
    ends = [play_side_by_side(5, Random(seed), pass_odds=0.6) for seed in range(12)]
    assert any(end.outcome is not None and end.outcome.winner is None for end in ends)


@pytest.mark.parametrize(("side", "depth"), [pytest.param(5, 3, marks=pytest.mark.slow), (6, 2), (7, 2), (8, 2)])
def test_perft_is_that_of_the_rules(side: int, depth: int) -> None:
    state, tables = load(side)
    assert kernels.perft_iris(kernels.pack_iris(state), tables, depth) == perft(state, depth)


def test_perft_agrees_near_the_end_where_stones_are_forfeited_and_boards_fill() -> None:
    state, tables = load(5)
    random = Random(3)
    while len(state.legal_actions()) > 7 or state.first is not None:
        state = state.apply(
            random.choice([cell for cell in state.legal_actions() if cell != state.game.pass_action])
        )
    board = kernels.pack_iris(state)
    for depth in range(1, 6):
        assert kernels.perft_iris(board, tables, depth) == perft(state, depth)


def test_a_position_in_mid_turn_is_packed_with_its_first_stone() -> None:
    start, tables = load(5)
    state = start.apply(start.string_to_action("e5")).apply(start.string_to_action("a1"))
    assert_same(state, kernels.pack_iris(state), tables)
    assert legal(kernels.pack_iris(state), tables) == [start.string_to_action("i5")]
