"""Everything moved from one store to another, between SQLite and PostgreSQL and back."""

from __future__ import annotations

from collections.abc import AsyncIterator
from typing import Any

import pytest

from tabuleiro.errors import StoreError
from tabuleiro.ids import AccountId, RoomCode, Seq, TimestampMs
from tabuleiro_server.store.copying import CopyReport, copy_all
from tabuleiro_server.store.port import Rows, Store
from tabuleiro_server.store.postgres.store import PostgresStore

ROOM = RoomCode("K7MQ4")
ROOM_COUNT = 120
"""More than are copied in one go."""


async def fill(store: Store, make: Any) -> None:
    """Rooms of all kinds: with matches, a deadline, long and empty payloads; and guests."""
    for number in range(ROOM_COUNT):
        code = f"R{number:04}"
        rows = Rows(make.room(code, "closed" if number % 2 else "waiting"))
        await store.append(RoomCode(code), Seq(0), make.events(1, 2, b"\x00" * number), rows)
    matches = [make.match(ROOM, winner=1), make.match(ROOM, 2, account="rui")]
    row = make.room(ROOM, "playing", deadline_ms=2**40, summary=b"")
    await store.append(ROOM, Seq(0), make.events(1, 30, bytes(range(256)) * 40), Rows(row, matches))
    for name, now_ms in (("Ana", 5), ("rui", 4), ("Zoë", 6)):
        await store.accounts.create(AccountId(name), name, name.encode(), TimestampMs(now_ms))
    store.beat(TimestampMs(1_767_225_600_123))


WHOLE = CopyReport(room_count=ROOM_COUNT + 1, match_count=2, event_count=2 * ROOM_COUNT + 30, account_count=3)


@pytest.fixture
async def postgres_store(database_url: str) -> AsyncIterator[Store]:
    store = await PostgresStore.open(database_url)
    yield store
    await store.close()


async def test_all_of_a_file_goes_to_postgresql_and_back(
    open_store: Any, postgres_store: Store, database_url: str, make: Any, tmp_path: Any
) -> None:
    async with open_store() as first:
        await fill(first, make)
    async with open_store() as first, open_store(tmp_path / "back.db") as back:
        assert await copy_all(first, postgres_store) == WHOLE
        assert await copy_all(postgres_store, back) == WHOLE
        for copy in (postgres_store, back):
            assert await copy.rooms() == await first.rooms()
            assert await copy.load(ROOM) == await first.load(ROOM)
            assert await copy.matches(ROOM) == await first.matches(ROOM)
            assert await copy.due_rooms(TimestampMs(2**41)) == [ROOM]
            assert await copy.accounts.find_by_token_hash(b"rui") == await first.accounts.find_by_name("RUI")
            await copy.append(ROOM, Seq(30), make.events(31, 31), make.rows(ROOM))
    await postgres_store.close()
    again = await PostgresStore.open(database_url)
    await again.close()
    assert again.last_alive_ms == first.last_alive_ms == 1_767_225_600_123


async def test_nothing_is_copied_to_a_database_that_holds_something(
    open_store: Any, postgres_store: Store, make: Any
) -> None:
    await postgres_store.accounts.create(AccountId("a"), "Ana", b"a", TimestampMs(1))
    async with open_store() as source:
        await fill(source, make)
        with pytest.raises(StoreError, match="choose an empty database"):
            await copy_all(source, postgres_store)
        with pytest.raises(StoreError, match="choose an empty database"):
            await copy_all(postgres_store, source)
    assert await postgres_store.rooms() == []


class Forgetful(PostgresStore):
    """Loses the rooms' second event on the way in, and says nothing."""

    def append(self, room: RoomCode, expected_seq: Seq, events: Any, *args: Any) -> Any:
        return super().append(room, expected_seq, events[:1], *args)


async def test_copy_that_is_not_the_same_is_noticed(open_store: Any, database_url: str, make: Any) -> None:
    target = await Forgetful.open(database_url)
    try:
        async with open_store() as source:
            await fill(source, make)
            with pytest.raises(StoreError, match=r"the copy of room \w+ is not the same"):
                await copy_all(source, target)
    finally:
        await target.close()
