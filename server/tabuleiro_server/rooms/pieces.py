"""Long replays, cut so that the rest of the server has its turn in between."""

from __future__ import annotations

import asyncio
import time
from collections.abc import Callable, Sequence
from typing import Final, TypeVar

T = TypeVar("T")

AT_ONCE_COUNT: Final = 8
"""The items taken without a look at the time: one of them may cost a millisecond."""

PIECE_NS: Final = 2_000_000
"""The time in nanoseconds that a replay goes on before the rest of the server has its turn."""


async def take_in_pieces(items: Sequence[T], take: Callable[[Sequence[T]], None]) -> None:
    """Give all items to ``take`` in order, and let others run when that takes long.

    Raises: what ``take`` raises.
    """
    begun_ns = time.perf_counter_ns()
    for start in range(0, len(items), AT_ONCE_COUNT):
        if time.perf_counter_ns() - begun_ns >= PIECE_NS:
            await asyncio.sleep(0)
            begun_ns = time.perf_counter_ns()
        take(items[start : start + AT_ONCE_COUNT])
