"""Codes of rooms as people type and read them aloud. Drawing one is left to the server."""

from __future__ import annotations

from typing import Final

from tabuleiro.errors import NotationError
from tabuleiro.ids import ROOM_CODE_LENGTH, ROOM_CODE_LETTERS, RoomCode

ROOM_CODE_RULE: Final = f"the code of a room: {ROOM_CODE_LENGTH} letters and digits, e.g. K7MQ4"
"""What a code looks like, in words."""


def parse_room_code(text: str) -> RoomCode:
    """Read a room code; case and spaces don't matter. Raises: NotationError for what can be none.

    >>> parse_room_code(" k7 mq4 ")
    'K7MQ4'
    """
    code = "".join(text.split()).upper()
    if len(code) != ROOM_CODE_LENGTH or not set(code) <= set(ROOM_CODE_LETTERS):
        raise NotationError(text, ROOM_CODE_RULE)
    return RoomCode(code)
