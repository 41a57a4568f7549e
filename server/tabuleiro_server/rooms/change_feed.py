"""What other servers change, told to whoever wants to know; nobody asks the store while nobody does."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Mapping
from contextlib import aclosing

from tabuleiro.ids import RoomCode, Seq
from tabuleiro_server.store.port import Peers

Listener = Callable[[Mapping[RoomCode, Seq]], None]
"""Takes rooms that other servers have changed, with their last events."""


class ChangeFeed:
    """Reads the changes by other servers while anybody listens; without ``peers`` there are none."""

    def __init__(self, peers: Peers | None) -> None:
        self._peers = peers
        self._listeners: dict[Listener, None] = {}
        self._has_begun = False
        self._task: asyncio.Task[None] | None = None
        self._ending: asyncio.Task[None] | None = None

    def add(self, listener: Listener) -> None:
        """Tell a listener of changes, from an empty batch on: what is changed behind that is told.

        Nothing happens if it is told already.
        """
        if listener in self._listeners:
            return
        self._listeners[listener] = None
        if self._has_begun:
            listener({})
        elif self._task is None and self._peers is not None:
            work = self._read(self._peers, self._ending)
            self._task = asyncio.create_task(work, name="changes by other servers")

    def remove(self, listener: Listener) -> None:
        """Tell a listener no more."""
        self._listeners.pop(listener, None)
        if not self._listeners:
            self._end()

    async def stop(self) -> None:
        """Tell nobody any more, and wait until the store is no longer asked."""
        self._listeners.clear()
        self._end()
        if self._ending is not None:
            await asyncio.wait({self._ending})

    def _end(self) -> None:
        if self._task is not None:
            self._task.cancel()
            self._ending, self._task, self._has_begun = self._task, None, False

    async def _read(self, peers: Peers, ending: asyncio.Task[None] | None) -> None:
        if ending is not None:  # one at a time has the changes
            await asyncio.wait({ending})
        async with aclosing(peers.changes()) as batches:
            async for batch in batches:
                self._has_begun = True
                for listener in tuple(self._listeners):
                    listener(batch)
