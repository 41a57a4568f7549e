"""Clocks: what each event does to them, and what holds for any time control at any moment."""

from __future__ import annotations

import msgspec
import pytest
from hypothesis import given
from hypothesis import strategies as st

from tabuleiro.clock import (
    LAG_CAP_PER_TURN_MS,
    NO_CLOCK,
    ByoYomi,
    ClockState,
    Correspondence,
    Fischer,
    FixedTurn,
    PlayerClock,
    TimeControl,
    begin_turn,
    compensation_ms,
    end_turn,
    flag_deadline_ms,
    has_flagged,
    is_paused,
    lag_quota_ms,
    new_clock,
    offset_bound_ms,
    pause,
    periods_left,
    player_clock_at,
    remaining_ms,
    resume,
    stop,
    take_back,
    total_remaining_ms,
)
from tabuleiro.ids import DAY_MS

BLITZ = Fischer(initial_ms=60_000, increment_ms=2_000)
JAPANESE = ByoYomi(main_ms=10_000, period_ms=30_000, periods=3)

# Short times, so that random moments fall into every stage.
short_ms = st.integers(1, 4).map(lambda seconds: seconds * 1_000)
timed_controls: st.SearchStrategy[TimeControl] = st.one_of(
    st.builds(Fischer, short_ms, st.sampled_from([0, 1_000, 3_000])),
    st.builds(ByoYomi, st.sampled_from([0, 1_000, 3_000]), short_ms, st.integers(1, 4)),
    st.builds(FixedTurn, short_ms),
    st.builds(Correspondence, st.just(1)),
)
controls = st.one_of(st.just(NO_CLOCK), timed_controls)
spans_ms = st.one_of(st.integers(0, 20_000), st.integers(0, 20).map(lambda seconds: seconds * 1_000))
lags_ms = st.integers(-10, 2 * LAG_CAP_PER_TURN_MS)
players = st.sampled_from([0, 1])


def started(control: TimeControl, now_ms: int = 0) -> ClockState:
    """Return the clock of a match in which player 0 began to think at ``now_ms``."""
    return begin_turn(control, new_clock(control), 0, now_ms)


def total_ms(control: TimeControl, clock: ClockState, now_ms: int) -> int:
    """Return the time until the flag of player 0 falls."""
    total = total_remaining_ms(control, clock, 0, now_ms)
    assert total is not None
    return total


# What single events do.


def test_both_players_have_everything_before_the_match_and_nothing_runs() -> None:
    clock = new_clock(BLITZ)
    assert clock.running is None
    assert [remaining_ms(BLITZ, clock, player, 99_999) for player in (0, 1)] == [60_000, 60_000]
    assert flag_deadline_ms(BLITZ, clock) is None
    assert not has_flagged(BLITZ, clock, now_ms=10**15)


def test_fischer_turn_costs_its_time_and_earns_the_increment() -> None:
    clock = end_turn(BLITZ, started(BLITZ), now_ms=15_000)
    assert [player.stage_ms for player in clock.players] == [47_000, 60_000]


def test_quick_fischer_turns_save_time_beyond_the_initial_time() -> None:
    assert end_turn(BLITZ, started(BLITZ), now_ms=500).players[0].stage_ms == 61_500


def test_player_who_ran_out_earns_no_increment_and_no_reset() -> None:
    for control in (BLITZ, JAPANESE, FixedTurn(60_000), Correspondence(1)):
        ended = end_turn(control, started(control), now_ms=2 * DAY_MS)
        assert ended.players[0] == PlayerClock(stage_ms=0, lag_quota_ms=lag_quota_ms(control))


@pytest.mark.parametrize(
    ("spent_ms", "during", "after"),
    [
        (9_999, (1, 3), (1, 3)),
        (10_000, (30_000, 2), (30_000, 2)),
        (10_001, (29_999, 2), (30_000, 2)),
        (39_999, (1, 2), (30_000, 2)),
        (40_000, (30_000, 1), (30_000, 1)),
        (99_999, (1, 0), (30_000, 0)),
        (100_000, (0, 0), (0, 0)),
    ],
)
def test_byo_yomi_turn_goes_through_main_time_and_periods(
    spent_ms: int, during: tuple[int, int], after: tuple[int, int]
) -> None:
    clock = started(JAPANESE)
    shown = remaining_ms(JAPANESE, clock, 0, spent_ms), periods_left(JAPANESE, clock, 0, spent_ms)
    assert shown == during
    ended = end_turn(JAPANESE, clock, spent_ms).players[0]
    assert (ended.stage_ms, ended.periods_left) == after


