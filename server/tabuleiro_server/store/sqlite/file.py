"""The file that is served: locked for one process, and watched over for as long as it is open.

The lock is the operating system's, on ``PATH.lock``: SQLite's own locks last for a transaction, and two servers
that take turns would each believe they alone know the rooms. It is freed when the process ends, however it
ends. The file itself stays, for deleting it would let two processes lock two files of the same name. Symbolic
links to one database share the lock of the file that they lead to. A database that is mounted alone into two
containers has a ``PATH.lock`` in each of them: the database itself is locked too for that, where this does not
get into the way of SQLite's own locks.

Whoever removes the database of a running server, or puts a backup in its place, leaves the server with a file
that nobody can find again. SQLite goes on writing to it, and what is acknowledged would be gone at the next
start. The same with the write-ahead log, but that can be made good: what it holds is brought to the file, and a
new one begun. Where it is cut short or overwritten nothing brings it back, and nothing is acknowledged any more.

The lock file tells how many events the last rooms had, so that it is known afterwards what was lost.
"""

from __future__ import annotations

import asyncio
import errno
import os
import re
import sqlite3
import struct
import sys
import time
from collections.abc import Callable, Mapping
from contextlib import ExitStack, suppress
from mmap import mmap
from pathlib import Path
from typing import Final, NamedTuple, NoReturn, TypeVar

import structlog

from tabuleiro.errors import DatabaseFormatError, DatabaseLockedError, StorageUnavailableError
from tabuleiro.ids import RoomCode, Seq
from tabuleiro_server.store.sqlite.connection import StandingConnection, ThreadConnection
from tabuleiro_server.store.sqlite.owners import PRIVATE, create_beside, owner_hint

T = TypeVar("T")

LOOK_EVERY_S: Final = 0.1
"""Time between two looks for the log: a kill takes what was stored since the last one, if the log is gone."""

LARGE_LOG_BYTES: Final = 64 * 1024 * 1024
"""A write-ahead log of this size is told of, and again when it has doubled."""

