"""Messages of one connection that wait to be read; beyond a few of them its socket is not read any more."""

from __future__ import annotations

import asyncio
from collections import deque
from collections.abc import Callable
from typing import Final, NamedTuple

MAX_WAITING_COUNT: Final = 16
"""Messages of one connection that are read ahead."""


class Received(NamedTuple):
    """A whole message: UTF-8, not checked yet, if it is text."""

    data: bytes
    is_text: bool


class MessageInbox:
    """A queue with one reader. ``pause`` and ``resume`` are called when its messages become too many, and few."""

    def __init__(self, pause: Callable[[], None], resume: Callable[[], None]) -> None:
        self._loop = asyncio.get_running_loop()
        self._pause = pause
        self._resume = resume
        self._is_paused = False
        self._end: Exception | None = None
        self._messages: deque[Received] = deque()
        self._waiter: asyncio.Future[None] | None = None
        self._partial = bytearray()
        self._partial_is_text: bool | None = None

    def put(self, message: Received) -> None:
        """Add a message; never waits."""
        self._messages.append(message)
        if len(self._messages) > MAX_WAITING_COUNT and not self._is_paused:
            self._is_paused = True
            self._pause()
        self._wake()

    def put_fragment(self, data: bytes, *, is_text: bool | None, is_last: bool) -> None:
        """Add a piece of a message; ``is_text`` is ``None`` for all but the first.

        The order of pieces, and how long they may be together, is watched by whoever reads the frames.
        """
        if is_text is not None:
            self._partial_is_text = is_text
        self._partial += data
        if is_last:
            self.put(Received(bytes(self._partial), bool(self._partial_is_text)))
            self._partial.clear()

    def close(self, reason: Exception) -> None:
        """Nothing more will come, for this reason."""
        self._end = reason
        self._wake()

    async def take(self) -> Received:
        """The message that has waited longest, or the next to come.

        Raises: the reason why none will come any more.
        """
        while not self._messages:
            if self._end is not None:
                raise self._end
            self._waiter = self._loop.create_future()
            try:
                await self._waiter
            finally:
                self._waiter = None
        message = self._messages.popleft()
        if self._is_paused and not self._messages:
            self._is_paused = False
            self._resume()
        return message

    def _wake(self) -> None:
        if self._waiter is not None and not self._waiter.done():
            self._waiter.set_result(None)
