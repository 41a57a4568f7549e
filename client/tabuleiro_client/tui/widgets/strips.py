"""Handing lines to the compositor that a widget keeps whole, as wide as itself, until what they say changes.

The library would make a line anew in several steps, each with caches of its own, whenever it is dirty; a kept line
is not touched again at all. What stands on the lines is left to the widgets, which draw their padding themselves.
"""

from __future__ import annotations

from collections.abc import Iterable

from textual.geometry import Region
from textual.strip import Strip
from textual.widget import Widget


def finished(widget: Widget, strips: Iterable[Strip], crop: Region) -> list[Strip]:
    """Return the lines of ``crop`` for :meth:`Widget.render_lines`, from the same lines of the whole width.

    Lines of another width are made fit: a widget is drawn at its new size before it is told of that.
    """
    width, background = widget.outer_size.width, widget.background_colors[1]
    strips = [strip if strip.cell_length == width else strip.adjust_cell_length(width) for strip in strips]
    for line_filter in widget.get_line_filters():
        strips = [strip.apply_filter(line_filter, background) for strip in strips]
    if crop.column_span != (0, width):
        return [strip.crop(*crop.column_span) for strip in strips]
    return strips
