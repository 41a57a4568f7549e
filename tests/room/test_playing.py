"""The running match: actions, resent actions, undoing, resigning, aborting, claiming, stand-ins."""

from __future__ import annotations

import pytest

from tabuleiro.protocol.events import (
    ActionsPlayed,
    ActionsUndone,
    MatchEnded,
    OfferMade,
    OfferView,
    SeatConnected,
    StandInSeated,
)
from tabuleiro.settings import RoomSettings
from tabuleiro_server.room.commands import (
    Abort,
    AnswerOffer,
    ClaimWin,
    Expire,
    MakeOffer,
    Play,
    Resign,
    Undo,
)
from tabuleiro_server.room.state import bot_account
from tests.room.story import ANA, BOT, EVA, LAST_ACTION, ME, RUI, SMALL, STILL, Story, finished, playing

AWAY_MS = 60_000
AWAY = RoomSettings(away_after_ms=AWAY_MS)
STAND_IN = RoomSettings(away_after_ms=AWAY_MS, stand_in_level="random")
MID_TURN = {**SMALL, "position": "x.../..../..../...o 0 1"}
"""Ana has one action left of a turn of two."""


def begun(settings: RoomSettings = RoomSettings()) -> Story:
    """Both have played a whole turn; ana is to move at ply 4."""
    story = playing(settings=settings)
    story.play(ANA, "a3", "a2")
    story.play(RUI, "d2", "d3")
    return story


def test_several_actions_are_played_all_or_none() -> None:
    story = playing()
    assert story.refused(Play(ANA, 1, 0, ("a3", "d4"))) == "illegal-action"
    assert story.refused(Play(ANA, 1, 0, ("a3", "nonsense"))) == "bad-notation"
    assert story.refused(Play(ANA, 1, 0, ("a3", "a2", "a1"))) == "not-your-turn"
    assert story.play(ANA, " A3", "(2,1)") == (ActionsPlayed(1, 0, 0, ("a3", "a2")),)


def test_a_turn_may_be_played_in_parts() -> None:
    story = playing()
    story.play(ANA, "a3")
    assert story.refused(Play(RUI, 1, 1, ("d2",))) == "not-your-turn"
    assert story.play(ANA, "a2") == (ActionsPlayed(1, 1, 0, ("a2",)),)


def test_one_person_plays_both_sides() -> None:
    story = Story()
    story.open((ME, ME))
    assert story.play(ANA, "a3", "a2") == (ActionsPlayed(1, 0, 0, ("a3", "a2")),)
    assert story.play(ANA, "d2", "d3") == (ActionsPlayed(1, 2, 1, ("d2", "d3")),)


def test_who_plays_both_sides_gives_up_for_either_and_nobody_for_another() -> None:
    for seat, winner in ((0, 1), (1, 0), (None, 1)):
        story = Story()
        story.open((ME, ME))
        assert story.when(Resign(ANA, 1, seat)) == (MatchEnded(1, winner, "resignation"),)
        assert story.when(Resign(ANA, 1, seat)) == ()
    story = playing()
    assert story.refused(Resign(ANA, 1, 1)) == "not-seated"
    assert story.when(Resign(RUI, 1, 1)) == (MatchEnded(1, 0, "resignation"),)


def test_a_resent_play_is_recognised_and_not_played_twice() -> None:
    story = playing()
    story.play(ANA, "a3", "a2")
    assert story.when(Play(ANA, 1, 0, ("a3", "a2"))) == ()
    assert story.when(Play(ANA, 1, 0, (" A3", "a2"))) == ()
    assert story.refused(Play(ANA, 1, 0, ("a3", "b2"))) == "stale-ply"
    assert story.refused(Play(RUI, 1, 0, ("a3", "a2"))) == "stale-ply"
    assert story.refused(Play(ANA, 1, 0, ("a3", "zz"))) == "stale-ply"
    assert story.refused(Play(RUI, 1, 5, ("d2",))) == "stale-ply"
    assert story.refused(Play(ANA, 2, 0, ("a3",))) == "stale-ply"


def test_a_resent_play_of_the_former_match_is_not_played_in_this_one() -> None:
    story = begun()
    story.when(Resign(ANA, 1))
    story.offer(RUI, "rematch")
    story.offer(ANA, "rematch")
    assert story.refused(Play(ANA, 1, 4, ("a1",))) == "stale-ply"
    assert story.refused(Play(RUI, 1, 0, ("a3", "a2"))) == "stale-ply"


def test_a_resent_last_play_of_a_finished_match_is_recognised() -> None:
    story = playing(LAST_ACTION)
    assert story.play(ANA, "b1") == (ActionsPlayed(1, 0, 0, ("b1",)), MatchEnded(1, 1, "blocked"))
    assert story.when(Play(ANA, 1, 0, ("b1",))) == ()
    assert story.refused(Play(ANA, 1, 1, ("c1",))) == "wrong-phase"
    assert story.room.phase == "finished"


