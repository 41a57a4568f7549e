"""How fast and how big the server is, beside relays that do as little as possible. Prints figures, asserts none.

    python tests/bench/bench_server.py [--rooms 50 100 200] [--seconds 4] [--connections 250 500 1000]
        [--idle-rooms 200 400 800] [--watchers 100 200 400] [--only load|idle|watchers|restart]

The load is a closed loop over real WebSockets on loopback: in each room two clients play in turn, each as soon as
it is told of the other's action. Every server runs in a process of its own; this process makes the load. (a) is a
relay that checks and stores nothing, (b) the same relay with each move in a group commit.
"""

from __future__ import annotations

import argparse
import asyncio
import os
import random
import re
import sys
import tempfile
import time
import urllib.request
from collections.abc import AsyncIterator, Callable, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Final

import msgspec
import uvloop
from wire import WireClient

from tabuleiro.protocol.codec import MsgpackCodec
from tabuleiro.protocol.messages import (
    ClientMessage,
    CreateRoom,
    Error,
    Hello,
    JoinRoom,
    Ok,
    Play,
    RoomEntered,
    SeatRequest,
    WatchRoom,
)
from tabuleiro.protocol.version import SUBPROTOCOL_MSGPACK
from tabuleiro.rules import registry

sys.path.insert(0, str(Path(__file__).parent.parent / "e2e"))
from stored_rooms import fill, room_code

HERE: Final = Path(__file__).parent
GAME: Final = "minefield"
OPTIONS: Final[dict[str, int | str]] = {"size": 19, "rules": "beginner"}
WARM_UP_S: Final = 1.0
CODEC: Final = MsgpackCodec()
ENCODER: Final = msgspec.msgpack.Encoder()
NO_LIMITS: Final = {
    "TABULEIRO_CONNECTIONS_COUNT": "100000",
    "TABULEIRO_CONNECTIONS_PER_ADDRESS_COUNT": "100000",
    "TABULEIRO_HANDSHAKES_COUNT": "100000",
    "TABULEIRO_MESSAGES_PER_SECOND_COUNT": "1000000",
    "TABULEIRO_MESSAGES_BURST_COUNT": "1000000",
    "TABULEIRO_ROOMS_PER_ACCOUNT_COUNT": "100000",
    "TABULEIRO_SHUTDOWN_NOTICE_MS": "0",
    "TABULEIRO_LOG_LEVEL": "warning",
}


class Played(msgspec.Struct):
    """The part of an event that the load needs."""

    ply: int | None = None


class Numbered(msgspec.Struct):
    """An event with whatever is beside it."""

    event: Played


class Told(msgspec.Struct):
    """The part of a server's message that the load needs."""

    type: str
    id: int | None = None
    events: tuple[Numbered, ...] = ()
    message: str = ""


TOLD: Final = msgspec.msgpack.Decoder(Told)


@dataclass
class Process:
    """A server in a process of its own."""

    name: str
    url: str
    pid: int

    def cpu_s(self) -> float:
        """Processor time used so far, in seconds."""
        fields = Path(f"/proc/{self.pid}/stat").read_text().rpartition(")")[2].split()
        return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")

    def memory_kib(self) -> int:
        """Resident memory in KiB."""
        found = re.search(r"VmRSS:\s+(\d+)", Path(f"/proc/{self.pid}/status").read_text())
        assert found is not None
        return int(found[1])

    def metric(self, name: str) -> float:
        """Read one figure from /metrics."""
        with urllib.request.urlopen(self.url.replace("ws://", "http://") + "/metrics") as response:
            text = response.read().decode()
        found = re.search(rf"^{re.escape(name)} ([0-9.e+]+)$", text, re.MULTILINE)
        return float(found[1]) if found is not None else float("nan")


@asynccontextmanager
async def running(name: str, *command: str) -> AsyncIterator[Process]:
    """Start a server and wait until it listens; kill it at the end."""
    process = await asyncio.create_subprocess_exec(
        *(sys.executable, *command), stdout=asyncio.subprocess.PIPE, env={**os.environ, **NO_LIMITS}
    )
    try:
        assert process.stdout is not None
        line = (await process.stdout.readline()).decode()
        yield Process(name, line.split()[-1], process.pid)
    finally:
        process.kill()
        await process.wait()


