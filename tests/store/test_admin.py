"""The operator's commands on a file that is being served and on one that is not."""

from __future__ import annotations

import asyncio
import sqlite3
import sys
from contextlib import closing
from pathlib import Path
from typing import Any

import pytest

from tabuleiro.errors import (
    DamagedRoomError,
    DatabaseFormatError,
    DatabaseLockedError,
    StorageUnavailableError,
    StoreError,
)
from tabuleiro.ids import RoomCode, Seq
from tabuleiro_server.store.port import Rows
from tabuleiro_server.store.sqlite.admin import back_up, read_events, read_stats, vacuum
from tabuleiro_server.store.sqlite.schema import MIGRATIONS
from tabuleiro_server.store.sqlite.store import SqliteStore
from tabuleiro_server.store.tables import Migration

ROOM = RoomCode("K7MQ4")
NEWER = (*MIGRATIONS, Migration(MIGRATIONS[-1].number + 1, "a note", ("ALTER TABLE rooms ADD COLUMN note TEXT",)))


async def write(store: SqliteStore, make: Any) -> None:
    await store.append(
        ROOM, Seq(0), make.events(1, 3), Rows(make.room(ROOM), [make.match(ROOM, winner=0), make.match(ROOM, 2)])
    )
    await store.append(RoomCode("AAAAA"), Seq(0), make.events(1, 1), Rows(make.room("AAAAA", "waiting")))


async def test_backup_of_a_served_file_is_one_moment_of_it(open_store: Any, make: Any, tmp_path: Path) -> None:
    copy = tmp_path / "copy.db"
    async with open_store() as store:
        await write(store, make)

        async def go_on() -> int:
            seq = 3
            while not copying.done():
                await store.append(
                    ROOM, Seq(seq), make.events(seq + 1, seq + 2), Rows(make.room(ROOM, summary=b"%d" % (seq + 2)))
                )
                seq += 2
            return seq

        copying = asyncio.create_task(back_up(tmp_path / "rooms.db", copy))
        last, size_bytes = await asyncio.gather(go_on(), copying)
        assert await store.load(ROOM) == make.events(1, last)
    assert size_bytes == copy.stat().st_size
    assert sorted(file.name for file in tmp_path.glob("copy*")) == ["copy.db"]  # noqa: ASYNC240
    async with open_store(copy) as copied:
        events, row = await copied.load(ROOM), await copied.room(ROOM)
    assert events == make.events(1, len(events))
    assert row is not None
    assert row.summary == (b"s" if len(events) == 3 else b"%d" % len(events))


async def test_backup_is_served_like_the_original(open_store: Any, make: Any, tmp_path: Path) -> None:
    async with open_store() as store:
        await write(store, make)
    await back_up(tmp_path / "rooms.db", tmp_path / "copy.db")
    async with open_store(tmp_path / "copy.db") as store:
        assert await store.load(ROOM) == make.events(1, 3)


async def test_backup_replaces_an_older_one_only_when_told(open_store: Any, make: Any, tmp_path: Path) -> None:
    copy = tmp_path / "copy.db"
    async with open_store() as store:
        await back_up(tmp_path / "rooms.db", copy)
        await write(store, make)
        with pytest.raises(StoreError, match=r"copy\.db exists"):
            await back_up(tmp_path / "rooms.db", copy)
        assert await read_events(copy, ROOM) == []
        await back_up(tmp_path / "rooms.db", copy, is_replacing=True)
        assert await read_events(copy, ROOM) != []


@pytest.mark.skipif(sys.platform == "win32", reason="there is no limit on the size of a file there")
async def test_backup_that_fails_leaves_the_former_one(open_store: Any, make: Any, tmp_path: Path) -> None:
    import resource

    copy = tmp_path / "copy.db"
    async with open_store() as store:
        await back_up(tmp_path / "rooms.db", copy)
        await write(store, make)
        limits = resource.getrlimit(resource.RLIMIT_FSIZE)
        resource.setrlimit(resource.RLIMIT_FSIZE, (10_000, limits[1]))
        try:
            with pytest.raises(StorageUnavailableError, match="disk I/O error"):
                await back_up(tmp_path / "rooms.db", copy, is_replacing=True)
        finally:
            resource.setrlimit(resource.RLIMIT_FSIZE, limits)
    assert sorted(file.name for file in tmp_path.glob("copy*")) == ["copy.db"]  # noqa: ASYNC240
    assert (await read_stats(copy)).event_count == 0


