"""What time alone brings: late bots, stand-ins, seats and rooms that nobody cares for."""

from __future__ import annotations

import pytest

from tabuleiro.clock import Correspondence, Fischer
from tabuleiro.protocol.events import (
    BotSeated,
    MatchEnded,
    MatchStarted,
    RoomClosed,
    RoomResumed,
    SeatFreed,
    SeatsSwapped,
    StandInSeated,
)
from tabuleiro.settings import LateBot, RoomLimits, RoomSettings
from tabuleiro_server.room.commands import Expire, Leave, Resign, Resume
from tabuleiro_server.room.deadlines import next_deadline
from tabuleiro_server.room.state import bot_account
from tests.room.story import ANA, BOT, EVA, ME, OPEN, RUI, START_MS, STILL, SWAPPED, Story, finished, playing

LIMITS = RoomLimits()
LATE = RoomSettings(late_bot=LateBot("random", 30_000))


def test_a_waiting_room_in_which_nothing_happens_is_closed() -> None:
    story = Story()
    story.open()
    story.later(5_000).say(EVA, "anybody here?")
    assert story.expire() == (RoomClosed("nobody came"),)
    assert story.now_ms == START_MS + 5_000 + LIMITS.waiting_ms
    assert next_deadline(story.room) is None


def test_a_seat_that_nobody_comes_back_to_is_freed_and_the_empty_room_closed() -> None:
    story = Story()
    story.open()
    story.leave_for(ANA, 0)
    assert story.expire() == (SeatFreed(0), RoomClosed("everybody left"))
    assert story.now_ms == START_MS + LIMITS.empty_seat_ms


def test_who_comes_back_in_time_keeps_the_seat() -> None:
    story = Story()
    story.open()
    story.leave_for(ANA, LIMITS.empty_seat_ms - 1)
    story.come_back(ANA)
    story.later(LIMITS.empty_seat_ms)
    assert story.when(Expire(STILL)) == ()
    assert story.room.seats[0].account == ANA


def test_seats_of_a_running_match_are_kept() -> None:
    story = playing()
    story.leave_for(ANA, LIMITS.empty_seat_ms)
    assert story.when(Expire(STILL)) == ()


def test_a_late_bot_takes_the_open_seat_when_nobody_has() -> None:
    story = Story()
    story.open(settings=LATE)
    assert story.expire() == (BotSeated(1, "random"), MatchStarted(1))
    assert story.now_ms == START_MS + 30_000


def test_a_late_bot_finds_the_seat_taken_and_does_not_come() -> None:
    story = playing(settings=LATE)
    assert story.later(30_000).when(Expire(STILL)) == ()


def test_a_late_bot_lets_it_be_drawn_who_begins() -> None:
    story = Story()
    story.open(settings=RoomSettings(late_bot=LateBot("random", 0), first="draw"))
    assert story.expire(SWAPPED) == (BotSeated(1, "random"), SeatsSwapped(), MatchStarted(1))
    assert story.room.is_bot_to_move


def test_with_two_open_seats_the_time_of_a_late_bot_counts_from_the_first_who_sits_down() -> None:
    """Symptom: who joined an old room with two open seats had a bot for an opponent at once."""
    story = Story()
    story.open((OPEN, OPEN), settings=LATE)
    assert story.deadline().events() == (RoomClosed("nobody came"),)
    story.later(10 * 60_000).join(RUI, 1)
    assert story.expire() == (BotSeated(0, "random"), MatchStarted(1))
    assert story.now_ms == START_MS + 10 * 60_000 + 30_000


def test_a_late_bot_waits_for_who_is_not_there() -> None:
    """A match against somebody who is out would be lost on time before they are back."""
    story = Story()
    story.open(settings=LATE)
    story.leave_for(ANA, 60_000)
    assert story.when(Expire(STILL)) == ()
    story.come_back(ANA)
    assert story.expire() == (BotSeated(1, "random"), MatchStarted(1))
    assert story.now_ms == START_MS + 60_000


def test_a_late_bot_does_not_come_to_another_bot() -> None:
    story = Story()
    story.open((BOT, OPEN), settings=LATE)
    assert story.expire() == (RoomClosed("nobody came"),)


def test_a_late_bot_does_not_come_after_the_first_match() -> None:
    story = finished(settings=LATE)
    story.when(Leave(RUI))
    assert story.expire() == (RoomClosed("the match ended long ago"),)


