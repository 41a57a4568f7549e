"""Hints in a room: who may have one, when, and what the room learns of it."""

from __future__ import annotations

import pytest

from tabuleiro.errors import CommandError
from tabuleiro.protocol.events import HintTaken
from tabuleiro.settings import RoomSettings
from tabuleiro_server.room.commands import Explain, Resign, TakeHint, Undo
from tabuleiro_server.room.decide import open_room
from tabuleiro_server.room.playing import HINT_PAUSE_MS
from tests.room.story import ANA, BOT, EVA, ME, OPEN, RUI, Story, opening

HINTS = RoomSettings(hints=True)


def playing(settings: RoomSettings = HINTS) -> Story:
    """A match between ana and rui, in which ana begins."""
    story = Story()
    story.open(settings=settings)
    story.join(RUI)
    return story


def test_the_player_to_move_takes_a_hint_and_nothing_else_changes() -> None:
    story = playing()
    before = story.match
    assert story.when(TakeHint(ANA, 1, 0)) == (HintTaken(1, 0, 0),)
    assert (story.match.state, story.match.actions, story.clock) == (before.state, (), before.clock)


def test_a_hint_in_mid_turn() -> None:
    story = playing()
    story.play(ANA, "a3")
    assert story.when(TakeHint(ANA, 1, 1)) == (HintTaken(1, 1, 0),)
    story.when(Undo(ANA, 1, 0))
    assert story.refused(TakeHint(ANA, 1, 0, revision=0)) == "stale-ply"
    assert story.later(HINT_PAUSE_MS).when(TakeHint(ANA, 1, 0, revision=1)) == (HintTaken(1, 0, 0),)


def test_only_the_player_to_move_gets_one() -> None:
    story = playing()
    assert story.refused(TakeHint(RUI, 1, 0)) == "not-your-turn"
    assert story.refused(TakeHint(EVA, 1, 0)) == "not-seated"
    story.play(ANA, "a3", "a2")
    assert story.refused(TakeHint(ANA, 1, 2)) == "not-your-turn"
    assert story.when(TakeHint(RUI, 1, 2)) == (HintTaken(1, 2, 1),)


def test_who_plays_both_sides_gets_one_for_either() -> None:
    story = Story()
    story.open((ME, ME), settings=HINTS)
    assert story.when(TakeHint(ANA, 1, 0)) == (HintTaken(1, 0, 0),)
    story.play(ANA, "a3", "a2")
    assert story.when(TakeHint(ANA, 1, 2)) == (HintTaken(1, 2, 1),)


def test_a_position_that_has_moved_on_and_another_match_are_refused() -> None:
    story = playing()
    story.play(ANA, "a3")
    assert story.refused(TakeHint(ANA, 1, 0)) == "stale-ply"
    assert story.refused(TakeHint(ANA, 2, 1)) == "stale-ply"
    story.when(Resign(RUI, 1))
    assert story.refused(TakeHint(ANA, 1, 1)) == "wrong-phase"


def test_hints_come_not_too_often_for_each_player() -> None:
    story = playing()
    story.when(TakeHint(ANA, 1, 0))
    assert story.later(HINT_PAUSE_MS - 1).refused(TakeHint(ANA, 1, 0)) == "limit-reached"
    story.play(ANA, "a3", "a2")
    assert story.when(TakeHint(RUI, 1, 2)) == (HintTaken(1, 2, 1),)
    story.play(RUI, "d2", "d3")
    assert story.later(1).when(TakeHint(ANA, 1, 4)) == (HintTaken(1, 4, 0),)


@pytest.mark.parametrize(
    ("settings", "message"),
    [
        (RoomSettings(), "this room gives no hints"),
        (RoomSettings(is_casual=False), "there are no hints in a room that is not casual"),
    ],
)
def test_a_room_without_hints_says_so(settings: RoomSettings, message: str) -> None:
    refusal = playing(settings).refusal(TakeHint(ANA, 1, 0))
    assert (refusal.code, refusal.message) == ("not-allowed", message)


def test_no_room_gives_hints_that_is_not_casual() -> None:
    with pytest.raises(CommandError, match="hints are for casual rooms") as caught:
        open_room(opening((ME, OPEN), settings=RoomSettings(is_casual=False, hints=True)))
    assert caught.value.code == "not-allowed"


def test_a_hint_given_before_the_clock_was_set_back_bars_no_other() -> None:
    """Symptom: the clock was set back by an hour, and whoever had just had a hint got none for an hour."""
    story = playing()
    story.later(3_600_000).when(TakeHint(ANA, 1, 0))
    assert story.later(-3_600_000).when(TakeHint(ANA, 1, 0)) == (HintTaken(1, 0, 0),)


def test_an_explanation_in_a_running_match_of_two_people_is_a_hint() -> None:
    story = playing()
    assert story.refused(Explain(RUI, 1, 0)) == "not-your-turn"
    assert story.refused(Explain(EVA, 1, 0)) == "not-seated"
    assert story.when(Explain(ANA, 1, 0, level="minimax-1")) == (HintTaken(1, 0, 0),)
    assert story.refused(TakeHint(ANA, 1, 0)) == "limit-reached"
    assert playing(RoomSettings()).refused(Explain(ANA, 1, 0)) == "not-allowed"


@pytest.mark.parametrize("settings", [RoomSettings(), RoomSettings(is_casual=False)])
def test_where_no_explanation_is_given_the_refusal_tells_where_there_are_some(settings: RoomSettings) -> None:
    refusal = playing(settings).refusal(Explain(ANA, 1, 0))
    assert refusal.code == "not-allowed"
    assert refusal.message.endswith("in casual rooms with hints: ask again after the end")


def test_whoever_plays_alone_gets_explanations_without_hints_and_nothing_is_noted() -> None:
    for seats in ((ME, BOT), (ME, ME)):
        story = Story()
        story.open(seats)
        assert story.when(Explain(ANA, 1, 0)) == ()
        assert story.refused(Explain(ANA, 1, 1)) == "stale-ply"
        assert story.refused(Explain(ANA, 2, 0)) == "stale-ply"
        assert story.refused(Explain(EVA, 1, 0)) == "not-seated"


def test_the_host_of_bots_among_themselves_gets_explanations_and_watchers_do_not() -> None:
    story = Story()
    story.open((BOT, BOT))
    assert story.when(Explain(ANA, 1, 0)) == ()
    assert story.refused(Explain(EVA, 1, 0)) == "not-seated"


def test_after_the_end_every_position_is_explained_to_everybody() -> None:
    story = playing(RoomSettings())
    story.play(ANA, "a3")
    story.when(Resign(ANA, 1))
    for who in (ANA, RUI, EVA):
        assert story.when(Explain(who, 1, 0)) == story.when(Explain(who, 1, 1)) == ()
    assert story.refused(Explain(ANA, 1, 2)) == "stale-ply"
    assert story.refused(Explain(ANA, 2, 0)) == "wrong-phase"
