"""Themes: the colours of the screens and, for each role of a board's ink, of the boards.

Boards have two palettes: ``field`` for pieces that are coloured themselves, ``stone`` for black and white stones,
whose ground must lie between the two in every theme. Sides are told apart by shape as well, so that no theme, nor
the lack of any colour, hides anything. Terminals of 256 colours get grounds of their own: rounding makes a dark
grey with a little blue in it navy, and a ground the same as the one beside it.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from functools import lru_cache
from typing import Final

from rich.style import Style
from textual.theme import Theme as TextualTheme

from tabuleiro_client.tui.present.ink import Ink, Role

Palette = Mapping[Role, str]


@dataclass(frozen=True)
class Theme:
    """One look. ``field`` and ``stone`` are the palettes of the boards, ``ui`` the colours of the screens."""

    name: str
    title: str
    ui: TextualTheme
    field: Palette
    stone: Palette


_RIM: Final[Palette] = {
    Role.RED: "#b5483f",
    Role.ORANGE: "#c2742a",
    Role.YELLOW: "#a8942c",
    Role.GREEN: "#4f8a45",
    Role.CYAN: "#3f8f8f",
    Role.BLUE: "#4a78b8",
    Role.VIOLET: "#8a62a8",
    Role.GROUND_LETTER: "#101010",
}
_STONE: Final[Palette] = {
    **_RIM,
    Role.GROUND: "#96794f",
    Role.GROUND_ALT: "#8c7049",
    Role.GROUND_THIRD: "#a08359",
    Role.SIDE_0: "#000000",
    Role.SIDE_1: "#ffffff",
    Role.EMPTY: "#5d4a2e",
    Role.GRID: "#5a4529",
    Role.LEGAL: "#2f2413",
    Role.FORBIDDEN: "#6e1010",
    Role.MARK: "#ffe680",
    Role.CURSOR: "#3d74b0",
    Role.HOVER: "#a8905f",
    Role.LAST: "#6f7f3d",
    Role.PICKED: "#3f8577",
    Role.ROUTE: "#3f8577",
    Role.OPPOSITE: "#8a62a8",
    Role.HINT: "#7b55a6",
    Role.REASON: "#a8493f",
    Role.WINNING: "#3f8a3f",
}
_DARK_FIELD: Final[Palette] = {
    **_RIM,
    Role.GROUND: "#1c222b",
    Role.GROUND_ALT: "#212833",
    Role.GROUND_THIRD: "#262e3a",
    Role.SIDE_0: "#6cb6ff",
    Role.SIDE_1: "#ff8f87",
    Role.SHIP_1: "#7ee0d0",
    Role.SHIP_2: "#f4d06f",
    Role.SHIP_3: "#e59cf0",
    Role.EMPTY: "#55606e",
    Role.GRID: "#3a4452",
    Role.LABEL: "#8b97a6",
    Role.LABEL_STRONG: "#e6edf3",
    Role.LEGAL: "#8fd98f",
    Role.FORBIDDEN: "#d2695e",
    Role.MARK: "#ffe680",
    Role.CURSOR: "#5a4a8a",
    Role.HOVER: "#323c4b",
    Role.LAST: "#4d4a24",
    Role.PICKED: "#1f5a50",
    Role.ROUTE: "#1f5a50",
    Role.OPPOSITE: "#553a66",
    Role.HINT: "#005f87",
    Role.REASON: "#6a2b2b",
    Role.WINNING: "#1f5a2c",
}
_LIGHT_FIELD: Final[Palette] = {
    **_RIM,
    Role.GROUND: "#f2efe8",
    Role.GROUND_ALT: "#e9e5db",
    Role.GROUND_THIRD: "#dfdacd",
    Role.SIDE_0: "#0b4fa8",
    Role.SIDE_1: "#b01e1e",
    Role.SHIP_1: "#0b6b60",
    Role.SHIP_2: "#8a5a00",
    Role.SHIP_3: "#7a1f8a",
    Role.EMPTY: "#a39d8f",
    Role.GRID: "#c2bcae",
    Role.LABEL: "#5f6672",
    Role.LABEL_STRONG: "#15191f",
    Role.LEGAL: "#2b7a2b",
    Role.FORBIDDEN: "#b01e1e",
    Role.MARK: "#7a4b00",
    Role.CURSOR: "#bcd3f5",
    Role.HOVER: "#dcd8cc",
    Role.LAST: "#f0e2a0",
    Role.PICKED: "#b5e0d6",
    Role.ROUTE: "#b5e0d6",
    Role.OPPOSITE: "#e0c8ee",
    Role.HINT: "#dccdf6",
    Role.REASON: "#f3c2bb",
    Role.WINNING: "#bfe3bf",
}
_CONTRAST_FIELD: Final[Palette] = {
    **_DARK_FIELD,
    Role.GROUND: "#000000",
    Role.GROUND_ALT: "#0c0c0c",
    Role.GROUND_THIRD: "#161616",
    Role.SIDE_0: "#5fd7ff",
    Role.SIDE_1: "#ffaf5f",
    Role.SHIP_1: "#00ffff",
    Role.SHIP_2: "#ffff00",
    Role.SHIP_3: "#ff87ff",
    Role.EMPTY: "#9a9a9a",
    Role.GRID: "#7a7a7a",
    Role.LABEL: "#ffffff",
    Role.LABEL_STRONG: "#ffffff",
    Role.LEGAL: "#00ff5f",
    Role.FORBIDDEN: "#ff8080",
    Role.MARK: "#ffff00",
    Role.CURSOR: "#0000c8",
    Role.HOVER: "#303030",
    Role.LAST: "#4a4a00",
    Role.PICKED: "#005f4f",
    Role.ROUTE: "#005f4f",
    Role.OPPOSITE: "#5f005f",
    Role.HINT: "#005f87",
    Role.REASON: "#7f0000",
    Role.WINNING: "#005f00",
}
_CONTRAST_STONE: Final[Palette] = {
    **_STONE,
    # The grey from which black and white are equally far: 4.5 to 1, the most that both can have.
    Role.GROUND: "#767676",
    Role.GROUND_ALT: "#767676",
    Role.GROUND_THIRD: "#767676",
    Role.EMPTY: "#000000",
    Role.GRID: "#000000",
    Role.LEGAL: "#000000",
    Role.FORBIDDEN: "#000000",
    Role.MARK: "#ffff00",
    Role.CURSOR: "#3f6fd0",
    Role.LAST: "#5a5a00",
    Role.HINT: "#8f4fd0",
}
_COLOUR_BLIND_FIELD: Final[Palette] = {
    **_DARK_FIELD,
    # Okabe and Ito: blue and orange are told apart by every kind of colour vision.
    Role.SIDE_0: "#56b4e9",
    Role.SIDE_1: "#e69f00",
    Role.SHIP_1: "#56b4e9",
    Role.SHIP_2: "#f0e442",
    Role.SHIP_3: "#cc79a7",
    Role.LEGAL: "#f0e442",
    Role.FORBIDDEN: "#d55e00",
    Role.MARK: "#ffffff",
    Role.REASON: "#6b3200",
    Role.WINNING: "#00523c",
}
_COLOUR_BLIND_STONE: Final[Palette] = {
    **_STONE,
    Role.RED: "#d55e00",
    Role.ORANGE: "#e69f00",
    Role.YELLOW: "#b9ae2c",
    Role.GREEN: "#009e73",
    Role.CYAN: "#56b4e9",
    Role.BLUE: "#0072b2",
    Role.VIOLET: "#cc79a7",
    Role.GROUND: "#848484",
    Role.GROUND_ALT: "#7c7c7c",
    Role.GROUND_THIRD: "#8c8c8c",
    Role.EMPTY: "#4c4c4c",
    Role.GRID: "#5c5c5c",
    Role.LEGAL: "#202020",
    Role.LAST: "#6a6a2c",
}
# The sixteen colours as terminals have them by default, so that nothing is rounded to a colour nobody chose.
_FIELD_16: Final[Palette] = {
    Role.GROUND: "#000000",
    Role.GROUND_ALT: "#000000",
    Role.GROUND_THIRD: "#000000",
    Role.SIDE_0: "#55ffff",
    Role.SIDE_1: "#ff5555",
    Role.SHIP_1: "#55ffff",
    Role.SHIP_2: "#ffff55",
    Role.SHIP_3: "#ff55ff",
    Role.EMPTY: "#555555",
    Role.GRID: "#555555",
    Role.LABEL: "#aaaaaa",
    Role.LABEL_STRONG: "#ffffff",
    Role.LEGAL: "#55ff55",
    Role.FORBIDDEN: "#aa0000",
    Role.MARK: "#ffff55",
    Role.CURSOR: "#0000aa",
    Role.HOVER: "#555555",
    Role.LAST: "#555555",
    Role.PICKED: "#0000aa",
    Role.ROUTE: "#0000aa",
    Role.OPPOSITE: "#aa00aa",
    Role.HINT: "#00aaaa",
    Role.REASON: "#aa0000",
    Role.WINNING: "#00aa00",
}
_STONE_16: Final[Palette] = {
    **_FIELD_16,
    Role.RED: "#aa0000",
    Role.ORANGE: "#ff5555",
    Role.YELLOW: "#ffff55",
    Role.GREEN: "#00aa00",
    Role.CYAN: "#00aaaa",
    Role.BLUE: "#5555ff",
    Role.VIOLET: "#aa00aa",
    Role.GROUND_LETTER: "#000000",
    Role.GROUND: "#aa5500",
    Role.GROUND_ALT: "#aa5500",
    Role.GROUND_THIRD: "#aa5500",
    Role.SIDE_0: "#000000",
    Role.SIDE_1: "#ffffff",
    Role.EMPTY: "#000000",
    Role.GRID: "#000000",
    Role.LEGAL: "#000000",
    Role.MARK: "#ffff55",
    Role.LAST: "#00aaaa",
    Role.HINT: "#5555ff",
}

_LABELS_ON_LIGHT_16: Final[Palette] = {Role.LABEL: "#555555", Role.LABEL_STRONG: "#000000"}
"""Labels stand beside the board, on the ground of the screen."""

_DARK_FIELD_256: Final[Palette] = {
    Role.GROUND: "#1c1c1c",
    Role.GROUND_ALT: "#262626",
    Role.GROUND_THIRD: "#303030",
    Role.HOVER: "#444444",
    Role.OPPOSITE: "#5f00af",
    Role.EMPTY: "#767676",
    Role.GRID: "#4e4e4e",
}
_LIGHT_FIELD_256: Final[Palette] = {
    Role.GROUND: "#eeeeee",
    Role.GROUND_ALT: "#e4e4e4",
    Role.GROUND_THIRD: "#dadada",
    Role.HOVER: "#c6c6c6",
    Role.EMPTY: "#9e9e9e",
    Role.GRID: "#bcbcbc",
}
_RIM_256: Final[Palette] = {Role.ORANGE: "#d75f00", Role.YELLOW: "#afaf00"}
"""Both were rounded to one brown."""

_WOOD: Final[Palette] = {
    **_RIM_256,
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
    "dark": _DARK_FIELD_256,
    "light": _LIGHT_FIELD_256,
    "colour-blind-safe": {**_DARK_FIELD_256, Role.REASON: "#870000"},
}
"""By the names of the themes: what boards with coloured pieces have otherwise, if anything."""

STONE_256: Final[Mapping[str, Palette]] = {
    "dark": _WOOD,
    "light": _WOOD,
    "high-contrast": {**_RIM_256, Role.FORBIDDEN: "#000000"},
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


_DARK_UI: Final = TextualTheme(
    name="dark",
    primary="#6cb6ff",
    secondary="#8fd98f",
    accent="#f4d06f",
    warning="#f4d06f",
    error="#ff7b72",
    success="#8fd98f",
    foreground="#d7dee6",
    background="#12161c",
    surface="#171d25",
    panel="#212a35",
    dark=True,
)
_LIGHT_UI: Final = TextualTheme(
    name="light",
    primary="#0b4fa8",
    secondary="#2b7a2b",
    accent="#8a5a00",
    warning="#8a5a00",
    error="#b01e1e",
    success="#2b7a2b",
    foreground="#1b2027",
    background="#fbfaf6",
    surface="#f4f1ea",
    panel="#e6e1d6",
    dark=False,
)
_CONTRAST_UI: Final = TextualTheme(
    name="high-contrast",
    primary="#5fd7ff",
    secondary="#00ff5f",
    accent="#ffff00",
    warning="#ffff00",
    error="#ff8080",
    success="#00ff5f",
    foreground="#ffffff",
    background="#000000",
    surface="#000000",
    panel="#1c1c1c",
    dark=True,
    text_alpha=1.0,
)
_COLOUR_BLIND_UI: Final = TextualTheme(
    name="colour-blind-safe",
    primary="#56b4e9",
    secondary="#009e73",
    accent="#f0e442",
    warning="#e69f00",
    error="#e69f00",
    success="#56b4e9",
    foreground="#d7dee6",
    background="#12161c",
    surface="#171d25",
    panel="#212a35",
    dark=True,
)

THEMES: Final[Mapping[str, Theme]] = {
    theme.name: theme
    for theme in (
        Theme("dark", "Dark", _DARK_UI, _DARK_FIELD, {**_DARK_FIELD, **_STONE}),
        Theme("light", "Light", _LIGHT_UI, _LIGHT_FIELD, {**_LIGHT_FIELD, **_STONE}),
        Theme(
            "high-contrast",
            "High contrast",
            _CONTRAST_UI,
            _CONTRAST_FIELD,
            {**_CONTRAST_FIELD, **_CONTRAST_STONE},
        ),
        Theme(
            "colour-blind-safe",
            "Colour-blind safe",
            _COLOUR_BLIND_UI,
            _COLOUR_BLIND_FIELD,
            {**_COLOUR_BLIND_FIELD, **_COLOUR_BLIND_STONE},
        ),
    )
}
"""The themes by name, in the order in which a picker shows them."""

DEFAULT_THEME: Final = "dark"


class Brush:
    """Turns ink into styles for one theme on one terminal.

    ``colour_count`` is how many colours the terminal has: 0 for none at all, 16, 256 or more. ``style`` is the
    style of an ink, ``style_on`` the same over the style of what is around it.
    """

    def __init__(self, theme: Theme, *, is_stone: bool, colour_count: int) -> None:
        self._palette: Palette = {}
        if 0 < colour_count <= 16:
            self._palette = _STONE_16 if is_stone else _FIELD_16
            if not theme.ui.dark:
                self._palette = {**self._palette, **_LABELS_ON_LIGHT_16}
        elif colour_count:
            self._palette = theme.stone if is_stone else theme.field
        if colour_count == 256:
            others = STONE_256 if is_stone else FIELD_256
            self._palette = {**self._palette, **others.get(theme.name, {})}
        self.style = lru_cache(maxsize=1024)(self._style)
        self.style_on = lru_cache(maxsize=2048)(self._style_on)

    def _style_on(self, base: Style, ink: Ink) -> Style:
        return base + self.style(ink)

    def _style(self, ink: Ink) -> Style:
        fg = self._palette.get(ink.fg) if ink.fg else None
        bg = self._palette.get(ink.bg) if ink.bg else None
        is_lit = not self._palette and ink.bg in (Role.CURSOR, Role.PICKED)
        return Style(
            color=fg,
            bgcolor=bg,
            bold=ink.bold or None,
            dim=ink.dim or None,
            reverse=(ink.reverse != is_lit) or None,
            underline=ink.underline or (not self._palette and ink.bg is Role.HOVER) or None,
        )


def theme_named(name: str) -> Theme:
    """Return the theme called ``name``, or the default for an unknown name (from an old settings file)."""
    return THEMES.get(name, THEMES[DEFAULT_THEME])
