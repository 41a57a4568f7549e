"""The single writer: a task that commits everything waiting at one moment as one group.

While a group is on its way to the disk the next one gathers; that is what makes many rooms cheap. A group is
one hop to the connection's thread and one transaction there. A write that is refused (a conflict, a name taken,
a value that SQLite cannot hold) or that stumbles over a fault of ours is left out and the others go through. A
fault of the storage undoes the whole group.
"""

from __future__ import annotations

import asyncio
import contextlib
import sqlite3
import time
from collections.abc import Callable, Collection, Sequence
from functools import partial
from pathlib import Path
from typing import Any, Final, TypeVar, cast

import msgspec
import structlog

from tabuleiro.errors import ConflictError, StorageUnavailableError, StoreError
from tabuleiro.ids import DurationMs, RoomCode, Seq
from tabuleiro_server.metrics import CommitMetrics
from tabuleiro_server.store.port import STOP_LIMIT_MS, Rows, StoredEvent
from tabuleiro_server.store.sqlite.connection import StandingConnection, primary_code, storage_error
from tabuleiro_server.store.sqlite.queries import insert_events, last_seqs, upsert_matches, upsert_rooms

_REFUSED_VALUES: Final = (
    sqlite3.IntegrityError,
    sqlite3.DataError,
    sqlite3.InterfaceError,
    sqlite3.ProgrammingError,
    OverflowError,
    UnicodeEncodeError,
)
"""The errors of Python and SQLite for the values of one write, rather than for the state of the storage."""


_KNOWN_ROOMS_COUNT: Final = 10_000
"""The rooms whose last events are kept in memory: nobody else adds to the log of a file that is served."""


LATEST_ROOMS_COUNT: Final = 32
"""The rooms that the lock file tells of: a lost log lacks what was stored last, in whatever room."""


class Append(msgspec.Struct, frozen=True):
    """Events to add behind ``expected_seq``, with the rows of the query tables that follow from them."""

    room: RoomCode
    expected_seq: Seq
    events: Sequence[StoredEvent]
    rows: Rows


class Call(msgspec.Struct, frozen=True):
    """Any other write: ``function`` runs in the group's transaction and may refuse with a StoreError."""

    function: Callable[[sqlite3.Connection], Any]


Write = Append | Call
Outcome = Any
"""The value that the write returned (``None`` for an append), or the StoreError that refused it.

A StoreError with a cause tells of a fault of ours."""


def commit_group(
    connection: sqlite3.Connection, writes: Sequence[Write], known_seqs: dict[RoomCode, Seq]
) -> list[Outcome]:
    """Run the writes in one transaction and commit it; one outcome for each, in their order.

    ``known_seqs`` are the last events of rooms, as far as they are known from the groups before, and are kept up.

    Raises: sqlite3.Error, and then nothing of the group is stored.
    """
    try:
        return _commit_together(connection, writes, known_seqs)
    except _REFUSED_VALUES:
        return _commit(connection, writes, _append_each)
    except sqlite3.Error as error:
        if primary_code(error) == sqlite3.SQLITE_CORRUPT:
            # Only those whose rows lie on the damaged page have to be refused; no transaction that came upon it
            # can be committed.
            return [_commit_alone(connection, write) for write in writes]
        if primary_code(error) == sqlite3.SQLITE_FULL:
            _make_room(connection)
        raise
    except Exception:
        # A fault of ours in one append, which is told from the others, and answered for, by adding each alone.
        return _commit(connection, writes, _append_each)


def _commit_together(
    connection: sqlite3.Connection, writes: Sequence[Write], known_seqs: dict[RoomCode, Seq]
) -> list[Outcome]:
    if len(known_seqs) > _KNOWN_ROOMS_COUNT:
        known_seqs.clear()
    try:
        return _commit(connection, writes, partial(_append_together, known_seqs))
    except BaseException:
        known_seqs.clear()  # they may count events of this group, which is not stored
        raise


def _commit_alone(connection: sqlite3.Connection, write: Write) -> Outcome:
    try:
        return _commit(connection, [write], _append_each)[0]
    except sqlite3.Error as error:
        if primary_code(error) == sqlite3.SQLITE_CORRUPT:
            return _damage(error)
        return StorageUnavailableError(str(error))


def _damage(error: sqlite3.Error) -> StoreError:
    return StoreError(
        f"what this changes is damaged in the file ({error}); stop the server and run `tabuleiro db rebuild`"
    )


def _commit(
    connection: sqlite3.Connection,
    writes: Sequence[Write],
    append: Callable[[sqlite3.Connection, Sequence[Append]], list[StoreError | None]],
) -> list[Outcome]:
    connection.execute("BEGIN IMMEDIATE")
    try:
        refusals = iter(append(connection, [write for write in writes if isinstance(write, Append)]))
        outcomes = [
            next(refusals) if isinstance(write, Append) else _run_alone(connection, write.function)
            for write in writes
        ]
    except BaseException:
        _roll_back(connection)
        raise
    try:
        connection.execute("COMMIT")
    except sqlite3.Error:
        _roll_back(connection)
        _overwrite_refused_group(connection)
        raise
    return outcomes


