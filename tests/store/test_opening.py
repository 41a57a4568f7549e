"""Opening: the schema from nothing and from older versions, foreign files, who may read the file, the lock."""

from __future__ import annotations

import asyncio
import errno
import os
import sqlite3
import stat
import subprocess
import sys
import threading
import time
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path
from typing import Any

import pytest
from structlog.testing import capture_logs

from tabuleiro.errors import DatabaseFormatError, DatabaseLockedError, StorageUnavailableError
from tabuleiro.ids import RoomCode, Seq
from tabuleiro_server.store.sqlite.admin import serving_nobody, vacuum
from tabuleiro_server.store.sqlite.connection import ConnectionSettings, StandingConnection
from tabuleiro_server.store.sqlite.repair import rebuild
from tabuleiro_server.store.sqlite.schema import MIGRATIONS
from tabuleiro_server.store.sqlite.store import SqliteStore
from tabuleiro_server.store.tables import Migration
from tests.store.replays import no_replay

LIMIT_S = 10.0
"""The time to wait for a thread before a test counts as failed."""

NEXT = MIGRATIONS[-1].number + 1
ADD_COLUMN = Migration(NEXT, "a note in every room", ("ALTER TABLE rooms ADD COLUMN note TEXT",))
BROKEN = Migration(NEXT + 1, "half a step", ("CREATE TABLE half (a)", "CREATE TABLE half (b)"))

SERVE = """
import asyncio, sys
from pathlib import Path
from tabuleiro_server.rooms.journal import rows_of
from tabuleiro_server.store.sqlite.store import SqliteStore
async def serve():
    store = await SqliteStore.open(Path(sys.argv[1]), rows_of)
    print("open", flush=True)
    sys.stdin.read()
    await store.close()
asyncio.run(serve())
"""


def ask(path: Path, query: str) -> list[tuple[Any, ...]]:
    with closing(sqlite3.connect(path)) as connection:
        return connection.execute(query).fetchall()


def applied(path: Path) -> list[int]:
    return [number for (number,) in ask(path, "SELECT number FROM migrations ORDER BY number")]


def test_a_connection_whose_opening_is_given_up_has_ended_with_it(
    monkeypatch: pytest.MonkeyPatch, database_path: Path
) -> None:
    # Its thread answered an event loop that was closed, and the file stayed open.
    is_opening, is_closed = threading.Event(), threading.Event()
    faults: list[threading.ExceptHookArgs] = []
    threads: list[threading.Thread] = []
    monkeypatch.setattr(threading, "excepthook", faults.append)

    class Watched(sqlite3.Connection):
        def close(self) -> None:
            super().close()
            is_closed.set()

    def connect() -> sqlite3.Connection:
        threads.append(threading.current_thread())
        is_opening.set()
        time.sleep(0.05)
        return ConnectionSettings(database_path, connection_class=Watched).connect(mode="rwc")

    async def give_up() -> None:
        opening = asyncio.create_task(StandingConnection(connect).open())
        await asyncio.to_thread(is_opening.wait, LIMIT_S)
        opening.cancel()
        await asyncio.wait([opening])

    asyncio.run(give_up())
    threads[0].join(LIMIT_S)
    assert faults == []
    assert is_closed.is_set()


async def open_and_close(path: Path, **settings: Any) -> None:
    store = await SqliteStore.open(path, no_replay, **settings)
    await store.close()


def backups(path: Path) -> list[str]:
    return sorted(file.name for file in path.parent.glob("*backup*"))


async def test_new_file_gets_all_migrations_and_no_backup(database_path: Path) -> None:
    await open_and_close(database_path)
    assert applied(database_path) == [migration.number for migration in MIGRATIONS]
    assert ask(database_path, "PRAGMA integrity_check") == [("ok",)]
    assert backups(database_path) == []
    await open_and_close(database_path)
    assert backups(database_path) == []


def test_migrations_are_numbered_from_1_without_gaps() -> None:
    assert [migration.number for migration in MIGRATIONS] == list(range(1, len(MIGRATIONS) + 1))


async def test_older_file_is_copied_and_migrated_with_its_events(
    open_store: Any, make: Any, database_path: Path
) -> None:
    async with open_store() as store:
        await store.append(RoomCode("K7MQ4"), Seq(0), make.events(1, 3), make.rows("K7MQ4"))
    with capture_logs() as lines:
        await open_and_close(database_path, migrations=(*MIGRATIONS, ADD_COLUMN))
    assert [line["copy"] for line in lines] == [f"{database_path}.schema-{NEXT - 1}.backup"]
    assert applied(database_path)[-1] == NEXT
    assert ask(database_path, "SELECT code, note FROM rooms") == [("K7MQ4", None)]
    assert ask(database_path, "SELECT count(*) FROM events") == [(3,)]
    assert backups(database_path) == [f"rooms.db.schema-{NEXT - 1}.backup"]
    backup = database_path.with_name(f"rooms.db.schema-{NEXT - 1}.backup")
    assert applied(backup)[-1] == NEXT - 1
    assert ask(backup, "SELECT count(*) FROM events") == [(3,)]
    async with open_store(backup) as store:
        assert await store.load(RoomCode("K7MQ4")) == make.events(1, 3)


