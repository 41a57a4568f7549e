"""A window on a board that is larger than the room there is: a part of its picture, with marks where more is.

Names of rows and columns stay in sight. ``^ v < >`` tell that there is more of the board on that side.
"""

from __future__ import annotations

from collections.abc import Collection, Sequence
from dataclasses import dataclass, replace
from typing import Final

from tabuleiro.rules.view import BoardView, Target
from tabuleiro.text import counted
from tabuleiro_client.tui.present.ink import Ink, Role, Row, Span, cut, row_text
from tabuleiro_client.tui.present.layout import Layout, smallest_layout

_MORE: Final = Ink(Role.LABEL_STRONG, bold=True)
_LAST: Final = Ink(Role.LABEL_STRONG, Role.LAST, bold=True)
_MIN_CELLS: Final = 5
_MARGIN_CELLS: Final = 2
"""The cells around the one that is followed that are shown as well."""


@dataclass(frozen=True, slots=True)
class Window:
    """The part of a small board that begins at row ``y`` and column ``x`` of its cells.

    ``rows_count`` and ``columns_count`` are those of the part, in rows and columns of the screen.
    """

    layout: Layout
    rows_count: int
    columns_count: int
    x: int = 0
    y: int = 0

    @property
    def has_marks(self) -> bool:
        """True if there is more of the board above or below."""
        return self.rows_count < self.layout.board_height

    @property
    def width(self) -> int:
        """The columns that the window takes."""
        return self.layout.left + self.columns_count + 1

    @property
    def height(self) -> int:
        """The rows that the window takes."""
        return self.rows_count + 2 * self.has_marks + int(self.layout.has_columns)

    def following(self, target: Target | None) -> Window:
        """Return the window moved as little as possible, so that a cell and those around it are in it."""
        if not isinstance(target, int):
            return self
        box, layout = self.layout.boxes[target], self.layout
        left, top = box.x - layout.left, box.y - layout.top
        return self._at(
            _moved(self.x, self.columns_count, left, box.width, _MARGIN_CELLS * box.width),
            _moved(self.y, self.rows_count, top, box.height, _MARGIN_CELLS * box.height),
        )

    def scrolled(self, rows: int) -> Window:
        """Return the window moved down by so many rows, up if negative."""
        return self._at(self.x, self.y + rows)

    def _at(self, x: int, y: int) -> Window:
        most_x = self.layout.board_width - self.columns_count
        most_y = self.layout.board_height - self.rows_count
        return replace(self, x=max(0, min(x, most_x)), y=max(0, min(y, most_y)))

    def picture_row(self, y: int) -> int | None:
        """Return the row of the whole picture at row ``y`` of the window; ``None`` for its marks."""
        line = y - self.has_marks
        if 0 <= line < self.rows_count:
            return self.layout.top + self.y + line
        return self.layout.below if line == self.rows_count and self.layout.has_columns else None

    def hit(self, x: int, y: int) -> Target | None:
        """Return the cell at column ``x`` of row ``y`` of the window."""
        row = self.picture_row(y)
        if row is None or not self.layout.left <= x < self.layout.left + self.columns_count:
            return None
        return self.layout.hit(x + self.x, row)

    def place(self, target: Target) -> tuple[int, int] | None:
        """Return the column and row in the middle of a cell; ``None`` if it is not in the window."""
        found = self.layout.place(target) if isinstance(target, int) else None
        if found is None:
            return None
        x, y = found[0] - self.x, found[1] - self.layout.top - self.y
        is_inside = 0 <= y < self.rows_count and 0 <= x - self.layout.left < self.columns_count
        return (x, y + self.has_marks) if is_inside else None

    def rows(self, picture: Sequence[Row], last: Collection[int]) -> list[Row]:
        """Return the rows of the window on a whole picture; ``last`` are the cells of the last turn."""
        layout = self.layout
        right_end = layout.left + self.x + self.columns_count
        found: list[Row] = []
        for y in range(self.has_marks, self.height - self.has_marks):
            number = self.picture_row(y)
            assert number is not None
            row = picture[number]
            hidden = row_text(cut(row, right_end, layout.left + layout.board_width))
            edge = cut(row, layout.left + layout.board_width, layout.left + layout.board_width + 1)
            is_cells = number < layout.below
            names = cut(row, 0, layout.left - int(self.x > 0))
            left = (Span("<" if is_cells else " ", _MORE),) if self.x else ()
            right = (Span(">" if is_cells else " ", _MORE),) if hidden else edge if is_cells else (Span(" "),)
            found.append((*names, *left, *cut(row, layout.left + self.x, right_end), *right))
        if not self.has_marks:
            return found
        below_count = layout.board_height - self.y - self.rows_count
        tops = [layout.boxes[cell].y - layout.top for cell in last]
        above = self._mark("^", self.y, has_last=any(top < self.y for top in tops))
        below = self._mark("v", below_count, has_last=any(top >= self.y + self.rows_count for top in tops))
        return [above, *found, below]

    def _mark(self, sign: str, rows_count: int, *, has_last: bool) -> Row:
        """Return the line above or below that tells how many rows are hidden there."""
        if not rows_count:
            return (Span(" " * self.width),)
        more = f"{sign} {counted(rows_count, 'more row')}{' and the last turn' if has_last else ''} {sign}"
        text = more if len(more) <= self.columns_count else sign
        spare = self.columns_count - len(text)
        before = self.layout.left + spare // 2
        return (
            Span(" " * before),
            Span(text, _LAST if has_last else _MORE),
            Span(" " * (self.width - before - len(text))),
        )


def fitting_window(view: BoardView, width: int, height: int) -> Window | None:
    """Return a window on the small board of ``view`` for so much room; ``None`` if there is too little."""
    least = least_window(view)
    if isinstance(least, Layout) or width < least.width or height < least.height:
        return None
    layout = least.layout
    labels = int(layout.has_columns)
    rows = layout.board_height if layout.board_height + labels <= height else height - labels - 2
    room = width - layout.left - 1
    return Window(layout, rows, min(layout.board_width, room - room % layout.boxes[0].width))


def least_window(view: BoardView) -> Window | Layout:
    """Return the least that may be shown of a board.

    That is all of it if it has sides to enter: there the cursor leaves the cells.
    """
    layout = smallest_layout(view)
    if layout.sides & {"top", "bottom"}:
        return layout
    rows = min(_MIN_CELLS * layout.boxes[0].height, layout.board_height)
    return Window(layout, rows, min(_MIN_CELLS * layout.boxes[0].width, layout.board_width))


def _moved(start: int, length: int, place: int, size: int, margin: int) -> int:
    """Return the start of a stretch of ``length`` that holds what is at ``place``, moved as little as it goes."""
    margin = min(margin, (length - size) // 2)
    return max(place + size + margin - length, min(start, place - margin))
