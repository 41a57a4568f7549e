from __future__ import annotations

import msgspec
import pytest

from tabuleiro.clock import Fischer, begin_turn, end_turn, new_clock
from tabuleiro.ids import DAY_MS
from tabuleiro.protocol.messages import BotThought, FirstTurn
from tabuleiro.settings import RoomSettings
from tabuleiro_client.net.mirror import seats_of
from tabuleiro_client.text.board import TextStyle
from tabuleiro_client.text.sentences import Cast, timed_notices

PLAIN = TextStyle(color=False, ascii=True)
BLITZ = Fischer(60_000, 0)


@pytest.fixture
def told(one_room):
    """The notices of the test's room, with some fields of its head replaced, for the holder of ``seats``."""
    room = one_room()

    def of(*seats, clock=None, first_turn=None, **fields):
        head = msgspec.structs.replace(room.head(), **fields)
        if first_turn is not None:
            head = msgspec.structs.replace(head, match=msgspec.structs.replace(head.match, first_turn=first_turn))
        if clock is not None:
            head = msgspec.structs.replace(head, match=msgspec.structs.replace(head.match, clock=clock))
        found = timed_notices(head, Cast(room.game, seats_of(head), seats, PLAIN), seats)
        return [(notice.at_ms, notice.text) for notice in found]

    of.head = room.head()
    return of


def away(head, since_ms):
    gone = msgspec.structs.replace(head.seats[1], is_connected=False, away_since_ms=since_ms)
    return (head.seats[0], gone)


def test_a_bot_that_thinks_for_long_is_told(told):
    assert told(0, thinking=BotThought(1, 5_000)) == [(6_500, "rui (red, o) is thinking")]


def test_a_clock_that_runs_low_is_told_to_its_player_alone(told):
    clock = begin_turn(BLITZ, new_clock(BLITZ), 0, 100_000)
    settings = RoomSettings(time_control=BLITZ)
    expected = [(130_000, "30 seconds left for blue"), (150_000, "10 seconds left for blue")]
    assert told(0, clock=clock, settings=settings) == expected
    assert told(1, clock=clock, settings=settings) == told(clock=clock, settings=settings) == []


def test_a_turn_that_begins_with_little_time_is_not_told_again(told):
    clock = end_turn(BLITZ, begin_turn(BLITZ, new_clock(BLITZ), 0, 0), 45_000)
    clock = begin_turn(BLITZ, clock, 0, 50_000)
    texts = [text for _, text in told(0, clock=clock, settings=RoomSettings(time_control=BLITZ))]
    assert texts == ["10 seconds left for blue"]


def test_a_win_that_may_be_claimed_is_told_to_the_opponent(told):
    seats = away(told.head, 10_000)
    text = "rui (red, o) has been away for 2 minutes: claim takes the win, or wait on"
    assert told(0, seats=seats) == [(130_000, text)]
    assert told(1, seats=seats) == told(seats=seats) == []
    assert told(0, seats=seats, settings=RoomSettings(stand_in_level="random")) == []


def test_nothing_is_to_be_told_when_no_match_runs(told):
    assert told(0, seats=away(told.head, 0), phase="finished", thinking=BotThought(1, 0)) == []


@pytest.mark.parametrize(("seats", "whose"), [((0,), "your"), ((1,), "ana's"), ((), "ana's")])
def test_everybody_is_told_twice_that_the_clock_waits_for_first_turns(told, seats, whose):
    text = "the clock starts after both first turns; {} s for {} first turn"
    expected = [(100_000, text.format(30, whose)), (120_000, text.format(10, whose))]
    assert sorted(told(*seats, first_turn=FirstTurn(130_000, 30_000))) == expected


def test_a_short_limit_for_first_turns_is_told_once(told):
    assert [at_ms for at_ms, _ in told(0, first_turn=FirstTurn(130_000, 10_000))] == [120_000]


def test_a_day_for_the_first_turn_is_told_as_one(told):
    notices = sorted(told(0, first_turn=FirstTurn(DAY_MS, DAY_MS)))
    assert notices[0] == (0, "the clock starts after both first turns; 1d 0h for your first turn")
