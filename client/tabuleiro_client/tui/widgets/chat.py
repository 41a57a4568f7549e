"""The chat of the room, and the line to say or type something."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import ClassVar, Literal

from textual import events
from textual.binding import BindingType
from textual.content import Content
from textual.message import Message
from textual.widget import Widget
from textual.widgets import Input
from textual.widgets.input import Selection

from tabuleiro.protocol.messages import ChatLine
from tabuleiro_client.text.board import TextStyle
from tabuleiro_client.text.terminal import showable
from tabuleiro_client.tui.context import Context, context_of
from tabuleiro_client.tui.keys import key
from tabuleiro_client.tui.line_history import LineHistory
from tabuleiro_client.tui.widgets.line_list import LineList

EntryKind = Literal["say", "play", "turn", "bot"]
_PLACEHOLDERS: dict[EntryKind, str] = {
    "say": "a message; Enter sends it, Esc leaves",
    "play": "cells, e.g. c3 d4; Enter plays, Esc leaves",
    "turn": "a turn, e.g. 5; an action, e.g. a34; start or end",
    "bot": "a level or an algorithm, e.g. minimax-2; Enter asks it, Esc leaves",
}


class Chat(LineList[ChatLine | None]):
    """Shows the lines that :meth:`show` was given last, the newest at the bottom."""

    DEFAULT_CSS = """
    Chat { height: 1fr; min-height: 2; padding: 0 1; background: $surface; }
    """

    def __init__(self, *, id: str | None = None, tells_watching: bool = True) -> None:
        """``tells_watching``: who holds no seat is said to watch."""
        super().__init__(id=id)
        self._tells_watching = tells_watching
        self._newest: object = None
        self._style = TextStyle(color=True, ascii=False)

    def show(self, lines: Sequence[ChatLine], style: TextStyle) -> None:
        """List what was said."""
        newest = (len(lines), lines[-1] if lines else None)
        if newest == self._newest:
            return
        self._newest, self._style = newest, style
        self.show_entries(tuple(lines) or (None,))
        self._scroll_to_newest()

    def on_resize(self, event: events.Resize) -> None:
        super().on_resize(event)
        self._scroll_to_newest()

    def _scroll_to_newest(self) -> None:
        self.scroll_so_that(self.line_count - 1)

    def content_of(self, entry: ChatLine | None) -> Content:
        if entry is None:
            return Content.styled("No messages yet. F4: write one", "dim")
        watching = " (watching)" if self._tells_watching and not entry.is_player else ""
        name = f"{showable(entry.name, self._style)}{watching}: "
        return Content.assemble((name, "bold"), showable(entry.text, self._style))


class Entry(Input):
    """The line in which something is typed: chat, actions, or where to go. Hidden while not in use.

    A line that is refused comes back by :meth:`refuse`; those typed before are there with the arrow keys. One that
    a letter on the board began is left again when that is deleted.
    """

    BINDINGS: ClassVar[list[BindingType]] = [
        key("escape", "give_up", "cancel", "Leave the line without sending it.", sign="Esc"),
        key("enter", "submit", "done", "Finish the line: play it, send it, or go there.", sign="Enter"),
        key("up", "older", "older", "The line typed before this one.", shown=False),
        key("down", "newer", "newer", "The line typed after this one.", shown=False),
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
        super().__init__(id=id, select_on_focus=False)
        self._kind: EntryKind = "say"
        self._focused_before: Widget | None = None
        self._refused: dict[EntryKind, tuple[str, int]] = {}
        self._typed_count = 0
        self._is_begun = False

    @property
    def context(self) -> Context:
        """The application, as far as this needs it."""
        return context_of(self)

    @property
    def _history(self) -> LineHistory:
        return self.context.typed_lines.setdefault(self._kind, LineHistory())

    @property
    def kind(self) -> EntryKind:
        """The thing that is typed, or was last."""
        return self._kind

    def open_for(self, kind: EntryKind, begun: str = "") -> None:
        """Show the line and take the keys, until it is finished or left; ``begun`` is typed in it already.

        Otherwise a refused line of that kind is there again, with what is wrong in it selected.
        """
        self._kind = kind
        self._is_begun = bool(begun)
        self._history.leave()
        if not self.has_focus:
            self._focused_before = self.screen.focused
        self.placeholder = _PLACEHOLDERS[kind]
        refused, start = self._refused.pop(kind, ("", 0))
        self.value = begun or refused
        # What is wrong is replaced by what is typed next, and taken away by one Backspace.
        end = len(refused) if kind == "say" else _end_of_word(refused, start)
        self.selection = Selection.cursor(len(begun)) if begun else Selection(start, end)
        self.add_class("open")
        self.screen.set_focus(self)

    def refuse(self, kind: EntryKind, text: str, column: int | None = None) -> None:
        """Bring a finished line back that led nowhere; ``column`` (from 1) is where it is wrong, ``None`` unknown.

        It comes back by itself only if nobody has typed anything since, else when the line is opened again.
        """
        self._refused[kind] = (text, len(text) if column is None else column - 1)
        if self.context.typed_count == self._typed_count and self.screen.is_current:
            self.open_for(kind)

    def action_give_up(self) -> None:
        """Leave the line."""
        self._close()

    def on_input_changed(self, event: Input.Changed) -> None:
        if self._is_begun and not self.value and self.has_class("open"):
            self._close()

    def on_paste(self, event: events.Paste) -> None:
        """Paste all lines as one: the library would drop all but the first."""
        lines = [line.strip() for line in event.text.splitlines()]
        if len(lines) > 1:
            event.prevent_default()
            event.stop()
            self.insert_text_at_cursor(" ".join(line for line in lines if line))

    def action_older(self) -> None:
        """Show the line typed before."""
        self._recall(self._history.older(self.value))

    def action_newer(self) -> None:
        """Show the line typed after."""
        self._recall(self._history.newer())

    def _recall(self, text: str | None) -> None:
        if text is not None:
            self.value = text
            self.cursor_position = len(text)

    async def action_submit(self) -> None:
        """Finish the line; with nothing in it, leave it."""
        text = self.value.strip()
        self._close()
        if text:
            self._history.add(text)
            self._typed_count = self.context.typed_count
            self.post_message(self.Typed(self._kind, text))

    def _close(self) -> None:
        self.value = ""
        self._is_begun = False
        self.screen.set_focus(self._focused_before)
        self.remove_class("open")


def _end_of_word(text: str, start: int) -> int:
    """Return the end of the word that begins at ``start``."""
    end = text.find(" ", start)
    return len(text) if end < 0 else end
