"""Drawing a :class:`~tabuleiro.rules.view.BoardView` as lines of text: any game, any topology, no I/O.

Cells stand where their lattice coordinates put them: two screen columns a cell on square boards, four on boards
whose rows are shifted (hexagons) or whose cells are coloured. A cell is its opening mark, the letter of its
ground colour (wide boards only), its glyph and its closing mark; on narrow boards the closing mark of a cell
and the opening mark of the next share a column.

::

    [x]  chosen or changed by the last action        +    an empty cell that may be chosen
    (x)  part of what decided the game               >o   a piece that may be chosen
    *    the only cell the rules leave               -    a cell the rules forbid

Colour never says anything that shape does not. What a terminal can show is found out elsewhere
(:mod:`tabuleiro_client.text.terminal`); sentences about the turn are left to the commands.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from typing import Final

from tabuleiro.rules.view import BoardView, CellView, EdgeView, Mark

RESET: Final = "\x1b[0m"

ASCII_GLYPHS: Final[Mapping[str, str]] = {"b": "B", "w": "W", "X asleep": "%", "O asleep": "@"}
UNICODE_GLYPHS: Final[Mapping[str, str]] = {
    "X": "\N{SQUARED TIMES}",
    "O": "\N{FISHEYE}",
    "X asleep": "\N{WHITE SQUARE WITH ROUNDED CORNERS}",
    "O asleep": "\N{DOTTED CIRCLE}",
    "b": "\N{BLACK MEDIUM SQUARE}",
    "w": "\N{FISHEYE}",
}
"""Glyphs of pieces by the character of position texts; a piece that is not listed is drawn as that character.

All of them are one column wide in every locale (East Asian width neutral), which rules out the round stones.
"""

_PIECE_SGR: Final[Mapping[str, str]] = {
    "x": "1;34",
    "X": "34",
    "o": "1;31",
    "O": "31",
    "b": "1;34",
    "w": "1",
    "1": "1;36",
    "2": "1;33",
    "3": "1;35",
}
_GROUND_SGR: Final[Mapping[str, str]] = {
    "red": "31",
    "orange": "38;5;208",
    "yellow": "93",
    "green": "32",
    "cyan": "36",
    "blue": "94",
    "violet": "35",
}
_OWNER_SGR: Final = ("34", "31")
_STONE_SGR: Final = (_PIECE_SGR["b"], _PIECE_SGR["w"])
_LEGAL_SGR: Final = "1;32"
_FORBIDDEN_SGR: Final = "31"
_MARKED_SGR: Final = "1"
_MARK_RANK: Final = {" ": 0, "(": 1, ")": 1, "[": 2, "]": 2, "|": 3, ">": 4}
"""Which mark stays where two cells want the same column."""


@dataclass(frozen=True, slots=True)
class TextStyle:
    """The abilities of an output: SGR colour sequences if ``color``, nothing beyond ASCII if ``ascii``.

    ``is_spoken``: it is listened to, so words take the place of pictures and of what pieces look like.
    ``has_report_cells``: cells are named as in the reports of the games.
    """

    color: bool
    ascii: bool
    is_spoken: bool = False
    has_report_cells: bool = False


@dataclass(frozen=True, slots=True)
class _Layout:
    """The places of things: the column of a cell's glyph is ``left + half_columns * x``."""

    half_columns: int
    left: int
    label_width: int
    first_x: int
    last_x: int

    @property
    def is_wide(self) -> bool:
        return self.half_columns > 1

    @property
    def ground_width(self) -> int:
        """Columns that are kept for the letter of a ground colour."""
        return 1 if self.is_wide else 0

    def column(self, x: int) -> int:
        return self.left + self.half_columns * (x - self.first_x)


@dataclass(slots=True)
class _Line:
    """One line of the picture: characters and their colours by column."""

    style: TextStyle
    characters: dict[int, tuple[str, str]] = field(default_factory=dict)

    def write(self, column: int, text: str, sgr: str = "") -> None:
        for place, character in enumerate(text, start=column):
            self.characters[place] = (character, sgr)

    def write_mark(self, column: int, mark: str, sgr: str = "") -> None:
        """Write an opening or closing mark beside what a neighbouring cell may have put there."""
        there = self.characters.get(column, (" ", ""))[0]
        if there + mark in ("][", ")("):
            mark = "|"
        if _MARK_RANK[mark] > _MARK_RANK.get(there, 0):
            self.write(column, mark, sgr)

    @property
    def end(self) -> int:
        return max(self.characters, default=-1) + 1

    def text(self) -> str:
        parts = []
        for column in range(self.end):
            character, sgr = self.characters.get(column, (" ", ""))
            parts.append(f"\x1b[{sgr}m{character}{RESET}" if sgr and self.style.color else character)
        return "".join(parts).rstrip()


