"""The form by which the host of a room changes its settings for the matches to come."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import ClassVar

from textual.binding import BindingType

from tabuleiro.settings import RoomSettings
from tabuleiro_client.tui import keys
from tabuleiro_client.tui.screens.new_match import NewMatchScreen
from tabuleiro_client.tui.settings_form import SettingsForm


class RoomSettingsScreen(NewMatchScreen):
    """Fills ``settings_form`` in, and goes back with what is wished for, which ``ask`` asks the server for."""

    BINDINGS: ClassVar[list[BindingType]] = [replace(keys.SUBMIT, description="change")]

    def __init__(self, settings_form: SettingsForm, ask: Callable[[RoomSettings], None]) -> None:
        super().__init__(settings_form)
        self.page_title = "settings of the room"
        self._settings_form = settings_form
        self._ask = ask

    async def _open_room(self) -> None:
        self.context.leave_screen()
        self._ask(self._settings_form.change())
