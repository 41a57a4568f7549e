"""Searching Xero-G: alpha-beta over the most promising actions.

But for the last action of a line, all that is legal is rated by what it leads to at a glance, and a *width* says
how many are looked at further. A position counts as lost only once every action was: proven results are proven. A
position that occurs for the third time, counting what was played, is a draw in the search as in the rules.
"""

from __future__ import annotations

from typing import Final, NamedTuple

import numpy as np

from tabuleiro.rules.games.xero_g.actions import DROP_COUNT, FIRST_MOVE, TARGET_COUNT
from tabuleiro.rules.games.xero_g.moves import BASE
from tabuleiro_server.bots.engine.alpha_beta import (
    INFINITY,
    NO_ENTRY,
    PROVEN,
    WIN,
    Transpositions,
    bound_of,
    bring_best_forward,
    find_entry,
    keep_entry,
    keep_line,
    usable_value,
)
from tabuleiro_server.bots.engine.compiled import Array, kernel
from tabuleiro_server.bots.engine.effort import IS_OVER, NODES, Effort, spend_node
from tabuleiro_server.bots.engine.xero_g_board import (
    HASH,
    MAX_MOVES,
    MOVER,
    POSITION_SIZE,
    list_moves,
    play_move,
)
from tabuleiro_server.bots.engine.xero_g_values import FEATURE_COUNT, estimate
from tabuleiro_server.bots.engine.xero_g_ways import new_room

MAX_PLIES: Final = 24
_REPETITIONS_BEFORE: Final = 2
"""Occurrences before the one that is a draw."""
_DESTINATION_COUNT: Final = TARGET_COUNT * DROP_COUNT


ALL_ACTIONS: Final = 4096
"""The width with which nothing is left out, and nothing rated at a glance: it is for proofs."""
_KILLER_RATING: Final = 1e6
_FIRST_RATING: Final = 1e9


class Memory(NamedTuple):
    """What a search works with, a row for each ply: positions, moves and ratings, lines.

    ``killers`` holds for each ply the last two moves that cut the search there; ``path`` the hashes of all
    positions played and searched, ``played_count`` in the first place how many were played before the root.
    ``history`` rates destinations by mover by how often they cut the search. ``width`` is the number of actions
    tried, twice as many at the root.
    """

    positions: Array
    moves: Array
    ratings: Array
    lines: Array
    killers: Array
    path: Array
    played_count: Array
    history: Array
    width: Array
    weights: Array
    features: Array
    room: Array
    noise: Array


def new_memory(played: list[int], weights: Array, seed: int) -> Memory:
    """Memory for a search after the positions whose hashes are ``played``."""
    return Memory(
        positions=np.zeros((MAX_PLIES, POSITION_SIZE), dtype=np.int64),
        moves=np.zeros((MAX_PLIES, MAX_MOVES), dtype=np.int32),
        ratings=np.zeros((MAX_PLIES, MAX_MOVES), dtype=np.float32),
        lines=np.zeros((MAX_PLIES, MAX_PLIES + 2), dtype=np.int32),
        killers=np.zeros((MAX_PLIES, 2), dtype=np.int32),
        path=np.array([*played, *[0] * MAX_PLIES], dtype=np.int64),
        played_count=np.array([len(played)], dtype=np.int64),
        history=np.zeros((2, _DESTINATION_COUNT), dtype=np.float32),
        width=np.zeros(1, dtype=np.int64),
        weights=weights,
        features=np.zeros(FEATURE_COUNT),
        room=new_room(),
        noise=np.random.default_rng(seed).integers(0, 2**62, size=1, dtype=np.int64) * 2 + 1,
    )


@kernel
def _is_third_time(memory: Memory, ply: int) -> bool:
    """Whether the position of ``ply`` occurred twice before, in the search or in what was played."""
    last = memory.played_count[0] + ply
    count = 0
    for index in range(last - 2, -1, -2):
        if memory.path[index] == memory.path[last]:
            count += 1
    return count >= _REPETITIONS_BEFORE


@kernel
def _estimate_at(memory: Memory, ply: int) -> int:
    """The value of the position of ``ply`` at a glance; forced results count from the root.

    Estimates are changed by up to 32 as the seed wants it: otherwise all games would be the same.
    """
    value = estimate(memory.positions[ply], memory.room, memory.weights, memory.features)
    if value >= PROVEN:
        return value - ply
    if value <= -PROVEN:
        return value + ply
    return value + int((memory.positions[ply, HASH] * memory.noise[0]) >> 58)


