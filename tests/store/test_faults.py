"""Trouble below the store: an append is refused, nothing of it is stored, and later ones go through."""

from __future__ import annotations

import asyncio
import contextlib
import errno
import os
import shutil
import sqlite3
import subprocess
import sys
from asyncio.subprocess import PIPE
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from structlog.testing import capture_logs

from tabuleiro.errors import DamagedRoomError, DatabaseFormatError, StorageUnavailableError, StoreError
from tabuleiro.ids import RoomCode, Seq
from tabuleiro_server.store.database import Database
from tabuleiro_server.store.event_log import EventLog
from tabuleiro_server.store.maintenance import back_up, read_stats

ROOM = RoomCode("K7MQ4")
OTHER = RoomCode("W2XYZ")

HOLD_THE_LOCK = """
import sqlite3, sys
connection = sqlite3.connect(sys.argv[1], isolation_level=None)
connection.execute("BEGIN IMMEDIATE")
print("locked", flush=True)
sys.stdin.read()
connection.execute("ROLLBACK")
connection.close()
"""


async def assert_refused(log: EventLog, make: Any, match: str, payload: bytes = b"fact") -> None:
    """Both appends of a group are refused, and neither the events nor the rows are there."""
    results = await asyncio.gather(
        log.append(ROOM, Seq(1), make.events(2, 3, payload), make.room(ROOM, "changed"), [make.match(ROOM)]),
        log.append(OTHER, Seq(0), make.events(1, 1), make.room(OTHER)),
        return_exceptions=True,
    )
    for result in results:
        assert isinstance(result, StorageUnavailableError)
        assert match in str(result)
    assert await log.load(ROOM) == make.events(1, 1)
    assert await log.rooms() == [make.room(ROOM)]
    assert await log.matches(ROOM) == []


async def assert_accepted(log: EventLog, make: Any) -> None:
    """The same appends go through now."""
    await asyncio.gather(
        log.append(ROOM, Seq(1), make.events(2, 3), make.room(ROOM, "changed"), [make.match(ROOM)]),
        log.append(OTHER, Seq(0), make.events(1, 1), make.room(OTHER)),
    )
    assert await log.load(ROOM) == make.events(1, 3)
    assert await log.rooms() == [make.room(ROOM, "changed"), make.room(OTHER)]


async def begin(log: EventLog, make: Any) -> None:
    await log.append(ROOM, Seq(0), make.events(1, 1), make.room(ROOM))


async def test_database_locked_by_another_process(open_log: Any, make: Any, database_path: Path) -> None:
    async with open_log(busy_timeout_ms=20) as log:
        await begin(log, make)
        holder = await asyncio.create_subprocess_exec(
            sys.executable, "-c", HOLD_THE_LOCK, str(database_path), stdin=PIPE, stdout=PIPE
        )
        assert holder.stdout is not None
        assert await holder.stdout.readline() == b"locked\n"
        await assert_refused(log, make, "database is locked")
        await holder.communicate(b"")
        assert holder.returncode == 0
        await assert_accepted(log, make)
        assert log.figures.failed_commit_count == 1


async def test_full_database(open_log: Any, make: Any) -> None:
    async with open_log() as log:
        await begin(log, make)
        await log.database.writer.call(
            lambda connection: connection.execute("PRAGMA max_page_count = 1").fetchall()
        )
        await assert_refused(log, make, "full", payload=bytes(100_000))
        await log.database.writer.call(
            lambda connection: connection.execute("PRAGMA max_page_count = 1000000").fetchall()
        )
        await assert_accepted(log, make)


@pytest.fixture
def small_disk(tmp_path: Path) -> Iterator[Path]:
    """A file system of half a megabyte."""
    folder = tmp_path / "small"
    folder.mkdir()
    mounted = subprocess.run(
        ["mount", "-t", "tmpfs", "-o", "size=512k", "tmpfs", str(folder)], capture_output=True, check=False
    )
    if mounted.returncode != 0:
        pytest.skip(f"mounting a small file system needs more rights: {mounted.stderr.decode().strip()}")
    try:
        yield folder
    finally:
        subprocess.run(["umount", str(folder)], check=True)


