"""Xero-G as kernels: positions, where ships can go, all actions, playing one. Source: RULES.md, "Xero-G".

Kept equal to :mod:`tabuleiro.rules.games.xero_g` by tests. The setup is not here: a position has all its ships.
What it is worth is left to ``xero_g_values``, choosing an action to ``xero_g_search``.

A set of squares is a number of 36 bits. A set of edges is two of them: an edge across is named by its left square,
an edge upwards by its lower one.

Longer than other modules: these kernels call each other, and are compiled and read together.
"""

from __future__ import annotations

from typing import Final

import numpy as np

from tabuleiro.rules.games.xero_g import XeroGState
from tabuleiro.rules.games.xero_g_actions import DROP_COUNT, FIRST_MOVE, NO_DROP, TARGET_COUNT
from tabuleiro.rules.games.xero_g_moves import BASE, SIDE, SQUARE_COUNT
from tabuleiro_server.bots.engine.bits import count_bits, lowest_bit
from tabuleiro_server.bots.engine.compiled import Array, kernel

Ints = Array

ONES: Final = 0
"""Where the sets of ships of value 1, 2 and 3 are in a position."""
MOVER: Final = 3
WINNER: Final = 4
"""Who has entered a base, -1 for nobody."""
HASH: Final = 5
"""Of the ships and the mover; a ship in a base is left out."""
IS_GYGES: Final = 6
POSITION_SIZE: Final = 7

MAX_MOVES: Final = 2048
"""More than any position has: 6 ships, each with 11 ships to land on and 25 squares for those."""

_FULL: Final = (1 << SQUARE_COUNT) - 1
_ROW: Final = (1 << SIDE) - 1
_LAST_COLUMN: Final = sum(1 << row * SIDE + SIDE - 1 for row in range(SIDE))
_NOT_LAST: Final = _FULL & ~_LAST_COLUMN
_NOT_FIRST: Final = _FULL & ~(_LAST_COLUMN >> SIDE - 1)
_BASE_BIT: Final = 1 << BASE
_GOALS: Final = (_ROW << SQUARE_COUNT - SIDE, _ROW)

KEYS: Final = np.random.default_rng(2019).integers(0, 2**63, size=(4, SQUARE_COUNT), dtype=np.int64)
"""Hash keys by value - 1 and square; the last row has that of player 1 being the mover."""

Room = Array
"""Working memory for :func:`find_targets`: the ways to go on from, three numbers each, then ends by square."""


_ENDS: Final = 3 * SQUARE_COUNT


def new_room() -> Room:
    """Working memory for kernels."""
    return np.zeros(4 * SQUARE_COUNT, dtype=np.int64)


def position_of(state: XeroGState) -> Ints:
    """The position of a state after the setup."""
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
    """The hash of a position with ``ships`` on the squares."""
    hashed = int(KEYS[3, 0]) if mover else 0
    for square, value in enumerate(ships):
        if value:
            hashed ^= int(KEYS[value - 1, square])
    return hashed


@kernel
def _around(squares: int) -> int:
    """All squares next to any of ``squares``."""
    return (squares & _NOT_LAST) << 1 | (squares & _NOT_FIRST) >> 1 | (squares << SIDE & _FULL) | squares >> SIDE


@kernel
def _open_around(squares: int, across: int, upwards: int) -> int:
    """All squares next to any of ``squares`` over an edge that was not crossed."""
    return (
        (squares & _NOT_LAST & ~across) << 1
        | (squares & _NOT_FIRST) >> 1 & ~across
        | ((squares & ~upwards) << SIDE & _FULL)
        | squares >> SIDE & ~upwards
    )


@kernel
def _bound_targets(position: Ints, start: int, others: int, goal: int, room: Room) -> int:
    """Targets among which are all those of the ship on ``start``.

    Edges may be crossed twice here, but for one case: where a ship can only be landed on over one edge, the ship
    there does not boost back over it. That leaves out most of what is out of reach. The targets next to each ship
    are left in ``room``.
    """
    empty = _FULL & ~others
    bound, landed, waiting = 0, 0, start
    room[lowest_bit(start)] = 0
    while waiting:
        square = waiting & -waiting
        waiting ^= square
        value = _value_at(position, square)
        entries = room[lowest_bit(square)]
        firsts = _around(square)
        if entries & (entries - 1) == 0:
            firsts &= ~entries
        lasts = square
        ends = firsts
        if value == 2:
            lasts = firsts & empty
            ends = _around(lasts) & ~square
        elif value == 3:
            firsts &= empty
            ends, lasts = 0, 0
            while firsts:
                first = firsts & -firsts
                firsts ^= first
                seconds = _around(first) & empty & ~square
                lasts |= seconds
                ends |= _around(seconds) & ~first
        if lasts & goal:
            ends |= _BASE_BIT
        bound |= ends
        room[_ENDS + lowest_bit(square)] = ends
        hit = ends & others
        while hit:
            ship = hit & -hit
            hit ^= ship
            index = lowest_bit(ship)
            if landed & ship == 0:
                landed |= ship
                waiting |= ship
                room[index] = _around(ship) & lasts
                continue
            before = room[index]
            room[index] = before | (_around(ship) & lasts)
            if before & (before - 1) == 0 and room[index] != before:
                waiting |= ship
    return bound


