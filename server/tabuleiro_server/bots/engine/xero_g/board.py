"""Xero-G as kernels: positions, all actions, playing one. Source: RULES.md, "Xero-G".

Tests keep it equal to :mod:`tabuleiro.rules.games.xero_g`. The setup is left out: a position has all its ships.
"""

from __future__ import annotations

from typing import Final

import numpy as np

from tabuleiro.rules.games.xero_g import XeroGState
from tabuleiro.rules.games.xero_g.actions import DROP_COUNT, FIRST_MOVE, NO_DROP, TARGET_COUNT
from tabuleiro.rules.games.xero_g.moves import BASE, SIDE, SQUARE_COUNT
from tabuleiro_server.bots.engine.kernels import Array, count_bits, kernel, lean_kernel, lowest_bit
from tabuleiro_server.bots.engine.xero_g.geometry import BASE_BIT, FULL, ONES, ROW, Ints, value_at
from tabuleiro_server.bots.engine.xero_g.targets import Room, find_targets

MOVER: Final = 3
WINNER: Final = 4
"""The player who has entered a base, -1 for nobody."""
HASH: Final = 5
"""The hash of the ships and the mover; a ship in a base is left out."""
IS_GYGES: Final = 6
POSITION_SIZE: Final = 7

MAX_MOVES: Final = 2048
"""More than any position has: 6 ships, each with 11 ships to land on and 25 squares for those."""

KEYS: Final = np.random.default_rng(2019).integers(0, 2**63, size=(4, SQUARE_COUNT), dtype=np.int64)
"""Hash keys by value - 1 and square; the last row has that of player 1 being the mover."""


def position_of(state: XeroGState) -> Ints:
    """Return the position of a state after the setup."""
    position = np.zeros(POSITION_SIZE, dtype=np.int64)
    for square, value in enumerate(state.ships):
        if value:
            position[ONES + value - 1] |= 1 << square
    position[MOVER] = state.mover
    position[WINNER] = 1 - state.mover if state.base_ship else -1
    position[HASH] = hash_of(state.ships, state.mover)
    position[IS_GYGES] = state.game.is_gyges
    return position


def hash_of(ships: bytes, mover: int) -> int:
    """Return the hash of a position with ``ships`` on the squares."""
    hashed = int(KEYS[3, 0]) if mover else 0
    for square, value in enumerate(ships):
        if value:
            hashed ^= int(KEYS[value - 1, square])
    return hashed


@lean_kernel
def home_ships(position: Ints, player: int) -> int:
    """Return the ships on the home row of ``player``."""
    occupied = position[ONES] | position[ONES + 1] | position[ONES + 2]
    row = ROW if player == 0 else ROW << SQUARE_COUNT - SIDE
    while occupied & row == 0:
        row = row << SIDE if player == 0 else row >> SIDE
    return int(occupied & row)


@lean_kernel
def drop_squares(position: Ints) -> int:
    """Return the squares that the variant leaves for reprogrammed ships, empty or not."""
    if position[IS_GYGES] == 0:
        return FULL
    row = home_ships(position, 1 - position[MOVER])
    if position[MOVER] == 0:
        limit = ROW
        while limit & row == 0:
            limit |= limit << SIDE
        return limit
    limit = ROW << SQUARE_COUNT - SIDE
    while limit & row == 0:
        limit |= limit >> SIDE
    return limit


@lean_kernel
def can_enter(position: Ints, player: int, room: Room) -> bool:
    """Return True if ``player`` could enter the base if it were their turn."""
    ships = home_ships(position, player)
    while ships:
        start = ships & -ships
        ships ^= start
        if find_targets(position, player, start, room) & BASE_BIT:
            return True
    return False


@lean_kernel
def count_moves(position: Ints, room: Room) -> int:
    """Return the number of legal actions of the mover."""
    if position[WINNER] >= 0:
        return 0
    count = 0
    occupied = position[ONES] | position[ONES + 1] | position[ONES + 2]
    drops = drop_squares(position)
    ships = home_ships(position, position[MOVER])
    while ships:
        start = ships & -ships
        ships ^= start
        others = occupied ^ start
        targets = find_targets(position, position[MOVER], start, room)
        count += count_bits(targets & ~others) + count_bits(targets & others) * count_bits(drops & ~others)
    return count


@lean_kernel
def list_moves(position: Ints, room: Room, moves: Array) -> int:
    """Put the legal actions of the mover in ``moves``, ascending as in the rules; return their number."""
    if position[WINNER] >= 0:
        return 0
    count = 0
    occupied = position[ONES] | position[ONES + 1] | position[ONES + 2]
    drops = drop_squares(position)
    ships = home_ships(position, position[MOVER])
    while ships:
        start = ships & -ships
        ships ^= start
        others = occupied ^ start
        targets = find_targets(position, position[MOVER], start, room)
        first = FIRST_MOVE + lowest_bit(start) * TARGET_COUNT * DROP_COUNT
        while targets:
            target = targets & -targets
            targets ^= target
            move = first + lowest_bit(target) * DROP_COUNT
            if target & others == 0:
                moves[count] = move + NO_DROP
                count += 1
                continue
            free = drops & ~others
            while free:
                moves[count] = move + lowest_bit(free)
                count += 1
                free &= free - 1
    return count


@lean_kernel
def play_move(position: Ints, move: int) -> None:
    """Play the legal action ``move``, numbered as in the rules."""
    rest = move - FIRST_MOVE
    drop, rest = rest % DROP_COUNT, rest // DROP_COUNT
    target, start = rest % TARGET_COUNT, rest // TARGET_COUNT
    value = value_at(position, 1 << start) - 1
    position[value] ^= 1 << start
    position[HASH] ^= KEYS[value, start] ^ KEYS[3, 0]
    if target == BASE:
        position[WINNER] = position[MOVER]
    else:
        if drop != NO_DROP:
            dropped = value_at(position, 1 << target) - 1
            position[dropped] ^= 1 << target | 1 << drop
            position[HASH] ^= KEYS[dropped, target] ^ KEYS[dropped, drop]
        position[value] |= 1 << target
        position[HASH] ^= KEYS[value, target]
    position[MOVER] = 1 - position[MOVER]


@kernel
def count_move_sequences(positions: Ints, room: Room, moves: Array, depth: int) -> int:
    """Count the sequences of ``depth`` (1 or more) actions from ``positions[0]``, both having a row for each."""
    if depth == 1:
        return count_moves(positions[0], room)
    count = 0
    for index in range(list_moves(positions[0], room, moves[0])):
        positions[1, :] = positions[0]
        play_move(positions[1], int(moves[0, index]))
        count += count_move_sequences(positions[1:], room, moves[1:], depth - 1)
    return count
