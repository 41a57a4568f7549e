"""Hexagon geometry: cell names, neighbours, the perimeter and bit sets of cells.

The sibling of the square boards in :mod:`tabuleiro.rules.board`. Cells are numbered row by row from the top, from
the left in a row.
"""

from __future__ import annotations

from functools import cache

from tabuleiro.errors import NotationError
from tabuleiro.rules.board import COLUMN_LETTERS, Board, missing, parse_row_and_column, split_name

_NEIGHBOUR_STEPS = ((-2, 0), (2, 0), (-1, -1), (1, -1), (-1, 1), (1, 1))


class HexBoard(Board):
    """A hexagon of hexagonal cells, ``side`` (2..13) cells a side, with a flat side on top.

    ``neighbours`` holds the bit set around each cell. ``perimeter`` lists the cells of the rim clockwise from
    ``a1``; ``rim`` is the same as a bit set.

    Source: RULES.md, "Iris" (shape and names).
    """

    def __init__(self, side: int) -> None:
        row_count = 2 * side - 1
        row_lengths = [row_count - abs(row - (side - 1)) for row in range(row_count)]
        places = [(row, col) for row, length in enumerate(row_lengths) for col in range(length)]
        super().__init__(
            names=[f"{COLUMN_LETTERS[row]}{col + 1}" for row, col in places],
            xs=[abs(row - (side - 1)) + 2 * col for row, col in places],
            ys=[row for row, _ in places],
            row_lengths=row_lengths,
        )
        self.side = side
        self.row_labels = tuple(COLUMN_LETTERS[:row_count])
        index_at = {place: index for index, place in enumerate(zip(self.xs, self.ys, strict=True))}
        self.neighbours = tuple(
            sum(1 << index_at[x + dx, y + dy] for dx, dy in _NEIGHBOUR_STEPS if (x + dx, y + dy) in index_at)
            for x, y in zip(self.xs, self.ys, strict=True)
        )
        self.perimeter = self._walk_round()
        self.rim = sum(1 << index for index in self.perimeter)

    def _walk_round(self) -> tuple[int, ...]:
        """Return the indexes of the rim: the top row, down the right, the bottom row backwards, up the left."""
        last_of_row = [sum(self.row_lengths[: row + 1]) - 1 for row in range(len(self.row_lengths))]
        top_and_right = [*range(self.side), *last_of_row[1:-1]]
        # The second half of the way is the first half seen through the centre.
        return tuple(top_and_right + [self.opposite(index) for index in top_and_right])

    @property
    def expected_cell(self) -> str:
        """The form of cell names on this board, for messages."""
        longest = self.row_labels[self.side - 1]
        return (
            f"a cell from a1 to {self.names[-1]} (row a has {self.side} cells, row {longest} {2 * self.side - 1})"
        )

    def opposite(self, index: int) -> int:
        """Return the index of the cell that lies opposite through the centre."""
        return self.cell_count - 1 - index

    def parse_cell(self, text: str) -> int:
        """Read a cell name or a report form and return its index.

        The report forms ``(3,4)``, ``3-4`` and ``[3, 4]`` name the third row from the top, which is row c, and
        the fourth cell in it: ``c4``. Rows count from the top here, as their letters do.

        Raises:
            NotationError: The text names no cell of this board.

        >>> board = hex_board(6)
        >>> board.parse_cell("(3,4)") == board.parse_cell(" C4 ") == board.names.index("c4")
        True
        """
        named = split_name(text)
        numbered = parse_row_and_column(text) if named is None else None
        if numbered is not None:
            rows = tuple(str(number) for number in range(1, len(self.row_labels) + 1))
            row_name, cell = map(str, numbered)
        elif named is not None:
            rows, (row_name, cell) = self.row_labels, named
        else:
            raise NotationError(text, self.expected_cell)
        if row_name not in rows:
            raise NotationError(text, self.expected_cell, missing("row", row_name, rows))
        row = rows.index(row_name)
        name = f"{self.row_labels[row]}{cell}"
        if name not in self.index_of:
            fault = f"row {row_name} has cells 1 to {self.row_lengths[row]}, not {cell}"
            raise NotationError(text, self.expected_cell, fault)
        return self.index_of[name]

    def spread(self, cells: int) -> int:
        """Return all cells that share an edge with one of ``cells``, and ``cells`` themselves."""
        neighbours, wider = self.neighbours, cells
        while cells:
            low = cells & -cells
            wider |= neighbours[low.bit_length() - 1]
            cells ^= low
        return wider

    def components(self, cells: int) -> list[int]:
        """Return the connected parts of ``cells``, each a bit set, by their lowest cell ascending."""
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
    """Return the one shared board of this size; boards hold no state."""
    return HexBoard(side)
