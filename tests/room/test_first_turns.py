"""The clock starts when both have made their first turn; until then each first turn has a limit."""

from __future__ import annotations

from typing import Any

import msgspec
import pytest

from tabuleiro.clock import ByoYomi, Correspondence, Fischer, FixedTurn, NoClock, remaining_ms
from tabuleiro.ids import DAY_MS, TimestampMs
from tabuleiro.protocol.events import MatchEnded, RoomOpened, RoomResumed, TurnTakenBack
from tabuleiro.protocol.messages import FirstTurn
from tabuleiro.settings import RoomLimits, RoomSettings
from tabuleiro_server.room.commands import Play, Resign, Resume
from tabuleiro_server.room.views import head_of
from tests.room.story import ANA, ME, RUI, START_MS, Story, opening, playing

LIMIT_MS = 30_000
LIMITS = RoomLimits(first_turn_ms=LIMIT_MS, long_first_turn_ms=DAY_MS)
BLITZ = Fischer(60_000, 2_000)


def timed(control: Any = BLITZ, **settings: Any) -> Story:
    return playing(settings=RoomSettings(time_control=control, **settings), limits=LIMITS)


def lefts_ms(story: Story) -> list[int | None]:
    control = story.room.settings.time_control
    return [remaining_ms(control, story.clock, player, story.now_ms) for player in (0, 1)]


def first_turn(story: Story) -> FirstTurn | None:
    match = head_of(story.room, TimestampMs(story.now_ms)).match
    assert match is not None
    return match.first_turn


def test_the_clock_starts_after_both_first_turns() -> None:
    story = timed()
    assert first_turn(story) == FirstTurn(TimestampMs(START_MS + LIMIT_MS), LIMIT_MS)
    story.later(20_000).play(ANA, "a3")
    story.later(5_000).play(ANA, "a2")
    assert (story.clock.running, lefts_ms(story)) == (None, [60_000, 60_000])
    assert first_turn(story) == FirstTurn(TimestampMs(story.now_ms + LIMIT_MS), LIMIT_MS)
    story.later(29_999).play(RUI, "d2", "d3")
    assert (story.clock.running, lefts_ms(story), first_turn(story)) == (0, [60_000, 60_000], None)
    story.later(3_000)
    assert lefts_ms(story) == [57_000, 60_000]


def test_a_match_is_aborted_whose_first_turn_does_not_come() -> None:
    story = timed()
    assert story.expire() == (MatchEnded(1, None, "aborted", late_player=0),)
    assert story.now_ms == START_MS + LIMIT_MS
    assert (story.room.phase, lefts_ms(story), first_turn(story)) == ("finished", [60_000, 60_000], None)


def test_the_second_player_has_a_limit_too_and_a_part_of_a_turn_is_none() -> None:
    story = timed()
    story.later(10_000).play(ANA, "a3", "a2")
    story.later(29_000).play(RUI, "d2")
    assert story.expire() == (MatchEnded(1, None, "aborted", late_player=1),)
    assert story.now_ms == START_MS + 10_000 + LIMIT_MS


def test_a_first_turn_that_is_late_is_refused() -> None:
    story = timed().later(LIMIT_MS)
    assert story.refused(Play(ANA, 1, 0, ("a3",))) == "wrong-phase"


@pytest.mark.parametrize(
    ("control", "limit_ms"),
    [
        (Fischer(3_599_000, 60_000), LIMIT_MS),
        (Fischer(3_600_000, 0), DAY_MS),
        (ByoYomi(main_ms=600_000, period_ms=30_000, periods=5), LIMIT_MS),
        (ByoYomi(main_ms=1_800_000, period_ms=60_000, periods=30), DAY_MS),
        (FixedTurn(10_000), LIMIT_MS),
        (Correspondence(3), DAY_MS),
    ],
)
def test_longer_clocks_have_a_day(control: Any, limit_ms: int) -> None:
    story = timed(control)
    assert story.deadline().at_ms == START_MS + limit_ms


def test_without_a_clock_nobody_has_to_hurry() -> None:
    assert first_turn(timed(NoClock())) is None


def test_taking_the_only_turn_back_begins_the_limit_again_and_starts_no_clock() -> None:
    story = timed()
    story.later(20_000).play(ANA, "a3", "a2")
    story.offer(ANA, "takeback")
    assert story.later(20_000).answer(RUI, "takeback", accept=True) == (TurnTakenBack(1, 0, 0),)
    assert (story.clock.running, story.deadline().at_ms) == (None, story.now_ms + LIMIT_MS)
    story.later(1_000).play(ANA, "a3", "a2")
    story.later(1_000).play(RUI, "d2", "d3")
    assert (story.clock.running, lefts_ms(story)) == (0, [60_000, 60_000])


def test_taking_a_first_turn_back_later_leaves_the_clock_running() -> None:
    story = timed()
    story.play(ANA, "a3", "a2")
    story.play(RUI, "d2", "d3")
    story.offer(RUI, "takeback")
    story.later(5_000).answer(ANA, "takeback", accept=True)
    assert (story.clock.running, lefts_ms(story), first_turn(story)) == (1, [55_000, 60_000], None)


@pytest.mark.parametrize("counts_downtime", [False, True])
@pytest.mark.parametrize("is_standstill", [False, True])
def test_downtime_is_no_part_of_the_limit(counts_downtime: bool, is_standstill: bool) -> None:
    story = timed(counts_downtime=counts_downtime).later(10_000)
    down_ms = TimestampMs(story.now_ms)
    story.later(1_000_000)
    resume = Resume(down_ms, TimestampMs(story.now_ms), is_standstill=is_standstill)
    assert [type(event) for event in story.when(resume)] == [RoomResumed]
    assert story.deadline().at_ms == story.now_ms + LIMIT_MS - 10_000


def test_resigning_before_the_clock_starts_charges_nobody() -> None:
    story = timed().later(9_000)
    story.when(Resign(ANA, 1))
    assert lefts_ms(story) == [60_000, 60_000]


def test_at_one_keyboard_it_starts_after_both_first_turns_too() -> None:
    story = Story()
    story.open((ME, ME), settings=RoomSettings(time_control=BLITZ), limits=LIMITS)
    story.later(9_000).play(ANA, "a3", "a2")
    story.later(9_000).play(ANA, "d2", "d3")
    story.later(1_000)
    assert lefts_ms(story) == [59_000, 60_000]


def test_a_room_of_an_older_server_keeps_its_clock() -> None:
    """Its first event knows no limits for first turns."""
    command = opening(settings=RoomSettings(time_control=BLITZ))
    older = msgspec.to_builtins(command.limits)
    del older["first_turn_ms"], older["long_first_turn_ms"]
    assert msgspec.convert(older, RoomLimits) == command.limits
    story = playing(settings=RoomSettings(time_control=BLITZ))
    assert isinstance(story.events[0].event, RoomOpened)
    story.later(3_000)
    assert (story.clock.running, lefts_ms(story), first_turn(story)) == (0, [57_000, 60_000], None)
