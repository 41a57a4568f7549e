"""Whatever a client sends, it gets an error or a close code; the server lives, and a match elsewhere goes on.

The fixtures add: nothing louder than `info` in the log, and no task left.
"""

from __future__ import annotations

import asyncio
import json
import random
import socket
import struct
from collections.abc import AsyncIterator, Iterator
from contextlib import asynccontextmanager
from itertools import count
from typing import Any

import msgpack
import msgspec
import pytest
from websockets.asyncio.client import connect
from websockets.exceptions import ConnectionClosed, InvalidStatus
from websockets.typing import Subprotocol

from tabuleiro.protocol.codec import CLIENT_FRAME_MAX_BYTES
from tabuleiro.protocol.messages import Error, Hello, ListRooms, Ok
from tabuleiro.protocol.version import SUBPROTOCOLS
from tabuleiro_server.wiring import RunningServer
from tests.net.protocol_page import client_examples
from tests.net.wire_client import LIMIT_S, MatchOnTheWire, StartServer, WireClient, plain, raw_request, wire

both = pytest.mark.parametrize("subprotocol", SUBPROTOCOLS)

HANDSHAKE = (
    b"GET / HTTP/1.1\r\nHost: localhost\r\nConnection: Upgrade\r\nUpgrade: websocket\r\n"
    b"Sec-WebSocket-Version: 13\r\nSec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==\r\n"
    b"Sec-WebSocket-Protocol: tabuleiro.v1.json\r\n\r\n"
)


@asynccontextmanager
async def match_elsewhere(server: RunningServer) -> AsyncIterator[MatchOnTheWire]:
    """A match that two others play; at the end it is played out, and of the abuse nothing may be left."""
    async with wire(server.url) as ana, wire(server.url) as rui:
        await ana.hello("elsewhere-ana")
        await rui.hello("elsewhere-rui")
        match = await MatchOnTheWire.begin(ana, rui)
        rooms_before, tasks_before = server.directory.rooms_count, asyncio.all_tasks()
        yield match
        await match.play_out()
        assert server.directory.rooms_count == rooms_before
        left = asyncio.all_tasks() - tasks_before
        if left:
            await asyncio.wait(left, timeout=LIMIT_S)
        assert not {task for task in asyncio.all_tasks() - tasks_before if not task.done()}
        assert (await raw_request(server.port, ["GET /health HTTP/1.1"]))[1] == "ok\n"


def pack(client: WireClient, value: Any) -> bytes:
    packed: bytes = json.dumps(value).encode() if client.codec.is_text else msgpack.packb(value)
    return packed


@both
async def test_every_request_wrongly_typed_or_with_missing_fields(server: RunningServer, subprotocol: str) -> None:
    async with match_elsewhere(server) as match, wire(server.url, subprotocol) as client:
        await client.hello("mallory")
        numbers = count(1000)
        for message in client_examples():
            await match.play_one()
            for field in msgspec.structs.fields(message):
                whole = plain(message) | {"id": next(numbers)}
                spoilt = [whole | {field.name: [[{"a": 1}]]}]
                if field.required:
                    spoilt.append({name: value for name, value in whole.items() if name != field.name})
                for value in spoilt:
                    await client.send_frame(pack(client, value))
                    answer = await client.receive()
                    assert isinstance(answer, Error), (value, answer)
                    assert answer.id == (None if field.name == "id" else whole["id"])
                    assert answer.code == "bad-message"
                    assert f"`{field.name}`" in answer.message or f"$.{field.name}" in answer.message
        assert isinstance(await client.ask(ListRooms), Ok)


@both
async def test_every_request_before_hello(server: RunningServer, subprotocol: str) -> None:
    async with match_elsewhere(server), wire(server.url, subprotocol) as client:
        for message in client_examples():
            if not isinstance(message, Hello):
                await client.send_frame(client.codec.encode(message))
                answer = await client.answer_to(message.id)
                assert isinstance(answer, Error)
                assert answer.code == "hello-first"
        await client.hello("late")
        assert (await client.refused(Hello, name="again")).code == "hello-first"
        assert isinstance(await client.ask(ListRooms), Ok)


