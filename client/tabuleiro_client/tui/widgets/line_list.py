"""A list of texts that grows at its end and is drawn line by line: what is there already costs nothing.

What the texts are is left to the widgets made from it.
"""

from __future__ import annotations

from collections.abc import Hashable, Iterable, Sequence
from functools import lru_cache
from typing import Generic, TypeVar

from rich.segment import Segment
from rich.style import Style
from textual import events
from textual.content import Content
from textual.geometry import Region, Size
from textual.scroll_view import ScrollView
from textual.strip import Strip
from textual.visual import Visual
from textual.widget import Widget

from tabuleiro_client.tui.widgets.strips import finished

EntryT = TypeVar("EntryT", bound=Hashable)


@lru_cache(maxsize=256)
def _place(column: int) -> Style:
    """Return the mark of a text that begins at ``column``, by which the library selects texts."""
    return Style(meta={"offset": (column, 0)})


def _placed(segments: Iterable[Segment]) -> list[Segment]:
    """Return the same texts, each marked with its place; making such a mark takes longer than all the rest."""
    placed: list[Segment] = []
    column = 0
    for text, style, _ in segments:
        placed.append(Segment(text, _place(column) if style is None else style + _place(column)))
        column += len(text)
    return placed


class LineList(ScrollView, Generic[EntryT], can_focus=False):
    """Shows the entries that :meth:`show_entries` was given last, wrapped by words.

    Each entry is made into lines once, as long as the width and the styles stay the same; only the lines of this
    width are kept, with and without the bar that scrolls.
    """

    DEFAULT_CSS = """
    LineList { overflow-x: hidden; scrollbar-size-vertical: 1; }
    """

    def __init__(self, *, id: str | None = None) -> None:
        super().__init__(id=id)
        self.auto_links = False  # there are none, and looking for their style takes longer than wrapping a line
        self._entries: Sequence[EntryT] = ()
        self._known: dict[int, dict[EntryT, list[Strip]]] = {}
        self._known_for: object = None
        self._strips: list[Strip] = []
        self._blank = Strip([])

    def content_of(self, entry: EntryT) -> Content:
        """Return the text of an entry."""
        raise NotImplementedError

    @property
    def text(self) -> str:
        """The lines that are there, as they are wrapped."""
        left = self.styles.padding.left
        return "\n".join(strip.text[left:].rstrip() for strip in self._strips)

    def show_entries(self, entries: Sequence[EntryT]) -> None:
        """Show ``entries``; equal ones look the same. Scrolls only back to the last, if there are fewer now."""
        self._entries = entries
        self._wrap()

    def scroll_so_that(self, line: int) -> None:
        """Scroll until ``line``, counted from 0, is the last that can be seen, or the list is at its top."""
        place = max(0, line - self.size.height + 1)
        self.set_reactive(Widget.scroll_target_y, place)
        self.scroll_y = place
        if self.line_count > self.size.height:
            self.vertical_scrollbar.position = place  # also of a bar that is only just coming

    @property
    def line_count(self) -> int:
        """The number of lines that there are."""
        return len(self._strips)

    def on_resize(self, event: events.Resize) -> None:
        self._wrap()

    def notify_style_update(self) -> None:
        super().notify_style_update()
        self._wrap()

    def _wrap(self) -> None:
        """Make lines of the entries; the bar that scrolls takes a column as soon as it is needed."""
        width, height = self.size
        if not self.size.area:
            return
        if (style := self.visual_style) != self._known_for:
            self._known_for, self._known = style, {}
        beside_bar = width - self.styles.scrollbar_size_vertical
        strips = [] if len(self._entries) > height else self._wrapped(width)
        if len(strips) > height or not strips:
            strips = self._wrapped(beside_bar)
        self._known = {each: known for each, known in self._known.items() if each in (width, beside_bar)}
        self._strips, self._blank = strips, self._padded(Strip([]), width)
        self._measure(Size(0, len(strips)))
        if self.scroll_offset.y > max(0, len(strips) - height):
            self.scroll_so_that(len(strips) - 1)
        self.refresh()

    def _wrapped(self, width: int) -> list[Strip]:
        """Return the lines of all entries; lines of the same width are taken from the last time."""
        known = self._known.get(width, {})
        self._known[width] = {entry: known.get(entry) or self._lines_of(entry, width) for entry in self._entries}
        return [strip for entry in self._entries for strip in self._known[width][entry]]

    def _lines_of(self, entry: EntryT, width: int) -> list[Strip]:
        """Return the lines of one entry, wrapped at ``width`` and with the padding on both sides."""
        content, style = self.content_of(entry), self.visual_style
        if content.cell_length <= width and "\n" not in content.plain:
            # As most do; having it wrapped all the same would take several times as long.
            return [self._padded(Strip(_placed(content.render_segments(style))), width)]
        return [self._padded(strip, width) for strip in Visual.to_strips(self, content, width, None, style)]

    def _padded(self, strip: Strip, width: int) -> Strip:
        left, whole = self.styles.padding.left, self.outer_size.width
        style = self.visual_style.rich_style
        sides = Style(bgcolor=style.bgcolor)
        segments = [Segment(" " * left, sides), *strip, Segment(" " * (width - strip.cell_length), style)]
        return Strip([*segments, Segment(" " * (whole - left - width), sides)], whole)

    def _measure(self, size: Size) -> None:
        """Say how much there is to scroll through; the screen is laid out anew only when the bar comes or goes."""
        needs_bar = size.height > self.size.height
        if needs_bar != self.show_vertical_scrollbar:
            self.virtual_size = size
        elif size != self.virtual_size:
            self.set_reactive(Widget.virtual_size, size)
            if needs_bar:
                self.vertical_scrollbar.window_virtual_size = size.height

    def render_line(self, y: int) -> Strip:
        left, width = self.styles.padding.left, self.scrollable_content_region.width
        line = y + self.scroll_offset.y
        strip = self._strips[line] if line < len(self._strips) else self._blank
        return strip.crop(left, left + width)

    def render_lines(self, crop: Region) -> list[Strip]:
        first, last = (y + self.scroll_offset.y for y in crop.line_span)
        strips = self._strips[first:last]
        strips += [self._blank] * (crop.height - len(strips))
        return finished(self, strips, crop)
