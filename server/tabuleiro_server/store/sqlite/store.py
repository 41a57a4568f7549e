"""The store in one SQLite file: opened for serving, with one connection that writes and one that reads."""

from __future__ import annotations

import asyncio
import contextlib
import sqlite3
from collections.abc import Collection, Mapping, Sequence
from pathlib import Path
from typing import Final

import structlog

from tabuleiro.errors import DatabaseFormatError, StorageUnavailableError, StoreError, TakenOverError
from tabuleiro.ids import AccountId, DurationMs, RoomCode, Seq, TimestampMs
from tabuleiro_server.metrics import CommitMetrics
from tabuleiro_server.store.port import (
    BEFORE_FIRST,
    FIRST_INCARNATION,
    STOP_LIMIT_MS,
    Incarnation,
    MatchRow,
    NodeId,
    NodeRow,
    Ownership,
    Replay,
    RoomRow,
    Rows,
    Store,
    StoredEvent,
)
from tabuleiro_server.store.sqlite.accounts import SqliteAccounts
from tabuleiro_server.store.sqlite.admin import copy_database
from tabuleiro_server.store.sqlite.connection import ConnectionSettings, Reader, Synchronous, storage_error
from tabuleiro_server.store.sqlite.file import LockFile, ServedConnection, ServedFile
from tabuleiro_server.store.sqlite.queries import (
    count_rooms,
    delete_events,
    delete_rows_of,
    missing_events,
    select_codes_without_maker,
    select_due_rooms,
    select_events,
    select_matches,
    select_newest_ms,
    select_openings,
    select_room,
    select_rooms,
    write_makers,
)
from tabuleiro_server.store.sqlite.repair import mend_query_tables, take_up_marked_rows
from tabuleiro_server.store.sqlite.schema import (
    MIGRATIONS,
    apply_migrations,
    check_format,
    schema_version,
)
from tabuleiro_server.store.sqlite.writer import Append, Writer
from tabuleiro_server.store.tables import Migration, check_numbers

TAKEN_OVER_COUNT: Final = 10_000
"""Rooms whose owners are known; the last owner of one that was taken over before those is no longer checked."""

log = structlog.get_logger(__name__)


