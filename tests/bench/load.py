"""The closed loop: in each room two clients play in turn, as fast as they are answered.

All servers run at once and are played on by turns, a second each, so that whatever else this machine does
meanwhile falls on all of them.
"""

from __future__ import annotations

import asyncio
import time
from collections.abc import Callable, Mapping, Sequence
from contextlib import AsyncExitStack
from dataclasses import dataclass, field
from pathlib import Path
from typing import Final

from tests.bench.figures import median_with_quartiles, spread
from tests.bench.guest import one_match
from tests.bench.pair import Measured, Pair, all_held, seat_at_relay, seat_at_server
from tests.bench.server_under_load import Nodes, Process, relay, running, tabuleiro

WINDOW_S: Final = 1.0
NOW: Final = "tabuleiro"


@dataclass
class Table:
    """One server, the pairs who play on it, and what each window gave."""

    process: Process | Nodes
    is_relay: bool
    room_kib: float
    pairs: list[Pair]
    measured: Measured
    counts: dict[str, float]
    rates: list[float] = field(default_factory=list)
    own_cpu_shares: list[float] = field(default_factory=list)
    cpu_shares: list[float] = field(default_factory=list)
    marks: list[tuple[int, float]] = field(default_factory=list)
    database_cpu_s: Callable[[], float] | None = None
    database_us: list[float] = field(default_factory=list)

    @classmethod
    async def set_up(
        cls,
        process: Process | Nodes,
        room_count: int,
        matches: Sequence[Sequence[str]],
        *,
        is_relay: bool = False,
        pause_s: float = 0.0,
    ) -> Table:
        """Seat the pairs, each client of which waits ``pause_s`` before it moves."""
        seat = seat_at_relay if is_relay else seat_at_server
        before_kib, measured, pairs = process.memory_kib(), Measured(), []
        for number in range(room_count):
            clients, room = await seat(process.url_of(number), number)
            actions = matches[number % len(matches)]
            pairs.append(Pair(clients, room, actions, measured, pause_s, has_matches=not is_relay))
        room_kib = (process.memory_kib() - before_kib) / room_count
        counts = {} if is_relay else await process.metrics()
        return cls(process, is_relay, room_kib, pairs, measured, counts)

    @property
    def cpu_us(self) -> list[float]:
        """Processor time a move in each window, with what the server did for it while others were played on."""
        spans = zip(self.marks, self.marks[1:], strict=False)
        return [1e6 * (after_s - before_s) / (after - before) for (before, before_s), (after, after_s) in spans]

    def mark(self) -> None:
        """Note how many moves the server has acknowledged, and the processor time that it has used."""
        self.marks.append((len(self.measured.acknowledgements_s), self.process.cpu_s()))

    async def window(self) -> None:
        """Let them play for a while, and note what came of it; on a slow machine until the first move is done."""
        self.mark()
        measured, done_count = self.measured, len(self.measured.acknowledgements_s)
        cpu_s, own_cpu_s, started_s = self.process.cpu_s(), time.process_time(), time.perf_counter()
        database_s = self.database_cpu_s() if self.database_cpu_s else 0.0
        measured.is_playing = True
        for pair in self.pairs:
            pair.go_on()
        await asyncio.sleep(WINDOW_S)
        while len(measured.acknowledgements_s) == done_count:
            measured.check()
            await asyncio.sleep(WINDOW_S / 10)
        measured.is_playing = False
        elapsed_s = time.perf_counter() - started_s
        self.rates.append((len(measured.acknowledgements_s) - done_count) / elapsed_s)
        self.own_cpu_shares.append((time.process_time() - own_cpu_s) / elapsed_s)
        self.cpu_shares.append((self.process.cpu_s() - cpu_s) / elapsed_s)
        await all_held(self.pairs, measured)
        if self.database_cpu_s:
            moves_count = len(measured.acknowledgements_s) - done_count
            self.database_us.append(1e6 * (self.database_cpu_s() - database_s) / moves_count)

    async def report(self) -> str:
        """Return a line of figures: medians over the windows, and all times."""
        measured = self.measured
        own_share, share = max(self.own_cpu_shares), max(self.cpu_shares)
        parts = [
            f"  {self.process.name:10}{len(self.pairs):5} rooms {median_with_quartiles(self.rates)} moves/s",
            f"acknowledged {spread(measured.acknowledgements_s)}  told {spread(measured.receipts_s)}",
            f"{median_with_quartiles(self.cpu_us)} us of cpu a move"
            f" (at most {share:.0%} of a core, the load {own_share:.0%})",
            f"{self.room_kib:5.1f} KiB a room of two connections",
            f"{measured.matches_count} matches",
        ]
        if self.database_us:
            parts.append(f"the database {median_with_quartiles(self.database_us)} us a move")
        if not self.is_relay:
            counts = await self.process.metrics()
            events, commits = (
                counts[name] - self.counts[name]
                for name in ("tabuleiro_events_stored_total", "tabuleiro_commits_total")
            )
            parts.append(f"{events / max(commits, 1):.1f} events a commit")
        return "  ".join(parts)


