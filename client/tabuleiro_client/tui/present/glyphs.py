"""The characters that pieces are drawn with: one for small cells, a sprite of 5 x 3 for large ones.

Every character is one column wide in every locale: none has the East Asian width ``A`` (ambiguous) or ``W``. In a
sprite, ``#`` stands for a filled place, which is drawn in reverse where that looks better than the character.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Final

from tabuleiro_client.text.board import ASCII_GLYPHS, UNICODE_GLYPHS
from tabuleiro_client.tui.present.ink import Role

FILL: Final = "#"
Sprite = tuple[str, str, str]

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

    ``fills_by_reverse``: filled places of sprites are drawn as spaces in reverse.
    """

    small: Mapping[str, str]
    sprites: Mapping[str, Sprite]
    fills_by_reverse: bool

    def glyph(self, piece: str, *, is_asleep: bool = False) -> str:
        """The one character for a piece; a piece that is not listed is its own."""
        return self.small.get(piece + _ASLEEP if is_asleep else piece, piece)

    def sprite(self, piece: str, *, is_asleep: bool = False) -> Sprite:
        """The large picture of a piece."""
        return self.sprites.get(piece + _ASLEEP if is_asleep else piece, ("     ", f"  {piece}  ", "     "))


ASCII: Final = GlyphSet(
    small=ASCII_GLYPHS,
    sprites={
        "x": (r"\   /", "  X  ", "/   \\"),
        "o": (".---.", "|   |", "'---'"),
        "X": ("#####", "##X##", "#####"),
        "O": ("/###\\", "##O##", "\\###/"),
        "X asleep": (": : :", ": X :", ": : :"),
        "O asleep": (".: :.", ": O :", "':.:'"),
        "b": ("/###\\", "#####", "\\###/"),
        "w": ("/---\\", "|   |", "\\---/"),
        "1": (" /^\\ ", " |1| ", " \\_/ "),
        "2": (" /^\\ ", "/ 2 \\", "\\___/"),
        "3": ("/^^^\\", "| 3 |", "\\___/"),
    },
    fills_by_reverse=False,
)
UNICODE: Final = GlyphSet(
    small=UNICODE_GLYPHS,
    sprites={
        "x": (" ▚ ▞ ", "  #  ", " ▞ ▚ "),
        "o": (" ▟#▙ ", "#   #", " ▜#▛ "),
        "X": (" ### ", " #X# ", " ### "),
        "O": (" ▟#▙ ", "##O##", " ▜#▛ "),
        "X asleep": (" ▖ ▗ ", "  X  ", " ▘ ▝ "),
        "O asleep": (" ▗ ▖ ", "▖ O ▗", " ▝ ▘ "),
        "b": (" ▟#▙ ", "#####", " ▜#▛ "),
        "w": (" ▟#▙ ", "## ##", " ▜#▛ "),
        "1": (" ▗#▖ ", " #1# ", " ▝#▘ "),
        "2": (" ▟#▙ ", "##2##", "  #  "),
        "3": ("▗###▖", "##3##", "▝###▘"),
    },
    fills_by_reverse=True,
)
