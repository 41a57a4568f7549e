"""The file under the connections, and the write-ahead log beside it: that they are still those that were opened.

Whoever removes the database of a running server, or puts a backup in its place, leaves the server with a file that
nobody can find again. SQLite goes on writing to it, and what is acknowledged would be gone at the next start. The
same with the log, but that can be made good: what it holds is brought to the file, and a new one begun.
"""

from __future__ import annotations

import asyncio
import os
import sqlite3
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Final, TypeVar

import structlog

from tabuleiro.errors import DatabaseFormatError, DatabaseLockedError, StorageUnavailableError
from tabuleiro_server.store.connection import StandingConnection, ThreadConnection
from tabuleiro_server.store.lock_file import claim_file

T = TypeVar("T")

LOOK_EVERY_S: Final = 0.1
"""How often it is looked whether the log is still there: a kill in between takes what was stored since then."""

log = structlog.get_logger(__name__)


class FileEmptiedError(sqlite3.OperationalError):
    """The file was emptied while it was served. Nothing has been asked of SQLite yet."""

    sqlite_errorcode = sqlite3.SQLITE_LOCKED
    """The connection stays open: closed, it would write what the log holds into nothing, and remove the log."""


class LogLostError(sqlite3.OperationalError):
    """The write-ahead log was removed or replaced while it was in use. Nothing has been asked of SQLite yet."""

    sqlite_errorcode = sqlite3.SQLITE_LOCKED
    """The connection is well, and must stay open: nobody else can read the log that it has."""


class ServedFile:
    """The database file, kept open and claimed: it is made if it is missing, readable by its owner alone.

    It must be opened before any connection to it in this process, and closed after all of them: on POSIX systems
    closing it takes their locks away.
    """

    def __init__(self, path: Path) -> None:
        """Raises: StorageUnavailableError when it cannot be opened; DatabaseFormatError when it has hard links, or
        is empty and has a write-ahead log; DatabaseLockedError when it is served by a path with another lock file.
        """
        self._path = path
        self._log_paths = tuple(os.path.realpath(path) + ending for ending in ("-wal", "-shm"))
        self._log: tuple[os.stat_result, ...] | None = None
        self._looks_at_s = 0.0
        self._connections: list[ServedConnection] = []
        self._rescuing = asyncio.Lock()
        try:
            _check_has_one_name(path)
            # Tokens are kept hashed, but chat is not: others shall not read it.
            self._descriptor: int | None = os.open(path, os.O_RDWR | os.O_CREAT, 0o600)
            self._opened = os.fstat(self._descriptor)
        except OSError as error:
            raise StorageUnavailableError(f"cannot open {path}: {error.strerror}") from error
        try:
            claim_file(self._descriptor)
            self._check_has_what_its_log_changes()
        except BlockingIOError as error:
            self.close()
            raise DatabaseLockedError(str(path), None) from error
        except DatabaseFormatError:
            self.close()
            raise

    def _check_has_what_its_log_changes(self) -> None:
        """SQLite would throw the log away."""
        log_path = self._log_paths[0]
        if not self._opened.st_size and os.path.exists(log_path) and os.path.getsize(log_path):
            reason = f"this file is missing or empty, and {log_path} is not; put the file back, or remove both"
            raise DatabaseFormatError(str(self._path), reason)

    def add(self, connection: ServedConnection) -> None:
        """Take in a connection that works on this file."""
        self._connections.append(connection)

    @contextmanager
    def watched(self) -> Iterator[None]:
        """See that the file and its log are there before SQLite is asked for something within.

        Raises: LogLostError; FileEmptiedError; sqlite3.OperationalError when the path leads elsewhere now.
        """
        self._check()
        yield
        self._note_log()

    def _check(self) -> None:
        """Raises: LogLostError; FileEmptiedError; sqlite3.OperationalError when the path leads elsewhere now."""
        # Every look at the disk lets go of the interpreter, and may have to wait for it: as few as possible.
        found = _status(self._path)
        if found is None or not os.path.samestat(self._opened, found):
            raise sqlite3.OperationalError(
                "the file was removed or replaced while it was served; put it back, or restart"
            )
        if not found.st_size:
            raise FileEmptiedError("the file was emptied while it was served; stop, and put a backup in its place")
        if time.monotonic() >= self._looks_at_s:
            if self._is_log_lost():
                raise LogLostError("the write-ahead log was removed while it was in use")
            self._looks_at_s = time.monotonic() + LOOK_EVERY_S

    def _note_log(self) -> None:
        """Note which log, and which index of it, the connections have open, after SQLite has used them."""
        if self._log is None:
            with suppress(OSError):  # what SQLite has done is done: it is noted the next time
                self._log = tuple([os.stat(path) for path in self._log_paths])

    def _is_log_lost(self) -> bool:
        if self._log is None:
            return False
        found = [_status(path) for path in self._log_paths]
        return not all(now and os.path.samestat(then, now) for then, now in zip(self._log, found, strict=True))

    async def rescue_log(self) -> None:
        """Where the log is lost, bring what it holds to the file, and close all connections, to be opened anew.

        While one of them is open SQLite knows of what is in the lost log, and none must look for it in a new one.
        Raises: sqlite3.Error when the file does not take it, and then the connections stay as they are.
        """
        async with self._rescuing:
            if not self._is_log_lost():
                return
            flushed = [await connection.flush() for connection in self._connections]
            for connection in self._connections:
                await connection.close()
            self._log = None
            if any(flushed):  # else SQLite itself has removed it, with the last connection
                log.warning("write-ahead log was removed: what it held is in the file", path=str(self._path))

    def close(self) -> None:
        """Let the file go. A second call does nothing."""
        if self._descriptor is not None:
            os.close(self._descriptor)
            self._descriptor = None


