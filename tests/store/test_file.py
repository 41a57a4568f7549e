"""The file and its log in the hands of others while they are served: moved, replaced, emptied, closed off."""

from __future__ import annotations

import asyncio
import errno
import os
import shutil
import sqlite3
import sys
from contextlib import closing
from itertools import count, islice
from pathlib import Path
from typing import Any

import pytest
from structlog.testing import capture_logs

from tabuleiro.errors import DatabaseFormatError, StorageUnavailableError
from tabuleiro.ids import RoomCode, Seq, TimestampMs
from tabuleiro_server.store.port import Rows
from tabuleiro_server.store.sqlite import connection, file
from tabuleiro_server.store.sqlite.admin import back_up
from tabuleiro_server.store.sqlite.repair import verify
from tabuleiro_server.store.sqlite.store import SqliteStore
from tests.store.replays import no_replay

ROOM = RoomCode("K7MQ4")
OTHER = RoomCode("W2XYZ")


@pytest.fixture(autouse=True)
def looks_each_time(monkeypatch: pytest.MonkeyPatch) -> None:
    """Have what is wrong noticed at once."""
    monkeypatch.setattr(file, "LOOK_EVERY_S", 0.0)


async def begin(store: SqliteStore, make: Any) -> None:
    await store.append(ROOM, Seq(0), make.events(1, 1), make.rows(ROOM))


@pytest.mark.skipif(sys.platform == "win32", reason="an open file can be neither removed nor replaced there")
async def test_file_that_is_moved_away_is_not_written_to_until_it_is_back(
    open_store: Any, make: Any, database_path: Path
) -> None:
    """Symptom: what was acknowledged after somebody had moved the file away was gone at the next start."""
    away = database_path.with_name("away.db")
    async with open_store() as store:
        await begin(store, make)
        os.rename(database_path, away)
        for _ in range(2):
            with pytest.raises(StorageUnavailableError):
                await store.append(ROOM, Seq(1), make.events(2, 2), make.rows(ROOM))
        with pytest.raises(StorageUnavailableError):
            await store.load(ROOM)
        os.rename(away, database_path)
        with capture_logs() as lines:
            assert await store.load(ROOM) == make.events(1, 1)
        assert lines == []
        await store.append(ROOM, Seq(1), make.events(2, 3), make.rows(ROOM))
        assert await store.load(ROOM) == make.events(1, 3)


@pytest.mark.skipif(sys.platform == "win32", reason="an open file can be neither removed nor replaced there")
async def test_file_that_is_emptied_is_not_written_to_nor_served(
    open_store: Any, make: Any, database_path: Path
) -> None:
    """Symptom: moves were acknowledged, and the next start began with nothing and threw the log away as well."""
    log_path = database_path.with_name("rooms.db-wal")
    async with open_store() as store:
        await begin(store, make)
        os.truncate(database_path, 0)
        with pytest.raises(StorageUnavailableError, match="emptied while it was served"):
            await store.append(ROOM, Seq(1), make.events(2, 2), make.rows(ROOM))
        with pytest.raises(StorageUnavailableError, match="emptied while it was served"):
            await store.load(ROOM)
        held = log_path.read_bytes()
    os.truncate(database_path, 0)
    log_path.write_bytes(held)
    for _ in range(2):
        with pytest.raises(DatabaseFormatError, match=r"missing or empty, and .*-wal is not; put the file back"):
            await SqliteStore.open(database_path, no_replay)
        database_path.unlink(missing_ok=True)  # noqa: ASYNC240
    assert log_path.read_bytes() == held
    log_path.unlink()
    async with open_store() as store:
        await begin(store, make)


