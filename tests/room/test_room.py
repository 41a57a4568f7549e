"""The room core: given events, when command, then events or code. No I/O, no clock."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

import msgspec
import pytest

from tabuleiro.errors import CommandError
from tabuleiro.ids import AccountId, RoomCode, Seq, TimestampMs
from tabuleiro.protocol.events import (
    ActionsPlayed,
    Event,
    MatchEnded,
    MatchStarted,
    RoomClosed,
    RoomOpened,
    RoomSecrets,
    SeatFreed,
    SeatInfo,
    SeatTaken,
    SequencedEvent,
)
from tabuleiro.protocol.messages import SeatRequest
from tabuleiro.protocol.settings import RoomLimits, RoomSettings
from tabuleiro_server.room.commands import Abort, Command, Draws, Join, Leave, OpenRoom, Play, Resign
from tabuleiro_server.room.decide import decide, open_room
from tabuleiro_server.room.evolve import evolve, replay
from tabuleiro_server.room.state import RoomState, bot_account
from tabuleiro_server.room.views import Audience, head_of, snapshot_of, summary_of

ANA, RUI, EVA = AccountId("ana-id"), AccountId("rui-id"), AccountId("eva-id")
NAMES = {ANA: "ana", RUI: "rui", EVA: "eva"}
DRAWS = Draws(seed=7, is_swapped=True)
ME, OPEN = SeatRequest("me"), SeatRequest()
SMALL: dict[str, int | str] = {"rows": 4, "cols": 4, "steps": 2}


@dataclass
class Story:
    """A room and everything that happened in it; every step checks that replay gives the live state."""

    events: list[SequencedEvent] = field(default_factory=list)
    room: RoomState | None = None
    now_ms: int = 1_000

    def open(
        self,
        seats: tuple[SeatRequest, SeatRequest] = (ME, OPEN),
        options: dict[str, Any] | None = None,
        game: str = "virus-wars",
        settings: RoomSettings = RoomSettings(),
    ) -> tuple[Event, ...]:
        command = OpenRoom(
            RoomCode("ABCDE"),
            ANA,
            "ana",
            game,
            SMALL if options is None else options,
            seats,
            settings,
            RoomLimits(),
            ("random",),
            RoomSecrets("invite", "watch"),
            DRAWS,
        )
        return self._take(open_room(command))

    def when(self, command: Command) -> tuple[Event, ...]:
        assert self.room is not None
        return self._take(decide(self.room, command, self.now_ms))

    def refused(self, command: Command) -> str:
        assert self.room is not None
        before = self.room
        with pytest.raises(CommandError) as caught:
            decide(self.room, command, self.now_ms)
        assert self.room == before
        return caught.value.code

    def _take(self, events: tuple[Event, ...]) -> tuple[Event, ...]:
        self.now_ms += 1_000
        for event in events:
            sequenced = SequencedEvent(Seq(len(self.events) + 1), TimestampMs(self.now_ms), event)
            self.events.append(sequenced)
            self.room = evolve(self.room, sequenced)
        assert self.room == replay(self.events)
        return events

    def play(self, account: AccountId, *actions: str) -> tuple[Event, ...]:
        assert self.room is not None
        assert self.room.match is not None
        return self.when(Play(account, 1, len(self.room.match.actions), actions))


def join(account: AccountId, seat: Any = None) -> Join:
    return Join(account, NAMES[account], DRAWS, seat)


def playing(options: dict[str, Any] | None = None) -> Story:
    story = Story()
    story.open(options=options)
    story.when(join(RUI))
    return story


def test_opening_with_an_open_seat_waits() -> None:
    story = Story()
    (opened,) = story.open()
    assert isinstance(opened, RoomOpened)
    assert opened.seats == (SeatInfo("person", ANA, "ana"), SeatInfo())
    assert opened.options["first_turn_steps"] == 2
    assert story.room is not None
    assert (story.room.phase, story.room.match) == ("waiting", None)


def test_opening_with_full_seats_starts_at_once() -> None:
    events = Story().open((SeatRequest("bot", "random"), ME))
    assert events[1:] == (MatchStarted(1),)


def test_one_person_may_hold_both_seats() -> None:
    story = Story()
    story.open((ME, ME))
    assert story.play(ANA, "a3", "a2") == (ActionsPlayed(1, 0, 0, ("a3", "a2")),)
    assert story.play(ANA, "d2", "d3") == (ActionsPlayed(1, 2, 1, ("d2", "d3")),)


@pytest.mark.parametrize(
    ("game", "options", "seats", "code"),
    [
        ("chess", {}, (ME, OPEN), "bad-option"),
        ("virus-wars", {"rows": 99}, (ME, OPEN), "bad-option"),
        ("virus-wars", {"mood": "good"}, (ME, OPEN), "bad-option"),
        ("virus-wars", {}, (ME, SeatRequest("bot", "genius")), "unknown-level"),
        ("virus-wars", {}, (ME, SeatRequest("bot")), "unknown-level"),
    ],
)
def test_an_impossible_room_is_refused(game: str, options: Any, seats: Any, code: str) -> None:
    with pytest.raises(CommandError) as caught:
        Story().open(seats, options, game)
    assert caught.value.code == code


def test_joining_takes_the_open_seat_and_starts() -> None:
    story = Story()
    story.open((OPEN, ME))
    assert story.when(join(RUI)) == (SeatTaken(0, RUI, "rui"), MatchStarted(1))


def test_joining_again_gives_the_same_seat_without_an_event() -> None:
    story = playing()
    assert story.when(join(RUI)) == ()
    assert story.when(join(ANA, 0)) == ()


@pytest.mark.parametrize(("account", "seat"), [(EVA, None), (EVA, 0), (ANA, 1)])
def test_a_taken_seat_is_refused(account: AccountId, seat: int | None) -> None:
    assert playing().refused(join(account, seat)) == "seat-taken"


def test_a_chosen_seat_must_be_the_free_one() -> None:
    story = Story()
    story.open()
    assert story.refused(join(RUI, 0)) == "seat-taken"
    assert story.when(join(RUI, 1))[0] == SeatTaken(1, RUI, "rui")


def test_leaving_before_the_match_frees_the_seat_and_the_last_one_closes() -> None:
    story = Story()
    story.open((OPEN, OPEN))
    story.when(join(RUI))
    assert story.when(Leave(EVA)) == ()
    assert story.when(Leave(RUI)) == (SeatFreed(0), RoomClosed("everybody left"))
    assert story.refused(join(EVA)) == "no-such-room"


def test_leaving_a_running_match_keeps_the_seat() -> None:
    assert playing().when(Leave(ANA)) == ()


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


def test_a_resent_last_play_of_a_finished_match_is_recognised() -> None:
    story = playing({**SMALL, "position": "x.OO/OOOO/OOOO/OOOo 0 2"})
    events = story.play(ANA, "b1")
    assert events == (ActionsPlayed(1, 0, 0, ("b1",)), MatchEnded(1, 1, "blocked"))
    assert story.when(Play(ANA, 1, 0, ("b1",))) == ()
    assert story.refused(Play(ANA, 1, 1, ("c1",))) == "wrong-phase"
    assert story.room is not None
    assert story.room.phase == "finished"


def test_watchers_may_not_play_or_resign() -> None:
    story = playing()
    assert story.refused(Play(EVA, 1, 0, ("a3",))) == "not-seated"
    assert story.refused(Resign(EVA, 1)) == "not-seated"


def test_resigning_gives_the_win_to_the_other() -> None:
    story = playing()
    assert story.refused(Resign(ANA, 2)) == "stale-ply"
    assert story.when(Resign(ANA, 1)) == (MatchEnded(1, 1, "resignation"),)
    assert story.refused(Resign(RUI, 1)) == "wrong-phase"
    assert story.room is not None
    assert story.room.match is not None
    assert story.room.match.to_move is None


def test_resigning_or_aborting_again_after_a_lost_answer_is_done_already() -> None:
    story = playing()
    story.when(Resign(ANA, 1))
    assert story.when(Resign(ANA, 1)) == ()
    story = playing()
    story.when(Abort(ANA, 1))
    assert story.when(Abort(ANA, 1)) == ()
    assert story.refused(Resign(ANA, 1)) == "wrong-phase"


def test_at_one_keyboard_the_player_to_move_resigns() -> None:
    story = Story()
    story.open((ME, ME))
    story.play(ANA, "a3", "a2")
    assert story.when(Resign(ANA, 1)) == (MatchEnded(1, 0, "resignation"),)


def test_a_bot_plays_under_its_own_account() -> None:
    story = Story()
    story.open((SeatRequest("bot", "random"), ME))
    assert story.room is not None
    assert story.room.is_bot_to_move
    assert story.refused(Play(ANA, 1, 0, ("a3",))) == "not-your-turn"
    story.play(bot_account(0), "a3", "a2")
    assert not story.room.is_bot_to_move


def test_playing_before_the_match_is_refused() -> None:
    story = Story()
    story.open()
    assert story.refused(Play(ANA, 1, 0, ("a3",))) == "wrong-phase"


def test_views_agree_with_the_room() -> None:
    story = playing()
    story.play(ANA, "a3", "a2")
    room = story.room
    assert room is not None
    assert room.match is not None
    head = head_of(room, TimestampMs(9_000), connected={ANA}, watchers_count=3)
    assert (head.seq, head.phase, head.watchers) == (4, "playing", 3)
    assert [seat.is_connected for seat in head.seats] == [True, False]
    assert head.match is not None
    assert (head.match.ply, head.match.to_move) == (2, 1)
    assert head.match.digest == room.match.state.digest()
    assert snapshot_of(room, Audience.PLAYERS).actions == ("a3", "a2")
    assert summary_of(room).plies == 2


def test_every_event_survives_storage() -> None:
    story = playing()
    story.play(ANA, "a3", "a2")
    story.when(Resign(RUI, 1))
    for sequenced in story.events:
        payload = msgspec.msgpack.encode(sequenced.event)
        assert msgspec.msgpack.decode(payload, type=Event) == sequenced.event
