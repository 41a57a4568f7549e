"""Notifications of a server, kept in order until they are read, up to a bounded number."""

from __future__ import annotations

import asyncio
from collections import deque
from dataclasses import dataclass
from typing import Self

from tabuleiro.errors import TabuleiroError
from tabuleiro.protocol.messages import Announcement, Error, LobbyUpdate, RoomGone, Update


@dataclass(frozen=True, slots=True)
class LinkLost:
    """The connection broke; it is being mended. ``reason`` is for people."""

    reason: str


@dataclass(frozen=True, slots=True)
class LinkRestored:
    """There is a new connection. It has entered no room yet."""


@dataclass(frozen=True, slots=True)
class Missed:
    """More was told than the subscription holds: everything unread was dropped, ask anew."""


Told = Update | RoomGone | LobbyUpdate | Announcement | Error | LinkLost | LinkRestored | Missed
"""What a subscription brings. An ``Error`` here belongs to no request."""


class Subscription:
    """The notifications of the server since subscribing, in order; an async iterator.

    It ends when the link is closed and raises what ended the link otherwise.
    """

    def __init__(self, unread_max_count: int) -> None:
        self._unread_max_count = unread_max_count
        self._items: deque[Told] = deque()
        self._ready = asyncio.Event()
        self._is_ended = False
        self._failure: TabuleiroError | None = None

    def put(self, item: Told) -> None:
        """Add what was told; what does not fit any more becomes one :class:`Missed`."""
        if len(self._items) >= self._unread_max_count:
            self._items.clear()
            self._items.append(Missed())
        self._items.append(item)
        self._ready.set()

    def end(self, failure: TabuleiroError | None) -> None:
        """Let the iteration end after what is still unread."""
        self._is_ended, self._failure = True, failure
        self._ready.set()

    def __aiter__(self) -> Self:
        return self

    async def __anext__(self) -> Told:
        while not self._items:
            if self._failure is not None:
                raise self._failure
            if self._is_ended:
                raise StopAsyncIteration
            self._ready.clear()
            await self._ready.wait()
        return self._items.popleft()