def tabuleiro(db: Path) -> tuple[str, ...]:
    """The command that serves ``db``."""
    return ("-m", "tabuleiro_client", "serve", "--db", str(db), "--port", "0")


class Guest:
    """A guest of a tabuleiro server."""

    def __init__(self, client: WireClient) -> None:
        self.client = client
        self._id = 0

    @classmethod
    async def arrive(cls, url: str, name: str) -> Guest:
        """Connect and say hello."""
        guest = cls(await WireClient.connect(url, SUBPROTOCOL_MSGPACK))
        await guest.ask(Hello(id=0, name=name))
        return guest

    async def ask(self, message: ClientMessage) -> Any:
        """Send a request and return what its answer carries."""
        self._id += 1
        self.client.send(CODEC.encode(msgspec.structs.replace(message, id=self._id)))
        while True:
            answer = CODEC.decode_server(await self.client.receive())
            if isinstance(answer, Error):
                raise ConnectionError(f"{answer.code}: {answer.message}")
            if isinstance(answer, Ok) and answer.id == self._id:
                return answer.result


def one_match(seed: int) -> list[str]:
    """The actions of a random match."""
    chance, state = random.Random(seed), registry.load(GAME, OPTIONS).initial_state()
    texts = []
    while not state.is_terminal:
        action = chance.choice(state.legal_actions())
        texts.append(state.action_to_string(action))
        state = state.child(action)
    return texts


@dataclass
class Figures:
    """What the load measured; moments in seconds, counted from the start of the measured time."""

    is_measuring: bool = False
    acknowledged_count: int = 0
    acknowledgements_s: list[float] = field(default_factory=list)
    receipts_s: list[float] = field(default_factory=list)
    exhausted_count: int = 0


class Pair:
    """Two clients in a room, who play a match known beforehand."""

    def __init__(
        self, clients: tuple[WireClient, WireClient], room: str, actions: Sequence[str], figures: Figures
    ):
        self.clients = clients
        self._figures = figures
        self._sent_s = 0.0
        self._ply = 0
        self._frames = [
            ENCODER.encode(Play(id=ply + 100, room=room, match=1, ply=ply, actions=(action,)))
            for ply, action in enumerate(actions)
        ]
        for seat, client in enumerate(clients):
            client.on_frame = lambda frame, seat=seat: self._take(seat, frame)

    def start(self) -> None:
        """Send the first action."""
        self._send()

    def _send(self) -> None:
        if self._ply >= len(self._frames):
            self._figures.exhausted_count += 1
            return
        self._sent_s = time.perf_counter()
        self.clients[self._ply % 2].send(self._frames[self._ply])

    def _take(self, seat: int, frame: bytes) -> None:
        told = TOLD.decode(frame)
        is_sender = seat == self._ply % 2
        if told.type == "ok" and self._figures.is_measuring:
            self._figures.acknowledged_count += 1
            self._figures.acknowledgements_s.append(time.perf_counter() - self._sent_s)
        elif told.type == "error":
            raise ConnectionError(told.message)
        elif told.type == "update" and not is_sender and told.events and told.events[0].event.ply == self._ply:
            if self._figures.is_measuring:
                self._figures.receipts_s.append(time.perf_counter() - self._sent_s)
            self._ply += 1
            self._send()


async def seat_at_relay(url: str, number: int) -> tuple[tuple[WireClient, WireClient], str]:
    """Two clients in one room of a relay."""
    clients = []
    for _ in range(2):
        client = await WireClient.connect(url, SUBPROTOCOL_MSGPACK)
        client.send(ENCODER.encode({"type": "join", "id": 0, "room": number}))
        await client.receive()
        clients.append(client)
    return (clients[0], clients[1]), str(number)


