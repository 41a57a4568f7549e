"""How long to wait between attempts: longer each time, with jitter. It waits for nothing itself."""

from __future__ import annotations

import random
from collections.abc import Callable, Iterator
from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Backoff:
    """Waiting times that grow by ``factor`` from ``first_s`` up to ``limit_s`` seconds.

    Each is shortened by a random part of at most ``jitter`` (0 to 1) of itself, so that many clients of a
    restarted server don't all come at once. ``attempt_count`` ``None``: there is no last one. ``draw`` gives
    numbers from 0 to 1.
    """

    first_s: float = 0.25
    factor: float = 2.0
    limit_s: float = 20.0
    jitter: float = 0.5
    attempt_count: int | None = None
    draw: Callable[[], float] = random.random

    def delays(self) -> Iterator[float]:
        """Yield how many seconds to wait before each attempt.

        >>> list(Backoff(first_s=1, limit_s=3, jitter=0, attempt_count=4).delays())
        [1, 2.0, 3, 3]
        """
        delay_s, made_count = min(self.first_s, self.limit_s), 0
        while self.attempt_count is None or made_count < self.attempt_count:
            yield delay_s * (1 - self.jitter * self.draw()) if self.jitter else delay_s
            delay_s = min(delay_s * self.factor, self.limit_s)
            made_count += 1
