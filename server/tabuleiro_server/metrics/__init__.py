"""Metrics of the server for its host: plain numbers that each part writes and `exposition` reads."""

from __future__ import annotations

import asyncio
from bisect import bisect_left
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Final

from tabuleiro.protocol.messages import ClientMessage

UNREAD: Final = "unread"
"""The kind of a request that could not be read as a message, or was not looked at."""

DONE: Final = "ok"

_KINDS: Final[dict[type, str]] = {kind: str(kind.__struct_config__.tag) for kind in ClientMessage.__args__}


class Histogram:
    """Counts of the values at or below each of ``bounds``, which ascend; the last count is of those above."""

    def __init__(self, bounds: Sequence[int]) -> None:
        self.bounds = tuple(bounds)
        self.counts = [0] * (len(self.bounds) + 1)
        self.total = 0

    @property
    def observed_count(self) -> int:
        """The number of values observed."""
        return sum(self.counts)

    def observe(self, value: int) -> None:
        """Count ``value`` in the first bound that it does not exceed.

        >>> sizes = Histogram([1, 2, 4])
        >>> for size in (1, 3, 9):
        ...     sizes.observe(size)
        >>> sizes.counts, sizes.total
        ([1, 0, 1, 1], 13)
        """
        self.counts[bisect_left(self.bounds, value)] += 1
        self.total += value


@dataclass(slots=True)
class NetMetrics:
    """Connections. ``open_count`` goes up and down, all others only grow.

    ``frame_count`` are messages of clients. ``refused_counts`` are connections that were not admitted, by the
    config key of the limit; ``closed_counts`` those that the server closed, by close code.
    """

    open_count: int = 0
    admitted_count: int = 0
    frame_count: int = 0
    refused_counts: Counter[str] = field(default_factory=Counter)
    closed_counts: Counter[int] = field(default_factory=Counter)


@dataclass(slots=True)
class RequestMetrics:
    """Requests by the type of their message and their result: ``ok`` or the code of the refusal."""

    counts: Counter[tuple[str, str]] = field(default_factory=Counter)

    def count(self, message: ClientMessage | None, refusal: str | None) -> None:
        """Count a request; ``None`` for one that is no message, and for no refusal.

        >>> metrics = RequestMetrics()
        >>> metrics.count(None, "bad-message")
        >>> dict(metrics.counts)
        {('unread', 'bad-message'): 1}
        """
        kind = UNREAD if message is None else _KINDS[type(message)]
        self.counts[kind, DONE if refusal is None else str(refusal)] += 1


@dataclass(slots=True)
class CommitMetrics:
    """Appends and other writes. All numbers only grow, except ``waiting_count``.

    ``group_sizes`` are in writes a commit; ``commit_durations_us`` in microseconds from the hand-over to the
    connection's thread until its answer is seen, so they include the thread's wait for the interpreter.
    """

    commit_count: int = 0
    failed_commit_count: int = 0
    append_count: int = 0
    event_count: int = 0
    conflict_count: int = 0
    waiting_count: int = 0
    group_sizes: Histogram = field(default_factory=lambda: Histogram([1, 2, 4, 8, 16, 32, 64, 128, 256, 512]))
    commit_durations_us: Histogram = field(
        default_factory=lambda: Histogram(
            [100, 200, 500, 1_000, 2_000, 5_000, 10_000, 20_000, 50_000, 100_000, 500_000, 2_000_000]
        )
    )


@dataclass(slots=True)
class NodeMetrics:
    """What a node knows of others: how many there are now, and the rooms that it has given to them so far."""

    others_count: int = 0
    moved_count: int = 0


@dataclass(frozen=True, slots=True)
class PoolMetrics:
    """The bots' pool at one moment: what it is doing, and what it has done so far."""

    waiting_count: int
    thinking_count: int
    started_workers_count: int
    failures_count: int
    fallbacks_count: int


class LoopLagProbe:
    """Asks the event loop for a wake-up every ``interval_s``; ``lags_us`` are the delays, in microseconds."""

    def __init__(self, interval_s: float = 0.5) -> None:
        self._interval_s = interval_s
        self.lags_us = Histogram([500, 1_000, 2_000, 5_000, 10_000, 20_000, 50_000, 100_000, 500_000])
        self._timer: asyncio.TimerHandle | None = None

    def start(self) -> None:
        """Measure from now on, in the running loop."""
        loop = asyncio.get_running_loop()
        due_s = loop.time() + self._interval_s
        self._timer = loop.call_at(due_s, self._awake, due_s)

    def stop(self) -> None:
        """Measure no more."""
        if self._timer is not None:
            self._timer.cancel()
            self._timer = None

    def _awake(self, due_s: float) -> None:
        late_s = asyncio.get_running_loop().time() - due_s
        self.lags_us.observe(max(int(late_s * 1_000_000), 0))
        self.start()