def test_a_match_without_a_clock_and_without_any_event_is_aborted() -> None:
    story = playing()
    story.later(1_000).play(ANA, "a3", "a2")
    story.later(1_000).play(RUI, "d2", "d3")
    assert story.expire() == (MatchEnded(1, None, "aborted"),)
    assert story.now_ms == START_MS + 2_000 + LIMITS.idle_match_ms


def test_a_match_that_no_person_has_moved_in_is_aborted_as_soon_as_a_waiting_room_is_closed() -> None:
    """Symptom: rooms that somebody made and left were kept for 60 days."""
    story = playing()
    assert story.expire() == (MatchEnded(1, None, "aborted"),)
    assert story.now_ms == START_MS + LIMITS.waiting_ms
    story = Story()
    story.open((BOT, ME))
    story.later(1_000).play(bot_account(0), "a3", "a2")
    assert story.expire() == (MatchEnded(1, None, "aborted"),)
    assert story.now_ms == START_MS + 1_000 + LIMITS.waiting_ms
    story = playing()
    story.later(1_000).play(ANA, "a3", "a2")
    assert story.expire() == (MatchEnded(1, None, "aborted"),)
    assert story.now_ms == START_MS + 1_000 + LIMITS.idle_match_ms


def test_a_finished_room_is_closed_after_a_while() -> None:
    story = finished()
    assert story.expire() == (RoomClosed("the match ended long ago"),)
    assert story.now_ms == START_MS + LIMITS.finished_ms


def test_a_stand_in_is_awaited_only_while_its_player_has_to_move() -> None:
    story = playing(settings=RoomSettings(stand_in_level="minimax-1", away_after_ms=5_000))
    story.leave_for(RUI, 60_000)
    assert story.deadline().events() == (MatchEnded(1, None, "aborted"),)
    story.play(ANA, "a3", "a2")
    assert story.expire() == (StandInSeated(1, "minimax-1"),)
    assert story.now_ms == START_MS + 60_000


def test_a_flag_may_fall_before_the_stand_in_comes() -> None:
    timed = Fischer(initial_ms=60_000, increment_ms=0)
    story = playing(
        settings=RoomSettings(time_control=timed, stand_in_level="random", away_after_ms=120_000),
    )
    story.leave_for(ANA, 0)
    assert story.expire() == (MatchEnded(1, 1, "timeout"),)


def test_after_a_restart_everybody_is_away_since_the_server_is_back() -> None:
    story = playing(settings=RoomSettings(stand_in_level="random", away_after_ms=60_000))
    story.leave_for(ANA, 40_000)
    story.later(1_000_000)
    resumed = Resume(story.now_ms - 900_000, story.now_ms)
    assert story.when(resumed) == (RoomResumed(story.now_ms - 900_000, story.now_ms),)
    assert story.room.away_since_ms == (story.now_ms, story.now_ms)
    back_ms = story.now_ms
    assert story.expire() == (StandInSeated(0, "random"),)
    assert story.now_ms == back_ms + 60_000


def test_a_restart_leaves_bots_and_open_seats_alone() -> None:
    story = Story()
    story.open((BOT, OPEN))
    story.later(1_000).when(Resume(story.now_ms, story.now_ms))
    assert story.room.away_since_ms == (None, None)


@pytest.mark.parametrize("control", [Fischer(60_000, 0), Correspondence(1)])
def test_with_a_clock_it_is_the_flag_that_ends_an_idle_match(control: Fischer | Correspondence) -> None:
    story = playing(settings=RoomSettings(time_control=control))
    assert story.expire() == (MatchEnded(1, 1, "timeout"),)


def test_a_bot_that_never_moves_loses_on_time_too() -> None:
    story = Story()
    story.open((BOT, ME), settings=RoomSettings(time_control=Fischer(60_000, 0)))
    assert story.expire() == (MatchEnded(1, 1, "timeout"),)


def test_what_was_overtaken_does_not_happen() -> None:
    story = playing()
    story.play(ANA, "a3", "a2")
    due_ms = story.deadline().at_ms
    story.when(Resign(ANA, 1))
    story.now_ms = due_ms
    assert story.when(Expire(STILL)) == (RoomClosed("the match ended long ago"),)
