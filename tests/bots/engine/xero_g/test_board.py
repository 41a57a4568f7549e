"""The kernels of Xero-G against the rules package: random games of both variants, action by action."""

from __future__ import annotations

import random
from collections.abc import Iterator

import pytest

from tabuleiro.rules import perft, registry
from tabuleiro.rules.games.xero_g import XeroG, XeroGState
from tabuleiro.rules.games.xero_g.actions import Move, action_of
from tabuleiro.rules.games.xero_g.moves import BASE

pytest.importorskip("numba", reason="the extra `bots` is not installed, so there are no kernels")

import numpy as np

from tabuleiro_server.bots.engine.xero_g import board as kernels
from tabuleiro_server.bots.engine.xero_g.targets import new_room

VARIANTS = ("xero-g", "gyges")
MIRROR = "321123/000000/000000/000000/000000/321123 0"
LONGEST_GAME = 60


def game_of(variant: str, **options: int | str) -> XeroG:
    game = registry.load("xero-g", {"variant": variant, **options})
    assert isinstance(game, XeroG)
    return game


def start_of(game: XeroG) -> XeroGState:
    return game.initial_state()


def iter_random_game(variant: str, seed: int) -> Iterator[tuple[XeroGState, int]]:
    """Yield the positions and actions of a random game, which enters a base only if nothing else is left."""
    rng, state = random.Random(seed), start_of(game_of(variant, setup="random", seed=seed))
    for _ in range(LONGEST_GAME):
        actions = state.legal_actions()
        if not actions:
            return
        quiet = [action for action in actions if not enters_base(action)]
        action = rng.choice(quiet or actions)
        yield state, action
        state = state.child(action)


def enters_base(action: int) -> bool:
    move = action_of(action)
    return isinstance(move, Move) and move.target == BASE


def assert_equal_along_a_random_game(variant: str, seed: int) -> None:
    room, moves = new_room(), np.zeros(kernels.MAX_MOVES, dtype=np.int32)
    position = None
    for state, action in iter_random_game(variant, seed):
        if position is None:
            position = kernels.position_of(state)
        assert np.array_equal(position, kernels.position_of(state)), state.to_position()
        count = kernels.list_moves(position, room, moves)
        assert tuple(moves[:count]) == state.legal_actions(), state.to_position()
        assert kernels.count_moves(position, room) == count
        enters = any(enters_base(action) for action in state.legal_actions())
        assert kernels.can_enter(position, state.mover, room) == enters, state.to_position()
        kernels.play_move(position, action)
        assert position[kernels.WINNER] == (state.mover if enters_base(action) else -1)


@pytest.mark.parametrize("variant", VARIANTS)
def test_random_games_are_the_same_as_in_the_rules(variant: str) -> None:
    for seed in range(4):
        assert_equal_along_a_random_game(variant, seed)


@pytest.mark.slow
@pytest.mark.parametrize("variant", VARIANTS)
def test_many_random_games_are_the_same_as_in_the_rules(variant: str) -> None:
    for seed in range(100, 200):
        assert_equal_along_a_random_game(variant, seed)


def test_where_more_ways_lead_than_are_kept_the_same_is_found() -> None:
    roomy, narrow = new_room(), new_room(way_count=40)
    for seed in range(3):
        for state, _ in iter_random_game("xero-g", seed):
            position = kernels.position_of(state)
            assert kernels.count_moves(position, narrow) == kernels.count_moves(position, roomy)


@pytest.mark.parametrize(("variant", "nodes"), [("xero-g", (224, 57_374)), ("gyges", (224, 57_374))])
def test_perft_of_the_mirrored_start(variant: str, nodes: tuple[int, ...]) -> None:
    for depth, expected in enumerate(nodes, start=1):
        assert count_sequences(start_of(game_of(variant, position=MIRROR)), depth) == expected


@pytest.mark.slow
def test_perft_of_the_mirrored_start_three_actions_deep() -> None:
    assert count_sequences(start_of(game_of("gyges", position=MIRROR)), 3) == 16_825_500


@pytest.mark.parametrize("variant", VARIANTS)
def test_perft_of_positions_met_in_play_is_that_of_the_rules(variant: str) -> None:
    for number, (state, _) in enumerate(iter_random_game(variant, seed=77)):
        if number % 15 == 14:
            assert count_sequences(state, 2) == perft(state, 2), state.to_position()


def count_sequences(state: XeroGState, depth: int) -> int:
    positions = np.zeros((depth, kernels.POSITION_SIZE), dtype=np.int64)
    positions[0] = kernels.position_of(state)
    moves = np.zeros((depth, kernels.MAX_MOVES), dtype=np.int32)
    return kernels.count_move_sequences(positions, new_room(), moves, depth)
