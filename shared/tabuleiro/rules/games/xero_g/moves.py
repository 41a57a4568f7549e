"""The targets of a ship of Xero-G: runs, boosts and edges. Source: RULES.md, "Xero-G".

Only ships, squares and edges are known here; turns, setup, repetition and texts are left to ``state``.

A *run* is the straight count of steps that one ship value gives; a *route* is the runs of one turn, joined at the
ships that boost it. Squares are the indexes 0..35 of the 6 x 6 board; index 36, :data:`BASE`, is the base that the
mover wants to enter. A set of targets is an ``int`` with bit ``i`` set for target ``i``. A set of edges is an
``int`` with one bit for each of the 60 edges between two squares; the step into a base needs none, being the last.
"""

from __future__ import annotations

import heapq
from collections.abc import Iterable, Iterator, Mapping, Sequence
from functools import cache, lru_cache
from typing import NamedTuple

from tabuleiro.ids import Player
from tabuleiro.rules.board import bit_indexes, square_board

SIDE = 6
"""Rows and columns of the board."""
BOARD = square_board(SIDE, SIDE)
SQUARE_COUNT = BOARD.cell_count
BASE = SQUARE_COUNT
"""The index of the base that the mover wants to enter, as a target."""
BASE_BIT = 1 << BASE
ROWS = tuple(BOARD.bottom_row << (SIDE * row) for row in range(SIDE))
"""The squares of each row, from row 1 up, as bit sets."""
VALUES = (1, 2, 3)
KEPT_RUN_LISTS_COUNT = 1 << 16


class Run(NamedTuple):
    """One way to make exactly as many steps as a value says, on an empty board."""

    edges: int
    """The edges crossed, as a bit set."""
    end_bit: int
    """The last square or :data:`BASE`, as a bit set of one."""
    end: int
    passed: int
    """The squares between the first and the last, as a bit set: they must be empty."""
    squares: tuple[int, ...]
    """The squares stepped on in order, the first one left out, the last one (maybe :data:`BASE`) included."""


class Table(NamedTuple):
    """All runs from one square by one value for one mover."""

    runs: tuple[Run, ...]
    area: int
    """The squares that any of the runs passes, as a bit set."""


OpenRuns = tuple[tuple[int, int, int], ...]
"""For each run that obstacles leave: the edges crossed, the end as a bit set, the end."""


class Leg(NamedTuple):
    """A place on a route where a run ends on a ship (or where the route starts), and how it was reached."""

    square: int
    used: int
    """The edges crossed so far, as a bit set."""
    run: Run | None
    """The run that ended here, ``None`` at the start."""
    before: Leg | None


@cache
def _part_indexes(part: int, first: int) -> tuple[int, ...]:
    return tuple(first + index for index in bit_indexes(part))


def target_indexes(targets: int) -> tuple[int, ...]:
    """Return the squares (and the base) in a set, ascending; quicker than ``bit_indexes`` by cached thirds."""
    return (
        _part_indexes(targets & 0xFFF, 0)
        + _part_indexes(targets >> 12 & 0xFFF, 12)
        + _part_indexes(targets >> 24, 24)
    )


def home_row(occupied: int, player: Player) -> int:
    """Return the row (0..5, from the bottom) nearest to ``player`` that holds any ship; there must be one."""
    if player == 0:
        return ((occupied & -occupied).bit_length() - 1) // SIDE
    return (occupied.bit_length() - 1) // SIDE


def _edge(square: int, other: int) -> int:
    """Return the bit of the edge between two neighbouring squares."""
    row, col = divmod(min(square, other), SIDE)
    is_upright = abs(square - other) == SIDE
    return 1 << (SIDE * (SIDE - 1) + row * SIDE + col if is_upright else row * (SIDE - 1) + col)


