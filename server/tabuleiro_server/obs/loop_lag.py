"""How late the event loop comes to what is due: the first sign that something blocks it."""

from __future__ import annotations

import asyncio
from typing import Final

from tabuleiro_server.store.figures import Distribution

PROBE_INTERVAL_S: Final = 0.5


class LoopLagProbe:
    """Asks the loop for a wake-up twice a second; ``lags_us`` are the delays, in microseconds."""

    def __init__(self) -> None:
        self.lags_us = Distribution([500, 1_000, 2_000, 5_000, 10_000, 20_000, 50_000, 100_000, 500_000])
        self._timer: asyncio.TimerHandle | None = None

    def start(self) -> None:
        """Measure from now on, in the running loop."""
        loop = asyncio.get_running_loop()
        due_s = loop.time() + PROBE_INTERVAL_S
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