def _roll_back(connection: sqlite3.Connection) -> None:
    if connection.in_transaction:
        connection.execute("ROLLBACK")


def _make_room(connection: sqlite3.Connection) -> None:
    """Write the log to its place in the file, so that it starts over in the space it has.

    Megabytes of it may be all that is needed until somebody clears the disk up.
    """
    with contextlib.suppress(sqlite3.Error):  # there may be no room for that either
        connection.execute("PRAGMA wal_checkpoint(PASSIVE)").fetchall()


def _overwrite_refused_group(connection: sqlite3.Connection) -> None:
    """Make sure that a group whose flush to the disk failed does not come back.

    It stands complete in the write-ahead log, behind what counts as committed: a start after a crash would take it
    for committed too. Whatever is written next comes in its place, so something is, that nobody reads.
    """
    with contextlib.suppress(sqlite3.Error):  # the disk may refuse again, it is the writing that counts
        value = connection.execute("PRAGMA user_version").fetchone()[0]
        connection.execute(f"PRAGMA user_version = {1 - value}")


def _append_together(
    known_seqs: dict[RoomCode, Seq], connection: sqlite3.Connection, appends: Sequence[Append]
) -> list[StoreError | None]:
    """Add the appends that fit, table by table; return a conflict in the place of each other one."""
    unknown = {append.room for append in appends if append.room not in known_seqs}
    if unknown:
        known_seqs.update(last_seqs(connection, list(unknown)))
    refusals: list[StoreError | None] = []
    accepted: list[Append] = []
    for append in appends:
        room = append.room
        if known_seqs[room] == append.expected_seq:
            accepted.append(append)
            refusals.append(None)
            known_seqs[room] = Seq(append.expected_seq + len(append.events))
        else:
            refusals.append(ConflictError(room, append.expected_seq, known_seqs[room]))
    insert_events(connection, [(append.room, event) for append in accepted for event in append.events])
    upsert_rooms(connection, [append.rows.room for append in accepted])
    upsert_matches(connection, [row for append in accepted for row in append.rows.matches])
    return refusals


def _append_each(connection: sqlite3.Connection, appends: Sequence[Append]) -> list[StoreError | None]:
    """Add one append after the other, leaving out those with values that cannot be stored."""
    return [_run_alone(connection, partial(_append_alone, append)) for append in appends]


def _append_alone(append: Append, connection: sqlite3.Connection) -> StoreError | None:
    return _append_together({}, connection, [append])[0]


def _run_alone(connection: sqlite3.Connection, function: Callable[[sqlite3.Connection], Any]) -> Outcome:
    """Run one write so that its refusal, or a fault of ours in it, undoes it alone."""
    connection.execute("SAVEPOINT alone")
    try:
        outcome = function(connection)
    except StoreError as error:
        outcome = error
    except _REFUSED_VALUES as error:
        outcome = StoreError(f"this cannot be stored: {error}")
    except sqlite3.Error as error:
        if primary_code(error) != sqlite3.SQLITE_CORRUPT or not connection.in_transaction:
            raise
        outcome = _damage(error)
    except Exception as error:
        # Whoever wrote the function made a mistake; whoever else is in the group did not. Nothing is hidden: the
        # caller gets it as the cause of this error. Nothing is cancelled in this thread, so nothing is swallowed.
        outcome = StoreError(f"this write failed by a fault of the program: {error!r}")
        outcome.__cause__ = error
    if isinstance(outcome, StoreError):
        connection.execute("ROLLBACK TO alone")
    connection.execute("RELEASE alone")
    return outcome


T = TypeVar("T")

log = structlog.get_logger(__name__)


class _Waiting(msgspec.Struct):
    write: Write
    done: asyncio.Future[Any]