class SqliteStore(Store):
    """A file that this process alone serves; see :class:`.Store` for what each method promises."""

    def __init__(self, settings: ConnectionSettings, lock: LockFile, file: ServedFile) -> None:
        """Wrap a file that is ready. Use :meth:`open`."""
        self._lock = lock
        self._file = file
        self._reading = ServedConnection(settings.connect_reader, file)
        self._writing = ServedConnection(settings.connect, file)
        self.reader = Reader(self._reading, settings.path)
        self.writer = Writer(self._writing, settings.path)
        self._accounts = SqliteAccounts(self.reader, self.writer)
        # In memory: nobody outside of this process can own a room of a file that it has locked.
        self._incarnations: dict[RoomCode, Incarnation] = {}
        self._takeovers_count = 0

    @classmethod
    async def open(
        cls,
        path: Path,
        replay: Replay,
        *,
        synchronous: Synchronous = "FULL",
        busy_timeout_ms: int = 2_000,
        migrations: Sequence[Migration] = MIGRATIONS,
        connection_class: type[sqlite3.Connection] = sqlite3.Connection,
    ) -> SqliteStore:
        """Lock the file, make it if it is missing, bring its schema to the newest version, and open it.

        Damaged query tables are rebuilt by ``replay``. A file that needs migrating is copied first, to
        ``NAME.schema-N.backup`` beside it. The folder must exist. See :class:`.ConnectionSettings` for
        ``synchronous``, ``busy_timeout_ms`` and ``connection_class``.

        Raises: DatabaseLockedError when another server has it; DatabaseFormatError when it is not ours or newer
        than this program, is damaged or has hard links; StorageUnavailableError when it cannot be opened or
        written.
        """
        settings = ConnectionSettings(path, synchronous, busy_timeout_ms, connection_class)
        lock = LockFile(path)
        try:
            file = ServedFile(path)
        except BaseException:
            lock.release()
            raise
        store = cls(settings, lock, file)
        try:
            await asyncio.to_thread(_prepare, settings, migrations, replay)
            await store._writing.open()
            await store._reading.open()
            await store._compare_with_promises(path)
        except sqlite3.Error as error:
            await store.close()
            raise storage_error(error, path) from error
        except BaseException:
            await store.close()
            raise
        store.writer.start()
        return store

    async def _compare_with_promises(self, path: Path) -> None:
        """Log what the server before this one has stored, and the file does not hold."""
        promised = self._lock.promised
        with contextlib.suppress(StoreError):  # events that cannot be read are found when their room is
            for finding in await self.reader.read(lambda connection: missing_events(connection, promised)):
                log.error("stored events are missing", path=str(path), finding=finding)

    async def stop(self, limit_ms: DurationMs = STOP_LIMIT_MS) -> None:
        """Refuse new writes and commit those that wait."""
        await self.writer.stop(limit_ms)

    async def close(self) -> None:
        """Close both connections and free the lock.

        All of it is done also when the waiting is cancelled: a process waits for the threads of its connections.
        """
        async with contextlib.AsyncExitStack() as stack:
            stack.callback(self._lock.release)
            stack.callback(self._file.close)
            stack.push_async_callback(self._writing.close)
            stack.push_async_callback(self._reading.close)
            await self.stop()

    @property
    def accounts(self) -> SqliteAccounts:
        """The guests."""
        return self._accounts

    @property
    def peers(self) -> None:
        """No other server has the file."""

    @property
    def metrics(self) -> CommitMetrics:
        """Counts of commits, group sizes and durations."""
        return self.writer.metrics

    @property
    def last_alive_ms(self) -> int | None:
        """The last sign of life of a server, in milliseconds since 1970 UTC; ``None`` for a new file."""
        return self._lock.last_alive_ms

    @property
    def trouble(self) -> str:
        """Empty: whoever wants to store something is told about a fault of the disk."""
        return ""

    def beat(self, now_ms: TimestampMs, rooms_count: int = 0) -> None:
        """Note on the lock file that the database is being served now."""
        if self.writer.latest_seqs != self._lock.promised:
            self._promise()
        self._lock.beat(now_ms)

    def _promise(self) -> None:
        """Write down beside the file what it has to hold from now on."""
        with contextlib.suppress(OSError):  # a full disk keeps nobody from playing on
            self._lock.promise(self.writer.latest_seqs)

    async def clock_ms(self) -> None:
        """Return nothing: this machine's clock is the only one."""

    async def newest_ms(self) -> TimestampMs | None:
        """Return the time of the newest event of any room, ``None`` before the first."""
        return await self.reader.read(select_newest_ms)

    async def other_nodes(self, *, is_counting: bool = False) -> list[NodeRow]:
        """Return the other nodes that are alive: there can be none."""
        return []

    async def take_rooms(self, *, wanted: bool) -> None:
        """Do nothing: there is nobody to take rooms from."""

    async def take_over(self, room: RoomCode) -> Ownership:
        """Become the owner of a room."""
        if await self.room(room) is None:
            return Ownership(FIRST_INCARNATION)
        self._takeovers_count += 1
        self._incarnations.pop(room, None)
        self._incarnations[room] = incarnation = Incarnation(self._takeovers_count)
        while len(self._incarnations) > TAKEN_OVER_COUNT:
            del self._incarnations[next(iter(self._incarnations))]
        return Ownership(incarnation)

    def release(self, room: RoomCode, incarnation: Incarnation) -> None:
        """Do nothing: there is nobody else to take the room over."""

    async def disown(self, room: RoomCode) -> None:
        """Do nothing: nobody hands rooms over."""

    async def hand_over(self, room: RoomCode, incarnation: Incarnation, node: NodeId) -> None:
        """Refuse: there is nobody to take the room over. Raises: StorageUnavailableError."""
        raise StorageUnavailableError(f"room {room} cannot be moved: one server has this file to itself")

    def append(
        self,
        room: RoomCode,
        expected_seq: Seq,
        events: Sequence[StoredEvent],
        rows: Rows,
        incarnation: Incarnation = FIRST_INCARNATION,
    ) -> asyncio.Future[None]:
        """Add events and their rows in the next group: done after its commit."""
        if incarnation != self._incarnations.get(room, incarnation):
            raise TakenOverError(room)
        check_numbers(room, expected_seq, events)
        return self.writer.submit(Append(room, expected_seq, events, rows))

    async def remove(self, rooms: Collection[RoomCode]) -> None:
        """Remove rooms with their events and all rows."""

        def delete(connection: sqlite3.Connection) -> None:
            for room in rooms:
                delete_events(connection, room)
                delete_rows_of(connection, room)

        if any(self.writer.latest_seqs.pop(room, None) for room in rooms):
            self._promise()
        await self.writer.call(delete)
        self.writer.forget(rooms)
        for room in rooms:
            self._incarnations.pop(room, None)

    async def load(self, room: RoomCode, after_seq: Seq = BEFORE_FIRST) -> list[StoredEvent]:
        """Return the room's events behind ``after_seq`` in order."""
        return await self.reader.read(lambda connection: select_events(connection, room, after_seq))

    async def rooms_without_maker(self) -> dict[RoomCode, StoredEvent]:
        """Return the first event of every room whose row names no maker, damaged rooms left out."""
        return await self.reader.read(
            lambda connection: select_openings(connection, select_codes_without_maker(connection))
        )

    async def note_makers(self, makers: Mapping[RoomCode, AccountId]) -> None:
        """Write into rows that name no maker who it is."""
        await self.writer.call(lambda connection: write_makers(connection, makers))

    async def count_rooms(self, maker: AccountId, phases: Collection[str]) -> int:
        """Return the number of rooms in any of ``phases`` that an account has made."""
        return await self.reader.read(lambda connection: count_rooms(connection, maker, phases))

    async def rooms(self, phases: Collection[str] | None = None) -> list[RoomRow]:
        """Return the rows of the rooms in any of ``phases``, by code."""
        return await self.reader.read(lambda connection: select_rooms(connection, phases))

    async def room(self, code: RoomCode) -> RoomRow | None:
        """Return the room's row, ``None`` when there is none."""
        return await self.reader.read(lambda connection: select_room(connection, code))

    async def lost_rooms(self, rooms: Mapping[RoomCode, Incarnation]) -> dict[RoomCode, str | None]:
        """Return the rooms that other nodes have taken over: there can be none."""
        return {}

    async def due_rooms(self, before_ms: TimestampMs) -> list[RoomCode]:
        """Return the rooms whose deadline is at ``before_ms`` or earlier, the earliest first."""
        return await self.reader.read(lambda connection: select_due_rooms(connection, before_ms))

    async def matches(self, room: RoomCode) -> list[MatchRow]:
        """Return the room's matches by number."""
        return await self.reader.read(lambda connection: select_matches(connection, room))


def _prepare(settings: ConnectionSettings, migrations: Sequence[Migration], replay: Replay) -> None:
    path = settings.path
    with contextlib.closing(settings.connect()) as connection:
        version = check_format(connection, str(path), migrations[-1].number)
        mode = connection.execute("PRAGMA journal_mode = WAL").fetchone()[0]
        if mode != "wal":
            raise DatabaseFormatError(
                str(path), "this file system does not allow a write-ahead log; choose another"
            )
        if version:
            mend_query_tables(connection, path, replay)
            version = schema_version(connection)
        if 0 < version < migrations[-1].number:
            backup = path.with_name(f"{path.name}.schema-{version}.backup")
            copy_database(connection, path, backup)
            log.info("database copied before it is changed", copy=str(backup), from_schema=version)
        apply_migrations(connection, migrations, version)
        take_up_marked_rows(connection, replay)
