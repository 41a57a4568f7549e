"""Both players with their clocks, two lines each; made anew whenever something in them has changed."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Final, cast

from rich.console import RenderableType
from rich.padding import Padding
from rich.style import Style
from rich.table import Table
from rich.text import Text
from textual.widgets import Static

from tabuleiro_client.tui.present.clocks import ClockFace, Urgency
from tabuleiro_client.tui.present.ink import Ink, Role
from tabuleiro_client.tui.present.players import PlayerLine

if TYPE_CHECKING:
    from tabuleiro_client.tui.app import TabuleiroApp

_SIDES: Final = (Role.SIDE_0, Role.SIDE_1)


class Players(Static):
    """Shows what :meth:`show` was given last."""

    DEFAULT_CSS = """
    Players { height: auto; padding: 0 1; background: $surface; }
    """

    def __init__(self, *, id: str | None = None) -> None:
        super().__init__("", id=id)
        self._shown: object = None

    def show(self, lines: Sequence[PlayerLine], *, is_stone: bool) -> None:
        """Show both players; nothing is drawn when nothing has changed."""
        if (lines, is_stone) == self._shown:
            return
        is_first = self._shown is None
        self._shown = (lines, is_stone)
        self.update(self._table(lines, is_stone), layout=is_first)  # two lines a player, whatever they say

    def _table(self, lines: Sequence[PlayerLine], is_stone: bool) -> RenderableType:
        table = Table.grid(expand=True, padding=0)
        table.add_column(ratio=1, no_wrap=True, overflow="crop")
        table.add_column(justify="right", no_wrap=True)
        for line in lines:
            name = Text("> " if line.is_to_move else "  ", style="bold")
            name.append_text(self._chip(line, is_stone))
            name.append(line.name, style="bold" if line.is_to_move else "")
            table.add_row(name, self._clock(line.clock))
            note = Text(f"{line.side}, {line.presence}", style=self._note_style(line), no_wrap=True)
            table.add_row(Padding(note, (0, 0, 0, 4)), Text(""))
        return table

    def _chip(self, line: PlayerLine, is_stone: bool) -> Text:
        if not line.glyph:
            return Text("^ " if line.player == 0 else "v ", style="bold")
        app = cast("TabuleiroApp", self.app)
        ink = Ink(_SIDES[line.player], Role.GROUND if is_stone else None, bold=True)
        return Text.assemble((line.glyph, app.brush(is_stone=is_stone).style(ink)), " ")

    def _note_style(self, line: PlayerLine) -> Style:
        return self._colour("error" if line.is_away else "text-muted")

    def _clock(self, clock: ClockFace | None) -> Text:
        if clock is None:
            return Text("")
        text = clock.text
        if clock.urgency is Urgency.CRITICAL:
            return Text(f"!{text}", style=Style(bold=True) + self._colour("error"))
        if clock.urgency is Urgency.LOW:
            return Text(text, style=Style(bold=True) + self._colour("error"))
        return Text(text, style="bold" if clock.is_running else "")

    def _colour(self, name: str) -> Style:
        app = cast("TabuleiroApp", self.app)
        if not app.colour_count:
            return Style()
        variables = app.get_css_variables()
        colour = variables.get(name, "")
        return Style(color=colour) if colour.startswith("#") else Style(dim=True)
