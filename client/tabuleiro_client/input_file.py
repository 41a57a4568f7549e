"""Reading the files that are named on a command line."""

from __future__ import annotations

import sys
from pathlib import Path

from tabuleiro.errors import ClientError

STANDARD_INPUT = "-"


def read_text(name: str) -> str:
    """The whole text of the file ``name`` in UTF-8; ``-`` is standard input. Line ends are kept as they are.

    Raises: ClientError that says why it cannot be read.
    """
    try:
        content = sys.stdin.buffer.read() if name == STANDARD_INPUT else Path(name).read_bytes()
    except OSError as error:
        raise ClientError(f"cannot read {name}: {error.strerror or error}") from error
    try:
        return content.decode("utf-8")
    except UnicodeDecodeError as error:
        raise ClientError(f"cannot read {name}: it is not UTF-8 text (byte {error.start})") from error