async def bench_load(sizes: Sequence[int], seconds: float, folder: Path) -> None:
    """Play on the server and on both relays, ``seconds`` each."""
    for room_count in sizes:
        commands = {
            "relay (a)": relay(),
            "relay (b)": relay(str(folder / f"relay-{room_count}.db")),
            NOW: tabuleiro(folder / f"load-{room_count}.db"),
        }
        *relays, server = await _play(commands, room_count, seconds)
        for other in relays:
            print(f"  {room_count} rooms: {Ratios.of(server, other).text(other.process.name)}", flush=True)


async def bench_against(pythons: Mapping[str, str], sizes: Sequence[int], seconds: float, folder: Path) -> None:
    """Play on the server as it is now and as it was, ``seconds`` each.

    Args:
        pythons: The interpreter of the environment of each older checkout, by the name to print.
    """
    ratios = {name: Ratios() for name in pythons}
    for room_count in sizes:
        commands = {
            name: tabuleiro(folder / f"older-{number}-{room_count}.db", python)
            for number, (name, python) in enumerate(pythons.items())
        }
        commands[NOW] = tabuleiro(folder / f"now-{room_count}.db")
        *olders, now = await _play(commands, room_count, seconds)
        for older in olders:
            found, name = Ratios.of(now, older), older.process.name
            print(f"  {room_count} rooms: {found.text(name)}", flush=True)
            ratios[name].add(found)
    for name, found in ratios.items():
        print(f"  all sizes: {found.text(name)}", flush=True)


@dataclass
class Ratios:
    """One server beside another, a ratio for each round in which they were played on one after the other."""

    moves: list[float] = field(default_factory=list)
    cpu: list[float] = field(default_factory=list)

    @classmethod
    def of(cls, table: Table, other: Table) -> Ratios:
        """Compare ``table`` with ``other``."""
        return cls(
            [a / b for a, b in zip(table.rates, other.rates, strict=True)],
            [a / b for a, b in zip(table.cpu_us, other.cpu_us, strict=True)],
        )

    def add(self, others: Ratios) -> None:
        """Put in the rounds of ``others``."""
        self.moves += others.moves
        self.cpu += others.cpu

    def text(self, name: str) -> str:
        """Return the ratios in words; ``name`` is the other server's."""
        moves, cpu = median_with_quartiles(self.moves, 3), median_with_quartiles(self.cpu, 3)
        return f"{moves} of the moves/s of {name} for {cpu} of its cpu a move"


async def play_by_turns(tables: Sequence[Table], seconds: float) -> None:
    """Play on all servers by turns, ``seconds`` on each."""
    for number in range(max(round(seconds / WINDOW_S), 1)):
        # The other way round every second time, so that nobody always comes after the same one.
        for table in tables if number % 2 else reversed(tables):
            await table.window()
    for table in tables:
        table.mark()


async def _play(commands: Mapping[str, Sequence[str]], room_count: int, seconds: float) -> list[Table]:
    """Run the servers, have them played on by turns, and print a line about each."""
    matches = [one_match(seed) for seed in range(20)]
    tables: list[Table] = []
    async with AsyncExitStack() as stack:
        for name, command in commands.items():
            process = await stack.enter_async_context(running(name, *command))
            is_relay = name.startswith("relay")
            tables.append(await Table.set_up(process, room_count, matches, is_relay=is_relay))
        await play_by_turns(tables, seconds)
        for table in tables:
            print(await table.report(), flush=True)
    # Only now: the relays complain of clients that are simply gone.
    for pair in (pair for table in tables for pair in table.pairs):
        pair.close()
    return tables