LOG_HURT: Final = (
    "the write-ahead log was cut short or overwritten while the file was served: what it held is lost; restart the"
    " server, which logs what is missing"
)

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
        """Lock an open database, until it is closed, against other claims of the same file by any path.

        Where there is no such lock, or one that SQLite's connections would run into (that of network file systems
        and of BSD), the file is served without. SQLite must not have the file open in this process yet.

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
_PROMISES_BYTES: Final = 4096
_PROMISE: Final = re.compile(r"^([A-Z0-9]+) ([0-9]{1,15})$", re.MULTILINE)

_HELD_ERRNOS: Final = frozenset({errno.EWOULDBLOCK, errno.EAGAIN, errno.EACCES, errno.EDEADLK})
"""The errors of a lock that somebody else holds; the last two on Windows."""


class LockFile:
    """The exclusive right to a database, from the constructor to :meth:`release`.

    ``is_serving`` is false for work on the file without serving it: `last_alive_ms` goes on telling of the last
    server.
    """

    def __init__(self, database_path: Path, *, is_serving: bool = True) -> None:
        """Take the lock of ``database_path``.

        Raises: DatabaseLockedError when another process (or this one, elsewhere) holds it;
        StorageUnavailableError when the lock file cannot be made, or the file system has no locks.
        """
        if os.path.isdir(database_path):
            raise StorageUnavailableError(f"cannot open {database_path}: it is a folder, expected a file")
        self._path = path = os.path.realpath(database_path) + ".lock"
        try:
            self._descriptor = _open_lock(path, database_path)
        except OSError as error:
            raise _cannot_open(path, error) from error
        try:
            _lock(self._descriptor)
        except OSError as error:
            holder_pid = _read_pid(self._descriptor)
            os.close(self._descriptor)
            if error.errno in _HELD_ERRNOS:
                raise DatabaseLockedError(str(database_path), holder_pid) from error
            raise StorageUnavailableError(f"cannot lock {path}: {error.strerror}") from error
        self.promised = _read_promises(self._descriptor)
        """The last events of the rooms that the last server has stored something in lately."""
        self.last_alive_ms = _touched_ms(self._descriptor)
        """The time at which the last holder of the lock was last known to run, ``None`` if it was never held."""
        self._is_held = True
        # The number only makes the message to a refused process better: a full disk is no reason to stop here.
        with suppress(OSError):
            self.promise(self.promised)
        if is_serving:
            os.utime(self._touchable())

    def promise(self, promised: Mapping[RoomCode, Seq]) -> None:
        """Write down the last events of some rooms that are on disk; no sign of life. Raises: OSError."""
        if self._is_held:
            lines = [str(os.getpid()), *(f"{room} {seq}" for room, seq in promised.items())]
            text = "".join(f"{line}\n" for line in lines).encode("ascii")
            self.promised = dict(promised)
            touched_ns = os.fstat(self._descriptor).st_mtime_ns
            os.lseek(self._descriptor, 0, os.SEEK_SET)
            os.write(self._descriptor, text)
            os.ftruncate(self._descriptor, len(text))
            os.utime(self._touchable(), ns=(touched_ns, touched_ns))

    def beat(self, now_ms: int) -> None:
        """Note that this process runs at ``now_ms``; the next one reads it in `last_alive_ms`."""
        if self._is_held:
            os.utime(self._touchable(), ns=(now_ms * 1_000_000, now_ms * 1_000_000))

    def _touchable(self) -> int | str:
        return self._descriptor if os.utime in os.supports_fd else self._path

    def release(self) -> None:
        """Give the lock back. A second call does nothing."""
        if self._is_held:
            self._is_held = False
            os.close(self._descriptor)


def _open_lock(path: str, database_path: Path) -> int:
    """Open the lock file, or make it. A link is not followed: root would write to whatever it leads to."""
    while True:
        with suppress(FileNotFoundError):
            flags = os.O_RDWR | getattr(os, "O_CLOEXEC", 0) | getattr(os, "O_NOFOLLOW", 0)
            return os.open(path, flags)
        with suppress(FileExistsError):
            return create_beside(path, database_path)


def _cannot_open(path: Path | str, error: OSError) -> StorageUnavailableError:
    hint = owner_hint(path) if isinstance(error, PermissionError) else ""
    return StorageUnavailableError(f"cannot open {path}: {error.strerror}{hint}")


def _touched_ms(descriptor: int) -> int | None:
    status = os.fstat(descriptor)
    return status.st_mtime_ns // 1_000_000 if status.st_size else None


def _read_pid(descriptor: int) -> int | None:
    os.lseek(descriptor, 0, os.SEEK_SET)
    text, _, _ = os.read(descriptor, _PID_BYTES).partition(b"\n")
    return int(text) if text.isdigit() else None


def _read_promises(descriptor: int) -> dict[RoomCode, Seq]:
    os.lseek(descriptor, 0, os.SEEK_SET)
    text = os.read(descriptor, _PROMISES_BYTES).decode("ascii", "replace")
    return {RoomCode(room): Seq(int(seq)) for room, seq in _PROMISE.findall(text)}


def read_promises(database_path: Path) -> dict[RoomCode, Seq]:
    """Return the last events of some rooms, as the last server has written them down; empty if it has not."""
    try:
        descriptor = os.open(os.path.realpath(database_path) + ".lock", os.O_RDONLY)
    except OSError:
        return {}
    try:
        return _read_promises(descriptor)
    finally:
        os.close(descriptor)


class FileEmptiedError(sqlite3.OperationalError):
    """The file was emptied while it was served. Nothing has been asked of SQLite yet."""

    sqlite_errorcode = sqlite3.SQLITE_LOCKED
    """The connection stays open: closed, it would write what the log holds into nothing, and remove the log."""


class LogLostError(sqlite3.OperationalError):
    """The write-ahead log was removed or replaced while it was in use. Nothing has been asked of SQLite yet."""

    sqlite_errorcode = sqlite3.SQLITE_LOCKED
    """The connection is well, and must stay open: nobody else can read the log that it has."""


class LogHurtError(sqlite3.OperationalError):
    """The write-ahead log was cut short or overwritten in use. Nothing has been asked of SQLite yet."""

    sqlite_errorcode = sqlite3.SQLITE_LOCKED
    """The connection stays as it is until the end: there is nothing that opening it again would mend."""


class _Frame(NamedTuple):
    """A frame of the log, from its salts to its end."""

    offset: int
    length: int
    salts: bytes
    checksum: bytes

    def is_in(self, log: int) -> bool:
        """Return True if the log holds the frame in its whole length; its page is not read through."""
        found = os.pread(log, self.length, self.offset)
        return len(found) == self.length and found.startswith(self.salts + self.checksum)


class _Log:
    """The write-ahead log and its index, kept open beside SQLite to see that the log holds what the index says.

    Closing the index takes SQLite's locks on it away: it has to stay open for as long as SQLite has it.
    Source: https://www.sqlite.org/walformat.html.
    """

    def __init__(self, paths: tuple[str, str]) -> None:
        """Open both. Raises: OSError; ValueError when the index is too short."""
        with ExitStack() as stack:
            self._log = os.open(paths[0], os.O_RDONLY | getattr(os, "O_CLOEXEC", 0))
            stack.callback(os.close, self._log)
            index = os.open(paths[1], os.O_RDWR | getattr(os, "O_CLOEXEC", 0))
            stack.callback(os.close, index)
            self.statuses = (os.fstat(self._log), os.fstat(index))
            # Read as SQLite reads it: that does not let go of the interpreter.
            self._index = mmap(index, 2 * _INDEX_HEAD.size + 4)
            stack.pop_all()
        self._index_descriptor = index
        self._seen: _Frame | None = None

    def holds_last_frame(self) -> bool:
        """Return False if the last frame of the log is not the one that was written, and still needed."""
        while True:
            last = self._last_frame()
            if last is None or last.is_in(self._log):
                return True
            if last == self._last_frame():  # else it was written meanwhile
                return False

    def holds_what_was_seen(self) -> bool:
        """Return False if the head of the log, or the frame that was the last one at the last look, has gone."""
        seen, self._seen = self._seen, self._last_frame()
        if seen is None or self._seen is None or seen.salts != self._seen.salts:
            return True
        is_there = seen.is_in(self._log) and os.pread(self._log, len(seen.salts), _SALTS_OFFSET) == seen.salts
        now = self._last_frame()
        return is_there or now is None or now.salts != seen.salts

    def forget(self) -> None:
        """Make SQLite read the log again, as after a crash, before it brings anything of it to the file."""
        self._index[: 2 * _INDEX_HEAD.size] = bytes(2 * _INDEX_HEAD.size)

    def close(self) -> None:
        """Close both, after SQLite."""
        self._index.close()
        os.close(self._index_descriptor)
        os.close(self._log)

    def _last_frame(self) -> _Frame | None:
        """Return the last frame that is needed; ``None`` if all are in the file.

        While the index is written to, it is not known either.
        """
        index = self._index[:]
        if index[: _INDEX_HEAD.size] != index[_INDEX_HEAD.size : -4]:
            return None
        is_made, page_size, count, *checksum, salts = _INDEX_HEAD.unpack_from(index)
        (in_file_count,) = struct.unpack("=I", index[-4:])
        if not is_made or count <= in_file_count:
            return None
        page_bytes = (page_size & 0xFE00) + ((page_size & 1) << 16)
        offset = _LOG_HEAD_BYTES + (count - 1) * (_FRAME_HEAD_BYTES + page_bytes) + _SALTS_OFFSET_IN_FRAME
        length = _FRAME_HEAD_BYTES - _SALTS_OFFSET_IN_FRAME + page_bytes
        return _Frame(offset, length, salts, struct.pack(">II", *checksum))


_INDEX_HEAD: Final = struct.Struct("=12xBxHI4xII8s8x")
"""Of the head of the index: if it is made, the size of a page, the count of frames, the checksum, the salts."""
_LOG_HEAD_BYTES: Final = 32
_FRAME_HEAD_BYTES: Final = 24
_SALTS_OFFSET: Final = 16
_SALTS_OFFSET_IN_FRAME: Final = 8


class ServedFile:
    """The database file, kept open and claimed: it is made if it is missing, readable by its owner alone.

    It must be opened before any connection to it in this process, and closed after all of them: on POSIX systems
    closing it takes their locks away.
    """

    def __init__(self, path: Path) -> None:
        """Open and claim the file.

        Raises: StorageUnavailableError when it cannot be opened; DatabaseFormatError when it has hard links, or is
        empty and has a write-ahead log; DatabaseLockedError when it is served by a path with another lock file.
        """
        self._path = path
        real_path = os.path.realpath(path)
        self._log_paths = (f"{real_path}-wal", f"{real_path}-shm")
        self._log: _Log | None = None
        self._is_hurt = False
        self._looks_at_s = 0.0
        self._told_from_bytes = LARGE_LOG_BYTES
        self._connections: list[ServedConnection] = []
        self._rescuing = asyncio.Lock()
        try:
            _check_has_one_name(path)
            self._descriptor: int | None = os.open(path, os.O_RDWR | os.O_CREAT, PRIVATE)
            self._opened = os.fstat(self._descriptor)
        except OSError as error:
            raise _cannot_open(path, error) from error
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
        """Refuse an empty file that has a write-ahead log, which SQLite would throw away."""
        log_path = self._log_paths[0]
        if not self._opened.st_size and os.path.exists(log_path) and os.path.getsize(log_path):
            reason = f"this file is missing or empty, and {log_path} is not; put the file back, or remove both"
            raise DatabaseFormatError(str(self._path), reason)

    def add(self, connection: ServedConnection) -> None:
        """Take in a connection that works on this file."""
        self._connections.append(connection)

    def check(self) -> None:
        """Check that file and log are those that were opened.

        Raises: LogLostError; LogHurtError; FileEmptiedError; sqlite3.OperationalError when the path leads
        elsewhere now.
        """
        if self._is_hurt:
            raise LogHurtError(LOG_HURT)
        # Every look at the disk lets go of the interpreter, and may have to wait for it: as few as possible.
        found = _status(self._path)
        if found is None or not os.path.samestat(self._opened, found):
            raise sqlite3.OperationalError(
                "the file was removed or replaced while it was served; put it back, or restart"
            )
        if not found.st_size:
            raise FileEmptiedError("the file was emptied while it was served; stop, and put a backup in its place")
        is_due = time.monotonic() >= self._looks_at_s
        if is_due and self._is_log_lost():
            raise LogLostError("the write-ahead log was removed while it was in use")
        if self._log is not None:
            is_whole = not is_due or self._log.holds_what_was_seen()
            if not (is_whole and self._log.holds_last_frame()):
                self._note_hurt_log()
        if is_due:
            self._looks_at_s = time.monotonic() + LOOK_EVERY_S

    def note_log(self) -> None:
        """Note which log, and which index of it, the connections have open, after SQLite has used them."""
        # Under Windows nobody can remove or cut an open file, and SQLite could not remove one that we keep open.
        if self._log is None and sys.platform != "win32":
            with suppress(OSError, ValueError):  # what SQLite has done is done: it is noted the next time
                self._log = _Log(self._log_paths)

    def _is_log_lost(self) -> bool:
        if self._log is None:
            return False
        found = [_status(path) for path in self._log_paths]
        if found[0] is not None:
            self._tell_of_size(found[0].st_size)
        return not all(
            now and os.path.samestat(then, now) for then, now in zip(self._log.statuses, found, strict=True)
        )

    def _tell_of_size(self, log_bytes: int) -> None:
        """Log that the write-ahead log has become large: it starts over only when nobody reads what it holds."""
        if log_bytes >= self._told_from_bytes:
            self._told_from_bytes = 2 * log_bytes
            log.warning(
                "write-ahead log is large: another program has been reading the database for long",
                path=str(self._path),
                log_bytes=log_bytes,
            )
        elif log_bytes < LARGE_LOG_BYTES:
            self._told_from_bytes = LARGE_LOG_BYTES

    def _note_hurt_log(self) -> NoReturn:
        self._is_hurt = True
        log.error(LOG_HURT, path=str(self._path))
        self.spare_file()
        raise LogHurtError(LOG_HURT)

    def spare_file(self) -> None:
        """Keep what was overwritten in a hurt log from the file, when the last connection brings the log there."""
        if self._is_hurt and self._log is not None:
            self._log.forget()

    async def rescue_log(self) -> None:
        """Bring a lost log to the file, and close all connections, to be opened again; do nothing if it is there.

        While one of them is open SQLite knows of what is in the lost log, and none must look for it in a new one.
        Raises: sqlite3.Error when the file does not take it, and then the connections stay as they are.
        """
        async with self._rescuing:
            if not self._is_log_lost():
                return
            flushed = [await connection.flush() for connection in self._connections]
            for connection in self._connections:
                await connection.close()
            self._let_log_go()
            if any(flushed):  # else SQLite itself has removed it, with the last connection
                log.warning("write-ahead log was removed: what it held is in the file", path=str(self._path))

    def _let_log_go(self) -> None:
        if self._log is not None:
            self._log.close()
            self._log = None

    def close(self) -> None:
        """Let the file go. A second call does nothing."""
        self._let_log_go()
        if self._descriptor is not None:
            os.close(self._descriptor)
            self._descriptor = None


def _status(path: Path | str) -> os.stat_result | None:
    """Return the status of ``path``, ``None`` when nothing is there. Raises: sqlite3.OperationalError."""
    try:
        return os.stat(path)
    except FileNotFoundError:
        return None
    except OSError as error:
        raise sqlite3.OperationalError(f"the file cannot be reached: {error.strerror}") from error


def _check_has_one_name(path: Path) -> None:
    """Refuse hard links: by another name, neither the lock nor the write-ahead log is shared."""
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
        """Run ``function`` after a check of the file.

        Raises: sqlite3.Error, also when the file is no longer the one served.
        """

        def checked(connection: sqlite3.Connection) -> T:
            self._file.check()
            outcome = function(connection)
            self._file.note_log()
            return outcome

        while True:
            try:
                return await super().run(checked)
            except LogLostError:
                await self._file.rescue_log()

    async def open(self) -> ThreadConnection:
        """Open the connection on a log that is in its place. Raises: sqlite3.Error."""
        await self._file.rescue_log()
        return await super().open()

    async def close(self) -> None:
        """Close the connection; see :meth:`StandingConnection.close`."""
        self._file.spare_file()
        await super().close()

    async def flush(self) -> bool:
        """Bring all that is committed from the log to the file; return False when the connection is not open.

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
