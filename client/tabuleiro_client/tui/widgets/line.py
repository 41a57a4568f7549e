"""A line of text that ends in two dots where it was cut: the usual sign is of ambiguous width, and no ASCII."""

from __future__ import annotations

from typing import ClassVar

from textual.content import Content
from textual.widgets import Static


class Line(Static):
    """One line. What does not fit is cut off."""

    DEFAULT_CSS: ClassVar[str] = """
    Line { height: 1; text-wrap: nowrap; }
    """

    def __init__(self, text: str = "", *, id: str | None = None) -> None:
        super().__init__(text, id=id, markup=False)

    def render(self) -> Content:
        text, width = str(self.content), self.content_size.width
        return Content(shortened(text, width) if width else text)


def shortened(text: str, width: int) -> str:
    """Cut ``text`` at ``width`` columns, all its characters one column wide.

    >>> shortened("seven letters", 9), shortened("seven", 9)
    ('seven l..', 'seven')
    """
    return text if len(text) <= width else f"{text[: width - 2]}.."
