"""The lock that lets one process at a time serve a database.

SQLite's own locks last for a transaction; two servers that take turns would each believe they alone know the
rooms. The lock is the operating system's, on ``PATH.lock``: it is freed when the process ends, however it ends.
The file itself stays, for deleting it would let two processes lock two files of the same name. Symbolic links to
one database share the lock of the file that they lead to.

A database that is mounted alone into two containers has a ``PATH.lock`` in each of them. The database itself is
locked too for that, where this does not get into the way of SQLite's own locks.
"""

from __future__ import annotations

import contextlib
import errno
import os
import sys
from pathlib import Path
from typing import Final

import structlog

from tabuleiro.errors import DatabaseLockedError, StorageUnavailableError

log = structlog.get_logger(__name__)

if sys.platform == "win32":
    import msvcrt

    _LOCKED_BYTE: Final = 1 << 30
    """Far behind the process id, which others may read while the byte is locked."""

    def _lock(descriptor: int) -> None:
        os.lseek(descriptor, _LOCKED_BYTE, os.SEEK_SET)
        msvcrt.locking(descriptor, msvcrt.LK_NBLCK, 1)
        os.lseek(descriptor, 0, os.SEEK_SET)

    def claim_file(descriptor: int) -> None:
        """Do nothing: a lock here would keep SQLite's own connections out."""
else:
    import fcntl

    _PROBED_BYTE: Final = 0x4000_1000
    """Behind the bytes that SQLite locks."""

    def _lock(descriptor: int) -> None:
        fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)

    def claim_file(descriptor: int) -> None:
        """Lock an open database, until it is closed, against whoever claims the same file, by whatever path.

        Where there is no such lock, or one that SQLite's connections would run into (that of network file systems
        and of BSD), it is gone without. SQLite must not have the file open in this process yet.

        Raises: BlockingIOError when somebody else has claimed it.
        """
        try:
            _lock(descriptor)
        except BlockingIOError:
            raise
        except OSError as error:
            log.info("database not locked against other paths to it", reason=error.strerror)
            return
        try:
            fcntl.lockf(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB, 1, _PROBED_BYTE)
            fcntl.lockf(descriptor, fcntl.LOCK_UN, 1, _PROBED_BYTE)
        except OSError as error:
            fcntl.flock(descriptor, fcntl.LOCK_UN)
            log.info("database not locked against other paths to it", reason=error.strerror)


_PID_BYTES: Final = 20

_HELD_ERRNOS: Final = frozenset({errno.EWOULDBLOCK, errno.EAGAIN, errno.EACCES, errno.EDEADLK})
"""What a lock says that somebody else holds; the last two on Windows."""


class LockFile:
    """The exclusive right to a database, from the constructor to :meth:`release`.

    ``is_serving`` is false for who only works on the file: `last_alive_ms` goes on telling of the last server.
    """

    def __init__(self, database_path: Path, *, is_serving: bool = True) -> None:
        """Take the lock of ``database_path``.

        Raises: DatabaseLockedError when another process (or this one, elsewhere) holds it;
        StorageUnavailableError when the lock file cannot be made, or the file system has no locks.
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
            if error.errno in _HELD_ERRNOS:
                raise DatabaseLockedError(str(database_path), holder_pid) from error
            raise StorageUnavailableError(f"cannot lock {path}: {error.strerror}") from error
        self.last_alive_ms = _touched_ms(self._descriptor)
        """When the process that last had the lock was last known to run, ``None`` if it was never held."""
        self._is_held = True
        touched_ns = os.fstat(self._descriptor).st_mtime_ns
        # The number only makes the message to a refused process better: a full disk is no reason to stop here.
        with contextlib.suppress(OSError):
            os.ftruncate(self._descriptor, 0)
            os.write(self._descriptor, str(os.getpid()).encode("ascii"))
        if not is_serving:
            os.utime(self._touchable(), ns=(touched_ns, touched_ns))

    def beat(self) -> None:
        """Note that this process runs now: what `last_alive_ms` will say to the next one."""
        if self._is_held:
            os.utime(self._touchable())

    def _touchable(self) -> int | str:
        return self._descriptor if os.utime in os.supports_fd else self._path

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
