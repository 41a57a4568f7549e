"""Colours of the themes on terminals of 256 colours: grounds, so that none is rounded to another one.

Rounding makes a dark grey with a little blue in it navy, and a ground the same as the one beside it.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import Final

from textual.theme import Theme as TextualTheme

from tabuleiro_client.tui.present.ink import Role

Palette = Mapping[Role, str]

_DARK_FIELD: Final[Palette] = {
    Role.GROUND: "#1c1c1c",
    Role.GROUND_ALT: "#262626",
    Role.GROUND_THIRD: "#303030",
    Role.HOVER: "#444444",
    Role.OPPOSITE: "#5f00af",
    Role.EMPTY: "#767676",
    Role.GRID: "#4e4e4e",
}
_LIGHT_FIELD: Final[Palette] = {
    Role.GROUND: "#eeeeee",
    Role.GROUND_ALT: "#e4e4e4",
    Role.GROUND_THIRD: "#dadada",
    Role.HOVER: "#c6c6c6",
    Role.EMPTY: "#9e9e9e",
    Role.GRID: "#bcbcbc",
}
_RIM: Final[Palette] = {Role.ORANGE: "#d75f00", Role.YELLOW: "#afaf00"}
"""Both were rounded to one brown."""

_WOOD: Final[Palette] = {
    **_RIM,
    Role.GROUND: "#af875f",
    Role.GROUND_ALT: "#af875f",
    Role.GROUND_THIRD: "#af875f",
    Role.HOVER: "#d7af87",
    Role.EMPTY: "#5f5f00",
    Role.GRID: "#5f5f00",
    Role.WINNING: "#008700",
    Role.LAST: "#87875f",
}
FIELD_256: Final[Mapping[str, Palette]] = {
    "dark": _DARK_FIELD,
    "light": _LIGHT_FIELD,
    "colour-blind-safe": _DARK_FIELD,
}
"""By the names of the themes: what boards with coloured pieces have otherwise, if anything."""

STONE_256: Final[Mapping[str, Palette]] = {
    "dark": _WOOD,
    "light": _WOOD,
    "high-contrast": {**_RIM, Role.FORBIDDEN: "#000000"},
}
"""The same for boards with black and white stones."""

_GREYS: Final[Mapping[str, tuple[str, str, str]]] = {
    "dark": ("#121212", "#1c1c1c", "#303030"),
    "light": ("#ffffff", "#eeeeee", "#e4e4e4"),
    "colour-blind-safe": ("#121212", "#1c1c1c", "#303030"),
}


def screen_colours_256(colours: TextualTheme) -> TextualTheme:
    """Return the colours of the screens for a terminal of 256."""
    if colours.name not in _GREYS:
        return colours
    background, surface, panel = _GREYS[colours.name]
    return replace(colours, background=background, surface=surface, panel=panel)
