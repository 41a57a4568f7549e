"""Changing the settings of a room: the form without a screen."""

from __future__ import annotations

import pytest

from tabuleiro.clock import Fischer
from tabuleiro.ids import RoomCode, Seq, TimestampMs
from tabuleiro.protocol.events import SeatInfo
from tabuleiro.protocol.messages import RoomHead, SeatView
from tabuleiro.rules import registry
from tabuleiro.settings import LateBot, RoomSettings
from tabuleiro_client.tui.room_form import SettingsForm

OTHER = RoomSettings(
    time_control=Fischer(initial_ms=300_000, increment_ms=3_000),
    is_private=True,
    is_casual=False,
    first="draw",
    may_undo=False,
    late_bot=LateBot("random", 90_000),
    stand_in_level="minimax-1",
    away_after_ms=30_000,
    hides_watcher_chat=True,
    counts_downtime=True,
)


def form_of(settings: RoomSettings) -> SettingsForm:
    seat = SeatView(SeatInfo())
    options = dict(registry.load("virus-wars", {"rows": 4, "cols": 5}).options)
    zero = TimestampMs(0)
    head = RoomHead(
        RoomCode("K7MQ4"), Seq(1), "waiting", "virus-wars", options, "ana", zero, (seat, seat), zero, settings
    )
    return SettingsForm(head, ("random", "minimax-1"))


@pytest.mark.parametrize("settings", [RoomSettings(), RoomSettings(hints=True), OTHER])
def test_the_form_begins_with_what_is_so_and_says_the_same_when_nothing_is_changed(settings):
    form = form_of(settings)
    assert form.errors() == {}
    assert form.change() == settings


def test_what_was_promised_when_the_room_was_made_is_not_asked_for():
    names = [field.name for field in form_of(OTHER).fields()]
    assert names == [
        "begins",
        "time",
        "casual",
        "undo",
        "late-bot",
        "late-bot-after",
        "stand-in",
        "away",
        "hide-watcher-chat",
    ]


def test_one_change_leaves_the_rest_as_it_is():
    form = form_of(OTHER)
    form.set("time", "none")
    form.set("late-bot", "none")
    form.set("begins", "me")
    assert form.change() == RoomSettings(
        is_private=True,
        is_casual=False,
        may_undo=False,
        stand_in_level="minimax-1",
        away_after_ms=30_000,
        hides_watcher_chat=True,
        counts_downtime=True,
    )


def test_levels_of_another_server_are_not_offered():
    form = form_of(OTHER)
    form.know_levels({"virus-wars": ("expert",)})
    (levels,) = [field.choices for field in form.fields() if field.name == "stand-in"]
    assert list(levels or ()) == ["none", "random", "minimax-1"]


def test_a_clock_that_cannot_be_read_is_told():
    form = form_of(OTHER)
    form.set("time", "soon")
    assert "5+3" in form.errors()["time"]


def test_the_board_of_the_room_is_shown_beside_it():
    view = form_of(OTHER).preview()
    assert view is not None
    assert len(view.cells) == 20
