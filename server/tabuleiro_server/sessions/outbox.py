"""Frames that wait for one connection, bounded so that a slow reader costs itself and nobody else.

As long as the connection keeps up nothing waits: frames go straight to it.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Callable


class Outbox:
    """A queue of frames in front of a connection. Putting never waits.

    Args:
        limit_count: Frames that may wait.
        limit_bytes: Bytes that may wait; a single frame over it may still wait alone. It can be changed later.
        send_now: Sends a frame if that is possible without waiting, and returns whether it did.
        on_overflow: Called for the first frame too many, which empties the outbox for good; ends the connection.
    """

    def __init__(
        self,
        limit_count: int,
        limit_bytes: int,
        send_now: Callable[[bytes], bool],
        on_overflow: Callable[[], None],
    ) -> None:
        self.limit_bytes = limit_bytes
        self._limit_count = limit_count
        self._send_now = send_now
        self._on_overflow = on_overflow
        self._frames: deque[bytes] = deque()
        self._waiting_bytes = 0
        self._is_closed = False

    @property
    def is_empty(self) -> bool:
        """Return whether no frame waits."""
        return not self._frames

    def put(self, frame: bytes) -> None:
        """Add a frame for sending; it is dropped once the outbox has overflowed or is closed."""
        if self._is_closed or (not self._frames and self._send_now(frame)):
            return
        is_over_bytes = self._waiting_bytes + len(frame) > self.limit_bytes
        if len(self._frames) >= self._limit_count or (self._frames and is_over_bytes):
            self._is_closed = True
            self._frames.clear()
            self._on_overflow()
        else:
            self._frames.append(frame)
            self._waiting_bytes += len(frame)

    def send_waiting(self) -> None:
        """Send what waits, as much as is possible without waiting."""
        while self._frames and self._send_now(self._frames[0]):
            self._waiting_bytes -= len(self._frames.popleft())

    def close(self) -> None:
        """Take no further frames; those that wait can still be sent."""
        self._is_closed = True
