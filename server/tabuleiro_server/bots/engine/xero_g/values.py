"""Estimates of positions of Xero-G, as kernels: the weighted sum of *features*.

The weights are data, so that other weights need no other kernels.
"""

from __future__ import annotations

from typing import Final

from tabuleiro.rules.games.xero_g.moves import SIDE, SQUARE_COUNT
from tabuleiro_server.bots.engine.alpha_beta import ESTIMATE_LIMIT, WIN
from tabuleiro_server.bots.engine.kernels import Array, count_bits, kernel, lean_kernel
from tabuleiro_server.bots.engine.xero_g.board import MOVER, home_ships
from tabuleiro_server.bots.engine.xero_g.geometry import BASE_BIT, FULL, ONES, ROW, Ints
from tabuleiro_server.bots.engine.xero_g.targets import Room, bound_targets, find_targets

FEATURE_NAMES: Final = (
    "being the mover",
    "ships of the mover that can move",
    "targets of the mover",
    "ships that the mover can land on",
    "rows between the mover and their home row",
    "ships of value 3 on the mover's home row",
    "ships of the opponent that can move",
    "targets of the opponent",
    "ships that the opponent can land on",
    "rows between the opponent and their home row",
    "ships of value 3 on the opponent's home row",
    "ships by which the opponent threatens to enter the base",
    "whether there are any",
)
FEATURE_COUNT: Final = len(FEATURE_NAMES)
_OF_A_PLAYER: Final = 5


@kernel
def find_features(position: Ints, room: Room, features: Array) -> int:
    """Put the features of a position, which nobody has won, into ``features``; return 0.

    Return 1 if the mover can enter the base, and -1 if they have no move; the features are not complete then.
    """
    mover = int(position[MOVER])
    occupied = position[ONES] | position[ONES + 1] | position[ONES + 2]
    features[:] = 0.0
    features[0] = 1.0
    for side in range(2):
        player = mover if side == 0 else 1 - mover
        first = 1 + _OF_A_PLAYER * side
        ships = home_ships(position, player)
        features[first + 3] = _rows_to(ships, player)
        features[first + 4] = count_bits(ships & position[ONES + 2])
        while ships:
            start = ships & -ships
            ships ^= start
            targets = find_targets(position, player, start, room)
            if targets & BASE_BIT:
                if side == 0:
                    return 1
                features[11] += 1.0
                features[12] = 1.0
            if targets:
                features[first] += 1.0
                features[first + 1] += count_bits(targets & ~occupied)
                features[first + 2] += count_bits(targets & occupied & ~start)
        if side == 0 and features[first] == 0.0:
            return -1
    return 0


@kernel
def _rows_to(ships: int, player: int) -> int:
    """Return the number of rows between ``player`` and the row of ``ships``."""
    rows, row = 0, (1 << SIDE) - 1
    while ships & row == 0:
        row <<= SIDE
        rows += 1
    return rows if player == 0 else SIDE - 1 - rows


@kernel
def estimate(position: Ints, room: Room, weights: Array, features: Array) -> int:
    """Return the value of a position for the mover: :data:`WIN` - 1 or -:data:`WIN` if plain, else an estimate."""
    plain = find_features(position, room, features)
    if plain == 1:
        return WIN - 1
    if plain == -1:
        return -WIN
    value = 0.0
    for index in range(FEATURE_COUNT):
        value += weights[index] * features[index]
    return int(min(max(value, -ESTIMATE_LIMIT), ESTIMATE_LIMIT))


@lean_kernel
def look_at(position: Ints, room: Room, weights: Array) -> tuple[int, bool, bool]:
    """Return an estimate as :func:`estimate` does, and if the mover and if the other might enter the base.

    Where one of the two is False, that player cannot; True needs a closer look. The estimate is for positions in
    which the mover cannot. Targets that only edges put out of reach are counted too: that is four times as fast,
    and the difference small.
    """
    mover = int(position[MOVER])
    occupied = position[ONES] | position[ONES + 1] | position[ONES + 2]
    value = weights[0]
    reached_by_mover = reached = 0
    for side in range(2):
        player = mover if side == 0 else 1 - mover
        goal = ROW if player else ROW << SQUARE_COUNT - SIDE
        first = 1 + 5 * side
        ships = home_ships(position, player)
        row, rows = ROW if player == 0 else ROW << SQUARE_COUNT - SIDE, 0
        while ships & row == 0:
            row = row << SIDE if player == 0 else row >> SIDE
            rows += 1
        value += weights[first + 3] * rows + weights[first + 4] * count_bits(ships & position[ONES + 2])
        reached_by_mover, reached, entering = reached, 0, 0
        while ships:
            start = ships & -ships
            ships ^= start
            others = occupied ^ start
            targets = bound_targets(position, start, others, goal, room)
            if targets:
                reached |= targets
                value += weights[first]
                value += weights[first + 1] * count_bits(targets & FULL & ~occupied)
                value += weights[first + 2] * count_bits(targets & others)
                if targets & BASE_BIT:
                    entering += 1
        if side == 1 and entering:
            value += weights[11] * entering + weights[12]
    value = min(max(value, -ESTIMATE_LIMIT), ESTIMATE_LIMIT)
    return int(value), reached_by_mover & BASE_BIT != 0, reached & BASE_BIT != 0
