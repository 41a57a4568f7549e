"""The neighbourhood of cells: bans told by patterns, mirror images, distances, and full boards."""

from __future__ import annotations

from random import Random

import pytest

from tabuleiro.rules import registry
from tabuleiro.rules.games.minefield import Minefield, MinefieldState

pytest.importorskip("numba", reason="the kernels need the extra bots")


from tabuleiro_server.bots.engine.kernels import new_rng
from tabuleiro_server.bots.engine.minefield.board import (
    EMPTY,
    HEADER,
    Board,
    MinefieldTables,
    is_banned,
    minefield_tables,
    pack_minefield,
)
from tabuleiro_server.bots.engine.minefield.master import fill_board, joins_edges
from tabuleiro_server.bots.engine.minefield.patterns import (
    BANNED,
    MAYBE_BANNED,
    PATTERN_COUNT,
    look_around,
    measure_distances,
    mirror_table,
    new_look,
    note_stone,
    shortest_chain,
)


def game_of(size: int, **options: str) -> Minefield:
    game = registry.load("minefield", {"size": size, **options})
    assert isinstance(game, Minefield)
    return game


def random_state(game: Minefield, seed: int, plies: int) -> MinefieldState:
    rng, state = Random(seed), game.initial_state()
    for _ in range(plies):
        if state.is_terminal:
            break
        state = state.child(rng.choice(state.legal_actions()))
    return state


def empty_cells(board: Board, tables: MinefieldTables) -> list[int]:
    return [int(cell) for cell in tables.cell_of if board[HEADER + cell] == EMPTY]


@pytest.mark.parametrize("seed", range(8))
def test_patterns_tell_bans_or_that_a_closer_look_is_needed(seed: int) -> None:
    game = game_of(9)
    tables, look = minefield_tables(game), new_look(9)
    board = pack_minefield(random_state(game, seed, 10 + 7 * seed), tables)
    look_around(board, tables, look)
    for cell in empty_cells(board, tables):
        for player in (0, 1):
            told = int(look.bans[look.around[cell]]) >> player
            if told & BANNED or not told & MAYBE_BANNED:
                assert is_banned(board, tables, cell, player) == bool(told & BANNED)


def test_patterns_stay_up_to_date_stone_by_stone() -> None:
    game = game_of(7)
    tables, look, fresh = minefield_tables(game), new_look(7), new_look(7)
    rng, state = Random(2), game.initial_state()
    look_around(pack_minefield(state, tables), tables, look)
    while not state.is_terminal:
        action, mover = rng.choice(state.legal_actions()), state.mover
        state = state.child(action)
        note_stone(look, int(tables.cell_of[action]), mover)
        look_around(pack_minefield(state, tables), tables, fresh)
        assert (look.around[tables.cell_of] == fresh.around[tables.cell_of]).all()


def test_mirror_images_and_the_same_for_the_other_player_are_one_pattern() -> None:
    mirror = mirror_table()
    # From the right on, in a circle downwards: a stone of player 0 to the right, then one to the left.
    assert mirror[0, 1] == mirror[0, 1 << 8]
    # A stone of player 1 below is to player 1 what one of player 0 to the right is to player 0.
    assert mirror[1, 2 << 4] == mirror[0, 1]
    assert mirror[0, 1] != mirror[0, 2]
    assert (mirror >= 0).all()
    assert (mirror < PATTERN_COUNT).all()


def distance_of(position: str, player: int) -> int:
    size = position.count("/") + 1
    game = registry.load("minefield", {"size": size, "position": position})
    assert isinstance(game, Minefield)
    tables, look = minefield_tables(game), new_look(size)
    board = pack_minefield(game.initial_state(), tables)
    for edge in (0, 1):
        measure_distances(board, tables, look, player, edge)
    return int(shortest_chain(tables, look, player))


@pytest.mark.parametrize(
    ("position", "player", "stones"),
    [
        ("...../...../...../...../..... 0", 0, 5),
        ("..b../..b../...../..b../..b.. 1", 0, 1),
        # Over a corner that nobody can cut off.
        (".b.../.b.../..b../..b../..... 1", 0, 1),
        ("b..../...../wwww./...../..... 0", 1, 1),
        ("b..../...../wwww./...../..... 0", 0, 5),
    ],
)
def test_a_chain_is_as_long_as_the_stones_it_lacks(position: str, player: int, stones: int) -> None:
    assert distance_of(position, player) == stones


@pytest.mark.parametrize("rules", ["standard", "beginner"])
def test_a_full_board_has_the_winner_that_the_rules_had_before(rules: str) -> None:
    game = game_of(7, rules=rules)
    tables, look = minefield_tables(game), new_look(7)
    for seed in range(40):
        rng, state = Random(seed), game.initial_state()
        while not state.is_terminal:
            before = state
            state = state.child(rng.choice(state.legal_actions()))
        if state.outcome is None or state.outcome.winner is None:
            continue
        board = pack_minefield(state, tables)
        look_around(board, tables, look)
        assert fill_board(board, tables, look, new_rng(seed)) == state.outcome.winner
        board = pack_minefield(before, tables)
        look_around(board, tables, look)
        winner = fill_board(board, tables, look, new_rng(seed))
        seen = look.distances[0].copy()
        joined = [joins_edges(board, tables, player, look.queue, seen) for player in (0, 1)]
        assert joined == [winner == 0, winner == 1]
