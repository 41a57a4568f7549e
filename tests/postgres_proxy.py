"""A network between a server and its PostgreSQL that tests can disturb."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager, suppress
from functools import partial
from pathlib import Path
from urllib.parse import parse_qs, urlsplit

from tests.patience import LIMIT_S

_SOCKET = ".s.PGSQL.5432"
_CHUNK_BYTES = 65_536


class Proxy:
    """Passes bytes on, unless it is told to hold them back; all connections through it share one fate.

    ``held_answers_bytes`` and ``held_requests_bytes`` are those held back since the last call of `hold_...`.
    """

    def __init__(self, folder: Path, url: str) -> None:
        (hosts,) = parse_qs(urlsplit(url).query)["host"]
        self._targets = {folder / str(number): host for number, host in enumerate(hosts.split(","))}
        self.url = url.replace(hosts, ",".join(map(str, self._targets)))
        self._servers: list[asyncio.Server] = []
        self._is_away = False
        self._answers = asyncio.Event()
        self._requests = asyncio.Event()
        self._answers.set()
        self._requests.set()
        self._clients: set[asyncio.StreamWriter] = set()
        self._tasks: set[asyncio.Task[None]] = set()
        self._has_held = asyncio.Event()

    def hold_answers(self) -> None:
        """Keep what the database answers from now on."""
        self._has_held.clear()
        self._answers.clear()

    def hold_requests(self) -> None:
        """Keep what the server asks from now on."""
        self._has_held.clear()
        self._requests.clear()

    async def held(self) -> None:
        """Wait until something is held back."""
        async with asyncio.timeout(LIMIT_S):
            await self._has_held.wait()

    def release(self) -> None:
        """Pass on what was held back, and all that comes."""
        self._is_away = False
        self._answers.set()
        self._requests.set()

    def cut(self) -> None:
        """Break all connections as their server sees it; requests that are held back reach the database later."""
        for client in self._clients:
            client.transport.abort()
        self._clients.clear()

    def refuse(self) -> None:
        """Break all connections, and every new one, until `release`."""
        self._is_away = True
        self.cut()

    async def start(self) -> None:
        """Take connections."""
        for folder, target in self._targets.items():
            folder.mkdir(exist_ok=True)
            take = partial(self._take, target)
            self._servers.append(await asyncio.start_unix_server(take, path=str(folder / _SOCKET)))

    def _take(self, target: str, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        task = asyncio.create_task(self._pass_on(target, reader, writer))
        self._tasks.add(task)
        task.add_done_callback(self._tasks.discard)

    async def _pass_on(self, target: str, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        """Pass on one connection until either side ends it."""
        try:
            if self._is_away:
                raise ConnectionResetError
            from_database, to_database = await asyncio.open_unix_connection(f"{target}/{_SOCKET}")
        except OSError:
            writer.transport.abort()
            return
        self._clients.add(writer)
        try:
            async with asyncio.TaskGroup() as both:
                both.create_task(self._pass(reader, to_database, self._requests))
                both.create_task(self._pass(from_database, writer, self._answers))
        finally:
            # Both before any wait, which the stop may cancel.
            writer.transport.abort()
            to_database.transport.abort()
            self._clients.discard(writer)
            for end in (writer, to_database):
                with suppress(OSError):
                    await end.wait_closed()

    async def _pass(self, source: asyncio.StreamReader, sink: asyncio.StreamWriter, gate: asyncio.Event) -> None:
        try:
            while data := await source.read(_CHUNK_BYTES):
                if not gate.is_set():
                    self._has_held.set()
                    await gate.wait()
                sink.write(data)
                await sink.drain()
            if sink.can_write_eof():
                sink.write_eof()
        except OSError:
            sink.transport.abort()

    def swallow_answers(self) -> asyncio.Event:
        """Pass no more answers on to the connections there are, until the event is set; new ones are as always."""
        self.hold_answers()
        held, self._answers = self._answers, asyncio.Event()
        self._answers.set()
        return held

    def cut_and_keep(self) -> asyncio.Event:
        """Break all connections; what was held back of them goes on to the database once the event is set."""
        held, self._requests = self._requests, asyncio.Event()
        self._requests.set()
        self.cut()
        return held

    async def stop(self) -> None:
        """End all connections."""
        for server in self._servers:
            server.close()
        # A connection that was just taken may come after the others.
        while tasks := tuple(self._tasks):
            for task in tasks:
                task.cancel()
            await asyncio.gather(*tasks, return_exceptions=True)


@asynccontextmanager
async def proxy(folder: Path, url: str) -> AsyncIterator[Proxy]:
    """Run a network before the database at ``url``; ``folder`` gets a socket for each host of it."""
    network = Proxy(folder, url)
    try:
        await network.start()
        yield network
    finally:
        await network.stop()