def test_undone_actions_are_another_revision() -> None:
    story = playing()
    story.play(ANA, "a3")
    assert story.when(Undo(ANA, 1, 0)) == (ActionsUndone(1, 0, 0),)
    assert (story.match.actions, story.match.movers, story.match.revision) == ((), (), 1)
    assert story.refused(Play(ANA, 1, 0, ("a3",))) == "stale-ply"
    assert story.play(ANA, "b3", "b2") == (ActionsPlayed(1, 0, 0, ("b3", "b2")),)


def test_only_own_actions_of_the_turn_in_progress_are_undone() -> None:
    story = begun()
    assert story.refused(Undo(ANA, 1, 4)) == "stale-ply"
    assert story.refused(Undo(ANA, 1, 2)) == "stale-ply"
    story.play(ANA, "b2")
    assert story.refused(Undo(RUI, 1, 4)) == "not-your-turn"
    assert story.refused(Undo(EVA, 1, 4)) == "not-seated"
    assert story.refused(Undo(ANA, 2, 4)) == "stale-ply"
    assert story.refused(Undo(ANA, 1, 3)) == "stale-ply"
    assert story.refused(Undo(ANA, 1, 5)) == "stale-ply"
    story.when(Undo(ANA, 1, 4))
    assert len(story.match.actions) == 4
    story.when(Resign(ANA, 1))
    assert story.refused(Undo(ANA, 1, 0)) == "wrong-phase"


def test_undoing_is_refused_where_the_room_does_not_allow_it() -> None:
    story = playing(settings=RoomSettings(may_undo=False))
    story.play(ANA, "a3")
    assert story.refused(Undo(ANA, 1, 0)) == "not-allowed"


def test_actions_before_the_first_position_cannot_be_undone() -> None:
    """Symptom: a match from a position in mid-turn offered to go back to ply -1."""
    story = playing(MID_TURN)
    assert story.refused(Undo(ANA, 1, -1)) == "stale-ply"
    assert "from ply 0 to 0" in story.refusal(Undo(ANA, 1, 0)).message


def test_a_turn_that_began_before_the_first_position_is_taken_back_to_it() -> None:
    story = playing(MID_TURN)
    story.play(ANA, "a2")
    story.offer(ANA, "takeback")
    story.answer(RUI, "takeback", accept=True)
    assert (story.match.actions, story.match.to_move) == ((), 0)


def test_watchers_may_not_act() -> None:
    story = playing()
    assert story.refused(Play(EVA, 1, 0, ("a3",))) == "not-seated"
    assert story.refused(Resign(EVA, 1)) == "not-seated"
    assert story.refused(Abort(EVA, 1)) == "not-seated"
    assert story.refused(ClaimWin(EVA, 1)) == "not-seated"
    assert story.refused(MakeOffer(EVA, "draw", STILL)) == "not-seated"
    assert story.refused(AnswerOffer(EVA, "draw", True, STILL)) == "not-seated"


def test_resigning_gives_the_win_to_the_other_also_out_of_turn() -> None:
    story = playing()
    assert story.refused(Resign(ANA, 2)) == "stale-ply"
    assert story.when(Resign(RUI, 1)) == (MatchEnded(1, 0, "resignation"),)
    assert story.refused(Resign(ANA, 1)) == "wrong-phase"
    assert story.match.to_move is None


def test_resigning_or_aborting_again_after_a_lost_answer_is_done_already() -> None:
    story = playing()
    story.when(Resign(ANA, 1))
    assert story.when(Resign(ANA, 1)) == ()
    assert story.refused(Abort(ANA, 1)) == "wrong-phase"
    story = playing()
    story.when(Abort(ANA, 1))
    assert story.when(Abort(ANA, 1)) == ()
    assert story.refused(Resign(ANA, 1)) == "wrong-phase"


def test_at_one_keyboard_the_player_to_move_resigns() -> None:
    story = Story()
    story.open((ME, ME))
    story.play(ANA, "a3", "a2")
    assert story.when(Resign(ANA, 1)) == (MatchEnded(1, 0, "resignation"),)


def test_either_aborts_until_both_have_made_an_action() -> None:
    assert playing().when(Abort(RUI, 1)) == (MatchEnded(1, None, "aborted"),)
    story = playing()
    story.play(ANA, "a3", "a2")
    assert story.refused(Abort(ANA, 2)) == "stale-ply"
    assert Story(list(story.events), story.room).when(Abort(RUI, 1)) == (MatchEnded(1, None, "aborted"),)
    story.play(RUI, "d2")
    assert story.refused(Abort(ANA, 1)) == story.refused(Abort(RUI, 1)) == "not-allowed"
    assert finished().refused(Abort(ANA, 1)) == "wrong-phase"


def test_the_win_is_claimed_over_who_stays_away() -> None:
    story = begun(AWAY)
    assert story.refused(ClaimWin(ANA, 1)) == "not-allowed"
    story.leave_for(RUI, AWAY_MS - 1)
    assert "still come back for 1 seconds" in story.refusal(ClaimWin(ANA, 1)).message
    story.later(1)
    assert story.refused(ClaimWin(ANA, 2)) == "stale-ply"
    assert story.when(ClaimWin(ANA, 1)) == (MatchEnded(1, 0, "abandoned"),)


