"""The session of one connection: its guest, its rooms, its messages, and the frames that wait for it.

It knows no sockets: frames come in through :meth:`Session.receive` and go out through the outbox. `requests` does
what each request asks for.
"""

from __future__ import annotations

import asyncio
from collections import deque
from collections.abc import Callable, Coroutine
from functools import partial
from typing import Any

import structlog

from tabuleiro.errors import CommandError, LocalProtocolError, RemoteProtocolError
from tabuleiro.ids import AccountId, RoomCode
from tabuleiro.protocol.codec import Codec
from tabuleiro.protocol.codes import ErrorCode
from tabuleiro.protocol.messages import ClientMessage, Error, Ok, ServerMessage
from tabuleiro_server.metrics import RequestMetrics
from tabuleiro_server.rooms.followers import FollowedRoom
from tabuleiro_server.rooms.live_room import LiveRoom

log = structlog.get_logger(__name__)

Answering = asyncio.Future[Any] | Coroutine[Any, Any, None]
"""A request being answered: the future of a room's command, or a coroutine still to be run."""

Answerer = Callable[["Session", ClientMessage], Answering]


def refusal(request_id: int, error: CommandError) -> Error:
    """Return the answer to a request that is refused."""
    room = None if error.room is None else RoomCode(error.room)
    return Error(request_id, error.code, error.message, error.node_url, room, error.follow)


class Outbox:
    """A queue of frames in front of a connection. Putting never waits.

    Args:
        limit_count: Frames that may wait.
        limit_bytes: Bytes that may wait; a single frame over it may still wait alone. It can be changed later.
        send_now: Sends a frame if that is possible without waiting, and returns whether it did.
        on_overflow: Called for the first frame too many, which empties the outbox for good; ends the connection.
    """

    def __init__(
        self,
        limit_count: int,
        limit_bytes: int,
        send_now: Callable[[bytes], bool],
        on_overflow: Callable[[], None],
    ) -> None:
        self.limit_bytes = limit_bytes
        self._limit_count = limit_count
        self._send_now = send_now
        self._on_overflow = on_overflow
        self._frames: deque[bytes] = deque()
        self._waiting_bytes = 0
        self._is_closed = False

    @property
    def is_empty(self) -> bool:
        """True if no frame waits."""
        return not self._frames

    def put(self, frame: bytes) -> None:
        """Add a frame for sending; it is dropped once the outbox has overflowed or is closed."""
        if self._is_closed or (not self._frames and self._send_now(frame)):
            return
        is_over_bytes = self._waiting_bytes + len(frame) > self.limit_bytes
        if len(self._frames) >= self._limit_count or (self._frames and is_over_bytes):
            self._is_closed = True
            self._frames.clear()
            self._on_overflow()
        else:
            self._frames.append(frame)
            self._waiting_bytes += len(frame)

    def send_waiting(self) -> None:
        """Send what waits, as much as is possible without waiting."""
        while self._frames and self._send_now(self._frames[0]):
            self._waiting_bytes -= len(self._frames.popleft())

    def close(self) -> None:
        """Take no further frames; those that wait can still be sent."""
        self._is_closed = True