@kernel
def _open_ends(square: int, value: int, empty: int, goal: int, across: int, upwards: int) -> int:
    """Where runs by ``value`` from ``square`` may end that cross none of the edges given; the base included."""
    firsts = _open_around(square, across, upwards)
    if value == 1:
        return firsts | (_BASE_BIT if square & goal else 0)
    firsts &= empty
    if value == 2:
        return _open_around(firsts, across, upwards) & ~square | (_BASE_BIT if firsts & goal else 0)
    ends, seconds = 0, 0
    while firsts:
        first = firsts & -firsts
        firsts ^= first
        here = _open_around(first, across, upwards) & empty & ~square
        seconds |= here
        ends |= _open_around(here, across, upwards) & ~first
    return ends | (_BASE_BIT if seconds & goal else 0)


@kernel
def _value_at(position: Ints, square: int) -> int:
    """The value of the ship on ``square`` (a set of one)."""
    if position[ONES] & square:
        return 1
    return 2 if position[ONES + 1] & square else 3


@kernel
def _edge(square: int, other: int) -> tuple[int, int]:
    """The edge between two neighbours, as edges across and edges upwards."""
    low, high = min(square, other), max(square, other)
    if high == low << 1:
        return low, 0
    return 0, low


@kernel
def _keep_way(room: Room, count: int, square: int, across: int, upwards: int) -> None:
    room[3 * count], room[3 * count + 1], room[3 * count + 2] = square, across, upwards


@kernel
def _keep_a_way(
    room: Room, count: int, square: int, value: int, empty: int, across: int, upwards: int, target: int
) -> None:
    """Keep one way that runs on from ``square`` by ``value`` to ``target``, which must be an open end of it."""
    if value == 1:
        last_across, last_upwards = _edge(square, target)
        _keep_way(room, count, target, across | last_across, upwards | last_upwards)
        return
    firsts = _open_around(square, across, upwards) & empty
    lasts = _open_around(target, across, upwards) & empty & ~square
    if value == 2:
        first = firsts & lasts
        first &= -first
        last = first
    else:
        first, last = 0, 0
        while True:
            first = firsts & -firsts
            firsts ^= first
            last = _open_around(first, across, upwards) & lasts & ~square
            if target == first:
                continue
            if last:
                last &= -last
                break
        middle_across, middle_upwards = _edge(first, last)
        across, upwards = across | middle_across, upwards | middle_upwards
    first_across, first_upwards = _edge(square, first)
    last_across, last_upwards = _edge(last, target)
    across, upwards = across | first_across | last_across, upwards | first_upwards | last_upwards
    _keep_way(room, count, target, across, upwards)


@kernel
def find_targets(position: Ints, player: int, start: int, room: Room) -> int:
    """All targets of the ship on ``start`` (a set of one) if ``player`` moves it, the base included.

    One way to each ship is gone on from. Mostly that reaches all that there is if edges may be crossed again, and
    so all that there is; else all ways are looked at.
    """
    occupied = position[ONES] | position[ONES + 1] | position[ONES + 2]
    others = occupied & ~start
    empty = _FULL & ~others
    goal = _ROW if player else _ROW << SQUARE_COUNT - SIDE
    bound = _bound_targets(position, start, others, goal, room)
    if bound & others == 0:
        return bound
    found, landed, index, count = 0, 0, 0, 1
    _keep_way(room, 0, start, 0, 0)
    while index < count:
        square, across, upwards = room[3 * index], room[3 * index + 1], room[3 * index + 2]
        index += 1
        value = _value_at(position, square)
        ends = _open_ends(square, value, empty, goal, across, upwards)
        found |= ends
        if found == bound:
            return bound
        fresh = ends & others & ~landed
        landed |= fresh
        while fresh:
            _keep_a_way(room, count, square, value, empty, across, upwards, fresh & -fresh)
            count += 1
            fresh &= fresh - 1
    return _find_missing(position, start, goal, bound, found, room)


@kernel
def _leading_to(missing: int, ships: int, room: Room) -> int:
    """Which of ``ships`` may lead to any target of ``missing``, maybe by way of others."""
    leading, before = 0, -1
    while leading != before:
        before = leading
        rest = ships & ~leading
        while rest:
            ship = rest & -rest
            rest ^= ship
            if room[_ENDS + lowest_bit(ship)] & (missing | leading):
                leading |= ship
    return leading