@both
async def test_every_request_about_a_room_that_is_not_there(server: RunningServer, subprotocol: str) -> None:
    async with match_elsewhere(server), wire(server.url, subprotocol) as client:
        await client.hello("mallory")
        for message in client_examples():
            if hasattr(message, "room"):
                for room in ("K7MQ4", "", "?", "../../etc", "k7 mq4"):
                    await client.send_frame(client.codec.encode(msgspec.structs.replace(message, room=room)))
                    answer = await client.answer_to(message.id)
                    assert isinstance(answer, Error)
                    assert answer.code == "no-such-room"


@both
async def test_every_request_about_a_match_of_others(server: RunningServer, subprotocol: str) -> None:
    """Who is not seated can watch, and nothing else."""
    allowed = {"watch-room", "leave-room", "get-record", "get-boards"}
    async with match_elsewhere(server) as match, wire(server.url, subprotocol) as client:
        await client.hello("mallory")
        for message in client_examples():
            kind = plain(message)["type"]
            if hasattr(message, "room") and kind not in allowed:
                await client.send_frame(client.codec.encode(msgspec.structs.replace(message, room=match.room)))
                answer = await client.answer_to(message.id)
                assert isinstance(answer, Error), message
                assert answer.code in {"not-seated", "not-host", "seat-taken", "not-watching"}
                await match.play_one()


ECHOED_MAX_CHARS = 200


def texts_replaced(value: Any, text: str) -> Iterator[Any]:
    """Yield the value once for each of its texts and keys, with that one replaced."""
    if isinstance(value, str):
        yield text
    elif isinstance(value, dict):
        for key, part in value.items():
            yield {(text if each == key else each): inner for each, inner in value.items()}
            for replaced in texts_replaced(part, text):
                yield value | {key: replaced}
        yield value | {text: 1}
    elif isinstance(value, list):
        for number, part in enumerate(value):
            for replaced in texts_replaced(part, text):
                yield [*value[:number], replaced, *value[number + 1 :]]


@both
async def test_an_error_echoes_little_of_what_was_sent(server: RunningServer, subprotocol: str) -> None:
    """Symptom: an error came with up to 8 KB of the request that it refused."""
    asked_count = 0
    async with wire(server.url) as rui, wire(server.url, subprotocol) as client:
        room = ""
        for is_known in (False, True):
            if is_known:
                await rui.hello("rui")
                await client.hello("mallory")
                room = (await MatchOnTheWire.begin(client, rui)).room
            for message in client_examples():
                values = plain(message)
                if "room" in values:
                    values["room"] = room
                for value in texts_replaced(values, "Q" * 8_000):
                    await client.send_frame(pack(client, value))
                    answer = await client.receive()
                    while not isinstance(answer, (Ok, Error)):
                        answer = await client.receive()
                    asked_count += 1
                    echoed_count = answer.message.count("Q") if isinstance(answer, Error) else 0
                    assert echoed_count <= ECHOED_MAX_CHARS, values["type"]
    assert asked_count > 200


def endings(is_text: bool) -> list[tuple[bytes, bool, int]]:
    """Frames that end the connection: bytes, whether they are sent as text, and the close code."""
    too_big = b" " * (CLIENT_FRAME_MAX_BYTES + 1)
    if is_text:
        return [
            (b"", True, 1007),
            (b"hello", True, 1007),
            (b'{"type":"hello","id":NaN}', True, 1007),
            (b"[" * 10_000, True, 1007),
            (b'{"a":' * 3_000, True, 1007),
            (b"\xff\xfe", True, 1007),
            (b"{}", False, 1003),
            (too_big, True, 1009),
        ]
    return [
        (b"", False, 1007),
        (b"\xc1", False, 1007),
        (b"\x91" * 10_000, False, 1007),
        (b"\x81\xa1a" * 5_000, False, 1007),
        (msgpack.packb({"type": "hello", "id": msgpack.ExtType(1, b"x")}), False, 1007),
        (b"\xdd\xff\xff\xff\xff", False, 1007),
        (b"\xdb\xff\xff\xff\xff", False, 1007),
        (b"{}", True, 1003),
        (too_big, False, 1009),
    ]