def test_byo_yomi_without_main_time_begins_in_the_first_period() -> None:
    control = ByoYomi(main_ms=0, period_ms=30_000, periods=3)
    assert (new_clock(control).players[0].stage_ms, new_clock(control).players[0].periods_left) == (30_000, 2)
    ended = end_turn(control, started(control), now_ms=29_999).players[0]
    assert (ended.stage_ms, ended.periods_left) == (30_000, 2)


@pytest.mark.parametrize("control", [FixedTurn(60_000), Correspondence(2)])
def test_fixed_turn_is_whole_again_after_it_was_played(control: FixedTurn | Correspondence) -> None:
    clock = end_turn(control, started(control), now_ms=control.turn_ms - 1)
    assert clock.players[0].stage_ms == control.turn_ms


def test_without_a_clock_nothing_is_counted_but_whose_turn_it_is() -> None:
    clock = started(NO_CLOCK, now_ms=7)
    assert (clock.running, clock.since_ms) == (0, 7)
    assert remaining_ms(NO_CLOCK, clock, 0, 10**12) is None
    assert total_remaining_ms(NO_CLOCK, clock, 0, 10**12) is None
    assert flag_deadline_ms(NO_CLOCK, clock) is None
    assert not has_flagged(NO_CLOCK, clock, 10**15)


def test_stop_freezes_what_the_running_player_had_inside_a_period() -> None:
    stopped = stop(JAPANESE, started(JAPANESE), now_ms=15_000)
    assert stopped.running is None
    assert remaining_ms(JAPANESE, stopped, 0, now_ms=10**12) == 25_000
    assert resume(JAPANESE, stopped, now_ms=10**12) == stopped


def test_pause_before_a_match_and_twice_in_a_row_changes_nothing() -> None:
    assert pause(BLITZ, new_clock(BLITZ), now_ms=5) == new_clock(BLITZ)
    paused = pause(BLITZ, started(BLITZ), now_ms=5_000)
    assert is_paused(paused)
    assert pause(BLITZ, paused, now_ms=50_000) == paused


def test_paused_clock_has_no_deadline_and_resumed_one_flags_later_by_the_pause() -> None:
    paused = pause(BLITZ, started(BLITZ), now_ms=5_000)
    assert flag_deadline_ms(BLITZ, paused) is None
    assert not has_flagged(BLITZ, paused, now_ms=10**12)
    assert flag_deadline_ms(BLITZ, resume(BLITZ, paused, now_ms=1_005_000)) == 1_060_000


def test_flag_that_fell_before_the_pause_falls_at_once_when_resumed() -> None:
    resumed = resume(BLITZ, pause(BLITZ, started(BLITZ), now_ms=60_000), now_ms=90_000)
    assert flag_deadline_ms(BLITZ, resumed, lag_ms=100) == 90_000
    assert has_flagged(BLITZ, resumed, now_ms=90_000, lag_ms=100)
    assert has_flagged(BLITZ, resumed, now_ms=80_000)


def test_resume_leaves_a_running_clock_alone() -> None:
    assert resume(BLITZ, started(BLITZ), now_ms=9_000) == started(BLITZ)


def test_end_turn_without_a_turn_changes_nothing() -> None:
    assert end_turn(BLITZ, new_clock(BLITZ), now_ms=9_000) == new_clock(BLITZ)


def test_beginning_over_a_running_turn_charges_it_and_earns_nothing() -> None:
    clock = begin_turn(BLITZ, started(BLITZ), 1, now_ms=4_000)
    assert [player.stage_ms for player in clock.players] == [56_000, 60_000]
    assert (clock.running, clock.since_ms) == (1, 4_000)


# Lag.


def test_lag_is_spared_up_to_the_cap_of_a_turn_and_taken_from_the_quota() -> None:
    ended = end_turn(BLITZ, started(BLITZ), now_ms=10_000, lag_ms=80_000).players[0]
    assert ended.stage_ms == 60_000 - 10_000 + LAG_CAP_PER_TURN_MS + 2_000
    assert ended.lag_quota_ms == lag_quota_ms(BLITZ) - LAG_CAP_PER_TURN_MS


def test_lag_longer_than_the_turn_spares_the_turn_alone() -> None:
    ended = end_turn(BLITZ, started(BLITZ), now_ms=30, lag_ms=400).players[0]
    assert (ended.stage_ms, ended.lag_quota_ms) == (62_000, lag_quota_ms(BLITZ) - 30)


def test_used_up_quota_spares_no_more_lag() -> None:
    control = Fischer(initial_ms=20_000, increment_ms=0)
    clock = new_clock(control)
    for turn in range(4):
        clock = end_turn(control, begin_turn(control, clock, 0, turn * 1_000), turn * 1_000 + 1_000, lag_ms=400)
    assert lag_quota_ms(control) == 1_000
    assert (clock.players[0].stage_ms, clock.players[0].lag_quota_ms) == (20_000 - 4_000 + 1_000, 0)
    assert clock.players[1].lag_quota_ms == 1_000


