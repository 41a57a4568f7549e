"""The list of turns, scrolled to the one on the board."""

from __future__ import annotations

from collections.abc import Sequence

from textual import events
from textual.content import Content

from tabuleiro_client.tui.present.moves import MoveRow, move_rows
from tabuleiro_client.tui.timeline import TurnLine
from tabuleiro_client.tui.widgets.line_list import LineList


class Moves(LineList[MoveRow]):
    """Shows the turns that :meth:`show` was given last."""

    DEFAULT_CSS = """
    Moves { height: 1fr; min-height: 2; padding: 0 1; }
    """

    def __init__(self, *, id: str | None = None) -> None:
        super().__init__(id=id)
        self._shown: object = None
        self._given: tuple[Sequence[TurnLine], tuple[str, str], int] = ((), ("", ""), 0)

    def on_resize(self, event: events.Resize) -> None:
        super().on_resize(event)
        self._shown = None  # with other rows to see, the turn on the board may be out of sight
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
        self.show_entries(rows)
        shown = [place for place, row in enumerate(rows) if row.is_shown]
        self.scroll_so_that(shown[-1] if shown else 0)

    def content_of(self, entry: MoveRow) -> Content:
        return Content.styled(entry.text, "bold") if entry.is_shown else Content(entry.text)
