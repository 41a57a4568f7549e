"""How long a key takes until what it does is drawn, while bots think and a hundred events arrive every second.

    python -m tests.bench.bench_tui_lag [--keys 200] [--events 100] [--game minefield] [--profile FILE]

Four processes: the Textual client on a terminal of its own, `busy_room.py` as its server, a bot that thinks all
the time, and this one, which types ten keys a second. A key moves the cursor; the last that is drawn of that is
the line below the board that names the cell. The client counts the events that reach it.

Prints figures, asserts none. Whatever else the machine does is in the times of a key; the processor time that the
client takes for a key and for an event is its own doing, and the figure to compare versions by.
"""

from __future__ import annotations

import argparse
import asyncio
import random
import re
import sys
import tempfile
import time
from collections.abc import AsyncIterator, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Final

from tabuleiro.rules import registry
from tests.bench.counting_client import COUNT
from tests.e2e.terminal_process import Terminal, terminal

BENCHES: Final = Path(__file__).parent
WARM_UP_KEYS: Final = 20
KEY_EVERY_S: Final = (0.07, 0.13)
"""Between two keys: no even pace, so that the client's own rhythms are met at all their places."""
LEFT, RIGHT = b"\x1b[1;2D", b"\x1b[1;2C"  # with Shift: while watching, the arrows alone step


class BusyRoom:
    """A room in a process of its own; :meth:`order` tells it what to do."""

    def __init__(self, process: asyncio.subprocess.Process, url: str, code: str) -> None:
        self.url, self.code = url, code
        self._process = process

    async def order(self, line: str) -> None:
        """Send an order and wait until it is carried out."""
        assert self._process.stdin is not None
        assert self._process.stdout is not None
        self._process.stdin.write(f"{line}\n".encode())
        await self._process.stdout.readline()


@asynccontextmanager
async def busy_room(game: str, events_per_s: float) -> AsyncIterator[BusyRoom]:
    """A room with two bots that play, for as long as the context lasts."""
    command = (str(BENCHES / "busy_room.py"), game, str(events_per_s))
    pipe = asyncio.subprocess.PIPE
    process = await asyncio.create_subprocess_exec(sys.executable, *command, stdin=pipe, stdout=pipe)
    assert process.stdin is not None
    assert process.stdout is not None
    try:
        url, code = (await process.stdout.readline()).decode().split()
        yield BusyRoom(process, url, code)
    finally:
        process.stdin.close()
        await process.wait()


@dataclass(frozen=True)
class Moment:
    """What was used and counted up to a moment, all in seconds or numbers of events."""

    at_s: float
    busy_s: float
    events: int


@dataclass(frozen=True)
class Phase:
    """What happened within a while: processor time of the client, events it was told, lags of keys."""

    lasted_s: float
    busy_s: float
    events: int
    lags_ms: Sequence[float] = ()

    @property
    def share(self) -> float:
        """The part of a processor that the client used."""
        return self.busy_s / self.lasted_s


class Bench:
    """A client that watches a room, what it has used so far, and keys pressed in it."""

    def __init__(self, screen: Terminal, cells: tuple[str, str], counts: Path) -> None:
        self._screen, self._cells, self._counts = screen, cells, counts

    def now(self) -> Moment:
        """The present moment."""
        # The clock of all threads of another process, as clock_getcpuclockid of the C library makes it.
        busy_s = time.clock_gettime((~self._screen.process_id << 3) | 2)
        (events,) = COUNT.unpack(self._counts.read_bytes())
        return Moment(time.perf_counter(), busy_s, events)

    def since(self, start: Moment, lags_ms: Sequence[float] = ()) -> Phase:
        """What happened since ``start``."""
        end = self.now()
        return Phase(end.at_s - start.at_s, end.busy_s - start.busy_s, end.events - start.events, lags_ms)

    async def idle(self, lasts_s: float) -> Phase:
        """Press nothing for a while."""
        start = self.now()
        await asyncio.sleep(lasts_s)
        return self.since(start)

    async def type(self, count: int) -> Phase:
        """Move the cursor between two cells, and measure what each move takes until it is drawn."""
        start, lags_ms = self.now(), []
        pace = random.Random(count)
        due_s = time.perf_counter()
        for number in range(count):
            await asyncio.sleep(max(0.0, due_s - time.perf_counter()))
            self._screen.forget()
            is_back = number % 2 == 1
            pressed_s = time.perf_counter()
            self._screen.press(LEFT if is_back else RIGHT)
            await self._screen.shows(drawn(self._cells[0] if is_back else self._cells[1]))
            lags_ms.append(1000 * (time.perf_counter() - pressed_s))
            due_s = max(due_s + pace.uniform(*KEY_EVERY_S), time.perf_counter())
        return self.since(start, lags_ms)


