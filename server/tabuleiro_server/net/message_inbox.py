"""Messages of one connection, handed on one after the other; while many wait its socket is not read any more."""

from __future__ import annotations

import asyncio
from collections import deque
from collections.abc import Callable
from typing import Any, Final, NamedTuple

MAX_WAITING_COUNT: Final = 16
"""Messages of one connection that are read ahead."""


class Received(NamedTuple):
    """A whole message: UTF-8, not checked yet, if it is text."""

    data: bytes
    is_text: bool


Listener = Callable[[Received], "asyncio.Future[Any] | None"]
"""Takes a message; gives a future when it is not done with it yet."""


class MessageInbox:
    """A queue with one listener, which gets a message at once unless it is busy with one before.

    ``pause`` and ``resume`` are called when the messages that wait become too many, and none. Whatever comes
    before somebody listens waits for that.
    """

    def __init__(self, pause: Callable[[], None], resume: Callable[[], None]) -> None:
        self._pause = pause
        self._resume = resume
        self._is_paused = False
        self._listener: Listener | None = None
        self._on_end: Callable[[Exception], None] | None = None
        self._end: Exception | None = None
        self._underway: asyncio.Future[Any] | None = None
        self._messages: deque[Received] = deque()
        self._partial = bytearray()
        self._partial_is_text: bool | None = None

    def listen(self, listener: Listener, on_end: Callable[[Exception], None]) -> None:
        """Hand the messages to ``listener``, each when the future that it gave for the one before is done.

        After the last one ``on_end`` is called with the reason why none will come any more. Both take the place of
        those before, whose message may still be underway.
        """
        self._listener, self._on_end = listener, on_end
        self._hand_on()

    def put(self, message: Received) -> None:
        """Hand a message on, now or in its turn."""
        if self._underway is None and self._listener is not None and not self._messages:
            self._hand(message, self._listener)
            return
        self._messages.append(message)
        if len(self._messages) > MAX_WAITING_COUNT and not self._is_paused:
            self._is_paused = True
            self._pause()

    def put_fragment(self, data: bytes, *, is_text: bool | None, is_last: bool) -> None:
        """Add a piece of a message; ``is_text`` is ``None`` for all but the first.

        The order of pieces, and how long they may be together, is watched by whoever reads the frames.
        """
        if is_text is not None:
            self._partial_is_text = is_text
        self._partial += data
        if is_last:
            message = Received(bytes(self._partial), bool(self._partial_is_text))
            self._partial.clear()
            self.put(message)

    def close(self, reason: Exception) -> None:
        """Nothing more will come, for this reason."""
        self._end = reason
        self._hand_on()

    def _hand(self, message: Received, listener: Listener) -> None:
        underway = listener(message)
        if underway is not None:
            self._underway = underway
            underway.add_done_callback(self._go_on)

    def _go_on(self, _: asyncio.Future[Any]) -> None:
        self._underway = None
        self._hand_on()

    def _hand_on(self) -> None:
        """Hand on what waits, until one takes its time; and then the end."""
        while self._messages and self._underway is None and self._listener is not None:
            message = self._messages.popleft()
            if self._is_paused and not self._messages:
                self._is_paused = False
                self._resume()
            self._hand(message, self._listener)
        if self._end is not None and not self._messages and self._underway is None and self._on_end is not None:
            on_end, self._on_end = self._on_end, None
            on_end(self._end)
