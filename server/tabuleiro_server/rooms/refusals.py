"""Room codes as clients type them, and the refusals when a room cannot be used."""

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
"""Seconds between two log lines about the same failure of the disk."""

log = structlog.get_logger(__name__)


def code_of_room(text: str) -> RoomCode:
    """Return the room code in a client's text.

    Raises:
        CommandError: no-such-room, for a text that is no room code.
    """
    try:
        return parse_room_code(text)
    except NotationError as error:
        raise no_such_room(text) from error


def no_such_room(text: str) -> CommandError:
    """Return the refusal for a code without a room."""
    return CommandError(ErrorCode.NO_SUCH_ROOM, f"there is no room {text[:20]!a}")


def elsewhere(code: RoomCode, node_url: str, *, follow: bool = False) -> CommandError:
    """Return the refusal for a room that another node has, or with ``follow`` is to be watched there."""
    message = f"room {code} is at {node_url} now; newer versions of this client go there by themselves"
    return CommandError(ErrorCode.ELSEWHERE, message, node_url=node_url, room=code, follow=follow)


class StorageComplaints:
    """Log lines about a failing disk: one in a while for each reason, however often it fails.

    With a full disk thousands of rooms may try again every second.
    """

    def __init__(self, now_s: Callable[[], float] = time.monotonic) -> None:
        self._now_s = now_s
        self._reason = ""
        self._again_at_s = 0.0
        self._untold_count = 0

    def note(self, reason: str) -> None:
        """Log a failure, unless the same reason was logged a moment ago."""
        now_s = self._now_s()
        if reason == self._reason and now_s < self._again_at_s:
            self._untold_count += 1
            return
        log.warning("storage unavailable", reason=reason, untold_count=self._untold_count)
        self._reason, self._again_at_s, self._untold_count = reason, now_s + COMPLAINT_EVERY_S, 0


_complaints: Final = StorageComplaints()


def unavailable(error: StoreError) -> CommandError:
    """Log a failure of the disk, and return the refusal for it."""
    _complaints.note(str(error))
    return CommandError(ErrorCode.STORAGE_UNAVAILABLE, "the server cannot store this now; try again")


def damaged(code: RoomCode) -> CommandError:
    """Return the refusal to commands for a room in quarantine."""
    message = f"room {code} is unavailable after an error; ask the server's operator"
    return CommandError(ErrorCode.ROOM_DAMAGED, message)
