"""Scroll bars of whole cells: the usual ones end in block characters, whose width is ambiguous."""

from __future__ import annotations

from typing import ClassVar

from textual.scrollbar import ScrollBar, ScrollBarRender


class WholeCellBars(ScrollBarRender):
    """Draws spaces of two colours only."""

    VERTICAL_BARS: ClassVar[list[str]] = [" "]
    HORIZONTAL_BARS: ClassVar[list[str]] = [" "]


def use_whole_cells() -> None:
    """Draw all scroll bars of this process so."""
    ScrollBar.renderer = WholeCellBars