def test_who_is_connected_is_never_away_however_long_they_think() -> None:
    story = begun(AWAY)
    assert story.later(100 * AWAY_MS).refused(ClaimWin(RUI, 1)) == "not-allowed"


def test_coming_back_starts_the_time_away_anew() -> None:
    story = begun(AWAY)
    story.leave_for(RUI, AWAY_MS)
    story.come_back(RUI)
    assert story.refused(ClaimWin(ANA, 1)) == "not-allowed"
    story.leave_for(RUI, AWAY_MS - 1)
    assert story.refused(ClaimWin(ANA, 1)) == "not-allowed"


def test_a_match_hardly_begun_is_aborted_by_a_claim() -> None:
    story = playing(settings=AWAY)
    story.play(ANA, "a3", "a2")
    story.leave_for(RUI, AWAY_MS)
    assert story.when(ClaimWin(ANA, 1)) == (MatchEnded(1, None, "aborted"),)


def test_nobody_wins_over_a_bot_or_over_oneself_by_absence() -> None:
    with_bot, alone = Story(), Story()
    with_bot.open((ME, BOT), settings=AWAY)
    alone.open((ME, ME), settings=AWAY)
    alone.leave_for(ANA, AWAY_MS)
    assert with_bot.refused(ClaimWin(ANA, 1)) == alone.refused(ClaimWin(ANA, 1)) == "not-allowed"


def test_where_a_stand_in_comes_the_win_is_not_claimed() -> None:
    story = begun(STAND_IN)
    story.leave_for(RUI, AWAY_MS)
    assert "random-bot stands in" in story.refusal(ClaimWin(ANA, 1)).message


def test_a_bot_plays_under_its_own_account() -> None:
    story = Story()
    story.open((BOT, ME))
    assert story.room.is_bot_to_move
    assert story.refused(Play(ANA, 1, 0, ("a3",))) == "not-your-turn"
    assert story.refused(Play(bot_account(1), 1, 0, ("a3",))) == "not-seated"
    story.play(bot_account(0), "a3", "a2")
    assert not story.room.is_bot_to_move


def test_a_stand_in_plays_for_who_stays_away_once_they_have_to_move() -> None:
    story = begun(STAND_IN)
    story.leave_for(RUI, 2 * AWAY_MS)
    assert story.when(Expire(STILL)) == ()
    story.play(ANA, "b2", "b1")
    assert story.when(Expire(STILL)) == (StandInSeated(1, "random"),)
    assert story.room.is_bot_to_move
    assert story.when(Expire(STILL)) == ()
    (played,) = story.play(bot_account(1), "c3")
    assert played == ActionsPlayed(1, 6, 1, ("c3",), by_stand_in=True)


def test_who_comes_back_in_the_middle_of_a_turn_goes_on_with_it() -> None:
    story = begun(STAND_IN)
    story.play(ANA, "b2", "b1")
    story.leave_for(RUI, AWAY_MS)
    story.when(Expire(STILL))
    story.play(bot_account(1), "c3")
    assert story.come_back(RUI) == (SeatConnected(1),)
    assert not story.room.is_bot_to_move
    assert story.refused(Play(bot_account(1), 1, 7, ("c2",))) == "not-seated"
    assert story.play(RUI, "c2") == (ActionsPlayed(1, 7, 1, ("c2",)),)
    story.leave_for(RUI, AWAY_MS)
    assert story.when(Expire(STILL)) == ()


def test_a_stand_in_comes_in_mid_turn_too() -> None:
    story = begun(STAND_IN)
    story.play(ANA, "b2")
    story.leave_for(ANA, AWAY_MS)
    assert story.when(Expire(STILL)) == (StandInSeated(0, "random"),)
    story.play(bot_account(0), "b1")
    assert story.match.to_move == 1


def test_a_stand_in_does_not_agree_to_a_rematch() -> None:
    """A match begins on both sides' wish: the one who is away has none yet."""
    story = begun(STAND_IN)
    story.leave_for(ANA, AWAY_MS)
    story.when(Expire(STILL))
    story.when(Resign(RUI, 1))
    assert story.offer(RUI, "rematch") == (OfferMade("rematch", 1),)
    story.come_back(ANA)
    assert story.room.offers == (OfferView("rematch", 1),)
    story.answer(ANA, "rematch", accept=True)
    assert story.match.number == 2


@pytest.mark.parametrize("settings", [AWAY, RoomSettings()])
def test_without_the_setting_nobody_stands_in(settings: RoomSettings) -> None:
    story = playing(settings=settings)
    story.leave_for(ANA, settings.away_after_ms)
    assert story.when(Expire(STILL)) == ()


def test_a_draw_is_refused_where_the_rules_know_none() -> None:
    """Symptom: a draw could be offered in Virus Wars, whose rules say that there are none."""
    story = playing()
    assert story.refused(MakeOffer(ANA, "draw", STILL)) == "not-allowed"
    others = playing(game="minefield", options={"size": 5})
    assert others.when(MakeOffer(ANA, "draw", STILL))
