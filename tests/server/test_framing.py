"""Frames that the server writes or reads itself are those that websockets would write and read."""

import pytest
from websockets.frames import Frame, Opcode

from tabuleiro_server.net.framing import framed, whole_message


@pytest.mark.parametrize("size", [0, 1, 125, 126, 127, 65_535, 65_536])
@pytest.mark.parametrize("is_text", [True, False])
def test_a_message_of_any_size_is_framed_as_by_websockets(size: int, is_text: bool) -> None:
    message = b"m" * size
    opcode = Opcode.TEXT if is_text else Opcode.BINARY
    assert framed(message, is_text=is_text) == Frame(opcode, message).serialize(mask=False)


def masked(data: bytes, opcode: Opcode = Opcode.BINARY, *, fin: bool = True) -> bytes:
    """A frame as a client writes it."""
    return Frame(opcode, data, fin).serialize(mask=True)


@pytest.mark.parametrize("size", [0, 1, 125, 126, 127, 16_384])
def test_a_whole_message_of_a_client_is_read(size: int) -> None:
    assert whole_message(masked(b"m" * size), 16_384) == b"m" * size


OTHERS = {
    "nothing": b"",
    "half a head": b"\x82",
    "text": masked(b"text", Opcode.TEXT),
    "first of two": masked(b"first of two", fin=False),
    "second of two": masked(b"second of two", Opcode.CONT),
    "ping": masked(b"ping", Opcode.PING),
    "close": masked(b"\x03\xe8", Opcode.CLOSE),
    "cut off": masked(b"cut off")[:-1],
    "two at once": masked(b"one") + masked(b"two"),
    "cut off in its length": masked(b"m" * 126)[:3],
    "too long": masked(b"m" * 101),
    "far too long": masked(b"m" * 70_000),
    "no mask": Frame(Opcode.BINARY, b"no mask").serialize(mask=False),
    "reserved bit": b"\xc2" + masked(b"reserved bit")[1:],
}


# The masks are drawn anew each time, so the bytes are no names that two processes could agree on.
@pytest.mark.parametrize("data", OTHERS.values(), ids=OTHERS.keys())
def test_whatever_else_comes_is_left_to_websockets(data: bytes) -> None:
    assert whole_message(data, 100) is None