@kernel
def _find_missing(position: Ints, start: int, goal: int, bound: int, found: int, room: Room) -> int:
    """All targets of the ship on ``start``, ``found`` and more of ``bound``, by all ways worth going.

    A way that crossed all the edges of an earlier one to the same ship is not worth it: that led everywhere. Nor
    is one to a ship that does not lead to what is missing.
    """
    others = (position[ONES] | position[ONES + 1] | position[ONES + 2]) & ~start
    empty = _FULL & ~others
    leading = _leading_to(bound & ~found, bound & others, room)
    ways = np.empty((256, 3), dtype=np.int64)
    ways[0, 0], ways[0, 1], ways[0, 2] = start, 0, 0
    count, index = 1, 0
    while index < count and found != bound:
        if count + 36 > ways.shape[0]:
            ways = np.concatenate((ways, np.empty_like(ways)))
        square, across, upwards = ways[index, 0], ways[index, 1], ways[index, 2]
        value = _value_at(position, square)
        found |= _open_ends(square, value, empty, goal, across, upwards)
        index += 1
        if room[_ENDS + lowest_bit(square)] & leading == 0:
            continue
        if value == 1:
            count = _keep_worthy(
                ways, count, square, _open_around(square, across, upwards) & leading, across, upwards
            )
            continue
        firsts = _open_around(square, across, upwards) & empty
        while firsts:
            first = firsts & -firsts
            firsts ^= first
            added_across, added_upwards = _edge(square, first)
            across_1, upwards_1 = across | added_across, upwards | added_upwards
            seconds = _open_around(first, across_1, upwards_1)
            if value == 2:
                count = _keep_worthy(ways, count, first, seconds & leading, across_1, upwards_1)
                continue
            seconds &= empty
            while seconds:
                second = seconds & -seconds
                seconds ^= second
                added_across, added_upwards = _edge(first, second)
                across_2, upwards_2 = across_1 | added_across, upwards_1 | added_upwards
                thirds = _open_around(second, across_2, upwards_2) & leading
                count = _keep_worthy(ways, count, second, thirds, across_2, upwards_2)
    return found


@kernel
def _keep_worthy(ways: Ints, count: int, last: int, landed: int, across: int, upwards: int) -> int:
    """Add the ways over the edges from ``last`` to the ships ``landed`` on that are worth going; how many now."""
    while landed:
        square = landed & -landed
        landed ^= square
        added_across, added_upwards = _edge(last, square)
        across_1, upwards_1 = across | added_across, upwards | added_upwards
        is_worthy = True
        for index in range(count):
            if ways[index, 0] == square and not (ways[index, 1] & ~across_1 | ways[index, 2] & ~upwards_1):
                is_worthy = False
                break
        if is_worthy:
            ways[count, 0], ways[count, 1], ways[count, 2] = square, across_1, upwards_1
            count += 1
    return count


@kernel
def home_ships(position: Ints, player: int) -> int:
    """The ships on the home row of ``player``."""
    occupied = position[ONES] | position[ONES + 1] | position[ONES + 2]
    row = _ROW if player == 0 else _ROW << SQUARE_COUNT - SIDE
    while occupied & row == 0:
        row = row << SIDE if player == 0 else row >> SIDE
    return int(occupied & row)


@kernel
def drop_squares(position: Ints) -> int:
    """The squares that the variant leaves for reprogrammed ships, empty or not."""
    if position[IS_GYGES] == 0:
        return _FULL
    row = home_ships(position, 1 - position[MOVER])
    if position[MOVER] == 0:
        limit = _ROW
        while limit & row == 0:
            limit |= limit << SIDE
        return limit
    limit = _ROW << SQUARE_COUNT - SIDE
    while limit & row == 0:
        limit |= limit >> SIDE
    return limit


@kernel
def can_enter(position: Ints, player: int, room: Room) -> bool:
    """Whether ``player`` could enter the base now if it were their turn."""
    ships = home_ships(position, player)
    while ships:
        start = ships & -ships
        ships ^= start
        if find_targets(position, player, start, room) & _BASE_BIT:
            return True
    return False


@kernel
def count_moves(position: Ints, room: Room) -> int:
    """How many legal actions the mover has."""
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


@kernel
def list_moves(position: Ints, room: Room, moves: Array) -> int:
    """Put the legal actions of the mover in ``moves``, ascending as in the rules; how many there are."""
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


@kernel
def play_move(position: Ints, move: int) -> None:
    """Play the legal action ``move``, numbered as in the rules."""
    rest = move - FIRST_MOVE
    drop, rest = rest % DROP_COUNT, rest // DROP_COUNT
    target, start = rest % TARGET_COUNT, rest // TARGET_COUNT
    value = _value_at(position, 1 << start) - 1
    position[value] ^= 1 << start
    position[HASH] ^= KEYS[value, start] ^ KEYS[3, 0]
    if target == BASE:
        position[WINNER] = position[MOVER]
    else:
        if drop != NO_DROP:
            dropped = _value_at(position, 1 << target) - 1
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
