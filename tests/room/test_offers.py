"""Offers between the players: draw, takeback of the last own turn, rematch."""

from __future__ import annotations

from typing import Any

import pytest

from tabuleiro.protocol.events import (
    MatchEnded,
    MatchStarted,
    OfferEnded,
    OfferMade,
    OfferView,
    SeatFreed,
    SeatsSwapped,
    TurnTakenBack,
)
from tabuleiro.settings import RoomSettings
from tabuleiro_server.room.commands import AnswerOffer, Leave, MakeOffer, Resign, Undo
from tabuleiro_server.room.state import bot_account
from tests.room.story import (
    ANA,
    BOT,
    EVA,
    LAST_ACTION,
    ME,
    RUI,
    STILL,
    SWAPPED,
    Story,
    finished,
    playing,
)

pytestmark = pytest.mark.usefixtures("draws_in_virus_wars")


def begun(**kwargs: Any) -> Story:
    """Ana has played plies 0 and 1, rui 2 and 3, ana 4 and 5; rui is to move."""
    story = playing(**kwargs)
    story.play(ANA, "a3", "a2")
    story.play(RUI, "d2", "d3")
    story.play(ANA, "b2", "b1")
    return story


def offer_of(account: Any, kind: Any) -> MakeOffer:
    return MakeOffer(account, kind, STILL)


def test_a_draw_is_offered_and_accepted() -> None:
    story = begun()
    assert story.offer(ANA, "draw") == (OfferMade("draw", 0),)
    assert story.refused(offer_of(ANA, "draw")) == "no-offer"
    assert story.refused(AnswerOffer(ANA, "draw", True, STILL)) == "no-offer"
    assert story.refused(AnswerOffer(EVA, "draw", True, STILL)) == "not-seated"
    assert story.answer(RUI, "draw", accept=True) == (MatchEnded(1, None, "agreement"),)
    assert story.room.offers == ()


def test_offering_a_draw_back_accepts_it() -> None:
    story = begun()
    story.offer(ANA, "draw")
    assert story.offer(RUI, "draw") == (MatchEnded(1, None, "agreement"),)


def test_a_draw_is_declined_or_withdrawn() -> None:
    story = begun()
    story.offer(ANA, "draw")
    assert story.answer(RUI, "draw", accept=False) == (OfferEnded("draw", 0, "declined"),)
    assert story.refused(AnswerOffer(RUI, "draw", True, STILL)) == "no-offer"
    story.offer(ANA, "draw")
    assert story.answer(ANA, "draw", accept=False) == (OfferEnded("draw", 0, "withdrawn"),)
    assert story.refused(AnswerOffer(ANA, "draw", False, STILL)) == "no-offer"


def test_a_draw_offer_lasts_until_the_other_has_made_an_action() -> None:
    """Also through own actions and undos: it is the answer that is waited for, and playing on is one."""
    story = begun()
    story.offer(RUI, "draw")
    story.play(RUI, "c3")
    story.when(Undo(RUI, 1, 6))
    story.play(RUI, "c3", "c2")
    assert story.room.offers == (OfferView("draw", 1),)
    story.play(ANA, "a1")
    assert story.room.offers == ()


def test_a_takeback_goes_back_to_before_the_whole_last_own_turn() -> None:
    story = begun()
    story.offer(ANA, "takeback")
    assert story.answer(RUI, "takeback", accept=True) == (TurnTakenBack(1, 4, 0),)
    assert (story.match.to_move, story.match.revision) == (0, 1)
    assert story.match.actions == ("a3", "a2", "d2", "d3")
    assert story.match.movers == (0, 0, 1, 1)


def test_a_takeback_takes_back_what_came_after_too_and_a_turn_begun() -> None:
    story = begun()
    story.play(RUI, "c3")
    story.offer(RUI, "takeback")
    assert story.answer(ANA, "takeback", accept=True) == (TurnTakenBack(1, 2, 1),)
    assert story.match.actions == ("a3", "a2")


def test_a_takeback_is_void_once_the_position_has_moved_on() -> None:
    for moves_on in ("play", "undo"):
        story = begun()
        story.play(RUI, "c3")
        story.offer(ANA, "takeback")
        if moves_on == "play":
            story.play(RUI, "c2")
        else:
            story.when(Undo(RUI, 1, 6))
        assert story.room.offers == ()
        assert story.refused(AnswerOffer(RUI, "takeback", True, STILL)) == "no-offer"


def test_who_has_finished_no_turn_has_none_to_take_back() -> None:
    story = playing()
    assert story.refused(offer_of(ANA, "takeback")) == "not-allowed"
    story.play(ANA, "a3")
    assert story.refused(offer_of(ANA, "takeback")) == "not-allowed"
    story.play(ANA, "a2")
    assert story.refused(offer_of(RUI, "takeback")) == "not-allowed"
    assert story.offer(ANA, "takeback") == (OfferMade("takeback", 0),)


def test_wishes_of_both_to_take_back_stay_apart() -> None:
    """Symptom: rui, who asked for his own turn back, had thereby let ana take hers back."""
    story = begun()
    story.offer(ANA, "takeback")
    assert story.offer(RUI, "takeback") == (OfferMade("takeback", 1),)
    assert set(story.room.offers) == {OfferView("takeback", 0), OfferView("takeback", 1)}
    assert story.answer(ANA, "takeback", accept=True) == (TurnTakenBack(1, 2, 1),)
    assert story.room.offers == ()


