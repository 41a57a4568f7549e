"""Watching a room on a node that does not have it: every move is seen, whoever has the room."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Sequence
from contextlib import AsyncExitStack

import asyncpg
import pytest

from tabuleiro.errors import CommandError
from tabuleiro.ids import RoomCode
from tabuleiro.protocol.codes import ErrorCode
from tabuleiro.protocol.messages import CreateRoom, JoinRoom, RoomEntered, Say, TakeHint, WatchRoom
from tabuleiro.settings import RoomSettings
from tabuleiro_client.net.link import Link, result_of
from tabuleiro_client.net.room import EnteredRoom, enter
from tests.e2e.nodes import RunningNode, running_node
from tests.patience import LIMIT_S

Nodes = tuple[RunningNode, RunningNode, RunningNode]


@pytest.fixture
async def nodes(database_url: str) -> AsyncIterator[Nodes]:
    async with (
        running_node(database_url, "a", room_watchers_count=3) as first,
        running_node(database_url, "b") as second,
        running_node(database_url, "c") as third,
    ):
        await first.server.nodes.look()  # each knows of those that were there when it began
        yield first, second, third


def room_of(*, is_private: bool = False) -> CreateRoom:
    settings = RoomSettings(is_private=is_private)
    return CreateRoom(id=0, game="virus-wars", options={"rows": 8, "cols": 8}, settings=settings)


def watch_of(code: str, *, secret: str | None = None, since: int | None = None) -> WatchRoom:
    return WatchRoom(id=0, room=code, follow=True, secret=secret, since=since)


class Table:
    """Two people at a board on the first node, and what was acknowledged to them."""

    def __init__(self, token: str, first: EnteredRoom, second: EnteredRoom) -> None:
        self.token = token
        self.rooms = first, second
        self.code = first.code
        self.actions: list[str] = []

    async def play(self, count: int) -> None:
        for _ in range(count):
            for room in self.rooms:
                await saw(room, self.actions)
            mover = next(room for room in self.rooms if room.mirror.is_my_turn)
            state = mover.mirror.state
            action = state.action_to_string(state.legal_actions()[0])
            await mover.play([action])
            self.actions.append(action)


async def saw(room: EnteredRoom, actions: Sequence[str]) -> None:
    """Wait until a room has begun, and shows these actions."""
    async with asyncio.timeout(LIMIT_S):
        while room.mirror.head.match is None or len(room.mirror.actions) < len(actions):
            await room.next_change()
    assert list(room.mirror.actions) == list(actions)


@pytest.fixture
async def table(nodes: Nodes) -> AsyncIterator[Table]:
    async with (
        Link(nodes[0].url, name="ana") as ana,
        Link(nodes[0].url, name="rui") as rui,
        await enter(ana, room_of()) as first,
        await enter(rui, JoinRoom(id=0, room=first.code)) as second,
    ):
        yield Table(ana.welcome.token or "", first, second)


async def test_every_move_is_seen_on_another_node_and_the_owner_knows_of_nobody(
    nodes: Nodes, table: Table
) -> None:
    here, there, _ = nodes
    await table.play(3)
    async with AsyncExitStack() as stack:
        watching = []
        for number in range(6):
            link = await stack.enter_async_context(Link(there.url, name=f"eva{number}"))
            watching.append(await stack.enter_async_context(await enter(link, watch_of(table.code))))
        await table.play(9)
        for room in watching:
            await saw(room, table.actions)
            assert room.mirror.head.seats[0].is_connected
        assert (await here.server.directory.find(table.code)).watchers_count == 0
        assert there.server.directory.rooms_count == 0
        async with asyncio.timeout(LIMIT_S):
            while watching[0].mirror.head.watchers < len(watching):
                await watching[0].next_change()


async def test_everybody_in_a_room_is_told_how_many_watch_it_on_all_nodes(nodes: Nodes, table: Table) -> None:
    async with AsyncExitStack() as stack:
        everybody = list(table.rooms)
        for number, node in enumerate(nodes):
            link = await stack.enter_async_context(Link(node.url, name=f"eva{number}"))
            everybody.append(await stack.enter_async_context(await enter(link, watch_of(table.code))))
        await told_of_watchers(everybody, 3)
        await everybody.pop().close()
        await link.close()
        await told_of_watchers(everybody, 2)


async def told_of_watchers(rooms: Sequence[EnteredRoom], count: int) -> None:
    """Wait until everybody is told of so many."""
    async with asyncio.timeout(LIMIT_S):
        for room in rooms:
            while room.mirror.head.watchers != count:
                await room.next_change()


async def test_watchers_beyond_the_limit_of_a_room_are_sent_to_other_nodes(nodes: Nodes, table: Table) -> None:
    here, *_ = nodes
    async with AsyncExitStack() as stack:
        watching = []
        for number in range(5):
            link = await stack.enter_async_context(Link(here.url, name=f"eva{number}"))
            request = WatchRoom(id=0, room=table.code)
            watching.append(await stack.enter_async_context(await enter(link, request)))
        assert len((await here.server.directory.find(table.code)).subscribers) == 3
        await table.play(6)
        for room in watching:
            await saw(room, table.actions)


async def test_what_a_watcher_asks_beyond_watching_is_for_the_node_that_has_the_room(
    nodes: Nodes, table: Table
) -> None:
    here, there, _ = nodes
    await table.play(1)
    async with Link(there.url, name="eva") as eva:
        await eva.request(watch_of(table.code))
        for request in (
            Say(id=0, room=table.code, text="hello"),
            TakeHint(id=0, room=table.code, match=1, ply=1),
            JoinRoom(id=0, room=table.code),
        ):
            with pytest.raises(CommandError) as caught:
                await eva.request(request)
            assert (caught.value.code, caught.value.node_url) == (ErrorCode.ELSEWHERE, here.url)


async def test_a_watcher_who_writes_goes_on_watching_where_the_room_is(nodes: Nodes, table: Table) -> None:
    here, there, _ = nodes
    async with Link(there.url, name="eva") as eva, await enter(eva, watch_of(table.code)) as watching:
        await table.play(2)
        await watching.say("hello")
        assert (await here.server.directory.find(table.code)).watchers_count == 1
        await table.play(2)
        await saw(watching, table.actions)
        assert [line.text for line in watching.mirror.chat] == ["hello"]


async def test_whoever_has_a_seat_is_sent_to_the_room_itself(nodes: Nodes, table: Table) -> None:
    """Also where the room is watched already."""
    here, there, _ = nodes
    async with Link(there.url, token=table.token) as again, Link(there.url, name="eva") as eva:
        for _ in range(2):
            with pytest.raises(CommandError) as caught:
                await again.request(watch_of(table.code))
            assert (caught.value.code, caught.value.node_url) == (ErrorCode.ELSEWHERE, here.url)
            await eva.request(watch_of(table.code))


async def test_watchers_of_a_private_room_need_its_secret_on_every_node(nodes: Nodes) -> None:
    here, there, _ = nodes
    async with (
        Link(here.url, name="ana") as ana,
        await enter(ana, room_of(is_private=True)) as room,
        Link(there.url, name="eva") as eva,
    ):
        assert room.secrets is not None
        for secret in (None, "wrong"):
            with pytest.raises(CommandError, match="private"):
                await eva.request(watch_of(room.code, secret=secret))
        entered = result_of(await eva.request(watch_of(room.code, secret=room.secrets.watch)), RoomEntered)
        assert entered.head.room == room.code


async def test_a_watcher_who_comes_with_what_it_has_seen_gets_what_it_has_missed(
    nodes: Nodes, table: Table
) -> None:
    _, there, _ = nodes
    await table.play(5)
    seq = table.rooms[0].mirror.head.seq
    async with Link(there.url, name="eva") as eva, Link(there.url, name="leo") as leo:
        for link in (eva, leo):  # the second one finds a room that is followed already
            for since in (0, 3, seq):
                entered = result_of(await link.request(watch_of(table.code, since=since)), RoomEntered)
                assert entered.snapshot is None
                assert [event.seq for event in entered.events] == list(range(since + 1, entered.head.seq + 1))
                assert entered.head.seq >= seq
        beyond = result_of(await eva.request(watch_of(table.code, since=10_000)), RoomEntered)
        assert beyond.snapshot is not None


async def test_watchers_see_no_gap_when_the_room_moves_to_a_third_node(nodes: Nodes, table: Table) -> None:
    here, there, third = nodes
    async with Link(there.url, name="eva") as eva, await enter(eva, watch_of(table.code)) as watching:
        await table.play(3)
        await moved(table.code, here, third)
        await table.play(3)
        await saw(watching, table.actions)
        assert third.server.directory.has(table.code)
        await moved(table.code, third, here)
        await table.play(3)
        await saw(watching, table.actions)


async def test_watchers_see_no_gap_when_the_room_moves_to_their_node(nodes: Nodes, table: Table) -> None:
    here, there, _ = nodes
    async with Link(there.url, name="eva") as eva, await enter(eva, watch_of(table.code)) as watching:
        await table.play(3)
        await moved(table.code, here, there)
        await table.play(3)
        await saw(watching, table.actions)
        assert there.server.directory.has(table.code)
        await moved(table.code, there, here)
        await table.play(3)
        await saw(watching, table.actions)


async def moved(code: RoomCode, source: RunningNode, target: RunningNode) -> None:
    """Move a room to another node."""
    room = await source.server.directory.find(code)
    others = await source.server.nodes._store.other_nodes()
    await room.move(next(node for node in others if node.url == target.url))


async def test_watchers_are_told_when_the_room_is_closed(nodes: Nodes) -> None:
    here, there, _ = nodes
    async with (
        Link(here.url, name="ana") as ana,
        await enter(ana, room_of()) as room,
        Link(there.url, name="eva") as eva,
        await enter(eva, watch_of(room.code)) as watching,
    ):
        await room.leave()
        await gone(watching)


async def test_watchers_are_told_when_the_room_is_removed_before_its_end_is_read(
    nodes: Nodes, database_url: str
) -> None:
    here, there, _ = nodes
    admin = await asyncpg.connect(database_url)
    async with (
        Link(here.url, name="ana") as ana,
        await enter(ana, room_of()) as room,
        Link(there.url, name="eva") as eva,
        await enter(eva, watch_of(room.code)) as watching,
    ):
        async with admin.transaction():
            await admin.execute("DELETE FROM tabuleiro.events WHERE room = $1", room.code)
            await admin.execute("DELETE FROM tabuleiro.rooms WHERE code = $1", room.code)
            await admin.execute("SELECT pg_notify('tabuleiro', $1)", f"{room.code} 1000")
        await gone(watching)
    await admin.close()


async def gone(watching: EnteredRoom) -> None:
    """Wait until a room tells that it is no more."""
    async with asyncio.timeout(LIMIT_S):
        while await watching.next_change() is not None:
            pass
