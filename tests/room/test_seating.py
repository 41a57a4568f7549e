"""Seats: opening, sitting down, leaving, bots, swapping, private rooms, coming and going."""

from __future__ import annotations

from typing import Any

import pytest

from tabuleiro.errors import CommandError
from tabuleiro.ids import AccountId
from tabuleiro.protocol.events import (
    BotSeated,
    HostChanged,
    MatchEnded,
    MatchStarted,
    OfferEnded,
    RoomClosed,
    RoomOpened,
    SeatConnected,
    SeatDisconnected,
    SeatFreed,
    SeatInfo,
    SeatsSwapped,
    SeatTaken,
)
from tabuleiro.protocol.messages import SeatRequest
from tabuleiro.settings import LateBot, RoomSettings
from tabuleiro_server.room.commands import Connect, Disconnect, Join, Leave, Resign, SeatBot, SwapSeats, Watch
from tabuleiro_server.room.decide import open_room
from tabuleiro_server.room.state import bot_account
from tests.room.story import (
    ANA,
    BOT,
    DOM,
    EVA,
    LAST_ACTION,
    LEVELS,
    ME,
    OPEN,
    RUI,
    SECRETS,
    SMALL,
    STILL,
    SWAPPED,
    Story,
    finished,
    join,
    opening,
    playing,
)

PRIVATE = RoomSettings(is_private=True)
DRAWN = RoomSettings(first="draw")


def test_opening_with_an_open_seat_waits() -> None:
    story = Story()
    (opened,) = story.open()
    assert isinstance(opened, RoomOpened)
    assert opened.seats == (SeatInfo("person", ANA, "ana"), SeatInfo())
    assert opened.options["first_turn_steps"] == 2
    assert (story.room.phase, story.room.match) == ("waiting", None)


def test_opening_with_full_seats_starts_at_once() -> None:
    story = Story()
    assert story.open((BOT, ME))[1:] == (MatchStarted(1),)
    assert story.match.players == (SeatInfo("bot", bot_account(0), "random-bot", "random"), story.room.seats[1])


def test_a_room_of_two_bots_plays_by_itself() -> None:
    story = Story()
    story.open((BOT, BOT))
    assert (story.room.phase, story.room.is_bot_to_move) == ("playing", True)


@pytest.mark.parametrize(
    ("changes", "code"),
    [
        ({"game": "chess", "options": {}}, "bad-option"),
        ({"options": {"rows": 99}}, "bad-option"),
        ({"options": {"mood": "good"}}, "bad-option"),
        ({"options": {"position": "nonsense"}}, "bad-option"),
        ({"seats": (ME, SeatRequest("bot", "genius"))}, "unknown-level"),
        ({"seats": (ME, SeatRequest("bot"))}, "unknown-level"),
        ({"settings": RoomSettings(late_bot=LateBot("genius", 0))}, "unknown-level"),
        ({"settings": RoomSettings(stand_in_level="genius")}, "unknown-level"),
    ],
)
def test_an_impossible_room_is_refused(changes: Any, code: str) -> None:
    with pytest.raises(CommandError) as caught:
        open_room(opening(**changes))
    assert caught.value.code == code


def test_a_position_in_which_nobody_can_move_ends_at_once() -> None:
    """Else the room would play for ever: there is no turn, and so no clock and no idle limit either."""
    story = Story()
    lost = {**SMALL, "position": "OOOO/OOOO/OOOO/OOOo 0 2"}
    assert story.open((ME, BOT), lost)[1:] == (MatchStarted(1), MatchEnded(1, 1, "blocked"))
    assert story.room.phase == "finished"
    assert story.offer(ANA, "rematch")[-2:] == (MatchStarted(2), MatchEnded(2, 1, "blocked"))


@pytest.mark.parametrize(("chance", "host_seat"), [(STILL, 0), (SWAPPED, 1)])
def test_who_begins_is_drawn_if_the_room_says_so(chance: Any, host_seat: int) -> None:
    story = Story()
    story.open((ME, BOT), settings=DRAWN, chance=chance)
    assert story.room.seats[host_seat].account == ANA
    assert story.room.seats[1 - host_seat].account == bot_account(1 if host_seat == 0 else 0)
    waiting = Story()
    waiting.open(settings=DRAWN)
    waiting.when(Join(RUI, "rui", chance))
    assert waiting.room.seats[host_seat].account == ANA


def test_joining_takes_the_open_seat_and_starts() -> None:
    story = Story()
    story.open((OPEN, ME))
    assert story.join(RUI) == (SeatTaken(0, RUI, "rui"), MatchStarted(1))


def test_joining_again_gives_the_same_seat_without_an_event() -> None:
    story = playing()
    assert story.join(RUI) == ()
    assert story.join(ANA, 0) == ()


