"""What the alpha-beta searches share: values, the transposition table, histories, the next best action.

Values are integers for the player to move. A win is worth :data:`WIN` less the actions until it is reached, so
that near wins are better; beyond :data:`PROVEN` a value is no estimate but a forced result.
"""

from __future__ import annotations

from typing import Final, NamedTuple

import numpy as np

from tabuleiro_server.bots.engine.bits import Words
from tabuleiro_server.bots.engine.compiled import Array, kernel

WIN: Final = 30_000
PROVEN: Final = 29_000
INFINITY: Final = 32_000
ESTIMATE_LIMIT: Final = 20_000
"""No estimate is greater."""

EXACT: Final = 0
AT_LEAST: Final = 1
AT_MOST: Final = 2
ORDER_ONLY: Final = 3
"""The entry tells the best action, but its value is of no use."""

TABLE_BITS: Final = 18
_TABLE_MASK: Final = np.uint64((1 << TABLE_BITS) - 1)

NO_ENTRY: Final = -1


class Transpositions(NamedTuple):
    """What was found out about positions, by hash; a newer entry takes the place of an older.

    ``entries`` holds the value, the bound it is, the depth it was searched to, and the best action.
    """

    keys: Words
    entries: Array


def new_transpositions() -> Transpositions:
    """An empty table."""
    return Transpositions(
        np.zeros(1 << TABLE_BITS, dtype=np.uint64), np.zeros((1 << TABLE_BITS, 4), dtype=np.int32)
    )


@kernel
def find_entry(table: Transpositions, key: np.uint64) -> int:
    """The index of the entry for ``key``, :data:`NO_ENTRY` where there is none."""
    index = np.int64(key & _TABLE_MASK)
    return int(index) if table.keys[index] == key else NO_ENTRY


@kernel
def usable_value(table: Transpositions, entry: int, depth: int, ply: int, alpha: int, beta: int) -> int:
    """The value of an entry where it settles a search of ``depth`` between ``alpha`` and ``beta``, else INFINITY.

    Proven results hold at every depth. ``ply`` is how many actions the position is from the root.
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
    """Keep what a search of ``depth`` found out; the meaning of the arguments is that of the functions above."""
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
    """What a value found by a search between ``alpha`` and ``beta`` says of the true one."""
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
    """A value from -1 to 1; only proven results are exactly that."""
    if abs(value) >= PROVEN:
        return 1.0 if value > 0 else -1.0
    return float(np.tanh(value / 1000)) * 0.999
