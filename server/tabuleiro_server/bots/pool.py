"""The pool of worker processes: rooms ask, workers think, the event loop never waits for either.

Every worker process is kept by one task of the pool, which takes requests from the fair queue. The pool decides
when a worker is started, asked again, replaced or given up; how a turn is chosen is left to the levels, and what
a room does with the answer to its seats.
"""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Awaitable, Callable, Sequence
from dataclasses import dataclass
from typing import Any, Final

import msgspec

from tabuleiro.errors import BotError
from tabuleiro_server.bots.fair_queue import FairQueue
from tabuleiro_server.bots.frames import Answer
from tabuleiro_server.bots.levels import RANDOM, check_level, choose_turn
from tabuleiro_server.bots.request import ThinkRequest, Worth, replay, texts_of
from tabuleiro_server.bots.worker_process import WORKER_COMMAND, WorkerProcess

log = logging.getLogger(__name__)

ATTEMPT_COUNT: Final = 2
"""How often a request is given to workers before a quick legal move is made instead."""

HANG_GRACE_MS: Final = 3_000
"""Time a worker gets beyond the budget it was told, before it counts as hung."""

LEFT_BEHIND_LIMIT_S: Final = 2.5
"""A worker whose asker has gone may finish within this time: most do, and starting another would take longer."""

STOP_LIMIT_S: Final = 10.0
"""Time for killed workers to be gone before the pool stops waiting for them."""

_NO_ANSWER: Final = Answer(0, [])
"""What becomes of a wish that nobody waits for any more."""

BACKOFF_START_MS: Final = 100
BACKOFF_LIMIT_MS: Final = 5_000


@dataclass(frozen=True, slots=True)
class Thought:
    """A turn that was chosen.

    ``actions`` are canonical texts, one or more. ``is_fallback`` says that the level gave no answer and the
    actions are random ones; ``thought_ms`` is the time since a worker was given the request, in milliseconds.
    ``worth`` is there for hints that are no fallback. Fallbacks are made after the second failure, and where the
    asker's patience came to its end.
    """

    actions: tuple[str, ...]
    is_fallback: bool
    thought_ms: int
    worth: Worth | None = None


@dataclass(frozen=True, slots=True)
class PoolCounts:
    """What the pool is doing and has done so far, for metrics."""

    waiting_count: int
    thinking_count: int
    started_workers_count: int
    failures_count: int
    fallbacks_count: int


@dataclass(eq=False, slots=True)
class _Wish:
    """A request and the future that its asker waits for; a cancelled future means that nobody waits any more."""

    request: ThinkRequest
    thought: asyncio.Future[Thought]


class _Keeper:
    """What one task of the pool keeps: a worker process, or none, and how often it failed in succession."""

    def __init__(self) -> None:
        self.worker: WorkerProcess | None = None
        self.failures_in_succession = 0

    def backoff_ms(self) -> int:
        """How long to wait before the next start: nothing after the first failure, then doubling."""
        if self.failures_in_succession < 2:
            return 0
        return int(min(BACKOFF_START_MS * 2 ** min(self.failures_in_succession - 2, 16), BACKOFF_LIMIT_MS))


