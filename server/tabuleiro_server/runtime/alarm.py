"""An alarm that rings once, at the earliest moment that was asked for."""

from __future__ import annotations

import asyncio
from collections.abc import Callable


class Alarm:
    """Calls ``ring`` from the event loop that runs when it is set."""

    def __init__(self, ring: Callable[[], None]) -> None:
        self._ring = ring
        self._timer: asyncio.TimerHandle | None = None

    @property
    def is_set(self) -> bool:
        """Whether it is going to ring."""
        return self._timer is not None

    def set(self, delay_s: float) -> None:
        """Ring in ``delay_s`` seconds, unless it rings earlier anyway."""
        loop = asyncio.get_running_loop()
        at_s = loop.time() + delay_s
        if self._timer is None or at_s < self._timer.when():
            self.stop()
            self._timer = loop.call_at(at_s, self._go_off)

    def stop(self) -> None:
        """Do not ring; it may be set again."""
        if self._timer is not None:
            self._timer.cancel()
            self._timer = None

    def _go_off(self) -> None:
        self._timer = None
        self._ring()
