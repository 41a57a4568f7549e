"""Connections to the file: set up, run in their thread, and opened again after a fault.

The statements are up to the callers, and so is the translation of ``sqlite3.Error`` by :func:`storage_error`.
"""

from __future__ import annotations

import asyncio
import contextlib
import os
import shlex
import shutil
import sqlite3
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final, Literal, TypeVar, cast

import aiosqlite

from tabuleiro.errors import DatabaseFormatError, StorageUnavailableError, StoreError
from tabuleiro_server.store.sqlite.owners import owner_hint

T = TypeVar("T")
Synchronous = Literal["FULL", "NORMAL"]

_HARMLESS_CODES: Final = frozenset({sqlite3.SQLITE_BUSY, sqlite3.SQLITE_LOCKED, sqlite3.SQLITE_FULL})
"""Primary codes after which the connection is as good as before."""

_VAGUE_CODES: Final = frozenset({sqlite3.SQLITE_IOERR, sqlite3.SQLITE_CANTOPEN, sqlite3.SQLITE_READONLY})
"""Primary codes that say nothing of a full disk or a folder's missing right where that is the reason."""

_NEEDED_BYTES: Final = 64 * 1024
"""Room for the files that SQLite makes beside the database when it is opened."""

_CACHED_STATEMENTS_COUNT: Final = 256
_WAL_LIMIT_BYTES: Final = 8 * 1024 * 1024
"""What a write-ahead log keeps of its size when it starts over: twice what it needs without long readers."""


def primary_code(error: sqlite3.Error) -> int | None:
    """Return the primary SQLite result code; ``None`` when the error did not come from SQLite itself."""
    code: int | None = getattr(error, "sqlite_errorcode", None)
    return None if code is None else code & 0xFF


def storage_error(error: sqlite3.Error, path: Path) -> StoreError:
    """Translate an error of SQLite into one that callers know."""
    code = primary_code(error)
    if code == sqlite3.SQLITE_NOTADB:
        return DatabaseFormatError(str(path), "this file is not a database")
    if code == sqlite3.SQLITE_CORRUPT:
        return damage_error(path, str(error))
    hint = _hint(path) if code in _VAGUE_CODES else ""
    return StorageUnavailableError(f"{path}: {error}{hint}")


def damage_error(path: Path, finding: str) -> DatabaseFormatError:
    """Return the error for a damaged file, with the command that mends it."""
    command = f"tabuleiro db rebuild --db {shlex.quote(str(path))}"
    return DatabaseFormatError(str(path), f"this file is damaged ({finding}); stop the server and run `{command}`")


def _hint(path: Path) -> str:
    """Return a likely reason of an error that names none, after a semicolon; empty when none is known."""
    if os.path.exists(path) and not os.access(path, os.R_OK | os.W_OK) and (hint := owner_hint(path)):
        return hint
    if not os.access(path.absolute().parent, os.W_OK):
        hint = owner_hint(path.absolute().parent)
        return f"; even to read it takes a folder that can be written to, so copy it into one{hint}"
    return "; the disk is full, and even reading takes a small file beside" if _is_disk_full(path) else ""


def _is_disk_full(path: Path) -> bool:
    try:
        return shutil.disk_usage(path.absolute().parent).free < _NEEDED_BYTES
    except OSError:
        return False


