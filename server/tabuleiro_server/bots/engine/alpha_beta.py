"""The shared parts of the alpha-beta searches: limits, values, the transposition table, analysis by stages.

Kernels cannot read a clock. They release the interpreter lock, so that a timer of the caller can raise a flag.

Values are integers for the player to move. A win is worth :data:`WIN` less the actions until it is reached, so
that near wins are better; beyond :data:`PROVEN` a value is a forced result and no estimate.
"""

from __future__ import annotations

import threading
import time
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, replace
from typing import Final, NamedTuple, Protocol

import numpy as np

from tabuleiro.rules.analysis import Analysis, Candidate
from tabuleiro_server.bots.engine.kernels import Array, Words, kernel

Effort = Array
"""Nodes searched, nodes allowed, and 1 once the search must end."""

NODES: Final = 0
ALLOWED: Final = 1
IS_OVER: Final = 2
_NO_LIMIT: Final = 2**62


def unlimited_effort() -> Effort:
    """Return an effort without limits."""
    return np.array([0, _NO_LIMIT, 0], dtype=np.int64)


@contextmanager
def limited_effort(max_nodes: int | None, deadline_s: float | None) -> Iterator[Effort]:
    """Limit an effort to ``max_nodes`` nodes and to ``deadline_s`` on the clock of ``time.monotonic``.

    ``None`` means no such limit; ``check_task`` makes sure that one is given.
    """
    effort = unlimited_effort()
    if max_nodes is not None:
        effort[ALLOWED] = max_nodes
    if deadline_s is None:
        yield effort
        return
    timer = threading.Timer(max(0.0, deadline_s - time.monotonic()), effort.__setitem__, (IS_OVER, 1))
    timer.daemon = True
    timer.start()
    try:
        yield effort
    finally:
        timer.cancel()


@kernel
def spend_node(effort: Effort) -> bool:
    """Count a node; return True if the search must end."""
    effort[NODES] += 1
    if effort[NODES] > effort[ALLOWED]:
        effort[IS_OVER] = 1
    return bool(effort[IS_OVER] != 0)


WIN: Final = 30_000
PROVEN: Final = 29_000
INFINITY: Final = 32_000
ESTIMATE_LIMIT: Final = 20_000
"""No estimate is greater."""
ESTIMATE_UNIT: Final = 1_000
"""An estimate of so much is a winning chance of 88 %: its hyperbolic tangent is the value from -1 to 1."""

EXACT: Final = 0
AT_LEAST: Final = 1
AT_MOST: Final = 2
ORDER_ONLY: Final = 3
"""The entry has the best action, but no value that can be used."""

TABLE_BITS: Final = 18
_TABLE_MASK: Final = np.uint64((1 << TABLE_BITS) - 1)

NO_ENTRY: Final = -1


class Transpositions(NamedTuple):
    """A transposition table: results of searches by the hash of the position; new entries replace old ones.

    ``entries`` holds the value, the kind of bound, the depth of the search, and the best action.
    """

    keys: Words
    entries: Array


def new_transpositions() -> Transpositions:
    """Return an empty table."""
    return Transpositions(
        np.zeros(1 << TABLE_BITS, dtype=np.uint64), np.zeros((1 << TABLE_BITS, 4), dtype=np.int32)
    )


@kernel
def find_entry(table: Transpositions, key: np.uint64) -> int:
    """Return the index of the entry for ``key``, :data:`NO_ENTRY` if there is none."""
    index = np.int64(key & _TABLE_MASK)
    return int(index) if table.keys[index] == key else NO_ENTRY


@kernel
def usable_value(table: Transpositions, entry: int, depth: int, ply: int, alpha: int, beta: int) -> int:
    """Return the value of an entry if it settles a search of ``depth`` from ``alpha`` to ``beta``, else INFINITY.

    Proven results hold at every depth. ``ply`` is the number of actions from the root to the position.
    """
    value, bound = table.entries[entry, 0], table.entries[entry, 1]
    if bound == ORDER_ONLY:
        return INFINITY
    is_win, is_loss = value >= PROVEN, value <= -PROVEN
    is_forced = (is_win and bound != AT_MOST) or (is_loss and bound != AT_LEAST)
    if table.entries[entry, 2] != depth and not is_forced:
        return INFINITY
    if is_win:
        value -= ply
    elif is_loss:
        value += ply
    if bound == EXACT or (bound == AT_LEAST and value >= beta) or (bound == AT_MOST and value <= alpha):
        return int(value)
    return INFINITY


