"""Waiting for an application by what it has left to do, and not by a clock.

The pilot of the library takes a program for idle that uses little processor time for 20 ms, twice after each key.
That is slow, and on a busy machine it is wrong: a program that is kept waiting for a processor looks idle too.
"""

from __future__ import annotations

import asyncio
from typing import Final

import pytest
from textual import app, pilot

ROUNDS_COUNT: Final = 5_000
"""More rounds of the event loop than anything takes that comes to an end."""


async def loop_at_rest(min_sleep: float = 0.0, max_sleep: float = 0.0) -> None:
    """Wait until the event loop has nothing to do but to wait for sockets, threads and timers.

    This stands in for ``textual._wait.wait_for_idle`` and takes its parameters.
    """
    loop = asyncio.get_running_loop()
    for _ in range(ROUNDS_COUNT):
        await asyncio.sleep(0)
        if not loop._ready:  # type: ignore[attr-defined]
            return


async def pause(self: pilot.Pilot[int], delay: float | None = None) -> None:
    """Wait for ``delay`` seconds, or until the application has done and drawn all it has to.

    This stands in for ``Pilot.pause``. A new size waits for a timer, as what is to be drawn does; a layout may ask
    for another one, and calls wait until something is drawn.
    """
    if delay is not None:
        await asyncio.sleep(delay)
        return
    for _ in range(3):
        await loop_at_rest()
        self.app._check_resize()
        self.app.screen._on_timer_update()
    await loop_at_rest()


def settle_without_a_clock(monkeypatch: pytest.MonkeyPatch) -> None:
    """Have pilots wait in this way."""
    monkeypatch.setattr(app, "wait_for_idle", loop_at_rest)
    monkeypatch.setattr(pilot, "wait_for_idle", loop_at_rest)
    monkeypatch.setattr(pilot.Pilot, "pause", pause)
