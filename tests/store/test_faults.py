"""Trouble below the store: an append is refused, nothing of it is stored, and later ones go through."""

from __future__ import annotations

import asyncio
import contextlib
import os
import sqlite3
import subprocess
import sys
from asyncio.subprocess import PIPE
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from tabuleiro.errors import DamagedRoomError, DatabaseFormatError, StorageUnavailableError, StoreError
from tabuleiro.ids import RoomCode, Seq
from tabuleiro_server.store.port import Rows
from tabuleiro_server.store.sqlite.admin import read_stats
from tabuleiro_server.store.sqlite.store import SqliteStore
from tests.store.replays import no_replay

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


async def assert_refused(store: SqliteStore, make: Any, match: str, payload: bytes = b"fact") -> None:
    """Both appends of a group are refused, and neither the events nor the rows are there."""
    results = await asyncio.gather(
        store.append(
            ROOM, Seq(1), make.events(2, 3, payload), Rows(make.room(ROOM, "changed"), [make.match(ROOM)])
        ),
        store.append(OTHER, Seq(0), make.events(1, 1), make.rows(OTHER)),
        return_exceptions=True,
    )
    for result in results:
        assert isinstance(result, StorageUnavailableError)
        assert match in str(result)
    assert await store.load(ROOM) == make.events(1, 1)
    assert await store.rooms() == [make.room(ROOM)]
    assert await store.matches(ROOM) == []


async def assert_accepted(store: SqliteStore, make: Any) -> None:
    """The same appends go through now."""
    await asyncio.gather(
        store.append(ROOM, Seq(1), make.events(2, 3), Rows(make.room(ROOM, "changed"), [make.match(ROOM)])),
        store.append(OTHER, Seq(0), make.events(1, 1), make.rows(OTHER)),
    )
    assert await store.load(ROOM) == make.events(1, 3)
    assert await store.rooms() == [make.room(ROOM, "changed"), make.room(OTHER)]


async def begin(store: SqliteStore, make: Any) -> None:
    await store.append(ROOM, Seq(0), make.events(1, 1), make.rows(ROOM))


async def test_database_locked_by_another_process(open_store: Any, make: Any, database_path: Path) -> None:
    async with open_store(busy_timeout_ms=20) as store:
        await begin(store, make)
        holder = await asyncio.create_subprocess_exec(
            sys.executable, "-c", HOLD_THE_LOCK, str(database_path), stdin=PIPE, stdout=PIPE
        )
        assert holder.stdout is not None
        assert await holder.stdout.readline() == b"locked\n"
        await assert_refused(store, make, "database is locked")
        await holder.communicate(b"")
        assert holder.returncode == 0
        await assert_accepted(store, make)
        assert store.metrics.failed_commit_count == 1


async def test_full_database(open_store: Any, make: Any) -> None:
    async with open_store() as store:
        await begin(store, make)
        await store.writer.call(lambda connection: connection.execute("PRAGMA max_page_count = 1").fetchall())
        await assert_refused(store, make, "full", payload=bytes(100_000))
        await store.writer.call(
            lambda connection: connection.execute("PRAGMA max_page_count = 1000000").fetchall()
        )
        await assert_accepted(store, make)


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
async def test_full_disk(open_store: Any, small_disk: Path, make: Any) -> None:
    async with open_store(small_disk / "rooms.db") as store:
        await begin(store, make)
        filler = fill(small_disk)
        await assert_refused(store, make, "full", payload=bytes(100_000))
        os.unlink(filler)
        await assert_accepted(store, make)


@pytest.mark.skipif(sys.platform != "linux", reason="mounts a tmpfs")
async def test_full_disk_takes_what_fits_into_the_space_of_the_write_ahead_log(
    open_store: Any, small_disk: Path, make: Any
) -> None:
    """Symptom: nothing was stored, beside a log of megabytes that were in their place long ago."""
    async with open_store(small_disk / "rooms.db") as store:
        await begin(store, make)
        for n in range(1, 21):
            await store.append(ROOM, Seq(n), make.events(n + 1, n + 1), make.rows(ROOM))
        fill(small_disk)
        with pytest.raises(StorageUnavailableError, match="full"):
            await store.append(ROOM, Seq(21), make.events(22, 22), make.rows(ROOM))
        for n in range(21, 31):
            await store.append(ROOM, Seq(n), make.events(n + 1, n + 1), make.rows(ROOM))
        assert await store.load(ROOM) == make.events(1, 31)


