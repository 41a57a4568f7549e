"""Chat: what is said and kept, flood, muting, and talk that players don't see."""

from __future__ import annotations

import pytest

from tabuleiro.ids import AccountId
from tabuleiro.protocol.events import HostChanged, Muted, Said
from tabuleiro.settings import RoomSettings
from tabuleiro_server.room.chat import FLOOD_LINES_COUNT, FLOOD_WINDOW_MS
from tabuleiro_server.room.commands import Leave, Mute, Resign, Say
from tabuleiro_server.room.state import CHAT_LINES_COUNT
from tabuleiro_server.room.views import Viewer, event_for, snapshot_of, viewer_of
from tests.room.story import ANA, BOT, DOM, EVA, ME, NAMES, RUI, SECRETS, Story, finished, join, playing

pytestmark = pytest.mark.usefixtures("draws_in_virus_wars")

HIDING = RoomSettings(hides_watcher_chat=True)


def texts_for(story: Story, account: AccountId) -> list[str]:
    """What the chat of a fresh snapshot holds for somebody."""
    return [line.text for line in snapshot_of(story.room, viewer_of(story.room, account)).chat]


def test_players_and_watchers_talk_in_every_phase() -> None:
    story = Story()
    story.open()
    assert story.say(ANA, "anybody?") == (Said(ANA, "ana", "anybody?", is_player=True),)
    story.join(RUI)
    assert story.say(EVA, "good luck") == (Said(EVA, "eva", "good luck", is_player=False),)
    story.when(Resign(RUI, 1))
    story.say(RUI, "well played")
    assert texts_for(story, EVA) == ["anybody?", "good luck", "well played"]


@pytest.mark.parametrize(
    ("said", "kept"),
    [
        ("\x1b[31mred\x07", "red"),
        ("a\u202egnp.exe", "agnp.exe"),
        ("two\nlines\tand a tab", "two lines and a tab"),
        ("  spaced  ", "spaced"),
    ],
)
def test_nothing_that_moves_a_cursor_is_kept(said: str, kept: str) -> None:
    (line,) = playing().say(ANA, said)
    assert isinstance(line, Said)
    assert line.text == kept


@pytest.mark.parametrize(
    "text", ["", "   ", "\x1b\x00", "\u202e\u200b", "\u3164\u2800", "\x1b[31m\x1b[0m", "\ud800"]
)
def test_nothing_is_not_said(text: str) -> None:
    assert playing().refused(Say(ANA, "ana", text)) == "bad-text"


def test_a_flood_is_stopped_and_others_may_still_talk() -> None:
    story = playing()
    for _ in range(FLOOD_LINES_COUNT):
        story.say(EVA, "buy!")
    assert story.refused(Say(EVA, "eva", "buy!")) == "limit-reached"
    story.say(ANA, "please stop")
    story.later(FLOOD_WINDOW_MS - 1)
    assert story.refused(Say(EVA, "eva", "buy!")) == "limit-reached"
    story.later(1).say(EVA, "sorry")


def test_who_talked_before_the_clock_was_set_back_may_go_on() -> None:
    """Symptom: the clock was set back by an hour, and nobody who had just talked could say a word for an hour."""
    story = playing()
    story.later(3_600_000)
    for _ in range(FLOOD_LINES_COUNT):
        story.say(EVA, "hello")
    story.later(-3_600_000).say(EVA, "still here")


def test_the_room_remembers_the_last_lines_only() -> None:
    story = playing()
    for number in range(CHAT_LINES_COUNT + 3):
        story.later(FLOOD_WINDOW_MS).say(ANA, f"line {number}")
    assert len(story.room.chat) == CHAT_LINES_COUNT
    assert story.room.chat[0].text == "line 3"


def test_the_host_mutes_by_name_whoever_sits_or_has_talked_here() -> None:
    story = playing()
    assert story.refused(Mute(ANA, "eva", True)) == "not-allowed"
    story.say(EVA, "hm")
    assert story.refused(Mute(RUI, "eva", True)) == "not-host"
    assert story.when(Mute(ANA, "EVA", True)) == (Muted(EVA, "eva"),)
    assert story.when(Mute(ANA, "eva", True)) == ()
    assert story.refused(Say(EVA, "eva", "but")) == "muted"
    assert story.when(Mute(ANA, "rui", True)) == (Muted(RUI, "rui"),)
    assert story.refused(Say(RUI, "rui", "but")) == "muted"
    assert story.when(Mute(ANA, "eva", False)) == (Muted(EVA, "eva", is_muted=False),)
    story.say(EVA, "thanks")
    assert story.when(Mute(ANA, "eva", False)) == ()


