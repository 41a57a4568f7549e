"""The kernels of Virus Wars against the rules package: random games of many option sets, action by action."""

from __future__ import annotations

import random
from itertools import count

import pytest

from tabuleiro.rules import perft, registry
from tabuleiro.rules.games.virus_wars import VirusWars, VirusWarsState

pytest.importorskip("numba", reason="the extra `bots` is not installed, so there are no kernels")

import numpy as np

from tabuleiro_server.bots.engine.virus_wars import board as kernels

OPTION_SETS = (
    {},
    {"rows": 10, "cols": 10, "steps": 3, "opening": "edges"},
    {"rows": 4, "cols": 4, "steps": 3, "opening": "edges", "first_turn_steps": 1},
    {"rows": 4, "cols": 19, "steps": 1},
    {"rows": 19, "cols": 4, "steps": 2, "first_turn_steps": 1},
    {"rows": 19, "cols": 19, "steps": 9},
    {"rows": 7, "cols": 6, "steps": 4, "opening": "edges"},
    {"rows": 5, "cols": 5, "steps": 9, "first_turn_steps": 2},
    {"rows": 4, "cols": 4, "steps": 3, "opening": "edges", "first_virus": "free"},
    {"rows": 5, "cols": 4, "steps": 2, "opening": "edges", "first_virus": "free", "first_turn_steps": 1},
    {"rows": 8, "cols": 9, "steps": 1, "opening": "edges", "first_virus": "free"},
)


def game_of(options: dict[str, int | str]) -> VirusWars:
    game = registry.load("virus-wars", options)
    assert isinstance(game, VirusWars)
    return game


def assert_equal_along_a_random_game(game: VirusWars, rng: random.Random, boards_every: int = 1) -> None:
    """Whole boards are compared after every ``boards_every`` actions, legal actions always."""
    tables, state = kernels.virus_wars_tables(game), game.initial_state()
    board = kernels.board_of(state, tables)
    for ply in count():
        assert kernels.legal_actions(tables, board) == state.legal_actions(), state.to_position()
        assert kernels.count_legal(tables, board) == state.legal_count(), state.to_position()
        if state.is_terminal:
            # Whoever is to move without an action has lost.
            assert state.outcome is not None
            assert int(board[kernels.MOVER]) == 1 - (state.outcome.winner or 0)
            return
        if ply % boards_every == 0:
            assert np.array_equal(board, kernels.board_of(state, tables)), state.to_position()
        action = rng.choice(preferred(state, rng))
        kernels.play(tables, board, kernels.place_of(action, game.board.cols))
        state = state.child(action)


def preferred(state: VirusWarsState, rng: random.Random) -> tuple[int, ...]:
    """Return often only the absorptions, which are rare in random games otherwise."""
    absorptions = tuple(a for a in state.legal_actions() if state.viruses[1 - state.mover] >> a & 1)
    return absorptions if absorptions and rng.random() < 0.5 else state.legal_actions()


@pytest.mark.parametrize("options", OPTION_SETS, ids=repr)
def test_random_games_are_the_same_as_in_the_rules(options: dict[str, int | str]) -> None:
    rng = random.Random(11)
    for _ in range(6):
        assert_equal_along_a_random_game(game_of(options), rng)


@pytest.mark.parametrize(
    "options",
    [{"rows": 30, "cols": 30, "steps": 9}, {"rows": 4, "cols": 30, "steps": 5, "opening": "edges"}],
    ids=repr,
)
def test_a_random_game_on_a_large_board_is_the_same_as_in_the_rules(options: dict[str, int | str]) -> None:
    assert_equal_along_a_random_game(game_of(options), random.Random(13), boards_every=60)


@pytest.mark.slow
@pytest.mark.parametrize("options", OPTION_SETS, ids=repr)
def test_many_random_games_are_the_same_as_in_the_rules(options: dict[str, int | str]) -> None:
    rng = random.Random(12)
    for _ in range(150):
        assert_equal_along_a_random_game(game_of(options), rng)


@pytest.mark.parametrize(
    ("options", "depth"),
    [
        ({}, 5),
        ({"rows": 4, "cols": 4, "steps": 3, "opening": "edges"}, 6),
        ({"rows": 4, "cols": 4, "steps": 3, "opening": "edges", "first_virus": "free"}, 6),
        ({"rows": 4, "cols": 7, "steps": 2}, 5),
    ],
    ids=repr,
)
def test_perft_is_that_of_the_rules(options: dict[str, int | str], depth: int) -> None:
    game = game_of(options)
    tables = kernels.virus_wars_tables(game)
    boards = np.zeros((depth, kernels.BOARD_WORDS), dtype=np.uint64)
    boards[0] = kernels.board_of(game.initial_state(), tables)
    assert kernels.count_sequences(tables, boards, depth) == perft(game.initial_state(), depth)
