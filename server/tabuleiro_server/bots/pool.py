"""The pool of worker processes: rooms ask, workers think, and the event loop waits for neither.

One task of the pool looks after each worker process and takes requests from a queue that is fair to all guests.
The pool decides when a worker is started, asked again, replaced or given up.

Bots that play among themselves have workers of their own, of the lowest priority: however long these think, the
operating system runs a worker that a person waits for first.
"""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable, Sequence
from contextlib import suppress
from dataclasses import dataclass
from typing import Any, Final

import msgspec
import structlog

from tabuleiro.errors import BotError
from tabuleiro.protocol.messages import Explanation
from tabuleiro_server.bots.levels import RANDOM, choose_turn, find_level
from tabuleiro_server.bots.messages import Answer, Evaluation, ThinkRequest, replay, texts_of
from tabuleiro_server.bots.queue import NOBODY, Claim, FairQueue, Rank
from tabuleiro_server.bots.worker_process import WORKER_COMMAND, WorkerProcess
from tabuleiro_server.metrics import PoolMetrics
from tabuleiro_server.timers import time_limit

log = structlog.get_logger(__name__)

ATTEMPT_COUNT: Final = 2
"""The number of times that workers get a request before a quick legal move is made instead."""

HANG_GRACE_MS: Final = 3_000
"""The time beyond its budget after which a worker counts as hung."""

LEFT_BEHIND_LIMIT_S: Final = 2.5
"""The time to finish for a worker whose request was cancelled: most do, and a new one starts more slowly."""

STOP_LIMIT_S: Final = 10.0
"""The longest wait for killed workers."""

_NO_ANSWER: Final = Answer(0, [])
"""The answer to a request that was cancelled."""

LOWEST_PRIORITY: Final = 19
"""The niceness of workers for bots that play among themselves."""

RESTS_COUNT: Final = 3
"""A bot that nobody watches leaves its worker alone for so many times its thinking time..."""

REST_MIN_S: Final = 0.5
"""...and for so long at least."""

CORES_MAX: Final = 8
"""The most cores that a bot thinks on: more find little more, and the search takes memory on each."""

BACKOFF_START_MS: Final = 100
BACKOFF_LIMIT_MS: Final = 5_000


@dataclass(frozen=True, slots=True)
class Thought:
    """A turn that was chosen.

    ``actions`` are canonical texts, one or more. With ``is_fallback`` they are random: workers failed twice, or
    gave no answer in time. ``thought_ms`` is the time since a worker got the request, in milliseconds. Hints that
    are no fallback have ``evaluation``, explanations ``explanation``, or
    the ``problem`` that prevents one, and no actions.
    """

    actions: tuple[str, ...]
    is_fallback: bool
    thought_ms: int
    evaluation: Evaluation | None = None
    explanation: Explanation | None = None
    problem: str = ""


@dataclass(eq=False, slots=True)
class _Wish:
    """A request and the future for its answer, which is cancelled when the caller stops waiting."""

    request: ThinkRequest
    thought: asyncio.Future[Thought]


class _Lane:
    """A queue and the keepers of the workers that take from it, at most ``worker_count``."""

    def __init__(self, worker_count: int, niceness: int | None) -> None:
        self.worker_count = worker_count
        self.niceness = niceness
        self.queue: FairQueue[_Wish] = FairQueue()
        self.keepers: dict[asyncio.Task[None], _Keeper] = {}
        self.thinking_count = 0

    @property
    def wants_keeper(self) -> bool:
        """Return True if more requests wait than there are idle keepers, and there may be one more."""
        idle_count = len(self.keepers) - self.thinking_count
        return len(self.queue) > idle_count and len(self.keepers) < self.worker_count


class _Keeper:
    """The worker process of one task of the pool, or none, and the number of its failures in succession."""

    def __init__(self, niceness: int | None) -> None:
        self.niceness = niceness
        self.worker: WorkerProcess | None = None
        self.failures_in_succession = 0

    def backoff_ms(self) -> int:
        """Return the wait before the next start: 0 after the first failure, then doubling."""
        if self.failures_in_succession < 2:
            return 0
        return int(min(BACKOFF_START_MS * 2 ** min(self.failures_in_succession - 2, 16), BACKOFF_LIMIT_MS))


