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
from tabuleiro_server.store.event_log import EventLog
from tabuleiro_server.store.maintenance import StoredRoom, back_up, read_room, read_stats, vacuum
from tabuleiro_server.store.schema import MIGRATIONS, Migration

ROOM = RoomCode("K7MQ4")
NEWER = (*MIGRATIONS, Migration(MIGRATIONS[-1].number + 1, "a note", ("ALTER TABLE rooms ADD COLUMN note TEXT",)))


async def write(log: EventLog, make: Any) -> None:
    await log.append(
        ROOM, Seq(0), make.events(1, 3), make.room(ROOM), [make.match(ROOM, winner=0), make.match(ROOM, 2)]
    )
    await log.append(RoomCode("AAAAA"), Seq(0), make.events(1, 1), make.room("AAAAA", "waiting"))


async def test_backup_of_a_served_file_is_one_moment_of_it(open_log: Any, make: Any, tmp_path: Path) -> None:
    copy = tmp_path / "copy.db"
    async with open_log() as log:
        await write(log, make)

        async def go_on() -> int:
            seq = 3
            while not copying.done():
                await log.append(
                    ROOM, Seq(seq), make.events(seq + 1, seq + 2), make.room(ROOM, summary=b"%d" % (seq + 2))
                )
                seq += 2
            return seq

        copying = asyncio.create_task(back_up(tmp_path / "rooms.db", copy))
        last, size_bytes = await asyncio.gather(go_on(), copying)
        assert await log.load(ROOM) == make.events(1, last)
    assert size_bytes == copy.stat().st_size
    assert sorted(file.name for file in tmp_path.glob("copy*")) == ["copy.db"]  # noqa: ASYNC240
    stored = await read_room(copy, ROOM)
    assert stored is not None
    assert stored.events == make.events(1, len(stored.events))
    assert stored.row is not None
    assert stored.row.summary == (b"s" if len(stored.events) == 3 else b"%d" % len(stored.events))


async def test_backup_is_served_like_the_original(open_log: Any, make: Any, tmp_path: Path) -> None:
    async with open_log() as log:
        await write(log, make)
    await back_up(tmp_path / "rooms.db", tmp_path / "copy.db")
    async with open_log(tmp_path / "copy.db") as log:
        assert await log.load(ROOM) == make.events(1, 3)


async def test_backup_replaces_an_older_one_only_when_told(open_log: Any, make: Any, tmp_path: Path) -> None:
    copy = tmp_path / "copy.db"
    async with open_log() as log:
        await back_up(tmp_path / "rooms.db", copy)
        await write(log, make)
        with pytest.raises(StoreError, match=r"copy\.db exists"):
            await back_up(tmp_path / "rooms.db", copy)
        assert await read_room(copy, ROOM) is None
        await back_up(tmp_path / "rooms.db", copy, is_replacing=True)
        assert await read_room(copy, ROOM) is not None


@pytest.mark.skipif(sys.platform == "win32", reason="there is no limit on the size of a file there")
async def test_backup_that_fails_leaves_the_former_one(open_log: Any, make: Any, tmp_path: Path) -> None:
    import resource

    copy = tmp_path / "copy.db"
    async with open_log() as log:
        await back_up(tmp_path / "rooms.db", copy)
        await write(log, make)
        limits = resource.getrlimit(resource.RLIMIT_FSIZE)
        resource.setrlimit(resource.RLIMIT_FSIZE, (10_000, limits[1]))
        try:
            with pytest.raises(StorageUnavailableError, match="disk I/O error"):
                await back_up(tmp_path / "rooms.db", copy, is_replacing=True)
        finally:
            resource.setrlimit(resource.RLIMIT_FSIZE, limits)
    assert sorted(file.name for file in tmp_path.glob("copy*")) == ["copy.db"]  # noqa: ASYNC240
    assert (await read_stats(copy)).event_count == 0


async def test_backup_into_a_missing_folder_is_refused(open_log: Any, tmp_path: Path) -> None:
    async with open_log():
        with pytest.raises(StorageUnavailableError, match="No such file"):
            await back_up(tmp_path / "rooms.db", tmp_path / "missing" / "copy.db")


