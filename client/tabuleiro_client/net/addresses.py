"""The server and the room that a command line names. Connects to nothing."""

from __future__ import annotations

import os
import re
from collections.abc import Mapping
from typing import Final

from tabuleiro.errors import ClientError, NotationError
from tabuleiro.ids import RoomCode
from tabuleiro.protocol.addresses import DEFAULT_PORT, parse_server_url
from tabuleiro.protocol.room_codes import ROOM_CODE_RULE, parse_room_code

DEFAULT_SERVER: Final = f"ws://127.0.0.1:{DEFAULT_PORT}"
"""Where `tabuleiro serve` listens when nothing else is said."""

SERVER_VARIABLE: Final = "TABULEIRO_SERVER"
"""The environment variable that names the server to use when the command line names none."""


def default_server(environ: Mapping[str, str] | None = None) -> str:
    """Return the server to use when none is named. Raises: ConfigError if the variable holds no address."""
    named = (os.environ if environ is None else environ).get(SERVER_VARIABLE)
    return parse_server_url(named, SERVER_VARIABLE) if named else DEFAULT_SERVER


def chosen_server(text: str | None) -> str:
    """Return the server that a command line names, or the default one. Raises: ConfigError."""
    return default_server() if text is None else parse_server_url(text)


_ADDRESS: Final = re.compile(r"(\w+)(?:\s*[\s:/-]\s*(\S+))?", re.ASCII)


def parse_room_address(text: str) -> tuple[RoomCode, str | None]:
    """Read the code of a room and its secret, ``None`` when there is none. Raises: NotationError.

    >>> parse_room_address(" k7mq4 "), parse_room_address("K7MQ4-s3cr-et")
    (('K7MQ4', None), ('K7MQ4', 's3cr-et'))
    """
    found = _ADDRESS.fullmatch(text.strip())
    if found is None:
        raise NotationError(text, ROOM_CODE_RULE)
    return parse_room_code(found[1]), found[2]


def named_room(text: str) -> tuple[RoomCode, str | None]:
    """Read the room that a command line names. Raises: ClientError."""
    try:
        return parse_room_address(text)
    except NotationError as error:
        raise ClientError(str(error)) from error


def format_room_address(code: RoomCode, secret: str | None) -> str:
    """Write what :func:`parse_room_address` reads."""
    return code if secret is None else f"{code}-{secret}"
