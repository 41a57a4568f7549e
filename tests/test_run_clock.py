"""The clock of a run goes on steadily, tells standstills, and begins no earlier than what is on disk."""

from __future__ import annotations

import asyncio

import pytest
from structlog.testing import capture_logs

from tabuleiro.ids import DAY_MS, HOUR_MS, MINUTE_MS
from tabuleiro_server.run_clock import BEAT_S, STANDSTILL_MS, RunClock, elapsed_ms, wall_ms

START_MS = 1_767_225_600_000


class Machine:
    """The two clocks of a machine: one that is set, one that only goes on."""

    def __init__(self) -> None:
        self.set_by_ms = 0
        self.elapsed_ms = 5_000_000
        self.clock = RunClock(self._wall_ms, lambda: self.elapsed_ms)

    def _wall_ms(self) -> int:
        return START_MS + self.set_by_ms + self.elapsed_ms - 5_000_000


@pytest.mark.parametrize("by_ms", [MINUTE_MS, -HOUR_MS, 61 * DAY_MS, -61 * DAY_MS])
def test_setting_the_machines_clock_moves_nothing(by_ms: int) -> None:
    machine = Machine()
    machine.elapsed_ms += 700
    machine.set_by_ms += by_ms
    assert machine.clock.now_ms() == START_MS + 700
    machine.elapsed_ms += 50
    assert machine.clock.now_ms() == START_MS + 750


def test_a_run_begins_no_earlier_than_the_newest_event() -> None:
    machine = Machine()
    assert machine.clock.begin_after(START_MS - HOUR_MS) == 0
    assert machine.clock.now_ms() == START_MS
    assert machine.clock.begin_after(START_MS + HOUR_MS) == HOUR_MS
    machine.elapsed_ms += 10
    assert machine.clock.now_ms() == START_MS + HOUR_MS + 10


async def test_a_standstill_is_told_before_the_new_time_is_and_only_once() -> None:
    machine = Machine()
    told: list[tuple[int, int]] = []
    machine.clock.watch(lambda since_ms, until_ms: told.append((since_ms, until_ms)))
    try:
        machine.elapsed_ms += STANDSTILL_MS - 1
        awake_s = machine.clock.awake_s()
        assert told == []
        machine.elapsed_ms += 30_000
        assert machine.clock.awake_s() == awake_s
        assert told == [(START_MS + STANDSTILL_MS - 1, START_MS + STANDSTILL_MS + 29_999)]
        machine.elapsed_ms += 100
        assert machine.clock.awake_s() == pytest.approx(awake_s + 0.1)
        assert len(told) == 1
    finally:
        machine.clock.stop()


async def test_nothing_before_the_watch_and_after_its_end_is_a_standstill() -> None:
    machine = Machine()
    told: list[int] = []
    machine.elapsed_ms += HOUR_MS
    machine.clock.watch(lambda since_ms, until_ms: told.append(until_ms - since_ms))
    machine.clock.stop()
    machine.elapsed_ms += HOUR_MS
    machine.clock.now_ms()
    assert told == []


async def test_a_standstill_is_noticed_by_itself() -> None:
    machine = Machine()
    noticed = asyncio.Event()
    machine.clock.watch(lambda since_ms, until_ms: noticed.set())
    machine.elapsed_ms += HOUR_MS
    try:
        await asyncio.wait_for(noticed.wait(), 80 * BEAT_S)
    finally:
        machine.clock.stop()


async def test_the_host_is_told_once_that_the_machines_clock_was_set() -> None:
    machine = Machine()
    machine.clock.begin_after(START_MS + HOUR_MS)
    with capture_logs() as lines:
        machine.clock.watch(lambda since_ms, until_ms: None)
        machine.clock._beat()
        machine.set_by_ms += MINUTE_MS
        machine.clock._beat()
        machine.clock._beat()
        machine.clock.stop()
    assert [line["off_ms"] for line in lines if "was set" in line["event"]] == [MINUTE_MS - HOUR_MS]


def test_the_machines_clocks_go_on() -> None:
    clock = RunClock()
    assert abs(clock.now_ms() - wall_ms()) < HOUR_MS
    first_ms = elapsed_ms()
    assert elapsed_ms() >= first_ms


async def test_a_run_that_shares_a_clock_begins_at_it_and_comes_back_to_it_without_a_step_back() -> None:
    machine = Machine()
    clock = machine.clock
    clock.begin_at(START_MS - HOUR_MS)
    assert clock.now_ms() == START_MS - HOUR_MS
    told: list[int] = []
    with capture_logs() as logged:
        clock.watch(lambda since_ms, until_ms: told.append(until_ms - since_ms))
        try:
            for late_ms in (3, -3):
                clock.steer(late_ms)
                before_ms, elapsed_ms = clock.now_ms(), machine.elapsed_ms
                for _ in range(5):
                    clock._beat()
                    machine.elapsed_ms += 1
                    assert clock.now_ms() >= before_ms
                assert clock.now_ms() == before_ms + machine.elapsed_ms - elapsed_ms + late_ms
        finally:
            clock.stop()
    assert (told, logged) == ([], [])
