"""The swarm: many rooms on one server, played and watched over a network that cuts, delays and goes silent.

The clock of the server's machine is set all the time, and its server stands still now and then, as far as that
clock can tell.

``make swarm`` runs the long form over 200 seeds and stops at the first that fails, telling how to run that one
again; ``test_swarm`` is the short form. The same seed gives the same games, wishes and faults as far as the order
of things in one busy process allows.
"""

from __future__ import annotations

import argparse
import asyncio
import gc
import logging
import random
import tempfile
import time
from collections import Counter
from collections.abc import AsyncIterator, Callable, Iterator
from contextlib import AbstractAsyncContextManager, AsyncExitStack, asynccontextmanager, contextmanager, suppress
from pathlib import Path
from typing import Final
from unittest.mock import patch

import structlog

from tabuleiro.clock import ByoYomi, Correspondence, Fischer, FixedTurn, NoClock, TimeControl
from tabuleiro.errors import ConnectionLostError
from tabuleiro.ids import DAY_MS, HOUR_MS, MINUTE_MS, RoomCode
from tabuleiro.protocol.events import ActionsPlayed, MatchEnded, MatchStarted
from tabuleiro.rules.base import Termination
from tabuleiro.settings import RoomSettings
from tabuleiro_client.net.library import Client, connect
from tabuleiro_client.net.link import Backoff, LinkSettings
from tabuleiro_client.net.room import EnteredRoom
from tabuleiro_server.config import Config
from tabuleiro_server.rooms import live_room
from tabuleiro_server.run_clock import RunClock
from tabuleiro_server.wiring import RunningServer, running_server
from tests.budgets import NO_BUDGETS
from tests.e2e.faulty_network import FaultyNetwork, faulty_network
from tests.e2e.ledger import Ledger, StoredRooms
from tests.e2e.random_play import GAMES
from tests.e2e.swarm_people import EnoughError, Player, Visit
from tests.net.wire_client import raw_request

ROOM_COUNT: Final = 50
START_MS: Final = 1_767_225_600_000
LIMIT_S: Final = 300.0
"""How long one seed may take before it counts as hanging."""

TELLING_S: Final = 5.0
"""How long before that it is told where everything waits."""

DEPARTURE_INTERVAL_MS: Final = 200
"""In place of half a minute, for which a room stays in memory after somebody has left it twice."""

LEAVING_ROUND_S: Final = 0.5
"""After the last guest has gone: how long closing handshakes get before those that met a fault are cut."""

LEAVING_ROUNDS_COUNT: Final = 40
"""After so many rounds whatever is still there counts as never ending."""

CLOCKS: Final[tuple[TimeControl, ...]] = (
    NoClock(),
    Fischer(initial_ms=60_000, increment_ms=1_000),
    Fischer(initial_ms=3_000, increment_ms=0),
    ByoYomi(main_ms=5_000, period_ms=1_000, periods=3),
    FixedTurn(turn_ms=2_000),
    Correspondence(days=1),
)
_SERVER: Final = {
    "synchronous": "NORMAL",
    "ping_interval_ms": 1_000,
    "ping_timeout_ms": 1_500,
    "close_timeout_ms": 1_000,
    "handshake_timeout_ms": 3_000,
    "hello_timeout_ms": 3_000,
    "shutdown_notice_ms": 0,
    "idle_room_unload_ms": 200,
    "connections_per_address_count": 100_000,
    "handshakes_count": 100_000,
    "messages_per_second_count": 100_000,
    "messages_burst_count": 100_000,
    **NO_BUDGETS,
}
_LINK: Final = LinkSettings(
    backoff=Backoff(first_s=0.02, limit_s=0.5),
    open_timeout_s=3.0,
    request_timeout_s=3.0,
    close_timeout_s=0.5,
    ping_interval_s=1.5,
)


class Machine:
    """The clocks of a bad machine: the time of day is set at any moment, and the other one jumps.

    ``jumps`` are the beginnings and the ends of the jumps.
    """

    def __init__(self, chance: random.Random) -> None:
        self.jumps: list[tuple[int, int]] = []
        self._chance = chance
        self._jumped_ms = 0
        self._next_ms = self._drawn_next_ms()

    def wall_ms(self) -> int:
        """Return the time of day, which is another one at each look."""
        return START_MS + self._chance.choice((-61 * DAY_MS, -HOUR_MS, 0, MINUTE_MS, 61 * DAY_MS))

    def elapsed_ms(self) -> int:
        """Return what has passed, with all that passed in jumps."""
        now_ms = time.monotonic_ns() // 1_000_000
        if now_ms >= self._next_ms:
            jump_ms = self._chance.randint(1_500, 40_000)
            since_ms = now_ms + self._jumped_ms
            self.jumps.append((since_ms, since_ms + jump_ms))
            self._jumped_ms += jump_ms
            self._next_ms = self._drawn_next_ms()
        return now_ms + self._jumped_ms

    def _drawn_next_ms(self) -> int:
        return time.monotonic_ns() // 1_000_000 + self._chance.randint(500, 3_000)

    def awake_ms(self, since_ms: int, until_ms: int) -> int:
        """Return the time between two moments that did not pass in jumps."""
        overlaps_ms = (min(end_ms, until_ms) - max(start_ms, since_ms) for start_ms, end_ms in self.jumps)
        return until_ms - since_ms - sum(max(overlap_ms, 0) for overlap_ms in overlaps_ms)


