"""The closed loop: in each room two clients play in turn, as fast as they are answered.

All servers run at once and are played on by turns, a second each, so that whatever else this machine does
meanwhile falls on all of them.
"""

from __future__ import annotations

import asyncio
import statistics
import time
from collections.abc import Sequence
from contextlib import AsyncExitStack
from dataclasses import dataclass, field
from pathlib import Path
from typing import Final

from tests.bench.figures import spread
from tests.bench.guest import one_match
from tests.bench.pair import Measured, Pair, seat_at_relay, seat_at_server
from tests.bench.server_under_load import RELAY, Process, running, tabuleiro

WINDOW_S: Final = 1.0
SETTLE_S: Final = 0.3
"""Time for what was under way at the end of a window."""


@dataclass
class Table:
    """One server, the pairs who play on it, and what each window gave."""

    process: Process
    room_kib: float
    pairs: list[Pair]
    measured: Measured
    counts: dict[str, float]
    rates: list[float] = field(default_factory=list)
    cpu_ms: list[float] = field(default_factory=list)
    own_cpu_shares: list[float] = field(default_factory=list)
    cpu_shares: list[float] = field(default_factory=list)

    @classmethod
    async def set_up(cls, process: Process, room_count: int, matches: Sequence[Sequence[str]]) -> Table:
        """Seat the pairs."""
        seat = seat_at_server if process.name == "tabuleiro" else seat_at_relay
        before_kib, measured, pairs = process.memory_kib(), Measured(), []
        for number in range(room_count):
            clients, room = await seat(process.url, number)
            pairs.append(Pair(clients, room, matches[number % len(matches)], measured))
        room_kib = (process.memory_kib() - before_kib) / room_count
        counts = await process.metrics() if process.name == "tabuleiro" else {}
        return cls(process, room_kib, pairs, measured, counts)

    async def window(self) -> None:
        """Let them play for a while, and note what came of it."""
        measured, done_count = self.measured, len(self.measured.acknowledgements_s)
        cpu_s, own_cpu_s, started_s = self.process.cpu_s(), time.process_time(), time.perf_counter()
        measured.is_playing = True
        for pair in self.pairs:
            pair.go_on()
        await asyncio.sleep(WINDOW_S)
        measured.is_playing = False
        elapsed_s = time.perf_counter() - started_s
        self.rates.append((len(measured.acknowledgements_s) - done_count) / elapsed_s)
        self.own_cpu_shares.append((time.process_time() - own_cpu_s) / elapsed_s)
        self.cpu_shares.append((self.process.cpu_s() - cpu_s) / elapsed_s)
        await asyncio.sleep(SETTLE_S)
        count = len(measured.acknowledgements_s) - done_count
        self.cpu_ms.append(1e6 * (self.process.cpu_s() - cpu_s) / max(count, 1))

    async def report(self) -> str:
        """A line of figures: the median window, and all times."""
        measured = self.measured
        parts = [
            f"  {self.process.name:10}{len(self.pairs):5} rooms {statistics.median(self.rates):7.0f} moves/s",
            f"acknowledged {spread(measured.acknowledgements_s)}  told {spread(measured.receipts_s)}",
            f"{statistics.median(self.cpu_ms):5.0f} ms of cpu per 1000 moves"
            f" ({statistics.median(self.cpu_shares):.0%} of a core,"
            f" the load {statistics.median(self.own_cpu_shares):.0%})",
            f"{self.room_kib:5.1f} KiB a room of two connections",
        ]
        if self.process.name == "tabuleiro":
            counts = await self.process.metrics()
            events, commits = (
                counts[name] - self.counts[name]
                for name in ("tabuleiro_events_stored_total", "tabuleiro_commits_total")
            )
            group_size = events / max(commits, 1)
            parts.append(f"{group_size:.1f} events a commit")
        if measured.exhausted_count:
            parts.append(f"{measured.exhausted_count} matches were over early")
        return "  ".join(parts)


async def bench_load(sizes: Sequence[int], seconds: float, folder: Path) -> None:
    """The closed loop against all three servers, ``seconds`` each."""
    matches = [one_match(seed) for seed in range(20)]
    for room_count in sizes:
        servers: list[tuple[str, tuple[str, ...]]] = [
            ("relay (a)", (RELAY,)),
            ("relay (b)", (RELAY, str(folder / f"relay-{room_count}.db"))),
            ("tabuleiro", tabuleiro(folder / f"load-{room_count}.db")),
        ]
        tables: list[Table] = []
        async with AsyncExitStack() as stack:
            for name, command in servers:
                process = await stack.enter_async_context(running(name, *command))
                tables.append(await Table.set_up(process, room_count, matches))
            for _ in range(max(round(seconds / WINDOW_S), 1)):
                for table in tables:
                    await table.window()
            for table in tables:
                print(await table.report(), flush=True)
            print(f"  {room_count} rooms: {_ratios(tables)}", flush=True)
        # Only now: the relays complain of clients that are simply gone.
        for pair in (pair for table in tables for pair in table.pairs):
            pair.close()


def _ratios(tables: Sequence[Table]) -> str:
    """The server beside each relay: the median over the rounds, in each of which they ran one after the other."""
    *relays, server = tables
    found = []
    for relay in relays:
        moves = statistics.median(a / b for a, b in zip(server.rates, relay.rates, strict=True))
        cpu = statistics.median(a / b for a, b in zip(server.cpu_ms, relay.cpu_ms, strict=True))
        found.append(f"{moves:.2f} of the moves/s of {relay.process.name} for {cpu:.2f} of its cpu a move")
    return ", ".join(found)
