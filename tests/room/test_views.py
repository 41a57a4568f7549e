"""Heads, snapshots and list lines: they agree with the room, and show names of those who played."""

from __future__ import annotations

import pytest

from tabuleiro.clock import Fischer
from tabuleiro.ids import TimestampMs
from tabuleiro.protocol.events import OfferView
from tabuleiro.protocol.messages import BotThought
from tabuleiro.settings import RoomSettings
from tabuleiro_server.room.commands import Expire, Leave
from tabuleiro_server.room.views import Viewer, head_of, snapshot_of, summary_of, viewer_of
from tests.room.story import ANA, BOT, EVA, ME, RUI, SECRETS, STILL, Story, finished, join, playing

pytestmark = pytest.mark.usefixtures("draws_in_virus_wars")

NOW = TimestampMs(9_000_000)


def test_a_head_agrees_with_the_room() -> None:
    story = playing()
    story.play(ANA, "a3", "a2")
    story.offer(ANA, "draw")
    head = head_of(story.room, NOW, connected={ANA}, watchers_count=3, thinking=BotThought(1, NOW))
    assert (head.room, head.seq, head.phase, head.watchers) == ("ABCDE", 5, "playing", 3)
    assert (head.now_ms, head.host_name, head.offers) == (NOW, "ana", (OfferView("draw", 0),))
    assert head.thinking == BotThought(1, NOW)
    assert head.match is not None
    assert (head.match.ply, head.match.to_move, head.match.can_abort) == (2, 1, True)
    assert head.match.digest == story.match.state.digest()
    assert head.match.players == ("ana", "rui")
    assert snapshot_of(story.room, Viewer.PLAYER).actions == ("a3", "a2")
    assert summary_of(story.room, 3).watchers == 3


def test_a_waiting_room_has_no_match_to_show() -> None:
    story = Story()
    story.open()
    head, summary = head_of(story.room, NOW), summary_of(story.room)
    assert (head.phase, head.match, summary.plies, summary.players) == ("waiting", None, 0, None)
    assert snapshot_of(story.room, Viewer.WATCHER).actions == ()


def test_seats_show_who_is_there_and_since_when_not() -> None:
    story = playing()
    story.leave_for(RUI, 1_000)
    seats = head_of(story.room, NOW, connected={ANA}).seats
    assert [(seat.is_connected, seat.away_since_ms) for seat in seats] == [
        (True, None),
        (False, story.now_ms - 1_000),
    ]


def test_a_connection_counts_before_its_coming_is_noted() -> None:
    story = playing()
    story.leave_for(RUI, 1_000)
    assert head_of(story.room, NOW, connected={RUI}).seats[1].away_since_ms is None


def test_bots_are_always_there_and_open_seats_never() -> None:
    story = Story()
    story.open((BOT, ME))
    assert head_of(story.room, NOW).seats[0].is_connected
    waiting = Story()
    waiting.open()
    assert not head_of(waiting.room, NOW, connected={ANA, RUI}).seats[1].is_connected


def test_a_stand_in_is_shown_on_the_seat() -> None:
    story = playing(settings=RoomSettings(stand_in_level="random", away_after_ms=5_000))
    story.leave_for(ANA, 5_000)
    story.when(Expire(STILL))
    assert head_of(story.room, NOW).seats[0].holder.stand_in == "random"


@pytest.mark.parametrize("control", [Fischer(60_000, 0), None])
def test_a_clock_is_shown_where_there_is_one(control: Fischer | None) -> None:
    story = playing(settings=RoomSettings() if control is None else RoomSettings(time_control=control))
    view = head_of(story.room, NOW).match
    assert view is not None
    assert view.clock == (None if control is None else story.clock)


def test_the_result_is_told_of_those_who_played_whoever_sits_there_now() -> None:
    """Symptom: rui had won, left, and eva, who sat down, was shown as the winner."""
    story = finished()
    story.when(Leave(RUI))
    story.join(EVA)
    view, summary = head_of(story.room, NOW).match, summary_of(story.room)
    assert view is not None
    assert (view.winner, view.termination, view.players) == (1, "resignation", ("ana", "rui"))
    assert (summary.winner, summary.players) == (1, ("ana", "rui"))
    assert summary.seats[1].name == "eva"


def test_no_secret_is_in_a_head_or_a_list_line() -> None:
    story = Story()
    story.open(settings=RoomSettings(is_private=True))
    story.when(join(RUI, secret=SECRETS.invite))
    shown = repr((head_of(story.room, NOW, connected={ANA, RUI}), summary_of(story.room)))
    assert SECRETS.invite not in shown
    assert SECRETS.watch not in shown


def test_players_are_an_audience_of_their_own_while_they_play() -> None:
    story = playing()
    assert [viewer_of(story.room, account) for account in (ANA, RUI, EVA)] == [
        Viewer.PLAYER,
        Viewer.PLAYER,
        Viewer.WATCHER,
    ]
    assert viewer_of(finished().room, ANA) is Viewer.WATCHER
