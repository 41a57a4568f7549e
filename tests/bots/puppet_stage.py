"""The stage for the puppets of `puppet.py`: they report here, and a test pulls their strings."""

from __future__ import annotations

import asyncio
import sys
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager, suppress
from dataclasses import dataclass
from pathlib import Path

from tests.patience import LIMIT_S


@dataclass(frozen=True)
class Puppet:
    """A puppet as the test holds it."""

    pid: int
    reader: asyncio.StreamReader
    writer: asyncio.StreamWriter

    async def job(self) -> str:
        """Wait for a job and return "room, number of actions played, budget in ms", parted by spaces."""
        return (await asyncio.wait_for(self.reader.readline(), LIMIT_S)).decode().strip()

    def do(self, word: str) -> None:
        self.writer.write(f"{word}\n".encode())

    async def end(self) -> None:
        """Wait until the process has ended (its parent may still have to wait for it)."""
        with suppress(ConnectionResetError):
            await asyncio.wait_for(self.reader.read(), LIMIT_S)


class Stage:
    """The place where puppets report; a pool starts them by ``command``."""

    def __init__(self, port: int, arrivals: asyncio.Queue[Puppet]) -> None:
        self._arrivals = arrivals
        self.command = (sys.executable, str(Path(__file__).with_name("puppet.py")), str(port))

    async def enter(self, first_word: str = "ready") -> Puppet:
        """Wait for the next puppet that the pool starts."""
        puppet = await self.enter_starting()
        puppet.do(first_word)
        return puppet

    async def enter_starting(self) -> Puppet:
        """Wait for the next puppet, which waits for its first word: it runs, but is not ready."""
        return await asyncio.wait_for(self._arrivals.get(), LIMIT_S)

    @property
    def is_quiet(self) -> bool:
        return self._arrivals.empty()


@asynccontextmanager
async def open_stage() -> AsyncIterator[Stage]:
    arrivals: asyncio.Queue[Puppet] = asyncio.Queue()
    writers = []

    async def arrive(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        writers.append(writer)
        arrivals.put_nowait(Puppet(int(await reader.readline()), reader, writer))

    server = await asyncio.start_server(arrive, "127.0.0.1", 0)
    try:
        yield Stage(server.sockets[0].getsockname()[1], arrivals)
    finally:
        server.close()
        for writer in writers:
            writer.close()
        await server.wait_closed()
