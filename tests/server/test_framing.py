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


@pytest.mark.parametrize(
    "data",
    [
        b"",
        b"\x82",
        masked(b"text", Opcode.TEXT),
        masked(b"first of two", fin=False),
        masked(b"second of two", Opcode.CONT),
        masked(b"ping", Opcode.PING),
        masked(b"\x03\xe8", Opcode.CLOSE),
        masked(b"cut off")[:-1],
        masked(b"one") + masked(b"two"),
        masked(b"m" * 126)[:3],
        masked(b"m" * 101),
        masked(b"m" * 70_000),
        Frame(Opcode.BINARY, b"no mask").serialize(mask=False),
        b"\xc2" + masked(b"reserved bit")[1:],
    ],
)
def test_whatever_else_comes_is_left_to_websockets(data: bytes) -> None:
    assert whole_message(data, 100) is None