class Swarm:
    """One run: a server, the bad way to it, the tables, and what all of them were told."""

    def __init__(self, folder: Path, seed: int, room_count: int = ROOM_COUNT) -> None:
        self.ledger = Ledger()
        self.counts: Counter[str] = Counter()
        self.faults: Counter[str] = Counter()
        self.matches: dict[RoomCode, int] = {}
        self.times_ms: dict[RoomCode, int] = {}
        """The time of each player in rooms where there is one for the whole match."""
        self.ends: list[Visit] = []
        self.url = ""
        self._db = folder / "rooms.db"
        self._folder = folder
        self._seed = seed
        self._chance = random.Random(seed)
        self._room_count = room_count
        self._machine = Machine(random.Random(seed))

    @property
    def command(self) -> str:
        """What runs this once more."""
        return f"make swarm FIRST={self._seed} SEEDS=1 ROOMS={self._room_count}"

    def report(self, stored: StoredRooms) -> str:
        """What happened, in figures."""
        ends = Counter(end.termination for end in stored.ended.values())
        event_count = sum(len(events) for events in stored.events.values())
        figures = {"matches": len(stored.ended), "events": event_count, "clients": len(self.ends)}
        return f"{figures} {dict(ends)} {dict(self.counts)} {dict(self.faults)}"

    async def run(self) -> StoredRooms:
        """Let everybody play to the end, and check what is left and what is stored; return that."""
        clock = RunClock(self._machine.wall_ms, self._machine.elapsed_ms)
        ahead_ms = clock.now_ms() - self._machine.elapsed_ms()
        with nothing_above_info(), patch.object(live_room, "DEPARTURE_INTERVAL_MS", DEPARTURE_INTERVAL_MS):
            async with (
                asyncio.timeout(LIMIT_S),
                running_server(Config(db=str(self._db), port=0, **_SERVER), clock=clock) as server,
            ):
                own_tasks = asyncio.all_tasks()
                telling = asyncio.get_running_loop().call_later(LIMIT_S - TELLING_S, tell_what_waits, own_tasks)
                async with faulty_network(server.port, self._seed) as network:
                    self.url, self.faults = network.url, network.counts
                    await self._play()
                    await self._check_nothing_left(server, network, own_tasks)
                telling.cancel()
        stored = await self.ledger.check(self._db, self._folder, is_thorough=True)
        self._check_ends(stored)
        self._check_flags(stored, ahead_ms)
        return stored

    async def _play(self) -> None:
        async with asyncio.TaskGroup() as tables:
            for number in range(self._room_count):
                table = Table(self, number, random.Random(self._chance.random()))
                tables.create_task(table.run(), name=f"table {number}")

    async def _check_nothing_left(
        self, server: RunningServer, network: FaultyNetwork, own_tasks: set[asyncio.Task[object]]
    ) -> None:
        """Connections and tasks end with their guests, and rooms that nobody is in leave memory.

        How long a connection may be silent is a matter of the server's limits, and none of this check.
        """
        for _ in range(LEAVING_ROUNDS_COUNT):
            network.reset_silent()
            left = asyncio.all_tasks() - own_tasks - {asyncio.current_task()}
            in_memory = [await _metric(server, f"tabuleiro_{what}") for what in ("connections", "rooms_in_memory")]
            if not left and in_memory == [0, 0]:
                break
            await asyncio.sleep(LEAVING_ROUND_S)
        assert not left, f"tasks that do not end: {left}"
        assert in_memory == [0, 0]
        assert network.cables_count == 0
        assert server.directory.rooms_count == 0

    def _check_ends(self, stored: StoredRooms) -> None:
        """Every match that began has ended, and all who saw the end saw what is stored."""
        assert set(stored.lines) == set(stored.ended)
        wanted = {(code, number + 1) for code, count in self.matches.items() for number in range(count)}
        assert set(stored.ended) == wanted
        for visit in self.ends:
            match = visit.match
            assert match is not None
            key = (visit.room.code, match.number)
            end = stored.ended[key]
            assert (match.winner, match.termination) == (end.winner, end.termination), key
            assert match.digest == stored.lines[key][-1][-1].digest() == visit.room.mirror.state.digest(), key

    def _check_flags(self, stored: StoredRooms, ahead_ms: int) -> None:
        """Who lost on time had that time: ``ahead_ms`` is how far the server's clock is ahead of its machine's."""
        for (code, number), end in stored.ended.items():
            if end.termination != Termination.TIMEOUT or end.winner is None or code not in self.times_ms:
                continue
            had_ms, is_running, before = 0, False, stored.events[code][0]
            movers: set[int] = set()
            for sequenced in stored.events[code]:
                # The clock does not start before both have made a turn.
                is_timed = is_running and len(movers) == 2
                if is_timed and stored.positions[code][before.seq].to_move != end.winner:
                    had_ms += self._machine.awake_ms(before.at_ms - ahead_ms, sequenced.at_ms - ahead_ms)
                match sequenced.event:
                    case MatchStarted() | MatchEnded() if sequenced.event.match == number:
                        is_running = isinstance(sequenced.event, MatchStarted)
                    case ActionsPlayed(match=played, player=player) if played == number:
                        movers.add(player)
                before = sequenced
            assert had_ms >= self.times_ms[code], f"match {number} of room {code}: the flag fell after {had_ms} ms"
            self.counts["flags checked"] += 1