async def seat_at_server(url: str, number: int) -> tuple[tuple[WireClient, WireClient], str]:
    """Two guests in a room of a tabuleiro server."""
    host = await Guest.arrive(url, f"host-{number}")
    guest = await Guest.arrive(url, f"guest-{number}")
    entered: RoomEntered = await host.ask(CreateRoom(id=0, game=GAME, options=OPTIONS))
    await guest.ask(JoinRoom(id=0, room=entered.head.room))
    return (host.client, guest.client), entered.head.room


async def load(process: Process, room_count: int, seconds: float, matches: Sequence[Sequence[str]]) -> float:
    """Play in ``room_count`` rooms at once, print what was measured, and return moves a second."""
    seat = seat_at_server if process.name == "tabuleiro" else seat_at_relay
    before_kib = process.memory_kib()
    figures = Figures()
    pairs = []
    for number in range(room_count):
        clients, room = await seat(process.url, number)
        pairs.append(Pair(clients, room, matches[number % len(matches)], figures))
    seated_kib = process.memory_kib()
    for pair in pairs:
        pair.start()
    await asyncio.sleep(WARM_UP_S)
    commits = await asyncio.to_thread(commit_counts, process)
    cpu_s, own_cpu_s, started_s = process.cpu_s(), time.process_time(), time.perf_counter()
    figures.is_measuring = True
    await asyncio.sleep(seconds)
    figures.is_measuring = False
    elapsed_s = time.perf_counter() - started_s
    cpu_s, own_cpu_s = process.cpu_s() - cpu_s, time.process_time() - own_cpu_s
    later = await asyncio.to_thread(commit_counts, process)
    for pair in pairs:
        for client in pair.clients:
            client.close()
    count = figures.acknowledged_count
    rate = count / elapsed_s
    note = f", {figures.exhausted_count} matches were over early" if figures.exhausted_count else ""
    print(
        f"  {process.name:10}{room_count:5} rooms {rate:7.0f} moves/s"
        f"  acknowledged {spread(figures.acknowledgements_s)}  told {spread(figures.receipts_s)}"
        f"  {1e6 * cpu_s / max(count, 1):5.0f} ms of cpu per 1000 moves"
        f" ({cpu_s / elapsed_s:.0%} of a core, the load {own_cpu_s / elapsed_s:.0%})"
        f"  {(seated_kib - before_kib) / room_count:5.1f} KiB a room of two connections"
        + ("" if commits is None or later is None else f"  {group_size(commits, later):.1f} events a commit")
        + note,
        flush=True,
    )
    return rate


def commit_counts(process: Process) -> tuple[float, float] | None:
    """Commits and writes so far; ``None`` for a relay."""
    if process.name != "tabuleiro":
        return None
    return process.metric("tabuleiro_commits_total"), process.metric("tabuleiro_events_stored_total")


def group_size(before: tuple[float, float], after: tuple[float, float]) -> float:
    """Writes a commit between two moments."""
    return (after[1] - before[1]) / max(after[0] - before[0], 1)


def spread(values_s: list[float]) -> str:
    """The middle and the slow end of some times."""
    return f"p50 {percentile(values_s, 50):5.1f} p99 {percentile(values_s, 99):5.1f} ms"


