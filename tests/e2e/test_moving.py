"""Rooms that move from one node to another, as those who are in them hear of it."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from typing import Any

import asyncpg
import pytest
from msgspec.structs import replace

from tabuleiro.ids import RoomCode, Seq
from tabuleiro.protocol.codes import ErrorCode
from tabuleiro.protocol.events import RoomResumed, SeatDisconnected, SeatsSwapped
from tabuleiro.protocol.messages import (
    CreateRoom,
    Error,
    JoinRoom,
    LeaveRoom,
    Ok,
    Play,
    QuickPlay,
    Resign,
    RoomGone,
    Say,
    SeatRequest,
    SwapSeats,
    WatchRoom,
)
from tabuleiro_client.net.link import Link
from tabuleiro_client.net.room import enter
from tabuleiro_server.rooms.live_room import LiveRoom
from tabuleiro_server.rooms.nodes import SHARE_MIN_COUNT
from tabuleiro_server.store.port import NodeRow
from tests.e2e.nodes import RunningNode, running_node
from tests.e2e.players import Players
from tests.net.wire_client import SMALL, WireClient, wire
from tests.patience import LIMIT_S

ROOM_COUNT = 40

Nodes = tuple[RunningNode, RunningNode]


@pytest.fixture
async def nodes(database_url: str) -> AsyncIterator[Nodes]:
    limits = {"rooms_per_account_count": 1_000, "account_rooms_burst_count": 1_000}
    async with (
        running_node(database_url, "a", **limits) as first,
        running_node(database_url, "b", **limits) as second,
    ):
        yield first, second


@pytest.fixture
async def ana(nodes: Nodes) -> AsyncIterator[WireClient]:
    """Somebody at the first node."""
    async with wire(nodes[0].server.url) as client:
        await client.hello("ana")
        yield client


async def new_room(client: WireClient, *, has_bot: bool = False) -> str:
    other = SeatRequest("bot", "random") if has_bot else SeatRequest()
    entered = await client.do(CreateRoom, game="virus-wars", options=SMALL, seats=(SeatRequest("me"), other))
    return str(entered.head.room)


async def gone(client: WireClient) -> RoomGone:
    while True:
        for message in client.unasked:
            if isinstance(message, RoomGone):
                return message
        client.unasked.append(await client.receive())


def is_sent_to(node: RunningNode, refusal: Any, room: str | None) -> bool:
    return isinstance(refusal, Error) and (refusal.code, refusal.node_url, refusal.room) == (
        ErrorCode.ELSEWHERE,
        node.url,
        room,
    )


async def test_node_that_drains_sends_its_people_to_another_one(nodes: Nodes, ana: WireClient) -> None:
    first, second = nodes
    code, unloaded = await new_room(ana), await new_room(ana)
    await ana.do(LeaveRoom, room=unloaded)
    await first.server.nodes.drain()
    assert first.server.nodes.has_drained
    told = await gone(ana)
    assert (told.room, told.node_url) == (code, second.url)
    for refused in (
        await ana.ask(WatchRoom, room=code),
        await ana.ask(JoinRoom, room=code),
        await ana.ask(Say, room=code, text="hello"),
        await ana.ask(Play, room=code, match=1, ply=0, actions=("a1",)),
    ):
        assert is_sent_to(second, refused, code)
    for message in (CreateRoom, QuickPlay):
        options = SMALL | {"rows": 8}
        assert is_sent_to(second, await ana.ask(message, game="virus-wars", options=options), None)
    assert second.server.directory.rooms_count == 0


@pytest.fixture
def moves(monkeypatch: pytest.MonkeyPatch) -> list[tuple[str, str]]:
    """The rooms that nodes begin to move, each with the address of the node that is to have it."""
    moves: list[tuple[str, str]] = []
    move = LiveRoom.move

    async def note_and_move(room: LiveRoom, node: NodeRow) -> None:
        moves.append((room.state.code, node.url))
        await move(room, node)

    monkeypatch.setattr(LiveRoom, "move", note_and_move)
    return moves


async def leave_alone(node: RunningNode, code: str) -> None:
    """Let nobody be in a room."""
    room = await node.server.directory.find(code)
    for connection in tuple(room.subscribers._subscribers):
        room.dismiss(connection)


async def owners(database_url: str) -> dict[str, str | None]:
    """Return the name of the node that owns each room."""
    admin = await asyncpg.connect(database_url)
    try:
        return dict(
            await admin.fetch(
                "SELECT code, name FROM tabuleiro.rooms LEFT JOIN tabuleiro.signs_of_life ON node = owner"
            )
        )
    finally:
        await admin.close()


async def test_rooms_with_people_are_moved_before_those_in_which_nobody_is(
    nodes: Nodes, ana: WireClient, moves: list[tuple[str, str]]
) -> None:
    first, second = nodes
    empty, full = await new_room(ana, has_bot=True), await new_room(ana)
    await leave_alone(first, empty)
    await first.server.nodes.drain()
    assert moves == [(full, second.url), (empty, second.url)]


async def test_rooms_in_which_nobody_plays_and_nobody_is_are_left_to_whoever_asks_for_them(
    nodes: Nodes, ana: WireClient, moves: list[tuple[str, str]], database_url: str
) -> None:
    first, second = nodes
    finished, waiting, watched = (
        await new_room(ana, has_bot=True),
        await new_room(ana),
        await new_room(ana, has_bot=True),
    )
    for code in (finished, watched):
        await ana.do(Resign, room=code, match=1)
    for code in (finished, waiting):
        await leave_alone(first, code)
    await first.server.nodes.drain()
    assert moves == [(watched, second.url)]
    assert first.server.nodes.has_drained
    async with Link(second.server.url, name="eva") as eva:
        for code in (finished, waiting, watched):
            await (await enter(eva, WatchRoom(id=0, room=code))).close()
    assert await owners(database_url) == dict.fromkeys((finished, waiting, watched), "b")


async def test_node_that_begins_to_end_while_rooms_are_given_to_it_gets_none(
    nodes: Nodes, ana: WireClient, moves: list[tuple[str, str]], database_url: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    first, second = nodes
    codes = [await new_room(ana) for _ in range(3)]
    async with running_node(database_url, "c") as third:
        asked = first.server.nodes._store.other_nodes
        seen: list[list[NodeRow]] = []

        async def asked_just_before(*, is_counting: bool = False) -> list[NodeRow]:
            """Return the nodes as they were before the second one began to end, at the first time."""
            nodes = await asked(is_counting=is_counting)
            if not seen:
                await second.server.nodes.drain()
            seen.append(nodes)
            return nodes

        monkeypatch.setattr(first.server.nodes._store, "other_nodes", asked_just_before)
        await first.server.nodes.drain()
        assert {url for _, url in moves} == {second.url, third.url}
        assert first.server.nodes.has_drained
        assert await owners(database_url) == dict.fromkeys(codes, "c")


async def test_people_who_are_sent_to_a_node_that_ends_are_sent_on_to_one_that_stays(
    nodes: Nodes, ana: WireClient, database_url: str
) -> None:
    """Its room was handed to that node at the last moment."""
    first, second = nodes
    code = RoomCode(await new_room(ana))
    room = await first.server.directory.find(code)
    async with running_node(database_url, "c") as third:
        (target,) = [node for node in await first.server.nodes._store.other_nodes() if node.url == second.url]
        await room.move(target)
        for node in (first, second):
            await node.server.nodes.drain()
        async with (
            Link(first.server.url, name="eva") as eva,
            await enter(eva, WatchRoom(id=0, room=code)) as watched,
        ):
            assert watched._link.url == third.url
        assert await owners(database_url) == {code: "c"}


async def test_without_another_node_nothing_is_moved(database_url: str) -> None:
    async with running_node(database_url, "a") as node, wire(node.server.url) as ana:
        await ana.hello("ana")
        code = await new_room(ana)
        await node.server.nodes.drain()
        assert not node.server.nodes.has_drained
        await ana.do(Say, room=code, text="hello")


async def test_commands_that_wait_while_a_room_moves_are_done_or_sent_on(nodes: Nodes, ana: WireClient) -> None:
    code = await new_room(ana)
    count = 30
    for number in range(count):
        await ana.send_frame(ana.codec.encode(SwapSeats(id=1_000 + number, room=code)))
    draining = asyncio.create_task(nodes[0].server.nodes.drain())
    answers = [await ana.answer_to(1_000 + number) for number in range(count)]
    await draining
    done_count = sum(isinstance(answer, Ok) for answer in answers)
    assert all(isinstance(answer, Ok) for answer in answers[:done_count])
    assert all(is_sent_to(nodes[1], answer, code) for answer in answers[done_count:])
    async with wire(nodes[1].server.url) as eva:
        await eva.hello("eva")
        await eva.do(WatchRoom, room=code)
    room = await nodes[1].server.directory.find(code)
    events = await room._context.journal.events_after(room.state.code, Seq(0))
    assert sum(isinstance(event.event, SeatsSwapped) for event in events) == done_count


async def test_people_whose_room_moves_go_on_there_as_if_nothing_had_happened(nodes: Nodes) -> None:
    async with (
        asyncio.timeout(LIMIT_S),
        Link(nodes[0].url, name="ana") as ana,
        Link(nodes[1].url, name="rui") as rui,
        await enter(ana, CreateRoom(id=0, game="virus-wars", options={"rows": 10, "cols": 10})) as first,
        await enter(rui, JoinRoom(id=0, room=first.code)) as second,
    ):
        players = Players(first, second)
        await players.play(3)
        moving = asyncio.create_task(nodes[0].server.nodes.drain())
        await players.play(20)
        await moving
        room = await nodes[1].server.directory.find(first.code)
        kinds = {type(event.event) for event in await room._context.journal.events_after(room.state.code, Seq(0))}
        assert not kinds & {SeatDisconnected, RoomResumed}


async def test_room_that_was_taken_over_sends_its_people_to_the_new_owner(
    nodes: Nodes, ana: WireClient, database_url: str
) -> None:
    first, second = nodes
    written, quiet = await new_room(ana), await new_room(ana)
    admin = await asyncpg.connect(database_url)
    theirs = "(SELECT node FROM tabuleiro.signs_of_life WHERE name = 'b')"
    await admin.execute(f"UPDATE tabuleiro.rooms SET incarnation = incarnation + 1, owner = {theirs}")
    await admin.execute("UPDATE tabuleiro.signs_of_life SET lease_until = '-infinity' WHERE name = 'a'")
    await admin.close()
    assert is_sent_to(second, await ana.ask(Say, room=written, text="hello"), written)
    for _ in (written, quiet):
        told = await gone(ana)
        ana.unasked.remove(told)
        assert told.node_url == second.url
    assert first.server.directory.rooms_count == 0


async def test_rooms_are_shared_by_the_numbers_of_rooms_as_they_are_now(
    nodes: Nodes, ana: WireClient, moves: list[tuple[str, str]]
) -> None:
    """Not by those that others have told a while ago."""
    first, second = nodes
    async with wire(second.server.url) as eva:
        await eva.hello("eva")
        for _ in range(SHARE_MIN_COUNT * 2):
            await new_room(ana)
            await new_room(eva)
        told = [replace(node, rooms_count=0) for node in await first.server.nodes._store.other_nodes()]
        first.server.nodes._others = told
        await first.server.nodes._share()
        assert moves == []


@pytest.mark.slow
async def test_node_with_more_rooms_than_the_mean_gives_some_away(nodes: Nodes, ana: WireClient) -> None:
    first, second = nodes
    codes = [await new_room(ana) for _ in range(ROOM_COUNT)]
    async with asyncio.timeout(LIMIT_S):
        while first.server.directory.rooms_count > ROOM_COUNT * 3 // 4:
            ana.unasked.remove(await gone(ana))
    answers = [await ana.ask(Say, room=code, text="hello") for code in codes]
    assert sum(is_sent_to(second, answer, code) for answer, code in zip(answers, codes, strict=True)) >= 10