def drawn(cell: str) -> str:
    """What the terminal is sent when the line below the board begins with the name of a cell."""
    return r"\x1b\[\d+;[1-9]H(?:\x1b\[[\d;]*m)*\s*(?:\x1b\[[\d;]*m)*" + re.escape(cell) + r"\b"


def middle_cells(game: str) -> tuple[str, str]:
    """The cell on which the cursor stands first, and the one right of it."""
    view = registry.load(game).initial_state().view()
    xs, ys = [cell.x for cell in view.cells], [cell.y for cell in view.cells]
    x, y = (min(xs) + max(xs)) / 2, max(ys) / 2
    middle = min(view.cells, key=lambda cell: (abs(cell.x - x) + 2 * abs(cell.y - y), cell.index))
    right = next(cell for cell in view.cells if (cell.x, cell.y) == (middle.x + 2, middle.y))
    return middle.name, right.name


def report_lags(what: str, phase: Phase) -> None:
    """Print how lags spread."""
    ordered = sorted(phase.lags_ms)
    p50, p90, p99 = (ordered[min(len(ordered) - 1, len(ordered) * part // 100)] for part in (50, 90, 99))
    events = phase.events / phase.lasted_s
    keys = len(ordered) / phase.lasted_s
    print(
        f"{what:<20} {keys:4.1f} keys/s {events:6.1f} events/s   "
        f"p50 {p50:6.1f} ms   p90 {p90:6.1f} ms   p99 {p99:6.1f} ms   max {ordered[-1]:6.1f} ms",
        flush=True,
    )


def report_work(calm: Phase, typing: Phase, busy: Phase, both: Phase) -> None:
    """Print what the client's processor time goes into: what a phase takes beyond the one before it."""
    shares = "  ".join(
        f"{name} {100 * phase.share:.1f} %"
        for name, phase in (("nothing", calm), ("keys", typing), ("events", busy), ("both", both))
    )
    per_key = (typing.share - calm.share) * typing.lasted_s / len(typing.lags_ms)
    events_per_s = busy.events / busy.lasted_s - calm.events / calm.lasted_s
    per_event = (busy.share - calm.share) / events_per_s
    busy_key = (both.share - busy.share) * both.lasted_s / len(both.lags_ms)
    print(f"the client uses of a processor: {shares}")
    print(f"a key {1000 * per_key:.2f} ms, among events {1000 * busy_key:.2f} ms")
    print(f"an event {1000 * per_event:.3f} ms")


async def measure(game: str, keys: int, events_per_s: float, profile: Path | None) -> None:
    """Print what keys take in a quiet room, and in a busy one."""
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        counts = folder / "counts"
        counts.write_bytes(COUNT.pack(0))
        profiler = ("-m", "cProfile", "-o", str(profile)) if profile else ()
        program = (*profiler, str(BENCHES / "counting_client.py"))
        async with busy_room(game, events_per_s) as room:
            arguments = (str(counts), "watch", room.code, "--server", room.url, "--name", "eva")
            size = {"COLUMNS": "120", "LINES": "40", "COLORTERM": "truecolor"}
            async with terminal(folder, *arguments, program=program, **size) as screen:
                await screen.shows("to move")
                bench = Bench(screen, middle_cells(game), counts)
                await bench.type(WARM_UP_KEYS)
                lasts_s = keys / 10
                calm, typing = await bench.idle(lasts_s), await bench.type(keys)
                report_lags("bots think:", typing)
                await room.order("busy")
                await bench.type(WARM_UP_KEYS)
                busy, both = await bench.idle(lasts_s), await bench.type(keys)
                report_lags("and events arrive:", both)
                report_work(calm, typing, busy, both)
                screen.press(b"\x11")
                await screen.wait()


def main() -> None:
    parser = argparse.ArgumentParser(description="How long a key takes until what it does is drawn.")
    parser.add_argument("--keys", type=int, default=200)
    parser.add_argument("--events", type=float, default=100.0, help="how many arrive every second")
    parser.add_argument("--game", default="minefield", choices=registry.names())
    parser.add_argument("--profile", type=Path, help="a file for the client's profile, to read with pstats")
    arguments = parser.parse_args()
    asyncio.run(measure(arguments.game, arguments.keys, arguments.events, arguments.profile))


if __name__ == "__main__":
    main()