def test_a_declined_takeback_leaves_the_own_wish() -> None:
    story = begun()
    story.offer(ANA, "takeback")
    story.offer(RUI, "takeback")
    assert story.answer(ANA, "takeback", accept=False) == (OfferEnded("takeback", 1, "declined"),)
    assert story.answer(ANA, "takeback", accept=False) == (OfferEnded("takeback", 0, "withdrawn"),)


def test_a_takeback_and_a_draw_can_wait_at_once() -> None:
    story = begun()
    story.offer(ANA, "draw")
    story.offer(ANA, "takeback")
    story.answer(RUI, "takeback", accept=True)
    assert story.room.offers == ()


def test_at_one_keyboard_offers_are_granted_at_once() -> None:
    story = Story()
    story.open((ME, ME))
    assert story.refused(offer_of(ANA, "takeback")) == "not-allowed"
    story.play(ANA, "a3", "a2")
    story.play(ANA, "d2", "d3")
    story.play(ANA, "b2")
    assert story.offer(ANA, "takeback") == (OfferMade("takeback", 1), TurnTakenBack(1, 2, 1))
    assert story.offer(ANA, "draw")[1:] == (MatchEnded(1, None, "agreement"),)
    assert story.offer(ANA, "rematch")[1:] == (SeatsSwapped(), MatchStarted(2))


@pytest.mark.parametrize("is_casual", [True, False])
def test_bots_take_back_in_casual_rooms_only_and_never_draw(is_casual: bool) -> None:
    story = Story()
    story.open((ME, BOT), settings=RoomSettings(is_casual=is_casual))
    story.play(ANA, "a3", "a2")
    assert story.offer(ANA, "draw") == (OfferMade("draw", 0), OfferEnded("draw", 0, "declined"))
    answer = TurnTakenBack(1, 0, 0) if is_casual else OfferEnded("takeback", 0, "declined")
    assert story.offer(ANA, "takeback") == (OfferMade("takeback", 0), answer)


def test_a_bot_plays_a_rematch() -> None:
    story = Story()
    story.open((ME, BOT), LAST_ACTION)
    story.play(ANA, "b1")
    assert story.offer(ANA, "rematch") == (OfferMade("rematch", 0), SeatsSwapped(), MatchStarted(2))
    assert story.room.seats[0].account == bot_account(0)
    assert story.room.is_bot_to_move


def test_a_rematch_is_played_on_both_sides_wish_with_sides_swapped() -> None:
    story = finished()
    assert story.refused(offer_of(EVA, "rematch")) == "not-seated"
    story.offer(ANA, "rematch")
    assert story.answer(RUI, "rematch", accept=False) == (OfferEnded("rematch", 0, "declined"),)
    story.offer(RUI, "rematch")
    assert story.offer(ANA, "rematch") == (SeatsSwapped(), MatchStarted(2))
    assert [seat.account for seat in story.room.seats] == [RUI, ANA]
    assert (story.match.actions, story.match.revision, story.room.offers) == ((), 0, ())


@pytest.mark.parametrize(("chance", "first"), [(STILL, RUI), (SWAPPED, ANA)])
def test_who_begins_a_rematch_is_drawn_again_if_the_room_says_so(chance: Any, first: Any) -> None:
    story = finished(settings=RoomSettings(first="draw"))
    story.offer(ANA, "rematch")
    story.offer(RUI, "rematch", chance)
    assert story.room.seats[0].account == first


def test_a_rematch_draws_a_new_seed() -> None:
    story = finished(game="xero-g", options={"setup": "random"})
    before = story.match.state
    assert story.room.game.options["seed"] == STILL.seed
    story.offer(ANA, "rematch")
    assert story.offer(RUI, "rematch", SWAPPED) == (SeatsSwapped(), MatchStarted(2, SWAPPED.seed))
    assert story.room.game.options["seed"] == SWAPPED.seed
    assert story.match.state != before


def test_a_seat_that_changes_hands_takes_its_offers_along() -> None:
    """The one who sits down next has not heard them, and the one who left has not meant them."""
    story = finished()
    story.offer(ANA, "rematch")
    assert story.when(Leave(RUI)) == (OfferEnded("rematch", 0, "void"), SeatFreed(1))
    assert story.refused(offer_of(ANA, "rematch")) == "not-allowed"
    story.join(EVA)
    assert story.refused(AnswerOffer(EVA, "rematch", True, STILL)) == "no-offer"


@pytest.mark.parametrize("kind", ["draw", "takeback", "rematch"])
def test_offers_have_their_phase(kind: Any) -> None:
    waiting = Story()
    waiting.open()
    assert waiting.refused(offer_of(ANA, kind)) == "wrong-phase"
    elsewhere = playing() if kind == "rematch" else finished()
    assert elsewhere.refused(offer_of(ANA, kind)) == "wrong-phase"


def test_offers_end_with_the_match() -> None:
    story = begun()
    story.offer(ANA, "draw")
    story.offer(ANA, "takeback")
    story.when(Resign(RUI, 1))
    assert story.room.offers == ()
    assert story.refused(AnswerOffer(RUI, "draw", True, STILL)) == "no-offer"
