"""Watching a match: live, and back and forth through what was played while it goes on."""

from __future__ import annotations

from typing import ClassVar

from textual.binding import BindingType

from tabuleiro.errors import NotationError
from tabuleiro_client.tui import keys
from tabuleiro_client.tui.screens.live import LiveScreen
from tabuleiro_client.tui.widgets.chat import Entry

_MATCH_KEYS = frozenset({"why", "chat", "copy_code", "mute"})


class WatchScreen(LiveScreen):
    """A match as a watcher sees it; nothing can be played even if this guest holds a seat."""

    BINDINGS: ClassVar[list[BindingType]] = [
        *keys.STEPPING,
        *(binding for binding in keys.MATCH if binding.action in _MATCH_KEYS),
    ]

    def check_action(self, action: str, parameters: tuple[object, ...]) -> bool | None:
        """Return True if a key does something now; the footer shows those that do."""
        if action == "mute":
            return self.can_mute()
        return action != "chat" or not self.model.is_gone

    def next_steps(self) -> str:
        return "[ ] step   { } turns   Esc leave"

    def action_scroll_turn(self, step: int) -> None:
        """Look one turn back or on."""
        ply, timeline = self.model.ply, self.model.timeline
        self.look(timeline.turn_start(ply) if step < 0 else timeline.next_turn_start(ply))

    def action_scroll_to_start(self) -> None:
        """Look at the start of the match."""
        self.look(0)

    def action_go_to(self) -> None:
        """Ask where to go."""
        self.query_one(Entry).open_for("turn")

    def on_entry_typed(self, event: Entry.Typed) -> None:
        """Handle a typed line: chat, or the number of a turn."""
        if event.kind == "say":
            self.say_to_room(event.text)
            return
        try:
            self.look(self.model.timeline.ply_of(event.text))
        except NotationError as error:
            self.say(str(error))
            self.query_one(Entry).refuse("turn", event.text)

    def action_back(self) -> None:
        """Come back to the present, or leave."""
        if not self.model.is_live:
            self.look(self.model.timeline.last_ply)
        else:
            self.context.leave_screen()
