"""One WebSocket connection: bytes of the socket on one side, whole messages on the other.

websockets speaks the protocol, by its Sans-I/O layer. The bytes stay in our hands, so that what a client costs is
counted as it comes, and nothing that waits for it grows without a limit:

- The socket is read in small pieces, and what a piece holds is told to the receiver before the next one is read.
  A piece that is one short message, as nearly all are, is read here: it takes the library ten times as long.
- Before its handshake a connection may send the head of one request. Plain pages are answered by `http`.
- Messages go out together at the end of a turn of the event loop. Beyond what the socket takes they are refused,
  and wait in the outbox. Of the pongs that wait for a slow reader only the last is kept, as RFC 6455 allows.
- A connection that is being closed has a limit in time, and in what is still read and thrown away.

Source: https://websockets.readthedocs.io/en/stable/howto/sansio.html
"""

from __future__ import annotations

import asyncio
import secrets
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from http import HTTPStatus
from typing import Final, Protocol, cast

from websockets.frames import Frame, Opcode
from websockets.http11 import Request
from websockets.protocol import State
from websockets.server import ServerProtocol
from websockets.typing import Subprotocol

from tabuleiro.protocol.codes import CloseCode
from tabuleiro.protocol.version import SUBPROTOCOLS
from tabuleiro_server.config import Config
from tabuleiro_server.net.http import HttpPages, response
from tabuleiro_server.net.rate_limit import HandshakeLimiter
from tabuleiro_server.timers import Limit

READ_BYTES: Final = 1024
"""Longest piece that is read at once: some 170 of the smallest frames, which take the library a millisecond."""

HEAD_MAX_BYTES: Final = 16 * 1024
"""Longest head of a request."""

UNSENT_MAX_BYTES: Final = 64 * 1024
"""With more than this on its way to the socket a reader is slow: what follows waits in its outbox."""

DISCARDED_MAX_BYTES: Final = 64 * 1024
"""So much is still read of a connection that is being closed; its last words may stand behind other messages."""

CLOSE_REASON_MAX_BYTES: Final = 120
"""RFC 6455 allows 123."""

_TLS_HANDSHAKE: Final = b"\x16\x03"
"""How a client begins that expects TLS; the end of a head would never come."""

_END_OF_HEAD: Final = b"\r\n\r\n"

_FIN_BINARY: Final = 0x82
_MASKED: Final = 0x80
_MASK_END: Final = 6
"""A short frame of a client has a byte of flags, one of its length, four of its mask, and the message."""
_SHORT_MAX_BYTES: Final = 125
_MIDDLE_MAX_BYTES: Final = 65535

# Members of enumerations take long to look up.
_BINARY: Final = Opcode.BINARY
_TEXT: Final = Opcode.TEXT
_CONT: Final = Opcode.CONT
_PONG: Final = Opcode.PONG


class Receiver(Protocol):
    """Takes what comes over an open connection; nothing after the connection is being closed."""

    def message_received(self, data: bytes, *, is_text: bool) -> None:
        """Take a whole message: UTF-8, not checked yet, if it is text."""
        ...

    def part_received(self) -> None:
        """Take note of a frame that is no whole message: a piece of one, or a control frame nobody asked for."""
        ...

    def room_made(self) -> None:
        """Send what had to wait: the connection takes messages again."""
        ...

    def connection_lost(self) -> None:
        """Take note of the end."""
        ...


class Framer:
    """Frames of messages, each made once for all connections that it is sent to one after the other."""

    def __init__(self) -> None:
        self._last: tuple[bytes, bool] = (b"", False)
        self._frame = b""

    def frame(self, message: bytes, *, is_text: bool) -> bytes:
        """Return the frame of a whole message."""
        last, was_text = self._last
        if message is not last or is_text is not was_text:
            self._last = message, is_text
            self._frame = Frame(_TEXT if is_text else _BINARY, message).serialize(mask=False)
        return self._frame


class Flusher:
    """The connections that have something to write in this turn of the event loop: at its end they do."""

    def __init__(self) -> None:
        self._waiting: list[Connection] = []

    def add(self, connection: Connection) -> None:
        """Note a connection that has not been noted since it was last flushed."""
        if not self._waiting:
            asyncio.get_running_loop().call_soon(self._flush)
        self._waiting.append(connection)

    def _flush(self) -> None:
        waiting, self._waiting = self._waiting, []
        for connection in waiting:
            connection.flush()


