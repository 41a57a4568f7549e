"""What one server hears of the rooms that others change: when, and what it hears when notices are lost."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncGenerator, AsyncIterator, Awaitable, Callable, Mapping
from contextlib import aclosing, asynccontextmanager
from typing import Any

import asyncpg
import pytest

from tabuleiro.ids import RoomCode, Seq
from tabuleiro_server.store.port import Store
from tabuleiro_server.store.postgres.notices import Notices
from tabuleiro_server.store.postgres.store import PostgresStore
from tests.patience import LIMIT_S
from tests.postgres import Cluster, pooler, pooler_program
from tests.store.nodes import HERE

ROOM = RoomCode("K7MQ4")
OTHER = RoomCode("W2XYZ")

NEVER_S = 1_000.0
LISTENING = "SELECT pid FROM pg_stat_activity WHERE query LIKE 'LISTEN%' AND datname = 'games'"


@pytest.fixture
async def stores(database_url: str) -> AsyncIterator[tuple[PostgresStore, PostgresStore]]:
    """Two servers' stores; the first one hears of the other, and at once."""
    async with opened(database_url) as hearing, opened(database_url) as other:
        yield hearing, other


def notices_of(store: PostgresStore) -> Notices:
    assert store.peers is not None
    return store.peers.notices


@asynccontextmanager
async def opened(url: str) -> AsyncIterator[PostgresStore]:
    """Open a store that waits between no batches and never looks by itself."""
    store = await PostgresStore.open(url, address=HERE)
    notices_of(store).interval_s = 0
    notices_of(store).look_s = NEVER_S
    try:
        yield store
    finally:
        await store.close()


async def append(store: Store, make: Any, room: RoomCode, first: int, last: int) -> None:
    await store.append(room, Seq(first - 1), make.events(first, last), make.rows(room))


Changes = AsyncGenerator[Mapping[RoomCode, Seq]]


async def begun(store: Store) -> Changes:
    """Return the changes from now on."""
    assert store.peers is not None
    changes = store.peers.changes()
    assert await heard(changes) == {}
    return changes


async def heard(changes: Changes) -> dict[RoomCode, Seq]:
    """Return the next batch."""
    async with asyncio.timeout(LIMIT_S):
        return dict(await anext(changes))


async def heard_of(changes: Changes, room: RoomCode) -> Seq:
    """Return the last event of the next change of a room."""
    while True:
        if seq := (await heard(changes)).get(room):
            return seq


async def until(is_so: Callable[[], Awaitable[Any]]) -> None:
    """Ask until it is so: nobody tells how far another process is."""
    async with asyncio.timeout(LIMIT_S):
        while True:
            if await is_so():
                return
            await asyncio.sleep(0)


Stores = tuple[PostgresStore, PostgresStore]


async def test_others_hear_of_a_room_after_its_commit_and_not_before(
    stores: Stores, make: Any, admin: asyncpg.Connection, database_url: str
) -> None:
    hearing, other = stores
    await append(other, make, ROOM, 1, 1)
    async with aclosing(await begun(hearing)) as changes, opened(database_url) as third:
        locked = admin.transaction()
        await locked.start()
        await admin.execute("SELECT FROM tabuleiro.rooms FOR UPDATE")
        storing = asyncio.ensure_future(append(other, make, ROOM, 2, 4))
        await append(third, make, OTHER, 1, 1)
        assert await heard(changes) == {OTHER: 1}
        assert not storing.done()
        await locked.rollback()
        assert await heard(changes) == {ROOM: 4}
        await storing


async def test_a_server_does_not_hear_of_what_it_commits_itself(stores: Stores, make: Any) -> None:
    hearing, other = stores
    async with aclosing(await begun(hearing)) as changes:
        await append(hearing, make, ROOM, 1, 3)
        await append(other, make, OTHER, 1, 2)
        assert await heard(changes) == {OTHER: 2}


async def test_what_comes_while_a_batch_is_seen_to_is_told_once_and_with_its_last_event(
    stores: Stores, make: Any
) -> None:
    hearing, other = stores
    async with aclosing(await begun(hearing)) as changes:
        for seq in range(1, 6):
            await append(other, make, ROOM, seq, seq)
            await append(other, make, OTHER, seq, seq)
        told: dict[RoomCode, list[Seq]] = {ROOM: [], OTHER: []}
        while [seqs[-1:] for seqs in told.values()] != [[5], [5]]:
            for room, seq in (await heard(changes)).items():
                told[room].append(seq)
        assert all(sorted(set(seqs)) == seqs for seqs in told.values())


