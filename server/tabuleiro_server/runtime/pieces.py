"""Long replays, cut so that the rest of the server has its turn in between."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Sequence
from typing import Final, TypeVar

T = TypeVar("T")

EVENTS_AT_ONCE_COUNT: Final = 100
"""Events that are replayed before the rest of the server has its turn: about two milliseconds of them."""


async def take_in_pieces(events: Sequence[T], take: Callable[[Sequence[T]], None]) -> None:
    """Give all events to ``take`` in order, and let others run between one piece and the next.

    Raises: what ``take`` raises.
    """
    for start in range(0, len(events), EVENTS_AT_ONCE_COUNT):
        if start:
            await asyncio.sleep(0)
        take(events[start : start + EVENTS_AT_ONCE_COUNT])
