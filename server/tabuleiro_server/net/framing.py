"""Messages as WebSocket frames, for a server that sends each of them whole.

Only what every move needs many times; the rest of the protocol, and all that is received, is left to websockets.
"""

from __future__ import annotations

import struct
from typing import Final

_WHOLE: Final = 0x80
_TEXT: Final = _WHOLE | 1
_BINARY: Final = _WHOLE | 2
_LENGTH_IN_2_BYTES: Final = 126
_LENGTH_IN_8_BYTES: Final = 127
_SHORT_HEAD: Final = struct.Struct("!BB")
_MIDDLE_HEAD: Final = struct.Struct("!BBH")
_LONG_HEAD: Final = struct.Struct("!BBQ")


def framed(message: bytes, *, is_text: bool) -> bytes:
    """Write a message as one frame without a mask, as servers send it.

    Source: RFC 6455, section 5.2.

    >>> framed(b"hello", is_text=True)
    b'\\x81\\x05hello'
    """
    kind, size = _TEXT if is_text else _BINARY, len(message)
    if size < _LENGTH_IN_2_BYTES:
        return _SHORT_HEAD.pack(kind, size) + message
    if size < 1 << 16:
        return _MIDDLE_HEAD.pack(kind, _LENGTH_IN_2_BYTES, size) + message
    return _LONG_HEAD.pack(kind, _LENGTH_IN_8_BYTES, size) + message
