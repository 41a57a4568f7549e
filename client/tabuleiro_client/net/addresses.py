"""Reading the address of a server as people type it. Connects to nothing."""

from __future__ import annotations

import os
import re
from collections.abc import Mapping
from typing import Final
from urllib.parse import urlsplit

from tabuleiro.errors import ClientError, ConfigError, NotationError, shown
from tabuleiro.ids import RoomCode
from tabuleiro.protocol.room_codes import ROOM_CODE_RULE, parse_room_code

DEFAULT_PORT: Final = 8765
"""Where a host is asked that is named without a scheme and a port."""

DEFAULT_SERVER: Final = f"ws://127.0.0.1:{DEFAULT_PORT}"
"""Where `tabuleiro serve` listens when nothing else is said."""

SERVER_VARIABLE: Final = "TABULEIRO_SERVER"
"""The environment variable that names the server to use when the command line names none."""

_SCHEMES: Final = {"ws": "ws", "wss": "wss", "http": "ws", "https": "wss"}


def default_server(environ: Mapping[str, str] | None = None) -> str:
    """Return the server to use when none is named. Raises: ConfigError if the variable holds no address."""
    named = (os.environ if environ is None else environ).get(SERVER_VARIABLE)
    return parse_server_url(named, SERVER_VARIABLE) if named else DEFAULT_SERVER


def chosen_server(text: str | None) -> str:
    """Return the server that a command line names, or the default one. Raises: ConfigError."""
    return default_server() if text is None else parse_server_url(text)


def parse_server_url(text: str, source: str = "--server") -> str:
    """Return the address as a WebSocket URL; a host alone means ``ws://`` and the port that servers usually have.

    Raises: ConfigError, naming ``source``, when it is no address.

    >>> parse_server_url("192.168.0.7"), parse_server_url("https://games.example.org/")
    ('ws://192.168.0.7:8765', 'wss://games.example.org')
    """
    stripped = text.strip()
    whole = stripped if "://" in stripped else f"ws://{stripped}"
    wrong = ConfigError(source, shown(text), "an address like ws://HOST:PORT or wss://HOST")
    if not whole.isascii() or not whole.isprintable() or " " in whole:
        raise wrong
    try:
        parts = urlsplit(whole)
        host, port = parts.hostname, parts.port
    except ValueError as error:
        raise wrong from error
    if parts.scheme not in _SCHEMES or not host or parts.query or parts.fragment or parts.username is not None:
        raise wrong
    shown_host = f"[{host}]" if ":" in host else host
    if port is None and whole != stripped:
        port = DEFAULT_PORT
    shown_port = "" if port is None else f":{port}"
    return f"{_SCHEMES[parts.scheme]}://{shown_host}{shown_port}{parts.path.rstrip('/')}"


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
