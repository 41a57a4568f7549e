"""Folders and files of this user, and files named on a command line."""

from __future__ import annotations

import os
import sys
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Final

import msgspec
import platformdirs

from tabuleiro.errors import ClientError

APP_NAME: Final = "tabuleiro"

CONFIG_VARIABLE: Final = "TABULEIRO_CONFIG_DIR"
"""The environment variable that moves the folder of names and settings."""

SETTINGS_FILE: Final = "settings.json"

DATA_VARIABLE: Final = "TABULEIRO_DATA_DIR"
"""The environment variable that moves the folder of local matches."""


def config_folder() -> Path:
    """Return the folder of names and settings; it need not exist yet."""
    return Path(os.environ.get(CONFIG_VARIABLE) or platformdirs.user_config_path(APP_NAME, appauthor=False))


def kept_setting(name: str) -> object:
    """Return a setting of the screens as it stands in their file; ``None`` where it cannot be read."""
    try:
        return msgspec.json.decode((config_folder() / SETTINGS_FILE).read_bytes(), type=dict[str, object]).get(
            name
        )
    except (OSError, msgspec.DecodeError, UnicodeDecodeError):
        return None


def data_folder() -> Path:
    """Return the folder of local matches; it need not exist yet."""
    return Path(os.environ.get(DATA_VARIABLE) or usual_data_folder())


def usual_data_folder() -> Path:
    """Return the folder of local matches where no variable moves it."""
    return platformdirs.user_data_path(APP_NAME, appauthor=False)


@contextmanager
def replacement(path: Path, data: bytes, *, is_flushed: bool = False) -> Iterator[str]:
    """Write ``data`` beside ``path``, and put it in the place of ``path`` when the context ends without a fault.

    Gives the name of the new file, which nobody else can read, not even for a moment. The folder must be there.
    ``is_flushed``: it is on the disk before it takes the place.

    Raises: OSError, and then the file is as it was.
    """
    # mkstemp makes the file with mode 0600: it may hold a token, or the secret of a private room.
    handle, temporary = tempfile.mkstemp(prefix=".new-", dir=path.parent)
    try:
        with open(handle, "wb") as file:
            file.write(data)
            if is_flushed:
                file.flush()
                os.fsync(file.fileno())
        yield temporary
        os.replace(temporary, path)
    except BaseException:
        with suppress(FileNotFoundError):
            os.unlink(temporary)
        raise


STANDARD_INPUT = "-"


def read_bytes(name: str, max_bytes: int = -1) -> bytes:
    """Return the bytes of the file ``name``, ``-`` being standard input, and no more than ``max_bytes`` of them.

    Raises: ClientError that says why it cannot be read.
    """
    try:
        if name == STANDARD_INPUT:
            return sys.stdin.buffer.read(max_bytes)
        with open(name, "rb") as file:
            return file.read(max_bytes)
    except (OSError, ValueError) as error:
        raise ClientError(f"cannot read {name}: {getattr(error, 'strerror', None) or error}") from error
