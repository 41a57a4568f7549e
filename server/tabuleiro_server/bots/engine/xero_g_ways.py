"""Which targets ships of Xero-G reach only by some ways of many, as kernels. Source: RULES.md, "Xero-G".

A *run* is a path of a ship's value from one ship to another, or to a target in question; a *way* is a chain of
runs to a ship that crosses no edge twice. What is asked here is what ``xero_g_targets`` did not reach by one way
to each ship.
"""

from __future__ import annotations

from typing import Final

import numpy as np

from tabuleiro.rules.games.xero_g.moves import SQUARE_COUNT
from tabuleiro_server.bots.engine.bits import as_index, lowest_bit
from tabuleiro_server.bots.engine.compiled import Array, lean_kernel
from tabuleiro_server.bots.engine.xero_g_geometry import (
    BASE_BIT,
    FULL,
    ONES,
    Ints,
    around,
    edge_between,
    value_at,
)

Room = Array
"""Working memory, of 64 bits a number: by square what is known of the ship there, then lists of runs and ways.

What more it holds than :data:`WAYS` says how many ways there is room for.
"""

ENTRIES: Final = 0
"""By square, from where the ship there is landed on."""
ENDS: Final = ENTRIES + SQUARE_COUNT
"""By square, the targets next after landing there."""
FIRST_WAYS: Final = ENDS + SQUARE_COUNT
"""One way to each ship: the ship, a set of one, and the edges."""
_RUNS: Final = FIRST_WAYS + 2 * 12
"""By square, where the runs from the ship there begin in the list of runs."""
_RUNS_END: Final = _RUNS + SQUARE_COUNT
_LAST_WAY: Final = _RUNS_END + SQUARE_COUNT
"""By square, the last way to the ship there, -1 for none."""
_RUN: Final = _LAST_WAY + SQUARE_COUNT
"""The runs: edges, and the end as a set of one."""
_MOST_RUNS: Final = 12 * 36
WAYS: Final = _RUN + 2 * _MOST_RUNS
"""The ways: ship, edges, and the way to the same ship before this one, -1 for none."""
_MOST_RUNS_OF_A_SHIP: Final = 36


def new_room(way_count: int = 2_048) -> Room:
    """Working memory for kernels, with room for ``way_count`` ways.

    Where there are more, all is found out just the same, but it takes longer.
    """
    return np.zeros(WAYS + 3 * way_count, dtype=np.int64)


@lean_kernel
def _leading_to(missing: int, ships: int, room: Room) -> int:
    """Which of ``ships`` may lead to any target of ``missing``, maybe by way of others."""
    leading, before = 0, -1
    while leading != before:
        before = leading
        rest = ships & ~leading
        while rest:
            ship = rest & -rest
            rest ^= ship
            if room[as_index(ENDS + lowest_bit(ship))] & (missing | leading):
                leading |= ship
    return leading


@lean_kernel
def _list_last_steps(last: int, before: int, edges: int, wanted: int, goal: int, room: Room, count: int) -> int:
    """Add the runs that cross ``edges``, from ``before`` to ``last``, and then end; how many runs now."""
    ends = around(last) & wanted & ~before
    while ends:
        end = ends & -ends
        ends ^= end
        room[as_index(_RUN + 2 * count)] = edges | edge_between(last, end)
        room[as_index(_RUN + 2 * count + 1)] = end
        count += 1
    if last & goal:
        room[as_index(_RUN + 2 * count)], room[as_index(_RUN + 2 * count + 1)] = edges, BASE_BIT
        count += 1
    return count


@lean_kernel
def _list_runs(square: int, value: int, empty: int, wanted: int, goal: int, room: Room, count: int) -> int:
    """Add the runs by ``value`` from ``square`` to ``wanted``, and from ``goal`` into the base; how many now."""
    if value == 1:
        return _list_last_steps(square, 0, 0, wanted, goal, room, count)
    near = around(wanted) | goal
    firsts = around(square) & empty
    if value == 2:
        firsts &= near
    while firsts:
        first = firsts & -firsts
        firsts ^= first
        edges = edge_between(square, first)
        if value == 2:
            count = _list_last_steps(first, square, edges, wanted, goal, room, count)
            continue
        seconds = around(first) & empty & ~square & near
        while seconds:
            second = seconds & -seconds
            seconds ^= second
            edges_2 = edges | edge_between(first, second)
            count = _list_last_steps(second, first, edges_2, wanted, goal, room, count)
    return count


