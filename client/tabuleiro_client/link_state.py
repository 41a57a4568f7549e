"""How a connection is, as a person wants to know it; apart from the link, so that telling it loads no network."""

from __future__ import annotations

from enum import StrEnum


class LinkState(StrEnum):
    """What a person wants to know about the connection."""

    CONNECTING = "connecting"
    CONNECTED = "connected"
    RECONNECTING = "reconnecting"
    CLOSED = "closed"
