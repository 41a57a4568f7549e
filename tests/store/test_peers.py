"""What the servers on one PostgreSQL tell each other: rooms, lines of chat, people, and whose turn it is."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from contextlib import AsyncExitStack
from typing import Any

import asyncpg
import pytest

from tabuleiro.ids import AccountId, RoomCode, Seq, TimestampMs
from tabuleiro_server.store.port import LobbyLine, Peers, Rows
from tabuleiro_server.store.postgres import connection as connections
from tabuleiro_server.store.postgres.store import PostgresStore
from tests.patience import LIMIT_S
from tests.store.nodes import HERE

ROOM = RoomCode("K7MQ4")
OTHER = RoomCode("W2XYZ")


@pytest.fixture
async def stores(database_url: str) -> AsyncIterator[tuple[PostgresStore, PostgresStore]]:
    async with AsyncExitStack() as stack:
        opened = []
        for _ in range(2):
            store = await PostgresStore.open(database_url, address=HERE)
            stack.push_async_callback(store.close)
            opened.append(store)
        yield opened[0], opened[1]


Stores = tuple[PostgresStore, PostgresStore]


def peers_of(store: PostgresStore) -> Peers:
    assert store.peers is not None
    return store.peers


def line(text: str, at_ms: int = 1) -> LobbyLine:
    return LobbyLine(TimestampMs(at_ms), AccountId("a1"), "ana", text)


async def test_news_are_what_has_changed_since_the_last_ones(stores: Stores, make: Any) -> None:
    mine, others = stores
    peers = peers_of(mine)
    for code, phase in ((ROOM, "waiting"), (OTHER, "closed")):
        await others.append(code, Seq(0), make.events(1, 1), Rows(make.room(code, phase)))
    await peers.say(line("hello"), 100)
    news = await peers.news(None)
    assert (news.rooms, news.lines) == ([make.room(ROOM, "waiting")], [line("hello")])
    news = await peers.news(news.mark)
    assert news.lines == []
    await others.append(ROOM, Seq(1), make.events(2, 2), Rows(make.room(ROOM, "closed")))
    await peers_of(others).say(line("bye", 2), 100)
    news = await peers.news(news.mark)
    assert (news.rooms, news.lines) == ([make.room(ROOM, "closed")], [line("bye", 2)])


async def test_the_last_lines_are_kept_each_once(stores: Stores) -> None:
    mine, others = stores
    for number in range(10):
        await peers_of(stores[number % 2]).say(line(f"line {number}", number), 4)
    await peers_of(mine).say(line("line 9", 9), 4)  # sent again, as if its answer was lost
    assert [said.text for said in (await peers_of(others).news(None)).lines][-4:] == [
        f"line {number}" for number in range(6, 10)
    ]


async def test_people_are_those_of_other_servers_that_live(stores: Stores, database_url: str) -> None:
    mine, others = stores
    await peers_of(mine).note_people({"ana"}, {ROOM: 2})
    await peers_of(others).note_people({"rui", "eva"}, {ROOM: 3, OTHER: 1})
    news = await peers_of(mine).news(None)
    assert (news.people, news.watchers) == ({"rui", "eva"}, {ROOM: 3, OTHER: 1})
    news = await peers_of(others).news(None)
    assert (news.people, news.watchers) == ({"ana"}, {ROOM: 2})
    await peers_of(others).note_people({"rui"}, {})
    news = await peers_of(mine).news(None)
    assert (news.people, news.watchers) == ({"rui"}, {})
    await others.close()
    assert (await peers_of(mine).news(None)).people == set()


async def test_one_server_at_a_time_is_alone_with_a_key(stores: Stores) -> None:
    inside: list[str] = []

    async def enter(number: int, key: str) -> None:
        async with peers_of(stores[number % 2]).alone(key):
            assert key not in inside
            inside.append(key)
            await asyncio.sleep(0)
            inside.remove(key)

    await asyncio.gather(*(enter(number, f"key {number // 2 % 2}") for number in range(8)))
    async with peers_of(stores[0]).alone("one"), peers_of(stores[1]).alone("another"):
        pass


async def test_a_server_that_does_nothing_while_it_is_alone_is_followed_by_another(
    stores: Stores, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(connections, "HOLD_LIMIT", "20ms")
    async with asyncio.timeout(LIMIT_S), peers_of(stores[0]).alone("key"):
        async with peers_of(stores[1]).alone("key"):
            pass


async def test_a_server_whose_connection_breaks_while_it_is_alone_is_followed_by_another(
    stores: Stores, database_url: str
) -> None:
    admin = await asyncpg.connect(database_url)
    try:
        async with asyncio.timeout(LIMIT_S), peers_of(stores[0]).alone("key"):
            entering = asyncio.ensure_future(_enter(stores[1]))
            holder = "SELECT pid FROM pg_locks WHERE locktype = 'advisory' AND granted AND mode = 'ExclusiveLock'"
            pid = await admin.fetchval(f"{holder} AND classid <> 0")
            await admin.fetchval("SELECT pg_terminate_backend($1, 10000)", pid)
            await entering
        assert await peers_of(stores[0]).news(None)
    finally:
        await admin.close()


async def _enter(store: PostgresStore) -> None:
    async with peers_of(store).alone("key"):
        pass
