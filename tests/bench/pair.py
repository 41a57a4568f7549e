"""Two clients in a room who play known matches, one after the other, and what they measure."""

from __future__ import annotations

import asyncio
import time
from collections.abc import Sequence
from dataclasses import dataclass, field
from functools import partial
from typing import Final

import msgspec

from tabuleiro.protocol.messages import CreateRoom, JoinRoom, Offer, Play, RoomEntered
from tabuleiro.protocol.version import SUBPROTOCOL_MSGPACK
from tests.bench.guest import GAME, OPTIONS, TOLD, Guest, Happened
from tests.bench.wire import WireClient

ENCODER: Final = msgspec.msgpack.Encoder()
FIRST_PLAY_ID: Final = 100
"""Requests with smaller numbers are not moves, so their answers are not counted."""
QUIET_LIMIT_S: Final = 20.0


@dataclass
class Measured:
    """What the pairs of one server measured, in seconds. Nobody sends a move while not ``is_playing``."""

    is_playing: bool = False
    acknowledgements_s: list[float] = field(default_factory=list)
    receipts_s: list[float] = field(default_factory=list)
    matches_count: int = 0
    failure: str = ""

    def check(self) -> None:
        """Raises: ConnectionError when the server refused something, so the figures are worth nothing."""
        if self.failure:
            raise ConnectionError(self.failure)


class Pair:
    """Plays in turn, each client ``pause_s`` after the action of the other has reached it.

    A match that is over is followed by a rematch. ``has_matches`` is false for relays: they know moves only, so
    the next match begins without asking.
    """

    def __init__(
        self,
        clients: tuple[WireClient, WireClient],
        room: str,
        actions: Sequence[str],
        measured: Measured,
        pause_s: float = 0.0,
        *,
        has_matches: bool = True,
    ) -> None:
        self.clients = clients
        self.is_held = True
        self._room = room
        self._actions = actions
        self._measured = measured
        self._pause_s = pause_s
        self._has_matches = has_matches
        self._sent_s = 0.0
        self._match = 1
        self._ply = 0
        self._frames = self._match_frames()
        for client in clients:
            client.on_frame = partial(self._take, client)

    def go_on(self) -> None:
        """Send the action that was held back while nobody was to play."""
        if self.is_held:
            self.is_held = False
            self._send()

    def close(self) -> None:
        """Break both connections."""
        for client in self.clients:
            client.close()

    def _match_frames(self) -> list[bytes]:
        return [
            ENCODER.encode(
                Play(id=FIRST_PLAY_ID + ply, room=self._room, match=self._match, ply=ply, actions=(action,))
            )
            for ply, action in enumerate(self._actions)
        ]

    def _mover(self) -> WireClient:
        """Return the client whose turn it is; a rematch swaps the seats."""
        return self.clients[(self._ply + self._match + 1) % 2]

    def _send(self) -> None:
        if not self._measured.is_playing:
            self.is_held = True
            return
        self._sent_s = time.perf_counter()
        self._mover().send(self._frames[self._ply])

    def _take(self, client: WireClient, frame: bytes) -> None:
        told = TOLD.decode(frame)
        if told.type == "ok":
            if told.id is not None and told.id >= FIRST_PLAY_ID:
                self._measured.acknowledgements_s.append(time.perf_counter() - self._sent_s)
        elif told.type == "error":
            self._measured.failure = told.message
        elif told.type == "update":
            for numbered in told.events:
                self._take_event(client, numbered.event)

    def _take_event(self, client: WireClient, event: Happened) -> None:
        if event.type == "actions-played" and event.ply == self._ply and client is not self._mover():
            self._measured.receipts_s.append(time.perf_counter() - self._sent_s)
            self._ply += 1
            if self._ply == len(self._frames):
                self._ask_for_rematch()
            elif self._pause_s:
                asyncio.get_running_loop().call_later(self._pause_s, self._send)
            else:
                self._send()
        elif event.type == "match-started" and event.match == self._match + 1:
            # The first of the two to hear of it is enough: the match has begun for both.
            self._begin_next()

    def _ask_for_rematch(self) -> None:
        self._measured.matches_count += 1
        if not self._has_matches:
            self._begin_next()
            return
        for client in self.clients:
            client.send(ENCODER.encode(Offer(id=1, room=self._room, kind="rematch")))

    def _begin_next(self) -> None:
        self._match += 1
        self._ply = 0
        self._frames = self._match_frames()
        self._send()


async def all_held(pairs: Sequence[Pair], measured: Measured) -> None:
    """Wait until nothing is under way between the server and these pairs.

    Raises: TimeoutError when the server leaves a move without an answer, ConnectionError when it refused one.
    """
    async with asyncio.timeout(QUIET_LIMIT_S):
        while not all(pair.is_held for pair in pairs):
            measured.check()
            await asyncio.sleep(0.01)


async def seat_at_relay(url: str, number: int) -> tuple[tuple[WireClient, WireClient], str]:
    """Seat two clients in one room of a relay."""
    clients = []
    for _ in range(2):
        client = await WireClient.connect(url, SUBPROTOCOL_MSGPACK)
        client.send(ENCODER.encode({"type": "join", "id": 0, "room": number}))
        await client.receive()
        clients.append(client)
    return (clients[0], clients[1]), str(number)


async def seat_at_server(url: str, number: int) -> tuple[tuple[WireClient, WireClient], str]:
    """Seat two guests in a room of a tabuleiro server."""
    host = await Guest.arrive(url, f"maker-{number}")
    guest = await Guest.arrive(url, f"guest-{number}")
    entered: RoomEntered = await host.ask(CreateRoom(id=0, game=GAME, options=OPTIONS))
    await guest.ask(JoinRoom(id=0, room=entered.head.room))
    return (host.client, guest.client), entered.head.room
