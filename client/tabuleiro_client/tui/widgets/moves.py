"""The list of turns, scrolled to the one on the board."""

from __future__ import annotations

from collections.abc import Sequence

from rich.style import Style
from rich.text import Text
from textual.app import ComposeResult
from textual.containers import VerticalScroll
from textual.widgets import Static

from tabuleiro_client.tui.present.moves import move_rows
from tabuleiro_client.tui.timeline import TurnLine


class Moves(VerticalScroll, can_focus=False):
    """Shows the turns that :meth:`show` was given last."""

    DEFAULT_CSS = """
    Moves { height: 1fr; min-height: 2; padding: 0 1; scrollbar-size-vertical: 1; }
    Moves Static { height: auto; }
    """

    def __init__(self, *, id: str | None = None) -> None:
        super().__init__(id=id)
        self._shown: object = None
        self._given: tuple[Sequence[TurnLine], tuple[str, str], int] = ((), ("", ""), 0)

    def compose(self) -> ComposeResult:
        yield Static("", markup=False)

    def on_resize(self) -> None:
        self.show(*self._given)

    def show(self, turns: Sequence[TurnLine], glyphs: tuple[str, str], ply: int) -> None:
        """List ``turns`` and mark the one that led to ``ply``."""
        self._given = (turns, glyphs, ply)
        width = max(self.size.width - 1, 12)  # a column for the bar that scrolls
        key = (tuple(turns), glyphs, ply, width)
        if key == self._shown:
            return
        self._shown = key
        rows = move_rows(turns, glyphs, ply, width)
        text = Text("\n").join(Text(row.text, style=Style(bold=True) if row.is_shown else "") for row in rows)
        self.query_one(Static).update(text)
        shown = [place for place, row in enumerate(rows) if row.is_shown]
        target = shown[-1] if shown else 0
        self.call_after_refresh(self.scroll_to, y=max(0, target - self.size.height + 1), animate=False)
