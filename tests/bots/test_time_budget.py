"""The time that a clock allows a bot: some of it is always left, on a busy machine too."""

from __future__ import annotations

import pytest

from tabuleiro.clock import NO_CLOCK, Fischer, begin_turn, new_clock
from tabuleiro_server.bots.algorithms import PATIENCE_SHARE
from tabuleiro_server.bots.seats import (
    AT_ONCE_BELOW_MS,
    KERNELS_WAIT_MAX_MS,
    MISSES_MAX_COUNT,
    PROBE_COUNT,
    TimeBudget,
    kernels_wait_ms,
    time_budget,
)


def budget(left_ms: int, *, gone_ms: int = 0, crowd: float = 1.0, misses_count: int = 0) -> TimeBudget:
    """Return the budget with so much on the clock, of which ``gone_ms`` were used in this turn."""
    control = Fischer(3_600_000, 0)
    clock = begin_turn(control, new_clock(control), 0, 1_000 - 3_600_000 + left_ms)
    return time_budget(control, clock, 0, 1_000 + gone_ms, crowd=crowd, misses_count=misses_count)


def test_without_a_clock_there_is_no_limit() -> None:
    assert time_budget(NO_CLOCK, new_clock(NO_CLOCK), 0, 1_000) == TimeBudget(None, None)


def test_many_who_share_a_worker_think_shorter_without_a_clock_too() -> None:
    found = [
        time_budget(NO_CLOCK, new_clock(NO_CLOCK), 0, 1_000, crowd=crowd) for crowd in (2.0, 3.0, 20.0, 999.0)
    ]
    assert [each.think_ms for each in found] == [None, 2_000, 300, 100]
    assert {each.patience_ms for each in found} == {None}


def test_a_bot_thinks_for_a_part_of_what_it_can_spare_and_is_waited_for_longer() -> None:
    found = budget(90_500)
    assert (found.think_ms, found.patience_ms) == (1_000, 11_250)


def test_the_time_gone_in_this_turn_counts() -> None:
    assert budget(60_500, gone_ms=30_000) == budget(30_500)


def test_a_first_turn_comes_before_its_limit() -> None:
    """Symptom: on a long clock a bot in a crowd was waited for until the match was aborted."""
    control = Fischer(3_500_000, 0)
    found = time_budget(control, new_clock(control), 0, 1_000, until_ms=31_000)
    assert found == budget(30_000)
    assert time_budget(control, new_clock(control), 0, 31_000, until_ms=31_000) == TimeBudget(1, 0)


@pytest.mark.parametrize("turns_count", [10, 60])
def test_turns_that_take_all_the_patience_there_is_still_leave_time(turns_count: int) -> None:
    left_ms = 5_000
    for _ in range(turns_count):
        found = budget(left_ms)
        assert found.think_ms is not None
        assert found.patience_ms is not None
        assert found.think_ms >= 1
        assert found.think_ms <= found.patience_ms or found.patience_ms == 0
        left_ms -= found.patience_ms
    assert left_ms > AT_ONCE_BELOW_MS * 3 // 4


def test_nearly_out_of_time_a_turn_is_made_at_once() -> None:
    assert budget(AT_ONCE_BELOW_MS - 1).patience_ms == 0
    assert budget(AT_ONCE_BELOW_MS).patience_ms != 0


def test_many_who_share_a_worker_think_shorter_and_wait_as_long() -> None:
    alone, crowded = budget(90_500), budget(90_500, crowd=10.0)
    assert (crowded.think_ms, crowded.patience_ms) == (100, alone.patience_ms)


def test_after_answers_that_came_too_late_workers_are_asked_less() -> None:
    patiences = [budget(60_500, misses_count=count).patience_ms for count in range(MISSES_MAX_COUNT)]
    assert patiences == [7_500, 3_750, 1_875]
    later = [budget(60_500, misses_count=count).patience_ms for count in range(MISSES_MAX_COUNT, 20)]
    assert sum(patience != 0 for patience in later) == len(
        [n for n in range(MISSES_MAX_COUNT, 20) if n % PROBE_COUNT == 0]
    )


def test_a_first_turn_waits_for_kernels_for_a_third_of_its_clock_at_most() -> None:
    waits = []
    for left_ms in (900_000, 30_000, 6_000):
        control = Fischer(left_ms, 0)
        waits.append(kernels_wait_ms(control, begin_turn(control, new_clock(control), 0, 1_000), 0, 1_000))
    assert waits == [KERNELS_WAIT_MAX_MS, 10_000, 2_000]
    assert kernels_wait_ms(NO_CLOCK, new_clock(NO_CLOCK), 0, 1_000) == KERNELS_WAIT_MAX_MS


@pytest.mark.parametrize("left_ms", [2_000, 6_000, 30_000, 59_000])
def test_with_the_wait_within_its_time_to_think_a_first_turn_still_waits_for_a_third_at_most(left_ms: int) -> None:
    control = Fischer(left_ms, 0)
    clock = begin_turn(control, new_clock(control), 0, 1_000)
    think_ms = time_budget(control, clock, 0, 1_000).think_ms
    assert think_ms is not None
    wait_ms = kernels_wait_ms(control, clock, 0, 1_000, think_ms=think_ms)
    assert wait_ms + PATIENCE_SHARE * think_ms <= left_ms / 3


def test_the_wait_for_kernels_counts_the_limit_of_a_first_turn_and_leaves_time_for_the_answer() -> None:
    control = Fischer(900_000, 0)
    clock = new_clock(control)
    wait_ms = kernels_wait_ms(control, clock, 0, 1_000, until_ms=31_000)
    found = time_budget(control, clock, 0, 1_000, until_ms=31_000)
    assert wait_ms == 10_000
    assert found.patience_ms is not None
    assert wait_ms + found.patience_ms < 30_000
    assert kernels_wait_ms(control, clock, 0, 32_000, until_ms=31_000) == 0