@pytest.mark.skipif(sys.platform == "win32", reason="an open file can be neither removed nor replaced there")
async def test_file_that_is_replaced_is_not_written_to(open_store: Any, make: Any, database_path: Path) -> None:
    copy = database_path.with_name("copy.db")
    async with open_store() as store:
        await begin(store, make)
        await back_up(database_path, copy)
        await store.append(ROOM, Seq(1), make.events(2, 2), make.rows(ROOM))
        os.replace(copy, database_path)
        for _ in range(2):
            with pytest.raises(StorageUnavailableError, match="removed or replaced while it was served"):
                await store.append(ROOM, Seq(2), make.events(3, 3), make.rows(ROOM))
        with pytest.raises(StorageUnavailableError, match="removed or replaced while it was served"):
            await store.load(ROOM)


@pytest.mark.parametrize("name", ["rooms.db", "rooms.db-wal"])
async def test_file_that_cannot_be_reached_for_a_while_is_read_and_written_to_later(
    open_store: Any, make: Any, database_path: Path, monkeypatch: pytest.MonkeyPatch, name: str
) -> None:
    """Symptom: a room that was to be loaded while the folder was closed to the server stayed in quarantine."""
    real_stat = os.stat

    def stat(path: Any, *args: Any, **kwargs: Any) -> os.stat_result:
        if str(path) == str(database_path.with_name(name)):
            raise PermissionError(errno.EACCES, os.strerror(errno.EACCES), path)
        return real_stat(path, *args, **kwargs)

    async with open_store() as store:
        await begin(store, make)
        with monkeypatch.context() as patch:
            patch.setattr(os, "stat", stat)
            for _ in range(2):
                with pytest.raises(StorageUnavailableError, match="cannot be reached: Permission denied"):
                    await store.load(ROOM)
                with pytest.raises(StorageUnavailableError, match="cannot be reached: Permission denied"):
                    await store.append(ROOM, Seq(1), make.events(2, 2), make.rows(ROOM))
        assert await store.load(ROOM) == make.events(1, 1)
        await store.append(ROOM, Seq(1), make.events(2, 3), make.rows(ROOM))
        assert await store.load(ROOM) == make.events(1, 3)


@pytest.mark.skipif(sys.platform == "win32", reason="an open file cannot be removed there")
@pytest.mark.parametrize("ending", ["-wal", "-shm"])
async def test_write_ahead_log_that_is_removed_loses_nothing(
    open_store: Any, make: Any, database_path: Path, tmp_path: Path, ending: str
) -> None:
    """Symptom: all that was acknowledged since then was gone after a crash, and some that was before.

    Without the index beside it other processes take the log for theirs, and write over what the server wrote.
    """
    async with open_store() as store:
        await begin(store, make)
        assert await store.load(ROOM) == make.events(1, 1)
        for seq in (1, 2):
            os.unlink(f"{database_path}{ending}")
            with capture_logs() as lines:
                await asyncio.gather(
                    store.load(ROOM),
                    store.append(ROOM, Seq(seq), make.events(seq + 1, seq + 1), make.rows(ROOM)),
                    store.load(OTHER),
                )
            assert [line["event"] for line in lines] == [
                "write-ahead log was removed: what it held is in the file"
            ]
        crashed = tmp_path / "crashed.db"
        for name in ("", "-wal"):
            shutil.copy(f"{database_path}{name}", f"{crashed}{name}")
        assert await store.load(ROOM) == make.events(1, 3)
    async with open_store(crashed) as store:
        assert await store.load(ROOM) == make.events(1, 3)


@pytest.mark.skipif(sys.platform == "win32", reason="an open file cannot be removed there")
async def test_write_ahead_log_that_is_removed_stays_open_until_the_file_takes_what_it_held(
    open_store: Any, make: Any, database_path: Path, script: Any
) -> None:
    async with open_store(connection_class=script.connection_class()) as store:
        await begin(store, make)
        os.unlink(database_path.with_name("rooms.db-wal"))
        script.fail("PRAGMA wal_checkpoint(FULL)", sqlite3.SQLITE_FULL, "database or disk is full")
        for _ in range(2):
            with pytest.raises(StorageUnavailableError, match="full"):
                await store.load(ROOM)
            with pytest.raises(StorageUnavailableError, match="full"):
                await store.append(ROOM, Seq(1), make.events(2, 2), make.rows(ROOM))
        script.before.clear()
        await store.append(ROOM, Seq(1), make.events(2, 3), make.rows(ROOM))
        assert await store.load(ROOM) == make.events(1, 3)