async def test_backup_into_a_missing_folder_is_refused(open_store: Any, tmp_path: Path) -> None:
    async with open_store():
        with pytest.raises(StorageUnavailableError, match="No such file"):
            await back_up(tmp_path / "rooms.db", tmp_path / "missing" / "copy.db")


async def test_vacuum_gives_free_space_back(open_store: Any, make: Any, database_path: Path) -> None:
    async with open_store() as store:
        await write(store, make)
        await store.append(RoomCode("BBBBB"), Seq(0), make.events(1, 50, bytes(10_000)), make.rows("BBBBB"))
        await store.writer.call(lambda connection: connection.execute("DELETE FROM events WHERE room = 'BBBBB'"))
    before = await read_stats(database_path)
    sizes = await vacuum(database_path)
    after = await read_stats(database_path)
    assert sizes == (before.size_bytes, after.size_bytes)
    assert before.free_bytes > 400_000
    assert after.free_bytes == 0
    assert after.size_bytes < before.size_bytes - 400_000
    async with open_store() as store:
        assert await store.load(ROOM) == make.events(1, 3)


async def test_vacuum_of_a_served_file_is_refused_unless_told(
    open_store: Any, make: Any, database_path: Path
) -> None:
    async with open_store() as store:
        await write(store, make)
        with pytest.raises(DatabaseLockedError):
            await vacuum(database_path)
        await vacuum(database_path, is_while_serving=True)
        await store.append(ROOM, Seq(3), make.events(4, 4), make.rows(ROOM))
        assert await store.load(ROOM) == make.events(1, 4)


async def test_stats_count_what_is_there(open_store: Any, make: Any, database_path: Path) -> None:
    async with open_store() as store:
        await write(store, make)
        stats = await read_stats(database_path)
    assert stats.schema_version == MIGRATIONS[-1].number
    assert stats.room_counts == {"playing": 1, "waiting": 1}
    assert (stats.event_count, stats.account_count) == (4, 0)
    assert (stats.match_count, stats.ended_match_count) == (2, 1)
    assert stats.size_bytes > 0
    assert stats.wal_bytes > 0
    assert (await read_stats(database_path)).wal_bytes == 0


@pytest.mark.skipif(sys.platform == "win32", reason="making a symbolic link takes a right of its own there")
async def test_stats_through_a_symbolic_link_are_those_of_the_file(
    open_store: Any, make: Any, database_path: Path
) -> None:
    link = database_path.with_name("link.db")
    link.symlink_to(database_path)
    async with open_store() as store:
        await write(store, make)
        stats = await read_stats(link)
        assert stats == await read_stats(database_path)
    assert stats.wal_bytes > 0


async def test_events_of_a_room_are_read_beside_a_server(open_store: Any, make: Any, database_path: Path) -> None:
    async with open_store() as store:
        await write(store, make)
        assert await read_events(database_path, ROOM) == make.events(1, 3)
        assert await read_events(database_path, RoomCode("ZZZZZ")) == []
    with closing(sqlite3.connect(database_path)) as connection:
        connection.execute("DELETE FROM events WHERE seq = 2")
        connection.commit()
    with pytest.raises(DamagedRoomError, match="at event 2"):
        await read_events(database_path, ROOM)


async def test_commands_refuse_what_they_cannot_read(open_store: Any, tmp_path: Path) -> None:
    with pytest.raises(StorageUnavailableError, match="there is no database"):
        await read_stats(tmp_path / "missing.db")
    (tmp_path / "text.db").write_text("hello " * 1000)
    with pytest.raises(DatabaseFormatError, match="not a database"):
        await read_stats(tmp_path / "text.db")
    (tmp_path / "empty.db").touch()
    with pytest.raises(DatabaseFormatError, match="schema 0"):
        await back_up(tmp_path / "empty.db", tmp_path / "copy.db")
    async with open_store(tmp_path / "newer.db", migrations=NEWER):
        pass
    with pytest.raises(DatabaseFormatError, match="newer tabuleiro"):
        await read_stats(tmp_path / "newer.db")


async def test_older_schema_can_be_copied_but_not_counted(
    open_store: Any, database_path: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    async with open_store():
        pass
    monkeypatch.setattr("tabuleiro_server.store.sqlite.admin.MIGRATIONS", NEWER)
    with pytest.raises(DatabaseFormatError, match="older than this program's"):
        await read_stats(database_path)
    assert await back_up(database_path, tmp_path / "copy.db") > 0
