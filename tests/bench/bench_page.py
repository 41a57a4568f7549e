"""Measure the page in the browser: its size, the time to the first board on a slow phone, and what browsers cost.

    python -m tests.bench.bench_page [--only size|phone|updates|memory] [--watchers 1000] [--moves 20] [--rounds 5]
        [--loads 5]

It prints figures and asserts none. `phone` needs playwright and chromium: a processor four times as slow, and
Lighthouse's slow 4G (150 ms a round trip, 1.6 Mbit/s down, 750 kbit/s up). `updates` and `memory` have a server in
a process of its own: as many guests watch a room as pages do (JSON, with boards) and as terminals do (msgpack, by
the rules), by turns. Medians come with their quartiles in brackets.
"""

from __future__ import annotations

import argparse
import asyncio
import tempfile
import time
from collections.abc import Sequence
from importlib.resources import files
from pathlib import Path
from typing import Final

import msgspec
import uvloop

from tabuleiro.protocol.codec import JsonCodec, MsgpackCodec
from tabuleiro.protocol.messages import CreateRoom, Hello, Play, SeatRequest, WatchRoom
from tabuleiro.protocol.version import SUBPROTOCOL_JSON, SUBPROTOCOL_MSGPACK
from tabuleiro.rules import registry
from tabuleiro_server.cli.serve import allow_open_files
from tabuleiro_server.net.page import Page
from tests.bench.figures import median_with_quartiles
from tests.bench.guest import GAME, OPTIONS, TOLD, Guest, Told, one_match
from tests.bench.server_under_load import running, tabuleiro
from tests.bench.wire import WireClient

ARRIVALS_AT_ONCE: Final = 50
FLIGHT_LIMIT_S: Final = 60

SLOW_4G: Final = {
    "offline": False,
    "latency": 150,
    "downloadThroughput": 1_600_000 / 8,
    "uploadThroughput": 750_000 / 8,
}
SLOWER_TIMES: Final = 4
PHONE: Final = {"viewport": {"width": 360, "height": 740}, "has_touch": True, "is_mobile": True}

_TOLD_AS_JSON: Final = msgspec.json.Decoder(Told)


def measure_size() -> None:
    """Print the bytes of the page, plain and compressed."""
    page = Page(lambda code: None)
    names = {entry.name for entry in (files("tabuleiro_server.net") / "web").iterdir()} - {"index.html"}
    names |= {f"rules-{game}.json" for game in registry.names()}
    found = {name: page.find(f"{page.folder}/{name}") for name in sorted(names)} | {"index.html": page.find("/")}
    sizes = [(name, len(file.plain), len(file.zipped)) for name, file in found.items() if file is not None]
    totals = tuple(map(sum, zip(*(size[1:] for size in sizes), strict=True)))
    for name, plain, zipped in [*sizes, ("together", *totals)]:
        print(f"  {name:22} {plain:7} bytes, {zipped:6} compressed")


async def measure_phone(loads_count: int, folder: Path) -> None:
    """Print the time from the click on a link to a room until its board is there, on a slow phone."""
    from playwright.async_api import async_playwright

    from tests.browser.conftest import CHROMIUM

    async with running("tabuleiro", *tabuleiro(folder / "phone.db")) as process, async_playwright() as playwright:
        host = await Guest.arrive(process.url, "player")
        room = (await host.ask(CreateRoom(id=0, game="virus-wars"))).head.room
        address = process.url.replace("ws://", "http://")
        browser = await playwright.chromium.launch(executable_path=CHROMIUM, args=["--no-sandbox"])
        cold_s, warm_s = [], []
        for _ in range(loads_count):
            context = await browser.new_context(**PHONE)
            page = await context.new_page()
            session = await context.new_cdp_session(page)
            await session.send("Network.emulateNetworkConditions", SLOW_4G)
            await session.send("Emulation.setCPUThrottlingRate", {"rate": SLOWER_TIMES})
            for times_s in (cold_s, warm_s):
                started_s = time.perf_counter()
                await page.goto(f"{address}/r/{room}", wait_until="commit")
                await page.wait_for_selector("svg.board .virus, svg.board .cell")
                times_s.append(time.perf_counter() - started_s)
            await context.close()
        await browser.close()
        print(f"  first visit {median_with_quartiles(cold_s, 2)} s")
        print(f"  later visits {median_with_quartiles(warm_s, 2)} s")


