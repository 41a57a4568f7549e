"""An alarm rings once, at the earliest moment that was asked for."""

from __future__ import annotations

import asyncio

from tabuleiro_server.rooms.room_task import Alarm

LIMIT_S = 30.0
LONG_S = 3_600.0


async def test_an_alarm_rings_at_the_earliest_moment_and_only_once() -> None:
    """Symptom: news waited for the moment that something later was waiting for."""
    rung: asyncio.Queue[bool] = asyncio.Queue()
    alarm = Alarm(lambda: rung.put_nowait(alarm.is_set))
    alarm.set(LONG_S)
    alarm.set(0.001)
    alarm.set(LONG_S)
    assert alarm.is_set
    assert await asyncio.wait_for(rung.get(), LIMIT_S) is False
    assert not alarm.is_set
    alarm.set(0.001)
    await asyncio.wait_for(rung.get(), LIMIT_S)
    assert rung.empty()


async def test_a_stopped_alarm_does_not_ring() -> None:
    rung: asyncio.Queue[str] = asyncio.Queue()
    stopped, other = Alarm(lambda: rung.put_nowait("stopped")), Alarm(lambda: rung.put_nowait("other"))
    stopped.set(0.001)
    stopped.stop()
    stopped.stop()
    other.set(0.002)
    assert await asyncio.wait_for(rung.get(), LIMIT_S) == "other"
    assert not stopped.is_set
