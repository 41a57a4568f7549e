from __future__ import annotations

import time

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tabuleiro_client.net.link import ServerClock, own_now_ms

delays = st.integers(0, 5_000)


@settings(max_examples=200)
@given(
    ahead_ms=st.integers(-(10**9), 10**9),
    exchanges=st.lists(st.tuples(st.booleans(), delays, delays, delays), max_size=12),
    later_ms=delays,
)
def test_the_servers_time_is_never_taken_for_earlier_than_it_is(ahead_ms, exchanges, later_ms):
    clock, own_ms = ServerClock(), 1_000_000
    clock.bound(own_ms - 10, own_ms - 5 + ahead_ms)
    for is_answer, before_ms, there_ms, back_ms in exchanges:
        asked_ms = own_ms + before_ms
        written_ms = asked_ms + there_ms
        own_ms = written_ms + back_ms
        if is_answer:
            clock.bound(asked_ms, written_ms + ahead_ms)
        else:
            clock.hear(own_ms, written_ms + ahead_ms)
        assert clock.at(own_ms + later_ms) >= own_ms + later_ms + ahead_ms


def test_the_closest_bound_counts_until_a_new_connection():
    clock = ServerClock()
    clock.bound(1_000, 6_000)
    clock.bound(2_000, 6_500)
    assert clock.at(10_000) == 14_500
    clock.forget()
    clock.bound(1_000, 9_000)
    assert clock.at(10_000) == 18_000


def test_a_server_whose_clock_was_set_forward_is_believed():
    clock = ServerClock()
    clock.bound(1_000, 1_000)
    clock.hear(2_000, 60_000)
    assert clock.at(2_000) == 60_000


@pytest.mark.parametrize("by_ms", [3_600_000, -3_600_000])
def test_setting_the_own_clock_moves_no_clock_that_is_shown(monkeypatch: pytest.MonkeyPatch, by_ms: int) -> None:
    """Symptom: the machine's clock was put on by an hour, and the match clock showed nothing left from then on."""
    before_ms = own_now_ms()
    now_ns = time.time_ns() + by_ms * 1_000_000
    monkeypatch.setattr(time, "time_ns", lambda: now_ns)
    assert 0 <= own_now_ms() - before_ms < 60_000