def board_lines(
    view: BoardView, style: TextStyle, *, show_legal: bool = False, show_forbidden: bool = False
) -> list[str]:
    """Draw ``view`` as lines without line ends or trailing spaces.

    ``show_legal`` marks what the player to move may choose, ``show_forbidden`` the empty cells that the rules
    forbid.
    """
    layout = _layout(view)
    letters = ground_letters(view)
    lines = [_Line(style) for _ in view.row_labels]
    empty = empty_glyph(view, is_ascii=style.ascii)
    for cell in view.cells:
        _draw_cell(lines[cell.y], layout, cell, letters, empty, show_legal, show_forbidden)
    for y, line in enumerate(lines):
        _label_row(line, layout, view, [cell for cell in view.cells if cell.y == y])
    owners = _STONE_SGR if "w" in view.piece_names else _OWNER_SGR
    top = [_edge_line(layout, edge, style, show_legal, owners) for edge in view.edges if edge.side == "top"]
    bottom = [_edge_line(layout, edge, style, show_legal, owners) for edge in view.edges if edge.side == "bottom"]
    drawn = [line.text() for line in (*top, *lines, *bottom)]
    if view.column_labels:
        drawn += [line.text() for line in _column_names(layout, view, style)]
    return drawn + [line.text() for line in _side_edges(layout, view, style, show_legal, owners)]


def _layout(view: BoardView) -> _Layout:
    is_wide = view.topology == "hex" or any(cell.ground for cell in view.cells)
    label_width = max((len(label) for label in view.row_labels), default=0)
    xs = [cell.x for cell in view.cells]
    left = label_width + (2 if is_wide else 1)
    return _Layout(2 if is_wide else 1, left, label_width, min(xs, default=0), max(xs, default=0))


def _draw_cell(
    line: _Line,
    layout: _Layout,
    cell: CellView,
    letters: Mapping[str, str],
    empty: str,
    show_legal: bool,
    show_forbidden: bool,
) -> None:
    column, marks = layout.column(cell.x), cell.marks
    is_legal = show_legal and Mark.LEGAL in marks
    glyph, sgr = _cell_glyph(cell, line.style, empty, is_legal, show_forbidden)
    line.write(column, glyph, sgr)
    if cell.ground:
        line.write(column - 1, letters[cell.ground], _GROUND_SGR.get(cell.ground, ""))
    opening = column - (2 if cell.ground else 1)
    if is_legal and cell.piece != ".":
        line.write_mark(opening, ">", _LEGAL_SGR)
    pair = "[]" if Mark.LAST in marks else "()" if Mark.WINNING in marks else ""
    if pair:
        line.write_mark(opening, pair[0], _MARKED_SGR)
        line.write_mark(column + 1, pair[1], _MARKED_SGR)


def _cell_glyph(
    cell: CellView, style: TextStyle, empty: str, is_legal: bool, show_forbidden: bool
) -> tuple[str, str]:
    """Return the character of a cell and its colour."""
    if cell.piece != ".":
        is_asleep = Mark.ASLEEP in cell.marks
        sgr = _PIECE_SGR.get(cell.piece, "1")
        return piece_glyph(cell.piece, style, is_asleep), f"2;{sgr}" if is_asleep else sgr
    if Mark.REQUIRED in cell.marks:
        return "*", _LEGAL_SGR
    if is_legal:
        return "+", _LEGAL_SGR
    if show_forbidden and Mark.FORBIDDEN in cell.marks:
        return "-", _FORBIDDEN_SGR
    return empty, _GROUND_SGR.get(cell.ground, "")


def empty_glyph(view: BoardView, *, is_ascii: bool) -> str:
    """Return the character of an empty cell: with ASCII, in Minefield, the one of its report."""
    texts = {edge.side: edge.text for edge in view.edges}
    is_joined = len(texts) == 4 and texts["top"] == texts["bottom"] and texts["left"] == texts["right"]
    return "#" if is_ascii and is_joined else "."


def piece_glyph(piece: str, style: TextStyle, is_asleep: bool = False) -> str:
    """Return the one character that draws ``piece``, a character of position texts."""
    glyphs = ASCII_GLYPHS if style.ascii else UNICODE_GLYPHS
    return glyphs.get(f"{piece} asleep" if is_asleep else piece, piece)