def percentile(values_s: list[float], percent: int) -> float:
    """The value in milliseconds that ``percent`` of the values don't exceed; not a number without values."""
    if not values_s:
        return float("nan")
    return 1000 * sorted(values_s)[min(len(values_s) * percent // 100, len(values_s) - 1)]


async def bench_load(sizes: Sequence[int], seconds: float, folder: Path) -> None:
    """The closed loop against all three servers."""
    matches = [one_match(seed) for seed in range(20)]
    for room_count in sizes:
        rates = {}
        servers: list[tuple[str, tuple[str, ...]]] = [
            ("relay (a)", (str(HERE / "relay.py"),)),
            ("relay (b)", (str(HERE / "relay.py"), str(folder / f"relay-{room_count}.db"))),
            ("tabuleiro", tabuleiro(folder / f"load-{room_count}.db")),
        ]
        for name, command in servers:
            async with running(name, *command) as process:
                rates[name] = await load(process, room_count, seconds, matches)
        ratios = [f"{rates['tabuleiro'] / rates[name]:.2f} of {name}" for name in ("relay (a)", "relay (b)")]
        print(f"  {room_count} rooms: {', '.join(ratios)}", flush=True)


async def bench_idle(sizes: Sequence[int], room_sizes: Sequence[int], folder: Path) -> None:
    """Memory of connections and rooms in which nothing happens."""
    async with running("tabuleiro", *tabuleiro(folder / "idle.db")) as process:
        first_kib, guests = process.memory_kib(), []
        for size in sizes:
            while len(guests) < size:
                count = min(50, size - len(guests))
                arrivals = (Guest.arrive(process.url, f"g-{len(guests) + n}") for n in range(count))
                guests += await asyncio.gather(*arrivals)
            used_kib = process.memory_kib() - first_kib
            print(f"  {size:6} idle connections {used_kib / size:7.1f} KiB each", flush=True)
        for guest in guests:
            guest.client.close()
    async with running("tabuleiro", *tabuleiro(folder / "rooms.db")) as process:
        first_kib, room_count, hosts = process.memory_kib(), 0, []
        for size in room_sizes:
            while room_count < size:
                if room_count % 40 == 0:
                    hosts.append(await Guest.arrive(process.url, f"h-{room_count}"))
                await hosts[-1].ask(CreateRoom(id=0, game=GAME, options=OPTIONS))
                room_count += 1
            used_kib = process.memory_kib() - first_kib
            print(f"  {size:6} idle rooms       {used_kib / size:7.1f} KiB each", flush=True)
        for host in hosts:
            host.client.close()


async def bench_watchers(sizes: Sequence[int], folder: Path) -> None:
    """The time from a move until the last of many watchers is told of it."""
    actions = one_match(1)
    async with running("tabuleiro", *tabuleiro(folder / "watchers.db")) as process:
        host = await Guest.arrive(process.url, "host")
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
            for _ in range(15):
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


async def bench_restart(sizes: Sequence[int], folder: Path) -> None:
    """The time until a server with many unfinished rooms accepts connections."""
    for size in sizes:
        db = folder / f"restart-{size}.db"
        await fill(db, size)
        started_s = time.perf_counter()
        async with running("tabuleiro", *tabuleiro(db)) as process:
            listens_s, cpu_s = time.perf_counter() - started_s, process.cpu_s()
            guest = await Guest.arrive(process.url, "late")
            await guest.ask(WatchRoom(id=0, room=room_code(size - 1)))
            entered_s = time.perf_counter() - started_s
            guest.client.close()
        print(
            f"  {size:6} unfinished rooms: listens after {listens_s:.2f} s ({cpu_s:.2f} s of a processor),"
            f" a guest is in a room after {entered_s:.2f} s",
            flush=True,
        )


async def bench(arguments: argparse.Namespace) -> None:
    """Run the parts that are asked for."""
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        parts: dict[str, Callable[[], Any]] = {
            "load": lambda: bench_load(arguments.rooms, arguments.seconds, folder),
            "idle": lambda: bench_idle(arguments.connections, arguments.idle_rooms, folder),
            "watchers": lambda: bench_watchers(arguments.watchers, folder),
            "restart": lambda: bench_restart(arguments.stored_rooms, folder),
        }
        for part, run in parts.items():
            if arguments.only in (None, part):
                print(part)
                await run()


def main() -> None:
    """Read the arguments and run."""
    parser = argparse.ArgumentParser(description="Measure the server.")
    parser.add_argument("--rooms", type=int, nargs="+", default=[50, 100, 200])
    parser.add_argument("--seconds", type=float, default=4.0)
    parser.add_argument("--connections", type=int, nargs="+", default=[250, 500, 1000])
    parser.add_argument("--idle-rooms", type=int, nargs="+", default=[200, 400, 800])
    parser.add_argument("--watchers", type=int, nargs="+", default=[100, 200, 400])
    parser.add_argument("--stored-rooms", type=int, nargs="+", default=[500, 1000, 2000])
    parser.add_argument("--only", choices=["load", "idle", "watchers", "restart"])
    uvloop.run(bench(parser.parse_args()))


if __name__ == "__main__":
    main()
