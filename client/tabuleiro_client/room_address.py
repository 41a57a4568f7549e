"""The code of a room as people pass it on, with the secret of a private one: ``K7MQ4`` or ``K7MQ4-SECRET``."""

from __future__ import annotations

import re
from typing import Final

from tabuleiro.errors import ClientError, NotationError
from tabuleiro.ids import RoomCode
from tabuleiro.protocol.room_codes import ROOM_CODE_RULE, parse_room_code

_ADDRESS: Final = re.compile(r"(\w+)(?:\s*[\s:/-]\s*(\S+))?", re.ASCII)


def parse_room_address(text: str) -> tuple[RoomCode, str | None]:
    """Read the code of a room and its secret, ``None`` when there is none. Raises: NotationError.

    >>> parse_room_address(" k7mq4 "), parse_room_address("K7MQ4-s3cr-et")
    (('K7MQ4', None), ('K7MQ4', 's3cr-et'))
    """
    found = _ADDRESS.fullmatch(text.strip())
    if found is None:
        raise NotationError(text, ROOM_CODE_RULE)
    return parse_room_code(found[1]), found[2]


def named_room(text: str) -> tuple[RoomCode, str | None]:
    """Read the room that a command line names. Raises: ClientError."""
    try:
        return parse_room_address(text)
    except NotationError as error:
        raise ClientError(str(error)) from error


def format_room_address(code: RoomCode, secret: str | None) -> str:
    """Write what :func:`parse_room_address` reads."""
    return code if secret is None else f"{code}-{secret}"
