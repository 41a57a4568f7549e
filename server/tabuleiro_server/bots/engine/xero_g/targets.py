"""The targets of the ships of Xero-G, as kernels: runs and boosts. Source: RULES.md, "Xero-G".

A *run* is a path of a ship's value from one ship to another, or to a target in question; a *way* is a chain of
runs to a ship that crosses no edge twice. :func:`find_targets` follows one way to each ship. Targets that it does
not reach so, but that a bound allows, are left to :func:`_find_unreached`, which looks at many ways.
"""

from __future__ import annotations

from typing import Final

import numpy as np

from tabuleiro.rules.games.xero_g.moves import SIDE, SQUARE_COUNT
from tabuleiro_server.bots.engine.kernels import Array, as_index, lean_kernel, lowest_bit
from tabuleiro_server.bots.engine.xero_g.geometry import (
    BASE_BIT,
    EDGES,
    FIRST_PATH,
    FULL,
    ONES,
    PASSED,
    ROW,
    Ints,
    around,
    edge_between,
    open_around,
    upward_edges,
    value_at,
)

Room = Array
"""Working memory of numbers of 64 bits: data by square on the ship there, then lists of runs and ways.

Its size beyond :data:`WAYS` limits the number of ways.
"""

ENTRIES: Final = 0
"""By square, the squares from which a ship lands there."""
ENDS: Final = ENTRIES + SQUARE_COUNT
"""By square, the targets next after landing there."""
FIRST_WAYS: Final = ENDS + SQUARE_COUNT
"""One way to each ship: the ship, a set of one, and the edges."""
_RUNS: Final = FIRST_WAYS + 2 * 12
"""By square, the first run from the ship there in the list of runs."""
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
    """Return working memory for kernels, with room for ``way_count`` ways.

    With more ways than that, the result is the same, but takes longer.
    """
    return np.zeros(WAYS + 3 * way_count, dtype=np.int64)


@lean_kernel
def leading_to(missing: int, ships: int, room: Room) -> int:
    """Return those of ``ships`` that may lead to any target of ``missing``, maybe over other ships."""
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
    """Add the runs that cross ``edges``, from ``before`` to ``last``, and then end; return the number of runs."""
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
    """Add the runs by ``value`` from ``square`` to ``wanted`` or, over ``goal``, to the base; return the count."""
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
    """Add a way to ``ship`` if it may lead to new targets; return the number of ways.

    A way that crosses all edges of an earlier one leads to no others.
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
    """Return those of ``missing`` that no way from ``ship`` reaches without crossing ``edges``; no way is kept.

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
def _find_unreached(position: Ints, start: int, goal: int, missing: int, others: int, room: Room) -> int:
    """Return those of ``missing`` that the ship on ``start`` cannot reach by any way over ``others``.

    The targets next after each of these ships must be in ``room``.
    """
    leading = leading_to(missing, others, room)
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


@lean_kernel
def bound_targets(position: Ints, start: int, others: int, goal: int, room: Room) -> int:
    """Return a set that contains all targets of the ship on ``start``.

    Edges may be crossed twice here, with one exception: a ship that can be landed on over one edge alone does not
    boost back over it. That leaves out most squares out of reach. The targets next to each ship are left in
    ``room``.
    """
    empty = FULL & ~others
    bound, landed, waiting = 0, 0, start
    room[as_index(ENTRIES + lowest_bit(start))] = 0
    while waiting:
        square = waiting & -waiting
        waiting ^= square
        index = lowest_bit(square)
        entries = room[as_index(ENTRIES + index)]
        firsts = around(square)
        if entries & (entries - 1) == 0:
            firsts &= ~entries
        ends, lasts = _ends_of_runs(square, value_at(position, square), firsts, empty)
        if lasts & goal:
            ends |= BASE_BIT
        bound |= ends
        room[as_index(ENDS + index)] = ends
        hit = ends & others
        while hit:
            ship = hit & -hit
            hit ^= ship
            index = lowest_bit(ship)
            before = room[as_index(ENTRIES + index)] if landed & ship else 0
            after = before | (around(ship) & lasts)
            room[as_index(ENTRIES + index)] = after
            # After two entries, a third one opens nothing new.
            if before & (before - 1) == 0 and after != before:
                waiting |= ship
        landed |= ends & others
    return bound


