"""How long a computer player may still think. What to do when time is over is left to each search."""

from __future__ import annotations

import time
from typing import Self


class ThinkingTime:
    """A moment on the monotonic clock after which no more thinking is wanted; never, for an infinite limit."""

    def __init__(self, limit_ms: float) -> None:
        self._end_s = time.monotonic() + limit_ms / 1000

    @property
    def left_ms(self) -> float:
        """Milliseconds left; 0 when time is over."""
        return max(0.0, (self._end_s - time.monotonic()) * 1000)

    def is_over(self) -> bool:
        """Whether the moment has passed."""
        return time.monotonic() >= self._end_s

    def share(self, part_count: int) -> Self:
        """The time for the next of ``part_count`` (1 or more) equal parts of what is left."""
        return type(self)(self.left_ms / part_count)
