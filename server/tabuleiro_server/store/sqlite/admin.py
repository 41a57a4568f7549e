"""The operator's work on a database file: copy, compact, count, look into one room.

All of it works on the file of a running server and on one that nobody serves, and opens a connection of its own.
Checking and rebuilding against the events is in :mod:`.repair`; showing the results is up to the commands.
"""

from __future__ import annotations

import asyncio
import contextlib
import os
import sqlite3
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Literal, TypeVar

from tabuleiro.errors import DatabaseFormatError, DatabaseLockedError, StorageUnavailableError, StoreError
from tabuleiro.ids import RoomCode
from tabuleiro_server.store.port import BEFORE_FIRST, StoredEvent
from tabuleiro_server.store.reports import Stats
from tabuleiro_server.store.sqlite.connection import ConnectionSettings, storage_error
from tabuleiro_server.store.sqlite.file import LockFile, ServedFile
from tabuleiro_server.store.sqlite.owners import create_beside, owner_hint
from tabuleiro_server.store.sqlite.queries import select_events
from tabuleiro_server.store.sqlite.schema import MIGRATIONS, check_format


def copy_database(source: sqlite3.Connection, path: Path, target: Path, *, is_checked: bool = True) -> None:
    """Copy what ``source`` sees at one moment to ``target``, damaged or not unless ``is_checked``.

    A former ``target`` is replaced when the copy is complete and on disk. The copy is one file without a
    write-ahead log, with the owner and the mode of the file at ``path`` that ``source`` is a connection to.

    Raises: sqlite3.Error; StorageUnavailableError when the file cannot be made, or is not sound.
    """
    unfinished = target.with_name(target.name + ".unfinished")
    try:
        unfinished.unlink(missing_ok=True)
        os.close(create_beside(unfinished, path))
        with contextlib.closing(sqlite3.connect(unfinished, isolation_level=None)) as copy:
            source.backup(copy)
            copy.execute("PRAGMA journal_mode = DELETE")
            findings = [text for (text,) in copy.execute("PRAGMA quick_check")] if is_checked else ["ok"]
        if findings != ["ok"]:
            finding = " ".join(findings[0].split())
            raise StorageUnavailableError(
                f"the copy of the database is not sound, and so may be the database; `tabuleiro db verify` tells,"
                f" `tabuleiro db rebuild` mends it ({finding})"
            )
        _flush(unfinished)
        os.replace(unfinished, target)
    except OSError as error:
        hint = owner_hint(target) if isinstance(error, PermissionError) else ""
        raise StorageUnavailableError(f"cannot write {target}: {error.strerror}{hint}") from error
    finally:
        with contextlib.suppress(OSError):
            unfinished.unlink(missing_ok=True)


def _flush(path: Path) -> None:
    descriptor = os.open(path, os.O_RDWR)
    try:
        os.fsync(descriptor)
    finally:
        os.close(descriptor)


T = TypeVar("T")

_BUSY_TIMEOUT_MS = 10_000
"""Longer than the server's own, so that the command waits for the server and not the other way round."""


async def back_up(path: Path, target: Path, *, is_replacing: bool = False) -> int:
    """Copy the database as it is at one moment to the new file ``target``; return its size in bytes.

    A running server goes on meanwhile. An existing ``target`` is refused unless ``is_replacing``.

    Raises: StoreError when ``target`` exists; DatabaseFormatError; StorageUnavailableError.
    """

    def copy(connection: sqlite3.Connection) -> int:
        if target.exists() and not is_replacing:
            raise StoreError(f"{target} exists; choose another name")
        copy_database(connection, path, target)
        return target.stat().st_size

    return await on_database(path, copy, mode="ro", is_any_version=True)


async def vacuum(path: Path, *, is_while_serving: bool = False) -> tuple[int, int]:
    """Give the free space back to the file system; return the size of the file before and after in bytes.

    All writing waits for it. That is why it is refused while a server has the file, unless
    ``is_while_serving``; then the server's appends are refused if it takes longer than they may wait. It needs
    as much free disk again.

    Raises: DatabaseLockedError; DatabaseFormatError; StorageUnavailableError.
    """

    def compact(connection: sqlite3.Connection) -> tuple[int, int]:
        before_bytes = _page_bytes(connection, "page_count")
        connection.execute("VACUUM")
        connection.execute("PRAGMA wal_checkpoint(TRUNCATE)")
        return before_bytes, _page_bytes(connection, "page_count")

    with contextlib.ExitStack() as stack:
        if not is_while_serving:
            stack.enter_context(serving_nobody(path))
        return await on_database(path, compact, mode="rw", is_any_version=True)


