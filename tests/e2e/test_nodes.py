"""Nodes on one PostgreSQL: one is killed, stands still, or is stopped, and its matches go on at another."""

from __future__ import annotations

import asyncio
import signal
import sys
from collections.abc import AsyncIterator, Callable, Iterator
from contextlib import AsyncExitStack, asynccontextmanager
from typing import Any

import pytest

from tabuleiro.clock import Fischer
from tabuleiro.ids import RoomCode
from tabuleiro.protocol.messages import CreateRoom, JoinRoom, SeatRequest, WatchRoom
from tabuleiro.settings import RoomSettings
from tabuleiro_client.net.link import Backoff, Link, LinkSettings
from tabuleiro_client.net.room import EnteredRoom, enter
from tests.e2e.players import Players
from tests.e2e.server_process import LIMIT_S, ServerProcess, free_port, serving
from tests.e2e.test_postgres import tabuleiro
from tests.postgres import Cluster, cluster_with_games

QUICKLY = LinkSettings(backoff=Backoff(first_s=0.02, limit_s=0.2), ping_interval_s=2.0, request_timeout_s=4.0)
MANY_ROOMS = {"account_rooms_burst_count": 1_000, "rooms_per_account_count": 1_000}
OPTIONS: dict[str, int | str] = {"rows": 12, "cols": 12}
CLOCK = RoomSettings(time_control=Fischer(60_000, 0))
STANDSTILL_S = 10
TABLE_COUNT = 6
SHARED_COUNT = 30
"""Rooms enough for a new node to get some."""

pytestmark = [
    pytest.mark.slow,
    pytest.mark.skipif(sys.platform == "win32", reason="no SIGKILL there"),
]


@pytest.fixture
def postgres() -> Iterator[Cluster]:
    """A PostgreSQL that keeps what it has acknowledged."""
    with cluster_with_games(is_quick=False) as running:
        yield running


@asynccontextmanager
async def node(postgres: Cluster, name: str, port: int | None = None) -> AsyncIterator[ServerProcess]:
    """Run a node, killed at the end if it still runs."""
    port = port or free_port()
    url = f"ws://127.0.0.1:{port}"
    async with serving(postgres.url("games"), port=port, node=name, node_url=url, **MANY_ROOMS) as server:
        yield server


class Table:
    """Ana, at home at node `a`, which has the room, and rui, at home at node `b`."""

    def __init__(self, nodes: dict[str, ServerProcess], ana: EnteredRoom, rui: EnteredRoom) -> None:
        self.nodes = nodes
        self.code = ana.code
        self.players = Players(ana, rui)

    def owner(self, postgres: Cluster) -> str:
        """Return the name of the node that owns the room."""
        query = "SELECT name FROM tabuleiro.rooms JOIN tabuleiro.signs_of_life ON node = owner WHERE code = "
        return postgres.sql(f"{query}'{self.code}'", "games")


async def link_that_knows_nodes(url: str, name: str, count: int = 2) -> Link:
    """Return a link to a node that has heard of all ``count`` nodes, not connected."""
    token = None
    async with asyncio.timeout(LIMIT_S):
        while True:
            async with Link(url, name=name, token=token) as link:
                token = token or link.welcome.token
                if len(link.welcome.node_urls) == count:
                    return Link(url, token=token, settings=QUICKLY)


@asynccontextmanager
async def table(postgres: Cluster) -> AsyncIterator[Table]:
    async with AsyncExitStack() as stack:
        nodes = {name: await stack.enter_async_context(node(postgres, name)) for name in "ab"}
        ana = await stack.enter_async_context(await link_that_knows_nodes(nodes["a"].url, "ana"))
        rui = await stack.enter_async_context(Link(nodes["b"].url, name="rui", settings=QUICKLY))
        message = CreateRoom(id=0, game="virus-wars", options=OPTIONS, settings=CLOCK)
        first = await stack.enter_async_context(await enter(ana, message))
        second = await stack.enter_async_context(await enter(rui, JoinRoom(id=0, room=first.code)))
        async with asyncio.timeout(6 * LIMIT_S):
            yield Table(nodes, first, second)


def check(postgres: Cluster, code: RoomCode, acknowledged: list[str]) -> None:
    """Every acknowledged action is there once, in order, and the tables fit the events."""
    verify(postgres)
    check_record(postgres, code, acknowledged)


def verify(postgres: Cluster) -> None:
    status, told = tabuleiro("db", "verify", "--db", postgres.url("games"))
    assert status == 0, told


def check_record(postgres: Cluster, code: RoomCode, acknowledged: list[str]) -> None:
    status, record = tabuleiro("db", "export", code, "--db", postgres.url("games"))
    assert status == 0, record
    stored = [word for line in record.splitlines() if line[:1].isdigit() for word in line.split()[1:]]
    assert stored == acknowledged


async def until(is_so: Callable[[], Any]) -> None:
    """Ask until it is so: nobody tells what others have done."""
    async with asyncio.timeout(LIMIT_S):
        while not await asyncio.to_thread(is_so):
            pass


async def test_watcher_on_a_third_node_misses_nothing_when_the_node_of_the_room_is_killed(
    postgres: Cluster,
) -> None:
    async with (
        table(postgres) as run,
        node(postgres, "c") as third,
        Link(third.url, name="eva", settings=QUICKLY) as eva,
        await enter(eva, WatchRoom(id=0, room=run.code, follow=True)) as watching,
    ):
        await run.players.play(7)
        await run.nodes["a"].kill()
        await run.players.play(7)
        while len(watching.mirror.actions) < 14:
            await watching.next_change()
        assert list(watching.mirror.actions) == run.players.acknowledged


