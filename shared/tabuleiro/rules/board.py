"""Boards: cell names, neighbours, bit sets of cells, and the rows of position texts.

A set of cells is an ``int`` with bit ``i`` set for cell index ``i``. Square boards number their cells row by row
from the bottom left: ``index = row * cols + col`` with row and column counted from 0.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from functools import cache, cached_property

from tabuleiro.errors import GameOptionError, NotationError, shown
from tabuleiro.ids import Player

COLUMN_LETTERS = "abcdefghijklmnopqrstuvwxyz"

_NAMED = re.compile(r"([a-z]{1,2})\s*([0-9]{1,3})")
_PAIR = re.compile(
    r"\(\s*([^,()]*?)\s*,\s*([^,()]*?)\s*\)|\[\s*([^,\[\]]*?)\s*,\s*([^,\[\]]*?)\s*\]"
    r"|([0-9]+)\s*-\s*(\S+)|(\S+?)\s*-\s*([0-9]+)|([0-9]+)\s*,\s*(\S+)",
)
_NUMBER = re.compile(r"[0-9]{1,9}")


def iter_bits(cells: int) -> Iterator[int]:
    """Yield the indexes of the cells in a set, ascending.

    >>> list(iter_bits(0b1011))
    [0, 1, 3]
    """
    while cells:
        low = cells & -cells
        yield low.bit_length() - 1
        cells ^= low


def bit_indexes(cells: int) -> tuple[int, ...]:
    """Return the indexes of the cells in a set, ascending; quicker than draining :func:`iter_bits`.

    >>> bit_indexes(0b1011)
    (0, 1, 3)
    """
    indexes = []
    while cells:
        low = cells & -cells
        indexes.append(low.bit_length() - 1)
        cells ^= low
    return tuple(indexes)


def column_name(col: int) -> str:
    """Return the letters of a column counted from 0: the alphabet, then two letters. Source: RULES.md, "Words".

    >>> [column_name(col) for col in (0, 25, 26, 29, 52)]
    ['a', 'z', 'aa', 'ad', 'ba']
    """
    before, last = divmod(col, len(COLUMN_LETTERS))
    return (COLUMN_LETTERS[before - 1] if before else "") + COLUMN_LETTERS[last]


def _column(name: str) -> int:
    """Return the column with this name, counted from 0."""
    before = COLUMN_LETTERS.index(name[0]) + 1 if len(name) > 1 else 0
    return before * len(COLUMN_LETTERS) + COLUMN_LETTERS.index(name[-1])


def split_name(text: str) -> tuple[str, str] | None:
    """Return the letters and the digits of a cell's name, lower case; ``None`` for any other text.

    Spaces around and between are passed over, and so is the full stop with which Prolog's input ends.

    >>> split_name(" A 4. "), split_name("c3"), split_name("foo")
    (('a', '4'), ('c', '3'), None)
    """
    found = _NAMED.fullmatch(text.strip().lower().removesuffix("."))
    return None if found is None else (found[1], found[2])


def parse_row_and_column(text: str) -> tuple[int, int] | None:
    """Read ``(3,4)``, ``[3, 4]``, ``3,4`` or ``3-4``: row and column counted from 1. ``None`` for any other text.

    Source: RULES.md, "Words" (the input forms of the reports).

    Raises:
        NotationError: The text has one of these forms, but not with numbers.
    """
    found = _PAIR.fullmatch(text.strip().removesuffix("."))
    if found is None:
        return None
    parts = [group for group in found.groups() if group is not None]
    for part, kind in zip(parts, ("row", "column"), strict=True):
        if not _NUMBER.fullmatch(part):
            fault = f"the {kind} {shown(part)} is no number" if part else f"the {kind} is missing"
            raise NotationError(text, "a row and a column as numbers, e.g. (3,4)", fault)
    return int(parts[0]), int(parts[1])


def missing(kind: str, name: object, names: Sequence[object]) -> str:
    """Return the fault of a row or column that a board does not have, with the ``names`` that there are.

    >>> missing("row", 12, range(1, 12))
    'row 12 does not exist: rows are 1 to 11'
    """
    return f"{kind} {name} does not exist: {kind}s are {names[0]} to {names[-1]}"


class Board:
    """Cells with their names and their places in the lattice of :mod:`tabuleiro.rules.view`, by index.

    ``xs`` are counted in half cells from the left, ``ys`` in lines from the top. ``row_lengths`` holds the number
    of cells in each row, in the order of the indexes.
    """

    def __init__(
        self, names: Sequence[str], xs: Sequence[int], ys: Sequence[int], row_lengths: Sequence[int]
    ) -> None:
        self.names = tuple(names)
        self.xs = tuple(xs)
        self.ys = tuple(ys)
        self.row_lengths = tuple(row_lengths)
        self.cell_count = len(self.names)
        self.full = (1 << self.cell_count) - 1
        self.index_of = {name: index for index, name in enumerate(self.names)}


class SquareBoard(Board):
    """A board of ``rows`` x ``cols`` square cells (each 1..99)."""

    def __init__(self, rows: int, cols: int) -> None:
        places = [(row, col) for row in range(rows) for col in range(cols)]
        super().__init__(
            names=[f"{column_name(col)}{row + 1}" for row, col in places],
            xs=[2 * col for _, col in places],
            ys=[rows - 1 - row for row, _ in places],
            row_lengths=[cols] * rows,
        )
        self.rows = rows
        self.cols = cols
        self.row_labels = tuple(str(row) for row in range(rows, 0, -1))
        self.column_labels = tuple((2 * col, column_name(col)) for col in range(cols))
        left_column = sum(1 << (row * cols) for row in range(rows))
        self.left_column = left_column
        self.right_column = left_column << (cols - 1)
        self.bottom_row = (1 << cols) - 1
        self.top_row = self.bottom_row << (cols * (rows - 1))
        self.not_left = self.full ^ self.left_column
        self.not_right = self.full ^ self.right_column

    @cached_property
    def expected_cell(self) -> str:
        """The form of cell names on this board, for messages."""
        return f"a cell from a1 to {self.names[-1]}"

    def index(self, row: int, col: int) -> int:
        """Return the index of the cell in ``row`` and ``col``, both counted from 0."""
        return row * self.cols + col

    def parse_cell(self, text: str) -> int:
        """Read a cell name or a report form and return its index.

        Raises:
            NotationError: The text names no cell of this board.
        """
        index = self.index_of.get(text)
        if index is not None:
            return index
        named = split_name(text)
        if named is not None:
            letters, digits = named
            row, col = (int(digits) if digits[0] != "0" else 0) - 1, _column(letters)
            row_name, column, columns = digits, letters, [column_name(each) for each in range(self.cols)]
        else:
            numbered = parse_row_and_column(text)
            if numbered is None:
                raise NotationError(text, self.expected_cell)
            row, col = numbered[0] - 1, numbered[1] - 1
            row_name, column, columns = str(numbered[0]), str(numbered[1]), list(map(str, range(1, self.cols + 1)))
        faults = [] if 0 <= row < self.rows else [missing("row", row_name, range(1, self.rows + 1))]
        if not 0 <= col < self.cols:
            faults.append(missing("column", column, columns))
        if faults:
            raise NotationError(text, self.expected_cell, "; ".join(faults))
        return self.index(row, col)

    def spread4(self, cells: int) -> int:
        """Return all cells that share an edge with one of ``cells``, and ``cells`` themselves."""
        sideways = ((cells & self.not_right) << 1) | ((cells & self.not_left) >> 1)
        return (cells | sideways | (cells << self.cols) | (cells >> self.cols)) & self.full

    def spread8(self, cells: int) -> int:
        """Return all cells that share an edge or a corner with one of ``cells``, and ``cells`` themselves."""
        band = cells | ((cells & self.not_right) << 1) | ((cells & self.not_left) >> 1)
        return (band | (band << self.cols) | (band >> self.cols)) & self.full


@cache
def square_board(rows: int, cols: int) -> SquareBoard:
    """Return the one shared board of this size; boards hold no state."""
    return SquareBoard(rows, cols)


def split_position(
    text: str, row_lengths: Sequence[int], alphabet: str, field_names: Sequence[str]
) -> tuple[str, Player, list[str]]:
    """Take a position text apart. Source: RULES.md, "Words".

    Args:
        text: The rows joined by ``/``, the player to move and further fields, separated by spaces.
        row_lengths: The number of cells in each row.
        alphabet: The characters that a cell may be.
        field_names: What must follow the player to move, in words.

    Returns:
        The characters of all cells, the player to move, and the further fields as texts.

    Raises:
        GameOptionError: Part of the text is wrong; it says which.
    """
    fields = text.split()
    wanted = ["rows", "player to move", *field_names]
    if len(fields) != len(wanted):
        raise position_error(text, f"{len(wanted)} parts ({', '.join(wanted)}), got {len(fields)}")
    rows = fields[0].split("/")
    if len(rows) != len(row_lengths):
        raise position_error(text, f"{len(row_lengths)} rows joined by '/', got {len(rows)}")
    for number, (row, length) in enumerate(zip(rows, row_lengths, strict=True), start=1):
        if len(row) != length:
            raise position_error(text, f"{length} cells in row {number}, got {len(row)}")
        strange = [character for character in row if character not in alphabet]
        if strange:
            raise position_error(text, f"only '{alphabet}' in row {number}, got {strange[0]!a}")
    if fields[1] not in ("0", "1"):
        raise position_error(text, f"0 or 1 as the player to move, got {fields[1]!a}")
    return "".join(rows), 0 if fields[1] == "0" else 1, fields[2:]


def cells_of(letter: str, cells: str) -> int:
    """Return the bit set of the cells that hold ``letter``.

    >>> bin(cells_of("b", ".bb."))
    '0b110'
    """
    return sum(1 << index for index, character in enumerate(cells) if character == letter)


def position_error(text: str, expected: str) -> GameOptionError:
    """Return the error for a position that cannot be, with the reason."""
    return GameOptionError("position", text, expected)
