"""Searching Virus Wars: alpha-beta by single actions, over the most promising ones.

A turn has several actions, so a value changes its sign where the mover changes and nowhere else. Actions of one
turn commute: what was legal stays legal, and the order leaves no trace. So an action that was searched sleeps
below its later siblings until the turn ends, and each set of actions is looked at once.

Turns are far too many to look at all: a *width* says how many actions are tried, the best rated first. Where all
of them lose, more are tried, and a position counts as lost only once every action was: proven results are proven.
"""

from __future__ import annotations

from typing import Final, NamedTuple

import numpy as np

from tabuleiro_server.bots.engine.alpha_beta import (
    ESTIMATE_LIMIT,
    INFINITY,
    NO_ENTRY,
    ORDER_ONLY,
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
from tabuleiro_server.bots.engine.bits import Words, as_int, lowest_bit
from tabuleiro_server.bots.engine.compiled import Array, kernel
from tabuleiro_server.bots.engine.effort import IS_OVER, Effort, spend_node
from tabuleiro_server.bots.engine.virus_wars_board import (
    BOARD_WORDS,
    HASH,
    LEFT,
    MOVER,
    NO_WORD,
    ONE,
    SET_WORDS,
    VirusWarsTables,
    find_reach,
    legal_word,
    play,
)
from tabuleiro_server.bots.engine.virus_wars_values import (
    FEATURE_COUNT,
    Weights,
    find_features,
    rate,
)

FIRST_RATING: Final = 1e9
HISTORY_STEP: Final = 0.05
"""What a cut adds to the rating of its action, by turns left to look ahead."""
NOISE: Final = 64
"""By how much estimates are changed at most, as the seed wants it: otherwise all games would be the same."""
RATING_NOISE: Final = 1.0 / 64
"""The same for ratings, which are changed by up to 64 times this."""
MAX_PLIES: Final = 96
MAX_ACTIONS: Final = 400
MAX_TURNS: Final = 16
PATIENCE: Final = 4
"""How many times the width is tried where all actions of the width lose."""


class Memory(NamedTuple):
    """What a search works with, a row for each ply: boards, sleeping actions, actions and ratings, lines.

    ``history`` rates places by mover by how often they cut the search; ``widths`` says for each turn from the root
    and each action left in it how many actions are tried; ``stage`` is the number of the search with such widths;
    ``noise`` is mixed into the estimates' last digits.
    """

    boards: Words
    sleeping: Words
    actions: Array
    ratings: Array
    lines: Array
    history: Array
    widths: Array
    stage: Array
    value_weights: Weights
    rating_weights: Weights
    noise: Words


def new_memory(board: Words, value_weights: Weights, rating_weights: Weights, seed: int) -> Memory:
    """Memory for a search from ``board``; its widths are left to be set for each stage."""
    memory = Memory(
        boards=np.zeros((MAX_PLIES, BOARD_WORDS), dtype=np.uint64),
        sleeping=np.zeros((MAX_PLIES, SET_WORDS), dtype=np.uint64),
        actions=np.zeros((MAX_PLIES, MAX_ACTIONS), dtype=np.int32),
        ratings=np.zeros((MAX_PLIES, MAX_ACTIONS), dtype=np.float32),
        lines=np.zeros((MAX_PLIES, MAX_PLIES + 2), dtype=np.int32),
        history=np.zeros((2, 64 * SET_WORDS), dtype=np.float32),
        widths=np.zeros((1, 1), dtype=np.int32),
        stage=np.zeros(1, dtype=np.int32),
        value_weights=value_weights,
        rating_weights=rating_weights,
        noise=np.random.default_rng(seed).integers(0, 2**64, size=1, dtype=np.uint64) | ONE,
    )
    memory.boards[0] = board
    return memory


@kernel
def estimate(tables: VirusWarsTables, memory: Memory, board: Words) -> int:
    """The estimated value of a position that is not over."""
    features = np.empty(FEATURE_COUNT, dtype=np.float64)
    find_features(tables, board, features)
    value = 0.0
    for index in range(FEATURE_COUNT):
        value += memory.value_weights[index] * features[index]
    value += as_int((board[HASH] * memory.noise[0]) >> np.uint64(57)) - NOISE
    return int(min(max(value, -ESTIMATE_LIMIT), ESTIMATE_LIMIT))


@kernel
def _list_actions(tables: VirusWarsTables, memory: Memory, ply: int, first: int) -> int:
    """Put the legal actions that do not sleep and their ratings in the rows of ``ply``; how many there are.

    ``first`` is rated above all others; -1 is no action. -1 is returned when no action is legal at all.
    """
    board = memory.boards[ply]
    mover = as_int(board[MOVER])
    enemy_reach = np.zeros(SET_WORDS, dtype=np.uint64)
    enemy_asleep = np.zeros(SET_WORDS, dtype=np.uint64)
    asleep = np.zeros(SET_WORDS, dtype=np.uint64)
    find_reach(tables, board, 1 - mover, enemy_reach, enemy_asleep)
    find_reach(tables, board, mover, asleep.copy(), asleep)
    count, is_blocked = 0, True
    for word in range(int(tables.shape[0])):
        legal = legal_word(board, tables.full, word)
        if legal != NO_WORD:
            is_blocked = False
        legal &= ~memory.sleeping[ply, word]
        while legal != NO_WORD:
            place = 64 * word + lowest_bit(legal)
            legal &= legal - ONE
            rating = rate(tables, board, enemy_reach, asleep, memory.rating_weights, place)
            rating += RATING_NOISE * as_int((tables.keys[0, place] * memory.noise[0]) >> np.uint64(58))
            memory.actions[ply, count] = place
            memory.ratings[ply, count] = rating + memory.history[mover, place] if place != first else FIRST_RATING
            count += 1
    return -1 if is_blocked else count


@kernel
def _value_at_end(tables: VirusWarsTables, memory: Memory, ply: int) -> int:
    """The value of the position of ``ply`` where nothing is looked ahead any more."""
    board = memory.boards[ply]
    for word in range(int(tables.shape[0])):
        if legal_word(board, tables.full, word) != NO_WORD:
            return estimate(tables, memory, board)
    return ply - WIN


# Longer than other functions: kernels that call each other in a circle would have to be typed by hand.
@kernel
def search(
    tables: VirusWarsTables,
    memory: Memory,
    table: Transpositions,
    effort: Effort,
    ply: int,
    turn: int,
    alpha: int,
    beta: int,
) -> int:
    """The value of the position of ``ply``, ``turn`` turns from the root, if between ``alpha`` and ``beta``.

    Outside of them it is a bound on that side. Once the effort is over, the value is of no use but at the root:
    there it is that of the line, the best of those looked at.
    """
    memory.lines[ply, 0] = 0
    if spend_node(effort):
        return 0
    board = memory.boards[ply]
    mover, left = as_int(board[MOVER]), as_int(board[LEFT])
    turns_left = memory.widths.shape[0] - turn
    depth = int(memory.stage[0]) * MAX_TURNS + turns_left
    is_turn_start = left == tables.shape[2] and ply > 0
    entry = find_entry(table, board[HASH])
    first = -1
    if entry != NO_ENTRY:
        first = table.entries[entry, 3]
        if is_turn_start:
            known = usable_value(table, entry, depth, ply, alpha, beta)
            if known != INFINITY:
                return known
    if turns_left == 0 or ply == MAX_PLIES - 2:
        return _value_at_end(tables, memory, ply)
    count = _list_actions(tables, memory, ply, first)
    if count < 0:
        return ply - WIN
    best, best_place, lowest = -INFINITY, -1, alpha
    width = memory.widths[turn, left - 1]
    for index in range(count):
        if index >= width and (best > -PROVEN or index >= PATIENCE * width):
            best = max(best, 1 - PROVEN)
            break
        bring_best_forward(memory.actions[ply], memory.ratings[ply], index, count)
        place = int(memory.actions[ply, index])
        memory.boards[ply + 1, :] = board
        play(tables, memory.boards[ply + 1], place)
        if left == 1:
            memory.sleeping[ply + 1, :] = NO_WORD
            value = -search(tables, memory, table, effort, ply + 1, turn + 1, -beta, -lowest)
        else:
            memory.sleeping[ply + 1, :] = memory.sleeping[ply]
            value = search(tables, memory, table, effort, ply + 1, turn, lowest, beta)
        if effort[IS_OVER]:
            return best if ply == 0 else 0
        memory.sleeping[ply, place >> 6] |= ONE << np.uint64(place & 63)
        if value > best:
            best, best_place = value, place
            if value > lowest:
                lowest = value
                keep_line(memory.lines, ply, place)
            if value >= beta:
                memory.history[mover, place] += HISTORY_STEP * turns_left
                break
    bound = bound_of(best, alpha, beta) if is_turn_start else ORDER_ONLY
    keep_entry(table, board[HASH], best, bound, depth, ply, best_place)
    return best