@dataclass(frozen=True, slots=True)
class Shared:
    """The things that all connections of a server have in common.

    ``on_open`` gives a connection its receiver. ``awake_s`` is the time without that in which the server stood
    still: who answers a ping meanwhile is not slow.
    """

    config: Config
    handshakes: HandshakeLimiter
    answered: HandshakeLimiter
    pages: HttpPages
    on_open: Callable[[Connection], None]
    flusher: Flusher
    framer: Framer
    read_buffer: bytearray
    awake_s: Callable[[], float]


class _Protocol(ServerProtocol):
    """That of websockets; a function to choose the subprotocol by would make a circle of references."""

    def select_subprotocol(self, subprotocols: Sequence[Subprotocol]) -> Subprotocol | None:
        """Return the subprotocol that we like best of those offered; ``None`` when we speak none of them."""
        return next((Subprotocol(name) for name in SUBPROTOCOLS if name in subprotocols), None)


class Connection(asyncio.BufferedProtocol):
    """A connection from its first byte to its last.

    ``peer_address`` is the socket's: a proxy's behind a proxy. ``request`` is the handshake's, there once it is
    open. ``is_text`` tells how :meth:`send_now` sends. ``lag_ms`` is half of the last ping's round trip.
    """

    request: Request

    def __init__(self, shared: Shared) -> None:
        self.peer_address = ""
        self.is_text = False
        self.lag_ms = 0
        self._shared = shared
        self._protocol = _Protocol(
            max_size=shared.config.client_frame_bytes,
        )
        self._transport: asyncio.Transport
        self._receiver: Receiver | None = None
        self._is_open = False
        self._is_closing = False
        self._head = bytearray()
        self._unparsed_bytes = 0
        """What the library has been given, and has not given back in frames."""
        self._partial: bytearray | None = None
        """The pieces of a message whose end has not come yet."""
        self._partial_is_text = False
        self._unsent: list[bytes] = []
        self._unsent_bytes = 0
        self._has_refused = False
        self._is_paused = False
        self._late_pong = b""
        self._discarded_bytes = 0
        self._ping: bytes | None = None
        self._pinged_s = 0.0
        self._keepalive: asyncio.TimerHandle | Limit | None = None
        self._end_limit: Limit | None = None
        self._answering: asyncio.Task[bytes] | None = None

    @property
    def subprotocol(self) -> str | None:
        """Return the subprotocol that was agreed on, ``None`` if the client offered none of ours."""
        return self._protocol.subprotocol

    @property
    def ending(self) -> str:
        """Return how a connection ended that is lost."""
        return str(self._protocol.close_exc)

    def serve(self, receiver: Receiver) -> None:
        """Hand on to ``receiver`` what comes, and ask from now on whether the client is still there."""
        self._receiver = receiver
        self._send_ping()

    def send_now(self, message: bytes) -> bool:
        """Send a message, or return False if it has to wait for a slow reader.

        After a refusal :meth:`Receiver.room_made` is called once there is room. A connection that is being closed
        drops messages.
        """
        is_first = not self._unsent
        if is_first:
            if not self._is_open or self._transport.is_closing():
                return True
            self._unsent_bytes = self._transport.get_write_buffer_size()
        if self._unsent_bytes > UNSENT_MAX_BYTES:
            self._has_refused = True
            return False
        if is_first:
            self._shared.flusher.add(self)
        frame = self._shared.framer.frame(message, is_text=self.is_text)
        self._unsent.append(frame)
        self._unsent_bytes += len(frame)
        return True

    def flush(self) -> None:
        """Write what was sent in this turn of the event loop, e.g. an answer and the news it made, in one go."""
        self._write_unsent()
        if self._has_refused:
            self._tell_of_room()

    def pause_reading(self) -> None:
        """Read no more until :meth:`resume_reading`."""
        if not self._is_paused and not self._transport.is_closing():
            self._is_paused = True
            self._transport.pause_reading()

    def resume_reading(self) -> None:
        """Read again."""
        if self._is_paused and not self._transport.is_closing():
            self._is_paused = False
            self._transport.resume_reading()

    def close(self, code: CloseCode, reason: str) -> None:
        """Close behind what was sent; a peer that does not close the socket in time is cut off.

        Nothing that still comes is handed on.
        """
        if not self._is_open:
            return
        self._write_unsent()
        self._protocol.fail(code, reason.encode()[:CLOSE_REASON_MAX_BYTES].decode(errors="ignore"))
        self._write_last(self._protocol.data_to_send())

    def cut(self) -> None:
        """End the connection without a word."""
        self._transport.abort()

    # What the event loop calls

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        self._transport = cast("asyncio.Transport", transport)
        self._transport.set_write_buffer_limits(UNSENT_MAX_BYTES, UNSENT_MAX_BYTES // 4)
        # Absent when the peer has gone already.
        name = transport.get_extra_info("peername")
        self.peer_address = name[0] if name else ""
        self._end_limit = Limit(self._shared.config.handshake_timeout_ms / 1000, self.cut)
        self._shared.handshakes.arrive(self, self.peer_address)

    def get_buffer(self, sizehint: int) -> bytearray:
        # One buffer for all: what is read into it is taken out of it at once.
        return self._shared.read_buffer

    def buffer_updated(self, nbytes: int) -> None:
        data = self._shared.read_buffer[:nbytes]
        if self._is_open:
            self._receive(data)
        elif not self._is_closing:
            self._receive_head(data)
        else:
            self._discarded_bytes += nbytes
            if self._discarded_bytes > DISCARDED_MAX_BYTES:
                self.pause_reading()

    def eof_received(self) -> bool:
        if not self._is_closing:
            self._protocol.receive_eof()
            self._write_last(self._protocol.data_to_send())
        # Who has sent the whole request, and says so, still waits for the answer.
        return self._answering is not None and not self._answering.done()

    def resume_writing(self) -> None:
        if self._late_pong and self._is_open:
            self._transport.write(self._late_pong)
        self._late_pong = b""
        if self._has_refused:
            self._tell_of_room()

    def connection_lost(self, exc: Exception | None) -> None:
        self._is_open, self._is_closing = False, True
        self._protocol.receive_eof()
        for timer in (self._keepalive, self._end_limit):
            if timer is not None:
                timer.cancel()
        self._shared.handshakes.leave(self)
        self._shared.answered.leave(self)
        if self._answering is not None:
            self._answering.cancel()
        if self._receiver is not None:
            self._receiver.connection_lost()
        # Circles of references would keep all of this in memory until the collector looks for them.
        self._receiver = None
        self._protocol.parser.close()
        self._protocol.parser_exc = None

    # The handshake

    def _receive_head(self, data: bytearray) -> None:
        self._head += data
        if self._head.startswith(_TLS_HANDSHAKE):
            self._refuse_head(HTTPStatus.BAD_REQUEST, "there is no TLS here; connect with ws://\n")
            return
        end = self._head.find(_END_OF_HEAD) + len(_END_OF_HEAD)
        if end < len(_END_OF_HEAD):
            if len(self._head) > HEAD_MAX_BYTES:
                text = f"the head of a request has at most {HEAD_MAX_BYTES} bytes\n"
                self._refuse_head(HTTPStatus.REQUEST_HEADER_FIELDS_TOO_LARGE, text)
            return
        head, self._head = self._head, bytearray()
        protocol = self._protocol
        protocol.receive_data(head[:end])
        events = protocol.events_received()
        if not events:
            self._refuse_head(HTTPStatus.BAD_REQUEST, "this is no request of HTTP/1.1 without a body\n")
            return
        request = cast("Request", events[0])
        answer = self._shared.pages.answer(request, self.peer_address)
        if isinstance(answer, bytes):
            self._write_page(answer)
            return
        if answer is not None:
            # The limit of the handshake goes on.
            self._is_closing = True
            self._answering = asyncio.get_running_loop().create_task(answer)
            self._answering.add_done_callback(self._answer_late)
            return
        protocol.send_response(protocol.accept(request))
        if protocol.state is not State.OPEN:
            self._write_last(protocol.data_to_send())
            return
        self._transport.write(b"".join(protocol.data_to_send()))
        self._open(request)
        if head[end:] and self._is_open:
            self._receive(head[end:])

    def _answer_late(self, answering: asyncio.Task[bytes]) -> None:
        if not answering.cancelled():
            self._write_page(answering.result())

    def _write_page(self, page: bytes) -> None:
        """Write a plain page; the connection, which waits for its end now, keeps no handshake out."""
        self._shared.handshakes.leave(self)
        self._shared.answered.arrive(self, self.peer_address)
        self._write_last([page])

    def _refuse_head(self, status: HTTPStatus, text: str) -> None:
        self._write_last([response(status, text)])

    def _open(self, request: Request) -> None:
        assert self._end_limit is not None
        self._end_limit.cancel()
        self.request = request
        self._is_open = True
        self._shared.on_open(self)

    # Frames

    def _receive(self, data: bytearray) -> None:
        is_between_messages = not self._unparsed_bytes and self._partial is None
        if is_between_messages and self._receiver is not None and (message := short_message(data)) is not None:
            self._receiver.message_received(message, is_text=False)
            return
        self._unparsed_bytes += len(data)
        protocol = self._protocol
        protocol.receive_data(data)
        replies = protocol.data_to_send()
        frames = cast("list[Frame]", protocol.events_received())
        if replies:
            self._reply(replies)
        receiver = self._receiver
        if receiver is None:
            return
        for frame in frames:
            self._unparsed_bytes -= _least_bytes(frame)
            if frame.opcode is _BINARY and frame.fin:
                receiver.message_received(bytes(frame.data), is_text=False)
            else:
                self._take(frame, receiver)

    def _take(self, frame: Frame, receiver: Receiver) -> None:
        opcode = frame.opcode
        if opcode is _TEXT and frame.fin:
            receiver.message_received(bytes(frame.data), is_text=True)
        elif opcode is _CONT and frame.fin:
            assert self._partial is not None
            message, self._partial = self._partial + frame.data, None
            receiver.message_received(bytes(message), is_text=self._partial_is_text)
        elif opcode is _PONG and frame.data == self._ping and self._is_open:
            self._take_pong()
        else:
            if opcode is _CONT:
                assert self._partial is not None
                self._partial += frame.data
            elif not frame.fin:
                self._partial, self._partial_is_text = bytearray(frame.data), opcode is _TEXT
            receiver.part_received()

    def _reply(self, replies: Sequence[bytes]) -> None:
        """Write what websockets answers by itself: pongs, or a close and the end."""
        if self._protocol.state is not State.OPEN:
            self._write_last(replies)
        elif self._transport.get_write_buffer_size() > UNSENT_MAX_BYTES:
            self._late_pong = replies[-1]
        else:
            self._transport.write(b"".join(replies))

    def _write_unsent(self) -> None:
        frames, self._unsent = self._unsent, []
        if frames and self._is_open and not self._transport.is_closing():
            self._transport.write(b"".join(frames))

    def _tell_of_room(self) -> None:
        if self._transport.get_write_buffer_size() <= UNSENT_MAX_BYTES and self._receiver is not None:
            self._has_refused = False
            self._receiver.room_made()

    # Pings

    def _send_ping(self) -> None:
        self._ping = secrets.token_bytes(4)
        self._pinged_s = self._shared.awake_s()
        self._protocol.send_ping(self._ping)
        self._transport.write(b"".join(self._protocol.data_to_send()))
        self._keepalive = Limit(self._shared.config.ping_timeout_ms / 1000, self._miss_pong)

    def _take_pong(self) -> None:
        self._ping = None
        round_trip_s = self._shared.awake_s() - self._pinged_s
        self.lag_ms = one_way_ms(round_trip_s)
        assert self._keepalive is not None
        self._keepalive.cancel()
        wait_s = self._shared.config.ping_interval_ms / 1000 - round_trip_s
        self._keepalive = asyncio.get_running_loop().call_later(max(wait_s, 0), self._send_ping)

    def _miss_pong(self) -> None:
        self.close(CloseCode.INTERNAL_ERROR, "keepalive ping timeout")

    # The end

    def _write_last(self, last: Sequence[bytes]) -> None:
        """Write the last bytes, and wait, not for long, until the other end closes the socket."""
        self._is_open, self._is_closing = False, True
        if self._keepalive is not None:
            self._keepalive.cancel()
        if self._end_limit is not None:
            self._end_limit.cancel()
        self._end_limit = Limit(self._shared.config.close_timeout_ms / 1000, self.cut)
        if self._transport.is_closing():
            return
        self._transport.write(b"".join(last))
        self._transport.write_eof()
        self.resume_reading()


def short_message(data: bytearray) -> bytes | None:
    """Return the message that ``data`` is the frame of, if it is whole, binary, short, and nothing else is there.

    Source: RFC 6455, sections 5.2 and 5.3.

    >>> short_message(bytearray.fromhex("82 82 01 02 03 04 69 6b"))
    b'hi'
    >>> short_message(bytearray.fromhex("82 82 01 02 03 04 69"))
    """
    size = len(data) - _MASK_END
    if not 0 < size <= _SHORT_MAX_BYTES or data[0] != _FIN_BINARY or data[1] != _MASKED | size:
        return None
    mask = (data[2:_MASK_END] * (size // 4 + 1))[:size]
    return (int.from_bytes(data[_MASK_END:]) ^ int.from_bytes(mask)).to_bytes(size)


def _least_bytes(frame: Frame) -> int:
    """Return the length of a client's frame, if it has written that as shortly as it can.

    Whoever does not is taken to be amid a frame from then on, and all that comes goes to the library.
    """
    size = len(frame.data)
    if size <= _SHORT_MAX_BYTES:
        return _MASK_END + size
    return _MASK_END + size + (2 if size <= _MIDDLE_MAX_BYTES else 8)


def one_way_ms(round_trip_s: float) -> int:
    """Return how long a message is on its way, in whole milliseconds, from a round trip in seconds.

    >>> one_way_ms(0.25)
    125
    """
    return int(round_trip_s * 500)
