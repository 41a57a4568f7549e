"""A connection between a socket and a receiver, both scripted: what comes in, what goes out, and what it costs."""

from __future__ import annotations

import asyncio
from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Any

import pytest
from websockets.frames import Close, Frame, Opcode

from tabuleiro.protocol.codes import CloseCode
from tabuleiro_server.config import Config
from tabuleiro_server.metrics import NetMetrics
from tabuleiro_server.net.addresses import Proxies
from tabuleiro_server.net.connection import (
    DISCARDED_MAX_BYTES,
    HEAD_MAX_BYTES,
    READ_BYTES,
    UNSENT_MAX_BYTES,
    Connection,
    Flusher,
    Framer,
    Shared,
)
from tabuleiro_server.net.http import HttpPages
from tabuleiro_server.net.rate_limit import HandshakeLimiter
from tests.patience import LIMIT_S

LIMIT_BYTES = 2000
REQUEST = (
    b"GET / HTTP/1.1\r\nHost: tabuleiro\r\nUpgrade: websocket\r\nConnection: Upgrade\r\n"
    b"Sec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==\r\nSec-WebSocket-Version: 13\r\n"
    b"Sec-WebSocket-Protocol: tabuleiro.v1.msgpack\r\n\r\n"
)


@dataclass
class Transport:
    """A socket whose other end reads nothing while ``is_stuck``."""

    is_stuck: bool = False
    sent: bytearray = field(default_factory=bytearray)
    buffered: bytearray = field(default_factory=bytearray)
    is_reading: bool = True
    has_ended: bool = False
    is_aborted: asyncio.Event = field(default_factory=asyncio.Event)

    def get_extra_info(self, name: str) -> Any:
        return ("127.0.0.1", 1234) if name == "peername" else None

    def set_write_buffer_limits(self, high: int, low: int) -> None:
        assert (high, low) == (UNSENT_MAX_BYTES, UNSENT_MAX_BYTES // 4)

    def get_write_buffer_size(self) -> int:
        return len(self.buffered)

    def is_closing(self) -> bool:
        return self.is_aborted.is_set()

    def write(self, data: bytes) -> None:
        assert not self.has_ended
        (self.buffered if self.is_stuck else self.sent).extend(data)

    def write_eof(self) -> None:
        self.has_ended = True

    def pause_reading(self) -> None:
        self.is_reading = False

    def resume_reading(self) -> None:
        self.is_reading = True

    def abort(self) -> None:
        self.is_aborted.set()

    def unstick(self) -> None:
        """Let the other end read all there is."""
        self.is_stuck = False
        self.sent += self.buffered
        self.buffered.clear()

    def frames(self) -> list[Frame]:
        """Take what was sent since the last time, the frames of the server."""
        data, self.sent = self.sent, bytearray()
        return list(frames_in(bytes(data)))


def frames_in(data: bytes) -> Iterator[Frame]:
    """Read frames without a mask."""
    while data:
        size, start = data[1], 2
        if size == 126:
            size, start = int.from_bytes(data[2:4], "big"), 4
        elif size == 127:
            size, start = int.from_bytes(data[2:10], "big"), 10
        yield Frame(Opcode(data[0] & 15), data[start : start + size], bool(data[0] & 128))
        data = data[start + size :]


class Scripted:
    """A connection with its transport; it is also the receiver, and notes what it is told in ``told``."""

    def __init__(self, **settings: Any) -> None:
        config = Config(client_frame_bytes=LIMIT_BYTES, **settings)
        limiter = HandshakeLimiter(config, Proxies([]), NetMetrics())
        self._buffer = bytearray(READ_BYTES)
        shared = Shared(
            config,
            limiter,
            limiter,
            HttpPages(config, str),
            self._open,
            Flusher(),
            Framer(),
            self._buffer,
            lambda: self.awake_s,
        )
        self.awake_s = 0.0
        self.told: list[Any] = []
        self.transport = Transport()
        self.connection = Connection(shared)
        self.connection.connection_made(self.transport)  # type: ignore[arg-type]

    @classmethod
    def opened(cls, **settings: Any) -> Scripted:
        """Shake hands, and answer the first ping."""
        scripted = cls(**settings)
        scripted.feed(REQUEST)
        _, _, frames = scripted.transport.sent.partition(b"\r\n\r\n")
        scripted.transport.sent.clear()
        (ping,) = frames_in(bytes(frames))
        scripted.feed(frame(ping.data, Opcode.PONG))
        return scripted

    def _open(self, connection: Connection) -> None:
        connection.serve(self)

    def feed(self, data: bytes) -> None:
        """Let bytes arrive, for as long as they are read."""
        for start in range(0, len(data), READ_BYTES):
            if not self.transport.is_reading:
                return
            piece = data[start : start + READ_BYTES]
            self._buffer[: len(piece)] = piece
            self.connection.buffer_updated(len(piece))

    def message_received(self, data: bytes, *, is_text: bool) -> None:
        self.told.append(data.decode() if is_text else data)

    def part_received(self) -> None:
        self.told.append("part")

    def room_made(self) -> None:
        self.told.append("room")

    def connection_lost(self) -> None:
        self.told.append("lost")


def frame(data: Any, opcode: Opcode = Opcode.BINARY, *, fin: bool = True) -> bytes:
    """A frame as a client writes it."""
    return Frame(opcode, data, fin).serialize(mask=True)


FRAMES: tuple[tuple[bytes, list[Any]], ...] = (
    (frame(b"one"), [b"one"]),
    (frame("três".encode(), Opcode.TEXT), ["três"]),
    (
        frame(b"fo", fin=False) + frame(b"", Opcode.CONT, fin=False) + frame(b"ur", Opcode.CONT),
        ["part", "part", b"four"],
    ),
    (
        frame(b"fi", Opcode.TEXT, fin=False) + frame(b"", Opcode.PING) + frame(b"ve", Opcode.CONT),
        ["part", "part", "five"],
    ),
    (frame(b""), [b""]),
    (frame(b"s" * 1500), [b"s" * 1500]),
    (frame(b"what nobody asked for", Opcode.PONG), ["part"]),
)


@pytest.mark.parametrize("size", [1, 2, 3, 7, 11, 64, READ_BYTES])
async def test_messages_cut_anywhere_come_whole_and_in_order(size: int) -> None:
    scripted = Scripted()
    data = REQUEST + b"".join(written for written, _ in FRAMES)
    for start in range(0, len(data), size):
        scripted.feed(data[start : start + size])
    assert scripted.told == [told for _, wanted in FRAMES for told in wanted]


@pytest.mark.parametrize("cut", range(1, 13))
async def test_a_message_that_is_cut_anywhere_keeps_the_order_of_those_that_come_alone(cut: int) -> None:
    scripted = Scripted.opened()
    told: list[Any] = []
    for written, wanted in FRAMES:
        for piece in (frame(b"before"), frame(b"cut"), frame(b"after"), written):
            scripted.feed(piece[:cut])
            scripted.feed(piece[cut:])
        told += [b"before", b"cut", b"after", *wanted]
        scripted.feed(frame(b"whole"))
        scripted.feed(written)
        told += [b"whole", *wanted]
    assert scripted.told == told


@pytest.mark.parametrize("head", [b"\x82\xfe\x00\x02", b"\x82\xff" + b"\x00" * 7 + b"\x02"])
async def test_a_short_message_may_have_a_long_length(head: bytes) -> None:
    scripted = Scripted.opened()
    for _ in range(2):
        scripted.feed(head + b"\x00" * 4 + b"hi")
        scripted.feed(frame(b"whole"))
    assert scripted.told == [b"hi", b"whole"] * 2


async def test_a_short_message_alone_in_the_midst_of_another_closes_the_connection() -> None:
    scripted = Scripted.opened()
    scripted.feed(frame(b"", fin=False))
    scripted.feed(frame(b"whole"))
    assert scripted.told == ["part"]
    assert scripted.transport.has_ended


@pytest.mark.parametrize(
    "written", [b"\x82\x05whole", b"\xc2\x85" + b"\x00" * 4 + b"whole"], ids=["no mask", "reserved bit"]
)
async def test_a_short_message_that_breaks_a_rule_closes_the_connection(written: bytes) -> None:
    scripted = Scripted.opened()
    scripted.feed(written)
    assert scripted.told == []
    assert scripted.transport.has_ended


async def test_the_answer_to_our_ping_is_no_part_and_tells_the_lag() -> None:
    assert Scripted.opened().told == []


BROKEN = {
    "a message in the midst of another": (frame(b"half", fin=False) + frame(b"whole"), 1002),
    "too long": (frame(b"m" * (LIMIT_BYTES + 1)), 1009),
    "too long in pieces": (frame(b"m" * LIMIT_BYTES, fin=False) + frame(b"m", Opcode.CONT), 1009),
}


# By name: the masks differ each time, so two processes could not agree on the bytes.
@pytest.mark.parametrize(("written", "code"), BROKEN.values(), ids=BROKEN.keys())
async def test_a_broken_rule_closes_the_connection(written: bytes, code: int) -> None:
    scripted = Scripted.opened()
    scripted.feed(written)
    (closing,) = scripted.transport.frames()
    assert (closing.opcode, Close.parse(closing.data).code) == (Opcode.CLOSE, code)
    assert scripted.transport.has_ended


async def test_messages_right_before_a_goodbye_are_handed_on() -> None:
    scripted = Scripted.opened()
    scripted.feed(frame(b"last") + frame(Close(1000, "").serialize(), Opcode.CLOSE))
    assert scripted.told[0] == b"last"
    assert [sent.opcode for sent in scripted.transport.frames()] == [Opcode.CLOSE]
    assert scripted.transport.has_ended


async def test_no_ping_follows_a_pong_that_came_with_a_goodbye(monkeypatch: pytest.MonkeyPatch) -> None:
    loop = asyncio.get_running_loop()
    timers: list[asyncio.TimerHandle] = []
    call_later = loop.call_later

    def note_timer(*arguments: Any) -> asyncio.TimerHandle:
        timers.append(call_later(*arguments))
        return timers[-1]

    monkeypatch.setattr(loop, "call_later", note_timer)
    scripted = Scripted()
    scripted.feed(REQUEST)
    (ping,) = frames_in(bytes(scripted.transport.sent.partition(b"\r\n\r\n")[2]))
    scripted.feed(frame(ping.data, Opcode.PONG) + frame(Close(1000, "").serialize(), Opcode.CLOSE))
    # What is left is the limit for the end.
    assert len([timer for timer in timers if not timer.cancelled()]) == 1


async def test_what_is_sent_in_one_turn_is_written_in_one_go_at_its_end() -> None:
    scripted = Scripted.opened()
    assert scripted.connection.send_now(b"one")
    assert scripted.connection.send_now(b"two")
    assert scripted.transport.frames() == []
    await asyncio.sleep(0)
    assert [sent.data for sent in scripted.transport.frames()] == [b"one", b"two"]


@pytest.mark.parametrize(("is_text", "opcode"), [(True, Opcode.TEXT), (False, Opcode.BINARY)])
@pytest.mark.parametrize("size", [0, 125, 126, 65_535, 65_536])
async def test_messages_of_any_size_are_sent_as_text_or_bytes(size: int, is_text: bool, opcode: Opcode) -> None:
    scripted = Scripted.opened()
    scripted.connection.is_text = is_text
    assert scripted.connection.send_now(b"m" * size)
    await asyncio.sleep(0)
    assert scripted.transport.frames() == [Frame(opcode, b"m" * size)]


async def test_a_slow_reader_is_sent_no_more_until_there_is_room() -> None:
    scripted = Scripted.opened()
    scripted.transport.is_stuck = True
    message = b"m" * 10_000
    sent_count = 0
    while scripted.connection.send_now(message):
        sent_count += 1
        await asyncio.sleep(0)
    assert sent_count * len(message) <= UNSENT_MAX_BYTES + len(message)
    await asyncio.sleep(0)
    assert scripted.told == []
    scripted.transport.unstick()
    scripted.connection.resume_writing()
    assert scripted.told == ["room"]
    assert scripted.connection.send_now(message)


async def test_much_at_once_to_a_quick_reader_finds_room_after_the_turn() -> None:
    scripted = Scripted.opened()
    while scripted.connection.send_now(b"m" * 10_000):
        pass
    await asyncio.sleep(0)
    assert scripted.told == ["room"]


async def test_of_the_pongs_for_a_slow_reader_only_the_last_waits() -> None:
    scripted = Scripted.opened()
    scripted.transport.is_stuck = True
    for number in range(100_000 // 125):
        scripted.feed(frame(f"{number:125}".encode(), Opcode.PING))
    assert len(scripted.transport.buffered) <= UNSENT_MAX_BYTES + READ_BYTES
    scripted.transport.unstick()
    scripted.connection.resume_writing()
    pongs = scripted.transport.frames()
    assert {pong.opcode for pong in pongs} == {Opcode.PONG}
    assert pongs[-1].data == f"{100_000 // 125 - 1:125}".encode()


async def test_a_close_goes_out_behind_what_was_sent_and_nothing_more_is_handed_on_or_sent() -> None:
    scripted = Scripted.opened()
    scripted.connection.send_now(b"last words")
    scripted.connection.close(CloseCode.TOO_SLOW, "ü" * 200)
    scripted.connection.close(CloseCode.INTERNAL_ERROR, "once is enough")
    words, closing = scripted.transport.frames()
    assert words.data == b"last words"
    assert Close.parse(closing.data) == Close(4001, "ü" * 60)
    assert scripted.transport.has_ended
    scripted.feed(frame(b"too late"))
    assert scripted.connection.send_now(b"too late")
    await asyncio.sleep(0)
    assert (scripted.told, scripted.transport.frames()) == ([], [])


async def test_of_a_connection_that_is_being_closed_little_is_read() -> None:
    scripted = Scripted.opened()
    scripted.connection.close(CloseCode.TOO_MANY_MESSAGES, "flood")
    scripted.feed(bytes(DISCARDED_MAX_BYTES))
    assert scripted.transport.is_reading
    scripted.feed(b"more")
    assert not scripted.transport.is_reading


async def test_a_peer_that_does_not_close_its_end_is_cut_off() -> None:
    scripted = Scripted.opened(close_timeout_ms=1)
    scripted.connection.close(CloseCode.SERVICE_RESTART, "")
    async with asyncio.timeout(LIMIT_S):
        await scripted.transport.is_aborted.wait()


async def test_a_paused_connection_is_read_again_for_its_end() -> None:
    scripted = Scripted.opened()
    scripted.connection.pause_reading()
    assert not scripted.transport.is_reading
    scripted.connection.close(CloseCode.SERVICE_RESTART, "")
    assert scripted.transport.is_reading


async def test_a_socket_that_ends_without_goodbye_is_lost() -> None:
    scripted = Scripted.opened()
    scripted.connection.eof_received()
    assert scripted.transport.has_ended
    scripted.connection.connection_lost(None)
    assert scripted.told == ["lost"]
    assert scripted.connection.ending == "no close frame received or sent"


async def test_a_head_without_end_is_refused_once_it_is_too_long() -> None:
    scripted = Scripted()
    scripted.feed(b"GET / HTTP/1.1\r\nX: " + b"x" * HEAD_MAX_BYTES)
    assert scripted.transport.sent.startswith(b"HTTP/1.1 431 ")
    assert scripted.transport.has_ended
