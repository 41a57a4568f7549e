"""The name of the person at this machine, for servers on which they have none yet."""

from __future__ import annotations

import getpass

from tabuleiro.errors import NotationError
from tabuleiro.protocol.names import parse_name


def login_name() -> str:
    """The name of the person at this machine as a guest name, ``player`` where it can't be one."""
    try:
        return parse_name(getpass.getuser())
    except (NotationError, OSError, KeyError, ImportError):
        return "player"