def test_turn_sent_in_time_is_not_flagged_when_it_arrives_late_by_its_lag() -> None:
    clock = started(BLITZ)
    assert has_flagged(BLITZ, clock, now_ms=60_050)
    assert not has_flagged(BLITZ, clock, now_ms=60_050, lag_ms=80)
    assert end_turn(BLITZ, clock, now_ms=60_050, lag_ms=80).players[0].stage_ms == 30 + 2_000


# Taking back.


def test_time_used_in_a_turn_taken_back_stays_used() -> None:
    clock = end_turn(BLITZ, started(BLITZ), now_ms=10_000)
    clock = begin_turn(BLITZ, clock, 1, now_ms=10_000)
    clock = take_back(BLITZ, clock, 0, now_ms=13_000, undone_turns=(1, 0))
    assert [player.stage_ms for player in clock.players] == [52_000, 57_000]
    assert (clock.running, clock.since_ms) == (0, 13_000)


def test_turn_played_instead_of_one_taken_back_earns_no_second_increment() -> None:
    clock, now_ms = started(BLITZ), 0
    for _ in range(5):
        clock = begin_turn(BLITZ, end_turn(BLITZ, clock, now_ms), 1, now_ms)
        clock = take_back(BLITZ, clock, 0, now_ms, undone_turns=(1, 0))
    clock = end_turn(BLITZ, clock, now_ms)
    assert clock.players[0].stage_ms == 62_000
    assert end_turn(BLITZ, begin_turn(BLITZ, clock, 0, now_ms), now_ms).players[0].stage_ms == 64_000


def test_taking_back_over_the_opponents_turn_costs_both_their_next_increment() -> None:
    clock = end_turn(BLITZ, started(BLITZ), now_ms=0)
    clock = end_turn(BLITZ, begin_turn(BLITZ, clock, 1, 0), now_ms=0)
    clock = begin_turn(BLITZ, clock, 0, now_ms=0)
    clock = take_back(BLITZ, clock, 0, now_ms=1_000, undone_turns=(1, 1))
    clock = end_turn(BLITZ, clock, now_ms=1_000)
    clock = end_turn(BLITZ, begin_turn(BLITZ, clock, 1, 1_000), now_ms=1_000)
    assert [player.stage_ms for player in clock.players] == [61_000, 62_000]


def test_turn_broken_off_by_a_takeback_leaves_its_period_or_fixed_turn_whole() -> None:
    fixed = FixedTurn(60_000)
    clock = take_back(fixed, begin_turn(fixed, new_clock(fixed), 1, 0), 0, now_ms=50_000, undone_turns=(1, 0))
    assert clock.players[1].stage_ms == 60_000
    japanese = take_back(JAPANESE, begin_turn(JAPANESE, new_clock(JAPANESE), 1, 0), 0, 45_000, undone_turns=(1, 0))
    assert (japanese.players[1].stage_ms, japanese.players[1].periods_left) == (30_000, 1)


# What always holds.


@given(control=timed_controls, start_ms=st.integers(0, 10**13), lag_ms=lags_ms)
def test_deadline_is_the_first_moment_of_the_flag(control: TimeControl, start_ms: int, lag_ms: int) -> None:
    clock = started(control, start_ms)
    deadline_ms = flag_deadline_ms(control, clock, lag_ms)
    assert deadline_ms is not None
    for now_ms in (deadline_ms - 1, deadline_ms):
        # An independent account: the flag has fallen exactly when the turn could not end with time left.
        out_of_time = end_turn(control, clock, now_ms, lag_ms).players[0].stage_ms == 0
        assert has_flagged(control, clock, now_ms, lag_ms) == out_of_time == (now_ms == deadline_ms)


@given(control=timed_controls, spent_ms=spans_ms)
def test_nothing_remains_exactly_when_the_flag_has_fallen(control: TimeControl, spent_ms: int) -> None:
    clock = started(control)
    shown = remaining_ms(control, clock, 0, spent_ms)
    assert shown is not None
    assert shown >= 0
    assert (shown == 0) == has_flagged(control, clock, spent_ms)
    assert total_ms(control, clock, spent_ms) == max(total_ms(control, clock, 0) - spent_ms, 0)


