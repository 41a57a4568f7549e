"""Threats to enter a base by patterns, against the targets that the rules find."""

from __future__ import annotations

import random

import pytest

from tabuleiro.ids import PLAYERS, Player
from tabuleiro.rules import registry
from tabuleiro.rules.games.xero_g import XeroGState
from tabuleiro.rules.games.xero_g.moves import BASE_BIT, SIDE, home_row, reach

pytest.importorskip("numba", reason="the extra `bots` is not installed, so there are no kernels")

import numpy as np

from tabuleiro_server.bots.engine.xero_g import board as kernels
from tabuleiro_server.bots.engine.xero_g.targets import new_room
from tabuleiro_server.bots.engine.xero_g.threats import lets_in, new_patterns


def can_enter(ships: bytes, player: Player) -> bool:
    """Return True if ``player`` could enter the base, by the rules alone."""
    occupied = sum(1 << square for square, value in enumerate(ships) if value)
    row = home_row(occupied, player)
    starts = [square for square in range(row * SIDE, row * SIDE + SIDE) if ships[square]]
    return any(reach(ships, occupied ^ 1 << start, player, start) & BASE_BIT for start in starts)


def shuffled_state(seed: int) -> XeroGState:
    """Return a position with the twelve ships anywhere; half of them crowded into few rows."""
    rng = random.Random(seed)
    squares = rng.sample(range(6 * rng.randrange(2), 36 - 6 * rng.randrange(3)), 12)
    ships = ["0"] * 36
    for square, value in zip(squares, "111122223333", strict=True):
        ships[square] = value
    rows = ["".join(ships[row * 6 : row * 6 + 6]) for row in reversed(range(6))]
    game = registry.load("xero-g", {"position": f"{'/'.join(rows)} {rng.randrange(2)}"})
    state = game.initial_state()
    assert isinstance(state, XeroGState)
    return state


def test_who_could_enter_is_told_as_by_the_rules_in_any_position() -> None:
    room, patterns, counts = new_room(), new_patterns(), [0, 0]
    for seed in range(1_500):
        state = shuffled_state(seed)
        position = kernels.position_of(state)
        for player in PLAYERS:
            enters = can_enter(state.ships, player)
            # Twice: then a pattern is there, if one of another position did not hold before.
            assert lets_in(position, player, room, patterns) == enters, state.to_position()
            assert lets_in(position, player, room, patterns) == enters, state.to_position()
            counts[enters] += 1
    assert min(counts) > 500


def test_actions_that_let_the_opponent_in_are_told_as_by_listing_all_their_targets() -> None:
    room, patterns, moves = new_room(), new_patterns(), np.zeros(kernels.MAX_MOVES, dtype=np.int32)
    for seed in range(60):
        position = kernels.position_of(shuffled_state(seed))
        mover = int(position[kernels.MOVER])
        for move in moves[: kernels.list_moves(position, room, moves)].copy():
            child = position.copy()
            kernels.play_move(child, move)
            if child[kernels.WINNER] < 0:
                expected = kernels.can_enter(child, 1 - mover, room)
                assert lets_in(child, 1 - mover, room, patterns) == expected
