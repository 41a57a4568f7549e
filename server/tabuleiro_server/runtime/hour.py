"""When time will bring a room something; later than due where storing it has failed."""

from __future__ import annotations

from tabuleiro.ids import TimestampMs
from tabuleiro_server.room.deadlines import Deadline, next_deadline
from tabuleiro_server.room.state import RoomState


class Hour:
    """The next deadline of one room, worked out once for each state of it."""

    def __init__(self) -> None:
        self._deadline: Deadline | None = None
        self._room: RoomState | None = None
        self._not_before_ms = 0

    def of(self, room: RoomState) -> TimestampMs | None:
        """When something is due; ``None`` when nothing is awaited."""
        if room is not self._room:
            self._room, self._deadline = room, next_deadline(room)
        if self._deadline is None:
            return None
        return TimestampMs(max(self._deadline.at_ms, self._not_before_ms))

    def note(self, room: RoomState, deadline: Deadline | None) -> None:
        """Know the next deadline of a room that has just been stored: nothing is put off any more."""
        self._room, self._deadline = room, deadline
        self._not_before_ms = 0

    def put_off(self, until_ms: int) -> None:
        """Let nothing be due before ``until_ms``."""
        self._not_before_ms = until_ms
