"""The server's time through the whole server, on clocks that the tests turn, on each event loop there is."""

from __future__ import annotations

import asyncio
import sys
from collections.abc import Awaitable, Callable
from contextlib import AsyncExitStack
from pathlib import Path
from typing import Any

import pytest

from tabuleiro.clock import Fischer
from tabuleiro.ids import DAY_MS, HOUR_MS, MINUTE_MS
from tabuleiro.protocol.events import MatchEnded, RoomResumed
from tabuleiro.protocol.messages import CreateRoom, JoinRoom, Ok, Play, Say, WatchRoom
from tabuleiro.settings import RoomSettings
from tabuleiro_server.cli.serve import clock_line
from tabuleiro_server.config import Config
from tabuleiro_server.run_clock import RunClock
from tabuleiro_server.wiring import RunningServer, running_server
from tests.net.wire_client import WireClient, wire
from tests.patience import LIMIT_S

LOOPS: list[Any] = [asyncio.new_event_loop]
if sys.platform != "win32":
    import uvloop

    LOOPS.append(uvloop.new_event_loop)

START_MS = 1_767_225_600_000
SMALL = {"rows": 4, "cols": 4, "steps": 2}
TIMED = RoomSettings(time_control=Fischer(60_000, 0))


class Machine:
    """A machine whose clocks stand until a test turns them: ``set_by_ms`` is how far the time of day was set."""

    def __init__(self, set_by_ms: int = 0) -> None:
        self.set_by_ms = set_by_ms
        self.elapsed_ms = 0

    def clock(self) -> RunClock:
        return RunClock(lambda: START_MS + self.set_by_ms + self.elapsed_ms, lambda: self.elapsed_ms)


class Table:
    """A server with ana, who is to move, and rui at a match with a minute each."""

    def __init__(self, server: RunningServer, machine: Machine, ana: WireClient, rui: WireClient) -> None:
        self.server = server
        self.machine = machine
        self.ana = ana
        self.rui = rui
        self.room = ""

    async def left_ms(self) -> tuple[int, int]:
        """What both have left, as of the last turn."""
        head = (await self.rui.do(WatchRoom, room=self.room)).head
        first, second = head.match.clock.players
        return first.stage_ms, second.stage_ms

    async def play(self, client: WireClient, ply: int, *actions: str) -> Any:
        return await client.ask(Play, room=self.room, match=1, ply=ply, actions=actions)


def at_table(loop: Any, folder: Path, scene: Callable[[Table], Awaitable[None]], **settings: Any) -> None:
    """Run a scene on an event loop."""

    async def run() -> None:
        machine = Machine()
        async with asyncio.timeout(LIMIT_S), AsyncExitStack() as stack:
            config = Config(db=str(folder / "rooms.db"), port=0, first_turn_ms=0)
            server = await stack.enter_async_context(running_server(config, clock=machine.clock()))
            ana, rui = [await stack.enter_async_context(wire(server.url)) for _ in range(2)]
            await ana.hello("ana")
            await rui.hello("rui")
            table = Table(server, machine, ana, rui)
            room_settings = RoomSettings(time_control=Fischer(60_000, 0), **settings)
            entered = await ana.do(CreateRoom, game="virus-wars", options=SMALL, settings=room_settings)
            table.room = entered.head.room
            await rui.do(JoinRoom, room=table.room)
            await scene(table)

    with asyncio.Runner(loop_factory=loop) as runner:
        runner.run(run())


@pytest.mark.parametrize("by_ms", [MINUTE_MS, -HOUR_MS, 61 * DAY_MS, -61 * DAY_MS])
def test_setting_the_machines_clock_costs_nobody_time_and_gives_nobody_any(tmp_path: Path, by_ms: int) -> None:
    """Symptoms: lost on time after a second; an hour of thinking for nothing; rooms closed by the dozen."""

    async def scene(table: Table) -> None:
        table.machine.elapsed_ms += 400
        table.machine.set_by_ms = by_ms
        table.machine.elapsed_ms += 400
        await table.play(table.ana, 0, "a3", "a2")
        assert await table.left_ms() == (59_200, 60_000)
        head = (await table.rui.do(WatchRoom, room=table.room)).head
        assert head.now_ms == START_MS + 800

    at_table(asyncio.new_event_loop, tmp_path, scene)


@pytest.mark.parametrize("loop", LOOPS)
def test_a_standstill_is_noticed_by_whatever_comes_first_and_costs_nobody_time(tmp_path: Path, loop: Any) -> None:
    async def scene(table: Table) -> None:
        table.machine.elapsed_ms += 900
        await table.rui.do(Say, room=table.room, text="tick")
        table.machine.elapsed_ms += 90_000
        assert isinstance(await table.play(table.ana, 0, "a3", "a2"), Ok)
        assert await table.left_ms() == (59_100, 60_000)
        resumed = await table.rui.next_event(RoomResumed)
        assert resumed == RoomResumed(START_MS + 900, START_MS + 90_900, is_standstill=True)

    at_table(loop, tmp_path, scene)


@pytest.mark.parametrize("loop", LOOPS)
def test_where_downtime_counts_the_flag_falls_after_a_standstill(tmp_path: Path, loop: Any) -> None:
    """Nobody sends anything: the room has to look by itself, though its timer counts other seconds."""

    async def scene(table: Table) -> None:
        table.machine.elapsed_ms += 90_000
        assert await table.rui.next_event(MatchEnded) == MatchEnded(1, 1, "timeout")

    at_table(loop, tmp_path, scene, counts_downtime=True)


async def test_a_start_before_the_newest_event_is_told_and_time_goes_on_from_there(
    tmp_path: Path, log_entries: list[dict[str, Any]]
) -> None:
    config = Config(db=str(tmp_path / "rooms.db"), port=0, first_turn_ms=0)
    async with asyncio.timeout(LIMIT_S):
        async with running_server(config, clock=Machine().clock()) as server, wire(server.url) as ana:
            assert server.clock_behind_ms == 0
            await ana.hello("ana")
            room = (await ana.do(CreateRoom, game="virus-wars", options=SMALL, settings=TIMED)).head.room
        machine = Machine(set_by_ms=-HOUR_MS)
        async with running_server(config, clock=machine.clock()) as server, wire(server.url) as rui:
            assert server.clock_behind_ms == HOUR_MS
            told = [entry for entry in log_entries if entry["log_level"] == "warning"]
            assert [entry["by_ms"] for entry in told] == [HOUR_MS]
            log_entries.remove(told[0])
            welcome = await rui.hello("rui")
            assert welcome.now_ms == START_MS
            machine.elapsed_ms += 400
            head = (await rui.do(JoinRoom, room=room)).head
            assert head.match.clock.since_ms == START_MS + 400


def test_a_host_whose_clock_is_behind_reads_by_how_much() -> None:
    assert clock_line(HOUR_MS + MINUTE_MS).startswith(
        "This machine's clock is 1 hour 1 minute behind the newest event"
    )