@lean_kernel
def _by_direction(square: int, firsts: int) -> tuple[int, int, int, int]:
    """Split ``firsts``, squares next to ``square``, into those right, left, up and down of it."""
    return firsts & square << 1, firsts & square >> 1, firsts & square << SIDE, firsts & square >> SIDE


@lean_kernel
def _ends_of_runs(square: int, value: int, firsts: int, empty: int) -> tuple[int, int]:
    """Return the ends of runs by ``value`` from ``square`` over ``firsts``, and the squares before the ends."""
    if value == 1:
        return firsts, square
    firsts &= empty
    if value == 2:
        return around(firsts) & ~square, firsts
    # All directions at once without a loop: a missing direction is an empty set.
    right, left, up, down = _by_direction(square, firsts)
    empty &= ~square
    by_right, by_left = around(right) & empty, around(left) & empty
    by_up, by_down = around(up) & empty, around(down) & empty
    ends = around(by_right) & ~right | around(by_left) & ~left | around(by_up) & ~up | around(by_down) & ~down
    return ends, by_right | by_left | by_up | by_down


@lean_kernel
def _open_ends(square: int, value: int, empty: int, goal: int, edges: int) -> int:
    """Return the ends of runs by ``value`` from ``square`` that cross none of ``edges``; the base included."""
    upwards = upward_edges(edges)
    firsts = open_around(square, edges, upwards)
    if value == 1:
        return firsts | (BASE_BIT if square & goal else 0)
    firsts &= empty
    if value == 2:
        return open_around(firsts, edges, upwards) & ~square | (BASE_BIT if firsts & goal else 0)
    right, left, up, down = _by_direction(square, firsts)
    empty &= ~square
    by_right, by_left = open_around(right, edges, upwards) & empty, open_around(left, edges, upwards) & empty
    by_up, by_down = open_around(up, edges, upwards) & empty, open_around(down, edges, upwards) & empty
    ends = open_around(by_right, edges, upwards) & ~right | open_around(by_left, edges, upwards) & ~left
    ends |= open_around(by_up, edges, upwards) & ~up | open_around(by_down, edges, upwards) & ~down
    return ends | (BASE_BIT if (by_right | by_left | by_up | by_down) & goal else 0)


@lean_kernel
def _keep_ways(square: int, value: int, others: int, edges: int, ends: int, room: Room, count: int) -> int:
    """Keep one way from ``square`` by ``value`` to each of ``ends``, which must be open; return the count."""
    index = lowest_bit(square)
    while ends:
        end = ends & -ends
        ends ^= end
        path = int(FIRST_PATH[value - 1, as_index(index), as_index(lowest_bit(end))])
        while PASSED[as_index(path)] & others | EDGES[as_index(path)] & edges:
            path += 1
        room[as_index(FIRST_WAYS + 2 * count)] = end
        room[as_index(FIRST_WAYS + 2 * count + 1)] = edges | EDGES[as_index(path)]
        count += 1
    return count


@lean_kernel
def find_targets(position: Ints, player: int, start: int, room: Room) -> int:
    """Return all targets of the ship on ``start`` (a set of one) if ``player`` moves it, the base included.

    One way to each ship is followed. Mostly this reaches the whole bound, and so all targets; otherwise all ways
    are searched.
    """
    others = (position[ONES] | position[ONES + 1] | position[ONES + 2]) & ~start
    goal = ROW if player else ROW << SQUARE_COUNT - SIDE
    bound = bound_targets(position, start, others, goal, room)
    if bound & others == 0:
        return bound
    found, landed, index, count = 0, 0, 0, 1
    room[FIRST_WAYS], room[FIRST_WAYS + 1] = start, 0
    while index < count:
        square, edges = room[as_index(FIRST_WAYS + 2 * index)], room[as_index(FIRST_WAYS + 2 * index + 1)]
        index += 1
        value = value_at(position, square)
        ends = _open_ends(square, value, FULL & ~others, goal, edges)
        found |= ends
        if found == bound:
            return bound
        count = _keep_ways(square, value, others, edges, ends & others & ~landed, room, count)
        landed |= ends & others
    return bound & ~_find_unreached(position, start, goal, bound & ~found, bound & others, room)
