"""The operator's commands on a PostgreSQL database, beside a store that has it open."""

from __future__ import annotations

from collections.abc import AsyncIterator
from typing import Any

import asyncpg
import pytest

from tabuleiro.errors import DatabaseFormatError, NameTakenError, StorageUnavailableError
from tabuleiro.ids import AccountId, RoomCode, Seq, TimestampMs
from tabuleiro_server.store.postgres.admin import read_events, read_stats, rebuild, verify
from tabuleiro_server.store.postgres.schema import MIGRATIONS
from tabuleiro_server.store.postgres.store import PostgresStore
from tests.store.replays import counting

ROOM = RoomCode("K7MQ4")
OTHER = RoomCode("W2XYZ")


@pytest.fixture
async def store(database_url: str, make: Any) -> AsyncIterator[PostgresStore]:
    """Two rooms whose tables fit their events."""
    opened = await PostgresStore.open(database_url)
    for room, last in ((ROOM, 7), (OTHER, 2)):
        events = make.events(1, last)
        await opened.append(room, Seq(0), events, counting(room, events))
    yield opened
    await opened.close()


async def change(url: str, *statements: str) -> None:
    connection = await asyncpg.connect(url)
    for statement in statements:
        assert not (await connection.execute(statement)).endswith(" 0")
    await connection.close()


async def test_stats_count_what_is_there(store: PostgresStore, database_url: str) -> None:
    stats = await read_stats(database_url)
    assert (stats.schema_version, stats.event_count, stats.account_count) == (len(MIGRATIONS), 9, 0)
    assert (stats.room_counts, stats.match_count, stats.ended_match_count) == ({"playing": 2}, 4, 2)
    assert stats.size_bytes > 0
    assert (stats.wal_bytes, stats.free_bytes) == (None, None)


async def test_sound_database_has_no_findings(store: PostgresStore, database_url: str, make: Any) -> None:
    report = await verify(database_url, counting)
    assert report.is_sound
    assert (report.room_count, report.event_count, report.match_count) == (2, 9, 4)
    assert await read_events(database_url, ROOM) == make.events(1, 7)
    assert await read_events(database_url, RoomCode("ZZZZZ")) == []


ALTERED = [
    ("UPDATE tabuleiro.rooms SET phase = 'over' WHERE code = 'K7MQ4'", "room K7MQ4, room, phase: stored 'over'"),
    ("DELETE FROM tabuleiro.matches WHERE room = 'W2XYZ'", "room W2XYZ, match 1: missing in the tables"),
    ("UPDATE tabuleiro.players SET name = 'x' WHERE room = 'W2XYZ' AND seat = 0", "room W2XYZ, match 1, players"),
    ("DELETE FROM tabuleiro.rooms WHERE code = 'W2XYZ'", "room W2XYZ, room: missing in the tables"),
    ("UPDATE tabuleiro.rooms SET seq = 6 WHERE code = 'K7MQ4'", "room K7MQ4 counts 6 events and has 7"),
]


@pytest.mark.parametrize(("statement", "finding"), ALTERED)
async def test_rows_that_do_not_fit_are_found_and_rebuilt_beside_a_server(
    store: PostgresStore, database_url: str, make: Any, statement: str, finding: str
) -> None:
    await change(database_url, statement)
    report = await verify(database_url, counting)
    (found,) = [*report.file_findings, *map(str, report.differences)]
    assert found.startswith(finding)
    rebuilt = await rebuild(database_url, counting)
    assert (rebuilt.rebuilt_count, rebuilt.removed, rebuilt.damaged) == (2, [], [])
    assert (await verify(database_url, counting)).is_sound
    await store.append(ROOM, Seq(7), make.events(8, 8), counting(ROOM, make.events(1, 8)))


async def test_rows_without_events_are_removed(store: PostgresStore, database_url: str) -> None:
    await change(database_url, "DELETE FROM tabuleiro.events WHERE room = 'W2XYZ'")
    assert not (await verify(database_url, counting)).is_sound
    assert (await rebuild(database_url, counting)).removed == [OTHER]
    assert (await store.room(OTHER), await store.matches(OTHER)) == (None, [])


@pytest.mark.parametrize(
    ("statement", "place"),
    [
        ("UPDATE tabuleiro.events SET payload = 'x' WHERE room = 'K7MQ4' AND seq = 5", 5),
        ("UPDATE tabuleiro.events SET at_ms = 0 WHERE room = 'K7MQ4' AND seq = 2", 2),
        ("DELETE FROM tabuleiro.events WHERE room = 'K7MQ4' AND seq = 3", 3),
    ],
)
async def test_damaged_room_is_named_and_left_alone(
    store: PostgresStore, database_url: str, statement: str, place: int
) -> None:
    await change(database_url, statement)
    (damage,) = (await verify(database_url, counting)).damaged
    assert (damage.room, damage.seq) == (ROOM, place)
    row = await store.room(ROOM)
    report = await rebuild(database_url, counting)
    assert ([damage.room for damage in report.damaged], report.rebuilt_count) == ([ROOM], 1)
    assert await store.room(ROOM) == row


async def test_looks_of_names_are_rebuilt(store: PostgresStore, database_url: str) -> None:
    await store.accounts.create(AccountId("a"), "scope", b"a", TimestampMs(1))
    await change(database_url, "DELETE FROM tabuleiro.looks")
    await rebuild(database_url, counting)
    with pytest.raises(NameTakenError):
        await store.accounts.create(AccountId("b"), "sc0pe", b"b", TimestampMs(1))


async def test_commands_refuse_what_they_cannot_read(database_url: str) -> None:
    with pytest.raises(DatabaseFormatError, match="no tables of tabuleiro"):
        await read_stats(database_url)
    with pytest.raises(StorageUnavailableError, match="does not exist"):
        await read_stats(database_url.replace("/games", "/nothing"))
