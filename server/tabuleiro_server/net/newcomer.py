"""A WebSocket connection that has to find a place at the door before anything is read from it."""

from __future__ import annotations

import asyncio
from typing import Any, ClassVar, Final

from websockets.asyncio.server import ServerConnection
from websockets.protocol import State

from tabuleiro.protocol.version import SUBPROTOCOL_JSON
from tabuleiro_server.net.admission import Door

UNSENT_MAX_BYTES: Final = 64 * 1024
"""With more than this on its way to the socket a reader is slow: what follows waits in its outbox."""


class Newcomer(ServerConnection):
    """Cut at once when there is no place. ``peer_address`` is the socket's: a proxy's behind a proxy."""

    door: ClassVar[Door]

    def __init__(self, *arguments: Any, **settings: Any) -> None:
        super().__init__(*arguments, **settings)
        self.peer_address = ""
        self._unsent: list[bytes] = []
        self._unsent_bytes = 0

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
        send = self.protocol.send_text if self.subprotocol == SUBPROTOCOL_JSON else self.protocol.send_binary
        for frame in frames:
            send(frame)
        self.transport.write(b"".join(self.protocol.data_to_send()))

    def cut(self) -> None:
        """End the connection without a word."""
        self.transport.abort()


def newcomers_at(door: Door) -> type[Newcomer]:
    """The class of the connections that come to ``door``."""

    class NewcomerHere(Newcomer):
        """A connection that comes to this door."""

    NewcomerHere.door = door
    return NewcomerHere