@both
@pytest.mark.parametrize("is_known", [False, True], ids=["before hello", "after hello"])
async def test_what_is_no_message_at_all(server: RunningServer, subprotocol: str, is_known: bool) -> None:
    async with match_elsewhere(server) as match:
        for number, (frame, as_text, code) in enumerate(endings(subprotocol == "tabuleiro.v1.json")):
            async with wire(server.url, subprotocol) as client:
                if is_known:
                    await client.hello(f"mallory-{number}")
                await client.connection.send(frame, text=as_text)
                closed = await client.closing()
                assert closed[0] == code, (frame[:20], closed)
                assert closed[1], frame[:20]
            await match.play_one()


@both
async def test_what_is_no_message_but_well_formed(server: RunningServer, subprotocol: str) -> None:
    values = (None, 3, "hello", [], {}, {"type": "sing", "id": 7}, {"type": 3, "id": 7}, {"type": [], "id": 2**80})
    async with match_elsewhere(server), wire(server.url, subprotocol) as client:
        for value in values[:-1] if subprotocol == "tabuleiro.v1.msgpack" else values:
            await client.send_frame(pack(client, value))
            answer = await client.receive()
            assert isinstance(answer, Error)
            assert answer.code == "bad-message"
            assert answer.id == (7 if isinstance(value, dict) and value.get("id") == 7 else None)


@pytest.mark.parametrize("offered", [None, ["tabuleiro.v2.msgpack"], ["chat", "soap"]])
async def test_no_subprotocol_of_ours(server: RunningServer, offered: list[str] | None) -> None:
    subprotocols = None if offered is None else [Subprotocol(name) for name in offered]
    async with match_elsewhere(server), connect(server.url, subprotocols=subprotocols, proxy=None) as connection:
        with pytest.raises(ConnectionClosed):
            await connection.recv()
        assert connection.close_code == 1002
        assert connection.close_reason == f"speak the subprotocol {' or '.join(SUBPROTOCOLS)}"


async def test_one_of_ours_among_strange_subprotocols(server: RunningServer) -> None:
    offered = [Subprotocol(name) for name in ("chat", "tabuleiro.v1.json", "tabuleiro.v9.xml")]
    async with connect(server.url, subprotocols=offered, proxy=None) as connection:
        assert connection.subprotocol == "tabuleiro.v1.json"


def masked(opcode: int, payload: bytes, *, is_final: bool = True, length: int | None = None) -> bytes:
    """A frame of RFC 6455 with an all-zero mask; ``length`` may claim another length than the payload has."""
    claimed = len(payload) if length is None else length
    return bytes([opcode | 0x80 * is_final, 0x80 | 126]) + struct.pack(">H", claimed) + bytes(4) + payload


BROKEN = {
    "half a handshake": (False, HANDSHAKE[:40], None),
    "no HTTP": (False, b"\x16\x03\x01\x02\x00\x01\x00\x01\xfc\x03\x03" + bytes(200) + b"\r\n\r\n", None),
    "endless header": (False, b"GET / HTTP/1.1\r\nX: " + b"x" * 100_000, None),
    "half a frame header": (True, b"\x81", None),
    "half a frame": (True, masked(1, b'{"type":"hel', length=100), None),
    "half a message": (True, masked(1, b'{"type":', is_final=False), None),
    "unmasked frame": (True, b"\x81\x02{}", 1002),
    "reserved bits": (True, masked(0x71, b"{}"), 1002),
    "unknown opcode": (True, masked(3, b"{}"), 1002),
    "continuation of nothing": (True, masked(0, b"{}"), 1002),
    "endless message": (True, masked(1, b" " * 9000, is_final=False) + masked(0, b" " * 9000) * 2, 1009),
}