async def test_vacuum_gives_free_space_back(open_log: Any, make: Any, database_path: Path) -> None:
    async with open_log() as log:
        await write(log, make)
        await log.append(RoomCode("BBBBB"), Seq(0), make.events(1, 50, bytes(10_000)))
        await log.database.writer.call(
            lambda connection: connection.execute("DELETE FROM events WHERE room = 'BBBBB'")
        )
    before = await read_stats(database_path)
    sizes = await vacuum(database_path)
    after = await read_stats(database_path)
    assert sizes == (before.file_bytes, after.file_bytes)
    assert before.free_bytes > 400_000
    assert after.free_bytes == 0
    assert after.file_bytes < before.file_bytes - 400_000
    async with open_log() as log:
        assert await log.load(ROOM) == make.events(1, 3)


async def test_vacuum_of_a_served_file_is_refused_unless_told(
    open_log: Any, make: Any, database_path: Path
) -> None:
    async with open_log() as log:
        await write(log, make)
        with pytest.raises(DatabaseLockedError):
            await vacuum(database_path)
        await vacuum(database_path, is_while_serving=True)
        await log.append(ROOM, Seq(3), make.events(4, 4))
        assert await log.load(ROOM) == make.events(1, 4)


async def test_stats_count_what_is_there(open_log: Any, make: Any, database_path: Path) -> None:
    async with open_log() as log:
        await write(log, make)
        stats = await read_stats(database_path)
    assert stats.schema_version == MIGRATIONS[-1].number
    assert stats.room_counts == {"playing": 1, "waiting": 1}
    assert (stats.event_count, stats.account_count) == (4, 0)
    assert (stats.match_count, stats.ended_match_count) == (2, 1)
    assert stats.file_bytes > 0
    assert stats.wal_bytes > 0
    assert (await read_stats(database_path)).wal_bytes == 0


@pytest.mark.skipif(sys.platform == "win32", reason="making a symbolic link takes a right of its own there")
async def test_stats_through_a_symbolic_link_are_those_of_the_file(
    open_log: Any, make: Any, database_path: Path
) -> None:
    link = database_path.with_name("link.db")
    link.symlink_to(database_path)
    async with open_log() as log:
        await write(log, make)
        stats = await read_stats(link)
        assert stats == await read_stats(database_path)
    assert stats.wal_bytes > 0


async def test_room_is_read_with_all_that_is_stored_of_it(open_log: Any, make: Any, database_path: Path) -> None:
    async with open_log() as log:
        await write(log, make)
        served = await read_room(database_path, ROOM)
        assert await read_room(database_path, RoomCode("ZZZZZ")) is None
    matches = [make.match(ROOM, winner=0), make.match(ROOM, 2)]
    assert served == StoredRoom(ROOM, make.room(ROOM), matches, make.events(1, 3))
    assert await read_room(database_path, ROOM) == served
    with closing(sqlite3.connect(database_path)) as connection:
        connection.execute("DELETE FROM events WHERE seq = 2")
        connection.commit()
    with pytest.raises(DamagedRoomError, match="at event 2"):
        await read_room(database_path, ROOM)


async def test_commands_refuse_what_they_cannot_read(open_log: Any, tmp_path: Path) -> None:
    with pytest.raises(StorageUnavailableError, match="there is no database"):
        await read_stats(tmp_path / "missing.db")
    (tmp_path / "text.db").write_text("hello " * 1000)
    with pytest.raises(DatabaseFormatError, match="not a database"):
        await read_stats(tmp_path / "text.db")
    (tmp_path / "empty.db").touch()
    with pytest.raises(DatabaseFormatError, match="schema 0"):
        await back_up(tmp_path / "empty.db", tmp_path / "copy.db")
    async with open_log(tmp_path / "newer.db", migrations=NEWER):
        pass
    with pytest.raises(DatabaseFormatError, match="newer tabuleiro"):
        await read_stats(tmp_path / "newer.db")


async def test_older_schema_can_be_copied_but_not_counted(
    open_log: Any, database_path: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    async with open_log():
        pass
    monkeypatch.setattr("tabuleiro_server.store.maintenance.MIGRATIONS", NEWER)
    with pytest.raises(DatabaseFormatError, match="older than this program's"):
        await read_stats(database_path)
    assert await back_up(database_path, tmp_path / "copy.db") > 0