@contextlib.contextmanager
def serving_nobody(path: Path) -> Iterator[None]:
    """Keep servers from the file while something is done to it.

    Raises: DatabaseLockedError when one has it; DatabaseFormatError for hard links; StorageUnavailableError.
    """
    _check_is_there(path)
    with contextlib.ExitStack() as stack:
        stack.callback(LockFile(path, is_serving=False).release)
        stack.enter_context(contextlib.closing(ServedFile(path)))
        yield


@contextlib.contextmanager
def beside_a_server(path: Path) -> Iterator[None]:
    """Let a server have the file while something is written to it, but by this path only.

    By another one the two would not share the write-ahead log. No server is let in who is not there yet.

    Raises: DatabaseLockedError when it is served by another path; StorageUnavailableError; DatabaseFormatError.
    """
    with contextlib.ExitStack() as stack:
        try:
            lock = LockFile(path, is_serving=False)
        except DatabaseLockedError:
            pass
        else:
            stack.callback(lock.release)
            stack.enter_context(contextlib.closing(ServedFile(path)))
        yield


async def read_stats(path: Path) -> Stats:
    """Count what the database holds. Raises: DatabaseFormatError; StorageUnavailableError."""

    def count(connection: sqlite3.Connection) -> Stats:
        wal = Path(os.path.realpath(path) + "-wal")
        with reading(connection):
            return Stats(
                schema_version=_number(connection, "SELECT max(number) FROM migrations"),
                size_bytes=_page_bytes(connection, "page_count"),
                wal_bytes=wal.stat().st_size if wal.exists() else 0,
                free_bytes=_page_bytes(connection, "freelist_count"),
                event_count=_number(connection, "SELECT count(*) FROM events"),
                room_counts=dict(
                    connection.execute("SELECT phase, count(*) FROM rooms GROUP BY phase ORDER BY phase")
                ),
                match_count=_number(connection, "SELECT count(*) FROM matches"),
                ended_match_count=_number(connection, "SELECT count(ended_at_ms) FROM matches"),
                account_count=_number(connection, "SELECT count(*) FROM accounts"),
            )

    return await on_database(path, count, mode="ro")


async def read_events(path: Path, code: RoomCode) -> list[StoredEvent]:
    """Return the events of a room, none when there is no such room.

    Raises: DamagedRoomError; DatabaseFormatError; StorageUnavailableError.
    """
    return await on_database(path, lambda connection: select_events(connection, code, BEFORE_FIRST), mode="ro")


async def on_database(
    path: Path,
    function: Callable[[sqlite3.Connection], T],
    *,
    mode: Literal["rw", "ro"],
    is_any_version: bool = False,
) -> T:
    """Run ``function`` in a thread, on a connection of its own that is closed at the end.

    The file must exist and be of this program's schema version, or any older one if ``is_any_version``.

    Raises: DatabaseFormatError; StorageUnavailableError; what ``function`` raises itself.
    """

    def run() -> T:
        _check_is_there(path)
        settings = ConnectionSettings(path, busy_timeout_ms=_BUSY_TIMEOUT_MS)
        try:
            with contextlib.closing(settings.connect(mode=mode)) as connection:
                _check_version(connection, path, is_any_version)
                return function(connection)
        except sqlite3.Error as error:
            raise storage_error(error, path) from error

    return await asyncio.to_thread(run)


def _check_is_there(path: Path) -> None:
    if not os.path.isfile(path):
        raise StorageUnavailableError(f"there is no database {path}")


def _check_version(connection: sqlite3.Connection, path: Path, is_any_version: bool) -> None:
    newest = MIGRATIONS[-1].number
    version = check_format(connection, str(path), newest)
    if version < (1 if is_any_version else newest):
        raise DatabaseFormatError(
            str(path),
            f"its schema {version} is older than this program's {newest}; serve it once to bring it up to date",
        )


@contextlib.contextmanager
def reading(connection: sqlite3.Connection) -> Iterator[None]:
    """Make all that is read inside see the same moment."""
    connection.execute("BEGIN")
    try:
        yield
    finally:
        connection.execute("ROLLBACK")


def _number(connection: sqlite3.Connection, query: str) -> int:
    number: int = connection.execute(query).fetchone()[0]
    return number


def _page_bytes(connection: sqlite3.Connection, pragma: Literal["page_count", "freelist_count"]) -> int:
    return _number(connection, f"PRAGMA {pragma}") * _number(connection, "PRAGMA page_size")