def _status(path: Path | str) -> os.stat_result | None:
    """What is at ``path``, ``None`` when nothing is. Raises: sqlite3.OperationalError when nobody can tell."""
    try:
        return os.stat(path)
    except FileNotFoundError:
        return None
    except OSError as error:
        raise sqlite3.OperationalError(f"the file cannot be reached: {error.strerror}") from error


def _check_has_one_name(path: Path) -> None:
    """Neither the lock nor SQLite's write-ahead log would be shared with who opens the file by another name."""
    with suppress(FileNotFoundError):
        names_count = os.stat(path).st_nlink
        if names_count > 1:
            reason = f"this file has {names_count} names (hard links); serve a copy, or remove the others"
            raise DatabaseFormatError(str(path), reason)


class ServedConnection(StandingConnection):
    """A standing connection that works on the served file only."""

    def __init__(self, connect: Callable[[], sqlite3.Connection], file: ServedFile) -> None:
        super().__init__(connect)
        self._file = file
        file.add(self)

    async def run(self, function: Callable[[sqlite3.Connection], T]) -> T:
        """As the standing connection. Raises: sqlite3.Error, also when the file is no longer the one served."""

        def checked(connection: sqlite3.Connection) -> T:
            with self._file.watched():
                return function(connection)

        while True:
            try:
                return await super().run(checked)
            except LogLostError:
                await self._file.rescue_log()

    async def open(self) -> ThreadConnection:
        """As the standing connection, on a log that is in its place."""
        await self._file.rescue_log()
        return await super().open()

    async def flush(self) -> bool:
        """Bring all that is committed from the log to the file; tell whether the connection was open for it.

        Raises: sqlite3.Error when that is not possible now.
        """
        if self._connection is None:
            return False
        await self._connection.run(_flush)
        return True


def _flush(connection: sqlite3.Connection) -> None:
    is_busy, log_pages_count, flushed_count = connection.execute("PRAGMA wal_checkpoint(FULL)").fetchone()
    if is_busy or log_pages_count != flushed_count:
        raise sqlite3.OperationalError("the write-ahead log was removed, and cannot be written to the file yet")
