"""A queue that takes from every room in turn. What the items are and who works on them is left to the pool."""

from __future__ import annotations

import asyncio
from collections import OrderedDict, deque
from typing import Generic, TypeVar

T = TypeVar("T")


class FairQueue(Generic[T]):
    """Items by room: first in, first out within a room, one item of each waiting room after the other."""

    def __init__(self) -> None:
        self._rooms: OrderedDict[str, deque[T]] = OrderedDict()
        self._item_came = asyncio.Condition()

    def __len__(self) -> int:
        return sum(len(items) for items in self._rooms.values())

    async def put(self, room: str, item: T) -> None:
        """Add ``item`` behind the others of ``room``."""
        async with self._item_came:
            self._rooms.setdefault(room, deque()).append(item)
            self._item_came.notify()

    def discard(self, room: str, item: T) -> None:
        """Take ``item`` out wherever it waits; nothing happens when it was taken already."""
        items = self._rooms.get(room)
        if items is None or item not in items:
            return
        items.remove(item)
        if not items:
            del self._rooms[room]

    async def take(self) -> T:
        """Wait for an item and return the next one of the room whose turn it is."""
        async with self._item_came:
            await self._item_came.wait_for(lambda: self._rooms)
            room, items = self._rooms.popitem(last=False)
            item = items.popleft()
            if items:
                # The other rooms come first now.
                self._rooms[room] = items
            return item