@kernel
def _rate_moves(memory: Memory, ply: int, count: int, is_worth_time: bool, first: int) -> None:
    """Rate the moves of ``ply``: by the value of what they lead to if that is worth the time, and by history."""
    mover = memory.positions[ply, MOVER]
    for index in range(count):
        move = memory.moves[ply, index]
        rating = memory.history[mover, (move - FIRST_MOVE) % _DESTINATION_COUNT]
        if is_worth_time:
            memory.positions[ply + 1, :] = memory.positions[ply]
            play_move(memory.positions[ply + 1], move)
            rating -= _estimate_at(memory, ply + 1)
        elif move == memory.killers[ply, 0] or move == memory.killers[ply, 1]:
            rating += _KILLER_RATING
        memory.ratings[ply, index] = rating if move != first else _FIRST_RATING


@kernel
def _entering_move(memory: Memory, ply: int, count: int) -> int:
    """A move into the base among the ``count`` moves of ``ply``, 0 when there is none."""
    for index in range(count):
        move = memory.moves[ply, index]
        if (move - FIRST_MOVE) // DROP_COUNT % TARGET_COUNT == BASE:
            return int(move)
    return 0


@kernel
def _note_cut(memory: Memory, ply: int, depth: int, move: int) -> None:
    """Remember that ``move`` cut the search at ``ply``."""
    mover = memory.positions[ply, MOVER]
    memory.history[mover, (move - FIRST_MOVE) % _DESTINATION_COUNT] += depth * depth
    if memory.killers[ply, 0] != move:
        memory.killers[ply, 1] = memory.killers[ply, 0]
        memory.killers[ply, 0] = move


# Longer than other functions: kernels that call each other in a circle would have to be typed by hand.
@kernel
def search(
    memory: Memory, table: Transpositions, effort: Effort, ply: int, depth: int, alpha: int, beta: int
) -> int:
    """The value of the position of ``ply``, looked at ``depth`` actions deep, if between ``alpha`` and ``beta``.

    Outside of them it is a bound on that side. Once the effort is over, the value is of no use but at the root:
    there it is that of the line, the best of those looked at.
    """
    memory.lines[ply, 0] = 0
    if spend_node(effort):
        return 0
    position = memory.positions[ply]
    memory.path[memory.played_count[0] + ply] = position[HASH]
    if ply > 0 and _is_third_time(memory, ply):
        return 0
    if depth == 0:
        return _estimate_at(memory, ply)
    width = memory.width[0] if ply > 0 else 2 * memory.width[0]
    # Values found with another width are of no use.
    label = depth * 2 * ALL_ACTIONS + memory.width[0]
    key = np.uint64(position[HASH])
    entry = find_entry(table, key)
    first = 0
    if entry != NO_ENTRY:
        first = table.entries[entry, 3]
        known = usable_value(table, entry, label, ply, alpha, beta)
        if known != INFINITY and ply > 0:
            return known
    count = list_moves(position, memory.room, memory.moves[ply])
    memory.lines[ply + 1, 0] = 0
    entering = _entering_move(memory, ply, count)
    if entering:
        keep_line(memory.lines, ply, entering)
        return WIN - 1 - ply
    if count == 0:
        return ply - WIN
    is_proof = memory.width[0] == ALL_ACTIONS
    if is_proof and depth == 1:
        # No win by entering, and whatever else the last action does proves nothing.
        return 0
    is_worth_time = depth > 1 and not is_proof
    _rate_moves(memory, ply, count, is_worth_time, first)
    if is_worth_time:
        effort[NODES] += count
    best, best_move, lowest = -INFINITY, 0, alpha
    for index in range(count):
        if depth > 1 and index >= width and best > -PROVEN:
            break
        bring_best_forward(memory.moves[ply], memory.ratings[ply], index, count)
        move = memory.moves[ply, index]
        memory.positions[ply + 1, :] = position
        play_move(memory.positions[ply + 1], move)
        # Once there is a good move, it is asked of the others only whether they are better, and how much if so.
        limit = beta if index == 0 or depth == 1 else lowest + 1
        value = -search(memory, table, effort, ply + 1, depth - 1, -limit, -lowest)
        if limit <= value < beta:
            value = -search(memory, table, effort, ply + 1, depth - 1, -beta, 1 - value)
        if effort[IS_OVER]:
            return best if ply == 0 else 0
        if value > best:
            best, best_move = value, move
            if value > lowest:
                lowest = value
                keep_line(memory.lines, ply, move)
            if value >= beta:
                _note_cut(memory, ply, depth, move)
                break
    keep_entry(table, key, best, bound_of(best, alpha, beta), label, ply, best_move)
    return best
