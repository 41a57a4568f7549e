"""Where the ships of Xero-G can go, as kernels: runs and boosts. Source: RULES.md, "Xero-G".

Knows ships, squares and edges only; positions as a whole are left to ``xero_g_board``, and what takes looking at
many ways to ``xero_g_ways``.
"""

from __future__ import annotations

from tabuleiro.rules.games.xero_g.moves import SIDE, SQUARE_COUNT
from tabuleiro_server.bots.engine.bits import as_index, lowest_bit
from tabuleiro_server.bots.engine.compiled import lean_kernel
from tabuleiro_server.bots.engine.xero_g_geometry import (
    BASE_BIT,
    EDGES,
    FIRST_PATH,
    FULL,
    ONES,
    PASSED,
    ROW,
    Ints,
    around,
    open_around,
    upward_edges,
    value_at,
)
from tabuleiro_server.bots.engine.xero_g_ways import ENDS, ENTRIES, FIRST_WAYS, Room, find_unreached


@lean_kernel
def _bound_targets(position: Ints, start: int, others: int, goal: int, room: Room) -> int:
    """Targets among which are all those of the ship on ``start``.

    Edges may be crossed twice here, but for one case: where a ship can only be landed on over one edge, the ship
    there does not boost back over it. That leaves out most of what is out of reach. The targets next to each ship
    are left in ``room``.
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
            # Once there are two entries, a third one opens nothing new.
            if before & (before - 1) == 0 and after != before:
                waiting |= ship
        landed |= ends & others
    return bound


@lean_kernel
def _by_direction(square: int, firsts: int) -> tuple[int, int, int, int]:
    """Which of ``firsts``, which are next to ``square``, are to the right, left, up and down of it."""
    return firsts & square << 1, firsts & square >> 1, firsts & square << SIDE, firsts & square >> SIDE


@lean_kernel
def _ends_of_runs(square: int, value: int, firsts: int, empty: int) -> tuple[int, int]:
    """Where runs by ``value`` from ``square`` end that begin to ``firsts``, and the squares before the ends."""
    if value == 1:
        return firsts, square
    firsts &= empty
    if value == 2:
        return around(firsts) & ~square, firsts
    # All directions at once without a loop: what is not there is an empty set.
    right, left, up, down = _by_direction(square, firsts)
    empty &= ~square
    by_right, by_left = around(right) & empty, around(left) & empty
    by_up, by_down = around(up) & empty, around(down) & empty
    ends = around(by_right) & ~right | around(by_left) & ~left | around(by_up) & ~up | around(by_down) & ~down
    return ends, by_right | by_left | by_up | by_down


@lean_kernel
def _open_ends(square: int, value: int, empty: int, goal: int, edges: int) -> int:
    """Where runs by ``value`` from ``square`` may end that cross none of ``edges``; the base included."""
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
    """Keep one way on from ``square`` by ``value`` to each of ``ends``, which must be open; how many ways now."""
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
    """All targets of the ship on ``start`` (a set of one) if ``player`` moves it, the base included.

    One way to each ship is gone on from. Mostly that reaches all that there is if edges may be crossed again, and
    so all that there is; else all ways are looked at.
    """
    others = (position[ONES] | position[ONES + 1] | position[ONES + 2]) & ~start
    goal = ROW if player else ROW << SQUARE_COUNT - SIDE
    bound = _bound_targets(position, start, others, goal, room)
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
    return bound & ~find_unreached(position, start, goal, bound & ~found, bound & others, room)
