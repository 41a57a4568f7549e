"""Timers; limits give way to input: what has arrived when one comes is taken in before anything ends by it.

An event loop may run timers that are due before it reads its sockets, as uvloop does. After a standstill all are
due at once, and what everybody sent in time still waits to be read.
"""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from typing import Final

READING_TURNS_COUNT: Final = 2
"""Turns of the loop in which all sockets are read once: a turn may be past its reading when it is asked."""

ANSWER_TURNS_COUNT: Final = 20
"""Turns in which what was read also reaches whoever waits for it, through the tasks in between."""


class Limit:
    """Calls ``end`` in ``delay_s`` seconds and some turns of the loop, unless it is cancelled before."""

    def __init__(self, delay_s: float, end: Callable[[], None], turns_count: int = READING_TURNS_COUNT) -> None:
        self._loop = asyncio.get_running_loop()
        self._end = end
        self._turns_left_count = turns_count
        self._handle: asyncio.Handle
        if delay_s > 0:
            self._handle = self._loop.call_later(delay_s, self._go_off)
        else:
            self._go_off()

    def cancel(self) -> None:
        """Never call; a second time does nothing."""
        self._handle.cancel()
        # Whoever has this is often the one to be called: without the circle memory is free at once.
        self._end = _nothing

    def _go_off(self) -> None:
        if self._turns_left_count:
            self._turns_left_count -= 1
            self._handle = self._loop.call_soon(self._go_off)
        else:
            self._end()


class Timer:
    """Calls ``ring`` once, at the earliest moment it was set to."""

    def __init__(self, ring: Callable[[], None]) -> None:
        self._ring = ring
        self._handle: asyncio.TimerHandle | None = None

    @property
    def is_set(self) -> bool:
        """Return True if it is going to ring."""
        return self._handle is not None

    def set(self, delay_s: float) -> None:
        """Ring in ``delay_s`` seconds, unless it rings earlier anyway."""
        loop = asyncio.get_running_loop()
        at_s = loop.time() + delay_s
        if self._handle is None or at_s < self._handle.when():
            self.stop()
            self._handle = loop.call_at(at_s, self._go_off)

    def stop(self) -> None:
        """Do not ring; it may be set again."""
        if self._handle is not None:
            self._handle.cancel()
            self._handle = None

    def end(self) -> None:
        """Never ring again."""
        self.stop()
        self._ring = _nothing

    def _go_off(self) -> None:
        self._handle = None
        self._ring()


def _nothing() -> None:
    """Do nothing."""


@asynccontextmanager
async def time_limit(limit_s: float | None) -> AsyncIterator[None]:
    """Return a context like that of `asyncio.timeout`, for waiting on what comes over a socket or a pipe.

    Raises:
        TimeoutError: The limit has come, and what was waited for had not arrived.
    """
    loop = asyncio.get_running_loop()
    async with asyncio.timeout(None) as scope:
        limit = None
        if limit_s is not None:
            limit = Limit(limit_s, lambda: scope.reschedule(loop.time()), ANSWER_TURNS_COUNT)
        try:
            yield
        finally:
            if limit is not None:
                limit.cancel()