def _iter_runs(goal_row: int, square: int, steps: int, edges: int, squares: tuple[int, ...]) -> Iterator[Run]:
    """Yield the runs that go on from ``square`` by ``steps`` more steps, ``squares`` having been stepped on."""
    if steps == 0:
        passed = sum(1 << each for each in set(squares[:-1]))
        yield Run(edges, 1 << square, square, passed, squares)
        return
    if steps == 1 and square // SIDE == goal_row:
        passed = sum(1 << each for each in set(squares))
        yield Run(edges, BASE_BIT, BASE, passed, (*squares, BASE))
    for other in bit_indexes(BOARD.spread4(1 << square) ^ 1 << square):
        edge = _edge(square, other)
        if not edges & edge:
            yield from _iter_runs(goal_row, other, steps - 1, edges | edge, (*squares, other))


@cache
def _table(mover: Player, value: int, square: int) -> Table:
    runs = tuple(_iter_runs(0 if mover else SIDE - 1, square, value, 0, ()))
    area = 0
    for run in runs:
        area |= run.passed
    return Table(runs, area)


def _key(mover: Player, value: int, square: int) -> int:
    """Return the place of a table in the lists below; ``value`` 0 stands for the empty tables."""
    return (mover * 4 + value) * SQUARE_COUNT + square


_TABLES = tuple(
    _table(mover, value, square) if value else Table((), 0)
    for mover in (0, 1)
    for value in (0, *VALUES)
    for square in range(SQUARE_COUNT)
)
_AREAS = tuple(table.area for table in _TABLES)


def _iter_open(key: int, obstacles: int) -> Iterator[Run]:
    """Yield the runs of a table that pass none of ``obstacles``."""
    return (run for run in _TABLES[key].runs if not run.passed & obstacles)


@lru_cache(maxsize=KEPT_RUN_LISTS_COUNT)
def _open_runs(key: int, obstacles: int) -> tuple[OpenRuns, int]:
    """Return the runs of :func:`_iter_open` as the search needs them, and all their ends as a bit set."""
    runs = tuple((run.edges, run.end_bit, run.end) for run in _iter_open(key, obstacles))
    ends = 0
    for _, end_bit, _ in runs:
        ends |= end_bit
    return runs, ends


def reach(ships: bytes, others: int, mover: Player, start: int) -> int:
    """Return all targets of the ship on ``start`` as a bit set: empty squares, ships to land on, the base.

    ``ships`` holds the value on each square (0 for none), ``others`` the squares of all ships but the moving one.

    Source: RULES.md, "Xero-G" (steps, edges, Rocket Boost).
    """
    open_runs, bound = _flood(ships, others, mover, start)
    return _reach_within(open_runs, others, start, bound)


def can_leave(ships: bytes, others: int, mover: Player, start: int) -> bool:
    """Return whether :func:`reach` is not empty: a first run that is open leads somewhere."""
    key = _key(mover, ships[start], start)
    return bool(_open_runs(key, others & _AREAS[key])[1])


def loose_reach(ships: bytes, others: int, mover: Player, start: int) -> int:
    """Return the targets of :func:`reach` if edges could be crossed again, to explain a target out of reach."""
    return _flood(ships, others, mover, start)[1]


def _flood(ships: bytes, others: int, mover: Player, start: int) -> tuple[dict[int, OpenRuns], int]:
    """Follow every ship landed on, edges ignored; return the open runs of those ships, and all targets."""
    first_key = _key(mover, 0, 0)
    open_runs: dict[int, OpenRuns] = {}
    bound, boosters = 0, [start]
    for square in boosters:
        key = first_key + ships[square] * SQUARE_COUNT + square
        open_runs[square], ends = _open_runs(key, others & _AREAS[key])
        fresh = ends & others & ~bound
        bound |= ends
        while fresh:
            low = fresh & -fresh
            boosters.append(low.bit_length() - 1)
            fresh ^= low
    return open_runs, bound


