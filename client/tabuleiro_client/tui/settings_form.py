"""The form in which a host changes the settings of a room: the fields that can still be changed."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Final

import msgspec

from tabuleiro.protocol.messages import RoomHead
from tabuleiro.settings import RoomSetting, RoomSettings
from tabuleiro_client.tui.room_form import Field, RoomForm

_BEGINS: Final[Mapping[str, str]] = {"me": "as seated", "draw": "draw lots"}


class SettingsForm(RoomForm):
    """The form for the room of ``head``; ``levels`` are the bots that its server has for its game."""

    submit_label = "change"

    def __init__(self, head: RoomHead, levels: Sequence[str]) -> None:
        super().__init__("person", is_local=False)
        self._before = settings = head.settings
        self.set("game", head.game)
        self._fill_options(head.options)
        self.know_levels({head.game: levels})
        self._fill_settings(settings)
        self.values["begins"] = "draw" if settings.first == "draw" else "me"

    def fields(self) -> list[Field]:
        """Return the fields that can be changed, from the top."""
        begins = Field("begins", "who begins", "seat 1, or by lot", _BEGINS, heading="From the next match on")
        others = (replace(field, heading="") for field in self._room_fields())
        return [begins, *others]

    def _settings_asked(self) -> list[RoomSetting]:
        return [setting for setting in super()._settings_asked() if not setting.is_promise]

    def know_levels(self, levels: Mapping[str, Sequence[str]]) -> None:
        """Take in the bots of the room's server; those of another one mean nothing here."""
        if not self.levels:
            super().know_levels(levels)

    def change(self) -> RoomSettings:
        """Return the settings as filled in; only if there are no :meth:`errors`."""
        before = self._before
        return msgspec.structs.replace(
            self._settings(), is_private=before.is_private, counts_downtime=before.counts_downtime
        )
