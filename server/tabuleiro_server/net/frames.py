"""Frames of RFC 6455 as bytes: those that nearly all traffic is made of, and no others.

Whole binary frames from a client are found here, and heads are put before whole frames to one. Everything else
(the handshake, text, fragments, control frames, whatever breaks the rules) is for the websockets library, to which
:class:`tabuleiro_server.net.newcomer.Newcomer` leaves it.
"""

from __future__ import annotations

import struct
from enum import Enum
from typing import Final

from websockets.frames import apply_mask  # type: ignore[attr-defined]

TEXT: Final = 0x1
BINARY: Final = 0x2

_FINAL: Final = 0x80
_MASKED: Final = 0x80
_WHOLE_BINARY: Final = _FINAL | BINARY
_CONTROLS: Final = frozenset({_FINAL | 0x8, _FINAL | 0x9, _FINAL | 0xA})
_SHORT_MAX_BYTES: Final = 125
_MEDIUM_MAX_BYTES: Final = 0xFFFF
_MEDIUM_MARK: Final = 126
_LONG_MARK: Final = 127
_MASK_BYTES: Final = 4
_MEDIUM_SIZE: Final = struct.Struct("!H")
_MEDIUM_HEAD: Final = struct.Struct("!BBH")
_LONG_HEAD: Final = struct.Struct("!BBQ")


class Found(Enum):
    """What stands at some place of a client's stream of bytes."""

    DATA = "data"
    """A whole binary message in one frame."""
    CONTROL = "control"
    """A whole ping, pong or close."""
    PART = "part"
    """The beginning of a frame, more of which has to come."""
    FOREIGN = "foreign"
    """Something else, right or wrong."""


def find_frame(data: bytes, start: int, limit_bytes: int) -> tuple[Found, int, bytes]:
    """Tell what stands in ``data`` from ``start`` on, where it ends, and what it says.

    The payload is empty unless a message is found. A message of more than ``limit_bytes``, and what comes without
    a mask, is foreign.

    >>> find_frame(bytes((0x82, 0x82, 1, 2, 3, 4, 0x69, 0x6B, 0x82)), 0, limit_bytes=100)
    (<Found.DATA: 'data'>, 8, b'hi')
    """
    available_bytes = len(data) - start
    if available_bytes < 2:
        return Found.PART, start, b""
    kind, size, body = data[start], data[start + 1] ^ _MASKED, start + 2
    if size > _MEDIUM_MARK or (kind != _WHOLE_BINARY and kind not in _CONTROLS):
        return Found.FOREIGN, start, b""
    if size == _MEDIUM_MARK:
        if available_bytes < 4:
            return Found.PART, start, b""
        (size,), body = _MEDIUM_SIZE.unpack_from(data, body), start + 4
    if size > (limit_bytes if kind == _WHOLE_BINARY else _SHORT_MAX_BYTES):
        return Found.FOREIGN, start, b""
    body += _MASK_BYTES
    end = body + size
    if len(data) < end:
        return Found.PART, start, b""
    if kind != _WHOLE_BINARY:
        return Found.CONTROL, end, b""
    return Found.DATA, end, apply_mask(data[body:end], data[body - _MASK_BYTES : body])


def frame_head(opcode: int, size_bytes: int) -> bytes:
    """What stands before the payload of a whole, unmasked frame, as servers send them.

    >>> frame_head(BINARY, 5), frame_head(TEXT, 300)
    (b'\\x82\\x05', b'\\x81~\\x01,')
    """
    if size_bytes <= _SHORT_MAX_BYTES:
        return bytes((_FINAL | opcode, size_bytes))
    if size_bytes <= _MEDIUM_MAX_BYTES:
        return _MEDIUM_HEAD.pack(_FINAL | opcode, _MEDIUM_MARK, size_bytes)
    return _LONG_HEAD.pack(_FINAL | opcode, _LONG_MARK, size_bytes)