@pytest.mark.skipif(sys.platform != "linux", reason="mounts a tmpfs")
async def test_full_disk_on_which_a_file_cannot_even_be_read_is_named(
    open_store: Any, small_disk: Path, make: Any
) -> None:
    """Symptom: an operator read of a disk I/O error."""
    path = small_disk / "rooms.db"
    async with open_store(path) as store:
        await begin(store, make)
    filler = fill(small_disk)
    with pytest.raises(StorageUnavailableError, match=r"rooms\.db: .*; the disk is full"):
        await read_stats(path)
    os.unlink(filler)
    assert (await read_stats(path)).event_count == 1


@pytest.mark.skipif(sys.platform != "linux", reason="mounts a tmpfs")
async def test_file_on_a_disk_that_is_read_only_is_told_with_what_helps(
    open_store: Any, small_disk: Path, make: Any
) -> None:
    """Symptom: an operator read that the file could not be opened."""
    path = small_disk / "rooms.db"
    async with open_store(path) as store:
        await begin(store, make)
    remount(small_disk, "ro")
    with pytest.raises(StorageUnavailableError, match=r"rooms\.db: .*; even to read it takes a folder that can"):
        await read_stats(path)
    with pytest.raises(StorageUnavailableError, match=r"cannot open .*rooms\.db\.lock: Read-only file system"):
        await SqliteStore.open(path, no_replay)
    remount(small_disk, "rw")
    assert (await read_stats(path)).event_count == 1


@pytest.mark.skipif(sys.platform == "win32", reason="there is no limit on the size of a file there")
async def test_io_error_of_the_operating_system(open_store: Any, make: Any, database_path: Path) -> None:
    import resource

    async with open_store() as store:
        await begin(store, make)
        limits = resource.getrlimit(resource.RLIMIT_FSIZE)
        wal_bytes = database_path.with_name("rooms.db-wal").stat().st_size
        resource.setrlimit(resource.RLIMIT_FSIZE, (wal_bytes + 10_000, limits[1]))
        try:
            await assert_refused(store, make, "disk I/O error", payload=bytes(100_000))
        finally:
            resource.setrlimit(resource.RLIMIT_FSIZE, limits)
        await assert_accepted(store, make)


@pytest.mark.parametrize("start", ["BEGIN", "INSERT INTO rooms", "COMMIT"])
@pytest.mark.parametrize(
    ("code", "text", "is_reopened"),
    [
        (sqlite3.SQLITE_IOERR_FSYNC, "disk I/O error", True),
        (sqlite3.SQLITE_CANTOPEN, "unable to open database file", True),
        (sqlite3.SQLITE_FULL, "database or disk is full", False),
    ],
)
async def test_failing_statement(
    open_store: Any, make: Any, script: Any, start: str, code: int, text: str, is_reopened: bool
) -> None:
    async with open_store(connection_class=script.connection_class()) as store:
        await begin(store, make)
        connects_before = script.connect_count
        script.fail(start, code, text)
        await assert_refused(store, make, text)
        script.before.clear()
        await assert_accepted(store, make)
        assert script.connect_count - connects_before == (1 if is_reopened else 0)


async def test_connection_that_fails_to_roll_back_and_to_open_again(
    open_store: Any, make: Any, script: Any
) -> None:
    async with open_store(connection_class=script.connection_class()) as store:
        await begin(store, make)
        for start in ("COMMIT", "ROLLBACK", "PRAGMA synchronous"):
            script.fail(start, sqlite3.SQLITE_IOERR, "disk I/O error")
        for _ in range(3):
            await assert_refused(store, make, "disk I/O error")
        script.before.clear()
        await assert_accepted(store, make)
        assert store.metrics.failed_commit_count == 3


