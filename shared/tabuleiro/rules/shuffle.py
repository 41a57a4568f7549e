"""A shuffle that is the same on every machine and in every release: the same seed, the same order.

Whoever makes a match draws the seed; nothing here is random by itself.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import TypeVar

Item = TypeVar("Item")

_MASK_64 = (1 << 64) - 1


def iter_splitmix64(seed: int) -> Iterator[int]:
    """Yield the numbers (0..2**64-1) of the SplitMix64 generator without end.

    ``seed`` is 0..2**64-1. The algorithm is that of Steele, Lea and Flood, "Fast splittable pseudorandom number
    generators" (2014), with its published constants.

    >>> hex(next(iter_splitmix64(0)))
    '0xe220a8397b1dcdaf'
    """
    state = seed & _MASK_64
    while True:
        state = (state + 0x9E3779B97F4A7C15) & _MASK_64
        mixed = ((state ^ state >> 30) * 0xBF58476D1CE4E5B9) & _MASK_64
        mixed = ((mixed ^ mixed >> 27) * 0x94D049BB133111EB) & _MASK_64
        yield mixed ^ mixed >> 31


def shuffled(items: Iterable[Item], numbers: Iterator[int]) -> tuple[Item, ...]:
    """Return ``items`` in an order that ``numbers`` decide: one is taken for each item but the first.

    >>> shuffled("abcdef", iter_splitmix64(1))
    ('a', 'b', 'd', 'c', 'e', 'f')
    """
    order = list(items)
    for last in range(len(order) - 1, 0, -1):
        chosen = next(numbers) % (last + 1)
        order[last], order[chosen] = order[chosen], order[last]
    return tuple(order)
