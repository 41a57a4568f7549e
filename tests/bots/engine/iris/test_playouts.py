"""What playouts of Iris see: the cells around a stone, and bridges that were cut."""

from __future__ import annotations

from random import Random

import pytest

from tabuleiro.rules import registry
from tabuleiro.rules.games.iris import Iris, IrisState

pytest.importorskip("numba", reason="the kernels need the extra bots")

from tabuleiro_server.bots.engine.iris.board import HEADER, Board, IrisTables, iris_tables, pack_iris
from tabuleiro_server.bots.engine.iris.scores import compare_scores, row_sets
from tabuleiro_server.bots.engine.iris.search import bridge_reply, play_out_iris, put_both
from tabuleiro_server.bots.engine.kernels import new_rng


def rejoining_cell(board: Board, tables: IrisTables, stone: int, player: int) -> int:
    """Return the first empty cell beside ``stone`` that lies between two stones of ``player`` beside it, or -1."""
    around = [int(cell) for cell in tables.around[stone]]
    for step in range(1, 7):
        owners = [int(board[HEADER + cell]) for cell in around[step - 1 : step + 2]]
        if owners == [player, -1, player]:
            return around[step]
    return -1


@pytest.mark.parametrize("side", [5, 6, 7, 8])
def test_a_cut_bridge_is_rejoined_wherever_it_is(side: int) -> None:
    game = registry.load("iris", {"side": side})
    assert isinstance(game, Iris)
    tables, replies = iris_tables(game), 0
    for seed in range(20):
        rng, state = Random(seed), game.initial_state()
        assert isinstance(state, IrisState)
        for _ in range(game.board.cell_count // 2):
            actions = [action for action in state.legal_actions() if action != game.pass_action]
            state = state.child(rng.choice(actions))
        board = pack_iris(state)
        sets = row_sets(board, tables)
        for cell in range(game.board.cell_count):
            owner = int(board[HEADER + cell])
            if owner >= 0:
                found = bridge_reply(tables, sets, cell, 1 - owner)
                assert found == rejoining_cell(board, tables, cell, 1 - owner)
                replies += found >= 0
    assert replies > 40


def test_sets_by_row_follow_the_board() -> None:
    game = registry.load("iris")
    assert isinstance(game, Iris)
    tables, board = iris_tables(game), pack_iris(game.initial_state())
    sets = row_sets(board, tables)
    for player, cell in ((0, 45), (1, 0), (1, 90)):
        put_both(board, tables, sets, cell, player)
    assert (sets == row_sets(board, tables)).all()


@pytest.mark.parametrize("side", [5, 6, 7, 8])
def test_playouts_fill_the_board_and_tell_who_wins_by_the_rules(side: int) -> None:
    game = registry.load("iris", {"side": side})
    assert isinstance(game, Iris)
    tables, rng, winners = iris_tables(game), new_rng(side), set[int]()
    for _ in range(40):
        board = pack_iris(game.initial_state())
        result = play_out_iris(board, tables, rng)
        owners = board[HEADER : HEADER + game.board.cell_count].tolist()
        assert set(owners) == {0, 1}
        stones = [sum(1 << cell for cell, owner in enumerate(owners) if owner == player) for player in (0, 1)]
        black, white = (
            sorted(((part & game.board.rim).bit_count() for part in game.board.components(each)), reverse=True)
            for each in stones
        )
        assert result == compare_scores(board, tables) == (1 if black > white else -1)
        winners.add(result)
    assert winners == {1, -1}