def remount(folder: Path, how: str) -> None:
    """Make a mounted file system read-only (``ro``), or one that can be written to (``rw``)."""
    subprocess.run(["mount", "-o", f"remount,{how}", str(folder)], check=True)


def fill(folder: Path) -> Path:
    """Write a file until nothing more fits."""
    filler = folder / "filler"
    with filler.open("wb", buffering=0) as file, contextlib.suppress(OSError):
        while file.write(bytes(4096)):
            pass
    return filler


@pytest.mark.skipif(sys.platform != "linux", reason="mounts a tmpfs")
async def test_full_disk(open_log: Any, small_disk: Path, make: Any) -> None:
    async with open_log(small_disk / "rooms.db") as log:
        await begin(log, make)
        filler = fill(small_disk)
        await assert_refused(log, make, "full", payload=bytes(100_000))
        os.unlink(filler)
        await assert_accepted(log, make)


@pytest.mark.skipif(sys.platform != "linux", reason="mounts a tmpfs")
async def test_full_disk_takes_what_fits_into_the_space_of_the_write_ahead_log(
    open_log: Any, small_disk: Path, make: Any
) -> None:
    """Symptom: nothing was stored, beside a log of megabytes that were in their place long ago."""
    async with open_log(small_disk / "rooms.db") as log:
        await begin(log, make)
        for n in range(1, 21):
            await log.append(ROOM, Seq(n), make.events(n + 1, n + 1), make.room(ROOM))
        fill(small_disk)
        with pytest.raises(StorageUnavailableError, match="full"):
            await log.append(ROOM, Seq(21), make.events(22, 22), make.room(ROOM))
        for n in range(21, 31):
            await log.append(ROOM, Seq(n), make.events(n + 1, n + 1), make.room(ROOM))
        assert await log.load(ROOM) == make.events(1, 31)


@pytest.mark.skipif(sys.platform != "linux", reason="mounts a tmpfs")
async def test_full_disk_on_which_a_file_cannot_even_be_read_is_named(
    open_log: Any, small_disk: Path, make: Any
) -> None:
    """Symptom: an operator read of a disk I/O error."""
    path = small_disk / "rooms.db"
    async with open_log(path) as log:
        await begin(log, make)
    filler = fill(small_disk)
    with pytest.raises(StorageUnavailableError, match=r"rooms\.db: .*; the disk is full"):
        await read_stats(path)
    os.unlink(filler)
    assert (await read_stats(path)).event_count == 1


@pytest.mark.skipif(sys.platform != "linux", reason="mounts a tmpfs")
async def test_file_on_a_disk_that_is_read_only_is_told_with_what_helps(
    open_log: Any, small_disk: Path, make: Any
) -> None:
    """Symptom: an operator read that the file could not be opened."""
    path = small_disk / "rooms.db"
    async with open_log(path) as log:
        await begin(log, make)
    remount(small_disk, "ro")
    with pytest.raises(StorageUnavailableError, match=r"rooms\.db: .*; even to read it takes a folder that can"):
        await read_stats(path)
    with pytest.raises(StorageUnavailableError, match=r"cannot open .*rooms\.db\.lock: Read-only file system"):
        await Database.open(path)
    remount(small_disk, "rw")
    assert (await read_stats(path)).event_count == 1


@pytest.mark.skipif(sys.platform == "win32", reason="there is no limit on the size of a file there")
async def test_io_error_of_the_operating_system(open_log: Any, make: Any, database_path: Path) -> None:
    import resource

    async with open_log() as log:
        await begin(log, make)
        limits = resource.getrlimit(resource.RLIMIT_FSIZE)
        wal_bytes = database_path.with_name("rooms.db-wal").stat().st_size
        resource.setrlimit(resource.RLIMIT_FSIZE, (wal_bytes + 10_000, limits[1]))
        try:
            await assert_refused(log, make, "disk I/O error", payload=bytes(100_000))
        finally:
            resource.setrlimit(resource.RLIMIT_FSIZE, limits)
        await assert_accepted(log, make)


