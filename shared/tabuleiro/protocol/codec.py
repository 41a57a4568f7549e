"""Bytes <-> messages, with limits. Reads nothing from the network and keeps no state.

A message is packed directly, and a frame of a client is read directly into the closed union. Only a frame that
does not fit goes through plain values, with every length bounded: for whole numbers written as fractions, since
the JSON of some languages knows no others, and to find out what is wrong with it. Nothing of a wrong shape gets
past this module.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Final, Protocol

import msgpack
import msgspec

from tabuleiro.errors import LocalProtocolError, RemoteProtocolError, shown
from tabuleiro.protocol.codes import CloseCode
from tabuleiro.protocol.messages import ClientMessage, ServerMessage
from tabuleiro.protocol.version import SUBPROTOCOL_JSON, SUBPROTOCOL_MSGPACK

CLIENT_FRAME_MAX_BYTES: Final = 16 * 1024
"""Largest frame a client may send."""

NESTING_MAX_COUNT: Final = 500
"""Deepest nesting of JSON that is looked into; no message needs more than five levels."""

SERVER_FRAME_MAX_BYTES: Final = 4 * 1024 * 1024
"""Largest frame a server may send: a snapshot of a very long match fits."""

MESSAGE_LEVELS_COUNT: Final = 8
"""Levels of maps and lists that are looked through for numbers: more than any message of a client has."""

REASON_MAX_CHARS: Final = 200
"""Longest reason that a client is told for a message of a wrong shape."""

_UNSAID_REASONS: Final[dict[type[Exception], str]] = {
    msgpack.exceptions.StackError: "nested too deep",
    msgpack.exceptions.FormatError: "a byte that begins no value",
}
"""The reasons where msgpack raises an error without a text."""

_CLIENT_TYPES: Final = frozenset(str(message.__struct_config__.tag) for message in ClientMessage.__args__)


class Codec(Protocol):
    """One way to write messages as frames."""

    subprotocol: str
    is_text: bool

    def encode(self, message: ClientMessage | ServerMessage) -> bytes:
        """Write a message. Raises: LocalProtocolError when the result would be over the limit."""
        ...

    def decode_client(self, frame: bytes) -> ClientMessage:
        """Read a message of a client. Raises: RemoteProtocolError, with a close code if it was no data at all."""
        ...

    def decode_server(self, frame: bytes) -> ServerMessage:
        """Read a message of a server. Raises: RemoteProtocolError."""
        ...


class MsgpackCodec:
    """msgpack maps with text keys; no extension types."""

    subprotocol = SUBPROTOCOL_MSGPACK
    is_text = False

    def __init__(self) -> None:
        self._encoder = msgspec.msgpack.Encoder()
        self._client_decoder = msgspec.msgpack.Decoder(ClientMessage)

    def encode(self, message: ClientMessage | ServerMessage) -> bytes:
        frame = self._encoder.encode(message)
        # Every frame passes here, and finding the kind of a message takes longer than writing a small one.
        if len(frame) > CLIENT_FRAME_MAX_BYTES:
            _check_sent(frame, message)
        return frame

    def decode_client(self, frame: bytes) -> ClientMessage:
        _check_size(frame, CLIENT_FRAME_MAX_BYTES)
        try:
            message: ClientMessage = self._client_decoder.decode(frame)
        except (msgspec.MsgspecError, ValueError, RecursionError):
            # The long way finds out what is wrong with it, and which request it was.
            return _to_client_message(_unpack(frame, CLIENT_FRAME_MAX_BYTES))
        return message

    def decode_server(self, frame: bytes) -> ServerMessage:
        return _to_server_message(_unpack(frame, SERVER_FRAME_MAX_BYTES))


class JsonCodec:
    """The same messages as JSON objects, for browsers and for reading along."""

    subprotocol = SUBPROTOCOL_JSON
    is_text = True

    def __init__(self) -> None:
        self._encoder = msgspec.json.Encoder()
        self._client_decoder = msgspec.json.Decoder(ClientMessage)

    def encode(self, message: ClientMessage | ServerMessage) -> bytes:
        frame = self._encoder.encode(message)
        # Every frame passes here, and finding the kind of a message takes longer than writing a small one.
        if len(frame) > CLIENT_FRAME_MAX_BYTES:
            _check_sent(frame, message)
        return frame

    def decode_client(self, frame: bytes) -> ClientMessage:
        _check_size(frame, CLIENT_FRAME_MAX_BYTES)
        try:
            message: ClientMessage = self._client_decoder.decode(frame)
        except (msgspec.MsgspecError, ValueError, RecursionError):
            return _to_client_message(_read_json(frame, CLIENT_FRAME_MAX_BYTES))
        return message

    def decode_server(self, frame: bytes) -> ServerMessage:
        return _to_server_message(_read_json(frame, SERVER_FRAME_MAX_BYTES))


def codec_for(subprotocol: str) -> Codec:
    """Return the codec of a negotiated subprotocol. Raises: KeyError."""
    makers: dict[str, Callable[[], Codec]] = {SUBPROTOCOL_MSGPACK: MsgpackCodec, SUBPROTOCOL_JSON: JsonCodec}
    return makers[subprotocol]()


def _check_sent(frame: bytes, message: ClientMessage | ServerMessage) -> None:
    limit_bytes = CLIENT_FRAME_MAX_BYTES if isinstance(message, ClientMessage) else SERVER_FRAME_MAX_BYTES
    if len(frame) > limit_bytes:
        raise LocalProtocolError(
            f"{type(message).__name__} takes {len(frame)} bytes, at most {limit_bytes} may be sent"
        )


def _check_size(frame: bytes, limit_bytes: int) -> None:
    if len(frame) > limit_bytes:
        raise RemoteProtocolError(
            f"a frame of {len(frame)} bytes, at most {limit_bytes} are allowed", CloseCode.TOO_BIG
        )


def _unpack(frame: bytes, limit_bytes: int) -> Any:
    _check_size(frame, limit_bytes)
    try:
        return msgpack.unpackb(
            frame,
            raw=False,
            strict_map_key=True,
            max_str_len=limit_bytes,
            max_bin_len=0,
            max_array_len=limit_bytes,
            max_map_len=1000,
            max_ext_len=0,
        )
    except (ValueError, msgpack.exceptions.UnpackException) as error:
        reason = _UNSAID_REASONS.get(type(error)) or str(error)
        raise RemoteProtocolError(f"not a msgpack message: {reason}", CloseCode.INVALID_DATA) from error


def _read_json(frame: bytes, limit_bytes: int) -> Any:
    _check_size(frame, limit_bytes)
    try:
        value = msgspec.json.decode(frame)
    except msgspec.ValidationError as error:
        # It is JSON, with a number that no computer holds, e.g. 1e400.
        raise RemoteProtocolError(f"not a message: {error}") from error
    except (ValueError, RecursionError) as error:
        raise RemoteProtocolError(f"not a JSON message: {error}", CloseCode.INVALID_DATA) from error
    if _is_deeper_than(NESTING_MAX_COUNT, value):
        raise RemoteProtocolError("not a JSON message: nested too deep", CloseCode.INVALID_DATA)
    return value


def _is_deeper_than(levels_count: int, value: Any) -> bool:
    """Return True if lists and maps are nested deeper; each version of Python has a limit of its own."""
    inside = [value]
    for _ in range(levels_count + 1):
        lists = [
            each.values() if isinstance(each, dict) else each for each in inside if isinstance(each, dict | list)
        ]
        inside = [item for items in lists for item in items]
    return bool(inside)


def _with_whole_numbers(value: Any, levels_count: int = MESSAGE_LEVELS_COUNT) -> Any:
    """Return a value with whole numbers in the place of fractions that are whole, as 1.0 is.

    Beyond 2^53 a fraction may stand for another number than the sender meant, and is left alone. So is what is
    nested deeper than any message.
    """
    if isinstance(value, float):
        return int(value) if value.is_integer() and abs(value) <= 2**53 else value
    if not levels_count:
        return value
    if isinstance(value, dict):
        return {key: _with_whole_numbers(item, levels_count - 1) for key, item in value.items()}
    if isinstance(value, list):
        return [_with_whole_numbers(item, levels_count - 1) for item in value]
    return value


def _to_client_message(value: Any) -> ClientMessage:
    value = _with_whole_numbers(value)
    if not isinstance(value, dict):
        raise RemoteProtocolError(f"a message is a map, got {type(value).__name__}")
    request_id = value.get("id")
    known_id = request_id if type(request_id) is int and 0 <= request_id < 2**53 else None
    kind = value.get("type")
    if not isinstance(kind, str) or kind not in _CLIENT_TYPES:
        known = ", ".join(sorted(_CLIENT_TYPES))
        raise RemoteProtocolError(f"unknown type {shown(kind)}, expected one of {known}", None, known_id)
    try:
        message: ClientMessage = msgspec.convert(value, ClientMessage)
    except msgspec.ValidationError as error:
        reason = str(error)
        if len(reason) > REASON_MAX_CHARS:
            # It may quote a long key of the message.
            reason = reason[:REASON_MAX_CHARS] + "..."
        raise RemoteProtocolError(f"{kind}: {reason}", None, known_id) from error
    return message


def _to_server_message(value: Any) -> ServerMessage:
    try:
        message: ServerMessage = msgspec.convert(value, ServerMessage)
    except msgspec.ValidationError as error:
        raise RemoteProtocolError(f"unexpected message from the server: {error}") from error
    return message