class Writer:
    """Takes writes from any number of tasks and answers each after the commit that holds it.

    Cancelling a write that waits: when its group has not begun yet it is not stored; when it has, it is stored
    or not like the rest of the group. The others are not touched. Whoever cancels and goes on must read the
    room again.
    """

    def __init__(self, connection: StandingConnection, path: Path) -> None:
        self.metrics = CommitMetrics()
        self.latest_seqs: dict[RoomCode, Seq] = {}
        """The last events of the rooms that were stored last, the latest room at the end."""
        self._connection = connection
        self._path = path
        self._waiting: list[_Waiting] = []
        self._wanted = asyncio.Event()
        self._task: asyncio.Task[None] | None = None
        self._is_stopping = False
        self._known_seqs: dict[RoomCode, Seq] = {}

    def start(self) -> None:
        """Start taking writes. Raises: StoreError when it has been started before."""
        if self._task is not None:
            raise StoreError("the writer can be started once only")
        self._task = asyncio.create_task(self._commit_groups(), name="store-writer")

    async def stop(self, limit_ms: DurationMs = STOP_LIMIT_MS) -> None:
        """Refuse new writes and commit those that wait, for ``limit_ms`` at most.

        What is not on disk by then is answered with a StoreError. A second call does nothing more.
        """
        self._is_stopping = True
        self._wanted.set()
        task = self._task
        if task is None:
            return
        await asyncio.wait({task}, timeout=limit_ms / 1000)
        if not task.done():
            task.cancel()
            await asyncio.wait({task})
        if not task.cancelled():
            task.result()

    def submit(self, write: Write) -> asyncio.Future[Any]:
        """Return a future that is done when the write is on disk.

        Raises, here or when it is awaited: ConflictError, StorageUnavailableError; StoreError for values that
        cannot be stored.
        """
        if self._task is None or self._task.done() or self._is_stopping:
            raise StorageUnavailableError("the store is not running")
        done = self._task.get_loop().create_future()
        self._waiting.append(_Waiting(write, done))
        self.metrics.waiting_count += 1
        self._wanted.set()
        return done

    async def call(self, function: Callable[[sqlite3.Connection], T]) -> T:
        """Run ``function`` in the next group and return what it returned when the group is on disk.

        It may run twice, the first time undone. Raises: the StoreError that it raises; StoreError, with the cause,
        for anything else that it raises; StorageUnavailableError.
        """
        return cast("T", await self.submit(Call(function)))

    def forget(self, rooms: Collection[RoomCode]) -> None:
        """Look for the last events of rooms again: they were removed."""
        for room in rooms:
            self._known_seqs.pop(room, None)

    async def _commit_groups(self) -> None:
        group: list[_Waiting] = []
        try:
            while self._waiting or not self._is_stopping:
                await self._wanted.wait()
                self._wanted.clear()
                taken, self._waiting = self._waiting, []
                self.metrics.waiting_count -= len(taken)
                group = [waiting for waiting in taken if not waiting.done.done()]
                if group:
                    await self._commit(group)
        finally:
            # Only after a cancellation or a bug is anything left here.
            for waiting in group:
                _settle(waiting.done, StoreError("the writer was stopped: this may be stored or not"))
            for waiting in self._waiting:
                _settle(waiting.done, StorageUnavailableError("the store has stopped"))

    async def _commit(self, group: list[_Waiting]) -> None:
        writes = [waiting.write for waiting in group]
        started_ns = time.perf_counter_ns()
        try:
            outcomes = await self._connection.run(
                lambda connection: commit_group(connection, writes, self._known_seqs)
            )
        except sqlite3.Error as error:
            self.metrics.failed_commit_count += 1
            for waiting in group:
                _settle(waiting.done, _failure(error, self._path))
            return
        except Exception as error:
            # Not what the disk says, but no memory, no thread, or a fault of ours outside of any one write. All
            # who wait are told, and the next group is another try: a writer that ended here would refuse every
            # room until a restart. A cancellation is no Exception and passes.
            self.metrics.failed_commit_count += 1
            log.exception("commit failed", writes_count=len(group))
            for waiting in group:
                _settle(waiting.done, _fault(error))
            return
        self._count(writes, outcomes, time.perf_counter_ns() - started_ns)
        for waiting, outcome in zip(group, outcomes, strict=True):
            if isinstance(outcome, StoreError):
                _log_fault(outcome)
            _settle(waiting.done, outcome)

    def _count(self, writes: list[Write], outcomes: list[Outcome], duration_ns: int) -> None:
        metrics = self.metrics
        metrics.commit_count += 1
        metrics.group_sizes.observe(len(writes))
        metrics.commit_durations_us.observe(duration_ns // 1_000)
        for write, outcome in zip(writes, outcomes, strict=True):
            if isinstance(outcome, ConflictError):
                metrics.conflict_count += 1
            elif isinstance(write, Append) and outcome is None:
                metrics.append_count += 1
                metrics.event_count += len(write.events)
                self.latest_seqs.pop(write.room, None)
                self.latest_seqs[write.room] = Seq(write.expected_seq + len(write.events))
        while len(self.latest_seqs) > LATEST_ROOMS_COUNT:
            del self.latest_seqs[next(iter(self.latest_seqs))]


def _failure(error: sqlite3.Error, path: Path) -> StoreError:
    failure = storage_error(error, path)
    failure.__cause__ = error
    return failure


def _fault(error: Exception) -> StoreError:
    failure = StoreError(f"the writer stumbled: this may be stored or not: {error!r}")
    failure.__cause__ = error
    return failure


def _log_fault(refusal: StoreError) -> None:
    """Log a fault of ours in one write; refusals proper have no cause and are for their callers alone."""
    if refusal.__cause__ is not None:
        log.error("write failed", reason=str(refusal), exc_info=refusal.__cause__)


def _settle(done: asyncio.Future[Any], outcome: Outcome) -> None:
    if done.done():
        return
    if isinstance(outcome, StoreError):
        done.set_exception(outcome)
    else:
        done.set_result(outcome)
