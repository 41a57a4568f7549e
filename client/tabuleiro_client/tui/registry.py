"""Screens that are opened by a name alone, e.g. from a menu or the command palette: an explicit list.

A screen that needs to be told something (a room, a record) is made where that is known, and pushed.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any, Final

from textual.screen import Screen

from tabuleiro_client.tui.screens.help import HelpScreen

SCREENS: Final[Mapping[str, Callable[[], Screen[Any]]]] = {
    "help": HelpScreen,
}
"""By name; the application opens them with ``push_screen(name)``."""
