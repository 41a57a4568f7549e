"""Quick play on two nodes: people who ask for the same match meet, on whichever node each of them is."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from contextlib import AsyncExitStack

import asyncpg
import pytest

from tabuleiro.clock import Correspondence, Fischer
from tabuleiro.protocol.messages import QuickPlay
from tabuleiro.settings import RoomSettings
from tabuleiro_client.net.link import Link
from tabuleiro_client.net.room import EnteredRoom, enter
from tests.e2e.nodes import RunningNode, running_node
from tests.patience import LIMIT_S

Nodes = tuple[RunningNode, RunningNode]
BLITZ = RoomSettings(time_control=Fischer(initial_ms=60_000, increment_ms=1_000))
SLOW = RoomSettings(time_control=Correspondence(days=3))


@pytest.fixture
async def nodes(database_url: str) -> AsyncIterator[Nodes]:
    async with running_node(database_url, "a") as first, running_node(database_url, "b") as second:
        yield first, second


def quick(settings: RoomSettings = BLITZ, rows: int = 4) -> QuickPlay:
    return QuickPlay(id=0, game="virus-wars", options={"rows": rows, "cols": 4}, settings=settings)


async def begun(*rooms: EnteredRoom) -> None:
    """Wait until a match has begun in each room."""
    async with asyncio.timeout(LIMIT_S):
        for room in rooms:
            while room.mirror.head.match is None:
                await room.next_change()


async def test_people_who_ask_on_two_nodes_one_after_the_other_meet(nodes: Nodes) -> None:
    here, there = nodes
    async with Link(here.url, name="ana") as ana, await enter(ana, quick()) as first:
        async with Link(there.url, name="rui") as rui, await enter(rui, quick()) as second:
            assert second.code == first.code
            await begun(first, second)
            assert there.server.directory.rooms_count == 0


async def test_people_who_ask_at_one_moment_meet_in_pairs(nodes: Nodes) -> None:
    async with AsyncExitStack() as stack:
        links = [
            await stack.enter_async_context(Link(nodes[number % 2].url, name=f"guest{number}"))
            for number in range(8)
        ]
        rooms = await asyncio.gather(*(enter(link, quick()) for link in links))
        for room in rooms:
            await stack.enter_async_context(room)
        await begun(*rooms)
        codes = [room.code for room in rooms]
        assert sorted(codes.count(code) for code in set(codes)) == [2, 2, 2, 2]


async def test_people_who_want_other_matches_do_not_meet(nodes: Nodes) -> None:
    here, there = nodes
    async with (
        Link(here.url, name="ana") as ana,
        Link(there.url, name="rui") as rui,
        await enter(ana, quick()) as first,
        await enter(rui, quick(rows=5)) as second,
        await enter(rui, quick(SLOW)) as third,
    ):
        assert len({first.code, second.code, third.code}) == 3


async def test_a_room_of_somebody_who_has_gone_is_passed_over_unless_nobody_need_be_there(
    nodes: Nodes, database_url: str
) -> None:
    here, there = nodes
    admin = await asyncpg.connect(database_url)
    async with Link(here.url, name="ana") as ana:
        blitz, slow = await enter(ana, quick()), await enter(ana, quick(SLOW))
        gone, waiting = blitz.code, slow.code
    async with asyncio.timeout(LIMIT_S):
        while await admin.fetchval("SELECT count(*) FROM tabuleiro.people WHERE 'ana' = ANY(names)"):
            pass
    await admin.close()
    async with Link(there.url, name="rui") as rui:
        async with await enter(rui, quick()) as room:
            assert room.code != gone
        async with await enter(rui, quick(SLOW)) as room:
            assert room.code == waiting


async def test_whoever_waits_in_a_room_of_another_node_is_sent_back_to_it(nodes: Nodes) -> None:
    here, there = nodes
    async with (
        Link(here.url, name="ana") as ana,
        Link(there.url, token=ana.welcome.token) as again,
        await enter(ana, quick()) as first,
        await enter(again, quick()) as second,
    ):
        assert first.code == second.code