async def close_frame(reader: asyncio.StreamReader) -> bytes:
    """Wait for the server's close frame; frames before it don't count."""
    while True:
        opcode, length = await reader.readexactly(2)
        if length == 126:
            length = int.from_bytes(await reader.readexactly(2), "big")
        payload = await reader.readexactly(length)
        if opcode == 0x88:
            return payload


@pytest.mark.parametrize("name", BROKEN)
async def test_broken_websockets(server: RunningServer, name: str) -> None:
    is_shaken, sent, code = BROKEN[name]
    async with match_elsewhere(server) as match, asyncio.timeout(LIMIT_S):
        for is_reset in (False, True):
            reader, writer = await asyncio.open_connection("127.0.0.1", server.port)
            if is_shaken:
                writer.write(HANDSHAKE)
                await reader.readuntil(b"\r\n\r\n")
            writer.write(sent)
            if code is not None:
                assert struct.pack(">H", code) in await close_frame(reader)
            if is_reset:
                linger = struct.pack("ii", 1, 0)
                writer.get_extra_info("socket").setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, linger)
            writer.close()
            await match.play_one()


async def test_thousands_of_garbage_frames(server: RunningServer) -> None:
    """Half of them well-formed nonsense on one connection, half of them noise on many."""
    dice = random.Random(20_260_101)
    async with match_elsewhere(server) as match:
        async with wire(server.url) as client:
            await client.hello("mallory")
            for batch in range(20):
                for _ in range(100):
                    await client.send_frame(msgpack.packb(nonsense(dice)))
                answers = [await client.receive() for _ in range(100)]
                assert {answer.code for answer in answers if isinstance(answer, Error)} == {"bad-message"}
                assert all(isinstance(answer, Error) for answer in answers)
                if batch % 5 == 0:
                    await match.play_one()
        sent = 0
        while sent < 2000:
            async with wire(server.url) as client:
                frames = [dice.randbytes(dice.randrange(1, 60)) for _ in range(50)]
                try:
                    for frame in frames:
                        await client.send_frame(frame)
                except ConnectionClosed:
                    pass
                sent += len(frames)
                assert (await client.closing())[0] == 1007


def nonsense(dice: random.Random, depth: int = 3) -> Any:
    """A plain value that is no message."""
    if depth == 0:
        return dice.choice([None, True, -1, 2**63, 0.5, "x" * dice.randrange(40), ""])
    if dice.random() < 0.5:
        return [nonsense(dice, depth - 1) for _ in range(dice.randrange(4))]
    keys = ("id", "type", "room", "name", "actions")
    return {dice.choice(keys): nonsense(dice, depth - 1) for _ in range(dice.randrange(4))}


async def test_a_flood_ends_only_who_floods(start_server: StartServer) -> None:
    """With the limits that a server has when nobody changes them."""

    async def flood(client: WireClient) -> None:
        while True:
            await client.send_frame(client.codec.encode(ListRooms(id=1)))
            await client.receive()

    async with (
        start_server(messages_per_second_count=20, messages_burst_count=100) as server,
        match_elsewhere(server),
        wire(server.url) as client,
    ):
        await client.hello("mallory")
        with pytest.raises(ConnectionClosed):
            await flood(client)
        assert (await client.closing())[0] == 4003


FLOODS = {
    "pings": masked(9, b""),
    "long pings": masked(9, bytes(125)),
    "pongs": masked(10, b""),
    "pieces": masked(0, b"", is_final=False),
    "messages of a byte": masked(2, b"\x01"),
}


