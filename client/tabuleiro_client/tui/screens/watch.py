"""Watching a match: live, and back and forth through what was played while it goes on."""

from __future__ import annotations

from typing import ClassVar

from textual.binding import BindingType

from tabuleiro_client.models.saved_matches import RoomMemory
from tabuleiro_client.net.server import Venue
from tabuleiro_client.tui import keys
from tabuleiro_client.tui.open_room import OpenRoom
from tabuleiro_client.tui.screens.live import LiveScreen
from tabuleiro_client.tui.widgets.chat import Entry

_MATCH_KEYS = frozenset({"app.menu", "app.rules", "why", "explain", "chat", "copy_code", "copy_position", "mute"})


class WatchScreen(LiveScreen):
    """A match as a watcher sees it; nothing can be played even if this guest holds a seat.

    With its ``venue``, a match of two bots that this user has made is remembered.
    """

    BINDINGS: ClassVar[list[BindingType]] = [
        *keys.STEPPING,
        *keys.SPEED,
        *(binding for binding in keys.MATCH if binding.action in _MATCH_KEYS),
    ]

    def __init__(self, open_room: OpenRoom, venue: Venue | None = None) -> None:
        super().__init__(open_room)
        self._venue = venue
        self._memory: RoomMemory | None = None

    def begin(self) -> None:
        super().begin()
        if self._venue is not None:
            self._memory = RoomMemory(self.context.saved_matches, self._venue, self.room)
            self._memory.note(self.context.now_ms())

    def catch_up(self) -> None:
        super().catch_up()
        if self._memory is not None:
            self._memory.note(self.context.now_ms())

    def begin_typing(self, character: str) -> None:
        """Open the line for a turn to go to; nothing can be played here."""
        if character.isdigit():
            self.query_one(Entry).open_for("turn", character)
        else:
            self.say("you are watching: F9 lists what you can do, a number goes to a turn")

    def check_action(self, action: str, parameters: tuple[object, ...]) -> bool | None:
        """Return True if a key does something now; the footer shows those that do."""
        if action == "speed":
            return self.model.is_behind
        if action == "mute":
            return self.can_mute()
        if action == "explain":
            return self.can_explain
        return action != "chat" or not self.model.is_gone

    def next_steps(self) -> str:
        return "<- -> step   Esc leave"

    def action_speed(self, step: int) -> None:
        """Show a match of bots faster or slower."""
        self.model.change_speed(step)
        self.show_all()

    def action_back(self) -> None:
        """Come back to the present, or leave."""
        if not self.model.is_live:
            self.look(self.model.timeline.last_ply)
        else:
            self.context.leave_screen()
