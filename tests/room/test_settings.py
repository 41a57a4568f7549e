"""The host changes the settings of a room for the matches to come."""

from __future__ import annotations

import msgspec
import pytest
from msgspec.structs import replace

from tabuleiro.clock import ByoYomi, Fischer
from tabuleiro.ids import AccountId, TimestampMs
from tabuleiro.protocol.events import (
    BotSeated,
    MatchStarted,
    OfferEnded,
    SeatsSwapped,
    SeatTaken,
    SettingsChanged,
)
from tabuleiro.settings import LateBot, RoomSettings
from tabuleiro_server.room.commands import ChangeSettings, Resign, Undo
from tabuleiro_server.room.views import head_of
from tests.room.story import ANA, BOT, LEVELS, ME, RUI, SWAPPED, Story, finished, join, playing

USUAL = RoomSettings()
FAST = RoomSettings(time_control=Fischer(initial_ms=60_000, increment_ms=1_000), may_undo=False, is_casual=False)


def change(settings: RoomSettings, account: AccountId = ANA) -> ChangeSettings:
    return ChangeSettings(account, settings, LEVELS)


def waiting(settings: RoomSettings = USUAL) -> Story:
    story = Story()
    story.open(settings=settings)
    return story


def test_the_first_match_is_played_with_the_settings_as_they_are_when_it_begins() -> None:
    story = waiting()
    assert story.when(change(FAST)) == (SettingsChanged(FAST),)
    assert story.join(RUI) == (SeatTaken(1, RUI, "rui"), MatchStarted(1))
    assert story.match.time_control == FAST.time_control
    assert story.clock.players[0].stage_ms == 60_000
    story.play(ANA, "a3")
    assert story.refused(Undo(ANA, 1, 0)) == "not-allowed"


def test_a_rematch_is_played_with_the_settings_as_they_are_then() -> None:
    story = finished()
    story.when(change(FAST))
    story.offer(RUI, "rematch")
    assert story.offer(ANA, "rematch") == (SeatsSwapped(), MatchStarted(2))
    assert story.match.time_control == FAST.time_control
    assert story.deadline().at_ms == story.now_ms + 60_000


def test_who_begins_is_drawn_from_the_next_match_on() -> None:
    story = waiting()
    story.when(change(RoomSettings(first="draw")))
    joined = replace(join(RUI), chance=SWAPPED)
    assert story.when(joined) == (SeatTaken(1, RUI, "rui"), SeatsSwapped(), MatchStarted(1))


def test_nobody_is_held_to_a_wish_for_a_rematch_under_other_settings() -> None:
    story = finished()
    story.offer(RUI, "rematch")
    assert story.when(change(FAST)) == (OfferEnded("rematch", 1, "void"), SettingsChanged(FAST))
    assert story.room.offers == ()
    assert story.offer(ANA, "rematch")[0].kind == "rematch"  # type: ignore[union-attr]
    assert story.room.phase == "finished"


def test_a_change_to_what_is_so_already_changes_nothing_and_voids_no_wish() -> None:
    story = finished()
    story.offer(RUI, "rematch")
    assert story.when(change(USUAL)) == ()
    assert len(story.room.offers) == 1


def test_only_the_host_changes_settings_and_not_while_a_match_runs() -> None:
    assert playing().refused(change(FAST)) == "wrong-phase"
    assert finished().refused(change(FAST, RUI)) == "not-host"


@pytest.mark.parametrize("promise", ["is_private", "counts_downtime"])
def test_what_was_promised_when_the_room_was_made_stays(promise: str) -> None:
    for was in (True, False):
        story = waiting(msgspec.structs.replace(USUAL, **{promise: was}))
        refusal = story.refusal(change(msgspec.structs.replace(USUAL, **{promise: not was})))
        assert (refusal.code, promise in refusal.message) == ("not-allowed", True)


@pytest.mark.parametrize(
    "settings", [RoomSettings(stand_in_level="grandmaster"), RoomSettings(late_bot=LateBot("grandmaster", 0))]
)
def test_a_bot_that_there_is_not_is_refused(settings: RoomSettings) -> None:
    assert waiting().refused(change(settings)) == "unknown-level"


def test_a_late_bot_that_is_asked_for_later_comes_after_the_time_somebody_has_waited() -> None:
    story = waiting().later(20_000)
    waited_since_ms = story.room.seated_at_ms
    story.when(change(RoomSettings(late_bot=LateBot("random", 30_000))))
    assert story.deadline().at_ms == waited_since_ms + 30_000
    assert story.expire() == (BotSeated(1, "random"), MatchStarted(1))


def test_the_clock_of_a_match_is_not_told_once_the_room_has_another_one() -> None:
    """Clients read a clock by the settings beside it, and those are no longer the ones it ran under."""
    slow = RoomSettings(time_control=ByoYomi(main_ms=60_000, period_ms=5_000, periods=3))
    story = finished(settings=slow)

    def told() -> object:
        head = head_of(story.room, TimestampMs(story.now_ms))
        assert head.match is not None
        return head.match.clock

    assert told() == story.clock
    story.when(change(msgspec.structs.replace(slow, may_undo=False)))
    assert told() == story.clock
    for other in (FAST, USUAL):
        story.when(change(other))
        assert told() is None


def test_settings_can_be_changed_against_a_bot() -> None:
    story = Story()
    story.open((ME, BOT))
    story.when(Resign(ANA, 1))
    story.when(change(FAST))
    assert story.offer(ANA, "rematch")[1:] == (SeatsSwapped(), MatchStarted(2))
    assert story.match.time_control == FAST.time_control