async def flooded(server: RunningServer, flood: str, hello: bytes) -> None:
    """Send so much at once, and wait for the end."""
    reader, writer = await asyncio.open_connection("127.0.0.1", server.port)
    writer.write(HANDSHAKE.replace(b"v1.json", b"v1.msgpack"))
    await reader.readuntil(b"\r\n\r\n")
    start = masked(2, b"", is_final=False) if flood == "pieces" else b""
    writer.write(hello + start + FLOODS[flood] * (256 * 1024 // len(FLOODS[flood])))
    assert (await close_frame(reader))[:2] == struct.pack(">H", 4003), flood
    writer.transport.abort()


@pytest.mark.parametrize("is_known", [False, True], ids=["before hello", "after hello"])
async def test_a_flood_of_the_smallest_frames_is_ended_after_so_many(
    start_server: StartServer, log_entries: list[dict[str, Any]], is_known: bool
) -> None:
    """Symptom: a burst of 256 KiB held everybody up for 200 ms, and the flood went on for seconds."""
    settings = {"messages_per_second_count": 20, "messages_burst_count": 100, "close_timeout_ms": 500}
    async with start_server(**settings) as server, match_elsewhere(server), asyncio.timeout(LIMIT_S):
        for number, flood in enumerate(FLOODS):
            message = {"type": "hello", "id": 1, "name": f"mallory-{number}"}
            await flooded(server, flood, masked(2, msgpack.packb(message)) if is_known else b"")
    closed = [entry for entry in log_entries if entry["event"] == "connection closed"]
    assert len(closed) == len(FLOODS)


async def test_http_that_is_no_websocket(server: RunningServer) -> None:
    requests = {
        "GET / HTTP/1.1": "200",
        "GET /health HTTP/1.1": "200",
        "GET /health?x=1 HTTP/1.1": "200",
        "GET /../../etc/passwd HTTP/1.1": "404",
    }
    async with match_elsewhere(server):
        for request, status in requests.items():
            head, body = await raw_request(server.port, [request])
            assert head.split()[1] == status, request
            assert body.endswith("\n")
        with pytest.raises(InvalidStatus) as caught:
            async with connect(f"{server.url}/health", proxy=None):
                pytest.fail("a page is no WebSocket")
        assert caught.value.response.status_code == 200


PLAIN = {
    "HEAD": (b"HEAD /health HTTP/1.1\r\nHost: x\r\n\r\n", "200", ""),
    "two at once": (b"GET /health HTTP/1.1\r\nHost: x\r\n\r\n" * 2, "200", "ok\n"),
    "far too many at once": (b"GET /health HTTP/1.1\r\nHost: x\r\n\r\n" * 5_000, "200", "ok\n"),
    "POST": (b"POST /health HTTP/1.1\r\nHost: x\r\nContent-Length: 0\r\n\r\n", "405", None),
    "OPTIONS": (b"OPTIONS * HTTP/1.1\r\nHost: x\r\n\r\n", "405", None),
    "a WebSocket by POST": (HANDSHAKE.replace(b"GET", b"POST"), "405", None),
    "a body": (b"GET /health HTTP/1.1\r\nHost: x\r\nContent-Length: 5\r\n\r\nhello", "400", None),
    "a body in chunks": (b"POST / HTTP/1.1\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n", "400", None),
    "no HTTP": (b"HELO example.org\r\n\r\n", "400", None),
    "HTTP/2": (b"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n", "400", None),
    "an endless head": (b"GET / HTTP/1.1\r\nX: " + b"x" * 40_000, "431", None),
    "a WebSocket of an old version": (HANDSHAKE.replace(b"Version: 13", b"Version: 8"), "400", None),
    "a WebSocket by HTTP/1.0": (HANDSHAKE.replace(b"HTTP/1.1", b"HTTP/1.0"), "505", None),
}


@pytest.mark.parametrize("name", PLAIN)
async def test_every_plain_request_gets_one_status_line_and_then_the_end(server: RunningServer, name: str) -> None:
    """Symptom: two pipelined requests got no answer and a traceback in the log."""
    sent, status, body = PLAIN[name]
    async with asyncio.timeout(LIMIT_S):
        reader, writer = await asyncio.open_connection("127.0.0.1", server.port)
        writer.write(sent)
        answer = (await reader.read()).decode()
        writer.close()
    head, _, got = answer.partition("\r\n\r\n")
    assert head.split()[:2] == ["HTTP/1.1", status]
    assert answer.count("\r\nDate: ") == 1
    assert "\r\nConnection: close" in head
    if body is not None:
        assert got == body
        assert "\r\nContent-Length: 3\r\n" in head