@kernel
def keep_entry(
    table: Transpositions, key: np.uint64, value: int, bound: int, depth: int, ply: int, action: int
) -> None:
    """Store the result of a search of ``depth``; the arguments are those of the functions above."""
    index = np.int64(key & _TABLE_MASK)
    if value >= PROVEN:
        value += ply
    elif value <= -PROVEN:
        value -= ply
    table.keys[index] = key
    table.entries[index, 0] = value
    table.entries[index, 1] = bound
    table.entries[index, 2] = depth
    table.entries[index, 3] = action


@kernel
def bound_of(value: int, alpha: int, beta: int) -> int:
    """Return the kind of bound that a value found between ``alpha`` and ``beta`` is."""
    if value >= beta:
        return AT_LEAST
    return AT_MOST if value <= alpha else EXACT


@kernel
def bring_best_forward(actions: Array, ratings: Array, first: int, count: int) -> None:
    """Swap the action of the highest rating from ``first`` to before ``count`` with that at ``first``."""
    best = first
    for index in range(first + 1, count):
        if ratings[index] > ratings[best]:
            best = index
    actions[first], actions[best] = actions[best], actions[first]
    ratings[first], ratings[best] = ratings[best], ratings[first]


@kernel
def keep_line(lines: Array, ply: int, action: int) -> None:
    """Make ``action`` and the line of the next ply the line of ``ply``. A line begins with its length."""
    length = lines[ply + 1, 0]
    lines[ply, 0] = length + 1
    lines[ply, 1] = action
    lines[ply, 2 : length + 2] = lines[ply + 1, 1 : length + 1]


def unit_value(value: int) -> float:
    """Return ``value`` on a scale from -1 to 1; only proven results are exactly -1 or 1."""
    if abs(value) >= PROVEN:
        return 1.0 if value > 0 else -1.0
    return float(np.tanh(value / ESTIMATE_UNIT)) * 0.999


@dataclass(frozen=True, slots=True)
class ValuedLine:
    """A line from the root on, one action at least, and its value there."""

    line: tuple[int, ...]
    value: int

    @property
    def is_proven(self) -> bool:
        """True if the value is a forced result."""
        return abs(self.value) >= PROVEN

    def moved(self, difference: int) -> ValuedLine:
        """Return the line with a value that is greater by ``difference``; a proven one stays."""
        return self if self.is_proven else replace(self, value=self.value + difference)


@dataclass(frozen=True, slots=True)
class TurnSizes:
    """The number of actions left in the turn of the root, of those in the next turn, and in every later one."""

    first: int
    second: int
    later: int

    def winner_turns(self, value: int) -> int:
        """Return the number of turns that the winner of a proven ``value`` has until the end."""
        left, turns, size = WIN - abs(value) - self.first, 1, self.second
        while left > 0:
            left, turns, size = left - size, turns + 1, self.later
        return (turns + 1) // 2 if value > 0 else turns // 2


class StagedRoot(Protocol):
    """A position to be analysed, with the memory of its search."""

    sizes: TurnSizes

    def depths(self) -> Iterable[int]:
        """Yield the number of turns that each stage looks ahead; this makes it the current stage."""
        ...

    def candidates(self, count: int, effort: Effort) -> list[ValuedLine]:
        """Return the best ``count`` lines of the current stage, best first; of no use once the effort is over."""
        ...


def iter_analyses(
    root: StagedRoot, count: int, max_nodes: int | None, deadline_s: float | None
) -> Iterator[Analysis]:
    """Yield the candidates of each stage that was finished within the limits; the first always is."""
    effort = unlimited_effort()
    with limited_effort(max_nodes, deadline_s) as limits:
        for depth in root.depths():
            found = root.candidates(count, effort)
            if effort[IS_OVER]:
                return
            candidates = tuple(_candidate(root.sizes, each) for each in found)
            yield Analysis(candidates, int(effort[NODES]), depth)
            # A win is as good as it gets, and if the best of the actions loses, all do.
            if found[0].is_proven:
                return
            limits[NODES], effort = effort[NODES], limits


def _candidate(sizes: TurnSizes, found: ValuedLine) -> Candidate:
    is_decided = found.is_proven
    return Candidate(
        actions=found.line[: sizes.first],
        line=found.line,
        value=unit_value(found.value),
        is_proven=is_decided,
        turns_to_end=sizes.winner_turns(found.value) if is_decided else None,
    )
