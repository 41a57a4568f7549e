"""What was said in the room, and the line to say or type something."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import ClassVar, Literal

from rich.text import Text
from textual.app import ComposeResult
from textual.binding import BindingType
from textual.containers import VerticalScroll
from textual.message import Message
from textual.widget import Widget
from textual.widgets import Input, Static

from tabuleiro.protocol.messages import CHAT_MAX_CHARS, ChatLine
from tabuleiro_client.board_text import TextStyle
from tabuleiro_client.terminal import showable
from tabuleiro_client.tui.keys import key

EntryKind = Literal["say", "play", "turn"]
_PLACEHOLDERS: dict[EntryKind, str] = {
    "say": "say something, Enter sends it",
    "play": "actions, e.g. c3 d4",
    "turn": "number of the turn",
}


class Chat(VerticalScroll, can_focus=False):
    """Shows the lines that :meth:`show` was given last, the newest at the bottom."""

    DEFAULT_CSS = """
    Chat { height: 1fr; min-height: 2; padding: 0 1; background: $surface; scrollbar-size-vertical: 1; }
    Chat Static { height: auto; }
    """

    def __init__(self, *, id: str | None = None) -> None:
        super().__init__(id=id)
        self._count: object = None

    def compose(self) -> ComposeResult:
        yield Static("", markup=False)

    def show(self, lines: Sequence[ChatLine], style: TextStyle) -> None:
        """List what was said."""
        newest = (len(lines), lines[-1] if lines else None)
        if newest == self._count:
            return
        self._count = newest
        text = Text()
        for line in lines:
            watching = "" if line.is_player else " (watching)"
            text.append(f"{showable(line.name, style)}{watching}: ", style="bold")
            text.append(f"{showable(line.text, style)}\n")
        text.rstrip()
        if not lines:
            text.append("nothing was said yet (t: say something)", style="dim")
        self.query_one(Static).update(text)
        self.call_after_refresh(self.scroll_end, animate=False)


class Entry(Input):
    """The line in which something is typed: chat, actions, or the number of a turn. Hidden while not in use."""

    BINDINGS: ClassVar[list[BindingType]] = [
        key("escape", "give_up", "never mind", "Leave the line without sending it.", sign="Esc"),
    ]
    DEFAULT_CSS = """
    Entry { display: none; height: 1; border: none; padding: 0 1; }
    Entry:focus { border: none; }
    Entry.open { display: block; }
    """

    @dataclass
    class Typed(Message):
        """A line was finished with Enter."""

        kind: EntryKind
        text: str

    def __init__(self, *, id: str | None = None) -> None:
        super().__init__(id=id, max_length=CHAT_MAX_CHARS)
        self._kind: EntryKind = "say"
        self._focused_before: Widget | None = None

    def open_for(self, kind: EntryKind) -> None:
        """Show the line and take the keys, until it is finished or left."""
        self._kind = kind
        if not self.has_focus:
            self._focused_before = self.screen.focused
        self.placeholder = _PLACEHOLDERS[kind]
        self.value = ""
        self.add_class("open")
        self.screen.set_focus(self)

    def action_give_up(self) -> None:
        """Leave the line."""
        self._close()

    async def action_submit(self) -> None:
        """Finish the line; with nothing in it, leave it."""
        text = self.value.strip()
        self._close()
        if text:
            self.post_message(self.Typed(self._kind, text))

    def _close(self) -> None:
        self.value = ""
        self.screen.set_focus(self._focused_before)
        self.remove_class("open")