class BotPool:
    """At most ``worker_count`` (1 or more) worker processes, started when they are first needed.

    ``think_limit_ms`` is the longest a worker may think about one turn, whatever its level would like; a
    worker that takes longer is killed. ``command`` starts a worker, ``pause`` waits a number of seconds.
    """

    def __init__(
        self,
        worker_count: int,
        think_limit_ms: int,
        *,
        command: Sequence[str] = WORKER_COMMAND,
        pause: Callable[[float], Awaitable[object]] = asyncio.sleep,
    ) -> None:
        if worker_count < 1 or think_limit_ms < 1:
            raise ValueError(f"worker_count {worker_count} and think_limit_ms {think_limit_ms} must be at least 1")
        self._worker_count = worker_count
        self._think_limit_ms = think_limit_ms
        self._command = tuple(command)
        self._pause = pause
        self._is_running = False
        self._queue: FairQueue[_Wish] = FairQueue()
        self._wishes: set[_Wish] = set()
        self._keepers: dict[asyncio.Task[None], _Keeper] = {}
        self._thinking_count = 0
        self._started_workers_count = 0
        self._failures_count = 0
        self._fallbacks_count = 0

    @property
    def worker_pids(self) -> tuple[int, ...]:
        """The process ids of the workers that are alive."""
        workers = (keeper.worker for keeper in self._keepers.values())
        return tuple(worker.pid for worker in workers if worker is not None and worker.is_alive)

    @property
    def counts(self) -> PoolCounts:
        """What the pool is doing now."""
        return PoolCounts(
            waiting_count=len(self._queue),
            thinking_count=self._thinking_count,
            started_workers_count=self._started_workers_count,
            failures_count=self._failures_count,
            fallbacks_count=self._fallbacks_count,
        )

    @property
    def crowd(self) -> float:
        """How many requests there are for each worker, a new one included."""
        return (len(self._queue) + self._thinking_count + 1) / self._worker_count

    async def start(self) -> None:
        """Take requests from now on. No process is started yet."""
        self._is_running = True

    async def stop(self) -> None:
        """Refuse new requests, fail those that wait, and end every worker process."""
        self._is_running = False
        for wish in self._wishes:
            if not wish.thought.done():
                wish.thought.set_exception(BotError("the bot pool was stopped"))
        keepers = tuple(self._keepers)
        for task in keepers:
            task.cancel()
        if keepers:
            await asyncio.wait(keepers, timeout=STOP_LIMIT_S)
        self._keepers.clear()

    async def think(self, request: ThinkRequest, patience_ms: int | None = None) -> Thought:
        """Return the rest of a turn, chosen by a worker, or by chance after its second failure.

        After ``patience_ms`` milliseconds it is chosen by chance as well, at 0 at once; ``None``: wait for a
        worker however long it takes. Cancelling this call takes the request out of the queue or leaves the worker
        that thinks about it a moment to finish.

        Raises: BotError for an unknown level, for a position with nothing to choose, and when the pool is
        stopped; GameOptionError for an unknown game.
        """
        check_level(request.game, request.level)
        if not self._is_running:
            raise BotError("the bot pool is not running")
        if patience_ms == 0:
            return self._quick_thought(request, 0)
        wish = _Wish(request, asyncio.get_running_loop().create_future())
        self._wishes.add(wish)
        try:
            await self._queue.put(request.room, wish)
            self._add_keeper_if_needed()
            async with asyncio.timeout(None if patience_ms is None else patience_ms / 1000):
                return await wish.thought
        except TimeoutError:
            log.warning("room %s, level %s: no answer within %s ms", request.room, request.level, patience_ms)
            return self._quick_thought(request, patience_ms or 0)
        finally:
            self._wishes.discard(wish)
            self._queue.discard(request.room, wish)

    def _quick_thought(self, request: ThinkRequest, waited_ms: int) -> Thought:
        self._fallbacks_count += 1
        return Thought(quick_turn(request), True, waited_ms)

    def _add_keeper_if_needed(self) -> None:
        idle_count = len(self._keepers) - self._thinking_count
        if len(self._queue) > idle_count and len(self._keepers) < self._worker_count:
            keeper = _Keeper()
            task = asyncio.create_task(self._keep(keeper), name="bot worker keeper")
            self._keepers[task] = keeper

    async def _keep(self, keeper: _Keeper) -> None:
        """Give one request after the other to the worker of ``keeper``, until cancelled."""
        try:
            while True:
                wish = await self._queue.take()
                self._thinking_count += 1
                try:
                    await self._fulfil(wish, keeper)
                finally:
                    self._thinking_count -= 1
        finally:
            await self._drop_worker(keeper)

    async def _fulfil(self, wish: _Wish, keeper: _Keeper) -> None:
        """Find the thought for ``wish``, unless its asker stops waiting before."""
        loop = asyncio.get_running_loop()
        started_s = loop.time()
        try:
            answer, is_fallback = await self._answer_for(wish, keeper)
        except Exception as error:
            # Whatever went wrong belongs to the asker, who would wait for ever, and not to the next request.
            if not wish.thought.done():
                wish.thought.set_exception(error)
            return
        self._fallbacks_count += is_fallback
        if not wish.thought.done():
            thought_ms = int((loop.time() - started_s) * 1000)
            wish.thought.set_result(Thought(tuple(answer.actions), is_fallback, thought_ms, answer.worth))

    async def _answer_for(self, wish: _Wish, keeper: _Keeper) -> tuple[Answer, bool]:
        """The answer to ``wish`` and whether it is a fallback; no actions when nobody waits any more."""
        for _ in range(ATTEMPT_COUNT):
            if wish.thought.done():
                return _NO_ANSWER, False
            try:
                answer = await self._attempt(wish, keeper)
            except BotError as error:
                self._failures_count += 1
                if keeper.worker is None:
                    keeper.failures_in_succession += 1
                log.warning("room %s, level %s: %s", wish.request.room, wish.request.level, error)
            else:
                keeper.failures_in_succession = 0
                return answer, False
        return Answer(0, list(quick_turn(wish.request))), True

    async def _attempt(self, wish: _Wish, keeper: _Keeper) -> Answer:
        """Ask the worker of ``keeper`` once; no actions when the asker stops waiting before the answer.

        Raises: BotError when there is no usable answer; a worker that is no longer usable is gone then.
        """
        worker = await self._usable_worker(keeper)
        if wish.thought.done():
            # The asker left while the worker started, which can serve the next one.
            return _NO_ANSWER
        request, hang_limit_ms = self._limited(wish.request)
        exchange = asyncio.create_task(worker.ask(request, hang_limit_ms))
        try:
            waited: set[asyncio.Future[Any]] = {exchange, wish.thought}
            await asyncio.wait(waited, return_when=asyncio.FIRST_COMPLETED)
            if not exchange.done():
                await asyncio.wait({exchange}, timeout=LEFT_BEHIND_LIMIT_S)
            return exchange.result() if exchange.done() else _NO_ANSWER
        finally:
            if not exchange.done():
                exchange.cancel()
                await asyncio.wait({exchange})
            if not worker.is_usable:
                await self._drop_worker(keeper)

    async def _usable_worker(self, keeper: _Keeper) -> WorkerProcess:
        """The worker of ``keeper``, started anew where needed. Raises: BotError when it cannot be started."""
        if keeper.worker is not None and not keeper.worker.is_usable:
            await self._drop_worker(keeper)
        if keeper.worker is None:
            if backoff_ms := keeper.backoff_ms():
                await self._pause(backoff_ms / 1000)
            keeper.worker = await WorkerProcess.start(self._command)
            self._started_workers_count += 1
        return keeper.worker

    async def _drop_worker(self, keeper: _Keeper) -> None:
        if keeper.worker is not None:
            # Forgotten only when it is gone: if this is cancelled, the end of the keeper goes on with it.
            await keeper.worker.kill()
            keeper.worker = None

    def _limited(self, request: ThinkRequest) -> tuple[ThinkRequest, int]:
        """``request`` with a budget that ends before the limit of the pool, and when its worker counts as hung."""
        longest_ms = self._think_limit_ms * 3 // 4
        if request.budget_ms is None:
            return msgspec.structs.replace(request, budget_ms=longest_ms), self._think_limit_ms
        budget_ms = max(0, min(request.budget_ms, longest_ms))
        hang_limit_ms = min(budget_ms + HANG_GRACE_MS, self._think_limit_ms)
        return msgspec.structs.replace(request, budget_ms=budget_ms), hang_limit_ms


def quick_turn(request: ThinkRequest) -> tuple[str, ...]:
    """Choose the rest of the turn by chance in this process; takes no longer than replaying the match.

    Raises: BotError when the game is over.
    """
    state = replay(request)
    return tuple(texts_of(state, choose_turn(state, RANDOM.name, request.seed, None)))
