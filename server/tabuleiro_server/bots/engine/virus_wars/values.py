"""Estimates of positions and ratings of actions of Virus Wars, as kernels.

The value of a position is the weighted sum of its *features*, each a difference between the mover and the
opponent. Actions are rated by weights of their own, to decide which are searched first and which not at all. The
weights are data, so that other weights need no other kernels.
"""

from __future__ import annotations

from typing import Final

import numpy as np

from tabuleiro_server.bots.engine.kernels import Array, Words, as_int, count_bits, kernel
from tabuleiro_server.bots.engine.virus_wars.board import (
    MOVER,
    NO_WORD,
    ONE,
    REACH,
    SET_WORDS,
    VIRUSES,
    ZOMBIES,
    VirusWarsTables,
    find_reach,
    spread,
)

Weights = Array

FEATURE_NAMES: Final = (
    "viruses",
    "zombies",
    "asleep zombies",
    "cells in reach",
    "enemy viruses in reach",
    "steps by which cells are nearer",
    "cells the other never reaches",
    "cells reached at all",
    "actions left in the turn",
)
FEATURE_COUNT: Final = len(FEATURE_NAMES)

RATING_NAMES: Final = (
    "absorbs a virus",
    "empty cells newly in reach",
    "enemy viruses newly in reach",
    "goes where the enemy can absorb it",
    "enemy viruses next to it",
    "own viruses next to it",
    "own zombies next to it",
    "wakes zombies",
    "enemy zombies next to it",
)
RATING_COUNT: Final = len(RATING_NAMES)
"""The weights of ratings are in this order, first for contamination, then for absorption."""


@kernel
def find_features(tables: VirusWarsTables, board: Words, features: Weights) -> None:
    """Put the features of the position into ``features``."""
    words = int(tables.shape[0])
    mover = as_int(board[MOVER])
    fronts = np.zeros((2, SET_WORDS), dtype=np.uint64)
    asleep = np.zeros(SET_WORDS, dtype=np.uint64)
    features[:] = 0.0
    for side in range(2):
        player = mover if side == 0 else 1 - mover
        sign = 1.0 if side == 0 else -1.0
        find_reach(tables, board, player, fronts[side], asleep)
        enemy, own = VIRUSES + (1 - player) * SET_WORDS, VIRUSES + player * SET_WORDS
        for word in range(words):
            zombies = board[ZOMBIES + player * SET_WORDS + word]
            blocked = board[own + word] | board[ZOMBIES + word] | board[ZOMBIES + SET_WORDS + word]
            fronts[side, word] &= ~blocked & tables.full[word]
            features[0] += sign * count_bits(board[own + word])
            features[1] += sign * count_bits(zombies)
            features[2] += sign * count_bits(asleep[word])
            features[3] += sign * count_bits(fronts[side, word])
            features[4] += sign * count_bits(fronts[side, word] & board[enemy + word])
    _share_cells(tables, board, mover, fronts, features)
    features[8] = as_int(board[MOVER + 1])


@kernel
def _share_cells(tables: VirusWarsTables, board: Words, mover: int, fronts: Words, features: Weights) -> None:
    """Spread both players from ``fronts`` in step and count the cells they reach first, alone, and at all."""
    words = int(tables.shape[0])
    passable = np.empty((2, SET_WORDS), dtype=np.uint64)
    wider = np.empty(SET_WORDS, dtype=np.uint64)
    for word in range(words):
        viruses = board[VIRUSES + word] | board[VIRUSES + SET_WORDS + word]
        solid = board[ZOMBIES + word] | board[ZOMBIES + SET_WORDS + word]
        free = tables.full[word] & ~(viruses | solid)
        passable[0, word] = free | board[VIRUSES + (1 - mover) * SET_WORDS + word]
        passable[1, word] = free | board[VIRUSES + mover * SET_WORDS + word]
    is_growing = True
    while is_growing:
        is_growing = False
        for word in range(words):
            features[5] += count_bits(fronts[0, word] & ~fronts[1, word])
            features[5] -= count_bits(fronts[1, word] & ~fronts[0, word])
        for side in range(2):
            spread(tables, fronts[side], wider)
            for word in range(words):
                grown = fronts[side, word] | (wider[word] & passable[side, word])
                if grown != fronts[side, word]:
                    is_growing = True
                    fronts[side, word] = grown
    for word in range(words):
        features[6] += count_bits(fronts[0, word] & ~fronts[1, word])
        features[6] -= count_bits(fronts[1, word] & ~fronts[0, word])
        features[7] += count_bits(fronts[0, word]) - count_bits(fronts[1, word])


@kernel
def rate(
    tables: VirusWarsTables, board: Words, enemy_reach: Words, asleep: Words, weights: Weights, place: int
) -> float:
    """Rate the legal action of the mover on ``place``: higher ratings are searched sooner."""
    mover = as_int(board[MOVER])
    own, enemy = VIRUSES + mover * SET_WORDS, VIRUSES + (1 - mover) * SET_WORDS
    home, bit = place >> 6, ONE << np.uint64(place & 63)
    is_absorption = board[enemy + home] & bit != NO_WORD
    first = RATING_COUNT if is_absorption else 0
    rating = weights[first]
    if enemy_reach[home] & bit != NO_WORD:
        rating += weights[first + 3]
    for word in range(int(tables.shape[0])):
        near = tables.near[place, word]
        if near == NO_WORD:
            continue
        mine, theirs = board[own + word], board[enemy + word]
        dead, alive = board[ZOMBIES + mover * SET_WORDS + word], board[ZOMBIES + (1 - mover) * SET_WORDS + word]
        fresh = near & ~board[REACH + word]
        rating += weights[first + 1] * count_bits(fresh & ~(mine | theirs | dead | alive))
        rating += weights[first + 2] * count_bits(fresh & theirs)
        rating += weights[first + 4] * count_bits(near & theirs)
        rating += weights[first + 5] * count_bits(near & mine)
        rating += weights[first + 6] * count_bits(near & dead)
        rating += weights[first + 7] * count_bits(near & asleep[word])
        rating += weights[first + 8] * count_bits(near & alive)
    return float(rating)
