"""Reading what rooms clients name, and the answers when a room is not to be had."""

from __future__ import annotations

import time
from collections.abc import Callable
from typing import Final

import structlog

from tabuleiro.errors import CommandError, NotationError, StoreError
from tabuleiro.ids import RoomCode
from tabuleiro.protocol.codes import ErrorCode
from tabuleiro.protocol.room_codes import parse_room_code

COMPLAINT_EVERY_S: Final = 5.0
"""How often the log says again that the disk refuses for the same reason."""

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


class StorageComplaints:
    """The lines of the log about a disk that refuses: one in a while for each reason, however much is refused.

    With a full disk thousands of rooms may try again every second.
    """

    def __init__(self, now_s: Callable[[], float] = time.monotonic) -> None:
        self._now_s = now_s
        self._reason = ""
        self._again_at_s = 0.0
        self._untold_count = 0

    def note(self, reason: str) -> None:
        """Something was refused."""
        now_s = self._now_s()
        if reason == self._reason and now_s < self._again_at_s:
            self._untold_count += 1
            return
        log.warning("storage unavailable", reason=reason, untold_count=self._untold_count)
        self._reason, self._again_at_s, self._untold_count = reason, now_s + COMPLAINT_EVERY_S, 0


_complaints: Final = StorageComplaints()


def unavailable(error: StoreError) -> CommandError:
    """The refusal when the disk does not do what it should; the reason goes to the log, once in a while."""
    _complaints.note(str(error))
    return CommandError(ErrorCode.STORAGE_UNAVAILABLE, "the server cannot store this now; try again")


def damaged(code: RoomCode) -> CommandError:
    """The refusal to whoever asks something of a room in quarantine."""
    message = f"room {code} is out of order, and stays as it is until the server's host has looked into it"
    return CommandError(ErrorCode.ROOM_DAMAGED, message)