async def test_notices_that_were_lost_with_their_connection_are_made_good(
    stores: Stores, make: Any, admin: asyncpg.Connection
) -> None:
    hearing, other = stores
    notices_of(hearing).look_s = 0.05
    async with aclosing(await begun(hearing)) as changes:
        for seq in range(1, 4):
            pid = await admin.fetchval(LISTENING)
            await admin.fetchval("SELECT pg_terminate_backend($1, 10000)", pid)
            await append(other, make, ROOM, seq, seq)
            assert await heard_of(changes, ROOM) == seq
            # Who waits for the next one opens the connection.
            looking = asyncio.ensure_future(heard_of(changes, OTHER))
            await until(lambda: admin.fetchval(LISTENING))
            await append(other, make, OTHER, seq, seq)
            assert await looking == seq


@pytest.mark.skipif(pooler_program() is None, reason="PgBouncer is not installed (Debian: apt install pgbouncer)")
@pytest.mark.parametrize("mode", ["transaction", "session"])
async def test_behind_a_pooler_changes_are_looked_for_and_nobody_listens(
    postgres: Cluster, database_url: str, make: Any, admin: asyncpg.Connection, mode: str
) -> None:
    with pooler(postgres, mode) as url:
        async with opened(url) as hearing, opened(database_url) as other:
            notices_of(hearing).look_s = 0.01
            async with aclosing(await begun(hearing)) as changes:
                for seq in range(1, 6):
                    await append(other, make, ROOM, seq, seq)
                    assert await heard_of(changes, ROOM) == seq
            assert await admin.fetchval(LISTENING) is None


async def test_a_commit_that_was_begun_before_others_and_ended_after_them_is_not_missed(
    stores: Stores, make: Any, admin: asyncpg.Connection
) -> None:
    hearing, other = stores
    hearing._database.is_pooled = True
    notices_of(hearing).look_s = 0.01
    await append(other, make, ROOM, 1, 1)
    async with aclosing(await begun(hearing)) as changes:
        late = admin.transaction()
        await late.start()
        await admin.execute(
            "UPDATE tabuleiro.rooms SET seq = 2, changed_in = pg_current_xact_id() WHERE code = $1", ROOM
        )
        for seq in range(1, 4):
            await append(other, make, OTHER, seq, seq)
            assert await heard_of(changes, OTHER) == seq
        await late.commit()
        assert await heard(changes) == {ROOM: 2}


async def test_changes_are_told_after_a_time_without_the_database(
    stores: Stores, make: Any, admin: asyncpg.Connection, capsys: pytest.CaptureFixture[str]
) -> None:
    hearing, other = stores
    notices_of(hearing).look_s = 0.01
    async with aclosing(await begun(hearing)) as changes:
        await admin.execute("ALTER TABLE tabuleiro.rooms RENAME TO away")
        await admin.fetchval("SELECT pg_terminate_backend($1, 10000)", await admin.fetchval(LISTENING))
        waiting = asyncio.ensure_future(heard_of(changes, ROOM))
        told = ""
        async with asyncio.timeout(LIMIT_S):
            while "changes by other servers come late" not in told:
                await asyncio.sleep(0)
                told += capsys.readouterr().out
        await admin.execute("ALTER TABLE tabuleiro.away RENAME TO rooms")
        await append(other, make, ROOM, 1, 1)
        assert await waiting == 1
        assert "come late" not in capsys.readouterr().out


async def test_connection_that_listens_is_given_back_at_the_end(
    stores: Stores, make: Any, admin: asyncpg.Connection
) -> None:
    hearing, other = stores
    await append(other, make, ROOM, 1, 1)
    assert await admin.fetchval(LISTENING) is None
    async with aclosing(await begun(hearing)):
        assert await admin.fetchval(LISTENING)
    await until(lambda: _is_none(admin))
    async with aclosing(await begun(hearing)) as changes:
        await append(other, make, ROOM, 2, 2)
        assert await heard(changes) == {ROOM: 2}


async def _is_none(admin: asyncpg.Connection) -> bool:
    return bool(await admin.fetchval(LISTENING) is None)


async def test_rooms_of_a_restored_database_are_not_changes_for_ever(
    database_url: str, make: Any, admin: asyncpg.Connection
) -> None:
    async with opened(database_url) as store:
        await append(store, make, ROOM, 1, 1)
    await admin.execute("UPDATE tabuleiro.rooms SET changed_in = '99999999999'")
    async with opened(database_url) as store:
        notices_of(store).look_s = 0.01
        async with aclosing(await begun(store)) as changes:
            await append(store, make, OTHER, 1, 1)
            assert await heard(changes) == {OTHER: 1}


async def test_only_a_store_that_others_can_use_knows_of_others(any_store: Store, adapter: str) -> None:
    assert (any_store.peers is None) == (adapter == "sqlite")
