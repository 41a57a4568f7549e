"""A WebSocket connection that has to find a place at the door before anything is read from it.

It is the library's, with a shorter way for what nearly all traffic is made of: whole binary messages are taken
out of the stream, and messages are sent, without the library's parser and queue. The first thing that is neither a
whole binary message nor a control frame (text, a fragment, a broken rule) ends the shorter way in: from there on
the library reads all.
"""

from __future__ import annotations

import asyncio
from collections import deque
from typing import Any, ClassVar, Final

from websockets.asyncio.server import ServerConnection
from websockets.protocol import State

from tabuleiro.protocol.version import SUBPROTOCOL_JSON
from tabuleiro_server.net.admission import Door
from tabuleiro_server.net.frames import BINARY, TEXT, Found, find_frame, frame_head

UNSENT_MAX_BYTES: Final = 64 * 1024
"""With more than this on its way to the socket a reader is slow: what follows waits in its outbox."""

MAX_QUEUED_FRAMES: Final = 16
"""Messages of one connection that are read ahead; after that its socket is not read."""

_END_OF_REQUEST: Final = b"\r\n\r\n"


class Newcomer(ServerConnection):
    """Cut at once when there is no place. ``peer_address`` is the socket's: a proxy's behind a proxy."""

    door: ClassVar[Door]

    def __init__(self, *arguments: Any, **settings: Any) -> None:
        super().__init__(*arguments, **settings)
        self.peer_address = ""
        self._unsent: list[bytes] = []
        self._unsent_bytes = 0
        self._request_end = b""
        self._is_read_here = True
        self._part = b""
        self._messages: deque[bytes] = deque()
        self._waiter: asyncio.Future[None] | None = None
        self._is_paused = False

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        super().connection_made(transport)
        # Absent when the peer has gone already.
        name = transport.get_extra_info("peername")
        self.peer_address = name[0] if name else ""
        if not self.door.arrive(self, self.peer_address):
            self.cut()

    def connection_lost(self, exc: Exception | None) -> None:
        self.door.leave(self)
        super().connection_lost(exc)
        self._wake()

    def data_received(self, data: bytes) -> None:
        """Take whole binary messages as they come, and leave the rest to the library."""
        if not self._is_read_here:
            super().data_received(data)
        elif self.protocol.state is State.CONNECTING:
            self._request_end = (self._request_end + data)[-len(_END_OF_REQUEST) :]
            super().data_received(data)
        elif self._is_early_bird:
            self._leave_to_library(data)
        else:
            self._take_frames(self._part + data if self._part else data)

    @property
    def _is_early_bird(self) -> bool:
        """Whether frames came before the handshake was answered: the library may be in the middle of one."""
        return self._request_end != _END_OF_REQUEST

    def _take_frames(self, data: bytes) -> None:
        start, limit_bytes = 0, self.protocol.max_message_size or 0
        while self.protocol.state is State.OPEN:
            found, end, message = find_frame(data, start, limit_bytes)
            if found is Found.DATA:
                self._messages.append(message)
            elif found is Found.CONTROL:
                super().data_received(data[start:end])
            elif found is Found.PART:
                self._part = data[start:]
                self._news()
                return
            else:
                break
            start = end
        self._leave_to_library(data[start:])

    def _leave_to_library(self, data: bytes) -> None:
        self._is_read_here, self._part = False, b""
        if data:
            super().data_received(data)
        self._wake()

    def _news(self) -> None:
        if len(self._messages) > MAX_QUEUED_FRAMES and not self._is_paused:
            self._is_paused = True
            self.transport.pause_reading()
        if self._messages:
            self._wake()

    def _wake(self) -> None:
        if self._waiter is not None and not self._waiter.done():
            self._waiter.set_result(None)

    async def next_message(self) -> bytes | str:
        """Wait for a message; text comes as ``str``. One caller at a time, who may be cancelled.

        Raises: ConnectionClosed when there is none left and none will come.
        """
        if self._is_early_bird:
            self._is_read_here = False
        if not self._messages and self._is_read_here and self.protocol.state is not State.CLOSED:
            self._waiter = self.loop.create_future()
            try:
                await self._waiter
            finally:
                self._waiter = None
        if not self._messages:
            return await self.recv()
        message = self._messages.popleft()
        if self._is_paused and not self._messages:
            self._is_paused = False
            # The library has its own reason not to read when its queue is full.
            if not self.recv_messages.paused:
                self.transport.resume_reading()
        return message

    def send_now(self, frame: bytes) -> bool:
        """Send a frame unless that means waiting for a slow reader; tells whether it was sent.

        It goes the way of `websockets.broadcast`, which costs a part of what awaiting :meth:`send` does.
        """
        transport = self.transport
        if self.protocol.state is not State.OPEN or transport.is_closing():
            return False
        if self._unsent_bytes + transport.get_write_buffer_size() > UNSENT_MAX_BYTES:
            return False
        if not self._unsent:
            self.loop.call_soon(self._flush)
        self._unsent.append(frame)
        self._unsent_bytes += len(frame)
        return True

    def _flush(self) -> None:
        """Write what was sent in this turn of the loop, e.g. an answer and the news it made, in one go."""
        frames, self._unsent, self._unsent_bytes = self._unsent, [], 0
        if self.protocol.state is not State.OPEN or self.transport.is_closing():
            return
        opcode = TEXT if self.subprotocol == SUBPROTOCOL_JSON else BINARY
        parts = [part for frame in frames for part in (frame_head(opcode, len(frame)), frame)]
        self.transport.write(b"".join(parts))

    def cut(self) -> None:
        """End the connection without a word."""
        self.transport.abort()


def newcomers_at(door: Door) -> type[Newcomer]:
    """The class of the connections that come to ``door``."""

    class NewcomerHere(Newcomer):
        """A connection that comes to this door."""

    NewcomerHere.door = door
    return NewcomerHere
