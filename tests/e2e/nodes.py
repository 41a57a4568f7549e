"""Several nodes on one PostgreSQL, all in this process, each behind an address that is known before it starts."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager, suppress
from dataclasses import dataclass, field
from typing import Any

from tabuleiro_server.config import Config
from tabuleiro_server.wiring import RunningServer, running_server

CALM = {"messages_per_second_count": 1_000_000, "messages_burst_count": 1_000_000, "shutdown_notice_ms": 0}
"""For tests that are not about the messages a second, nor about the notice of a stop."""

_CHUNK_BYTES = 65_536


@dataclass(slots=True)
class _Front:
    """Takes connections at an address, and passes them on to a port that is known later."""

    port: int | None = None
    tasks: set[asyncio.Task[None]] = field(default_factory=set)

    def take(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        task = asyncio.create_task(self._take(reader, writer))
        self.tasks.add(task)
        task.add_done_callback(self.tasks.discard)

    async def _take(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        ends = [writer]
        try:
            with suppress(OSError):
                from_node, to_node = await asyncio.open_connection("127.0.0.1", self.port or 0)
                ends.append(to_node)
                passing = [
                    asyncio.create_task(self._pass(reader, to_node)),
                    asyncio.create_task(self._pass(from_node, writer)),
                ]
                try:
                    await asyncio.wait(passing, return_when=asyncio.FIRST_COMPLETED)
                finally:
                    for task in passing:
                        task.cancel()
                    await asyncio.gather(*passing, return_exceptions=True)
        finally:
            for end in ends:
                end.close()

    async def _pass(self, source: asyncio.StreamReader, sink: asyncio.StreamWriter) -> None:
        with suppress(OSError):
            while data := await source.read(_CHUNK_BYTES):
                sink.write(data)
                await sink.drain()


@dataclass(frozen=True, slots=True)
class RunningNode:
    """A node that runs; ``url`` is the address that it tells others."""

    url: str
    server: RunningServer


@asynccontextmanager
async def running_node(database_url: str, name: str, **settings: Any) -> AsyncIterator[RunningNode]:
    """Run a node until the context ends."""
    front = _Front()
    listener = await asyncio.start_server(front.take, "127.0.0.1", 0)
    url = f"ws://127.0.0.1:{listener.sockets[0].getsockname()[1]}"
    own = {"host": "127.0.0.1", "port": 0, "db": database_url, "web": False, "node": name, "node_url": url}
    try:
        async with running_server(Config(**(own | CALM | settings))) as server:
            front.port = server.port
            yield RunningNode(url, server)
    finally:
        listener.close()
        for task in front.tasks:
            task.cancel()
        await asyncio.gather(*front.tasks, return_exceptions=True)
