"""Frames that wait for one connection, bounded so that a slow reader costs itself and nobody else.

As long as the connection keeps up nothing waits: frames go straight to it.
"""

from __future__ import annotations

import asyncio
from collections import deque
from collections.abc import Callable


class Outbox:
    """A queue of frames with one reader. Putting never waits.

    ``send_now`` sends a frame if that is possible without waiting, and says whether it did.
    The first frame too many empties the outbox for good and calls ``on_overflow``, which ends the connection.
    """

    def __init__(
        self,
        limit_count: int,
        limit_bytes: int,
        on_overflow: Callable[[], None],
        send_now: Callable[[bytes], bool] = lambda frame: False,
    ) -> None:
        """A single frame over ``limit_bytes`` may still wait alone."""
        self._limit_count = limit_count
        self._limit_bytes = limit_bytes
        self._waiting_bytes = 0
        self._on_overflow = on_overflow
        self._send_now = send_now
        self._is_taken_from = False
        self._frames: deque[bytes] = deque()
        self._changed = asyncio.Event()
        self.has_overflowed = False
        self.is_closed = False

    def put(self, frame: bytes) -> None:
        """Add a frame for sending; dropped once the outbox has overflowed or is closed."""
        if self.is_closed or self.has_overflowed:
            return
        if not self._frames and not self._is_taken_from and self._send_now(frame):
            return
        is_over_bytes = self._waiting_bytes + len(frame) > self._limit_bytes
        if len(self._frames) >= self._limit_count or (self._frames and is_over_bytes):
            self.has_overflowed = True
            self._frames.clear()
            self._on_overflow()
        else:
            self._frames.append(frame)
            self._waiting_bytes += len(frame)
        self._changed.set()

    def close(self) -> None:
        """Let the reader take what is there, and then end."""
        self.is_closed = True
        self._changed.set()

    async def take(self) -> list[bytes]:
        """Wait for frames and take all there are; an empty list means closed or overflowed for good.

        Until it is called again the frames taken are on their way, and later ones wait behind them.
        """
        self._is_taken_from = False
        while not self._frames and not self.is_closed and not self.has_overflowed:
            self._changed.clear()
            await self._changed.wait()
        frames = list(self._frames)
        self._frames.clear()
        self._waiting_bytes = 0
        self._is_taken_from = bool(frames)
        return frames