async def test_failing_migration_leaves_the_file_at_the_last_complete_one(database_path: Path) -> None:
    await open_and_close(database_path)
    with pytest.raises(StorageUnavailableError, match="half already exists"):
        await SqliteStore.open(database_path, no_replay, migrations=(*MIGRATIONS, ADD_COLUMN, BROKEN))
    assert applied(database_path)[-1] == NEXT
    assert ask(database_path, "SELECT count(*) FROM sqlite_master WHERE name = 'half'") == [(0,)]
    await open_and_close(database_path, migrations=(*MIGRATIONS, ADD_COLUMN))


async def test_file_of_a_newer_program_is_refused_and_left_alone(database_path: Path) -> None:
    await open_and_close(database_path, migrations=(*MIGRATIONS, ADD_COLUMN))
    with pytest.raises(
        DatabaseFormatError, match=f"written by a newer tabuleiro .schema {NEXT}, this one knows up to"
    ):
        await SqliteStore.open(database_path, no_replay)
    assert applied(database_path)[-1] == NEXT
    assert backups(database_path) == []


async def test_database_of_another_program_is_refused_and_left_alone(database_path: Path) -> None:
    with closing(sqlite3.connect(database_path)) as connection:
        connection.execute("CREATE TABLE recipes (name TEXT)")
    with pytest.raises(DatabaseFormatError, match="another program"):
        await SqliteStore.open(database_path, no_replay)
    assert ask(database_path, "SELECT name FROM sqlite_master") == [("recipes",)]
    assert ask(database_path, "PRAGMA journal_mode") == [("delete",)]


def test_file_that_is_no_database_is_refused_and_left_alone(database_path: Path) -> None:
    text = b"Dear diary, " * 1000
    database_path.write_bytes(text)
    with pytest.raises(DatabaseFormatError, match="not a database"):
        asyncio.run(SqliteStore.open(database_path, no_replay))
    assert database_path.read_bytes() == text


async def test_file_name_may_hold_anything(tmp_path: Path) -> None:
    path = tmp_path / "100% rooms #1 & ção.db"
    await open_and_close(path)
    assert applied(path) == [migration.number for migration in MIGRATIONS]


async def test_missing_folder_is_refused(tmp_path: Path) -> None:
    with pytest.raises(StorageUnavailableError, match="No such file or directory"):
        await SqliteStore.open(tmp_path / "missing" / "rooms.db", no_replay)


@pytest.mark.parametrize(("synchronous", "level"), [("FULL", 2), ("NORMAL", 1)])
async def test_writer_waits_for_the_disk_as_it_was_told(open_store: Any, synchronous: Any, level: int) -> None:
    names = ("synchronous", "journal_mode", "foreign_keys")
    async with open_store(synchronous=synchronous) as store:
        modes = await store.writer.call(
            lambda connection: [connection.execute(f"PRAGMA {name}").fetchone()[0] for name in names]
        )
    assert modes == [level, "wal", 1]


async def test_reader_cannot_write(open_store: Any, database_path: Path) -> None:
    async with open_store(database_path) as store:
        with pytest.raises(StorageUnavailableError, match="readonly"):
            await store.reader.read(lambda connection: connection.execute("DELETE FROM events"))


@pytest.mark.skipif(sys.platform == "win32", reason="no permission bits there")
async def test_nobody_else_may_read_the_files(open_store: Any, make: Any, database_path: Path) -> None:
    before = os.umask(0)
    try:
        async with open_store() as store:
            await store.append(RoomCode("K7MQ4"), Seq(0), make.events(1, 1), make.rows(RoomCode("K7MQ4")))
            files = list(database_path.parent.iterdir())
            assert {file.name for file in files} == {"rooms.db", "rooms.db-wal", "rooms.db-shm", "rooms.db.lock"}
            assert {stat.S_IMODE(file.stat().st_mode) for file in files} == {0o600}
        await open_and_close(database_path, migrations=(*MIGRATIONS, ADD_COLUMN))
        assert {stat.S_IMODE(file.stat().st_mode) for file in database_path.parent.iterdir()} == {0o600}
    finally:
        os.umask(before)


