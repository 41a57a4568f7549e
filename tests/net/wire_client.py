"""A client of the wire for tests: the codec over one connection, and nothing done behind one's back."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Callable, Sequence
from contextlib import AbstractAsyncContextManager, asynccontextmanager
from itertools import count
from typing import Any

import msgspec
from websockets.asyncio.client import ClientConnection, connect
from websockets.exceptions import ConnectionClosed
from websockets.typing import Subprotocol

from tabuleiro.protocol.codec import SERVER_FRAME_MAX_BYTES, codec_for
from tabuleiro.protocol.messages import (
    ClientMessage,
    CreateRoom,
    Error,
    Hello,
    JoinRoom,
    Ok,
    Play,
    RoomEntered,
    ServerMessage,
    Update,
    Welcome,
)
from tabuleiro.protocol.version import SUBPROTOCOL_MSGPACK
from tabuleiro.rules import registry
from tabuleiro_server.wiring import RunningServer
from tests.patience import LIMIT_S

StartServer = Callable[..., AbstractAsyncContextManager[RunningServer]]
"""The fixture `start_server`: settings in, a running server out."""


SMALL = {"rows": 7, "cols": 7, "steps": 3}
"""Options of a short match of Virus Wars."""


class WireClient:
    """One connection. Messages that are no answers gather in ``unasked``."""

    def __init__(self, connection: ClientConnection, subprotocol: str) -> None:
        self.connection = connection
        self.codec = codec_for(subprotocol)
        self.unasked: list[ServerMessage] = []
        self._numbers = count(1)

    async def ask(self, message_type: type[ClientMessage], **fields: Any) -> Ok | Error:
        """Send a request and wait for its answer."""
        message = message_type(id=next(self._numbers), **fields)
        await self.send_frame(self.codec.encode(message))
        return await self.answer_to(message.id)

    async def do(self, message_type: type[ClientMessage], **fields: Any) -> Any:
        """Send a request that must be granted; its result."""
        answer = await self.ask(message_type, **fields)
        assert isinstance(answer, Ok), answer
        return answer.result

    async def refused(self, message_type: type[ClientMessage], **fields: Any) -> Error:
        """Send a request that must be refused."""
        answer = await self.ask(message_type, **fields)
        assert isinstance(answer, Error), answer
        return answer

    async def hello(self, name: str) -> Welcome:
        welcome = await self.do(Hello, name=name)
        assert isinstance(welcome, Welcome)
        return welcome

    async def send_frame(self, frame: bytes) -> None:
        await self.connection.send(frame, text=self.codec.is_text)

    async def receive(self) -> ServerMessage:
        async with asyncio.timeout(LIMIT_S):
            frame = await self.connection.recv()
        assert isinstance(frame, str) == self.codec.is_text
        return self.codec.decode_server(frame.encode() if isinstance(frame, str) else frame)

    async def answer_to(self, request_id: int | None) -> Ok | Error:
        while True:
            message = await self.receive()
            if isinstance(message, (Ok, Error)) and message.id == request_id:
                return message
            self.unasked.append(message)

    async def next_event(self, event_type: type[Any]) -> Any:
        """Wait for an update with an event of this type."""
        while True:
            message = self.unasked.pop(0) if self.unasked else await self.receive()
            if isinstance(message, Update):
                for sequenced in message.events:
                    if isinstance(sequenced.event, event_type):
                        return sequenced.event

    async def closing(self) -> tuple[int, str]:
        """Read until the connection is closed; the close code and the reason."""
        async with asyncio.timeout(LIMIT_S):
            while True:
                try:
                    await self.connection.recv()
                except ConnectionClosed:
                    return self.connection.close_code or 0, self.connection.close_reason or ""


@asynccontextmanager
async def wire(url: str, subprotocol: str = SUBPROTOCOL_MSGPACK, **settings: Any) -> AsyncIterator[WireClient]:
    """Connect, without hello."""
    offered = [Subprotocol(subprotocol)]
    async with connect(
        url, subprotocols=offered, max_size=SERVER_FRAME_MAX_BYTES, open_timeout=LIMIT_S, proxy=None, **settings
    ) as connection:
        assert connection.subprotocol == subprotocol
        yield WireClient(connection, subprotocol)


class MatchOnTheWire:
    """A room with two people in it who play the first legal action, one by one."""

    def __init__(self, host: WireClient, guest: WireClient, room: str) -> None:
        self._players = (host, guest)
        self.room = room
        self.ply = 0
        self.state = registry.load("virus-wars", SMALL).initial_state()

    @classmethod
    async def begin(cls, host: WireClient, guest: WireClient) -> MatchOnTheWire:
        """Open the room and sit down; both have said hello."""
        entered: RoomEntered = await host.do(CreateRoom, game="virus-wars", options=SMALL)
        await guest.do(JoinRoom, room=entered.head.room)
        return cls(host, guest, entered.head.room)

    async def play_one(self) -> None:
        """Play one action; it must be acknowledged."""
        assert self.state.to_move is not None
        action = self.state.legal_actions()[0]
        texts = (self.state.action_to_string(action),)
        player = self._players[self.state.to_move]
        await player.do(Play, room=self.room, match=1, ply=self.ply, actions=texts)
        self.state = self.state.child(action)
        self.ply += 1

    async def play_out(self) -> None:
        """Play to the end."""
        while not self.state.is_terminal:
            await self.play_one()


async def raw_request(port: int, lines: Sequence[str]) -> tuple[str, str]:
    """Send a plain HTTP request; the head and the body of the answer."""
    async with asyncio.timeout(LIMIT_S):
        reader, writer = await asyncio.open_connection("127.0.0.1", port)
        writer.write(("\r\n".join([*lines, "Host: localhost", "", ""])).encode())
        answer = (await reader.read()).decode()
        writer.close()
        await writer.wait_closed()
    head, _, body = answer.partition("\r\n\r\n")
    return head, body


def plain(message: ClientMessage) -> dict[str, Any]:
    """A message as the plain values that are written on the wire."""
    values = msgspec.to_builtins(message)
    assert isinstance(values, dict)
    return values
