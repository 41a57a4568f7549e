"""Frames that the server writes itself are those that websockets would write."""

import pytest
from websockets.frames import Frame, Opcode

from tabuleiro_server.net.framing import framed


@pytest.mark.parametrize("size", [0, 1, 125, 126, 127, 65_535, 65_536])
@pytest.mark.parametrize("is_text", [True, False])
def test_a_message_of_any_size_is_framed_as_by_websockets(size: int, is_text: bool) -> None:
    message = b"m" * size
    opcode = Opcode.TEXT if is_text else Opcode.BINARY
    assert framed(message, is_text=is_text) == Frame(opcode, message).serialize(mask=False)