async def test_a_closing_that_is_cancelled_leaves_no_thread_that_would_keep_the_process(
    database_path: Path,
) -> None:
    before = set(threading.enumerate())
    store = await SqliteStore.open(database_path, no_replay)
    threads = [thread for thread in set(threading.enumerate()) - before if "connection" in thread.name]
    assert len(threads) == 2
    try:
        task = asyncio.create_task(store.close())
        await asyncio.sleep(0)  # by now it waits for the first of the two connections
        task.cancel()
        with pytest.raises(asyncio.CancelledError):
            await task
        for thread in threads:
            await asyncio.to_thread(thread.join, LIMIT_S)
        assert not any(thread.is_alive() for thread in threads)
        await open_and_close(database_path)
    finally:
        await store.close()


async def test_second_opening_in_this_process_is_refused_until_the_first_is_closed(
    open_store: Any, database_path: Path
) -> None:
    async with open_store(database_path) as store:
        with pytest.raises(DatabaseLockedError, match=f"another server .process {os.getpid()}. is using this"):
            await SqliteStore.open(database_path, no_replay)
        await store.close()
        await open_and_close(database_path)


@pytest.mark.skipif(sys.platform == "win32", reason="making a symbolic link takes a right of its own there")
async def test_opening_through_a_symbolic_link_is_refused_while_the_file_is_open(
    open_store: Any, database_path: Path, tmp_path: Path
) -> None:
    """Symptom: a second server started on the same file, of which the first one knew nothing."""
    (tmp_path / "elsewhere").mkdir()
    link = tmp_path / "elsewhere" / "link.db"
    link.symlink_to(database_path)
    async with open_store(database_path):
        with pytest.raises(DatabaseLockedError, match=r"link\.db: another server"):
            await SqliteStore.open(link, no_replay)
    async with open_store(link):
        with pytest.raises(DatabaseLockedError, match=r"rooms\.db: another server"):
            await SqliteStore.open(database_path, no_replay)


def is_file(descriptor: int, path: Path) -> bool:
    """Return True if the open file is the one at ``path``."""
    return path.exists() and os.path.samestat(os.fstat(descriptor), path.stat())


@pytest.fixture
def mounted_path(tmp_path: Path) -> Iterator[Path]:
    """A file in a folder of its own that is the database of ``database_path``, as in a second container."""
    source, target = tmp_path / "rooms.db", tmp_path / "other" / "rooms.db"
    target.parent.mkdir()
    source.touch()
    target.touch()
    mounted = subprocess.run(["mount", "--bind", str(source), str(target)], capture_output=True, check=False)
    if mounted.returncode != 0:
        pytest.skip(f"mounting a file needs more rights: {mounted.stderr.decode().strip()}")
    try:
        yield target
    finally:
        subprocess.run(["umount", str(target)], check=True)


@pytest.mark.skipif(sys.platform != "linux", reason="mounts a file")
async def test_file_mounted_into_two_folders_is_served_once(
    open_store: Any, database_path: Path, mounted_path: Path
) -> None:
    """Symptom: a second server in another container started on the same file, with a lock file of its own."""
    process = await asyncio.create_subprocess_exec(
        *(sys.executable, "-c", SERVE, str(mounted_path)), stdin=subprocess.PIPE, stdout=subprocess.PIPE
    )
    assert process.stdout is not None
    try:
        assert await process.stdout.readline() == b"open\n"
        with pytest.raises(DatabaseLockedError, match=r"rooms\.db: another server is using this database"):
            await SqliteStore.open(database_path, no_replay)
        with pytest.raises(DatabaseLockedError):
            await vacuum(database_path)
        with pytest.raises(DatabaseLockedError):
            await rebuild(database_path, lambda *_: pytest.fail("there is no room"))
        assert (await rebuild(mounted_path, lambda *_: pytest.fail("there is no room"))).rebuilt_count == 0
    finally:
        await process.communicate(b"")
    async with open_store(database_path):
        pass


@pytest.mark.skipif(sys.platform == "win32", reason="there is no such lock there")
@pytest.mark.parametrize("number", [errno.ENOLCK, errno.EOPNOTSUPP, errno.ENOSYS])
async def test_file_that_cannot_be_locked_itself_is_served_all_the_same(
    open_store: Any, make: Any, database_path: Path, monkeypatch: pytest.MonkeyPatch, number: int
) -> None:
    import fcntl

    def flock(descriptor: int, operation: int) -> None:
        if is_file(descriptor, database_path):
            raise OSError(number, os.strerror(number))

    monkeypatch.setattr(fcntl, "flock", flock)
    with capture_logs() as lines:
        async with open_store() as store:
            await store.append(RoomCode("K7MQ4"), Seq(0), make.events(1, 1), make.rows(RoomCode("K7MQ4")))
    assert {"event": "database not locked against other paths to it", "reason": os.strerror(number)}.items() <= (
        lines[0].items()
    )


