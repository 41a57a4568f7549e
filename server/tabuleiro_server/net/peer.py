"""One WebSocket connection from its handshake to its end: frames between the socket and the session.

Which limits there are is up to the config, whether there is a place for the connection to `admission`, and what
messages mean to `runtime`.
"""

from __future__ import annotations

import asyncio
from typing import Any, Final

import structlog
from websockets.exceptions import ConnectionClosed

from tabuleiro.errors import RemoteProtocolError
from tabuleiro.protocol.codec import codec_for
from tabuleiro.protocol.codes import CloseCode
from tabuleiro.protocol.messages import ServerMessage
from tabuleiro_server.config import Config
from tabuleiro_server.net.credits import Credits, Spending
from tabuleiro_server.net.figures import NetFigures
from tabuleiro_server.net.message_inbox import Received
from tabuleiro_server.net.newcomer import Newcomer
from tabuleiro_server.sessions.outbox import Outbox
from tabuleiro_server.sessions.requests import Requests
from tabuleiro_server.sessions.session import Session

log = structlog.get_logger(__name__)

CLOSE_REASON_MAX_BYTES: Final = 120
"""RFC 6455 allows 123."""


class Peer:
    """A connection that was let in and speaks one of our subprotocols."""

    def __init__(self, connection: Newcomer, requests: Requests, config: Config, figures: NetFigures) -> None:
        assert connection.subprotocol is not None
        self._connection = connection
        self._config = config
        self._figures = figures
        self._outbox = Outbox(
            config.outbox_frames_count, config.outbox_bytes, self._cut_slow_reader, connection.send_now
        )
        codec = codec_for(connection.subprotocol)
        connection.is_text = codec.is_text
        self._session = Session(
            codec,
            self._outbox,
            requests.answer,
            requests.farewell,
            self._fail,
            requests.figures,
        )
        self._answering: asyncio.Future[Any] | None = None
        self._loop = asyncio.get_running_loop()
        self._credits = Credits(config.messages_per_second_count, config.messages_burst_count, self._loop.time())
        self._writer = asyncio.create_task(self._write(), name="connection writer")
        self._cutting: asyncio.Task[None] | None = None
        self._is_ending = False
        self._ended: asyncio.Future[None] = self._loop.create_future()

    async def run(self) -> None:
        """Serve the connection until it ends; then nothing of it is left."""
        hello_limit = self._loop.call_later(self._config.hello_timeout_ms / 1000, self._miss_hello)
        try:
            self._connection.listen(self._take, self._fail)
            await self._ended
        except ConnectionClosed as error:
            log.debug("connection ended", account=self._session.account_id, reason=str(error))
        except RemoteProtocolError as error:
            log.info("connection closed", reason=error.message, close_code=error.close_code)
            code = CloseCode(error.close_code or CloseCode.PROTOCOL_ERROR)
            self._connection.ignore_messages()
            await self.end(code, error.message)
        except Exception:
            # A fault of ours in answering one client must not keep anything of it behind.
            log.exception("connection failed", account=self._session.account_id)
            self._connection.ignore_messages()
            await self.end(CloseCode.INTERNAL_ERROR, "the server made a mistake; connect again")
        finally:
            hello_limit.cancel()
            await self._give_up_answering()
            self._session.close()
            self._outbox.close()
            await asyncio.wait({self._writer} if self._cutting is None else {self._writer, self._cutting})

    async def end(self, code: CloseCode, reason: str) -> None:
        """Close the connection after what waits for it was sent; cut it when that takes too long."""
        self._is_ending = True
        self._outbox.close()
        await asyncio.wait({self._writer}, timeout=self._config.close_timeout_ms / 1000)
        await self._close(code, reason)

    def send(self, message: ServerMessage) -> None:
        """Tell the client something; never waits."""
        self._session.send(message)

    async def end_for_restart(self) -> None:
        """Close because the server restarts, which the client was told before."""
        await self.end(CloseCode.SERVICE_RESTART, "the server restarts; connect again and resume")

    def cut(self) -> None:
        """End the connection without a word."""
        self._connection.cut()

    def _take(self, received: Received) -> asyncio.Future[Any] | None:
        """Answer a message; gives what has to be done before the next one is looked at, if anything has."""
        try:
            self._answering = self._session.receive(received.data) if self._is_heard(received) else None
        except Exception as error:
            self._answering = None
            self._fail(error)
        return self._answering

    def _fail(self, reason: Exception) -> None:
        """End :meth:`run` for this reason."""
        if not self._ended.done():
            self._ended.set_exception(reason)

    def _miss_hello(self) -> None:
        if not self._session.is_welcomed:
            reason = f"hello_timeout_ms: no hello within {self._config.hello_timeout_ms} ms"
            self._fail(RemoteProtocolError(reason, CloseCode.HELLO_TIMEOUT))

    async def _give_up_answering(self) -> None:
        """Nobody waits for the answer any more: it is ended, if it has not."""
        if self._answering is not None and not self._answering.done():
            self._answering.cancel()
            await asyncio.wait({self._answering})

    def _is_heard(self, received: Received) -> bool:
        """Whether a message is answered; one too many is refused here.

        Raises: RemoteProtocolError when the connection has to end.
        """
        session = self._session
        if self._is_ending or self._ended.done():
            return False
        self._figures.frame_count += 1
        spending = self._credits.spend(self._loop.time())
        if spending is not Spending.GRANTED:
            reason = self._spent_reason()
            if spending is Spending.FLOOD:
                raise RemoteProtocolError(reason, CloseCode.TOO_MANY_MESSAGES)
            session.refuse_unread(reason)
            return False
        if received.is_text is not session.codec.is_text:
            wanted = "text" if session.codec.is_text else "binary"
            message = f"{session.codec.subprotocol} is spoken in {wanted} frames"
            raise RemoteProtocolError(message, CloseCode.UNSUPPORTED_DATA)
        session.lag_ms = one_way_ms(self._connection.latency)
        return True

    def _spent_reason(self) -> str:
        config = self._config
        return (
            f"messages_per_second_count: at most {config.messages_per_second_count} messages a second, and"
            f" {config.messages_burst_count} at once"
        )

    async def _write(self) -> None:
        """Send what is in the outbox, until it is closed; first of all a ping, which measures the lag."""
        try:
            await self._connection.ping()
            while frames := await self._outbox.take():
                for frame in frames:
                    await self._connection.send(frame, text=self._session.codec.is_text)
        except ConnectionClosed:
            self._outbox.close()

    def _cut_slow_reader(self) -> None:
        log.info("slow reader closed", account=self._session.account_id)
        self._is_ending = True
        reason = "you read too slowly; connect again and resume"
        self._cutting = asyncio.create_task(self._close(CloseCode.TOO_SLOW, reason), name="slow reader's end")

    async def _close(self, code: CloseCode, reason: str) -> None:
        self._figures.closed_counts[code] += 1
        await close_or_cut(self._connection, code, reason, self._config.close_timeout_ms)


async def close_or_cut(connection: Newcomer, code: CloseCode, reason: str, limit_ms: int) -> None:
    """Close with a reason; a peer that has not said goodbye within ``limit_ms`` is cut off.

    Somebody has to go on reading meanwhile, for the goodbye may stand behind much else.
    """
    cut_reason = reason.encode()[:CLOSE_REASON_MAX_BYTES].decode(errors="ignore")
    try:
        async with asyncio.timeout(limit_ms / 1000):
            await connection.close(code, cut_reason)
    except TimeoutError:
        connection.cut()


def one_way_ms(round_trip_s: float) -> int:
    """How long a message is on its way, in whole milliseconds, from a round trip in seconds.

    >>> one_way_ms(0.25)
    125
    """
    return int(round_trip_s * 500)