@dataclass(frozen=True, slots=True)
class ConnectionSettings:
    """The way in which connections to one file are opened.

    ``synchronous`` FULL makes every commit reach the disk before it returns; with NORMAL a power cut may take
    the last commits (a crash of the process alone takes none). ``busy_timeout_ms`` is how long to wait for
    another process's lock. ``connection_class`` makes the connection: tests give one that fails.
    """

    path: Path
    synchronous: Synchronous = "FULL"
    busy_timeout_ms: int = 2_000
    connection_class: type[sqlite3.Connection] = sqlite3.Connection

    def connect(self, *, mode: Literal["rwc", "rw", "ro"] = "rw") -> sqlite3.Connection:
        """Open a connection in autocommit mode: ``rwc`` makes a missing file, ``ro`` cannot write.

        Raises: sqlite3.Error.
        """
        connection = sqlite3.connect(
            f"{self.path.absolute().as_uri()}?mode={mode}",
            uri=True,
            isolation_level=None,
            timeout=self.busy_timeout_ms / 1000,
            cached_statements=_CACHED_STATEMENTS_COUNT,
            factory=self.connection_class,
        )
        try:
            connection.execute(f"PRAGMA synchronous = {self.synchronous}")
            connection.execute("PRAGMA foreign_keys = ON")
            # What undoes a statement that fails half-way: a file made and removed at every commit otherwise.
            connection.execute("PRAGMA temp_store = MEMORY")
            connection.execute(f"PRAGMA journal_size_limit = {_WAL_LIMIT_BYTES}")
        except BaseException:
            connection.close()
            raise
        return connection

    def connect_reader(self) -> sqlite3.Connection:
        """Open a connection that refuses to write. It may still make the files beside, which WAL readers need."""
        connection = self.connect()
        connection.execute("PRAGMA query_only = ON")
        return connection


class ThreadConnection(aiosqlite.Connection):
    """An aiosqlite connection that can run a whole function in its thread: one hop, however many statements."""

    def __init__(self, connect: Callable[[], sqlite3.Connection]) -> None:
        super().__init__(self._open_file, iter_chunk_size=64)
        self._connect_file = connect
        self._file: sqlite3.Connection | None = None
        self._stopped: asyncio.Future[Any] | None = None

    async def open(self) -> None:
        """Open the connection. Where that fails or is cancelled, the thread has ended before this returns.

        aiosqlite only asks it to end: it would then answer an event loop that may be closed by now.

        Raises: sqlite3.Error.
        """
        try:
            await self
        except BaseException:
            if self._stopped is not None:
                await self._stopped
            raise

    async def run(self, function: Callable[[sqlite3.Connection], T]) -> T:
        """Return what ``function`` returns. Cancelling the wait does not stop the function."""
        return cast("T", await self._execute(function, self._conn))  # type: ignore[no-untyped-call]

    def stop(self) -> asyncio.Future[Any] | None:
        """Let the thread close the file and end, once it has done what was asked of it before."""
        # aiosqlite forgets a file that is opened after the wait for it was cancelled.
        self._tx.put_nowait((None, self._close_file))
        self._stopped = super().stop()
        return self._stopped

    def _open_file(self) -> sqlite3.Connection:
        self._file = self._connect_file()
        return self._file

    def _close_file(self) -> None:
        if self._file is not None:
            self._file.close()


class StandingConnection:
    """One connection for as long as the program runs, opened again when a fault has made it doubtful."""

    def __init__(self, connect: Callable[[], sqlite3.Connection]) -> None:
        self._connect = connect
        self._connection: ThreadConnection | None = None
        self._opening = asyncio.Lock()

    async def run(self, function: Callable[[sqlite3.Connection], T]) -> T:
        """Run ``function`` in the connection's thread, after opening the connection where there is none.

        Raises: sqlite3.Error.
        """
        connection = self._connection or await self.open()
        try:
            return await connection.run(function)
        except sqlite3.Error as error:
            if primary_code(error) not in _HARMLESS_CODES and connection is self._connection:
                await self.close()
            raise

    async def open(self) -> ThreadConnection:
        """Open the connection unless it is open. Raises: sqlite3.Error."""
        async with self._opening:
            if self._connection is None:
                connection = ThreadConnection(self._connect)
                await connection.open()
                self._connection = connection
            return self._connection

    async def close(self) -> None:
        """Close the connection after what was asked of it before; it is opened again when it is used again."""
        connection, self._connection = self._connection, None
        if connection is not None:
            with contextlib.suppress(sqlite3.Error):  # nothing can be mended in a connection that fails to close
                await connection.close()


class Reader:
    """A standing connection whose errors are those that callers of the store know."""

    def __init__(self, connection: StandingConnection, path: Path) -> None:
        self._connection = connection
        self._path = path

    async def read(self, query: Callable[[sqlite3.Connection], T]) -> T:
        """Return what ``query`` returns; it sees everything that is committed.

        Raises: StorageUnavailableError; what ``query`` raises itself.
        """
        try:
            return await self._connection.run(query)
        except sqlite3.Error as error:
            raise storage_error(error, self._path) from error
