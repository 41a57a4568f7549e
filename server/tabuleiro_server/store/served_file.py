"""The file under the connections: that it is still the one that was opened.

Whoever removes the database of a running server, or puts a backup in its place, leaves the server with a file that
nobody can find again. SQLite goes on writing to it, and what is acknowledged would be gone at the next start.
"""

from __future__ import annotations

import os
import sqlite3
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path
from typing import TypeVar

from tabuleiro.errors import DatabaseFormatError, DatabaseLockedError, StorageUnavailableError
from tabuleiro_server.store.connection import StandingConnection
from tabuleiro_server.store.lock_file import claim_file

T = TypeVar("T")


class ServedFile:
    """The database file, kept open and claimed: it is made if it is missing, readable by its owner alone.

    It must be opened before any connection to it in this process, and closed after all of them: on POSIX systems
    closing it takes their locks away.
    """

    def __init__(self, path: Path) -> None:
        """Raises: StorageUnavailableError when it cannot be opened; DatabaseFormatError when it has hard links;
        DatabaseLockedError when somebody serves it by a path that has another lock file beside.
        """
        self._path = path
        try:
            _check_has_one_name(path)
            # Tokens are kept hashed, but chat is not: others shall not read it.
            self._descriptor: int | None = os.open(path, os.O_RDWR | os.O_CREAT, 0o600)
        except OSError as error:
            raise StorageUnavailableError(f"cannot open {path}: {error.strerror}") from error
        try:
            claim_file(self._descriptor)
        except BlockingIOError as error:
            self.close()
            raise DatabaseLockedError(str(path), None) from error

    def check(self) -> None:
        """Raises: sqlite3.OperationalError when the path leads to another file now, or to none."""
        with suppress(FileNotFoundError):
            if self._descriptor is None or os.path.samestat(os.fstat(self._descriptor), os.stat(self._path)):
                return
        raise sqlite3.OperationalError(
            "the file was removed or replaced while it was served; put it back, or restart"
        )

    def close(self) -> None:
        """Let the file go. A second call does nothing."""
        if self._descriptor is not None:
            os.close(self._descriptor)
            self._descriptor = None


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

    async def run(self, function: Callable[[sqlite3.Connection], T]) -> T:
        """As the standing connection. Raises: sqlite3.Error, also when the file is no longer the one served."""

        def checked(connection: sqlite3.Connection) -> T:
            self._file.check()
            return function(connection)

        return await super().run(checked)