@pytest.mark.parametrize("start", ["BEGIN", "INSERT INTO rooms", "COMMIT"])
@pytest.mark.parametrize(
    ("code", "text", "is_opened_anew"),
    [
        (sqlite3.SQLITE_IOERR_FSYNC, "disk I/O error", True),
        (sqlite3.SQLITE_CANTOPEN, "unable to open database file", True),
        (sqlite3.SQLITE_FULL, "database or disk is full", False),
    ],
)
async def test_failing_statement(
    open_log: Any, make: Any, script: Any, start: str, code: int, text: str, is_opened_anew: bool
) -> None:
    async with open_log(connection_class=script.connection_class()) as log:
        await begin(log, make)
        connects_before = script.connect_count
        script.fail(start, code, text)
        await assert_refused(log, make, text)
        script.before.clear()
        await assert_accepted(log, make)
        assert script.connect_count - connects_before == (1 if is_opened_anew else 0)


async def test_connection_that_fails_to_roll_back_and_to_open_again(open_log: Any, make: Any, script: Any) -> None:
    async with open_log(connection_class=script.connection_class()) as log:
        await begin(log, make)
        for start in ("COMMIT", "ROLLBACK", "PRAGMA synchronous"):
            script.fail(start, sqlite3.SQLITE_IOERR, "disk I/O error")
        for _ in range(3):
            await assert_refused(log, make, "disk I/O error")
        script.before.clear()
        await assert_accepted(log, make)
        assert log.figures.failed_commit_count == 3


async def test_writer_on_a_connection_turned_read_only(open_log: Any, make: Any) -> None:
    async with open_log() as log:
        await begin(log, make)
        await log.database.writer.call(lambda connection: connection.execute("PRAGMA query_only = ON"))
        await assert_refused(log, make, "readonly database")
        await assert_accepted(log, make)


@pytest.mark.skipif(sys.platform == "win32" or os.geteuid() == 0, reason="root may write read-only files")
async def test_read_only_file_is_refused_at_opening(open_log: Any, make: Any, database_path: Path) -> None:
    async with open_log() as log:
        await begin(log, make)
    os.chmod(database_path, 0o400)
    with pytest.raises(StorageUnavailableError, match="Permission denied"):
        await Database.open(database_path)
    os.chmod(database_path, 0o600)
    async with open_log() as log:
        await assert_accepted(log, make)


@pytest.mark.skipif(sys.platform == "win32", reason="an open file can be neither removed nor replaced there")
async def test_file_that_is_moved_away_is_not_written_to_until_it_is_back(
    open_log: Any, make: Any, database_path: Path
) -> None:
    """Symptom: what was acknowledged after somebody had moved the file away was gone at the next start."""
    away = database_path.with_name("away.db")
    async with open_log() as log:
        await begin(log, make)
        os.rename(database_path, away)
        for _ in range(2):
            with pytest.raises(StorageUnavailableError):
                await log.append(ROOM, Seq(1), make.events(2, 2))
        with pytest.raises(StorageUnavailableError):
            await log.load(ROOM)
        os.rename(away, database_path)
        assert await log.load(ROOM) == make.events(1, 1)
        await assert_accepted(log, make)


