"""Hexagon geometry: cell names, neighbours, the perimeter and bit sets of cells.

The sibling of :mod:`tabuleiro.rules.board`, which has the square boards and the bit set functions for both. Cells
are numbered row by row from the top, from the left in a row. What the perimeter means (colours, goals) is left
to the games.
"""

from __future__ import annotations

from functools import cache

from tabuleiro.errors import NotationError
from tabuleiro.rules.board import COLUMN_LETTERS, parse_row_and_column

_NEIGHBOUR_STEPS = ((-2, 0), (2, 0), (-1, -1), (1, -1), (-1, 1), (1, 1))


class HexBoard:
    """A hexagon of hexagonal cells, ``side`` (2..13) cells a side, with a flat side on top.

    ``row_lengths`` lists the cells of each row from the top, ``xs`` and ``ys`` the lattice place of each cell
    (half cells from the left, rows from the top), ``neighbours`` the bit set around each cell, ``names`` the
    cell names. ``perimeter`` lists the cells of the rim clockwise from ``a1``; ``rim`` is the same as a bit set.

    Source: RULES.md, "Iris" (shape and names).
    """

    def __init__(self, side: int) -> None:
        self.side = side
        row_count = 2 * side - 1
        self.row_letters = tuple(COLUMN_LETTERS[:row_count])
        self.row_lengths = tuple(row_count - abs(row - (side - 1)) for row in range(row_count))
        places = [(row, col) for row, length in enumerate(self.row_lengths) for col in range(length)]
        self.cell_count = len(places)
        self.full = (1 << self.cell_count) - 1
        self.names = tuple(f"{self.row_letters[row]}{col + 1}" for row, col in places)
        self.xs = tuple(abs(row - (side - 1)) + 2 * col for row, col in places)
        self.ys = tuple(row for row, _ in places)
        index_at = {place: index for index, place in enumerate(zip(self.xs, self.ys, strict=True))}
        self.neighbours = tuple(
            sum(1 << index_at[x + dx, y + dy] for dx, dy in _NEIGHBOUR_STEPS if (x + dx, y + dy) in index_at)
            for x, y in zip(self.xs, self.ys, strict=True)
        )
        self.perimeter = self._walk_round()
        self.rim = sum(1 << index for index in self.perimeter)
        self._index_of = {name: index for index, name in enumerate(self.names)}

    def _walk_round(self) -> tuple[int, ...]:
        """The indexes of the rim: the top row, down the right, the bottom row backwards, up the left."""
        last_of_row = [sum(self.row_lengths[: row + 1]) - 1 for row in range(len(self.row_lengths))]
        top_and_right = [*range(self.side), *last_of_row[1:-1]]
        # The second half of the way is the first half seen through the centre.
        return tuple(top_and_right + [self.opposite(index) for index in top_and_right])

    @property
    def expected_cell(self) -> str:
        """What a cell name looks like here, for messages."""
        longest = self.row_letters[self.side - 1]
        return (
            f"a cell from a1 to {self.names[-1]} (row a has {self.side} cells, row {longest} {2 * self.side - 1})"
        )

    def opposite(self, index: int) -> int:
        """The index of the cell that lies opposite through the centre."""
        return self.cell_count - 1 - index

    def parse_cell(self, text: str) -> int:
        """Read a cell name or a report form and return its index.

        The report forms ``(3,4)``, ``3-4`` and ``[3, 4]`` name the third row from the top, which is row c, and
        the fourth cell in it: ``c4``. Rows count from the top here, as their letters do.

        Raises: NotationError.

        >>> board = hex_board(6)
        >>> board.parse_cell("(3,4)") == board.parse_cell(" C4 ") == board.names.index("c4")
        True
        """
        name = text.strip().lower()
        numbered = parse_row_and_column(name)
        if numbered is not None:
            row, cell = numbered
            name = f"{COLUMN_LETTERS[row - 1]}{cell}" if 1 <= row <= len(COLUMN_LETTERS) else ""
        if name not in self._index_of:
            raise NotationError(text, self.expected_cell)
        return self._index_of[name]

    def spread(self, cells: int) -> int:
        """All cells that share an edge with one of ``cells``, and ``cells`` themselves."""
        neighbours, wider = self.neighbours, cells
        while cells:
            low = cells & -cells
            wider |= neighbours[low.bit_length() - 1]
            cells ^= low
        return wider

    def components(self, cells: int) -> list[int]:
        """The connected parts of ``cells``, each a bit set, by their lowest cell ascending."""
        parts = []
        while cells:
            part = newest = cells & -cells
            while newest:
                newest = self.spread(newest) & cells & ~part
                part |= newest
            parts.append(part)
            cells ^= part
        return parts


@cache
def hex_board(side: int) -> HexBoard:
    """The one shared board of this size; boards hold no state."""
    return HexBoard(side)
