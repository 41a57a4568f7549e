"""One database file, opened for serving: its lock, its schema, its writer and its reader.

What is written and read is up to :mod:`.event_log` and :mod:`.accounts`.
"""

from __future__ import annotations

import asyncio
import contextlib
import sqlite3
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import TypeVar

import structlog

from tabuleiro.errors import DatabaseFormatError
from tabuleiro_server.store.backup import copy_database
from tabuleiro_server.store.connection import ConnectionSettings, Synchronous, storage_error
from tabuleiro_server.store.lock_file import LockFile
from tabuleiro_server.store.schema import MIGRATIONS, Migration, apply_migrations, check_format
from tabuleiro_server.store.served_file import ServedConnection, ServedFile
from tabuleiro_server.store.writer import Writer

T = TypeVar("T")

Mend = Callable[[sqlite3.Connection, Path], None]
"""Looks at a file that nobody serves yet and makes it fit to be served, or raises a StoreError."""

log = structlog.get_logger(__name__)


class Database:
    """A file that this process alone serves, with one connection that writes and one that reads."""

    def __init__(self, settings: ConnectionSettings, lock: LockFile, file: ServedFile) -> None:
        """Wrap a file that is ready. Use :meth:`open`."""
        self.path = settings.path
        self._lock = lock
        self._file = file
        self._reader = ServedConnection(settings.connect_reader, file)
        self._writing = ServedConnection(settings.connect, file)
        self.writer = Writer(self._writing, settings.path)

    @classmethod
    async def open(
        cls,
        path: Path,
        *,
        synchronous: Synchronous = "FULL",
        busy_timeout_ms: int = 2_000,
        migrations: Sequence[Migration] = MIGRATIONS,
        connection_class: type[sqlite3.Connection] = sqlite3.Connection,
        mend: Mend | None = None,
    ) -> Database:
        """Lock the file, make it if it is missing, bring its schema to the newest version, and open it.

        ``mend`` gets the file of the newest schema; with ``None`` nobody looks whether it is damaged.

        A file that needs migrating is copied first, to ``NAME.schema-N.backup`` beside it. The folder must exist.
        See :class:`.ConnectionSettings` for ``synchronous``, ``busy_timeout_ms`` and ``connection_class``.

        Raises: DatabaseLockedError when another server has it; DatabaseFormatError when it is not ours or newer
        than this program, or has hard links; StorageUnavailableError when it cannot be opened or written.
        """
        settings = ConnectionSettings(path, synchronous, busy_timeout_ms, connection_class)
        lock = LockFile(path)
        try:
            file = ServedFile(path)
        except BaseException:
            lock.release()
            raise
        database = cls(settings, lock, file)
        try:
            await asyncio.to_thread(_prepare, settings, migrations, mend)
            await database._writing.open()
            await database._reader.open()
        except sqlite3.Error as error:
            await database.close()
            raise storage_error(error, path) from error
        except BaseException:
            await database.close()
            raise
        return database

    async def close(self) -> None:
        """Close both connections and free the lock. Stop the writer before; a second call does nothing.

        All of it is done also when the waiting is cancelled: a process waits for the threads of its connections.
        """
        async with contextlib.AsyncExitStack() as stack:
            stack.callback(self._lock.release)
            stack.callback(self._file.close)
            stack.push_async_callback(self._writing.close)
            await self._reader.close()

    @property
    def last_alive_ms(self) -> int | None:
        """When a server last served this file, in milliseconds since 1970 UTC; ``None`` for a new one."""
        return self._lock.last_alive_ms

    def beat(self) -> None:
        """Note that the file is being served now; cheap, and not on the way of any commit."""
        self._lock.beat()

    async def read(self, query: Callable[[sqlite3.Connection], T]) -> T:
        """Run ``query`` on the reading connection: it sees everything that is committed.

        Raises: StorageUnavailableError; what ``query`` raises itself.
        """
        try:
            return await self._reader.run(query)
        except sqlite3.Error as error:
            raise storage_error(error, self.path) from error


def _prepare(settings: ConnectionSettings, migrations: Sequence[Migration], mend: Mend | None) -> None:
    path = settings.path
    with contextlib.closing(settings.connect()) as connection:
        version = check_format(connection, str(path), migrations[-1].number)
        mode = connection.execute("PRAGMA journal_mode = WAL").fetchone()[0]
        if mode != "wal":
            raise DatabaseFormatError(
                str(path), "this file system does not allow a write-ahead log; choose another"
            )
        if 0 < version < migrations[-1].number:
            backup = path.with_name(f"{path.name}.schema-{version}.backup")
            copy_database(connection, backup)
            log.info("database copied before it is changed", copy=str(backup), from_schema=version)
        apply_migrations(connection, migrations, version)
        if mend is not None:
            mend(connection, path)