@pytest.mark.skipif(sys.platform == "win32", reason="there is no such lock there")
async def test_file_whose_lock_would_keep_sqlite_out_is_not_locked(
    open_store: Any, make: Any, database_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Network file systems and BSD make of both kinds of locks one."""
    import fcntl

    taken: list[int] = []
    real_flock = fcntl.flock

    def lockf(*_: int) -> None:
        raise OSError(errno.EAGAIN, os.strerror(errno.EAGAIN))

    def flock(descriptor: int, operation: int) -> None:
        if is_file(descriptor, database_path):
            taken.append(operation)
        real_flock(descriptor, operation)

    monkeypatch.setattr(fcntl, "lockf", lockf)
    monkeypatch.setattr(fcntl, "flock", flock)
    async with open_store() as store:
        await store.append(RoomCode("K7MQ4"), Seq(0), make.events(1, 1), make.rows(RoomCode("K7MQ4")))
    assert taken == [fcntl.LOCK_EX | fcntl.LOCK_NB, fcntl.LOCK_UN]


@pytest.mark.skipif(sys.platform == "win32", reason="there is no such lock there")
async def test_file_system_without_any_locks_is_told(database_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Symptom: another server was said to use the database, and there was none."""
    import fcntl

    def flock(descriptor: int, operation: int) -> None:
        raise OSError(errno.ENOLCK, os.strerror(errno.ENOLCK))

    monkeypatch.setattr(fcntl, "flock", flock)
    with pytest.raises(StorageUnavailableError, match=r"cannot lock .*rooms\.db\.lock: No locks available"):
        await SqliteStore.open(database_path, no_replay)


async def test_work_on_a_file_leaves_it_known_when_it_was_last_served(database_path: Path) -> None:
    """Symptom: after `db vacuum` clocks ran on for the time between the server's end and the vacuum."""
    await open_and_close(database_path)
    os.utime(f"{database_path}.lock", (1_000, 1_000))
    with serving_nobody(database_path):
        with pytest.raises(DatabaseLockedError, match=f"process {os.getpid()}"):
            await vacuum(database_path)
    await vacuum(database_path)
    store = await SqliteStore.open(database_path, no_replay)
    await store.close()
    assert store.last_alive_ms == 1_000_000


@pytest.mark.skipif(sys.platform == "win32", reason="making a symbolic link takes a right of its own there")
async def test_link_that_leads_nowhere_is_refused(tmp_path: Path) -> None:
    (tmp_path / "a.db").symlink_to(tmp_path / "b.db")
    (tmp_path / "b.db").symlink_to(tmp_path / "a.db")
    with pytest.raises(StorageUnavailableError, match="cannot open"):
        await SqliteStore.open(tmp_path / "a.db", no_replay)


async def test_file_with_two_names_is_refused(database_path: Path, tmp_path: Path) -> None:
    """Symptom: a second server started by the other name, with a lock and a write-ahead log of its own."""
    await open_and_close(database_path)
    other = tmp_path / "other.db"
    os.link(database_path, other)
    for path in (database_path, other):
        with pytest.raises(DatabaseFormatError, match=r"this file has 2 names .hard links.; serve a copy"):
            await SqliteStore.open(path, no_replay)
    other.unlink()
    await open_and_close(database_path)


async def test_refused_file_is_not_left_locked(database_path: Path) -> None:
    await open_and_close(database_path, migrations=(*MIGRATIONS, ADD_COLUMN))
    with pytest.raises(DatabaseFormatError):
        await SqliteStore.open(database_path, no_replay)
    await open_and_close(database_path, migrations=(*MIGRATIONS, ADD_COLUMN))


def test_lock_of_another_process_holds_until_it_is_killed(database_path: Path) -> None:
    serving = [sys.executable, "-c", SERVE, str(database_path)]
    with subprocess.Popen(serving, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True) as first:
        assert first.stdout is not None
        assert first.stdout.readline() == "open\n"
        with pytest.raises(DatabaseLockedError, match=f"process {first.pid}"):
            asyncio.run(SqliteStore.open(database_path, no_replay))
        second = subprocess.run(serving, input="", capture_output=True, text=True, check=False)
        assert second.returncode == 1
        assert f"process {first.pid}" in second.stderr.splitlines()[-1]
        first.kill()
    asyncio.run(open_and_close(database_path))
