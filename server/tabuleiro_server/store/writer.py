"""The single writer: commits everything that waits at one moment as one group.

While a group is on its way to the disk the next one gathers; that is what makes many rooms cheap. The connection's
thread takes one group after the other by itself, so that it need not wait for a busy event loop in between. What a
group does is up to :mod:`.transaction`.
"""

from __future__ import annotations

import asyncio
import queue
import sqlite3
import time
from collections.abc import Callable
from contextlib import AbstractContextManager, nullcontext, suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final, TypeVar, cast

import structlog

from tabuleiro.errors import ConflictError, StorageUnavailableError, StoreError
from tabuleiro.ids import DurationMs
from tabuleiro_server.store.connection import StandingConnection, storage_error
from tabuleiro_server.store.figures import CommitFigures
from tabuleiro_server.store.transaction import Append, Call, Outcome, Write, commit_group

T = TypeVar("T")

STOP_LIMIT_MS: Final = DurationMs(5_000)

PATIENCE_S: Final = 0.05
"""How long the thread waits for the next write before it is free for other things, e.g. to be closed."""

log = structlog.get_logger(__name__)


@dataclass(slots=True)
class _Waiting:
    write: Write
    done: asyncio.Future[Any]


class Writer:
    """Takes writes from any number of tasks and answers each after the commit that holds it.

    Cancelling a write that waits: when its group has not begun yet it is not stored; when it has, it is stored
    or not like the rest of the group. The others are not touched. Whoever cancels and goes on must read the
    room again.
    """

    def __init__(
        self,
        connection: StandingConnection,
        path: Path,
        watched: Callable[[], AbstractContextManager[None]] = nullcontext,
    ) -> None:
        """Each group is written within ``watched()``; what that raises, a sqlite3.Error, refuses the group."""
        self.figures = CommitFigures()
        self._connection = connection
        self._path = path
        self._watched = watched
        self._waiting: queue.SimpleQueue[_Waiting | None] = queue.SimpleQueue()
        self._underway: list[_Waiting] = []
        self._wanted = asyncio.Event()
        self._loop: asyncio.AbstractEventLoop | None = None
        self._task: asyncio.Task[None] | None = None
        self._is_stopping = False
        self._is_given_up = False

    def start(self) -> None:
        """Start taking writes. Raises: StoreError when it has been started before."""
        if self._task is not None:
            raise StoreError("the writer can be started once only")
        self._loop = asyncio.get_running_loop()
        self._task = asyncio.create_task(self._commit_groups(), name="store-writer")

    async def stop(self, limit_ms: DurationMs = STOP_LIMIT_MS) -> None:
        """Refuse new writes and commit those that wait, for ``limit_ms`` at most.

        What is not on disk by then is answered with a StoreError. A second call does nothing more.
        """
        self._is_stopping = True
        self._waiting.put(None)
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

    def append(self, append: Append) -> asyncio.Future[None]:
        """Return a future that is done when the append is on disk.

        Raises, here or when it is awaited: ConflictError, StorageUnavailableError; StoreError for values that
        cannot be stored.
        """
        return self._submit(append)

    async def call(self, function: Callable[[sqlite3.Connection], T]) -> T:
        """Run ``function`` in the next group and return what it returned when the group is on disk.

        It may run twice, the first time undone. Raises: the StoreError that it raises; StoreError, with the cause,
        for anything else that it raises; StorageUnavailableError.
        """
        return cast("T", await self._submit(Call(function)))

    def _submit(self, write: Write) -> asyncio.Future[Outcome]:
        if self._loop is None or self._task is None or self._task.done() or self._is_stopping:
            raise StorageUnavailableError("the store is not running")
        done = self._loop.create_future()
        self._waiting.put(_Waiting(write, done))
        self.figures.waiting_count = self._waiting.qsize()
        self._wanted.set()
        return done

    async def _commit_groups(self) -> None:
        try:
            while not (self._is_stopping and self._waiting.empty()):
                await self._wanted.wait()
                self._wanted.clear()
                if not self._waiting.empty():
                    await self._commit_while_wanted()
        finally:
            # Only after a cancellation or a bug is anything left here.
            self._is_given_up = True
            for waiting in _wanted_of(self._take_all()):
                _settle(waiting.done, StorageUnavailableError("the store has stopped"))
            for waiting in self._underway:
                _settle(waiting.done, StoreError("the writer was stopped: this may be stored or not"))

    async def _commit_while_wanted(self) -> None:
        try:
            await self._connection.run(self._take_turns)
        except sqlite3.Error as error:
            self._refuse(_failure(error, self._path))
        except Exception as error:
            # Not what the disk says, but no memory, no thread, or a fault of ours outside of any one write. All
            # who wait are told, and the next group is another try: a writer that ended here would refuse every
            # room until a restart. A cancellation is no Exception and passes.
            log.exception("commit failed", writes_count=len(self._underway))
            self._refuse(_fault(error))

    def _take_turns(self, connection: sqlite3.Connection) -> None:
        """Commit what waits, group after group, until nothing comes. Runs in the connection's thread."""
        assert self._loop is not None
        while not self._is_given_up and (group := self._next_group()):
            started_ns = time.perf_counter_ns()
            with self._watched():
                outcomes = commit_group(connection, [waiting.write for waiting in group])
            duration_ns = time.perf_counter_ns() - started_ns
            self._loop.call_soon_threadsafe(self._answer, group, outcomes, duration_ns)
            self._underway = []

    def _next_group(self) -> list[_Waiting]:
        """Wait for a write, and put it underway with all that wait; nothing comes when it is empty."""
        with suppress(queue.Empty):
            while not self._underway:
                first = self._waiting.get(timeout=0.0 if self._is_stopping else PATIENCE_S)
                self._underway += _wanted_of([first, *self._take_all()])
        return self._underway

    def _take_all(self) -> list[_Waiting | None]:
        """Take what waits out of the queue; the event loop and the thread may both be at it."""
        taken = []
        with suppress(queue.Empty):
            while True:
                taken.append(self._waiting.get_nowait())
        self.figures.waiting_count = self._waiting.qsize()
        return taken

    def _answer(self, group: list[_Waiting], outcomes: list[Outcome], duration_ns: int) -> None:
        self._count(group, outcomes, duration_ns)
        for waiting, outcome in zip(group, outcomes, strict=True):
            if isinstance(outcome, StoreError):
                _log_fault(outcome)
            _settle(waiting.done, outcome)

    def _refuse(self, failure: StoreError) -> None:
        """Tell the group that was underway; where the thread has not come to any, all who wait."""
        group, self._underway = self._underway or _wanted_of(self._take_all()), []
        self.figures.failed_commit_count += bool(group)
        for waiting in group:
            _settle(waiting.done, failure)

    def _count(self, group: list[_Waiting], outcomes: list[Outcome], duration_ns: int) -> None:
        figures = self.figures
        figures.commit_count += 1
        figures.group_sizes.observe(len(group))
        figures.commit_durations_us.observe(duration_ns // 1_000)
        for waiting, outcome in zip(group, outcomes, strict=True):
            if isinstance(outcome, ConflictError):
                figures.conflict_count += 1
            elif isinstance(waiting.write, Append) and outcome is None:
                figures.append_count += 1
                figures.event_count += len(waiting.write.events)


def _wanted_of(taken: list[_Waiting | None]) -> list[_Waiting]:
    """What is to be stored of what was in the queue: not what was cancelled."""
    return [waiting for waiting in taken if waiting is not None and not waiting.done.done()]


def _failure(error: sqlite3.Error, path: Path) -> StoreError:
    failure = storage_error(error, path)
    failure.__cause__ = error
    return failure


def _fault(error: Exception) -> StoreError:
    failure = StoreError(f"the writer stumbled: this may be stored or not: {error!r}")
    failure.__cause__ = error
    return failure


def _log_fault(refusal: StoreError) -> None:
    """Tell of a fault of ours in one write; refusals proper have no cause and are for their callers alone."""
    if refusal.__cause__ is not None:
        log.error("write failed", reason=str(refusal), exc_info=refusal.__cause__)


def _settle(done: asyncio.Future[Any], outcome: Outcome) -> None:
    if done.done():
        return
    if isinstance(outcome, StoreError):
        done.set_exception(outcome)
    else:
        done.set_result(outcome)