async def test_match_of_a_node_that_is_killed_goes_on_at_another_one(postgres: Cluster) -> None:
    async with table(postgres) as run:
        await run.players.play(7)
        assert run.owner(postgres) == "a"
        await run.nodes["a"].kill()
        await run.players.play(7)
        assert run.owner(postgres) == "b"
        check(postgres, run.code, run.players.acknowledged)


async def test_bot_of_a_node_that_is_killed_moves_at_another_one(postgres: Cluster) -> None:
    async with node(postgres, "a") as first, node(postgres, "b") as second, asyncio.timeout(6 * LIMIT_S):
        seats = (SeatRequest("bot", "expert"), SeatRequest("bot", "random"))
        message = CreateRoom(id=0, game="virus-wars", options=OPTIONS, seats=seats, settings=CLOCK)
        async with (
            Link(second.url, name="eva", settings=QUICKLY) as eva,
            await link_that_knows_nodes(first.url, "ana") as ana,
        ):
            async with await enter(ana, message) as room:
                code = room.code
            async with await enter(eva, WatchRoom(id=0, room=code)) as watched:
                await first.kill()
                count = len(watched.mirror.actions)
                while len(watched.mirror.actions) <= count + 20:
                    await watched.next_change()


async def test_node_that_stood_still_for_longer_than_its_lease_writes_nothing_more(postgres: Cluster) -> None:
    async with table(postgres) as run:
        await run.players.play(7)
        run.nodes["a"].signal(signal.SIGSTOP)
        try:
            await asyncio.gather(run.players.play(7), asyncio.sleep(STANDSTILL_S))  # the fault itself
            assert run.owner(postgres) == "b"
        finally:
            run.nodes["a"].signal(signal.SIGCONT)
        await run.nodes["a"].logged("the server stood still")
        await run.players.play(7)
        assert run.owner(postgres) == "b"
        check(postgres, run.code, run.players.acknowledged)


async def test_matches_of_a_node_that_is_stopped_move_to_another_one(postgres: Cluster) -> None:
    async with table(postgres) as run:
        await run.players.play(7)
        run.nodes["a"].signal(signal.SIGTERM)
        await run.players.play(20)
        assert await run.nodes["a"].wait() == 0
        assert run.owner(postgres) == "b"
        check(postgres, run.code, run.players.acknowledged)


async def test_nodes_are_updated_one_after_the_other_while_people_play_on(postgres: Cluster) -> None:
    ports = {name: free_port() for name in "abc"}
    async with asyncio.timeout(20 * LIMIT_S), AsyncExitStack() as stack:
        nodes = {name: await stack.enter_async_context(node(postgres, name, ports[name])) for name in ports}
        tables = []
        for number in range(TABLE_COUNT):
            links = []
            for name in ("ana", "rui"):
                home = nodes["abc"[len(tables) % 3]] if name == "ana" else nodes["abc"[(len(tables) + 1) % 3]]
                links.append(await link_that_knows_nodes(home.url, f"{name}{number}", len(nodes)))
            ana, rui = [await stack.enter_async_context(link) for link in links]
            message = CreateRoom(id=0, game="virus-wars", options={"rows": 30, "cols": 30}, settings=CLOCK)
            first = await stack.enter_async_context(await enter(ana, message))
            second = await stack.enter_async_context(await enter(rui, JoinRoom(id=0, room=first.code)))
            tables.append((first.code, Players(first, second)))
        is_over = asyncio.Event()
        playing = [asyncio.create_task(_play_until(players, is_over)) for _, players in tables]
        for name in ports:
            assert await nodes[name].stop() == 0, nodes[name].log_text
            nodes[name] = await stack.enter_async_context(node(postgres, name, ports[name]))
            wanted = [len(players.acknowledged) + 5 for _, players in tables]
            while any(
                len(players.acknowledged) < count for (_, players), count in zip(tables, wanted, strict=True)
            ):
                done, _ = await asyncio.wait(playing, timeout=0.1)
                for task in done:
                    task.result()
        is_over.set()
        await asyncio.gather(*playing)
        verify(postgres)
        for code, players in tables:
            check_record(postgres, code, players.acknowledged)


async def _play_until(players: Players, is_over: asyncio.Event) -> None:
    while not is_over.is_set():
        await players.play(1)


async def test_outage_of_the_database_leaves_every_room_where_it_is(postgres: Cluster) -> None:
    async with table(postgres) as run:
        await run.players.play(7)
        before = postgres.sql("SELECT owner, incarnation FROM tabuleiro.rooms", "games")
        for _ in range(2):
            postgres.kill()
            await asyncio.sleep(5)  # the fault itself, longer than a lease
            await asyncio.to_thread(postgres.start)
            await run.players.play(7)
        assert postgres.sql("SELECT owner, incarnation FROM tabuleiro.rooms", "games") == before
        check(postgres, run.code, run.players.acknowledged)


async def test_new_node_gets_its_share_of_the_rooms(postgres: Cluster) -> None:
    owned = "SELECT count(*) FROM tabuleiro.rooms JOIN tabuleiro.signs_of_life ON node = owner WHERE name = 'b'"
    async with node(postgres, "a") as first, AsyncExitStack() as stack:
        ana = await stack.enter_async_context(Link(first.url, name="ana", settings=QUICKLY))
        message = CreateRoom(id=0, game="virus-wars", options=OPTIONS)
        rooms = [await stack.enter_async_context(await enter(ana, message)) for _ in range(SHARED_COUNT)]
        async with node(postgres, "b"):
            await until(lambda: int(postgres.sql(owned, "games")) >= SHARED_COUNT // 3)
            for room in rooms:
                await room.say("here")