def cut_to_nothing(log: Path) -> None:
    os.truncate(log, 0)


def cut_in_half(log: Path) -> None:
    os.truncate(log, log.stat().st_size // 2)


def cut_off_a_byte(log: Path) -> None:
    """Of the last page; its head is there still."""
    os.truncate(log, log.stat().st_size - 1)


def overwrite_all(log: Path) -> None:
    with log.open("r+b") as file:
        file.write(bytes(log.stat().st_size))


def overwrite_the_end(log: Path) -> None:
    with log.open("r+b") as file:
        file.seek(-FRAME_BYTES, os.SEEK_END)
        file.write(b"\xa5" * FRAME_BYTES)


def overwrite_the_head(log: Path) -> None:
    with log.open("r+b") as file:
        file.write(bytes(32))


PAGE_BYTES = 4096
FRAME_BYTES = 24 + PAGE_BYTES
HARMS = [cut_to_nothing, cut_in_half, cut_off_a_byte, overwrite_all, overwrite_the_end]


async def begin_again(store: SqliteStore, make: Any) -> None:
    for seq in range(3, 6):
        await store.append(ROOM, Seq(seq), make.events(seq + 1, seq + 1), make.rows(ROOM))
    store.beat(TimestampMs(7_000))


@pytest.mark.skipif(sys.platform == "win32", reason="a log in use cannot be written to by others there")
@pytest.mark.parametrize("harm", HARMS, ids=lambda harm: harm.__name__)
async def test_log_that_is_cut_short_or_overwritten_is_noticed_before_anything_is_acknowledged(
    open_store: Any, make: Any, database_path: Path, monkeypatch: pytest.MonkeyPatch, harm: Any
) -> None:
    """Symptom: moves were acknowledged, nothing was logged, and after a kill all since a checkpoint was gone."""
    monkeypatch.setattr(file, "LOOK_EVERY_S", 60.0)
    async with open_store() as store:
        await store.append(ROOM, Seq(0), make.events(1, 3), make.rows(ROOM))
    async with open_store() as store:
        await begin_again(store, make)
        harm(database_path.with_name("rooms.db-wal"))
        with capture_logs() as lines:
            for _ in range(2):
                with pytest.raises(StorageUnavailableError, match="cut short or overwritten"):
                    await store.append(ROOM, Seq(6), make.events(7, 7), make.rows(ROOM))
                with pytest.raises(StorageUnavailableError, match="cut short or overwritten"):
                    await store.load(ROOM)
        assert [line["log_level"] for line in lines] == ["error"]

    def replay(room: RoomCode, events: Any) -> Rows:
        return make.rows(ROOM)

    report = await verify(database_path, replay)
    assert report.damaged == []
    assert len(report.file_findings) == 1, "the file is sound, and lacks events"
    assert report.file_findings[0].endswith("had 6: the write-ahead log was lost, or this is an old copy")
    with capture_logs() as lines:
        async with open_store() as store:
            kept = await store.load(ROOM)
            assert 3 <= len(kept) < 6
            await store.append(ROOM, Seq(len(kept)), make.events(len(kept) + 1, 4 + len(kept)), make.rows(ROOM))
            store.beat(TimestampMs(8_000))
    assert [line["event"] for line in lines] == ["stored events are missing"]
    assert (await verify(database_path, replay)).is_sound


@pytest.mark.skipif(sys.platform == "win32", reason="a log in use cannot be written to by others there")
async def test_log_whose_head_is_overwritten_is_noticed_at_the_next_look(
    open_store: Any, make: Any, database_path: Path
) -> None:
    async with open_store() as store:
        await store.append(ROOM, Seq(0), make.events(1, 3), make.rows(ROOM))
        await begin_again(store, make)
        overwrite_the_head(database_path.with_name("rooms.db-wal"))
        with pytest.raises(StorageUnavailableError, match="cut short or overwritten"):
            await store.append(ROOM, Seq(6), make.events(7, 7), make.rows(ROOM))


@pytest.mark.skipif(sys.platform == "win32", reason="a log in use cannot be written to by others there")
async def test_log_that_was_overwritten_while_a_group_was_written_is_noticed_at_the_next_look(
    open_store: Any, make: Any, database_path: Path
) -> None:
    log_path = database_path.with_name("rooms.db-wal")
    async with open_store() as store:
        await store.append(ROOM, Seq(0), make.events(1, 3), make.rows(ROOM))
        await begin_again(store, make)
        await store.load(ROOM)
        seen_bytes = log_path.stat().st_size
        await store.append(ROOM, Seq(6), make.events(7, 7), make.rows(ROOM))
        with log_path.open("r+b") as log:
            log.seek(seen_bytes - FRAME_BYTES)
            log.write(bytes(FRAME_BYTES))
        with pytest.raises(StorageUnavailableError, match="cut short or overwritten"):
            await store.load(ROOM)


async def test_log_is_found_whole_while_it_is_written_read_brought_to_the_file_and_begun_again(
    open_store: Any, make: Any, database_path: Path
) -> None:
    """With a look before each of thousands of uses by two threads, and another process's checkpoints."""
    async with open_store(synchronous="NORMAL") as store:
        await begin(store, make)
        for seq in range(1, 400):
            await asyncio.gather(
                store.append(ROOM, Seq(seq), make.events(seq + 1, seq + 1, b"x" * 3000), make.rows(ROOM)),
                *(store.load(OTHER) for _ in range(4)),
            )
            if seq % 50 == 0:
                with closing(sqlite3.connect(database_path)) as other:
                    other.execute("PRAGMA wal_checkpoint(TRUNCATE)").fetchall()


async def test_rooms_that_were_removed_are_not_missed(open_store: Any, make: Any, database_path: Path) -> None:
    async with open_store() as store:
        await begin(store, make)
        await store.append(OTHER, Seq(0), make.events(1, 2), make.rows(OTHER))
        store.beat(TimestampMs(7_000))
        assert file.read_promises(database_path) == {ROOM: 1, OTHER: 2}
        await store.remove([OTHER])
        assert file.read_promises(database_path) == {ROOM: 1}
        lock = database_path.with_name("rooms.db.lock")
        assert lock.stat().st_mtime == 7, "as the last beat had it"
    with capture_logs() as lines:
        async with open_store():
            pass
    assert lines == []


async def test_log_that_a_long_reader_lets_grow_is_told_of_and_shrinks_when_the_reader_ends(
    open_store: Any, make: Any, database_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(file, "LARGE_LOG_BYTES", 1_000_000)
    monkeypatch.setattr(connection, "_WAL_LIMIT_BYTES", 100_000)
    log_path = database_path.with_name("rooms.db-wal")
    seqs = count(1)

    async def write(times: int) -> None:
        for seq in islice(seqs, times):
            payload = b"x" * 30_000
            await store.append(ROOM, Seq(seq), make.events(seq + 1, seq + 1, payload), make.rows(ROOM))

    async with open_store(synchronous="NORMAL") as store:
        await begin(store, make)
        with capture_logs() as lines, closing(sqlite3.connect(database_path, isolation_level=None)) as reader:
            reader.execute("BEGIN")
            reader.execute("SELECT count(*) FROM events").fetchall()
            await write(150)
        assert [line["log_level"] for line in lines] == ["warning"] * 3, "at 1, 2 and 4 MB"
        assert all("reading the database for long" in line["event"] for line in lines)
        assert log_path.stat().st_size > 4_000_000
        await write(3)
        assert log_path.stat().st_size <= 100_000
