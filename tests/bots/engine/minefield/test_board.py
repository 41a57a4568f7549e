"""The kernels of Minefield beside the rules package."""

from __future__ import annotations

from random import Random

import pytest

from tabuleiro.rules import perft, registry
from tabuleiro.rules.games.minefield import Minefield, MinefieldState

pytest.importorskip("numba", reason="the kernels need the extra bots")

import numpy as np

from tabuleiro_server.bots.engine.minefield import board as kernels
from tabuleiro_server.bots.engine.minefield.board import IS_OVER, MOVER, WINNER, Board, MinefieldTables


def load(size: int, rules: str) -> tuple[MinefieldState, MinefieldTables]:
    game = registry.load("minefield", {"size": size, "rules": rules})
    assert isinstance(game, Minefield)
    return game.initial_state(), kernels.minefield_tables(game)


def legal(board: Board, tables: MinefieldTables) -> list[int]:
    out = np.empty(len(tables.cell_of), dtype=np.int16)
    found = kernels.list_minefield(board, tables, out)
    assert found == kernels.count_minefield(board)
    return np.flatnonzero(np.isin(tables.cell_of, out[:found])).tolist()


def assert_same(state: MinefieldState, board: Board, tables: MinefieldTables) -> None:
    """Compare all that rules and kernels know of a position."""
    for either in (board, kernels.pack_minefield(state, tables)):
        assert legal(either, tables) == list(state.legal_actions())
        assert bool(either[IS_OVER]) == state.is_terminal
        winner = None if state.outcome is None else state.outcome.winner
        assert either[WINNER] == (-1 if winner is None else winner)
        if state.to_move is not None:
            assert either[MOVER] == state.to_move


def play_side_by_side(size: int, rules: str, random: Random) -> list[MinefieldState]:
    """Play a random game to its end and return the states it went through."""
    state, tables = load(size, rules)
    board = kernels.pack_minefield(state, tables)
    states = [state]
    while not state.is_terminal:
        # Packing a big board takes long, and the bans hang together: a fault is still there an action later.
        if size < 10 or random.random() < 0.2:
            assert_same(state, board, tables)
        action = random.choice(state.legal_actions())
        joins = kernels.would_join(board, tables, tables.cell_of[action], state.to_move)
        state = state.apply(action)
        assert joins == (state.outcome is not None and state.outcome.winner is not None)
        kernels.play_minefield(board, tables, tables.cell_of[action])
        states.append(state)
    assert_same(state, board, tables)
    return states


@pytest.mark.parametrize("rules", ["standard", "beginner"])
@pytest.mark.parametrize("size", [5, 6, 7, 8, 10, 13, 16, 19])
def test_random_games_agree_action_by_action_on_every_board(size: int, rules: str) -> None:
    random = Random(size)
    for _ in range(max(1, 40 // size)):
        play_side_by_side(size, rules, random)


@pytest.mark.parametrize("seed", [46, 60, 64])
def test_games_with_a_skip_agree(seed: int) -> None:
    states = play_side_by_side(5, "standard", Random(seed))
    assert any(state.skipped is not None for state in states)


@pytest.mark.parametrize(
    ("size", "rules", "depth"), [(5, "standard", 4), (5, "beginner", 3), (10, "standard", 3), (19, "standard", 2)]
)
def test_perft_is_that_of_the_rules(size: int, rules: str, depth: int) -> None:
    state, tables = load(size, rules)
    board = kernels.pack_minefield(state, tables)
    assert kernels.perft_minefield(board, tables, depth) == perft(state, depth)


@pytest.mark.parametrize("seed", range(4))
def test_perft_agrees_in_the_middle_of_games(seed: int) -> None:
    states = play_side_by_side(6, "standard", Random(seed))
    _, tables = load(6, "standard")
    state = states[len(states) * 2 // 3]
    board = kernels.pack_minefield(state, tables)
    for depth in (1, 2, 3):
        assert kernels.perft_minefield(board, tables, depth) == perft(state, depth)