@pytest.mark.parametrize(("account", "seat"), [(EVA, None), (EVA, 0), (ANA, 1)])
def test_a_taken_seat_is_refused(account: AccountId, seat: Any) -> None:
    assert playing().refused(join(account, seat)) == "seat-taken"


def test_a_chosen_seat_must_be_the_free_one() -> None:
    story = Story()
    story.open()
    assert story.refused(join(RUI, 0)) == "seat-taken"
    assert story.refused(join(ANA, 1)) == "seat-taken"
    assert story.join(RUI, 1)[0] == SeatTaken(1, RUI, "rui")


def test_one_person_may_hold_both_seats_and_gives_up_both() -> None:
    story = Story()
    story.open((ME, ME))
    story.when(Resign(ANA, 1))
    assert story.when(Leave(ANA)) == (SeatFreed(0), SeatFreed(1), RoomClosed("everybody left"))


def test_leaving_before_the_match_frees_the_seat_and_the_last_one_closes() -> None:
    story = Story()
    story.open((OPEN, OPEN))
    story.join(RUI)
    assert story.when(Leave(EVA)) == ()
    assert story.when(Leave(RUI)) == (SeatFreed(0), RoomClosed("everybody left"))
    assert story.refused(join(EVA)) == "no-such-room"


def test_leaving_a_running_match_keeps_the_seat() -> None:
    assert playing().when(Leave(ANA)) == ()


def test_a_bot_alone_does_not_keep_a_room_open() -> None:
    story = Story()
    story.open((ME, BOT))
    story.when(Resign(ANA, 1))
    assert story.when(Leave(ANA)) == (SeatFreed(0), RoomClosed("everybody left"))


def test_a_new_player_takes_the_seat_of_a_finished_match_and_waits_for_a_rematch() -> None:
    story = finished()
    story.when(Leave(ANA))
    assert story.join(EVA) == (SeatTaken(0, EVA, "eva"),)
    assert story.room.phase == "finished"
    assert [player.name for player in story.match.players] == ["ana", "rui"]
    story.offer(EVA, "rematch")
    assert story.offer(RUI, "rematch") == (SeatsSwapped(), MatchStarted(2))
    assert [player.name for player in story.match.players] == ["rui", "eva"]


def test_the_host_who_gives_a_seat_up_is_followed_by_the_other_player() -> None:
    story = finished()
    assert story.when(Leave(ANA)) == (SeatFreed(0), HostChanged(RUI, "rui"))
    assert story.refused(SeatBot(ANA, 0, "random", LEVELS, STILL)) == "not-host"
    assert story.when(SeatBot(RUI, 0, "random", LEVELS, STILL)) == (BotSeated(0, "random"),)


def test_a_player_who_leaves_does_not_change_the_host() -> None:
    story = finished()
    assert story.when(Leave(RUI)) == (SeatFreed(1),)
    assert story.room.host == ANA


def test_a_host_without_a_seat_stays_host() -> None:
    story = Story()
    story.open((OPEN, OPEN), host=DOM)
    story.join(ANA)
    assert story.when(Leave(DOM)) == ()
    assert story.when(SwapSeats(DOM)) == (SeatsSwapped(),)


def test_the_host_puts_a_bot_on_the_empty_seat_and_the_match_starts() -> None:
    story = Story()
    story.open()
    assert story.refused(SeatBot(RUI, 1, "random", LEVELS, STILL)) == "not-host"
    assert story.refused(SeatBot(ANA, 1, "genius", LEVELS, STILL)) == "unknown-level"
    assert story.refused(SeatBot(ANA, 0, "random", LEVELS, STILL)) == "seat-taken"
    assert story.refused(SeatBot(ANA, 1, None, LEVELS, STILL)) == "not-allowed"
    assert story.when(SeatBot(ANA, 1, "random", LEVELS, STILL)) == (BotSeated(1, "random"), MatchStarted(1))
    assert story.refused(SeatBot(ANA, 1, None, LEVELS, STILL)) == "wrong-phase"


def test_the_host_takes_a_bot_off_or_changes_its_level() -> None:
    story = Story()
    story.open((BOT, OPEN))
    changed = story.when(SeatBot(ANA, 0, "minimax-1", LEVELS, STILL))
    assert changed == (SeatFreed(0), BotSeated(0, "minimax-1"))
    assert story.when(SeatBot(ANA, 0, None, LEVELS, STILL)) == (SeatFreed(0),)
    assert story.room.seats == (SeatInfo(), SeatInfo())


def test_after_a_match_a_bot_only_takes_its_seat_and_a_rematch_starts_it() -> None:
    story = finished()
    story.when(Leave(RUI))
    assert story.when(SeatBot(ANA, 1, "random", LEVELS, STILL)) == (BotSeated(1, "random"),)
    assert story.offer(ANA, "rematch")[1:] == (SeatsSwapped(), MatchStarted(2))
    assert story.room.seats[0] == SeatInfo("bot", bot_account(0), "random-bot", "random")


