"""The time from a move until the last of many watchers is told of it."""

from __future__ import annotations

import asyncio
import time
from collections.abc import Sequence
from pathlib import Path

from tabuleiro.protocol.messages import CreateRoom, Play, SeatRequest, WatchRoom
from tests.bench.figures import percentile
from tests.bench.guest import CODEC, GAME, OPTIONS, TOLD, Guest, one_match
from tests.bench.server_under_load import running, tabuleiro

MOVES_COUNT = 15


async def bench_watchers(sizes: Sequence[int], folder: Path) -> None:
    """One room, more and more watchers, and a host who plays both sides."""
    actions = one_match(1)
    async with running("tabuleiro", *tabuleiro(folder / "watchers.db")) as process:
        host = await Guest.arrive(process.url, "player")
        seats = (SeatRequest("me"), SeatRequest("me"))
        room = (await host.ask(CreateRoom(id=0, game=GAME, options=OPTIONS, seats=seats))).head.room
        watchers: list[Guest] = []
        ply = 0
        for size in sizes:
            while len(watchers) < size:
                watcher = await Guest.arrive(process.url, f"w-{len(watchers)}")
                await watcher.ask(WatchRoom(id=0, room=room))
                watchers.append(watcher)
            await asyncio.sleep(0.5)
            times_s = []
            for _ in range(MOVES_COUNT):
                waiting = AllTold(watchers, ply)
                started_s = time.perf_counter()
                host.client.send(CODEC.encode(Play(id=9, room=room, match=1, ply=ply, actions=(actions[ply],))))
                await waiting.done
                times_s.append(time.perf_counter() - started_s)
                ply += 1
            middle_ms, slowest_ms = percentile(times_s, 50), 1000 * max(times_s)
            print(
                f"  {size:6} watchers: from a move to the last of them p50 {middle_ms:.1f} ms,"
                f" slowest {slowest_ms:.1f} ms",
                flush=True,
            )
        for guest in (host, *watchers):
            guest.client.close()


class AllTold:
    """Waits until all watchers were told of an action."""

    def __init__(self, watchers: Sequence[Guest], ply: int) -> None:
        self.done: asyncio.Future[None] = asyncio.get_running_loop().create_future()
        self._ply = ply
        self._left_count = len(watchers)
        for watcher in watchers:
            watcher.client.on_frame = self._take

    def _take(self, frame: bytes) -> None:
        told = TOLD.decode(frame)
        if told.events and told.events[0].event.ply == self._ply:
            self._left_count -= 1
            if not self._left_count:
                self.done.set_result(None)
