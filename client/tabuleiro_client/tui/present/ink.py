"""Parts of a picture: rows of spans, each a text with its ink.

Ink names roles, never colours: :mod:`tabuleiro_client.tui.themes` gives each role its colour, and on a terminal
without colours the attributes and the characters alone say everything.
"""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import dataclass
from enum import StrEnum
from functools import lru_cache
from typing import Final


class Role(StrEnum):
    """The roles of things on a board, to which a theme gives colours."""

    GROUND = "ground"
    GROUND_ALT = "ground-alt"
    GROUND_THIRD = "ground-third"
    RED = "red"
    ORANGE = "orange"
    YELLOW = "yellow"
    GREEN = "green"
    CYAN = "cyan"
    BLUE = "blue"
    VIOLET = "violet"
    """The seven colours that a cell itself may have."""
    GROUND_LETTER = "ground-letter"
    """The letter of such a colour, written on it."""
    SIDE_0 = "side-0"
    SIDE_1 = "side-1"
    SHIP_1 = "ship-1"
    SHIP_2 = "ship-2"
    SHIP_3 = "ship-3"
    EMPTY = "empty"
    GRID = "grid"
    LABEL = "label"
    LABEL_STRONG = "label-strong"
    LEGAL = "legal"
    FORBIDDEN = "forbidden"
    MARK = "mark"
    """The characters beside a glyph that say something about its cell."""
    CURSOR = "cursor"
    HOVER = "hover"
    LAST = "last"
    PICKED = "picked"
    ROUTE = "route"
    OPPOSITE = "opposite"
    HINT = "hint"
    REASON = "reason"
    WINNING = "winning"
    """From CURSOR on: grounds of cells that are marked."""


@dataclass(frozen=True, slots=True)
class Ink:
    """The ink of a text. ``None`` for a role: as the screen around it."""

    fg: Role | None = None
    bg: Role | None = None
    bold: bool = False
    dim: bool = False
    reverse: bool = False
    underline: bool = False

    def on(self, bg: Role | None) -> Ink:
        """Return the same ink on another ground."""
        return _ink_on(self, bg)


@lru_cache(maxsize=1024)
def _ink_on(ink: Ink, bg: Role | None) -> Ink:
    # Kept, because every cell that is drawn asks for it, and what is the same object is compared at once.
    return Ink(ink.fg, bg, ink.bold, ink.dim, ink.reverse, ink.underline)


PLAIN: Final = Ink()


@dataclass(frozen=True, slots=True)
class Span:
    """A run of text in one ink."""

    text: str
    ink: Ink = PLAIN


Row = tuple[Span, ...]


def row_text(row: Row) -> str:
    """Return the characters of a row, without trailing spaces.

    >>> row_text((Span("a "), Span("b  ")))
    'a b'
    """
    return "".join(span.text for span in row).rstrip()


def cut(row: Row, start: int, end: int) -> Row:
    """Return the part of a row from column ``start`` to before ``end``.

    >>> [span.text for span in cut((Span("abc"), Span("def")), 1, 4)]
    ['bc', 'd']
    """
    found = []
    column = 0
    for span in row:
        text = span.text[max(0, start - column) : max(0, end - column)]
        column += len(span.text)
        if text:
            found.append(Span(text, span.ink))
    return tuple(found)


class Canvas:
    """A rectangle of characters that is written on in any order; what lies outside is cut off.

    With ``wanted`` only those lines of it are there, and what is written on others is lost.
    """

    def __init__(self, width: int, height: int, wanted: Collection[int] | None = None) -> None:
        self.width = width
        numbers = range(height) if wanted is None else sorted(y for y in wanted if 0 <= y < height)
        self._lines = {y: ([" "] * width, [PLAIN] * width) for y in numbers}

    def has(self, y: int) -> bool:
        """Return whether what is written on line ``y`` is kept."""
        return y in self._lines

    def write(self, x: int, y: int, text: str, ink: Ink = PLAIN) -> None:
        """Write ``text`` from column ``x`` of line ``y`` on, all its characters one column wide."""
        line = self._lines.get(y)
        if line is None:
            return
        characters, inks = line
        if len(text) == 1 and 0 <= x < self.width:
            characters[x], inks[x] = text, ink
            return
        for place, character in enumerate(text, start=x):
            if 0 <= place < self.width:
                characters[place] = character
                inks[place] = ink

    def rows(self) -> dict[int, Row]:
        """Return the rows by their numbers, from the top, each as wide as the canvas."""
        return {y: _row(characters, inks) for y, (characters, inks) in self._lines.items()}


def _row(characters: list[str], inks: list[Ink]) -> Row:
    spans: list[Span] = []
    start = 0
    for place in range(1, len(characters) + 1):
        if place == len(characters) or not (inks[place] is inks[start] or inks[place] == inks[start]):
            spans.append(Span("".join(characters[start:place]), inks[start]))
            start = place
    return tuple(spans)
