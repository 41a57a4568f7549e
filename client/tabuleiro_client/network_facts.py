"""Facts about addresses, and why a connection could not be made, in words. Connects to nothing."""

from __future__ import annotations

import ipaddress
import socket
import ssl
from contextlib import suppress
from urllib.parse import urlsplit

from tabuleiro.notation.plain_text import strip_controls


def connecting_reason(error: Exception) -> str:
    """Why a connection could not be made, as the end of a sentence."""
    if isinstance(error, ConnectionRefusedError):
        return "no server listens there"
    if isinstance(error, TimeoutError):
        return "it does not answer"
    if isinstance(error, socket.gaierror):
        return "there is no such host"
    if isinstance(error, ssl.SSLError):
        return f"no secure connection: {strip_controls(error.reason or str(error))}"
    return strip_controls(str(error)) or type(error).__name__


def is_loopback(url: str) -> bool:
    """Whether the server of ``url`` is this machine."""
    host = urlsplit(url).hostname or ""
    with suppress(ValueError):
        return ipaddress.ip_address(host).is_loopback
    return host == "localhost"
