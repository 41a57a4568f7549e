"""Counts of the commits of a store: plain numbers that only grow, except ``waiting_count``.

The store alone writes them. Their format for others is up to the package ``metrics``.
"""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Sequence
from dataclasses import dataclass, field


class Distribution:
    """How many values lie at or below each of ``bounds``, which ascend; the last count is of those above."""

    def __init__(self, bounds: Sequence[int]) -> None:
        self.bounds = tuple(bounds)
        self.counts = [0] * (len(self.bounds) + 1)
        self.total = 0

    @property
    def observed_count(self) -> int:
        """How many values were observed."""
        return sum(self.counts)

    def observe(self, value: int) -> None:
        """Count ``value`` in the first bound that it does not exceed.

        >>> sizes = Distribution([1, 2, 4])
        >>> for size in (1, 3, 9):
        ...     sizes.observe(size)
        >>> sizes.counts, sizes.total
        ([1, 0, 1, 1], 13)
        """
        self.counts[bisect_left(self.bounds, value)] += 1
        self.total += value


@dataclass(slots=True)
class CommitMetrics:
    """What became of the appends and the other writes.

    ``group_sizes`` are in writes a commit; ``commit_durations_us`` in microseconds from the hand-over to the
    connection's thread until its answer is seen, so with the time that the thread waits for the interpreter.
    """

    commit_count: int = 0
    failed_commit_count: int = 0
    append_count: int = 0
    event_count: int = 0
    conflict_count: int = 0
    waiting_count: int = 0
    group_sizes: Distribution = field(
        default_factory=lambda: Distribution([1, 2, 4, 8, 16, 32, 64, 128, 256, 512])
    )
    commit_durations_us: Distribution = field(
        default_factory=lambda: Distribution(
            [100, 200, 500, 1_000, 2_000, 5_000, 10_000, 20_000, 50_000, 100_000, 500_000, 2_000_000]
        )
    )
