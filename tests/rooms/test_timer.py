"""A timer rings once, at the earliest moment that was asked for."""

from __future__ import annotations

import asyncio

from tabuleiro_server.rooms.live_room import Timer
from tests.patience import LIMIT_S

LONG_S = 3_600.0


async def test_an_timer_rings_at_the_earliest_moment_and_only_once() -> None:
    """Symptom: news waited for the moment that something later was waiting for."""
    rung: asyncio.Queue[bool] = asyncio.Queue()
    timer = Timer(lambda: rung.put_nowait(timer.is_set))
    timer.set(LONG_S)
    timer.set(0.001)
    timer.set(LONG_S)
    assert timer.is_set
    assert await asyncio.wait_for(rung.get(), LIMIT_S) is False
    assert not timer.is_set
    timer.set(0.001)
    await asyncio.wait_for(rung.get(), LIMIT_S)
    assert rung.empty()


async def test_a_stopped_timer_does_not_ring() -> None:
    rung: asyncio.Queue[str] = asyncio.Queue()
    stopped, other = Timer(lambda: rung.put_nowait("stopped")), Timer(lambda: rung.put_nowait("other"))
    stopped.set(0.001)
    stopped.stop()
    stopped.stop()
    other.set(0.002)
    assert await asyncio.wait_for(rung.get(), LIMIT_S) == "other"
    assert not stopped.is_set