@pytest.mark.skipif(sys.platform == "win32", reason="an open file can be neither removed nor replaced there")
async def test_file_that_is_emptied_is_not_written_to_nor_served(
    open_log: Any, make: Any, database_path: Path
) -> None:
    """Symptom: moves were acknowledged, and the next start began with nothing and threw the log away as well."""
    log_path = database_path.with_name("rooms.db-wal")
    async with open_log() as log:
        await begin(log, make)
        os.truncate(database_path, 0)
        with pytest.raises(StorageUnavailableError, match="emptied while it was served"):
            await log.append(ROOM, Seq(1), make.events(2, 2))
        with pytest.raises(StorageUnavailableError, match="emptied while it was served"):
            await log.load(ROOM)
        held = log_path.read_bytes()
    os.truncate(database_path, 0)
    log_path.write_bytes(held)
    for _ in range(2):
        with pytest.raises(DatabaseFormatError, match=r"missing or empty, and .*-wal is not; put the file back"):
            await Database.open(database_path)
        database_path.unlink(missing_ok=True)  # noqa: ASYNC240
    assert log_path.read_bytes() == held
    log_path.unlink()
    async with open_log() as log:
        await begin(log, make)


@pytest.mark.skipif(sys.platform == "win32", reason="an open file can be neither removed nor replaced there")
async def test_file_that_is_replaced_is_not_written_to(open_log: Any, make: Any, database_path: Path) -> None:
    copy = database_path.with_name("copy.db")
    async with open_log() as log:
        await begin(log, make)
        await back_up(database_path, copy)
        await log.append(ROOM, Seq(1), make.events(2, 2))
        os.replace(copy, database_path)
        for _ in range(2):
            with pytest.raises(StorageUnavailableError, match="removed or replaced while it was served"):
                await log.append(ROOM, Seq(2), make.events(3, 3))
        with pytest.raises(StorageUnavailableError, match="removed or replaced while it was served"):
            await log.load(ROOM)


@pytest.mark.parametrize("name", ["rooms.db", "rooms.db-wal"])
async def test_file_that_cannot_be_reached_for_a_while_is_read_and_written_to_later(
    open_log: Any, make: Any, database_path: Path, monkeypatch: pytest.MonkeyPatch, name: str
) -> None:
    """Symptom: a room that was to be loaded while the folder was closed to the server stayed in quarantine."""
    real_stat = os.stat

    def stat(path: Any, *args: Any, **kwargs: Any) -> os.stat_result:
        if str(path) == str(database_path.with_name(name)):
            raise PermissionError(errno.EACCES, os.strerror(errno.EACCES), path)
        return real_stat(path, *args, **kwargs)

    async with open_log() as log:
        await begin(log, make)
        with monkeypatch.context() as patch:
            patch.setattr(os, "stat", stat)
            for _ in range(2):
                with pytest.raises(StorageUnavailableError, match="cannot be reached: Permission denied"):
                    await log.load(ROOM)
                with pytest.raises(StorageUnavailableError, match="cannot be reached: Permission denied"):
                    await log.append(ROOM, Seq(1), make.events(2, 2))
        assert await log.load(ROOM) == make.events(1, 1)
        await assert_accepted(log, make)


@pytest.mark.skipif(sys.platform == "win32", reason="an open file cannot be removed there")
@pytest.mark.parametrize("ending", ["-wal", "-shm"])
async def test_write_ahead_log_that_is_removed_loses_nothing(
    open_log: Any, make: Any, database_path: Path, tmp_path: Path, ending: str
) -> None:
    """Symptom: all that was acknowledged since then was gone after a crash, and some that was before.

    Without the index beside it other processes take the log for theirs, and write over what the server wrote.
    """
    async with open_log() as log:
        await begin(log, make)
        assert await log.load(ROOM) == make.events(1, 1)
        for seq in (1, 2):
            os.unlink(f"{database_path}{ending}")
            with capture_logs() as lines:
                await asyncio.gather(
                    log.load(ROOM), log.append(ROOM, Seq(seq), make.events(seq + 1, seq + 1)), log.load(OTHER)
                )
            assert [line["event"] for line in lines] == [
                "write-ahead log was removed: what it held is in the file"
            ]
        crashed = tmp_path / "crashed.db"
        for name in ("", "-wal"):
            shutil.copy(f"{database_path}{name}", f"{crashed}{name}")
        assert await log.load(ROOM) == make.events(1, 3)
    async with open_log(crashed) as log:
        assert await log.load(ROOM) == make.events(1, 3)


