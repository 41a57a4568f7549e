"""What waits to be done in a room: a bounded queue with one reader, who can also be woken by an alarm.

Less than `asyncio.Queue` and `asyncio.timeout` can do, because a room looks in here at every move: the alarm stays
set from one wait to the next unless an earlier one is asked for. What the items are, and what is due when, is up
to `room_task`.
"""

from __future__ import annotations

import asyncio
from collections import deque
from typing import Generic, TypeVar

from tabuleiro_server.runtime.alarm import Alarm

T = TypeVar("T")


class RoomInbox(Generic[T]):
    """A queue of at most ``limit_count`` items; putting never waits."""

    def __init__(self, limit_count: int) -> None:
        self.is_closed = False
        self._loop = asyncio.get_running_loop()
        self._limit_count = limit_count
        self._items: deque[T] = deque()
        self._waiter: asyncio.Future[bool] | None = None
        self._alarm = Alarm(lambda: self._wake(by_alarm=True))

    def __len__(self) -> int:
        return len(self._items)

    @property
    def is_full(self) -> bool:
        """Whether there is no place for one more item."""
        return len(self._items) >= self._limit_count

    def put(self, item: T) -> None:
        """Add an item. Raises: asyncio.QueueFull."""
        if self.is_full:
            raise asyncio.QueueFull
        self._items.append(item)
        self._wake(by_alarm=False)

    def close(self) -> None:
        """Let the reader see that nothing more is wanted of it than what is here."""
        self.is_closed = True
        self._wake(by_alarm=False)

    def poke(self) -> None:
        """Let the reader look again, as if something had come."""
        self._wake(by_alarm=False)

    def take(self) -> T | None:
        """The item that has waited longest; ``None`` when there is none."""
        return self._items.popleft() if self._items else None

    async def wait(self, at_most_s: float) -> bool:
        """Wait for an item or the end; tells whether it was an alarm that ended the waiting.

        The alarm rings in ``at_most_s`` seconds, or earlier when one was set before: look again at what is due.
        """
        if self._items or self.is_closed:
            return False
        self._alarm.set(at_most_s)
        self._waiter = self._loop.create_future()
        try:
            return await self._waiter
        finally:
            self._waiter = None

    def stop(self) -> None:
        """Let no alarm ring any more."""
        self._alarm.stop()

    def _wake(self, *, by_alarm: bool) -> None:
        if self._waiter is not None and not self._waiter.done():
            self._waiter.set_result(by_alarm)
