"""Addresses of servers as people type them."""

from __future__ import annotations

import ipaddress
from typing import Final
from urllib.parse import urlsplit

from tabuleiro.errors import ConfigError, shown

DEFAULT_PORT: Final = 8765
"""The port of a server that is named without a scheme and a port."""

_SCHEMES: Final = {"ws": "ws", "wss": "wss", "http": "ws", "https": "wss"}


def parse_server_url(text: str, source: str = "--server") -> str:
    """Return the address as a WebSocket URL; a host alone means ``ws://`` and the port that servers usually have.

    Raises: ConfigError, naming ``source``, when it is no address.

    >>> parse_server_url("192.168.0.7"), parse_server_url("https://games.example.org/"), parse_server_url("::1")
    ('ws://192.168.0.7:8765', 'wss://games.example.org', 'ws://[::1]:8765')
    """
    stripped = _with_brackets(text.strip())
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
    if port is None and whole != stripped:
        port = DEFAULT_PORT
    return format_server_url(host, port, _SCHEMES[parts.scheme]) + parts.path.rstrip("/")


def _with_brackets(text: str) -> str:
    """Put an IPv6 address into the brackets that belong to it, where somebody typed it without."""
    scheme, separator, rest = text.rpartition("://")
    host, slash, path = rest.partition("/")
    try:
        ipaddress.IPv6Address(host)
    except ValueError:
        return text
    return f"{scheme}{separator}[{host}]{slash}{path}"


def format_server_url(host: str, port: int | None, scheme: str = "ws") -> str:
    """Return the URL of a server; ``port`` ``None`` stands for the port of the scheme.

    >>> format_server_url("2001:db8::7", 8765)
    'ws://[2001:db8::7]:8765'
    """
    shown_host = f"[{host}]" if ":" in host else host
    return f"{scheme}://{shown_host}" + ("" if port is None else f":{port}")


def page_url(server_url: str) -> str:
    """Return the address of the page in the browser.

    >>> page_url("wss://play.example.org")
    'https://play.example.org'
    """
    return "http" + server_url.removeprefix("ws")
