"""A line of text that ends in two dots where it was cut: the usual sign is of ambiguous width, and no ASCII."""

from __future__ import annotations

from typing import ClassVar

from textual.content import Content
from textual.widgets import Static


class Line(Static):
    """One line, or as many as are needed up to ``rows_count``. What does not fit is cut off."""

    DEFAULT_CSS: ClassVar[str] = """
    Line { height: 1; text-wrap: nowrap; }
    Line.growing { height: auto; min-height: 1; text-wrap: wrap; }
    """

    def __init__(self, text: str = "", *, id: str | None = None, rows_count: int = 1) -> None:
        super().__init__(text, id=id, markup=False, classes="growing" if rows_count > 1 else None)
        self.styles.max_height = rows_count
        self._rows_count = rows_count

    def write(self, text: str) -> None:
        """Write another text; the screen is laid out anew only when that takes more lines or fewer."""
        is_resized = self._rows_count > 1 and self._is_long(text) != self._is_long(str(self.content))
        self.update(text, layout=is_resized)

    def _is_long(self, text: str) -> bool:
        return len(text) > self.content_size.width

    def render(self) -> Content:
        text, width = str(self.content), self.content_size.width
        return Content(shortened(text, width * self._rows_count) if width else text)


def shortened(text: str, width: int) -> str:
    """Cut ``text`` at ``width`` columns, all its characters one column wide.

    >>> shortened("seven letters", 9), shortened("seven", 9)
    ('seven l..', 'seven')
    """
    return text if len(text) <= width else f"{text[: width - 2]}.."