def _reach_within(open_runs: Mapping[int, OpenRuns], others: int, start: int, bound: int) -> int:
    """Return the targets that need no edge twice; ``bound`` holds those found when edges are ignored.

    A place reached with edges used is worth a look only if no earlier way there used a subset of the same edges:
    every continuation of the new one was one of the old one too.
    """
    found = 0
    used_at: dict[int, list[int]] = {}
    queue = [(start, 0)]
    for square, used in queue:
        for edges, end_bit, end in open_runs[square]:
            if edges & used:
                continue
            if end_bit & others:
                now = used | edges
                if not end_bit & found:
                    used_at[end] = [now]
                elif _has_subset(used_at[end], now):
                    continue
                else:
                    used_at[end].append(now)
                queue.append((end, now))
            found |= end_bit
        if found == bound:
            break
    return found


def _has_subset(edge_sets: Iterable[int], edges: int) -> bool:
    """Return True if one of ``edge_sets`` is a subset of ``edges``."""
    for each in edge_sets:  # noqa: SIM110 - several times quicker than any() here
        if each & edges == each:
            return True
    return False


def shortest_route(ships: bytes, others: int, mover: Player, start: int, target: int) -> tuple[int, ...]:
    """Return the squares of a shortest route, ``start`` first, ``target`` last; empty where there is none."""
    for leg in _iter_legs(ships, others, mover, [Leg(start, 0, None, None)]):
        if leg.run is not None and leg.square == target:
            squares: list[int] = []
            step: Leg | None = leg
            while step is not None and step.run is not None:
                squares[:0] = step.run.squares
                step = step.before
            return (start, *squares)
    return ()


def boost_reach(ships: bytes, others: int, mover: Player, start: int, booster: int) -> int:
    """Return the targets that the ship on ``start`` can be boosted to by the ship on ``booster``, as a bit set.

    Back on ``booster`` is not among them: that needs no boost.
    """
    to_booster = [
        Leg(booster, leg.used, None, None)
        for leg in _iter_legs(ships, others, mover, [Leg(start, 0, None, None)])
        if leg.run is not None and leg.square == booster
    ]
    found = 0
    for leg in _iter_legs(ships, others, mover, to_booster):
        if leg.run is not None:
            found |= leg.run.end_bit
    return found & ~(1 << booster)


def unreached_stop(ships: bytes, others: int, mover: Player, stops: Sequence[int]) -> int | None:
    """Return the place of the first of ``stops`` that a route through them all does not get to; ``None`` if none.

    A run of the ship on ``stops[0]`` ends on each, and a ship on each between the first and the last boosts it on.
    """
    used_sets = {0}
    for place in range(1, len(stops)):
        square, stop = stops[place - 1], stops[place]
        if place > 1 and not others >> square & 1:
            return place
        runs = [run.edges for run in _iter_open(_key(mover, ships[square], square), others) if run.end == stop]
        used_sets = {used | edges for used in used_sets for edges in runs if not used & edges}
        if not used_sets:
            return place
    return None


def _iter_legs(ships: bytes, others: int, mover: Player, firsts: Iterable[Leg]) -> Iterator[Leg]:
    """Yield ``firsts`` and every leg worth having after them, those of fewest steps first.

    A leg that ends on a ship is worth having as :func:`_reach_within` says, any other once a target.
    """
    queue = [(leg.used.bit_count(), number, leg) for number, leg in enumerate(firsts)]
    heapq.heapify(queue)
    number = len(queue)
    used_at: dict[int, list[int]] = {}
    while queue:
        _, _, leg = heapq.heappop(queue)
        is_on_ship = bool(1 << leg.square & others)
        if leg.run is not None:
            earlier = used_at.setdefault(leg.square, [])
            if _has_subset(earlier, leg.used) or (earlier and not is_on_ship):
                continue
            earlier.append(leg.used)
        yield leg
        if leg.run is not None and not is_on_ship:
            continue
        key = _key(mover, ships[leg.square], leg.square)
        for run in _iter_open(key, others):
            if not run.edges & leg.used:
                used = leg.used | run.edges
                number += 1
                heapq.heappush(queue, (used.bit_count() + (run.end == BASE), number, Leg(run.end, used, run, leg)))
