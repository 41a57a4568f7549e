"""Clocks in the room: turns of several actions, lag, undo and takeback, flags, and the server being down."""

from __future__ import annotations

from typing import Any

import pytest

from tabuleiro.clock import ByoYomi, Fischer, FixedTurn, NoClock, remaining_ms
from tabuleiro.ids import Player, TimestampMs
from tabuleiro.protocol.events import MatchEnded, TurnTakenBack
from tabuleiro.settings import RoomSettings
from tabuleiro_server.room.commands import Expire, Play, Resign, Resume, Undo
from tests.room.story import ANA, LAST_ACTION, ME, RUI, START_MS, STILL, Story, playing

BLITZ = Fischer(initial_ms=60_000, increment_ms=2_000)


def timed(control: Any = BLITZ, **changes: Any) -> Story:
    return playing(settings=RoomSettings(time_control=control, **changes))


def left_ms(story: Story, player: Player) -> int | None:
    return remaining_ms(story.room.settings.time_control, story.clock, player, story.now_ms)


def test_the_clock_runs_from_the_start_and_a_turn_pays_once_for_all_its_actions() -> None:
    story = timed()
    story.later(3_000).play(ANA, "a3")
    assert (story.clock.running, left_ms(story, 0)) == (0, 57_000)
    story.later(4_000).play(ANA, "a2")
    assert (story.clock.running, left_ms(story, 0), left_ms(story, 1)) == (1, 55_000, 60_000)
    story.later(10_000)
    assert (left_ms(story, 0), left_ms(story, 1)) == (55_000, 50_000)


def test_without_a_clock_nothing_runs_out() -> None:
    story = timed(NoClock())
    story.later(10**9).play(ANA, "a3", "a2")
    assert left_ms(story, 0) is None


def test_a_flag_falls_by_the_timer_and_late_actions_are_refused() -> None:
    story = timed()
    story.later(60_000)
    assert story.refused(Play(ANA, 1, 0, ("a3",))) == "wrong-phase"
    assert story.when(Expire(STILL)) == (MatchEnded(1, 1, "timeout"),)
    assert left_ms(story, 0) == 0


def test_an_action_in_the_last_millisecond_counts() -> None:
    story = timed()
    story.later(59_999).play(ANA, "a3", "a2")
    assert left_ms(story, 0) == 1 + BLITZ.increment_ms


def test_undoing_gives_no_time_back() -> None:
    story = timed()
    story.later(5_000).play(ANA, "a3")
    story.later(5_000).when(Undo(ANA, 1, 0))
    assert left_ms(story, 0) == 50_000
    story.later(50_000)
    assert story.when(Expire(STILL)) == (MatchEnded(1, 1, "timeout"),)


def test_taking_back_gives_no_time_back_and_earns_no_increment_twice() -> None:
    story = timed()
    story.later(10_000).play(ANA, "a3", "a2")
    story.later(5_000).offer(ANA, "takeback")
    assert story.answer(RUI, "takeback", accept=True) == (TurnTakenBack(1, 0, 0),)
    assert (left_ms(story, 0), left_ms(story, 1), story.clock.running) == (52_000, 55_000, 0)
    story.later(1_000).play(ANA, "b3", "b2")
    assert left_ms(story, 0) == 51_000


def test_byo_yomi_periods_are_used_up_by_one_turn_after_the_other() -> None:
    story = timed(ByoYomi(main_ms=10_000, period_ms=5_000, periods=2))
    story.later(12_000).play(ANA, "a3", "a2")
    assert (left_ms(story, 0), story.clock.players[0].periods_left) == (5_000, 1)
    story.later(1_000).play(RUI, "d2", "d3")
    story.later(9_999)
    assert story.when(Expire(STILL)) == ()
    assert story.later(1).when(Expire(STILL)) == (MatchEnded(1, 1, "timeout"),)


def test_a_fixed_turn_is_whole_again_each_time() -> None:
    story = timed(FixedTurn(30_000))
    story.later(29_000).play(ANA, "a3", "a2")
    assert (left_ms(story, 0), left_ms(story, 1)) == (30_000, 30_000)


def test_lag_is_given_back_from_a_quota_and_the_timer_waits_for_it() -> None:
    story = timed()
    story.later(10_000).play(ANA, "a3", "a2", lag_ms=300)
    assert left_ms(story, 0) == 52_300
    quota = story.clock.players[0].lag_quota_ms
    story.later(1_000).play(RUI, "d2", "d3")
    assert story.deadline().at_ms == story.now_ms + 52_300 + 300
    story.later(52_300 + 299).play(ANA, "b2", "b1", lag_ms=300)
    assert story.clock.players[0].lag_quota_ms == quota - 300


