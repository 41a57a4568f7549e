"""A TCP relay before a server that behaves as bad networks do, at random from a seed.

Connections are cut with or without a word and in the middle of frames, bytes are late or come in pieces, and now
and then nothing goes through any more in either direction while both ends still see an open socket.
"""

from __future__ import annotations

import asyncio
import random
import socket
import struct
from collections import Counter
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import dataclass
from typing import Final

_READ_BYTES: Final = 65_536
_LINGER_NOT: Final = struct.pack("ii", 1, 0)
"""Value of SO_LINGER with which a closed socket sends a reset."""

FAULTS: Final = ("reset", "ended", "half-open", "late", "in pieces")


@dataclass(frozen=True, slots=True)
class Odds:
    """How likely each fault is to meet a read of bytes, from 0 to 1; ``late_s`` are longest delays in seconds."""

    reset: float = 0.004
    ended: float = 0.002
    half_open: float = 0.0015
    late: float = 0.08
    in_pieces: float = 0.1
    late_s: tuple[float, ...] = (0.005, 0.05, 0.5)


class FaultyNetwork:
    """The way to a server on a loopback port; ``counts`` tells how often which fault came."""

    def __init__(self, target_port: int, seed: int, odds: Odds) -> None:
        self.port = 0
        self.counts: Counter[str] = Counter()
        self._target_port = target_port
        self._chance = random.Random(seed)
        self._odds = odds
        self._cables: dict[Cable, asyncio.Task[None]] = {}

    @property
    def url(self) -> str:
        """Where clients connect to."""
        return f"ws://127.0.0.1:{self.port}"

    @property
    def cables_count(self) -> int:
        """Connections that still have an open end."""
        return len(self._cables)

    async def connect(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        """Lay a cable for a client that has come, and keep it until both ends are gone."""
        chance = random.Random(self._chance.random())
        try:
            far = await asyncio.open_connection("127.0.0.1", self._target_port)
        except OSError:
            writer.transport.abort()
            return
        cable = Cable(((reader, writer), far), chance, self._odds, self.counts)
        task = asyncio.current_task()
        assert task is not None
        self._cables[cable] = task
        try:
            await cable.run()
        finally:
            del self._cables[cable]

    def reset_silent(self) -> None:
        """Let both ends of the connections that fell silent see a reset."""
        for cable in tuple(self._cables):
            if cable.is_dead:
                cable.reset()

    async def close(self) -> None:
        """Cut what is left."""
        tasks = tuple(self._cables.values())
        for cable in tuple(self._cables):
            cable.reset()
        if tasks:
            await asyncio.wait(tasks)


Stream = tuple[asyncio.StreamReader, asyncio.StreamWriter]


class Cable:
    """One connection of a client with the server; over one that ``is_dead`` nothing goes through any more."""

    def __init__(
        self, ends: tuple[Stream, Stream], chance: random.Random, odds: Odds, counts: Counter[str]
    ) -> None:
        self._ends = ends
        self._chance = chance
        self._odds = odds
        self._counts = counts
        self.is_dead = False

    async def run(self) -> None:
        """Carry bytes both ways until both ends are gone."""
        (near_in, near_out), (far_in, far_out) = self._ends
        try:
            await asyncio.gather(self._carry(near_in, far_out), self._carry(far_in, near_out))
        finally:
            for _, writer in self._ends:
                writer.close()

    def reset(self) -> None:
        """Let both ends see a reset."""
        self.is_dead = True
        for _, writer in self._ends:
            if not writer.transport.is_closing():
                writer.get_extra_info("socket").setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, _LINGER_NOT)
                writer.transport.abort()

    async def _carry(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        """What comes over a dead cable is taken and lost, also that its end was closed."""
        try:
            while data := await reader.read(_READ_BYTES):
                if not self.is_dead:
                    await self._pass_on(data, writer)
            if not self.is_dead and not writer.transport.is_closing():
                writer.write_eof()
        except OSError:
            if not self.is_dead:
                self.reset()

    async def _pass_on(self, data: bytes, writer: asyncio.StreamWriter) -> None:
        odds, chance = self._odds, self._chance
        weights = (odds.reset, odds.ended, odds.half_open, odds.late, odds.in_pieces)
        (fault,) = chance.choices((*FAULTS, ""), (*weights, 1 - sum(weights)))
        if fault:
            self._counts[fault] += 1
        cut_at = chance.randrange(len(data) + 1)
        if fault == "half-open":
            self.is_dead = True
            return
        if fault == "late":
            await asyncio.sleep(chance.choice(odds.late_s) * chance.random())
        elif fault:
            writer.write(data[:cut_at])
            await writer.drain()
            # The other end reads what has come before it sees what comes next.
            await asyncio.sleep(0)
            data = data[cut_at:]
        if fault == "reset":
            self.reset()
        elif fault == "ended":
            self.is_dead = True
            for _, each in self._ends:
                each.close()
        if not self.is_dead:
            writer.write(data)
            await writer.drain()


@asynccontextmanager
async def faulty_network(target_port: int, seed: int, odds: Odds = Odds()) -> AsyncIterator[FaultyNetwork]:
    """A bad way to the server at ``target_port`` of the loopback."""
    network = FaultyNetwork(target_port, seed, odds)
    server = await asyncio.start_server(network.connect, "127.0.0.1", 0)
    network.port = server.sockets[0].getsockname()[1]
    try:
        yield network
    finally:
        server.close()
        await network.close()
        await server.wait_closed()
