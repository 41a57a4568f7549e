"""Where this user's files live. Reads and writes none of them."""

from __future__ import annotations

import os
from pathlib import Path
from typing import Final

import platformdirs

APP_NAME: Final = "tabuleiro"

CONFIG_VARIABLE: Final = "TABULEIRO_CONFIG_DIR"
"""The environment variable that moves the folder of names and settings."""

DATA_VARIABLE: Final = "TABULEIRO_DATA_DIR"
"""The environment variable that moves the folder of local matches."""


def config_folder() -> Path:
    """The folder of names and settings; it need not exist yet."""
    return Path(os.environ.get(CONFIG_VARIABLE) or platformdirs.user_config_path(APP_NAME, appauthor=False))


def data_folder() -> Path:
    """The folder of local matches; it need not exist yet."""
    return Path(os.environ.get(DATA_VARIABLE) or platformdirs.user_data_path(APP_NAME, appauthor=False))