@lean_kernel
def _keep_worthy(ship: int, edges: int, room: Room, count: int) -> int:
    """Add a way to ``ship`` if it is worth going; how many ways now.

    One that crosses all the edges of an earlier one is not: that leads everywhere.
    """
    square = lowest_bit(ship)
    last = room[as_index(_LAST_WAY + square)]
    way = last
    while way >= 0:
        if room[as_index(WAYS + 3 * way + 1)] & ~edges == 0:
            return count
        way = room[as_index(WAYS + 3 * way + 2)]
    room[as_index(WAYS + 3 * count)] = ship
    room[as_index(WAYS + 3 * count + 1)] = edges
    room[as_index(WAYS + 3 * count + 2)] = last
    room[as_index(_LAST_WAY + square)] = count
    return count + 1


@lean_kernel
def _search_on(ship: int, edges: int, missing: int, leading: int, room: Room) -> int:
    """What of ``missing`` no way on from ``ship`` leads to that crosses none of ``edges``; no way is kept.

    The runs of all ships of ``leading`` must be listed.
    """
    square = lowest_bit(ship)
    for run in range(room[as_index(_RUNS + square)], room[as_index(_RUNS_END + square)]):
        crossed, end = room[as_index(_RUN + 2 * run)], room[as_index(_RUN + 2 * run + 1)]
        if crossed & edges or missing == 0:
            continue
        missing &= ~end
        if end & leading:
            missing = _search_on(end, edges | crossed, missing, leading, room)
    return missing


@lean_kernel
def _list_all_runs(position: Ints, start: int, leading: int, goal: int, missing: int, room: Room) -> None:
    """List the runs from ``start`` and from the ships of ``leading`` to these and to ``missing``."""
    empty = FULL & ~(position[ONES] | position[ONES + 1] | position[ONES + 2]) | start
    wanted = (missing | leading) & FULL
    if missing & BASE_BIT == 0:
        goal = 0
    ships, count = start | leading, 0
    while ships:
        ship = ships & -ships
        ships ^= ship
        square = lowest_bit(ship)
        room[as_index(_LAST_WAY + square)] = -1
        room[as_index(_RUNS + square)] = count
        count = _list_runs(ship, value_at(position, ship), empty, wanted, goal, room, count)
        room[as_index(_RUNS_END + square)] = count


@lean_kernel
def find_unreached(position: Ints, start: int, goal: int, missing: int, others: int, room: Room) -> int:
    """What of ``missing`` the ship on ``start`` cannot reach, by no way over ``others``.

    The targets next after each of these ships must be in ``room``.
    """
    leading = _leading_to(missing, others, room)
    _list_all_runs(position, start, leading, goal, missing, room)
    room[WAYS], room[WAYS + 1] = start, 0
    most, index, count = (room.shape[0] - WAYS) // 3, 0, 1
    while index < count:
        ship, edges = room[as_index(WAYS + 3 * index)], room[as_index(WAYS + 3 * index + 1)]
        index += 1
        if count + _MOST_RUNS_OF_A_SHIP > most:
            missing = _search_on(ship, edges, missing, leading, room)
            continue
        square = lowest_bit(ship)
        for run in range(room[as_index(_RUNS + square)], room[as_index(_RUNS_END + square)]):
            crossed, end = room[as_index(_RUN + 2 * run)], room[as_index(_RUN + 2 * run + 1)]
            if crossed & edges:
                continue
            missing &= ~end
            if missing == 0:
                return 0
            if end & leading:
                count = _keep_worthy(end, edges | crossed, room, count)
    return missing
