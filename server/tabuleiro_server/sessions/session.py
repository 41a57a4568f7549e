"""The session of one connection: its guest, its rooms, and its messages.

It knows no sockets: frames come in through :meth:`Session.receive` and go out through the outbox. `requests` does
what each request asks for.
"""

from __future__ import annotations

import asyncio
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
from tabuleiro_server.rooms.live_room import LiveRoom
from tabuleiro_server.sessions.outbox import Outbox

log = structlog.get_logger(__name__)

Answering = asyncio.Future[Any] | Coroutine[Any, Any, None]
"""A request being answered: the future of a room's command, or a coroutine still to be run."""

Answerer = Callable[["Session", ClientMessage], Answering]


class Session:
    """One client. Requests are taken one by one, so answers come in the order of the requests.

    ``answer`` does what a request asks for. ``on_close`` is called once, with a session that was welcomed.
    ``on_fault`` is called when an answer fails by a fault of ours. ``lag_ms`` is the one-way lag as measured by
    the owner of the connection.
    """

    def __init__(
        self,
        codec: Codec,
        outbox: Outbox,
        answer: Answerer,
        on_close: Callable[[Session], None],
        on_fault: Callable[[Exception], None],
        metrics: RequestMetrics | None = None,
    ) -> None:
        """``metrics`` ``None``: nobody counts."""
        self.codec = codec
        self.account_id = AccountId("")
        self.name = ""
        self.lag_ms = 0
        self._metrics = metrics or RequestMetrics()
        self._outbox = outbox
        self._answer = answer
        self._on_close = on_close
        self._on_fault = on_fault
        self._rooms: dict[RoomCode, LiveRoom] = {}

    @property
    def is_welcomed(self) -> bool:
        """True once the client has said hello and was recognised."""
        return bool(self.account_id)

    def receive(self, frame: bytes) -> asyncio.Future[Any] | None:
        """Take one frame and answer it.

        Returns:
            What has to be awaited before the next frame, or ``None``.

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
        answering.add_done_callback(partial(self._note_answer, message))
        return answering

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
        self.send(Error(message.id, error.code, error.message))

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

    def forget_room(self, code: RoomCode) -> None:
        """Note that the connection is no longer in this room."""
        self._rooms.pop(code, None)

    @property
    def rooms_count(self) -> int:
        """The number of rooms that the connection is in."""
        return len(self._rooms)

    def is_in(self, code: RoomCode) -> bool:
        """Return True if the connection is in this room."""
        return code in self._rooms

    def close(self) -> None:
        """Leave every room and keep every seat, because the connection has ended."""
        for room in self._rooms.values():
            room.dismiss(self)
        self._rooms.clear()
        if self.is_welcomed:
            self._on_close(self)
