"""Two clients in a room who play a match known beforehand, and what they measure."""

from __future__ import annotations

import asyncio
import time
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Final

import msgspec

from tabuleiro.protocol.messages import CreateRoom, JoinRoom, Play, RoomEntered
from tabuleiro.protocol.version import SUBPROTOCOL_MSGPACK
from tests.bench.guest import GAME, OPTIONS, TOLD, Guest
from tests.bench.wire import WireClient

ENCODER: Final = msgspec.msgpack.Encoder()


@dataclass
class Measured:
    """What the pairs of one server measured, in seconds. Nobody sends while not ``is_playing``."""

    is_playing: bool = False
    acknowledgements_s: list[float] = field(default_factory=list)
    receipts_s: list[float] = field(default_factory=list)
    exhausted_count: int = 0


class Pair:
    """Plays in turn, each client ``pause_s`` after it was told of the other's action."""

    def __init__(
        self,
        clients: tuple[WireClient, WireClient],
        room: str,
        actions: Sequence[str],
        measured: Measured,
        pause_s: float = 0.0,
    ) -> None:
        self.clients = clients
        self._measured = measured
        self._pause_s = pause_s
        self._sent_s = 0.0
        self._ply = 0
        self._is_held = True
        self._frames = [
            ENCODER.encode(Play(id=ply + 100, room=room, match=1, ply=ply, actions=(action,)))
            for ply, action in enumerate(actions)
        ]
        for seat, client in enumerate(clients):
            client.on_frame = lambda frame, seat=seat: self._take(seat, frame)

    def go_on(self) -> None:
        """Send the action that was held back while nobody was to play."""
        if self._is_held:
            self._is_held = False
            self._send()

    def close(self) -> None:
        """Break both connections."""
        for client in self.clients:
            client.close()

    def _send(self) -> None:
        if not self._measured.is_playing:
            self._is_held = True
            return
        if self._ply >= len(self._frames):
            self._measured.exhausted_count += 1
            return
        self._sent_s = time.perf_counter()
        self.clients[self._ply % 2].send(self._frames[self._ply])

    def _take(self, seat: int, frame: bytes) -> None:
        told = TOLD.decode(frame)
        is_sender = seat == self._ply % 2
        if told.type == "ok":
            self._measured.acknowledgements_s.append(time.perf_counter() - self._sent_s)
        elif told.type == "error":
            raise ConnectionError(told.message)
        elif told.type == "update" and not is_sender and told.events and told.events[0].event.ply == self._ply:
            self._measured.receipts_s.append(time.perf_counter() - self._sent_s)
            self._ply += 1
            if self._pause_s:
                asyncio.get_running_loop().call_later(self._pause_s, self._send)
            else:
                self._send()


async def seat_at_relay(url: str, number: int) -> tuple[tuple[WireClient, WireClient], str]:
    """Two clients in one room of a relay."""
    clients = []
    for _ in range(2):
        client = await WireClient.connect(url, SUBPROTOCOL_MSGPACK)
        client.send(ENCODER.encode({"type": "join", "id": 0, "room": number}))
        await client.receive()
        clients.append(client)
    return (clients[0], clients[1]), str(number)


async def seat_at_server(url: str, number: int) -> tuple[tuple[WireClient, WireClient], str]:
    """Two guests in a room of a tabuleiro server."""
    host = await Guest.arrive(url, f"host-{number}")
    guest = await Guest.arrive(url, f"guest-{number}")
    entered: RoomEntered = await host.ask(CreateRoom(id=0, game=GAME, options=OPTIONS))
    await guest.ask(JoinRoom(id=0, room=entered.head.room))
    return (host.client, guest.client), entered.head.room