class Watchers:
    """Guests of one kind who watch a room: as pages do, or as terminals do."""

    def __init__(self, name: str, *, as_page: bool) -> None:
        self.name = name
        self._subprotocol = SUBPROTOCOL_JSON if as_page else SUBPROTOCOL_MSGPACK
        self._codec = JsonCodec() if as_page else MsgpackCodec()
        self._as_page = as_page
        self._told = _TOLD_AS_JSON if as_page else TOLD
        self._clients: list[WireClient] = []
        self._left_count = 0
        self._all_told = asyncio.Event()
        self.bytes_count = 0

    async def arrive(self, url: str, room: str, count: int) -> None:
        """Enter the room."""
        while len(self._clients) < count:
            size = min(ARRIVALS_AT_ONCE, count - len(self._clients))
            self._clients += await asyncio.gather(
                *(self._one(url, room, len(self._clients) + n) for n in range(size))
            )

    async def _one(self, url: str, room: str, number: int) -> WireClient:
        client = await WireClient.connect(url, self._subprotocol)
        for message in (
            Hello(id=1, name=f"{self.name}-{number}"),
            WatchRoom(id=2, room=room, boards=True if self._as_page else msgspec.UNSET),  # type: ignore[arg-type]
        ):
            client.send(self._codec.encode(message), 1 if self._as_page else 2)
            while self._told.decode(await client.receive()).id != message.id:
                pass
        return client

    def expect(self, ply: int) -> asyncio.Event:
        """Return the event that is set when all were told of an action."""
        self._left_count, self._all_told = len(self._clients), asyncio.Event()

        def take(frame: bytes) -> None:
            self.bytes_count += len(frame)
            told = self._told.decode(frame)
            if told.events and told.events[0].event.ply == ply:
                self._left_count -= 1
                if not self._left_count:
                    self._all_told.set()

        for client in self._clients:
            client.on_frame = take
        return self._all_told

    def leave(self) -> None:
        """Break all connections."""
        for client in self._clients:
            client.close()


async def measure_updates(count: int, moves_count: int, rounds_count: int, folder: Path) -> None:
    """Print the processor time that a move costs the server, with as many pages and with as many terminals."""
    async with running("tabuleiro", *tabuleiro(folder / "updates.db")) as process:
        host = await Guest.arrive(process.url, "player")
        kinds = {"pages": True, "terminals": False}
        groups, rooms, plies = {}, {}, dict.fromkeys(kinds, 0)
        actions = one_match(1)
        for name, as_page in kinds.items():
            seats = (SeatRequest("me"), SeatRequest("me"))
            rooms[name] = (await host.ask(CreateRoom(id=0, game=GAME, options=OPTIONS, seats=seats))).head.room
            groups[name] = Watchers(name, as_page=as_page)
            await groups[name].arrive(process.url, rooms[name], count)
        costs: dict[str, list[float]] = {name: [] for name in kinds}
        times: dict[str, list[float]] = {name: [] for name in kinds}
        for _ in range(rounds_count):
            for name, group in groups.items():
                used_s, started_s = process.cpu_s(), time.perf_counter()
                for _ in range(moves_count):
                    told = group.expect(plies[name])
                    await host.ask(
                        Play(id=0, room=rooms[name], match=1, ply=plies[name], actions=(actions[plies[name]],))  # type: ignore[arg-type]
                    )
                    async with asyncio.timeout(FLIGHT_LIMIT_S):
                        await told.wait()
                    plies[name] += 1
                costs[name].append((process.cpu_s() - used_s) / moves_count * 1000)
                times[name].append((time.perf_counter() - started_s) / moves_count * 1000)
        for name, group in groups.items():
            print(
                f"  {count} {name:9} {median_with_quartiles(costs[name], 1)} ms of processor a move,"
                f" {median_with_quartiles(times[name], 1)} ms until the last is told,"
                f" {group.bytes_count / count / plies[name]:.0f} bytes an update",
                flush=True,
            )
            group.leave()
        ratios = [page / terminal for page, terminal in zip(costs["pages"], costs["terminals"], strict=True)]
        print(f"  pages to terminals: {median_with_quartiles(ratios, 2)}")


async def measure_memory(count: int, folder: Path) -> None:
    """Print the memory of the server for each watching page, and for each watching terminal."""
    for name, as_page in (("pages", True), ("terminals", False)):
        async with running("tabuleiro", *tabuleiro(folder / f"{name}.db")) as process:
            host = await Guest.arrive(process.url, "player")
            room = (await host.ask(CreateRoom(id=0, game=GAME, options=OPTIONS))).head.room
            group = Watchers(name, as_page=as_page)
            await process.metrics()
            first_kib = process.memory_kib()
            await group.arrive(process.url, room, count)
            print(f"  {count} {name:9} {(process.memory_kib() - first_kib) / count:5.1f} KiB each", flush=True)
            group.leave()


async def bench(arguments: argparse.Namespace, folder: Path) -> None:
    """Run the parts that are asked for."""
    allow_open_files(2 * arguments.watchers)
    parts: Sequence[str] = [arguments.only] if arguments.only else ("size", "phone", "updates", "memory")
    for part in parts:
        print(part, flush=True)
        if part == "size":
            measure_size()
        elif part == "phone":
            await measure_phone(arguments.loads, folder)
        elif part == "updates":
            await measure_updates(arguments.watchers, arguments.moves, arguments.rounds, folder)
        else:
            await measure_memory(arguments.watchers, folder)


def main() -> None:
    """Read the arguments and run."""
    parser = argparse.ArgumentParser(description="Measure the page in the browser.")
    parser.add_argument("--only", choices=["size", "phone", "updates", "memory"])
    parser.add_argument("--watchers", type=int, default=1000)
    parser.add_argument("--moves", type=int, default=20)
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--loads", type=int, default=5)
    with tempfile.TemporaryDirectory() as name:
        uvloop.run(bench(parser.parse_args(), Path(name)))


if __name__ == "__main__":
    main()
