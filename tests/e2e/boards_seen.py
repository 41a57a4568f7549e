"""Finding a board in what a terminal shows, and checking that every cell of it stands in its column and row."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator, Sequence
from unicodedata import east_asian_width

from tabuleiro.rules.view import BoardView, CellView, Mark
from tabuleiro_client.tui.present.glyphs import FILL, UNICODE, GlyphSet
from tabuleiro_client.tui.present.layout import TALL_SIZES, Layout, Size

EMPTY = frozenset(" .·+*-#")  # the last one on boards of ASCII
"""What an empty cell may show: nothing, that it may be chosen, must be, or is forbidden."""


Place = tuple[int, int]
"""A column and a row."""


def find_board(lines: Sequence[str], view: BoardView, size: Size, glyphs: GlyphSet) -> Place | None:
    """Where every label and every cell of ``view`` stands as the layout of a size says; ``None``: nowhere.

    Raises: AssertionError when a character in it may be wider than a column on some terminals.
    """
    layout = Layout(view, size)
    spots = [*_labels(view, layout)]
    spots += [spot for cell in view.cells for spot in _spots(cell, layout, glyphs)]
    for row in range(len(lines) - layout.height + 1):
        for column in range(len(lines[0]) - layout.width + 1):
            if _is_at(lines, column, row, spots):
                shown = (line[column : column + layout.width] for line in lines[row : row + layout.height])
                _assert_narrow(shown, {"N", "Na", "H", *("A" if glyphs is UNICODE else "")})
                return column, row
    return None


Spot = tuple[int, int, frozenset[str]]
"""A column and a row of the picture, and the characters of which one must be there."""


def _is_at(lines: Sequence[str], column: int, row: int, spots: Sequence[Spot]) -> bool:
    return all(lines[row + y][column + x] in wanted for x, y, wanted in spots)


def _labels(view: BoardView, layout: Layout) -> Iterator[Spot]:
    """The names at the edges."""
    for x, label in view.column_labels:
        yield layout.column(x), layout.below, frozenset(label)
    for y, label in enumerate(view.row_labels):
        row = [cell for cell in view.cells if cell.y == y]
        first, last = layout.boxes[row[0].index], layout.boxes[row[-1].index]
        if layout.topology == "hex":
            gap = 2 if layout.size is Size.MEDIUM else 1
            yield from _text(first.x - gap - len(label), layout.row(y), label)
            yield from _text(last.x + last.width + gap, layout.row(y), row[-1].name)
        else:
            yield from _text(0, layout.row(y), label.rjust(layout.label_width))


def _spots(cell: CellView, layout: Layout, glyphs: GlyphSet) -> Iterator[Spot]:
    """What a cell shows: its piece, large or small, or that it is empty."""
    box = layout.boxes[cell.index]
    x, y = box.centre
    is_asleep = Mark.ASLEEP in cell.marks
    if cell.piece == ".":
        yield x, y, EMPTY
    elif layout.size in TALL_SIZES:
        sprite = glyphs.sprite(cell.piece, layout.size, is_asleep=is_asleep)
        left, top = box.x + (box.width - len(sprite[0])) // 2, box.y + (box.height - len(sprite)) // 2
        for row, line in enumerate(sprite):
            drawn = line.replace(FILL, " ") if glyphs.fills_by_reverse else line
            yield from _text(left, top + row, drawn)
    else:
        yield x, y, frozenset(glyphs.glyph(cell.piece, is_asleep=is_asleep))


def _text(x: int, y: int, text: str) -> Iterator[Spot]:
    for place, character in enumerate(text, start=x):
        yield place, y, frozenset(character)


def _assert_narrow(lines: Iterable[str], widths: Collection[str]) -> None:
    wide = {letter for line in lines for letter in line if east_asian_width(letter) not in widths}
    assert not wide, f"characters that may be wider than a column on the board: {wide}"