def test_a_quota_of_lag_runs_out() -> None:
    story = timed(Fischer(initial_ms=2_000, increment_ms=0))
    story.later(1_000).play(ANA, "a3", "a2", lag_ms=400)
    assert (left_ms(story, 0), story.clock.players[0].lag_quota_ms) == (1_100, 0)
    story.later(100).play(RUI, "d2", "d3", lag_ms=50)
    story.later(500).play(ANA, "b2", "b1", lag_ms=400)
    assert left_ms(story, 0) == 600


def test_the_clock_stops_with_the_match() -> None:
    story = timed()
    story.later(10_000).when(Resign(RUI, 1))
    story.later(10_000)
    assert (left_ms(story, 0), left_ms(story, 1), story.clock.running) == (50_000, 60_000, None)
    over = playing(LAST_ACTION, settings=RoomSettings(time_control=BLITZ))
    over.later(1_000).play(ANA, "b1")
    assert over.clock.running is None


def test_a_rematch_has_new_clocks() -> None:
    story = timed()
    story.later(10_000).when(Resign(RUI, 1))
    story.offer(ANA, "rematch")
    story.later(5_000).offer(RUI, "rematch")
    assert (left_ms(story, 0), left_ms(story, 1), story.clock.since_ms) == (60_000, 60_000, story.now_ms)


def down(story: Story, up_ms: int, down_ms: int, noticed_ms: int = 0) -> None:
    """The server runs for ``up_ms``, is down for ``down_ms``; the room is touched ``noticed_ms`` later."""
    down_since_ms = TimestampMs(story.later(up_ms).now_ms)
    up_since_ms = TimestampMs(story.later(down_ms).now_ms)
    story.later(noticed_ms).when(Resume(down_since_ms, up_since_ms))


def test_the_time_that_the_server_is_down_does_not_count() -> None:
    story = timed()
    down(story, up_ms=20_000, down_ms=10**9)
    assert left_ms(story, 0) == 40_000
    assert story.when(Expire(STILL)) == ()
    assert story.deadline().at_ms == story.now_ms + 40_000


def test_it_counts_if_that_was_promised_and_the_flag_falls_at_the_restart() -> None:
    story = timed(counts_downtime=True)
    down(story, up_ms=20_000, down_ms=30_000)
    assert left_ms(story, 0) == 10_000
    down(story, up_ms=1_000, down_ms=9_000)
    assert story.when(Expire(STILL)) == (MatchEnded(1, 1, "timeout"),)


def test_the_time_from_the_restart_until_somebody_looks_counts() -> None:
    """Symptom: a room that was touched an hour after a restart got that hour for nothing."""
    story = timed()
    down(story, up_ms=20_000, down_ms=10**9, noticed_ms=15_000)
    assert left_ms(story, 0) == 25_000
    assert story.room.away_since_ms == (story.now_ms - 15_000, story.now_ms - 15_000)


def test_the_flag_that_fell_while_nobody_looked_is_down() -> None:
    story = timed()
    down(story, up_ms=20_000, down_ms=10**9, noticed_ms=40_000)
    assert story.refused(Play(ANA, 1, 0, ("a3",))) == "wrong-phase"
    assert story.when(Expire(STILL)) == (MatchEnded(1, 1, "timeout"),)


def test_a_restart_before_the_turn_began_by_the_clock_charges_nothing() -> None:
    story = timed()
    story.later(5_000).when(Resume(TimestampMs(START_MS - 1_000), TimestampMs(story.now_ms)))
    assert left_ms(story, 0) == 60_000


@pytest.mark.parametrize("account", [ANA, RUI])
def test_a_clock_set_back_charges_nobody(account: Any) -> None:
    story = timed()
    story.later(-5_000)
    if account == ANA:
        story.play(ANA, "a3", "a2")
        assert left_ms(story, 0) == 62_000
    else:
        story.when(Resign(RUI, 1))
        assert left_ms(story, 0) == 60_000


def test_at_one_keyboard_both_clocks_run_in_turn() -> None:
    story = Story()
    story.open((ME, ME), settings=RoomSettings(time_control=BLITZ))
    story.later(1_000).play(ANA, "a3", "a2")
    story.later(2_000).play(ANA, "d2", "d3")
    assert (left_ms(story, 0), left_ms(story, 1)) == (61_000, 60_000)
