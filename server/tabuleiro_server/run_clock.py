"""The clock of one run of a server: it goes on steadily, whatever is done to the clock of the machine.

The time of day is read once, at the start; from then on it is what has passed since. So every span within a run is
a true one, and no moment is before an earlier one. Dates are by this clock too: a machine whose clock is set right
while a server runs gets right dates from the next start on, which the log says.

Servers that share a database share its clock: a run begins at that, and keeps to it by steps too small to notice.

Time in which the machine sleeps counts, and so does time in which the process stands still (stopped, paused in its
container, starved). Both look the same here: between two looks at the clock far more time has passed than the
beats allow. Such a standstill is told before the new time is.
"""

from __future__ import annotations

import asyncio
import sys
import time
from collections.abc import Callable
from functools import partial
from typing import Final

import structlog

from tabuleiro.ids import SECOND_MS, TimestampMs

BEAT_S: Final = 0.25
"""Time from one look at the clock to the next when nobody else looks."""

STANDSTILL_MS: Final = SECOND_MS
"""A server that does not look at the clock for this long stood still."""

SET_MS: Final = 10 * SECOND_MS
"""The machine's clock was set if it is off by this much more or less than before."""

STEP_MS: Final = 1
"""How far a clock is brought closer to the shared one at each beat."""

log = structlog.get_logger(__name__)

OnStandstill = Callable[[TimestampMs, TimestampMs], None]
"""Takes the last moment before a standstill and the first one after it."""


def wall_ms() -> int:
    """Return the time of day of the machine, in milliseconds since 1970 UTC."""
    return time.time_ns() // 1_000_000


if sys.platform == "linux":
    _elapsed_ns = partial(time.clock_gettime_ns, time.CLOCK_BOOTTIME)
elif sys.platform == "win32":
    _elapsed_ns = time.monotonic_ns
else:  # on macOS it counts sleep, other than `time.monotonic`
    _elapsed_ns = partial(time.clock_gettime_ns, time.CLOCK_MONOTONIC)


def elapsed_ms() -> int:
    """Return milliseconds since some moment, by a clock that nobody sets and that counts the machine's sleep."""
    return _elapsed_ns() // 1_000_000


class RunClock:
    """The time of a run, from the making of this object on.

    ``wall_ms`` and ``elapsed_ms`` are the machine's clocks.
    """

    def __init__(self, wall_ms: Callable[[], int] = wall_ms, elapsed_ms: Callable[[], int] = elapsed_ms) -> None:
        self._wall_ms = wall_ms
        self._elapsed_ms = elapsed_ms
        self._ahead_ms = wall_ms() - elapsed_ms()
        """The time of the run minus ``elapsed_ms``."""
        self._seen_ms = TimestampMs(0)
        self._still_ms = 0
        self._off_ms = 0
        self._late_ms = 0
        """What is to be added to come to the shared clock, little by little."""
        self._on_standstill: OnStandstill | None = None
        self._timer: asyncio.TimerHandle | None = None

    def now_ms(self) -> TimestampMs:
        """Return the time in milliseconds since 1970 UTC; a standstill before it is told first."""
        since_ms = self._seen_ms
        now_ms = self._seen_ms = TimestampMs(max(self._elapsed_ms() + self._ahead_ms, since_ms))
        if now_ms - since_ms >= STANDSTILL_MS and self._on_standstill is not None:
            self._still_ms += now_ms - since_ms
            log.info("the server stood still", for_ms=now_ms - since_ms)
            self._on_standstill(since_ms, now_ms)
        return now_ms

    def awake_s(self) -> float:
        """Return the time in seconds without the standstills, for spans that they are no part of."""
        now_ms = self.now_ms()
        return (now_ms - self._still_ms) / 1000

    def begin_after(self, newest_ms: int) -> int:
        """Let the run begin no earlier than ``newest_ms``; return how far the machine's clock is behind it, or 0.

        For the start, while nobody has asked for the time yet.
        """
        behind_ms = max(newest_ms - self.now_ms(), 0)
        self._ahead_ms += behind_ms
        self._off_ms = -behind_ms
        return behind_ms

    def begin_at(self, shared_ms: int) -> None:
        """Let the run begin at a time that others share, while nobody has asked for the time yet."""
        self._ahead_ms = shared_ms - self._elapsed_ms()
        self._seen_ms = TimestampMs(0)
        self._off_ms = self._wall_ms() - shared_ms

    def steer(self, late_ms: int) -> None:
        """Go on a little faster or slower until ``late_ms`` are made up for, by which the shared time is later."""
        self._late_ms = late_ms

    def watch(self, on_standstill: OnStandstill) -> None:
        """Look at the clock from now on, in the running loop, and call ``on_standstill`` after each standstill."""
        self.now_ms()
        self._on_standstill = on_standstill
        self._beat()

    def stop(self) -> None:
        """Look no more."""
        self._on_standstill = None
        if self._timer is not None:
            self._timer.cancel()
            self._timer = None

    def _beat(self) -> None:
        step_ms = max(-STEP_MS, min(self._late_ms, STEP_MS))
        self._late_ms -= step_ms
        self._ahead_ms += step_ms
        self._off_ms -= step_ms
        off_ms = self._wall_ms() - self.now_ms()
        if abs(off_ms - self._off_ms) >= SET_MS:
            log.info("the machine's clock was set; dates follow it from the next start on", off_ms=off_ms)
            self._off_ms = off_ms
        self._timer = asyncio.get_running_loop().call_later(BEAT_S, self._beat)
