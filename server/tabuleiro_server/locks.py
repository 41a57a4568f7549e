"""Locks by key: what is to be done for one room or account after the other, and for different ones at once."""

from __future__ import annotations

import asyncio
from collections import Counter
from collections.abc import AsyncIterator, Hashable
from contextlib import asynccontextmanager
from typing import Generic, TypeVar

K = TypeVar("K", bound=Hashable)


class Locks(Generic[K]):
    """A lock for each key, kept for as long as somebody holds it or waits for it.

    Whether it is held says nothing about that: between its release and the next one in line it is free.
    """

    def __init__(self) -> None:
        self._locks: dict[K, asyncio.Lock] = {}
        self._users: Counter[K] = Counter()

    def __len__(self) -> int:
        """Return the number of keys in use."""
        return len(self._locks)

    @asynccontextmanager
    async def held(self, key: K) -> AsyncIterator[None]:
        """Return a context that one task at a time is in for each key."""
        lock = self._locks.setdefault(key, asyncio.Lock())
        self._users[key] += 1
        try:
            async with lock:
                yield
        finally:
            self._users[key] -= 1
            if not self._users[key]:
                del self._users[key], self._locks[key]
