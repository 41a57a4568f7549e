"""The code of a room as people pass it on, with the secret of a private one: ``K7MQ4`` or ``K7MQ4-SECRET``."""

from __future__ import annotations

import re
from typing import Final

from tabuleiro.errors import NotationError
from tabuleiro.ids import ROOM_CODE_LENGTH, ROOM_CODE_LETTERS, RoomCode

_ADDRESS: Final = re.compile(r"(\w+)(?:\s*[\s:/-]\s*(\S+))?", re.ASCII)


def parse_room_address(text: str) -> tuple[RoomCode, str | None]:
    """Read the code of a room and its secret, ``None`` when there is none. Raises: NotationError.

    >>> parse_room_address(" k7mq4 "), parse_room_address("K7MQ4-s3cr-et")
    (('K7MQ4', None), ('K7MQ4', 's3cr-et'))
    """
    found = _ADDRESS.fullmatch(text.strip())
    code = found[1].upper() if found is not None else ""
    if found is None or len(code) != ROOM_CODE_LENGTH or not set(code) <= set(ROOM_CODE_LETTERS):
        raise NotationError(text, f"the code of a room: {ROOM_CODE_LENGTH} letters and digits, e.g. K7MQ4")
    return RoomCode(code), found[2]


def format_room_address(code: RoomCode, secret: str | None) -> str:
    """Write what :func:`parse_room_address` reads."""
    return code if secret is None else f"{code}-{secret}"