async def test_writer_on_a_connection_turned_read_only(open_store: Any, make: Any) -> None:
    async with open_store() as store:
        await begin(store, make)
        await store.writer.call(lambda connection: connection.execute("PRAGMA query_only = ON"))
        await assert_refused(store, make, "readonly database")
        await assert_accepted(store, make)


@pytest.mark.skipif(sys.platform == "win32" or os.geteuid() == 0, reason="root may write read-only files")
async def test_read_only_file_is_refused_at_opening(open_store: Any, make: Any, database_path: Path) -> None:
    async with open_store() as store:
        await begin(store, make)
    os.chmod(database_path, 0o400)
    with pytest.raises(StorageUnavailableError, match="Permission denied"):
        await SqliteStore.open(database_path, no_replay)
    os.chmod(database_path, 0o600)
    async with open_store() as store:
        await assert_accepted(store, make)


async def test_failing_reads_are_refused_and_work_again(open_store: Any, make: Any, script: Any) -> None:
    async with open_store(connection_class=script.connection_class()) as store:
        await begin(store, make)
        script.fail("SELECT", sqlite3.SQLITE_IOERR_READ, "disk I/O error")
        results = await asyncio.gather(*(store.load(ROOM) for _ in range(3)), return_exceptions=True)
        assert [type(result) for result in results] == [StorageUnavailableError] * 3
        script.before.clear()
        assert await asyncio.gather(*(store.load(ROOM) for _ in range(3))) == [make.events(1, 1)] * 3


async def test_malformed_page_of_no_single_room_is_called_damage_of_the_file(
    open_store: Any, make: Any, script: Any
) -> None:
    async with open_store(connection_class=script.connection_class()) as store:
        script.fail("SELECT code", sqlite3.SQLITE_CORRUPT, "database disk image is malformed")
        with pytest.raises(
            DatabaseFormatError, match=r"this file is damaged .*; stop the server and run `tabuleiro db rebuild"
        ):
            await store.rooms()


async def test_malformed_page_is_blamed_on_the_room_that_was_read(open_store: Any, make: Any, script: Any) -> None:
    async with open_store(connection_class=script.connection_class()) as store:
        await begin(store, make)
        script.fail("SELECT seq", sqlite3.SQLITE_CORRUPT, "database disk image is malformed")
        with pytest.raises(DamagedRoomError, match="room K7MQ4 is damaged: database disk image is malformed"):
            await store.load(ROOM)
        script.before.clear()
        assert await store.load(ROOM) == make.events(1, 1)


@pytest.mark.parametrize("start", ["INSERT INTO rooms", "INSERT INTO events"])
async def test_malformed_page_refuses_the_rooms_on_it_and_no_other_of_the_group(
    open_store: Any, make: Any, start: str
) -> None:
    """Symptom: whoever moved at the same moment as somebody in a room with a damaged row was refused too."""

    class Damaged(sqlite3.Connection):
        def execute(self, sql: str, parameters: Any = ()) -> sqlite3.Cursor:
            if sql.startswith(start) and ROOM in parameters:
                error = sqlite3.DatabaseError("database disk image is malformed")
                error.sqlite_errorcode = sqlite3.SQLITE_CORRUPT
                raise error
            return super().execute(sql, parameters)

    async with open_store(connection_class=Damaged) as store:
        results: list[object] = await asyncio.gather(
            store.append(ROOM, Seq(0), make.events(1, 2), make.rows(ROOM)),
            store.append(OTHER, Seq(0), make.events(1, 1), make.rows(OTHER)),
            store.append(RoomCode("CCCCC"), Seq(0), make.events(1, 1), make.rows("CCCCC")),
            return_exceptions=True,
        )
        refused, *others = results
        assert isinstance(refused, StoreError)
        assert "is damaged in the file (database disk image is malformed)" in str(refused)
        assert others == [None, None]
        assert await store.load(ROOM) == []
        assert await store.load(OTHER) == make.events(1, 1)
        assert await store.room(RoomCode("CCCCC")) is not None
