"""Messages as WebSocket frames: how a server writes one, and how the plainest of a client's is read.

Only what every move needs many times; the rest of the protocol, and all that is wrong, is left to websockets.
"""

from __future__ import annotations

import struct
from typing import Final

try:
    from websockets.speedups import apply_mask
except ImportError:  # websockets was built without its extension
    from websockets.utils import apply_mask

_WHOLE: Final = 0x80
_TEXT: Final = _WHOLE | 1
_BINARY: Final = _WHOLE | 2
_MASKED: Final = 0x80
_MASK_BYTES: Final = 4
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


def whole_message(data: bytes, limit_bytes: int) -> bytes | None:
    """Read the binary message that ``data`` is, if it is exactly one whole frame of a client.

    ``None`` for anything else, a message of more than ``limit_bytes`` among it.

    Source: RFC 6455, section 5.2.

    >>> whole_message(bytes([0x82, 0x85, 0, 0, 0, 0]) + b"hello", 100)
    b'hello'
    """
    if len(data) < 2 + _MASK_BYTES or data[0] != _BINARY:
        return None
    size, mask_at = data[1] - _MASKED, 2
    if size == _LENGTH_IN_2_BYTES:
        size, mask_at = int.from_bytes(data[2:4], "big"), 4
    elif not 0 <= size < _LENGTH_IN_2_BYTES:
        return None
    start = mask_at + _MASK_BYTES
    if len(data) != start + size or size > limit_bytes:
        return None
    return apply_mask(data[start:], data[mask_at:start])
