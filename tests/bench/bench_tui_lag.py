"""How long a key takes until what it does is drawn, while bots think and a hundred events arrive every second.

    python tests/bench/bench_tui_lag.py [--keys 200] [--events 100] [--game minefield]

A server on which two bots play each other, the Textual client on a terminal of its own, and people who talk, come
and go over connections of their own. A key moves the cursor; that is drawn when the line below the board names
the cell. Prints figures, asserts none. Beside the client, a bot, the server and this program are at work: with
fewer processors than that, the figures hold what those take from it. So the last line tells the client's own work.
"""

from __future__ import annotations

import argparse
import asyncio
import re
import sys
import tempfile
import time
from collections.abc import AsyncIterator, Sequence
from contextlib import AsyncExitStack, asynccontextmanager
from pathlib import Path
from typing import Final

from tabuleiro.protocol.messages import CreateRoom, Say, SeatRequest
from tabuleiro.rules import registry
from tabuleiro_client.entered_room import EnteredRoom, enter_room, watch_room
from tabuleiro_client.link import Link

sys.path.insert(0, str(Path(__file__).parent.parent / "e2e"))
from server_process import serving
from terminal_process import Terminal, terminal

TALKERS: Final = 20
TALK_EVERY_S: Final = 2.1
VISITORS: Final = 6
LEVEL: Final = "expert"
WARM_UP_KEYS: Final = 20
PAUSE_S: Final = 0.1
"""Between two keys, as when somebody types quickly."""
NO_LIMITS: Final = {
    "messages_per_second_count": 1_000_000,
    "messages_burst_count": 1_000_000,
    "connections_per_address_count": 1_000,
    "log_level": "warning",
}
LEFT, RIGHT = b"\x1b[D", b"\x1b[C"


async def talk(link: Link, code: str) -> None:
    """Watch the room and say something again and again, as often as a room bears it from one person."""
    async with watch_room(link, code) as room:
        while True:
            await room.request(Say(id=0, room=room.code, text=f"a word of {link.welcome.name}"))
            await asyncio.sleep(TALK_EVERY_S)


async def come_and_go(link: Link, code: str, every_s: float) -> None:
    """Watch the room for a moment, again and again: that makes two events."""
    loop = asyncio.get_running_loop()
    due_s = loop.time()
    while True:
        async with watch_room(link, code):
            due_s += every_s
            await asyncio.sleep(max(0.0, due_s - loop.time()))


@asynccontextmanager
async def crowd(url: str, code: str, events_per_s: float) -> AsyncIterator[None]:
    """People who make so many events a second: some talk, the others come and go."""
    async with AsyncExitStack() as stack:
        count = TALKERS + VISITORS
        links = [await stack.enter_async_context(Link(url, name=f"p{number}")) for number in range(count)]
        comings_per_s = max(1.0, events_per_s - TALKERS / TALK_EVERY_S) / 2
        tasks = [asyncio.create_task(talk(link, code)) for link in links[:TALKERS]]
        tasks += [
            asyncio.create_task(come_and_go(link, code, VISITORS / comings_per_s)) for link in links[TALKERS:]
        ]
        try:
            yield
            for task in tasks:
                if task.done():
                    task.result()
        finally:
            for task in tasks:
                task.cancel()
            await asyncio.wait(tasks)


async def count_events(room: EnteredRoom, counts: list[int]) -> None:
    """Count in ``counts[0]`` what is told of the room."""
    async for _ in room:
        counts[0] += 1


def drawn(cell: str) -> str:
    """What the terminal is sent when the line below the board begins with the name of a cell."""
    return r"\x1b\[\d+;[1-9]H(?:\x1b\[[\d;]*m)*\s*(?:\x1b\[[\d;]*m)*" + re.escape(cell) + r"\b"


async def lags_ms(screen: Terminal, cells: tuple[str, str], count: int) -> list[float]:
    """Move the cursor between two cells; return what each move took until it was drawn."""
    times: list[float] = []
    for number in range(count):
        is_back = number % 2 == 1
        started_s = time.perf_counter()
        screen.press(LEFT if is_back else RIGHT)
        await screen.shows(drawn(cells[0] if is_back else cells[1]))
        times.append(1000 * (time.perf_counter() - started_s))
        await asyncio.sleep(PAUSE_S)
    return times


def middle_cells(game: str) -> tuple[str, str]:
    """The cell on which the cursor stands first, and the one right of it."""
    view = registry.load(game).initial_state().view()
    xs, ys = [cell.x for cell in view.cells], [cell.y for cell in view.cells]
    x, y = (min(xs) + max(xs)) / 2, max(ys) / 2
    middle = min(view.cells, key=lambda cell: (abs(cell.x - x) + 2 * abs(cell.y - y), cell.index))
    right = next(cell for cell in view.cells if (cell.x, cell.y) == (middle.x + 2, middle.y))
    return middle.name, right.name


def report(what: str, times: Sequence[float]) -> None:
    """Print the middle, the last hundredth and the worst of ``times``."""
    ordered = sorted(times)
    p99 = ordered[min(len(ordered) - 1, len(ordered) * 99 // 100)]
    print(f"{what:<34} p50 {ordered[len(ordered) // 2]:6.1f} ms   p99 {p99:6.1f} ms   max {ordered[-1]:6.1f} ms")


def busy_s(process_id: int) -> float:
    """The processor time that a process has used."""
    fields = Path(f"/proc/{process_id}/stat").read_text().rpartition(")")[2].split()
    return (int(fields[11]) + int(fields[12])) / 100


async def measure(game: str, keys: int, events_per_s: float) -> None:
    """Print what keys take in a quiet room, and in a busy one."""
    bots = (SeatRequest("bot", LEVEL), SeatRequest("bot", LEVEL))
    cells = middle_cells(game)
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        async with serving(folder / "t.db", **NO_LIMITS) as server, Link(server.url, name="host") as link:
            create = CreateRoom(id=0, game=game, options={}, seats=bots)
            async with enter_room(link, lambda: link.create_room(create)) as room:
                arguments = ("watch", room.code, "--server", server.url, "--name", "eva")
                size = {"COLUMNS": "120", "LINES": "40", "COLORTERM": "truecolor"}
                async with terminal(folder, *arguments, **size) as screen:
                    await screen.shows("to move")
                    await lags_ms(screen, cells, WARM_UP_KEYS)
                    report("a bot thinks:", await lags_ms(screen, cells, keys))
                    counts = [0]
                    counting = asyncio.create_task(count_events(room, counts))
                    async with crowd(server.url, room.code, events_per_s):
                        await asyncio.sleep(1)
                        counts[0], before_s, started_s = 0, busy_s(screen.process_id), time.perf_counter()
                        times = await lags_ms(screen, cells, keys)
                        lasted_s = time.perf_counter() - started_s
                        report(f"and {counts[0] / lasted_s:.0f} events a second arrive:", times)
                        share = (busy_s(screen.process_id) - before_s) / lasted_s
                        print(f"the client's own work meanwhile: {100 * share:.0f} % of a processor")
                    counting.cancel()


def main() -> None:
    parser = argparse.ArgumentParser(description="How long a key takes until what it does is drawn.")
    parser.add_argument("--keys", type=int, default=200)
    parser.add_argument("--events", type=float, default=100.0, help="how many arrive every second")
    parser.add_argument("--game", default="minefield", choices=registry.names())
    arguments = parser.parse_args()
    asyncio.run(measure(arguments.game, arguments.keys, arguments.events))


if __name__ == "__main__":
    main()
