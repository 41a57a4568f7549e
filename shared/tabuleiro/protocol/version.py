"""The names under which this protocol is negotiated."""

from __future__ import annotations

from typing import Final

SUBPROTOCOL_MSGPACK: Final = "tabuleiro.v1.msgpack"
"""One binary frame a message, msgpack maps."""

SUBPROTOCOL_JSON: Final = "tabuleiro.v1.json"
"""One text frame a message, the same messages as JSON objects."""

SUBPROTOCOLS: Final = (SUBPROTOCOL_MSGPACK, SUBPROTOCOL_JSON)
"""In the order of the server's preference."""
