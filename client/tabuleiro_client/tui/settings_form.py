"""What a host fills in to change the settings of a room: the fields of a new room that can still be changed."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Final

import msgspec

from tabuleiro.clock import format_time_control
from tabuleiro.protocol.messages import RoomHead
from tabuleiro.settings import RoomSettings
from tabuleiro.text import format_duration
from tabuleiro_client.tui.room_form import NO, NONE, YES, Field, RoomForm

_PROMISED: Final = frozenset({"private", "downtime"})
_BEGINS: Final[Mapping[str, str]] = {"me": "as seated", "draw": "draw lots"}


class SettingsForm(RoomForm):
    """The form for the room of ``head``; ``levels`` are the computer players that its server has for its game."""

    submit_label = "change"

    def __init__(self, head: RoomHead, levels: Sequence[str]) -> None:
        super().__init__("person", is_local=False)
        self._before = settings = head.settings
        self.set("game", head.game)
        self._fill_options(head.options)
        self.know_levels({head.game: levels})
        self.values |= {
            "begins": "draw" if settings.first == "draw" else "me",
            "clock": format_time_control(settings.time_control),
            "casual": YES if settings.is_casual else NO,
            "hints": YES if settings.hints else NO,
            "undo": YES if settings.may_undo else NO,
            "stand-in": settings.stand_in_level or NONE,
            "away": format_duration(settings.away_after_ms),
            "quiet": YES if settings.hides_watcher_chat else NO,
        }
        if settings.late_bot is not None:
            self.values["late"] = settings.late_bot.level
            self.values["late-after"] = format_duration(settings.late_bot.after_ms)

    def fields(self) -> list[Field]:
        """What can be changed, from the top."""
        begins = Field("begins", "who begins", "seat 1, or by lot", _BEGINS, heading="From the next match on")
        others = (field for field in self._room_fields() if field.name not in _PROMISED)
        return [begins, *(replace(field, heading="") for field in others)]

    def know_levels(self, levels: Mapping[str, Sequence[str]]) -> None:
        """Take in the computer players of the room's server; those of another one mean nothing here."""
        if not self.levels:
            super().know_levels(levels)

    def change(self) -> RoomSettings:
        """The settings as filled in; only when there are no :meth:`errors`."""
        before = self._before
        return msgspec.structs.replace(
            self._settings(), is_private=before.is_private, counts_downtime=before.counts_downtime
        )