def test_a_muted_player_plays_on() -> None:
    story = playing()
    story.when(Mute(ANA, "rui", True))
    story.play(ANA, "a3", "a2")
    story.play(RUI, "d2", "d3")
    assert story.offer(RUI, "draw")


def test_the_host_is_not_muted_and_bots_have_no_voice_to_mute() -> None:
    story = Story()
    story.open((ME, BOT))
    assert story.refused(Mute(ANA, "ana", True)) == "not-allowed"
    assert story.refused(Mute(ANA, "random-bot", True)) == "not-allowed"


def test_muting_outlives_the_lines_that_led_to_it() -> None:
    """Symptom: once a muted watcher's lines were forgotten, nobody could let them talk again."""
    story = playing()
    story.say(EVA, "hm")
    story.when(Mute(ANA, "eva", True))
    for number in range(CHAT_LINES_COUNT):
        story.later(FLOOD_WINDOW_MS).say(ANA, f"line {number}")
    assert story.refused(Say(EVA, "eva", "but")) == "muted"
    assert story.when(Mute(ANA, "eva", False)) == (Muted(EVA, "eva", is_muted=False),)


def test_of_two_people_with_one_name_after_the_other_the_later_is_muted() -> None:
    story = playing()
    story.when(Say(EVA, "kim", "I was kim"))
    story.when(Say(DOM, "Kim", "I am kim now"))
    assert story.when(Mute(ANA, "kim", True)) == (Muted(DOM, "Kim"),)


def test_whoever_becomes_host_is_no_longer_muted() -> None:
    story = finished()
    story.when(Mute(ANA, "rui", True))
    assert story.when(Leave(ANA))[-1] == HostChanged(RUI, "rui")
    story.say(RUI, "at last")


def test_watchers_talk_is_hidden_from_the_players_while_they_play() -> None:
    story = playing(settings=HIDING)
    (said,) = story.say(EVA, "b2 wins!")
    assert said == Said(EVA, "eva", "b2 wins!", is_player=False, is_hidden=True)
    story.say(RUI, "hello")
    assert texts_for(story, ANA) == texts_for(story, RUI) == ["hello"]
    assert texts_for(story, EVA) == texts_for(story, DOM) == ["b2 wins!", "hello"]
    for account in (ANA, RUI):
        seen = [event_for(event, viewer_of(story.room, account)) for event in story.events]
        assert "b2 wins!" not in repr(seen)
        assert [event.seq for event in seen] == [event.seq for event in story.events]


def test_hidden_talk_can_be_read_after_the_match_until_the_next_begins() -> None:
    story = playing(settings=HIDING)
    story.say(EVA, "b2 wins!")
    story.when(Resign(ANA, 1))
    assert texts_for(story, ANA) == ["b2 wins!"]
    assert "b2 wins!" in repr([event_for(event, viewer_of(story.room, ANA)) for event in story.events])
    story.offer(ANA, "rematch")
    story.offer(RUI, "rematch")
    assert texts_for(story, ANA) == []


def test_without_the_setting_and_outside_of_matches_nothing_is_hidden() -> None:
    open_talk, after = playing(), finished(settings=HIDING)
    for story in (open_talk, after):
        story.say(EVA, "hello")
        assert texts_for(story, ANA) == ["hello"]


def test_secrets_are_in_nothing_that_is_sent() -> None:
    story = Story()
    story.open(settings=RoomSettings(is_private=True))
    story.when(join(RUI, secret=SECRETS.invite))
    story.say(RUI, "hello")
    for viewer in Viewer:
        sent = repr([event_for(event, viewer) for event in story.events]) + repr(snapshot_of(story.room, viewer))
        assert SECRETS.invite not in sent
        assert SECRETS.watch not in sent
    assert NAMES[ANA] in sent
