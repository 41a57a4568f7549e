"""What this user chose about the looks and ways of the Textual client, kept in one file of the config folder.

A screen to change them is left to :mod:`tabuleiro_client.tui.screens`; the application applies what is saved.
"""

from __future__ import annotations

import os
import tempfile
from contextlib import suppress
from pathlib import Path
from typing import Final, Literal

import msgspec

from tabuleiro.errors import ClientError

FILE_NAME: Final = "settings.json"

BoardSize = Literal["auto", "small", "medium", "large"]


class Settings(msgspec.Struct, frozen=True, omit_defaults=True):
    """The choices. A field that a file lacks has its default; fields that are not known are passed over.

    ``theme`` is a name of :data:`tabuleiro_client.tui.themes.THEMES`. ``board_size`` ``auto`` takes the largest
    that fits. ``shows_legal``: mark what may be chosen. ``asks_before_sending``: a complete turn of several
    actions waits for a key. ``rings_bell`` and ``changes_title``: on the own turn while nobody looks.
    """

    theme: str = "dark"
    is_ascii: bool = False
    board_size: BoardSize = "auto"
    shows_legal: bool = True
    asks_before_sending: bool = True
    rings_bell: bool = True
    changes_title: bool = True
    name: str = ""


def load_settings(folder: Path) -> Settings:
    """Read the settings kept in ``folder``; the defaults where there are none, or none that can be read."""
    try:
        return msgspec.json.decode((folder / FILE_NAME).read_bytes(), type=Settings)
    except (OSError, msgspec.DecodeError, UnicodeDecodeError):
        return Settings()


def save_settings(folder: Path, settings: Settings) -> None:
    """Write the settings, all or nothing. Raises: ClientError."""
    try:
        folder.mkdir(parents=True, exist_ok=True)
        handle, temporary = tempfile.mkstemp(prefix=".new-", dir=folder)
        try:
            with open(handle, "wb") as file:
                file.write(msgspec.json.format(msgspec.json.encode(settings)) + b"\n")
            os.replace(temporary, folder / FILE_NAME)
        except BaseException:
            with suppress(FileNotFoundError):
                os.unlink(temporary)
            raise
    except OSError as error:
        raise ClientError(f"the settings cannot be saved in {folder}: {error.strerror}") from error
