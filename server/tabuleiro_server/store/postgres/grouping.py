"""Small changes that are asked for at one time, written in one statement: each commit waits for the disk.

When a node gives its rooms away, another one is asked for all of them at once.
"""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable, Coroutine, Hashable, Mapping, Sequence
from typing import Final, Generic, TypeVar

GROUP_COUNT: Final = 500
"""Most changes in one statement."""

ChangeT = TypeVar("ChangeT", bound=Hashable)
ResultT = TypeVar("ResultT")


class Grouped(Generic[ChangeT, ResultT]):
    """Writes the changes that are asked for while others are being written in one statement, after those.

    Args:
        together: Writes several different changes, and returns what came of each. It waits for nobody: a change
            that another connection is in the way of is left out.
        alone: Writes one change, after whoever is in its way.
    """

    def __init__(
        self,
        together: Callable[[Sequence[ChangeT]], Awaitable[Mapping[ChangeT, ResultT]]],
        alone: Callable[[ChangeT], Awaitable[ResultT]],
    ) -> None:
        self._together = together
        self._alone = alone
        self._waiting: list[tuple[ChangeT, asyncio.Future[ResultT]]] = []
        self._writing: asyncio.Task[None] | None = None
        self._tasks: set[asyncio.Task[None]] = set()

    async def write(self, change: ChangeT) -> ResultT:
        """Return what came of a change; it is carried through also when the wait for it is cancelled.

        Raises: what ``together`` and ``alone`` raise.
        """
        done: asyncio.Future[ResultT] = asyncio.get_running_loop().create_future()
        self._waiting.append((change, done))
        if self._writing is None or self._writing.done():
            self._writing = self._start(self._write_groups())
        return await done

    async def finish(self, limit_s: float) -> None:
        """Wait for what was asked for, ``limit_s`` seconds at most."""
        if self._tasks:
            await asyncio.wait(self._tasks, timeout=limit_s)

    def _start(self, work: Coroutine[None, None, None]) -> asyncio.Task[None]:
        task = asyncio.create_task(work, name="store-group")
        self._tasks.add(task)
        task.add_done_callback(self._tasks.discard)
        return task

    async def _write_groups(self) -> None:
        while self._waiting:
            group = self._next_group()
            try:
                results = await self._together(list(group))
            except Exception as error:
                for done in group.values():
                    _fail(done, error)
                continue
            for change, done in group.items():
                if change not in results:
                    self._start(self._write_alone(change, done))
                elif not done.done():
                    done.set_result(results[change])

    def _next_group(self) -> dict[ChangeT, asyncio.Future[ResultT]]:
        """Take what waits; of the same change twice the later one waits on, since each has a result of its own."""
        group: dict[ChangeT, asyncio.Future[ResultT]] = {}
        later = []
        for change, done in self._waiting:
            if change in group or len(group) == GROUP_COUNT:
                later.append((change, done))
            else:
                group[change] = done
        self._waiting = later
        return group

    async def _write_alone(self, change: ChangeT, done: asyncio.Future[ResultT]) -> None:
        try:
            result = await self._alone(change)
        except Exception as error:
            _fail(done, error)
        else:
            if not done.done():
                done.set_result(result)


def locking(waits: bool) -> str:
    """Return the end of a FOR UPDATE that waits for rows that others have locked, or leaves them out."""
    return "" if waits else "SKIP LOCKED"


def _fail(done: asyncio.Future[ResultT], error: Exception) -> None:
    if not done.done():
        done.set_exception(error)
