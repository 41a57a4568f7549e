"""The user's settings of the screens, kept in one file of the config folder.

A screen to change them is left to :mod:`tabuleiro_client.tui.screens`; the application applies what is saved.
"""

from __future__ import annotations

import os
from pathlib import Path
from typing import Literal

import msgspec

from tabuleiro.errors import ClientError, NotationError, shown
from tabuleiro.protocol.names import parse_name
from tabuleiro_client.net.files import SETTINGS_FILE, replacement
from tabuleiro_client.tui.themes import THEMES

BoardSize = Literal["auto", "small", "medium", "large", "huge", "giant"]


class Settings(msgspec.Struct, frozen=True, omit_defaults=True):
    """The choices. A field that a file lacks has its default; fields that are not known are passed over.

    ``theme`` is a name of :data:`tabuleiro_client.tui.themes.THEMES`. ``board_size`` ``auto`` takes the largest
    that fits. ``shows_legal``: mark what may be chosen. ``asks_before_sending``: a complete turn of several
    actions waits for a key. ``lays_forced``: a second stone of Iris with one cell left is laid by itself.
    ``rings_bell`` and ``changes_title``: on the own turn while nobody looks.
    ``has_report_cells``: cells have the names of the games' reports, in rooms and replays opened from then on.
    """

    theme: str = "dark"
    is_ascii: bool = False
    board_size: BoardSize = "auto"
    shows_legal: bool = True
    asks_before_sending: bool = True
    lays_forced: bool = True
    rings_bell: bool = True
    changes_title: bool = True
    has_report_cells: bool = False
    name: str = ""


class SettingsFile:
    """The file in ``folder``. ``problem`` says what of it could not be used, empty for nothing."""

    def __init__(self, folder: Path) -> None:
        self.path = folder / SETTINGS_FILE
        self.problem = ""

    def load(self) -> Settings:
        """Read the settings: what cannot be read is as usual, and said in ``problem``."""
        self.problem = ""
        try:
            written = msgspec.json.decode(self.path.read_bytes(), type=dict[str, object])
        except FileNotFoundError:
            return Settings()
        except OSError as error:
            return self._as_usual(str(error.strerror))
        except (msgspec.DecodeError, UnicodeDecodeError):
            return self._as_usual("it is damaged")
        settings, refused = Settings(), []
        for name in Settings.__struct_fields__:
            if name not in written:
                continue
            try:
                settings = _changed(settings, name, written[name])
            except (msgspec.ValidationError, NotationError):
                refused.append(f"{name} {shown(str(written[name]))}")
        if refused:
            self.problem = f"not understood in {self.path}: {', '.join(refused)}"
        return settings

    def save(self, settings: Settings) -> None:
        """Write the settings, all or nothing; a file not understood is kept beside it. Raises: ClientError."""
        folder = self.path.parent
        try:
            folder.mkdir(parents=True, exist_ok=True)
            with replacement(self.path, msgspec.json.format(msgspec.json.encode(settings)) + b"\n"):
                if self.problem:
                    os.replace(self.path, self.path.with_name(f"{SETTINGS_FILE}.damaged"))
                    self.problem = ""
        except OSError as error:
            raise ClientError(f"the settings cannot be saved in {folder}: {error.strerror}") from error

    def _as_usual(self, reason: str) -> Settings:
        self.problem = f"{self.path} cannot be read ({reason}): the standard settings are used"
        return Settings()


def _changed(settings: Settings, name: str, value: object) -> Settings:
    """Return changed settings. Raises: msgspec.ValidationError, NotationError for an invalid value."""
    checked = getattr(msgspec.convert({name: value}, Settings), name)
    if name == "name" and checked:
        parse_name(checked)
    if name == "theme" and checked not in THEMES:
        raise NotationError(checked, "the name of a theme")
    return msgspec.structs.replace(settings, **{name: checked})
