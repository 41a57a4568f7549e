"""The places of everything on a board, in columns and rows, for squares and hexagons in five sizes.

=======  =======================  ==========================================
size     squares                  hexagons
=======  =======================  ==========================================
small    3 x 1, side by side      4 x 1, side by side
medium   3 x 1 between lines      3 x 1 in a honeycomb of lines
large    7 x 3, side by side      7 x 3, one column between them
huge     9 x 4, side by side      9 x 4, one column between them
giant    12 x 6, side by side     12 x 6, two columns between them
=======  =======================  ==========================================

Where nothing else fits, a small board is drawn bare: without the words above and below it, which repeat the aim.
A cell is a box of ``width`` x ``height``; drawing it is left to :mod:`tabuleiro_client.tui.present.picture`.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from enum import StrEnum
from functools import cached_property
from typing import Final

from tabuleiro.rules.view import BoardView, EdgeSide, Target


class Size(StrEnum):
    """The sizes in which the cells of a board are drawn."""

    SMALL = "small"
    MEDIUM = "medium"
    LARGE = "large"
    HUGE = "huge"
    GIANT = "giant"


SIZES: Final = (Size.GIANT, Size.HUGE, Size.LARGE, Size.MEDIUM, Size.SMALL)
"""The sizes, largest first."""

TALL_SIZES: Final = frozenset({Size.GIANT, Size.HUGE, Size.LARGE})
"""The sizes whose cells have several rows."""


@dataclass(frozen=True, slots=True)
class Box:
    """A rectangle of the picture: ``x`` and ``y`` of its top left corner."""

    x: int
    y: int
    width: int
    height: int

    @property
    def centre(self) -> tuple[int, int]:
        """The column and row in its middle."""
        return self.x + self.width // 2, self.y + (self.height - 1) // 2


@dataclass(frozen=True, slots=True)
class _Cells:
    """The placing of cells of one topology and size: columns of a half cell, rows of a cell, the box in it."""

    half_columns: float
    rows: int
    dx: int
    dy: int
    width: int
    height: int
    extra_columns: int
    extra_rows: int


_CELLS: Final[Mapping[tuple[str, Size], _Cells]] = {
    ("square", Size.SMALL): _Cells(1.5, 1, 0, 0, 3, 1, 0, 0),
    ("square", Size.MEDIUM): _Cells(2, 2, 1, 1, 3, 1, 1, 1),
    ("square", Size.LARGE): _Cells(3.5, 3, 0, 0, 7, 3, 0, 0),
    ("square", Size.HUGE): _Cells(4.5, 4, 0, 0, 9, 4, 0, 0),
    ("square", Size.GIANT): _Cells(6, 6, 0, 0, 12, 6, 0, 0),
    ("hex", Size.SMALL): _Cells(2, 1, 0, 0, 4, 1, 0, 0),
    ("hex", Size.MEDIUM): _Cells(2, 2, 1, 1, 3, 1, 1, 1),
    ("hex", Size.LARGE): _Cells(4, 3, 0, 0, 7, 3, 0, 0),
    ("hex", Size.HUGE): _Cells(5, 4, 0, 0, 9, 4, 0, 0),
    ("hex", Size.GIANT): _Cells(7, 6, 0, 0, 12, 6, 0, 0),
}
_HEX_RIGHT_LABEL: Final = 5
"""Columns right of a hexagonal board for the names of the last cells."""


class Layout:
    """The places of the board of ``view``, which may be any position of the same game, in one size."""

    def __init__(self, view: BoardView, size: Size, *, is_bare: bool = False) -> None:
        self.size = size
        self.is_bare = is_bare and _has_joined_edges(view)
        self.topology = view.topology
        self._cells = _CELLS[view.topology, size]
        xs = [cell.x for cell in view.cells]
        self._first_x = min(xs)
        sides = {edge.side for edge in view.edges}
        self.label_width = max(len(label) for label in view.row_labels)
        self.left_bar = int("left" in sides)
        self.right_bar = int("right" in sides)
        self.left = self.label_width + 1 + self.left_bar
        self.top = 0 if self.is_bare else sum(edge.side == "top" for edge in view.edges)
        in_row = (max(xs) - self._first_x) // 2 + 1
        columns = self._column(max(xs)) + 2 * self._cells.half_columns if view.topology == "hex" else 0
        self.board_width = int(columns or in_row * 2 * self._cells.half_columns) + self._cells.extra_columns
        self.board_height = len(view.row_labels) * self._cells.rows + self._cells.extra_rows
        self.boxes: Sequence[Box] = [self._box(cell.x, cell.y) for cell in view.cells]
        self.has_columns = bool(view.column_labels)
        bottoms = 0 if self.is_bare else sum(edge.side == "bottom" for edge in view.edges)
        self.below = self.top + self.board_height
        self.bottom_edge_y = self.below + int(self.has_columns)
        self.side_text_y = self.bottom_edge_y + bottoms
        self.has_side_text = not self.is_bare and bool(sides & {"left", "right"})
        self.height = self.side_text_y + int(self.has_side_text)
        needed = self.left + self.board_width + self.right_bar + self._right_margin
        self.width = max(needed, len(side_edges_text(view)) if self.has_side_text else 0)
        self.sides: frozenset[EdgeSide] = frozenset(sides - {"top", "bottom"} if self.is_bare else sides)

    @property
    def _right_margin(self) -> int:
        return _HEX_RIGHT_LABEL if self.topology == "hex" else 2

    def _column(self, x: int) -> float:
        return self._cells.half_columns * (x - self._first_x)

    def column(self, x: int) -> int:
        """Return the column in the middle of cells whose lattice place is ``x``."""
        return int(self.left + self._column(x)) + self._cells.dx + self._cells.width // 2

    def row(self, y: int) -> int:
        """Return the row in the middle of cells in line ``y``."""
        return self.top + y * self._cells.rows + self._cells.dy + (self._cells.height - 1) // 2

    def _box(self, x: int, y: int) -> Box:
        cells = self._cells
        left, top = int(self.left + self._column(x)) + cells.dx, self.top + y * cells.rows + cells.dy
        return Box(left, top, cells.width, cells.height)

    @property
    def board_box(self) -> Box:
        """The rectangle that holds all cells."""
        return Box(self.left, self.top, self.board_width, self.board_height)

    @cached_property
    def _owner_of_place(self) -> Mapping[tuple[int, int], int]:
        return {
            (x, y): index
            for index, box in enumerate(self.boxes)
            for y in range(box.y, box.y + box.height)
            for x in range(box.x, box.x + box.width)
        }

    def hit(self, x: int, y: int) -> Target | None:
        """Return the target at column ``x`` of row ``y``: a cell, an edge of the board, or ``None``.

        A line between cells belongs to the cell at its left.
        """
        inside = self.board_box
        if inside.x <= x < inside.x + inside.width and 0 <= y < self.height:
            if y < self.top:
                return "top"
            if y == self.bottom_edge_y and "bottom" in self.sides:
                return "bottom"
        owner = self._owner_of_place.get((x, y))
        return self._owner_of_place.get((x - 1, y)) if owner is None else owner

    def place(self, target: Target) -> tuple[int, int] | None:
        """Return the column and row in the middle of a cell or an edge; ``None`` for an edge that is not drawn."""
        if isinstance(target, int):
            return self.boxes[target].centre
        middle = self.left + self.board_width // 2
        if target not in self.sides:
            return None
        if target == "top":
            return middle, 0
        if target == "bottom":
            return middle, self.bottom_edge_y
        return (self.left - 1 if target == "left" else self.left + self.board_width), self.row(0)


def side_edges_text(view: BoardView) -> str:
    """Return the meaning of the edges left and right, for the line below the board; empty for none."""
    edges = [edge for edge in view.edges if edge.side in ("left", "right")]
    if len({edge.text for edge in edges}) == 1:
        return edges[0].text
    return "  ".join(f"{edge.side}: {edge.text}" for edge in edges)


def _has_joined_edges(view: BoardView) -> bool:
    """Return whether top and bottom mean the same, so that they are edges to join and not to enter."""
    texts = {edge.side: edge.text for edge in view.edges}
    return "top" in texts and texts["top"] == texts.get("bottom")


def fitting_layout(view: BoardView, width: int, height: int, wish: Size | None = None) -> Layout | None:
    """Return the largest layout up to ``wish`` that fits ``width`` x ``height``; ``None`` if none does."""
    sizes = SIZES if wish is None else SIZES[SIZES.index(wish) :]
    for layout in (*(Layout(view, size) for size in sizes), smallest_layout(view)):
        if layout.width <= width and layout.height <= height:
            return layout
    return None


def smallest_layout(view: BoardView) -> Layout:
    """Return the layout that needs the least space, to say how much is missing."""
    return Layout(view, Size.SMALL, is_bare=True)
