"""The lobby of two nodes: whoever looks at one sees the rooms, the people and the chat of both."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from contextlib import AsyncExitStack, asynccontextmanager
from typing import Any

import asyncpg
import pytest

from tabuleiro.errors import CommandError
from tabuleiro.protocol.codes import ErrorCode
from tabuleiro.protocol.messages import (
    CreateRoom,
    JoinRoom,
    LobbyUpdate,
    RoomList,
    RoomSummary,
    WatchRoom,
)
from tabuleiro.settings import RoomSettings
from tabuleiro_client.net.link import Link, LinkSettings
from tabuleiro_client.net.lobby import follow_lobby
from tabuleiro_client.net.room import enter
from tests.e2e.nodes import RunningNode, running_node
from tests.net.wire_client import raw_request
from tests.patience import LIMIT_S

Nodes = tuple[RunningNode, RunningNode]


@pytest.fixture
async def nodes(database_url: str) -> AsyncIterator[Nodes]:
    async with running_node(database_url, "a") as first, running_node(database_url, "b") as second:
        yield first, second


def room_of(*, is_private: bool = False) -> CreateRoom:
    return CreateRoom(
        id=0, game="virus-wars", options={"rows": 4, "cols": 4}, settings=RoomSettings(is_private=is_private)
    )


class Looker:
    """Somebody who looks at the lobby, and what they see of it."""

    def __init__(self, link: Link) -> None:
        self.rooms: dict[str, RoomSummary] = {}
        self.people: tuple[str, ...] = ()
        self.people_count = 0
        self.said: list[tuple[str, str]] = []
        self._link = link
        self._seen = asyncio.Event()

    async def look(self) -> None:
        async with follow_lobby(self._link) as news:
            async for told in news:
                if isinstance(told, RoomList):
                    self.rooms = {room.room: room for room in told.rooms}
                    self.said = [(line.name, line.text) for line in told.chat]
                elif isinstance(told, LobbyUpdate):
                    self.rooms |= {room.room: room for room in told.rooms}
                    for code in told.gone:
                        self.rooms.pop(code, None)
                    self.people, self.people_count = told.people, told.people_count
                    self.said += [(line.name, line.text) for line in told.chat]
                self._seen.set()

    async def sees(self, is_so: Any) -> None:
        async with asyncio.timeout(LIMIT_S):
            while not is_so():
                self._seen.clear()
                await self._seen.wait()


@asynccontextmanager
async def looking(link: Link) -> AsyncIterator[Looker]:
    """Look at the lobby until the context ends."""
    looker = Looker(link)
    task = asyncio.create_task(looker.look())
    try:
        yield looker
    finally:
        task.cancel()
        await asyncio.wait({task})


async def test_rooms_of_another_node_are_seen_as_they_come_change_and_go(nodes: Nodes) -> None:
    here, there = nodes
    async with (
        Link(here.url, name="eva") as eva,
        Link(there.url, name="ana") as ana,
        Link(there.url, name="rui") as rui,
        looking(eva) as looker,
    ):
        async with await enter(ana, room_of(is_private=True)) as private, await enter(ana, room_of()) as room:
            await looker.sees(lambda: room.code in looker.rooms)
            assert looker.rooms[room.code].phase == "waiting"
            async with await enter(rui, JoinRoom(id=0, room=room.code)):
                await looker.sees(lambda: looker.rooms[room.code].players == ("ana", "rui"))
                assert [line.room for line in (await eva.list_rooms()).rooms] == [room.code]
                await room.resign()
                await looker.sees(lambda: room.code not in looker.rooms)
            assert private.code not in looker.rooms


async def test_whoever_asks_once_is_told_of_rooms_of_other_nodes_and_of_older_ones(database_url: str) -> None:
    async with running_node(database_url, "a") as first:
        async with Link(first.url, name="ana") as ana, await enter(ana, room_of()) as room:
            async with running_node(database_url, "b") as second, Link(second.url, name="eva") as eva:
                assert [line.room for line in (await eva.list_rooms()).rooms] == [room.code]
                async with await enter(ana, room_of()) as other:
                    async with asyncio.timeout(LIMIT_S):
                        while len(listed := (await eva.list_rooms()).rooms) < 2:
                            pass
                    assert [line.room for line in listed] == [other.code, room.code]


async def test_people_of_all_nodes_are_shown_once_and_go_with_their_node(database_url: str) -> None:
    async with AsyncExitStack() as stack, running_node(database_url, "a") as here:
        there = await stack.enter_async_context(running_node(database_url, "b"))
        async with Link(here.url, name="eva") as eva, looking(eva) as looker:
            await looker.sees(lambda: looker.people == ("eva",))
            async with Link(there.url, name="ana"):
                await looker.sees(lambda: looker.people == ("ana", "eva"))
                async with Link(there.url, token=eva.welcome.token):
                    assert looker.people_count == 2
            await looker.sees(lambda: looker.people == ("eva",))
            async with Link(there.url, name="rui", settings=LinkSettings(backoff=None)):
                await looker.sees(lambda: looker.people == ("eva", "rui"))
                await stack.aclose()
                await looker.sees(lambda: looker.people == ("eva",))


async def test_watchers_of_all_nodes_are_counted_in_the_line_of_a_room(database_url: str) -> None:
    async with (
        running_node(database_url, "a") as here,
        running_node(database_url, "b") as there,
        running_node(database_url, "c") as third,
        Link(here.url, name="ana") as ana,
        Link(here.url, name="rui") as rui,
        Link(there.url, name="eva") as eva,
        Link(third.url, name="leo") as leo,
        await enter(ana, room_of()) as room,
        looking(rui) as first,
        looking(eva) as second,
        looking(leo) as third_looker,
    ):
        watch = WatchRoom(id=0, room=room.code, follow=True)
        async with await enter(rui, watch), await enter(eva, watch), await enter(leo, watch) as last:
            for looker in (first, second, third_looker):
                await looker.sees(lambda looker=looker: looker.rooms[room.code].watchers == 3)
            await last.leave()
            for looker in (first, second, third_looker):
                await looker.sees(lambda looker=looker: looker.rooms[room.code].watchers == 2)


async def test_chat_of_the_lobby_is_read_on_all_nodes_in_one_order_and_kept(nodes: Nodes) -> None:
    here, there = nodes
    async with (
        Link(here.url, name="eva") as eva,
        Link(there.url, name="ana") as ana,
        looking(eva) as first,
        looking(ana) as second,
    ):
        await first.sees(lambda: first.people_count == 2)
        await second.sees(lambda: second.people_count == 2)
        for number in range(4):
            await eva.say_in_lobby(f"eva {number}")
            await ana.say_in_lobby(f"ana {number}")
        await first.sees(lambda: len(first.said) == 8)
        await second.sees(lambda: len(second.said) == 8)
        assert first.said == second.said
        assert first.said == [(name, f"{name} {number}") for number in range(4) for name in ("eva", "ana")]
        async with Link(there.url, name="rui") as rui, looking(rui) as third:
            await third.sees(lambda: len(third.said) == 8)


async def test_somebody_listens_to_other_nodes_only_while_somebody_looks(nodes: Nodes, database_url: str) -> None:
    admin = await asyncpg.connect(database_url)
    listening = "SELECT count(*) FROM pg_stat_activity WHERE query LIKE 'LISTEN%' AND datname = 'games'"
    try:
        async with Link(nodes[0].url, name="eva") as eva, Link(nodes[1].url, name="ana") as ana:
            async with await enter(ana, room_of()), asyncio.timeout(LIMIT_S):
                assert await admin.fetchval(listening) == 0
                async with looking(eva):
                    while await admin.fetchval(listening) < 1:
                        pass
                while await admin.fetchval(listening):
                    pass
    finally:
        await admin.close()


async def test_lobby_is_followed_as_long_as_anybody_on_a_connection_looks(nodes: Nodes) -> None:
    async with Link(nodes[0].url, name="eva") as eva, Link(nodes[1].url, name="ana") as ana:
        async with looking(eva) as still:
            async with looking(eva):
                pass
            async with await enter(ana, room_of()) as room:
                await still.sees(lambda: room.code in still.rooms)
        async with looking(eva) as again, await enter(ana, room_of()) as room:
            await again.sees(lambda: room.code in again.rooms)


async def test_link_to_a_room_tells_of_it_on_every_node(database_url: str) -> None:
    async with (
        running_node(database_url, "a") as here,
        Link(here.url, name="ana") as ana,
        await enter(ana, room_of()) as listed,
        await enter(ana, room_of(is_private=True)) as private,
        running_node(database_url, "b", web=True) as there,  # it reads the lobby when it starts
    ):
        _, body = await raw_request(there.server.port, [f"GET /r/{listed.code} HTTP/1.1"])
        assert "<title>ana - Virus Wars</title>" in body
        _, body = await raw_request(there.server.port, [f"GET /r/{private.code} HTTP/1.1"])
        assert "<title>tabuleiro</title>" in body


async def test_rooms_of_an_account_are_counted_on_all_nodes(database_url: str) -> None:
    async with (
        running_node(database_url, "a", rooms_per_account_count=2) as here,
        running_node(database_url, "b", rooms_per_account_count=2) as there,
        Link(here.url, name="ana") as first,
        Link(there.url, token=first.welcome.token) as second,
        await enter(first, room_of()) as room,
        await enter(second, room_of()),
    ):
        for link in (first, second):
            with pytest.raises(CommandError, match="at most 2 unfinished rooms"):
                await enter(link, room_of())
        await room.leave()
        async with await enter(second, room_of()):
            pass


async def test_a_name_that_is_asked_for_on_two_nodes_at_one_moment_is_given_once(nodes: Nodes) -> None:
    """Nor are others given that look like it."""
    names = ["Lola", "lola", "L0la", "1ola"]
    async with AsyncExitStack() as stack:
        links = [Link(nodes[number % 2].url, name=name) for number, name in enumerate(names)]
        entering = (stack.enter_async_context(link) for link in links)
        results = await asyncio.gather(*entering, return_exceptions=True)
        refused = [result.code for result in results if isinstance(result, CommandError)]
        assert refused == [ErrorCode.NAME_TAKEN] * (len(names) - 1)
