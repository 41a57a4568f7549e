"""The operator's work on a PostgreSQL database: count, look into one room, compare with the events, rebuild.

All of it works beside running servers. Copies and free space are for PostgreSQL's own tools.
"""

from __future__ import annotations

from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager
from typing import TypeVar

import asyncpg

from tabuleiro.errors import DamagedRoomError, DatabaseFormatError
from tabuleiro.ids import RoomCode
from tabuleiro_server.store.port import BEFORE_FIRST, Account, MatchRow, Replay, StoredEvent
from tabuleiro_server.store.postgres.accounts import add_looks
from tabuleiro_server.store.postgres.connection import BROKEN, Database, storage_error
from tabuleiro_server.store.postgres.queries import (
    delete_rows_of,
    select_events,
    select_matches,
    select_places,
    select_room,
    write_rows,
)
from tabuleiro_server.store.postgres.schema import MIGRATIONS, schema_version
from tabuleiro_server.store.reports import (
    Difference,
    RebuildReport,
    Stats,
    VerifyReport,
    by_name,
    differences_of,
    replayed_rows,
)
from tabuleiro_server.store.tables import check_version

T = TypeVar("T")

_ROOMS = (
    "SELECT room FROM (SELECT DISTINCT room FROM tabuleiro.events UNION SELECT code FROM tabuleiro.rooms"
    " UNION SELECT room FROM tabuleiro.matches) AS known ORDER BY room"
)


async def read_stats(url: str) -> Stats:
    """Count what the database holds. Raises: DatabaseFormatError; StorageUnavailableError; ConfigError."""

    async def count(connection: asyncpg.Connection) -> Stats:
        async with connection.transaction(isolation="repeatable_read", readonly=True):
            phases = await connection.fetch("SELECT phase, count(*) FROM tabuleiro.rooms GROUP BY phase")
            return Stats(
                schema_version=await schema_version(connection),
                size_bytes=await connection.fetchval(
                    "SELECT coalesce(sum(pg_total_relation_size(pg_class.oid)), 0)::bigint FROM pg_class"
                    " WHERE relkind = 'r' AND relnamespace = 'tabuleiro'::regnamespace"
                ),
                wal_bytes=None,
                free_bytes=None,
                event_count=await connection.fetchval("SELECT count(*) FROM tabuleiro.events"),
                room_counts=dict(phases),
                match_count=await connection.fetchval("SELECT count(*) FROM tabuleiro.matches"),
                ended_match_count=await connection.fetchval("SELECT count(ended_at_ms) FROM tabuleiro.matches"),
                account_count=await connection.fetchval("SELECT count(*) FROM tabuleiro.accounts"),
            )

    return await on_database(url, count)


async def read_events(url: str, code: RoomCode) -> list[StoredEvent]:
    """Return the events of a room, none when there is no such room.

    Raises: DamagedRoomError; DatabaseFormatError; StorageUnavailableError; ConfigError.
    """
    return await on_database(url, lambda connection: select_events(connection, code, BEFORE_FIRST))


async def verify(url: str, replay: Replay) -> VerifyReport:
    """Replay every room and compare it with the query tables; check every checksum.

    Each room is seen at one moment. Raises: DatabaseFormatError; StorageUnavailableError; ConfigError.
    """
    return await on_database(url, lambda connection: _verify(connection, replay))


async def rebuild(url: str, replay: Replay) -> RebuildReport:
    """Rebuild the query tables from the events, each room in a transaction, and the looks of names.

    Raises: DatabaseFormatError; StorageUnavailableError, with the rooms before it done; ConfigError.
    """
    return await on_database(url, lambda connection: _rebuild(connection, replay))


async def on_database(url: str, work: Callable[[asyncpg.Connection], Awaitable[T]]) -> T:
    """Do some work on a connection of its own, to a database of this program's schema.

    Raises: DatabaseFormatError; StorageUnavailableError; ConfigError; what ``work`` raises itself.
    """
    async with _connected(url) as connection:
        return await work(connection)


@asynccontextmanager
async def _connected(url: str) -> AsyncIterator[asyncpg.Connection]:
    database = Database(url)
    try:
        connection = await database.connect()
        try:
            version, newest = await schema_version(connection), MIGRATIONS[-1].number
            check_version(version, database.place, newest)
            if version == 0:
                raise DatabaseFormatError(database.place, "there are no tables of tabuleiro in this database")
            if version < newest:
                older = f"its schema {version} is older than this program's {newest}"
                raise DatabaseFormatError(database.place, f"{older}; serve it once to bring it up to date")
            yield connection
        finally:
            await connection.close()
    except BROKEN as error:
        raise storage_error(error, database.place) from error


async def _room_codes(connection: asyncpg.Connection) -> list[RoomCode]:
    return [code for (code,) in await connection.fetch(_ROOMS)]


async def _verify(connection: asyncpg.Connection, replay: Replay) -> VerifyReport:
    rooms = await _room_codes(connection)
    findings: list[str] = []
    damaged: list[DamagedRoomError] = []
    found: list[Difference] = []
    event_count = match_count = 0
    for room in rooms:
        try:
            async with connection.transaction(isolation="repeatable_read", readonly=True):
                events = await select_events(connection, room, BEFORE_FIRST)
                row, matches = await select_room(connection, room), await select_matches(connection, room)
                place = (await select_places(connection, [room])).get(room)
            wanted = by_name(replayed_rows(room, events, replay))
        except DamagedRoomError as error:
            damaged.append(error)
            continue
        event_count += len(events)
        match_count += sum(isinstance(wanted_row, MatchRow) for wanted_row in wanted.values())
        if place is not None and place.seq != len(events):
            findings.append(f"room {room} counts {place.seq} events and has {len(events)}")
        stored = {} if row is None else {"room": row}
        found.extend(differences_of(room, stored | {f"match {match.number}": match for match in matches}, wanted))
    return VerifyReport(len(rooms), event_count, match_count, findings, damaged, found)


async def _rebuild(connection: asyncpg.Connection, replay: Replay) -> RebuildReport:
    report = RebuildReport()
    for room in await _room_codes(connection):
        try:
            async with connection.transaction():
                # The owner's next event waits here, which is short: one room is replayed.
                await connection.execute("SELECT FROM tabuleiro.rooms WHERE code = $1 FOR UPDATE", room)
                events = await select_events(connection, room, BEFORE_FIRST)
                rows = replayed_rows(room, events, replay)
                await delete_rows_of(connection, room, is_known=rows is not None)
                if rows is not None:
                    await write_rows(connection, rows, events[-1].seq)
        except DamagedRoomError as error:
            report.damaged.append(error)
            continue
        if rows is None:
            report.removed.append(room)
        else:
            report.rebuilt_count += 1
    await _rebuild_looks(connection)
    return report


async def _rebuild_looks(connection: asyncpg.Connection) -> None:
    async with connection.transaction():
        await connection.execute("LOCK TABLE tabuleiro.looks IN EXCLUSIVE MODE")
        await connection.execute("DELETE FROM tabuleiro.looks")
        guests = await connection.fetch("SELECT id, name, created_at_ms, last_seen_ms FROM tabuleiro.accounts")
        await add_looks(connection, [Account(*guest) for guest in guests])
