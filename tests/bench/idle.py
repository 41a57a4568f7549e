"""Memory of connections and rooms in which nothing happens."""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from pathlib import Path

from tabuleiro.protocol.messages import CreateRoom
from tests.bench.guest import GAME, OPTIONS, Guest
from tests.bench.server_under_load import running, tabuleiro

ARRIVALS_AT_ONCE = 50
ROOMS_A_HOST = 40


async def bench_idle(sizes: Sequence[int], room_sizes: Sequence[int], folder: Path) -> None:
    """Connections first, and then rooms that hosts have opened and wait in."""
    await _connections(sizes, folder / "idle.db")
    await _rooms(room_sizes, folder / "rooms.db")


async def _connections(sizes: Sequence[int], db: Path) -> None:
    async with running("tabuleiro", *tabuleiro(db)) as process:
        first_kib = process.memory_kib()
        guests: list[Guest] = []
        for size in sizes:
            while len(guests) < size:
                count = min(ARRIVALS_AT_ONCE, size - len(guests))
                arrivals = (Guest.arrive(process.url, f"g-{len(guests) + n}") for n in range(count))
                guests += await asyncio.gather(*arrivals)
            used_kib = process.memory_kib() - first_kib
            print(f"  {size:6} idle connections {used_kib / size:7.1f} KiB each", flush=True)
        for guest in guests:
            guest.client.close()


async def _rooms(sizes: Sequence[int], db: Path) -> None:
    async with running("tabuleiro", *tabuleiro(db)) as process:
        first_kib, room_count = process.memory_kib(), 0
        hosts: list[Guest] = []
        for size in sizes:
            while room_count < size:
                if room_count % ROOMS_A_HOST == 0:
                    hosts.append(await Guest.arrive(process.url, f"h-{room_count}"))
                await hosts[-1].ask(CreateRoom(id=0, game=GAME, options=OPTIONS))
                room_count += 1
            used_kib = process.memory_kib() - first_kib
            print(f"  {size:6} idle rooms       {used_kib / size:7.1f} KiB each", flush=True)
        for host in hosts:
            host.client.close()
