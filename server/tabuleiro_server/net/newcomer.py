"""A WebSocket connection that has to find a place at the door before anything is read from it."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from typing import Any, ClassVar, Final

from websockets.asyncio.server import ServerConnection
from websockets.frames import Frame, Opcode
from websockets.protocol import Event, State
from websockets.streams import StreamReader

from tabuleiro_server.net.admission import Door
from tabuleiro_server.net.framing import framed, whole_message
from tabuleiro_server.net.message_inbox import Listener, MessageInbox, Received

UNSENT_MAX_BYTES: Final = 64 * 1024
"""With more than this on its way to the socket a reader is slow: what follows waits in its outbox."""

_AT_EOF: Final = StreamReader.at_eof.__code__
_DATA_OPCODES: Final = frozenset((Opcode.TEXT, Opcode.BINARY, Opcode.CONT))


class Post:
    """The connections that have something to write in this turn of the loop: at its end they do."""

    def __init__(self) -> None:
        self._waiting: list[Newcomer] = []

    def add(self, connection: Newcomer) -> None:
        """Note a connection that has not been noted since it was last flushed."""
        if not self._waiting:
            connection.loop.call_soon(self._flush)
        self._waiting.append(connection)

    def _flush(self) -> None:
        waiting, self._waiting = self._waiting, []
        for connection in waiting:
            connection.flush()


class Newcomer(ServerConnection):
    """Cut at once when there is no place.

    ``peer_address`` is the socket's: a proxy's behind a proxy. ``is_text`` tells how :meth:`send_now` sends.
    """

    door: ClassVar[Door]
    limit_bytes: ClassVar[int]
    post: ClassVar[Post]

    def __init__(self, *arguments: Any, **settings: Any) -> None:
        super().__init__(*arguments, **settings)
        self.peer_address = ""
        self.is_text = False
        self._inbox: MessageInbox
        self._unsent: list[bytes] = []
        self._unsent_bytes = 0

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        super().connection_made(transport)
        self._inbox = MessageInbox(self.transport.pause_reading, self.transport.resume_reading)
        # Absent when the peer has gone already.
        name = transport.get_extra_info("peername")
        self.peer_address = name[0] if name else ""
        if not self.door.arrive(self, self.peer_address):
            self.cut()

    def connection_lost(self, exc: Exception | None) -> None:
        self.door.leave(self)
        super().connection_lost(exc)
        self._inbox.close(self.close_exc)

    def data_received(self, data: bytes) -> None:
        # Nearly all that comes is one small message at a time, and this takes a fourth of the usual way's time.
        message = whole_message(data, self.limit_bytes) if self._is_between_messages() else None
        if message is None:
            super().data_received(data)
        else:
            self._inbox.put(Received(message, is_text=False))

    def process_event(self, event: Event) -> None:
        if isinstance(event, Frame) and event.opcode in _DATA_OPCODES:
            is_text = None if event.opcode is Opcode.CONT else event.opcode is Opcode.TEXT
            self._inbox.put_fragment(bytes(event.data), is_text=is_text, is_last=event.fin)
        else:
            super().process_event(event)

    def listen(self, listener: Listener, on_end: Callable[[Exception], None]) -> None:
        """Have all messages handed to ``listener``, one after the other, as by :meth:`MessageInbox.listen`.

        ``on_end`` is called with the ConnectionClosed that tells why none will come any more.
        """
        self._inbox.listen(listener, on_end)

    def ignore_messages(self) -> None:
        """Read on until the connection is closed, and heed nothing of it."""
        self._inbox.listen(lambda _: None, lambda _: None)

    def send_now(self, message: bytes) -> bool:
        """Send a message unless that means waiting for a slow reader; tells whether it was sent.

        It goes straight to the transport, as with `websockets.broadcast`, which costs a part of what awaiting
        :meth:`send` does.
        """
        is_first = not self._unsent
        if is_first:
            if self.transport.is_closing():
                return False
            self._unsent_bytes = self.transport.get_write_buffer_size()
        if self._unsent_bytes > UNSENT_MAX_BYTES:
            return False
        if is_first:
            self.post.add(self)
        self._unsent.append(message)
        self._unsent_bytes += len(message)
        return True

    def flush(self) -> None:
        """Write what was sent in this turn of the loop, e.g. an answer and the news it made, in one go."""
        messages, self._unsent = self._unsent, []
        # A connection that is being closed has said so to its peer, after which nothing may be sent.
        if self.protocol.state is State.OPEN and not self.transport.is_closing():
            self.transport.write(b"".join([framed(message, is_text=self.is_text) for message in messages]))

    def _is_between_messages(self) -> bool:
        """Whether all that came has been read: websockets waits for the first byte of a frame."""
        protocol = self.protocol
        if protocol.state is not State.OPEN or protocol.current_size is not None:
            return False
        waiting_in: Any = protocol.parser
        while (inner := waiting_in.gi_yieldfrom) is not None:
            waiting_in = inner
        return waiting_in.gi_code is _AT_EOF

    def cut(self) -> None:
        """End the connection without a word."""
        self.transport.abort()


def newcomers_at(door: Door, limit_bytes: int) -> type[Newcomer]:
    """The class of the connections that come to ``door``, with messages of ``limit_bytes`` at most."""

    class NewcomerHere(Newcomer):
        """A connection that comes to this door."""

    NewcomerHere.door = door
    NewcomerHere.limit_bytes = limit_bytes
    NewcomerHere.post = Post()
    return NewcomerHere