@pytest.mark.skipif(sys.platform == "win32", reason="an open file cannot be removed there")
async def test_write_ahead_log_that_is_removed_stays_open_until_the_file_takes_what_it_held(
    open_log: Any, make: Any, database_path: Path, script: Any
) -> None:
    async with open_log(connection_class=script.connection_class()) as log:
        await begin(log, make)
        os.unlink(database_path.with_name("rooms.db-wal"))
        script.fail("PRAGMA wal_checkpoint(FULL)", sqlite3.SQLITE_FULL, "database or disk is full")
        for _ in range(2):
            with pytest.raises(StorageUnavailableError, match="full"):
                await log.load(ROOM)
            with pytest.raises(StorageUnavailableError, match="full"):
                await log.append(ROOM, Seq(1), make.events(2, 2))
        script.before.clear()
        await assert_accepted(log, make)


async def test_failing_reads_are_refused_and_work_again(open_log: Any, make: Any, script: Any) -> None:
    async with open_log(connection_class=script.connection_class()) as log:
        await begin(log, make)
        script.fail("SELECT", sqlite3.SQLITE_IOERR_READ, "disk I/O error")
        results = await asyncio.gather(*(log.load(ROOM) for _ in range(3)), return_exceptions=True)
        assert [type(result) for result in results] == [StorageUnavailableError] * 3
        script.before.clear()
        assert await asyncio.gather(*(log.load(ROOM) for _ in range(3))) == [make.events(1, 1)] * 3


async def test_malformed_page_of_no_single_room_is_called_damage_of_the_file(
    open_log: Any, make: Any, script: Any
) -> None:
    async with open_log(connection_class=script.connection_class()) as log:
        script.fail("SELECT code", sqlite3.SQLITE_CORRUPT, "database disk image is malformed")
        with pytest.raises(
            DatabaseFormatError, match=r"this file is damaged .*; stop the server and run `tabuleiro db rebuild"
        ):
            await log.rooms()


async def test_malformed_page_is_blamed_on_the_room_that_was_read(open_log: Any, make: Any, script: Any) -> None:
    async with open_log(connection_class=script.connection_class()) as log:
        await begin(log, make)
        script.fail("SELECT seq", sqlite3.SQLITE_CORRUPT, "database disk image is malformed")
        with pytest.raises(DamagedRoomError, match="room K7MQ4 is damaged: database disk image is malformed"):
            await log.load(ROOM)
        script.before.clear()
        assert await log.load(ROOM) == make.events(1, 1)


@pytest.mark.parametrize("start", ["INSERT INTO rooms", "INSERT INTO events"])
async def test_malformed_page_refuses_the_rooms_on_it_and_no_other_of_the_group(
    open_log: Any, make: Any, start: str
) -> None:
    """Symptom: whoever moved at the same moment as somebody in a room with a damaged row was refused too."""

    class Damaged(sqlite3.Connection):
        def execute(self, sql: str, parameters: Any = ()) -> sqlite3.Cursor:
            if sql.startswith(start) and ROOM in parameters:
                error = sqlite3.DatabaseError("database disk image is malformed")
                error.sqlite_errorcode = sqlite3.SQLITE_CORRUPT
                raise error
            return super().execute(sql, parameters)

    async with open_log(connection_class=Damaged) as log:
        results: list[object] = await asyncio.gather(
            log.append(ROOM, Seq(0), make.events(1, 2), make.room(ROOM)),
            log.append(OTHER, Seq(0), make.events(1, 1), make.room(OTHER)),
            log.save_snapshot(OTHER, Seq(1), 1, b"one"),
            return_exceptions=True,
        )
        refused, *others = results
        assert isinstance(refused, StoreError)
        assert "is damaged in the file (database disk image is malformed)" in str(refused)
        assert others == [None, None]
        assert await log.load(ROOM) == []
        assert await log.load(OTHER) == make.events(1, 1)
        assert await log.load_snapshot(OTHER) is not None