class BotPool:
    """At most ``worker_count`` (1 or more) worker processes, started when they are first needed.

    Half as many more, one at least, serve bots that play among themselves. ``think_limit_ms`` is the longest time
    for one turn at any level; a worker that takes longer is killed. A bot that a person waits for may think on the
    cores of ``core_count`` that no other bot thinks on, but one, which is for the server.
    ``command`` starts a worker, ``pause`` waits a number of seconds.
    """

    def __init__(
        self,
        worker_count: int,
        think_limit_ms: int,
        *,
        core_count: int = 1,
        command: Sequence[str] = WORKER_COMMAND,
        pause: Callable[[float], Awaitable[object]] = asyncio.sleep,
    ) -> None:
        if worker_count < 1 or think_limit_ms < 1:
            raise ValueError(f"worker_count {worker_count} and think_limit_ms {think_limit_ms} must be at least 1")
        self._think_limit_ms = think_limit_ms
        self._core_count = core_count
        self._command = tuple(command)
        self._pause = pause
        self._is_running = False
        self._played = _Lane(worker_count, None)
        self._among_themselves = _Lane(max(worker_count // 2, 1), LOWEST_PRIORITY)
        self._lanes = (self._played, self._among_themselves)
        self._wishes: set[_Wish] = set()
        self._rest: asyncio.TimerHandle | None = None
        self._started_workers_count = 0
        self._failures_count = 0
        self._fallbacks_count = 0

    @property
    def worker_pids(self) -> tuple[int, ...]:
        """The process ids of the workers that are alive."""
        workers = (keeper.worker for lane in self._lanes for keeper in lane.keepers.values())
        return tuple(worker.pid for worker in workers if worker is not None and worker.is_alive)

    @property
    def counts(self) -> PoolMetrics:
        """The work of the pool."""
        return PoolMetrics(
            waiting_count=sum(len(lane.queue) for lane in self._lanes),
            thinking_count=sum(lane.thinking_count for lane in self._lanes),
            started_workers_count=self._started_workers_count,
            failures_count=self._failures_count,
            fallbacks_count=self._fallbacks_count,
        )

    @property
    def waiting_addresses_count(self) -> int:
        """The number of addresses from which people wait for a bot."""
        return len(self._played.queue.counts(Rank.PLAYED))

    def crowd(self, claim: Claim) -> float:
        """Return the number of requests for each worker that come before a new one of ``claim``, it included."""
        lane = self._lane(claim)
        counts = lane.queue.counts(claim.rank)
        own_count = counts.get(claim.address, 0) + 1
        counts[claim.address] = own_count
        # Addresses take turns.
        waiting_count = sum(min(count, own_count) for count in counts.values())
        before_count = sum(sum(lane.queue.counts(rank).values()) for rank in Rank if rank < claim.rank)
        return (waiting_count + before_count + lane.thinking_count) / lane.worker_count

    async def start(self) -> None:
        """Take requests from now on. This starts no process yet."""
        self._is_running = True

    def prepare(self) -> None:
        """Start now the worker that the first request would start."""
        if not self._played.keepers:
            self._add_keeper(self._played, is_early=True)

    async def stop(self) -> None:
        """Refuse new requests, fail those that wait, and end every worker process."""
        self._is_running = False
        for wish in self._wishes:
            if not wish.thought.done():
                wish.thought.set_exception(BotError("the bot pool was stopped"))
        if self._rest is not None:
            self._rest.cancel()
        keepers = [task for lane in self._lanes for task in lane.keepers]
        for task in keepers:
            task.cancel()
        if keepers:
            await asyncio.wait(keepers, timeout=STOP_LIMIT_S)
        for lane in self._lanes:
            lane.keepers.clear()

    async def think(self, request: ThinkRequest, patience_ms: int | None = None, claim: Claim = NOBODY) -> Thought:
        """Return the rest of a turn, chosen by a worker, or by chance after the second failure.

        ``claim`` says when its turn comes. After ``patience_ms`` milliseconds it is chosen by chance too, with 0
        at once; ``None`` waits for a worker without a limit. Cancelling this call takes the request out of
        the queue, or leaves the worker that thinks about it a moment to finish.

        Raises: BotError for an unknown level, for a position with nothing to choose, and when the pool is
        stopped; GameOptionError for an unknown game.
        """
        find_level(request.game, request.level)
        if not self._is_running:
            raise BotError("the bot pool is not running")
        if patience_ms == 0:
            return self._quick_thought(request, 0)
        wish = _Wish(request, asyncio.get_running_loop().create_future())
        lane = self._lane(claim)
        self._wishes.add(wish)
        try:
            lane.queue.put(claim, request.room, wish)
            if lane.wants_keeper:
                self._add_keeper(lane)
            async with time_limit(None if patience_ms is None else patience_ms / 1000):
                return await wish.thought
        except TimeoutError:
            tell = log.warning if claim.rank is Rank.PLAYED else log.debug
            tell(
                "no answer from a bot worker in time", room=request.room, level=request.level, limit_ms=patience_ms
            )
            return self._quick_thought(request, patience_ms or 0)
        finally:
            self._wishes.discard(wish)
            lane.queue.discard(wish)

    def _add_keeper(self, lane: _Lane, *, is_early: bool = False) -> None:
        keeper = _Keeper(lane.niceness)
        task = asyncio.create_task(self._keep(keeper, lane, is_early=is_early), name="bot worker keeper")
        lane.keepers[task] = keeper

    def _lane(self, claim: Claim) -> _Lane:
        return self._played if claim.rank is Rank.PLAYED else self._among_themselves

    def _quick_thought(self, request: ThinkRequest, waited_ms: int) -> Thought:
        self._fallbacks_count += 1
        return Thought(quick_turn(request), True, waited_ms)

    async def _keep(self, keeper: _Keeper, lane: _Lane, *, is_early: bool) -> None:
        """Give one request of ``lane`` after the other to the worker of ``keeper``, until cancelled.

        With ``is_early`` it is started before there is one.
        """
        loop = asyncio.get_running_loop()
        try:
            if is_early:
                with suppress(BotError):  # told when it is needed
                    await self._usable_worker(keeper)
            while True:
                wish, rank = await lane.queue.take()
                lane.thinking_count += 1
                started_s = loop.time()
                try:
                    await self._fulfil(wish, keeper)
                finally:
                    lane.thinking_count -= 1
                if rank is Rank.ALONE:
                    rest_s = max(RESTS_COUNT * (loop.time() - started_s), REST_MIN_S)
                    self._rest = loop.call_later(rest_s, lane.queue.release)
        finally:
            await self._drop_worker(keeper)

    async def _fulfil(self, wish: _Wish, keeper: _Keeper) -> None:
        """Answer ``wish``, unless it is cancelled before."""
        loop = asyncio.get_running_loop()
        started_s = loop.time()
        try:
            answer, is_fallback = await self._answer_for(wish, keeper)
        except Exception as error:
            # Any error goes to the caller, who would wait for ever otherwise, and not to the next request.
            if not wish.thought.done():
                wish.thought.set_exception(error)
            return
        self._fallbacks_count += is_fallback
        if not wish.thought.done():
            thought_ms = int((loop.time() - started_s) * 1000)
            thought = Thought(
                tuple(answer.actions),
                is_fallback,
                thought_ms,
                answer.evaluation,
                answer.explanation,
                answer.problem,
            )
            wish.thought.set_result(thought)

    async def _answer_for(self, wish: _Wish, keeper: _Keeper) -> tuple[Answer, bool]:
        """Return the answer to ``wish``, and True if it is a fallback; no actions after it was cancelled."""
        for _ in range(ATTEMPT_COUNT):
            if wish.thought.done():
                return _NO_ANSWER, False
            try:
                answer = await self._attempt(wish, keeper)
            except BotError as error:
                self._failures_count += 1
                if keeper.worker is None:
                    keeper.failures_in_succession += 1
                log.warning(
                    "bot worker failed", room=wish.request.room, level=wish.request.level, reason=str(error)
                )
            else:
                keeper.failures_in_succession = 0
                return answer, False
        return Answer(0, list(quick_turn(wish.request))), True

    async def _attempt(self, wish: _Wish, keeper: _Keeper) -> Answer:
        """Ask the worker of ``keeper`` once; return no actions if ``wish`` is cancelled before the answer.

        Raises: BotError when there is no usable answer; a worker that is no longer usable is gone then.
        """
        worker = await self._usable_worker(keeper)
        if wish.thought.done():
            # The request was cancelled while the worker started, which can serve the next one.
            return _NO_ANSWER
        request, hang_limit_ms = self._limited(wish.request)
        if keeper.niceness is None:
            request = msgspec.structs.replace(request, cores=self._cores())
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
        """Return the worker of ``keeper``, started if needed. Raises: BotError when it cannot be started."""
        if keeper.worker is not None and not keeper.worker.is_usable:
            await self._drop_worker(keeper)
        if keeper.worker is None:
            if backoff_ms := keeper.backoff_ms():
                await self._pause(backoff_ms / 1000)
            keeper.worker = await WorkerProcess.start(self._command, keeper.niceness)
            self._started_workers_count += 1
        return keeper.worker

    async def _drop_worker(self, keeper: _Keeper) -> None:
        if keeper.worker is not None:
            # Forgotten only after its end: if this is cancelled, the end of the keeper kills it again.
            await keeper.worker.kill()
            keeper.worker = None

    def _cores(self) -> int:
        """Return the cores for one of the bots that think now: those without another bot, but one."""
        others_count = sum(lane.thinking_count for lane in self._lanes) - 1
        return max(1, min(self._core_count - 1 - others_count, CORES_MAX))

    def _limited(self, request: ThinkRequest) -> tuple[ThinkRequest, int]:
        """Return ``request`` with a budget within the limit of the pool, and the limit of its worker."""
        longest_ms = self._think_limit_ms * 3 // 4
        if request.budget_ms is None:
            limit_ms = self._think_limit_ms + request.kernels_wait_ms
            return msgspec.structs.replace(request, budget_ms=longest_ms), limit_ms
        budget_ms = max(0, min(request.budget_ms, longest_ms))
        hang_limit_ms = min(budget_ms + HANG_GRACE_MS, self._think_limit_ms) + request.kernels_wait_ms
        return msgspec.structs.replace(request, budget_ms=budget_ms), hang_limit_ms


def quick_turn(request: ThinkRequest) -> tuple[str, ...]:
    """Choose the rest of the turn by chance in this process; takes no longer than replaying the match.

    Raises: BotError when the game is over.
    """
    state = replay(request)
    return tuple(texts_of(state, choose_turn(state, RANDOM.name, request.seed, None)))