def tell_what_waits(apart_from: set[asyncio.Task[object]]) -> None:
    """Print where each task waits: a run that comes to its limit is to be understood afterwards."""
    for task in asyncio.all_tasks() - apart_from:
        print(f"{task.get_name()} waits at", " > ".join(_lines_of(task.get_coro())), flush=True)


def _lines_of(awaited: object) -> Iterator[str]:
    """Where a coroutine is, and what it awaits, and so on to the innermost."""
    while (frame := getattr(awaited, "cr_frame", None)) is not None:
        yield f"{Path(frame.f_code.co_filename).name}:{frame.f_lineno}"
        awaited = getattr(awaited, "cr_await", None)


class Table:
    """A room with its two players, who may come with a second device, and those who drop by to watch."""

    def __init__(self, swarm: Swarm, number: int, chance: random.Random) -> None:
        self._swarm = swarm
        self._number = number
        self._chance = chance
        self._matches_count = 2 if chance.random() < 0.3 else 1
        self._is_over = asyncio.Event()
        self._names_count = 0

    async def run(self) -> None:
        """Meet, play, and part."""
        game, options, _ = GAMES[self._number % len(GAMES)]
        settings = self._settings()
        async with AsyncExitStack() as stack:
            host, guest = [await stack.enter_async_context(self._guest(name)) for name in ("maker", "guest")]
            first = await self._enter(stack, lambda: host.create(game, options, settings=settings))
            code, secrets = first.room.code, first.room.secrets
            invite, watch = (None, None) if secrets is None else (secrets.invite, secrets.watch)
            second = await self._enter(stack, lambda: guest.join(code, secret=invite))
            self._swarm.matches[code] = self._matches_count
            if isinstance(settings.time_control, Fischer) and not settings.time_control.increment_ms:
                self._swarm.times_ms[code] = settings.time_control.initial_ms
            async with asyncio.TaskGroup() as others:
                for name, client in (("maker", host), ("guest", guest)):
                    if self._chance.random() < 0.4:
                        others.create_task(self._second_device(client, name, code))
                for _ in range(self._chance.choice((0, 1, 1, 2))):
                    others.create_task(self._watch_now_and_then(code, watch))
                async with asyncio.TaskGroup() as players:
                    players.create_task(self._play(first, "maker"))
                    players.create_task(self._play(second, "guest"))
                self._is_over.set()
            for visit in (first, second):
                if self._chance.random() < 0.5:
                    # Who leaves for good may well lose the connection over it.
                    with suppress(ConnectionLostError):
                        await visit.room.leave()

    def _settings(self) -> RoomSettings:
        chance = self._chance
        return RoomSettings(
            time_control=CLOCKS[self._number // len(GAMES) % len(CLOCKS)],
            is_private=chance.random() < 0.2,
            first=chance.choice(("seated", "draw")),
            hides_watcher_chat=chance.random() < 0.5,
        )

    async def _play(self, visit: Visit, name: str) -> None:
        """Play all matches, or for a while. Raises: EnoughError."""
        chance = random.Random(self._chance.random())
        player = Player(visit, self._new_name(name), self._swarm.ledger, chance, self._swarm.counts)
        await player.play(self._matches_count)
        self._swarm.ends.append(visit)

    def _new_name(self, name: str) -> str:
        self._names_count += 1
        return f"{name}-{self._number}-{self._names_count}"

    @asynccontextmanager
    async def _guest(self, name: str | None, token: str | None = None) -> AsyncIterator[Client]:
        """Connect as a new guest, or once more as the one of ``token``, in as many attempts as it takes."""
        async with AsyncExitStack() as stack:
            while True:
                # A guest whose token got lost on the way cannot come back under that name.
                full_name = None if name is None else self._new_name(name)
                connecting = connect(self._swarm.url, name=full_name, token=token, settings=_LINK)
                try:
                    client = await stack.enter_async_context(connecting)
                except ConnectionLostError:
                    self._swarm.counts["failed attempts"] += 1
                else:
                    break
            yield client

    async def _enter(
        self,
        stack: AsyncExitStack,
        way: Callable[[], AbstractAsyncContextManager[EnteredRoom]],
        patience: int | None = None,
    ) -> Visit:
        while True:
            try:
                room = await stack.enter_async_context(way())
                return Visit(room, self._swarm.ledger, self._swarm.counts, patience)
            except ConnectionLostError:
                self._swarm.counts["failed attempts"] += 1
                # The link mends itself meanwhile.
                await asyncio.sleep(0.02)

    async def _second_device(self, client: Client, name: str, code: RoomCode) -> None:
        """Now and then somebody plays on from another device, beside the first one."""
        while not self._is_over.is_set():
            async with self._guest(None, client.token) as again, AsyncExitStack() as stack:
                patience = self._chance.randint(0, 80)
                visit = await self._enter(stack, lambda again=again: again.watch(code), patience)
                with suppress(EnoughError):
                    await self._play(visit, name)
            self._swarm.counts["second devices"] += 1

    async def _watch_now_and_then(self, code: RoomCode, secret: str | None) -> None:
        """Come and go, and come once more to see the end."""
        async with self._guest("watcher") as client:
            is_at_end = False
            while not is_at_end:
                async with AsyncExitStack() as stack:
                    patience = None if self._is_over.is_set() else self._chance.randint(1, 80)
                    visit = await self._enter(stack, lambda: client.watch(code, secret=secret), patience)
                    is_at_end = await self._watch(visit, self._new_name("watcher"))
                self._swarm.counts["watchers"] += 1

    async def _watch(self, visit: Visit, name: str) -> bool:
        """Look on for a while; tells whether it was until the end."""
        try:
            if self._chance.random() < 0.5:
                await visit.say(name)
            await visit.read_until(lambda: visit.is_over(self._matches_count))
            await visit.catch_up()
        except EnoughError:
            if self._chance.random() < 0.7:
                with suppress(ConnectionLostError):
                    await visit.room.leave()
            return False
        assert not visit.is_gone
        self._swarm.ends.append(visit)
        return True


async def _metric(server: RunningServer, name: str) -> float:
    """A figure of those that the server tells everybody who may ask."""
    _, body = await raw_request(server.port, ["GET /metrics HTTP/1.1"])
    (value,) = [line.split()[1] for line in body.splitlines() if line.startswith(f"{name} ")]
    return float(value)


class _Loud(logging.Handler):
    """Keeps the records above `info`."""

    def __init__(self) -> None:
        super().__init__(logging.WARNING)
        self.records: list[logging.LogRecord] = []

    def emit(self, record: logging.LogRecord) -> None:
        self.records.append(record)


@contextmanager
def nothing_above_info() -> Iterator[None]:
    """Nothing that bad networks do may be worth more than an `info` in any log. Raises: AssertionError."""
    loud = _Loud()
    logging.getLogger().addHandler(loud)
    try:
        with structlog.testing.capture_logs() as entries:
            yield
            # Tasks that failed unseen complain when they are forgotten.
            gc.collect()
    finally:
        logging.getLogger().removeHandler(loud)
    worse = [entry for entry in entries if entry["log_level"] not in ("debug", "info")]
    formatter = logging.Formatter("%(name)s: %(message)s")
    lines = [*map(str, worse), *(formatter.format(record) for record in loud.records)]
    assert not lines, "in the log above info:\n" + "\n".join(lines)


def main() -> None:
    """Run the long form and print what was done."""
    parser = argparse.ArgumentParser(description="Play in many rooms at once over a bad network.")
    parser.add_argument("--seeds", type=int, default=200, help="how many runs")
    parser.add_argument("--first", type=int, default=1, help="the seed of the first run; the others follow it")
    parser.add_argument("--rooms", type=int, default=ROOM_COUNT)
    arguments = parser.parse_args()
    for seed in range(arguments.first, arguments.first + arguments.seeds):
        started_s = time.monotonic()
        with tempfile.TemporaryDirectory() as folder:
            swarm = Swarm(Path(folder), seed, arguments.rooms)
            try:
                stored = asyncio.run(swarm.run())
            except BaseException:
                print(f"failed: {swarm.command}", flush=True)
                raise
        print(f"seed {seed}: {swarm.report(stored)}, {time.monotonic() - started_s:.0f} s", flush=True)


if __name__ == "__main__":
    main()
