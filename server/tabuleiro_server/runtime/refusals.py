"""Reading what rooms clients name, and the answers when a room is not to be had."""

from __future__ import annotations

import structlog

from tabuleiro.errors import CommandError, NotationError, StoreError
from tabuleiro.ids import RoomCode
from tabuleiro.protocol.codes import ErrorCode
from tabuleiro.protocol.room_codes import parse_room_code

log = structlog.get_logger(__name__)


def code_of_room(text: str) -> RoomCode:
    """Read the code that a client names. Raises: CommandError no-such-room for what can be none."""
    try:
        return parse_room_code(text)
    except NotationError as error:
        raise no_such_room(text) from error


def no_such_room(text: str) -> CommandError:
    """The refusal for a code that names no room."""
    return CommandError(ErrorCode.NO_SUCH_ROOM, f"there is no room {text[:20]!a}")


def unavailable(error: StoreError) -> CommandError:
    """The refusal when the disk does not do what it should; the reason goes to the log."""
    log.warning("storage unavailable", reason=str(error))
    return CommandError(ErrorCode.STORAGE_UNAVAILABLE, "the server cannot store this now; try again")


def damaged(code: RoomCode) -> CommandError:
    """The refusal to whoever asks something of a room in quarantine."""
    message = f"room {code} is out of order, and stays as it is until the server's host has looked into it"
    return CommandError(ErrorCode.ROOM_DAMAGED, message)
