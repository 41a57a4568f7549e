"""Reading room codes, and the answers when a room is not to be had."""

from __future__ import annotations

import structlog

from tabuleiro.errors import CommandError, StoreError
from tabuleiro.ids import ROOM_CODE_LENGTH, ROOM_CODE_LETTERS, RoomCode
from tabuleiro.protocol.codes import ErrorCode

log = structlog.get_logger(__name__)


def parse_room_code(text: str) -> RoomCode | None:
    """Read a room code as people type it: case and spaces don't matter. ``None`` when it can be none."""
    code = "".join(text.split()).upper()
    is_code = len(code) == ROOM_CODE_LENGTH and all(letter in ROOM_CODE_LETTERS for letter in code)
    return RoomCode(code) if is_code else None


def no_such_room(text: str) -> CommandError:
    """The refusal for a code that names no room."""
    return CommandError(ErrorCode.NO_SUCH_ROOM, f"there is no room {text[:20]!a}")


def unavailable(error: StoreError) -> CommandError:
    """The refusal when the disk does not do what it should; the reason goes to the log."""
    log.warning("storage unavailable", reason=str(error))
    return CommandError(ErrorCode.STORAGE_UNAVAILABLE, "the server cannot store this now; try again")


def damaged(code: RoomCode) -> CommandError:
    """The refusal to whoever asks something of a room in quarantine."""
    message = f"room {code} is out of order after an internal error; its moves are safe"
    return CommandError(ErrorCode.ROOM_DAMAGED, message)