@given(
    main_s=st.integers(0, 5),
    period_s=st.integers(1, 4),
    periods=st.integers(1, 5),
    spent_ms=st.integers(0, 30_000),
)
def test_byo_yomi_agrees_with_counting_period_by_period(
    main_s: int, period_s: int, periods: int, spent_ms: int
) -> None:
    control = ByoYomi(main_s * 1_000, period_s * 1_000, periods)
    stages_ms = [main_s * 1_000] + [period_s * 1_000] * periods
    left_ms = spent_ms
    while stages_ms and left_ms >= stages_ms[0]:
        left_ms -= stages_ms.pop(0)
    expected = (stages_ms[0] - left_ms, len(stages_ms) - 1) if stages_ms else (0, 0)
    at = player_clock_at(control, started(control), 0, spent_ms)
    assert (at.stage_ms, at.periods_left) == expected


@given(
    control=controls, thought_ms=spans_ms, away_ms=spans_ms, more_ms=spans_ms,
    end=st.sampled_from([end_turn, stop]),
)  # fmt: skip
def test_time_between_pause_and_resume_is_as_if_it_had_not_been(
    control: TimeControl, thought_ms: int, away_ms: int, more_ms: int, end: object
) -> None:
    paused = pause(control, started(control), thought_ms)
    assert player_clock_at(control, paused, 0, thought_ms + away_ms) == paused.players[0]
    resumed = resume(control, paused, thought_ms + away_ms)
    assert callable(end)
    with_pause = end(control, resumed, thought_ms + away_ms + more_ms)
    assert with_pause == end(control, started(control), thought_ms + more_ms)


@given(control=controls, back_ms=st.integers(0, 10**6), lag_ms=lags_ms)
def test_clock_of_the_machine_set_back_charges_nothing(control: TimeControl, back_ms: int, lag_ms: int) -> None:
    clock = started(control, now_ms=10**7)
    earlier_ms = 10**7 - back_ms
    assert player_clock_at(control, clock, 0, earlier_ms) == clock.players[0]
    assert stop(control, clock, earlier_ms).players == clock.players
    assert end_turn(control, clock, earlier_ms, lag_ms) == end_turn(control, clock, 10**7)


@given(
    control=timed_controls, spent_ms=spans_ms, ahead_ms=st.integers(-(10**6), 10**6), there_ms=spans_ms,
    back_ms=spans_ms,
)  # fmt: skip
def test_client_never_shows_more_than_the_server_has(
    control: TimeControl, spent_ms: int, ahead_ms: int, there_ms: int, back_ms: int
) -> None:
    """The client's clock is ``ahead_ms`` ahead; its question takes ``there_ms``, the answer ``back_ms``."""
    clock = started(control, now_ms=10**7)
    now_ms = 10**7 + spent_ms
    answered_ms = now_ms - back_ms
    offset_ms = offset_bound_ms(asked_ms=answered_ms - there_ms + ahead_ms, server_ms=answered_ms)
    shown = player_clock_at(control, clock, 0, now_ms + ahead_ms + offset_ms)
    there = player_clock_at(control, clock, 0, now_ms)
    assert (shown.periods_left, shown.stage_ms) <= (there.periods_left, there.stage_ms)
    assert there_ms or shown == there


@given(control=controls, spent_ms=spans_ms, lag_ms=lags_ms)
def test_compensation_spares_no_more_than_lag_quota_and_cap(
    control: TimeControl, spent_ms: int, lag_ms: int
) -> None:
    clock = started(control)
    spared_ms = clock.players[0].lag_quota_ms - end_turn(control, clock, spent_ms, lag_ms).players[0].lag_quota_ms
    assert 0 <= spared_ms <= min(spent_ms, max(lag_ms, 0), LAG_CAP_PER_TURN_MS, lag_quota_ms(control))
    assert compensation_ms(new_clock(control), lag_ms) == 0
    played_sooner = end_turn(control, clock, spent_ms - spared_ms).players[0]
    assert end_turn(control, clock, spent_ms, lag_ms).players[0].stage_ms == played_sooner.stage_ms


@given(control=controls, now_ms=st.integers(0, 10**13), player=players)
def test_clock_survives_json_and_msgpack(control: TimeControl, now_ms: int, player: object) -> None:
    clock = begin_turn(control, new_clock(control), 0 if player == 0 else 1, now_ms)
    for state in (clock, pause(control, clock, now_ms + 900), stop(control, clock, now_ms + 900)):
        assert msgspec.json.decode(msgspec.json.encode(state), type=ClockState) == state
        assert msgspec.msgpack.decode(msgspec.msgpack.encode(state), type=ClockState) == state


def test_wire_clock_with_negative_time_is_not_decoded() -> None:
    wire = msgspec.to_builtins(new_clock(BLITZ))
    wire["players"][0]["stage_ms"] = -1
    with pytest.raises(msgspec.ValidationError):
        msgspec.convert(wire, ClockState)
