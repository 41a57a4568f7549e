"""Codes of rooms as people type and read them aloud. The server chooses them at random."""

from __future__ import annotations

from typing import Final

from tabuleiro.errors import NotationError
from tabuleiro.ids import ROOM_CODE_LENGTH, ROOM_CODE_LETTERS, RoomCode

ROOM_CODE_RULE: Final = f"the code of a room: {ROOM_CODE_LENGTH} letters and digits, e.g. K7MQ4"
"""The form of a code, in words."""


def parse_room_code(text: str) -> RoomCode:
    """Read a room code; case and spaces don't matter.

    Raises:
        NotationError: The text is no code.

    >>> parse_room_code(" k7 mq4 ")
    'K7MQ4'
    """
    code = "".join(text.split()).upper()
    if len(code) != ROOM_CODE_LENGTH or not set(code) <= set(ROOM_CODE_LETTERS):
        raise NotationError(text, ROOM_CODE_RULE)
    return RoomCode(code)
