"""The characters that boards are drawn with: pieces in every size, lines, edges, and the marks beside them.

A piece is one character in a small cell and a sprite in a large one. Sprites are drawn as art of square dots, two
above each other in a character, and leave the last half row of a cell free: no piece touches the one below.
Viruses are thin, zombies are solid; black stones are full, white ones have a hole.

Block and line characters have the East Asian width ``A`` (ambiguous): terminals of Chinese, Japanese and Korean
locales may draw them two columns wide. :data:`EAST_ASIAN` does without.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import zip_longest
from typing import Final

from tabuleiro.rules.view import EdgeSide
from tabuleiro_client.text.board import ASCII_GLYPHS, UNICODE_GLYPHS
from tabuleiro_client.tui.present.ink import Role
from tabuleiro_client.tui.present.layout import TALL_SIZES, Size

FILL: Final = "#"
"""A filled place of a sprite, which may be drawn in reverse."""

Sprite = tuple[str, ...]

_ASLEEP: Final = " asleep"

ROLES: Final[Mapping[str, Role]] = {
    "x": Role.SIDE_0,
    "X": Role.SIDE_0,
    "b": Role.SIDE_0,
    "o": Role.SIDE_1,
    "O": Role.SIDE_1,
    "w": Role.SIDE_1,
    "1": Role.SHIP_1,
    "2": Role.SHIP_2,
    "3": Role.SHIP_3,
}
"""The role of each piece by the character that position texts use."""


@dataclass(frozen=True)
class GlyphSet:
    """``small`` and ``sprites`` by the character of position texts, zombies asleep with `` asleep`` after it.

    ``fills_by_reverse``: filled places of sprites are drawn as spaces in reverse. ``grid`` holds the lines of a
    square board: horizontal, vertical, then the nine corners and crossings from the top left; ``hexagon`` its
    three lines. ``frames`` are the marks at both sides of a tall cell, each from the top (first row, rows between,
    last row), by the pair that marks a cell of one row. ``edges`` fill what is drawn along the edges of the board;
    those not listed have a character by their owner.
    """

    small: Mapping[str, str]
    sprites: Mapping[Size, Mapping[str, Sprite]]
    fills_by_reverse: bool
    empty: str
    grid: str
    hexagon: str
    frames: Mapping[str, tuple[str, str]]
    edges: Mapping[EdgeSide, str]

    def glyph(self, piece: str, *, is_asleep: bool = False) -> str:
        """Return the one character for a piece; a piece that is not listed is its own."""
        return self.small.get(piece + _ASLEEP if is_asleep else piece, piece)

    def sprite(self, piece: str, size: Size, *, is_asleep: bool = False) -> Sprite:
        """Return the picture of a piece in a cell of several rows."""
        return self.sprites[size].get(piece + _ASLEEP if is_asleep else piece, ("", piece))

    def frame(self, pair: str) -> tuple[str, str]:
        """Return what stands for ``pair`` at the left and the right of a tall cell."""
        return self.frames.get(pair, (f" {pair[0]} ", f" {pair[1]} "))


_LARGE_ART: Final[Mapping[str, str]] = {
    "x": "#...# .#.#. ..#.. .#.#. #...#",
    "o": ".###. #...# #...# #...# .###.",
    "X": "##### #.#.# ##.## #.#.# #####",
    "O": ".###. ##### ##.## ##### .###.",
    "X asleep": "#.#.# ..... #.X.# ..X.. #.#.#",
    "O asleep": ".#.#. #...# ..O.. #.O.# .#.#.",
    "b": ".###. ##### ##### ##### .###.",
    "w": ".###. ##.## #...# ##.## .###.",
    "1": "..#.. .###. .#1#. .#1#. .#.#.",
    "2": "..#.. .###. ##2## ##2## #.#.#",
    "3": ".###. ##### ##3## ##3## ##.##",
}
_HUGE_ART: Final[Mapping[str, str]] = {
    "x": "##...## ###.### .#####. ..###.. .#####. ###.### ##...##",
    "o": ".#####. ##...## #.....# #.....# #.....# ##...## .#####.",
    "X": "####### #.###.# ##.#.## ###.### ##.#.## #.###.# #######",
    "O": ".#####. ####### ###.### ##...## ###.### ####### .#####.",
    "X asleep": "#.#.#.# ....... #..X..# ...X... #.....# ....... #.#.#.#",
    "O asleep": "..#.#.. #.....# ...O... #..O..# ....... #.....# ..#.#..",
    "b": "..###.. .#####. ####### ####### ####### .#####. ..###..",
    "w": "..###.. .#####. ##...## ##...## ##...## .#####. ..###..",
    "1": "...#... ..###.. ..#1#.. ..#1#.. ..###.. .##.##. .#...#.",
    "2": "...#... ..###.. .##2##. .##2##. ####### ####### #..#..#",
    "3": "..###.. .#####. ###3### ###3### ####### ####### ##.#.##",
}


def _blocks(rows: Sequence[str]) -> Sprite:
    """Return the characters for rows of dots; a letter is in the same place of two rows that share a character.

    >>> _blocks(["#.", "##", ".1"])
    ('#▄', ' 1')
    """
    sprite = []
    for upper, lower in zip_longest(rows[::2], rows[1::2], fillvalue="." * len(rows[0])):
        halves = {"##": FILL, "#.": "▀", ".#": "▄", "..": " "}
        sprite.append(
            "".join(halves.get(a + b, a if a.isalnum() else b) for a, b in zip(upper, lower, strict=True))
        )
    return tuple(sprite)


def _giant(rows: Sequence[str]) -> Sprite:
    """Return the characters for rows of dots drawn twice as wide and high, with one letter in the middle."""
    letter = next((dot for row in rows for dot in row if dot.isalnum()), "")
    ground = FILL if letter.isdigit() else "."
    plain = [row.replace(letter, ground) if letter else row for row in rows]
    sprite = list(_blocks(["".join(2 * dot for dot in row) for row in plain for _ in range(2)]))
    middle = len(sprite) // 2
    place = len(rows[0])
    if letter:
        sprite[middle] = sprite[middle][:place] + letter + sprite[middle][place + 1 :]
    return tuple(sprite)


_ASCII_SPRITES: Final[Mapping[str, Sprite]] = {
    "x": (r"\   /", "  X  ", "/   \\"),
    "o": (".---.", "|   |", "'---'"),
    "X": ("#####", "##X##", "#####"),
    "O": ("/###\\", "##O##", "\\###/"),
    "X asleep": (": : :", ": X :", ": : :"),
    "O asleep": (".: :.", ": O :", "':.:'"),
    "b": ("/BBB\\", "BBBBB", "\\BBB/"),
    "w": ("/---\\", "| W |", "\\---/"),
    "1": (" /^\\ ", " |1| ", " \\_/ "),
    "2": (" /^\\ ", "/ 2 \\", "\\___/"),
    "3": ("/^^^\\", "| 3 |", "\\___/"),
}

ASCII: Final = GlyphSet(
    small=ASCII_GLYPHS,
    sprites=dict.fromkeys(TALL_SIZES, _ASCII_SPRITES),
    fills_by_reverse=False,
    empty=".",
    grid="-|+++++++++",
    hexagon="/\\|",
    frames={pair: (3 * pair[0], 3 * pair[1]) for pair in ("><", "==", "[]", "()", "{}", "!!", "::")},
    edges={},
)
UNICODE: Final = GlyphSet(
    small=UNICODE_GLYPHS,
    sprites={
        Size.LARGE: {piece: _blocks(art.split()) for piece, art in _LARGE_ART.items()},
        Size.HUGE: {piece: _blocks(art.split()) for piece, art in _HUGE_ART.items()},
        Size.GIANT: {piece: _giant(art.split()) for piece, art in _LARGE_ART.items()},
    },
    fills_by_reverse=True,
    empty="·",
    grid="─│┌┬┐├┼┤└┴┘",
    hexagon="╱╲│",
    frames={
        "><": ("┏┃┗", "┓┃┛"),
        "==": ("╔║╚", "╗║╝"),
        "[]": ("┌ └", "┐ ┘"),
        "()": ("╭│╰", "╮│╯"),
        "{}": ("⎧⎨⎩", "⎫⎬⎭"),
        "::": ("┊┊┊", "┊┊┊"),
    },
    edges={"top": "━", "bottom": "━", "left": "┃", "right": "┃"},
)
EAST_ASIAN: Final = replace(ASCII, small=UNICODE_GLYPHS)
"""No character of ambiguous width, for locales in which those may take two columns."""
