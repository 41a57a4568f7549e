"""The lock that lets one process at a time serve a database.

SQLite's own locks last for a transaction; two servers that take turns would each believe they alone know the
rooms. The lock is the operating system's, on ``PATH.lock``: it is freed when the process ends, however it ends.
The file itself stays, for deleting it would let two processes lock two files of the same name. Symbolic links to
one database share the lock of the file that they lead to.
"""

from __future__ import annotations

import contextlib
import os
import sys
from pathlib import Path
from typing import Final

from tabuleiro.errors import DatabaseLockedError, StorageUnavailableError

if sys.platform == "win32":
    import msvcrt

    _LOCKED_BYTE: Final = 1 << 30
    """Far behind the process id, which others may read while the byte is locked."""

    def _lock(descriptor: int) -> None:
        os.lseek(descriptor, _LOCKED_BYTE, os.SEEK_SET)
        msvcrt.locking(descriptor, msvcrt.LK_NBLCK, 1)
        os.lseek(descriptor, 0, os.SEEK_SET)
else:
    import fcntl

    def _lock(descriptor: int) -> None:
        fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)


_PID_BYTES: Final = 20


class LockFile:
    """The exclusive right to a database, from the constructor to :meth:`release`."""

    def __init__(self, database_path: Path) -> None:
        """Take the lock of ``database_path``.

        Raises: DatabaseLockedError when another process (or this one, elsewhere) holds it;
        StorageUnavailableError when the lock file cannot be made.
        """
        if database_path.is_dir():
            raise StorageUnavailableError(f"cannot open {database_path}: it is a folder, expected a file")
        self._path = path = os.path.realpath(database_path) + ".lock"
        try:
            self._descriptor = os.open(path, os.O_RDWR | os.O_CREAT | getattr(os, "O_CLOEXEC", 0), 0o600)
        except OSError as error:
            raise StorageUnavailableError(f"cannot open {path}: {error.strerror}") from error
        try:
            _lock(self._descriptor)
        except OSError as error:
            holder_pid = _read_pid(self._descriptor)
            os.close(self._descriptor)
            raise DatabaseLockedError(str(database_path), holder_pid) from error
        self.last_alive_ms = _touched_ms(self._descriptor)
        """When the process that last had the lock was last known to run, ``None`` if it was never held."""
        # The number only makes the message to a refused process better: a full disk is no reason to stop here.
        with contextlib.suppress(OSError):
            os.ftruncate(self._descriptor, 0)
            os.write(self._descriptor, str(os.getpid()).encode("ascii"))
        self._is_held = True

    def beat(self) -> None:
        """Note that this process runs now: what `last_alive_ms` will say to the next one."""
        if self._is_held:
            os.utime(self._descriptor if os.utime in os.supports_fd else self._path)

    def release(self) -> None:
        """Give the lock back. A second call does nothing."""
        if self._is_held:
            self._is_held = False
            os.close(self._descriptor)


def _touched_ms(descriptor: int) -> int | None:
    status = os.fstat(descriptor)
    return status.st_mtime_ns // 1_000_000 if status.st_size else None


def _read_pid(descriptor: int) -> int | None:
    os.lseek(descriptor, 0, os.SEEK_SET)
    text = os.read(descriptor, _PID_BYTES)
    return int(text) if text.isdigit() else None
