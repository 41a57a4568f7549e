"""Random numbers inside kernels: xorshift64* on a state that belongs to one search."""

from __future__ import annotations

import numpy as np

from tabuleiro_server.bots.engine.compiled import Array, kernel

DrawState = Array
"""One number, never 0."""

_GOLDEN = 0x9E3779B97F4A7C15
_MASK = (1 << 64) - 1


def new_draws(seed: int) -> DrawState:
    """A state for ``seed``; neighbouring seeds give unrelated numbers."""
    mixed = (seed * _GOLDEN + _GOLDEN) & _MASK
    mixed = ((mixed ^ mixed >> 30) * 0xBF58476D1CE4E5B9) & _MASK
    mixed = ((mixed ^ mixed >> 27) * 0x94D049BB133111EB) & _MASK
    return np.array([mixed ^ mixed >> 31 or _GOLDEN], dtype=np.uint64)


@kernel
def draw_below(draws: DrawState, count: int) -> int:
    """A number from 0 to ``count`` - 1, all as likely; ``count`` from 1 to 2**31."""
    word = draws[0]
    word ^= word >> np.uint64(12)
    word ^= word << np.uint64(25)
    word ^= word >> np.uint64(27)
    draws[0] = word
    high = (word * np.uint64(0x2545F4914F6CDD1D)) >> np.uint64(32)
    # int() alone would leave the number unsigned, and unsigned and signed numbers add up to floating ones.
    return int(np.int64((high * np.uint64(count)) >> np.uint64(32)))
