"""However a client cuts requests into frames, and frames into pieces, each is answered once and in order."""

from __future__ import annotations

import asyncio
import struct
from collections.abc import AsyncIterator, Iterable
from contextlib import asynccontextmanager

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from wire_client import LIMIT_S

from tabuleiro.protocol.codec import MsgpackCodec
from tabuleiro.protocol.messages import Hello, ListRooms, Ok
from tabuleiro_server.net.frames import BINARY, Found, find_frame, frame_head
from tabuleiro_server.net.newcomer import MAX_QUEUED_FRAMES
from tabuleiro_server.wiring import RunningServer

CODEC = MsgpackCodec()
MASK = bytes((1, 2, 3, 4))
HANDSHAKE = (
    b"GET / HTTP/1.1\r\nHost: localhost\r\nUpgrade: websocket\r\nConnection: Upgrade\r\n"
    b"Sec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==\r\nSec-WebSocket-Version: 13\r\n"
    b"Sec-WebSocket-Protocol: tabuleiro.v1.msgpack\r\n\r\n"
)
COUNT = 2 * MAX_QUEUED_FRAMES
REQUESTS = [CODEC.encode(Hello(id=0, name="ana")), *(CODEC.encode(ListRooms(id=n)) for n in range(1, COUNT))]
PING = 0x9


def masked(payload: bytes, first_byte: int = 0x80 | BINARY) -> bytes:
    size = len(payload)
    head = bytes((first_byte, 0x80 | size)) if size < 126 else struct.pack("!BBH", first_byte, 0xFE, size)
    return head + MASK + bytes(byte ^ MASK[n % 4] for n, byte in enumerate(payload))


def in_fragments(payload: bytes) -> bytes:
    return masked(payload[:3], BINARY) + masked(b"", 0) + masked(payload[3:], 0x80)


WHOLE = [masked(request) for request in REQUESTS]
STREAMS = {
    "whole frames": WHOLE,
    "fragments from the start": [in_fragments(request) for request in REQUESTS],
    "fragments after whole frames": [*WHOLE[:3], in_fragments(REQUESTS[3]), *WHOLE[4:]],
    "pings in between": [masked(b"beat", 0x80 | PING) + frame for frame in WHOLE],
}


@asynccontextmanager
async def connection(server: RunningServer) -> AsyncIterator[tuple[asyncio.StreamReader, asyncio.StreamWriter]]:
    async with asyncio.timeout(LIMIT_S):
        reader, writer = await asyncio.open_connection("127.0.0.1", server.port)
        try:
            yield reader, writer
        finally:
            writer.close()


async def answered(reader: asyncio.StreamReader) -> list[int]:
    """The ids of the answers to all requests, in their order."""
    ids: list[int] = []
    while len(ids) < COUNT:
        first, size = await reader.readexactly(2)
        if size >= 126:
            size = int.from_bytes(await reader.readexactly(2 if size == 126 else 8), "big")
        payload = await reader.readexactly(size)
        if first == 0x80 | BINARY:
            answer = CODEC.decode_server(payload)
            assert isinstance(answer, Ok), answer
            ids.append(answer.id)
    return ids


@pytest.mark.parametrize("name", STREAMS)
@pytest.mark.parametrize("piece_bytes", [1, 7, 10_000])
async def test_frames_may_come_in_any_pieces(server: RunningServer, name: str, piece_bytes: int) -> None:
    sent = b"".join(STREAMS[name])
    async with connection(server) as (reader, writer):
        writer.write(HANDSHAKE)
        await reader.readuntil(b"\r\n\r\n")
        for start in range(0, len(sent), piece_bytes):
            writer.write(sent[start : start + piece_bytes])
            # Gone out at once, so that it comes as a piece of its own.
            await writer.drain()
            await asyncio.sleep(0)
        assert await answered(reader) == list(range(COUNT))


@pytest.mark.parametrize("early_bytes", [1, 2, 5, 6, len(WHOLE[0]), len(WHOLE[0]) + 2, 10_000])
async def test_frames_may_come_with_the_handshake(server: RunningServer, early_bytes: int) -> None:
    """Symptom: with all of them there already, the server waited for more."""
    sent = b"".join(WHOLE)
    async with connection(server) as (reader, writer):
        writer.write(HANDSHAKE + sent[:early_bytes])
        await reader.readuntil(b"\r\n\r\n")
        writer.write(sent[early_bytes:])
        assert await answered(reader) == list(range(COUNT))


@pytest.mark.parametrize("size_bytes", [0, 125, 126, 65_535, 65_536])
def test_a_head_tells_the_size(size_bytes: int) -> None:
    head = frame_head(BINARY, size_bytes)
    long = {2: head[1], 4: int.from_bytes(head[2:], "big"), 10: int.from_bytes(head[2:], "big")}
    assert (head[0], long[len(head)]) == (0x82, size_bytes)


@given(st.lists(st.binary(max_size=300), max_size=5), st.binary(max_size=3))
@settings(max_examples=60, deadline=None)
def test_all_messages_are_found_and_nothing_else(messages: list[bytes], part: bytes) -> None:
    stream = b"".join(map(masked, messages)) + masked(b"beat", 0x80 | PING) + masked(b"more")[: len(part)]
    found, start = [], 0
    while True:
        kind, end, message = find_frame(stream, start, limit_bytes=300)
        if kind is Found.PART:
            break
        found.append(message if kind is Found.DATA else None)
        start = end
    assert found == [*messages, None]
    assert len(stream) - start == len(part)


FOREIGN: Iterable[bytes] = (
    b"\x82\x02hi",
    masked(b"hi", 0x80 | 0x1),
    masked(b"hi", BINARY),
    masked(b"hi", 0xC0 | BINARY),
    masked(bytes(101)),
    masked(bytes(126), 0x80 | PING),
    b"\x82\xff" + bytes(8),
)


@pytest.mark.parametrize("stream", FOREIGN)
def test_what_is_unusual_or_wrong_is_left_to_the_library(stream: bytes) -> None:
    assert find_frame(stream, 0, limit_bytes=100) == (Found.FOREIGN, 0, b"")