class Session:
    """One client. Requests are taken one by one, so answers come in the order of the requests.

    ``answer`` does what a request asks for. ``on_close`` is called once, with a session that was welcomed.
    ``on_fault`` is called when an answer fails by a fault of ours, ``on_answered`` after an answer that had to be
    awaited. ``lag_ms`` is the one-way lag as measured by the owner of the connection. ``address`` is what counts
    as one address in limits, ``public_url`` the address for this client's invitations, ``None`` for its own.
    """

    def __init__(
        self,
        codec: Codec,
        outbox: Outbox,
        answer: Answerer,
        on_close: Callable[[Session], None],
        on_fault: Callable[[Exception], None],
        on_answered: Callable[[], None],
        metrics: RequestMetrics | None = None,
        address: str = "",
        public_url: str | None = None,
    ) -> None:
        """``metrics`` ``None``: nobody counts."""
        self.codec = codec
        self.address = address
        self.account_id = AccountId("")
        self.name = ""
        self.lag_ms = 0
        self.public_url = public_url
        self._metrics = metrics or RequestMetrics()
        self._outbox = outbox
        self._answer = answer
        self._on_close = on_close
        self._on_fault = on_fault
        self._on_answered = on_answered
        self._rooms: dict[RoomCode, LiveRoom] = {}
        self._followed: dict[RoomCode, FollowedRoom] = {}

    @property
    def is_welcomed(self) -> bool:
        """True once the client has said hello and was recognised."""
        return bool(self.account_id)

    def receive(self, frame: bytes) -> asyncio.Future[Any] | None:
        """Take one frame and answer it.

        Returns:
            ``None`` if the frame has been answered; otherwise what is being waited for. ``on_answered`` is called
            after that answer, and then the next frame may be taken.

        Raises:
            RemoteProtocolError: The connection has to end, with this close code.
        """
        try:
            message = self.codec.decode_client(frame)
        except RemoteProtocolError as error:
            self._metrics.count(None, ErrorCode.BAD_MESSAGE)
            if error.close_code is not None:
                raise
            self.send(Error(error.request_id, ErrorCode.BAD_MESSAGE, error.message))
            return None
        try:
            answering = self._answer(self, message)
        except CommandError as error:
            self._refuse(message, error)
            return None
        if not isinstance(answering, asyncio.Future):
            answering = asyncio.create_task(answering)
        elif answering.done():
            self._note_answer(message, answering)
            return None
        answering.add_done_callback(partial(self._go_on, message))
        return answering

    def _go_on(self, message: ClientMessage, answering: asyncio.Future[Any]) -> None:
        try:
            self._note_answer(message, answering)
        finally:
            self._on_answered()

    def _note_answer(self, message: ClientMessage, answering: asyncio.Future[Any]) -> None:
        if answering.cancelled():
            return
        error = answering.exception()
        if error is None:
            self._metrics.count(message, None)
        elif isinstance(error, CommandError):
            self._refuse(message, error)
        elif isinstance(error, Exception):
            self._on_fault(error)

    def _refuse(self, message: ClientMessage, error: CommandError) -> None:
        self._metrics.count(message, error.code)
        self.send(refusal(message.id, error))

    def refuse_unread(self, reason: str) -> None:
        """Answer a frame that is not read because a limit is reached, which ``reason`` names."""
        self._metrics.count(None, ErrorCode.LIMIT_REACHED)
        self.send(Error(None, ErrorCode.LIMIT_REACHED, reason))

    def welcome(self, account_id: AccountId, name: str) -> None:
        """Know the client by this account from now on."""
        self.account_id = account_id
        self.name = name

    def send(self, message: ServerMessage) -> None:
        """Queue a message for the client; never waits."""
        try:
            self._outbox.put(self.codec.encode(message))
        except LocalProtocolError:
            log.exception("message not sent", account=self.account_id)
            if isinstance(message, Ok):
                self.send(Error(message.id, ErrorCode.LIMIT_REACHED, "the answer is too long to be sent"))

    def send_frame(self, frame: bytes) -> None:
        """Queue an encoded message for the client; never waits."""
        self._outbox.put(frame)

    def note_room(self, room: LiveRoom) -> None:
        """Note that the connection has entered this room."""
        self._rooms[room.state.code] = room

    def note_followed(self, room: FollowedRoom) -> None:
        """Note that the connection watches this room of another node."""
        self._followed[room.state.code] = room

    def forget_room(self, code: RoomCode) -> None:
        """Note that the connection is no longer in this room."""
        self._rooms.pop(code, None)
        self._followed.pop(code, None)

    def room(self, code: str) -> LiveRoom | None:
        """Return a room of this node that the connection has entered, by its code as the room writes it."""
        return self._rooms.get(RoomCode(code))

    def followed(self, code: RoomCode) -> FollowedRoom | None:
        """Return a room of another node that the connection watches here."""
        return self._followed.get(code)

    @property
    def rooms_count(self) -> int:
        """The number of rooms that the connection is in."""
        return len(self._rooms) + len(self._followed)

    def is_in(self, code: RoomCode) -> bool:
        """Return True if the connection is in this room."""
        return code in self._rooms or code in self._followed

    def close(self) -> None:
        """Leave every room and keep every seat, because the connection has ended."""
        for room in self._rooms.values():
            room.dismiss(self)
        for followed in self._followed.values():
            followed.dismiss(self)
        self._rooms.clear()
        self._followed.clear()
        if self.is_welcomed:
            self._on_close(self)
