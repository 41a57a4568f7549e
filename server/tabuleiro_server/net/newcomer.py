"""A WebSocket connection that has to find a place at the door before anything is read from it."""

from __future__ import annotations

import asyncio
from typing import Any, ClassVar

from websockets.asyncio.server import ServerConnection

from tabuleiro_server.net.admission import Door


class Newcomer(ServerConnection):
    """Cut at once when there is no place. ``peer_address`` is the socket's: a proxy's behind a proxy."""

    door: ClassVar[Door]

    def __init__(self, *arguments: Any, **settings: Any) -> None:
        super().__init__(*arguments, **settings)
        self.peer_address = ""

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

    def cut(self) -> None:
        """End the connection without a word."""
        self.transport.abort()


def newcomers_at(door: Door) -> type[Newcomer]:
    """The class of the connections that come to ``door``."""

    class NewcomerHere(Newcomer):
        """A connection that comes to this door."""

    NewcomerHere.door = door
    return NewcomerHere