def test_two_bots_of_one_level_have_names_of_their_own_that_they_keep_when_they_swap() -> None:
    story = Story()
    story.open((BOT, BOT))
    assert [seat.name for seat in story.room.seats] == ["random-bot", "random-bot-2"]
    story = Story()
    story.open((OPEN, OPEN), host=ANA)
    story.when(SeatBot(ANA, 1, "random", LEVELS, STILL))
    story.when(SwapSeats(ANA))
    assert [seat.name for seat in story.room.seats] == ["random-bot", None]
    story.when(SeatBot(ANA, 1, "random", LEVELS, STILL))
    assert [seat.name for seat in story.room.seats] == ["random-bot", "random-bot-2"]


def test_swapping_moves_people_bots_and_their_absence() -> None:
    story = Story()
    story.open((ME, BOT), LAST_ACTION)
    story.play(ANA, "b1")
    story.leave_for(ANA, 1_000)
    assert story.when(SwapSeats(ANA)) == (SeatsSwapped(),)
    assert story.room.seats == (
        SeatInfo("bot", bot_account(0), "random-bot", "random"),
        SeatInfo("person", ANA, "ana"),
    )
    assert story.room.away_since_ms == (None, story.now_ms - 1_000)


def test_swapping_is_for_the_host_between_matches() -> None:
    story = Story()
    story.open()
    assert story.refused(SwapSeats(RUI)) == "not-host"
    assert story.when(SwapSeats(ANA)) == (SeatsSwapped(),)
    story.join(RUI)
    assert story.room.seats[1].account == ANA
    assert story.refused(SwapSeats(ANA)) == "wrong-phase"


def test_swapping_ends_offers() -> None:
    """Symptom: ana offered a rematch, swapped, offered again, and had accepted her own offer."""
    story = finished()
    story.offer(ANA, "rematch")
    assert story.when(SwapSeats(ANA)) == (OfferEnded("rematch", 0, "void"), SeatsSwapped())
    story.offer(ANA, "rematch")
    assert story.room.phase == "finished"


@pytest.mark.parametrize("secret", [None, "", "wrong", "watch-secret", "ínvite"])
def test_a_private_room_is_joined_with_the_invite_only(secret: str | None) -> None:
    story = Story()
    story.open(settings=PRIVATE)
    assert story.room.secrets == SECRETS
    assert story.refused(join(RUI, secret=secret)) == "bad-secret"
    assert story.when(join(RUI, secret=SECRETS.invite))[0] == SeatTaken(1, RUI, "rui")


def test_a_private_room_is_watched_with_either_secret_and_entered_by_its_people_without() -> None:
    story = Story()
    story.open(settings=PRIVATE)
    assert story.refused(Watch(EVA)) == "bad-secret"
    assert story.refused(Watch(EVA, "wrong")) == "bad-secret"
    assert story.when(Watch(EVA, SECRETS.watch)) == story.when(Watch(EVA, SECRETS.invite)) == ()
    story.when(join(RUI, secret=SECRETS.invite))
    assert story.when(Watch(RUI)) == story.when(Watch(ANA)) == story.when(join(RUI)) == ()


def test_the_host_of_a_private_room_may_watch_and_sit_down_without_a_secret() -> None:
    story = Story()
    story.open((OPEN, OPEN), settings=PRIVATE)
    assert story.when(Watch(ANA)) == ()
    assert story.join(ANA) == (SeatTaken(0, ANA, "ana"),)


def test_an_open_room_asks_for_no_secret() -> None:
    story = Story()
    story.open()
    assert story.room.secrets is None
    assert story.when(Watch(EVA, "whatever")) == ()


def test_presence_is_noted_once_and_only_for_seats() -> None:
    story = playing()
    assert story.come_back(ANA) == ()
    assert story.when(Disconnect(EVA)) == story.when(Connect(EVA)) == ()
    assert story.when(Disconnect(RUI)) == (SeatDisconnected(1),)
    assert story.room.away_since_ms == (None, story.now_ms)
    assert story.later(5_000).when(Disconnect(RUI)) == ()
    assert story.come_back(RUI) == (SeatConnected(1),)
    assert story.room.away_since_ms == (None, None)


def test_one_person_on_both_seats_comes_and_goes_on_both() -> None:
    story = Story()
    story.open((ME, ME))
    assert story.when(Disconnect(ANA)) == (SeatDisconnected(0), SeatDisconnected(1))
    assert story.come_back(ANA) == (SeatConnected(0), SeatConnected(1))


def test_who_sits_down_on_the_seat_of_an_absent_person_is_there() -> None:
    story = finished()
    story.leave_for(ANA, 1_000)
    story.when(Leave(ANA))
    story.join(EVA)
    assert story.room.away_since_ms == (None, None)
