"""The single writer: a task that commits everything waiting at one moment as one group.

While a group is on its way to the disk the next one gathers; that is what makes many rooms cheap. What a group
does is up to :mod:`.transaction`, which runs in the connection's thread: one hop a group.
"""

from __future__ import annotations

import asyncio
import sqlite3
import time
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final, TypeVar, cast

import structlog

from tabuleiro.errors import ConflictError, StorageUnavailableError, StoreError
from tabuleiro.ids import DurationMs
from tabuleiro_server.metrics import CommitMetrics
from tabuleiro_server.store.connection import StandingConnection, storage_error
from tabuleiro_server.store.transaction import Append, Call, Outcome, Write, commit_group

T = TypeVar("T")

STOP_LIMIT_MS: Final = DurationMs(5_000)

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

    def __init__(self, connection: StandingConnection, path: Path) -> None:
        self.metrics = CommitMetrics()
        self._connection = connection
        self._path = path
        self._waiting: list[_Waiting] = []
        self._wanted = asyncio.Event()
        self._task: asyncio.Task[None] | None = None
        self._is_stopping = False

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
        if self._task is None or self._task.done() or self._is_stopping:
            raise StorageUnavailableError("the store is not running")
        done = asyncio.get_running_loop().create_future()
        self._waiting.append(_Waiting(write, done))
        self.metrics.waiting_count += 1
        self._wanted.set()
        return done

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
            outcomes = await self._connection.run(lambda connection: commit_group(connection, writes))
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
