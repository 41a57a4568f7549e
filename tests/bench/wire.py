"""A WebSocket client that costs little, so that a load generator measures the server and not itself.

It frames by hand: its masks are zero, which RFC 6455 allows and which leaves the payload as it is. It has no
limits and checks nothing, for it only ever talks to servers of this repository.
"""

from __future__ import annotations

import asyncio
import struct
from collections import deque
from collections.abc import Callable
from typing import Final, cast
from urllib.parse import urlsplit

_PING: Final = 9
_PONG: Final = 10
_CLOSE: Final = 8


class WireClient(asyncio.Protocol):
    """One connection. Frames go to ``on_frame`` if there is one, else they wait for :meth:`receive`."""

    def __init__(self) -> None:
        self.on_frame: Callable[[bytes], None] | None = None
        self.is_closed = False
        self._buffer = bytearray()
        self._is_open = False
        self._opened: asyncio.Future[None] = asyncio.get_running_loop().create_future()
        self._frames: deque[bytes] = deque()
        self._frame_came = asyncio.Event()
        self._transport: asyncio.Transport | None = None

    @classmethod
    async def connect(cls, url: str, subprotocol: str) -> WireClient:
        """Connect and shake hands."""
        parts = urlsplit(url)
        _, client = await asyncio.get_running_loop().create_connection(cls, parts.hostname, parts.port)
        assert client._transport is not None
        client._transport.write(
            f"GET / HTTP/1.1\r\nHost: {parts.netloc}\r\nUpgrade: websocket\r\nConnection: Upgrade\r\n"
            f"Sec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==\r\nSec-WebSocket-Version: 13\r\n"
            f"Sec-WebSocket-Protocol: {subprotocol}\r\n\r\n".encode()
        )
        await client._opened
        return client

    def send(self, payload: bytes, opcode: int = 2) -> None:
        """Send one frame."""
        assert self._transport is not None
        size = len(payload)
        head = struct.pack("!BB", 0x80 | opcode, 0x80 | size) if size < 126 else None
        head = head or struct.pack("!BBH", 0x80 | opcode, 0xFE, size)
        self._transport.write(head + b"\0\0\0\0" + payload)

    async def receive(self) -> bytes:
        """Wait for the next frame."""
        while not self._frames:
            if self.is_closed:
                raise ConnectionError("the server has closed the connection")
            self._frame_came.clear()
            await self._frame_came.wait()
        return self._frames.popleft()

    def close(self) -> None:
        """Break the connection."""
        if self._transport is not None:
            self._transport.abort()

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        self._transport = cast("asyncio.Transport", transport)

    def connection_lost(self, exc: Exception | None) -> None:
        self.is_closed = True
        self._frame_came.set()
        if not self._opened.done():
            self._opened.set_exception(ConnectionError("the handshake was refused"))

    def data_received(self, data: bytes) -> None:
        self._buffer += data
        if not self._is_open:
            end = self._buffer.find(b"\r\n\r\n")
            if end < 0:
                return
            if not self._buffer.startswith(b"HTTP/1.1 101"):
                raise ConnectionError(self._buffer[:end].decode())
            del self._buffer[: end + 4]
            self._is_open = True
            self._opened.set_result(None)
        self._take_frames()

    def _take_frames(self) -> None:
        buffer, start = self._buffer, 0
        while len(buffer) - start >= 2:
            size, body = buffer[start + 1] & 0x7F, start + 2
            if size == 126 and len(buffer) >= body + 2:
                (size,), body = struct.unpack_from("!H", buffer, body), body + 2
            elif size == 127 and len(buffer) >= body + 8:
                (size,), body = struct.unpack_from("!Q", buffer, body), body + 8
            elif size >= 126:
                break
            if len(buffer) < body + size:
                break
            self._take(buffer[start] & 0x0F, bytes(buffer[body : body + size]))
            start = body + size
        del buffer[:start]

    def _take(self, opcode: int, payload: bytes) -> None:
        if opcode == _PING:
            self.send(payload, _PONG)
        elif opcode == _CLOSE:
            self.close()
        elif self.on_frame is not None:
            self.on_frame(payload)
        else:
            self._frames.append(payload)
            self._frame_came.set()
