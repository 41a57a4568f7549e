"""What comes over a connection is the same however its bytes are cut, and whoever reads the frames."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager
from typing import Any

import pytest
from websockets.asyncio.server import ServerConnection, serve
from websockets.exceptions import ConnectionClosed
from websockets.frames import Frame, Opcode

from tabuleiro_server.net import newcomer
from tabuleiro_server.net.message_inbox import MAX_WAITING_COUNT, MessageInbox, Received
from tabuleiro_server.net.newcomer import Newcomer, newcomers_at

LIMIT_S = 20
LIMIT_BYTES = 1000
REQUEST = (
    b"GET / HTTP/1.1\r\nHost: tabuleiro\r\nUpgrade: websocket\r\nConnection: Upgrade\r\n"
    b"Sec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==\r\nSec-WebSocket-Version: 13\r\n\r\n"
)


class OpenDoor:
    """Lets everybody in."""

    def arrive(self, connection: Any, peer_address: str) -> bool:
        return True

    def leave(self, connection: Any) -> None:
        """Nobody waits here."""


@asynccontextmanager
async def serving(
    handler: Callable[[Newcomer], Awaitable[None]],
) -> AsyncIterator[tuple[asyncio.StreamReader, asyncio.StreamWriter]]:
    """A server of newcomers, and a client that writes its own bytes."""

    async def run(connection: ServerConnection) -> None:
        assert isinstance(connection, Newcomer)
        await handler(connection)

    kind = newcomers_at(OpenDoor(), LIMIT_BYTES)  # type: ignore[arg-type]
    async with serve(
        run, "127.0.0.1", 0, create_connection=kind, compression=None, max_size=LIMIT_BYTES
    ) as server:
        port = next(iter(server.sockets)).getsockname()[1]
        reader, writer = await asyncio.open_connection("127.0.0.1", port)
        try:
            yield reader, writer
        finally:
            writer.close()


def frame(data: bytes, opcode: Opcode = Opcode.BINARY, *, fin: bool = True) -> bytes:
    return Frame(opcode, data, fin).serialize(mask=True)


FRAMES = (
    (frame(b"one"), Received(b"one", False)),
    (frame(b"two"), Received(b"two", False)),
    (frame("três".encode(), Opcode.TEXT), Received("três".encode(), True)),
    (
        frame(b"fo", fin=False) + frame(b"", Opcode.CONT, fin=False) + frame(b"ur", Opcode.CONT),
        Received(b"four", False),
    ),
    (
        frame(b"fi", Opcode.TEXT, fin=False) + frame(b"", Opcode.PING) + frame(b"ve", Opcode.CONT),
        Received(b"five", True),
    ),
    (frame(b""), Received(b"", False)),
    (frame(b"s" * 300), Received(b"s" * 300, False)),
    (frame(b"eight"), Received(b"eight", False)),
)


async def received_of(pieces: list[bytes]) -> list[Received]:
    """What the server receives when the bytes come in these pieces, each of them read by itself."""
    found: list[Received] = []
    done = asyncio.Event()
    taken: list[int] = []

    def listener(received: Received) -> None:
        found.append(received)
        if len(found) == len(FRAMES):
            done.set()

    async def handler(connection: Newcomer) -> None:
        for piece in pieces:
            connection.data_received(piece)
            taken.append(len(piece))
        connection.listen(listener, lambda _: None)
        await done.wait()

    async with serving(handler) as (_, writer):
        writer.write(REQUEST)
        await asyncio.wait_for(done.wait(), LIMIT_S)
    assert len(taken) == len(pieces)
    return found


@pytest.mark.parametrize("size", [1, 2, 3, 7, 11, 64, 10_000])
async def test_messages_cut_anywhere_come_whole_and_in_order(size: int) -> None:
    data = b"".join(written for written, _ in FRAMES)
    pieces = [data[start : start + size] for start in range(0, len(data), size)]
    assert await received_of(pieces) == [wanted for _, wanted in FRAMES]


async def test_messages_that_come_one_by_one_are_read_at_once(monkeypatch: pytest.MonkeyPatch) -> None:
    """All the plain ones; if websockets changes how it reads, this says so and the way by websockets remains."""
    read_here: list[bytes] = []
    whole_message = newcomer.whole_message

    def watched(data: bytes, limit_bytes: int) -> bytes | None:
        found = whole_message(data, limit_bytes)
        if found is not None:
            read_here.append(found)
        return found

    monkeypatch.setattr(newcomer, "whole_message", watched)
    assert await received_of([written for written, _ in FRAMES]) == [wanted for _, wanted in FRAMES]
    assert read_here == [b"one", b"two", b"", b"s" * 300, b"eight"]


async def ended_by(*pieces: bytes) -> tuple[ConnectionClosed, bytes]:
    """How the connection ends after these bytes: what its reader is told, and what the client gets."""
    ended: asyncio.Future[ConnectionClosed] = asyncio.get_running_loop().create_future()

    def note_end(reason: Exception) -> None:
        assert isinstance(reason, ConnectionClosed)
        ended.set_result(reason)

    async def handler(connection: Newcomer) -> None:
        for piece in pieces:
            connection.data_received(piece)
        connection.listen(lambda _: None, note_end)
        await connection.wait_closed()

    async with serving(handler) as (reader, writer):
        writer.write(REQUEST)
        await reader.readuntil(b"\r\n\r\n")
        closing = await reader.read()
        writer.close()
        return await asyncio.wait_for(ended, LIMIT_S), closing


async def test_a_message_in_the_midst_of_a_fragmented_one_is_refused_as_by_websockets() -> None:
    error, closing = await ended_by(frame(b"half", fin=False), frame(b"whole"))
    assert (closing[0], closing[2:4]) == (0x88, (1002).to_bytes(2, "big"))
    assert error.sent is not None
    assert error.sent.code == 1002


async def test_a_message_over_the_limit_closes_the_connection() -> None:
    error, _ = await ended_by(frame(b"m" * (LIMIT_BYTES + 1)))
    assert error.sent is not None
    assert error.sent.code == 1009


class SlowListener:
    """Takes messages, and is done with each when it is told so."""

    def __init__(self) -> None:
        self.taken: list[bytes] = []
        self.reasons: list[Exception] = []
        self._underway: asyncio.Future[None] | None = None

    def __call__(self, received: Received) -> asyncio.Future[None]:
        assert self._underway is None or self._underway.done()
        self.taken.append(received.data)
        self._underway = asyncio.get_running_loop().create_future()
        return self._underway

    async def finish(self) -> None:
        """Be done with the message taken last."""
        assert self._underway is not None
        self._underway.set_result(None)
        await asyncio.sleep(0)


def inbox_with(*messages: bytes) -> tuple[MessageInbox, list[str]]:
    """An inbox in which these wait, and what it does to its socket."""
    calls: list[str] = []
    inbox = MessageInbox(lambda: calls.append("pause"), lambda: calls.append("resume"))
    for data in messages:
        inbox.put(Received(data, False))
    return inbox, calls


async def test_an_inbox_that_is_not_read_stops_the_reading_until_it_is_empty() -> None:
    inbox, calls = inbox_with(*[b"m"] * MAX_WAITING_COUNT)
    assert calls == []
    inbox.put(Received(b"m", False))
    inbox.put(Received(b"m", False))
    assert calls == ["pause"]
    listener = SlowListener()
    inbox.listen(listener, listener.reasons.append)
    for _ in range(MAX_WAITING_COUNT):
        await listener.finish()
    assert calls == ["pause"]
    await listener.finish()
    assert calls == ["pause", "resume"]


async def test_messages_are_handed_on_one_by_one_and_the_end_after_the_last() -> None:
    inbox, _ = inbox_with(b"first")
    listener = SlowListener()
    inbox.listen(listener, listener.reasons.append)
    inbox.put(Received(b"second", False))
    inbox.close(EOFError("gone"))
    assert (listener.taken, listener.reasons) == ([b"first"], [])
    await listener.finish()
    assert (listener.taken, listener.reasons) == ([b"first", b"second"], [])
    await listener.finish()
    assert [str(reason) for reason in listener.reasons] == ["gone"]


async def test_who_listens_to_a_closed_inbox_hears_of_what_is_in_it_and_of_the_end() -> None:
    inbox, _ = inbox_with(b"last")
    inbox.close(EOFError("gone"))
    listener = SlowListener()
    inbox.listen(listener, listener.reasons.append)
    await listener.finish()
    assert listener.taken == [b"last"]
    assert [str(reason) for reason in listener.reasons] == ["gone"]


async def test_a_message_is_taken_at_once_by_who_is_not_busy() -> None:
    inbox, _ = inbox_with()
    taken: list[bytes] = []
    inbox.listen(lambda received: taken.append(received.data), lambda _: None)
    inbox.put(Received(b"now", False))
    assert taken == [b"now"]