def ground_letters(view: BoardView) -> dict[str, str]:
    """Return a letter for each ground colour of the board: the first of its name that no other colour has."""
    letters: dict[str, str] = {}
    for ground in dict.fromkeys(cell.ground for cell in view.cells if cell.ground):
        free = [letter for letter in ground.lower() if letter.isalpha() and letter not in letters.values()]
        letters[ground] = free[0] if free else "?"
    return letters


def _label_row(line: _Line, layout: _Layout, view: BoardView, cells: Iterable[CellView]) -> None:
    row = sorted(cells, key=lambda cell: cell.x)
    if not row:
        return
    label = view.row_labels[row[0].y].rjust(layout.label_width)
    start = layout.column(row[0].x) - layout.ground_width - 1 - layout.label_width
    line.write(start if view.topology == "hex" else 0, label)
    if view.topology == "hex":
        line.write(layout.column(row[-1].x) + 3, row[-1].name)
    if any(Mark.HOME in cell.marks for cell in row):
        line.write(line.end + 1, "< home row")


def _column_names(layout: _Layout, view: BoardView, style: TextStyle) -> list[_Line]:
    """Return the names of the columns; on narrow boards the second letter of a name stands below the first."""
    if layout.is_wide:
        line = _Line(style)
        for x, label in view.column_labels:
            line.write(layout.column(x), label)
        return [line]
    lines = [_Line(style) for _ in range(max(len(label) for _, label in view.column_labels))]
    for x, label in view.column_labels:
        for line, letter in zip(lines, label, strict=False):
            line.write(layout.column(x), letter)
    return lines


def _edge_line(
    layout: _Layout, edge: EdgeView, style: TextStyle, show_legal: bool, owners: tuple[str, str]
) -> _Line:
    """Return the top or bottom edge: its text, centred on the board."""
    line, text = _Line(style), _edge_text(edge, show_legal)
    width = layout.column(layout.last_x) - layout.left + 1
    line.write(max(0, layout.left + (width - len(text)) // 2), text, owners[edge.owner])
    return line


def _side_edges(
    layout: _Layout, view: BoardView, style: TextStyle, show_legal: bool, owners: tuple[str, str]
) -> list[_Line]:
    """Return the left and right edges, below the board: by their sides, or once when both say the same."""
    sides = [edge for edge in view.edges if edge.side in ("left", "right")]
    is_common = len({(edge.text, edge.is_target) for edge in sides}) == 1 < len(sides)
    lines = []
    for edge in sides[:1] if is_common else sides:
        lines.append(_Line(style))
        text = _edge_text(edge, show_legal)
        lines[-1].write(layout.left, text if is_common else f"{edge.side}: {text}", owners[edge.owner])
    return lines


def _edge_text(edge: EdgeView, show_legal: bool) -> str:
    return f"+ {edge.text} +" if show_legal and edge.is_target else edge.text


def drawn_pieces(view: BoardView) -> list[tuple[str, bool, str]]:
    """Return what can be drawn on a board: the character of each piece, if it is asleep, and a name for it."""
    drawn = []
    for piece, name in view.piece_names.items():
        drawn.append((piece, False, name))
        if f"{piece} asleep" in UNICODE_GLYPHS:
            drawn.append((piece, True, "asleep"))
    return drawn


def legend(view: BoardView, style: TextStyle) -> str:
    """Return the meaning of the glyphs and ground letters of this game on one line; empty for none."""
    entries = []
    for piece, name in view.piece_names.items():
        asleep = f"{piece} asleep" in UNICODE_GLYPHS
        variant = f" ({piece_glyph(piece, style, is_asleep=True)} asleep)" if asleep else ""
        entries.append(f"{piece_glyph(piece, style)} {name}{variant}")
    entries += ["# empty"] if empty_glyph(view, is_ascii=style.ascii) == "#" else []
    entries += [f"{letter} {ground}" for ground, letter in ground_letters(view).items()]
    return ", ".join(entries)


def laid_text(cell: str) -> str:
    """Return the sentence about a second stone of Iris that is laid without being chosen.

    >>> laid_text("i5")
    'i5 is laid too: the rules leave no other cell'
    """
    return f"{cell} is laid too: the rules leave no other cell"


def scores_text(scores: tuple[int, ...]) -> str:
    """Return the scores of one side.

    >>> scores_text((3, 2)), scores_text(())
    ('3 2', '0')
    """
    return " ".join(map(str, scores)) or "0"
