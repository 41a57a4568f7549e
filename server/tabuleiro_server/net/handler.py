"""The messages of one connection that was admitted: read within the limits, answered one after the other.

Which limits there are is up to the config, and what messages mean to `sessions`.
"""

from __future__ import annotations

import asyncio
from collections import deque
from collections.abc import Callable
from enum import Enum
from typing import Any, Final

import structlog

from tabuleiro.errors import RemoteProtocolError
from tabuleiro.protocol.codec import codec_for
from tabuleiro.protocol.codes import CloseCode
from tabuleiro.protocol.messages import ServerMessage
from tabuleiro_server.config import Config
from tabuleiro_server.metrics import NetMetrics
from tabuleiro_server.net.connection import Connection
from tabuleiro_server.sessions.requests import Requests
from tabuleiro_server.sessions.session import Outbox, Session
from tabuleiro_server.timers import Limit

log = structlog.get_logger(__name__)

WAITING_MAX_COUNT: Final = 16
"""Messages of one connection that are read ahead."""

OUTBOX_BEFORE_HELLO_BYTES: Final = 64 * 1024
"""Bytes that may wait for a reader that has not said hello, and so is owed nothing but a few refusals."""


class Verdict(Enum):
    """The answer of a rate limiter for something that was received."""

    GRANTED = "granted"
    REFUSED = "refused"
    """Too much; it is not read."""
    FLOOD = "flood"
    """Far too much; the connection is closed."""


GRANTED: Final = Verdict.GRANTED
"""For every message: members of enumerations take long to look up."""


class RateLimiter:
    """A token bucket: ``burst_count`` tokens at first and at most, ``per_second_count`` new ones a second.

    What is refused costs a token as well, so a client that keeps sending goes into debt; a debt of ``burst_count``
    is a flood. Time comes from the caller, in seconds of any monotonic clock.
    """

    def __init__(self, per_second_count: int, burst_count: int, now_s: float) -> None:
        self._per_second_count = per_second_count
        self._burst_count = burst_count
        self._tokens = float(burst_count)
        self._counted_s = now_s

    def spend(self, now_s: float) -> Verdict:
        """Take one token.

        >>> limiter = RateLimiter(per_second_count=1, burst_count=1, now_s=0.0)
        >>> limiter.spend(0.0), limiter.spend(0.0), limiter.spend(2.0)
        (<Verdict.GRANTED: 'granted'>, <Verdict.REFUSED: 'refused'>, <Verdict.GRANTED: 'granted'>)
        """
        earned = (now_s - self._counted_s) * self._per_second_count
        self._tokens = min(self._tokens + earned, self._burst_count) - 1
        self._counted_s = now_s
        if self._tokens >= 0:
            return GRANTED
        return Verdict.REFUSED if self._tokens >= -self._burst_count else Verdict.FLOOD


class Handler:
    """Answers what a connection receives that speaks one of our subprotocols.

    ``on_finished`` is called once nothing of it is left. ``address``, ``public_url``: as in :class:`Session`.
    """

    def __init__(
        self,
        connection: Connection,
        address: str,
        requests: Requests,
        config: Config,
        metrics: NetMetrics,
        on_finished: Callable[[Handler], None],
        public_url: str | None,
    ) -> None:
        assert connection.subprotocol is not None
        self._connection = connection
        self._config = config
        self._metrics = metrics
        self._on_finished = on_finished
        self._loop = asyncio.get_running_loop()
        self._outbox = Outbox(
            config.outbox_frames_count, OUTBOX_BEFORE_HELLO_BYTES, connection.send_now, self._end_slow_reader
        )
        self._codec = codec_for(connection.subprotocol)
        self._session = Session(
            self._codec,
            self._outbox,
            requests.answer,
            requests.farewell,
            self._end_by_fault,
            self._go_on,
            requests.metrics,
            address,
            public_url,
        )
        self._limiter = RateLimiter(
            config.messages_per_second_count, config.messages_burst_count, self._loop.time()
        )
        # Of each message its bytes, whether it is text, and whether it is refused.
        self._waiting: deque[tuple[bytes, bool, bool]] = deque()
        self._underway: asyncio.Future[Any] | None = None
        self._last_words: tuple[CloseCode, str] | None = None
        self._ending: tuple[CloseCode, str] | None = None
        self._is_lost = False
        self._hello_limit: Limit | None = Limit(config.hello_timeout_ms / 1000, self._miss_hello)
        self._drain_limit: asyncio.TimerHandle | None = None
        connection.is_text = self._codec.is_text
        connection.serve(self)

    def send(self, message: ServerMessage) -> None:
        """Tell the client something; never waits."""
        self._session.send(message)

    def end(self, code: CloseCode, reason: str) -> None:
        """Close the connection behind what waits for it, or when that takes too long."""
        if self._ending is not None:
            return
        self._ending = (code, reason)
        self._metrics.closed_counts[code] += 1
        self._waiting.clear()
        self._outbox.close()
        if self._outbox.is_empty:
            self._close()
        else:
            self._drain_limit = self._loop.call_later(self._config.close_timeout_ms / 1000, self._close)

    def end_after_answers(self, code: CloseCode, reason: str) -> None:
        """Read no more, answer what was read, and close the connection then."""
        if self._underway is None:
            self.end(code, reason)
        elif self._last_words is None:
            self._last_words = (code, reason)
            self._connection.pause_reading()

    def cut(self) -> None:
        """End the connection without a word, and what is being answered with it."""
        self._waiting.clear()
        if self._underway is not None:
            self._underway.cancel()
        self._connection.cut()

    # What the connection tells

    def message_received(self, data: bytes, *, is_text: bool) -> None:
        verdict = self._limiter.spend(self._loop.time())
        is_refused = verdict is not GRANTED
        if is_refused and verdict is Verdict.FLOOD:
            self._end_flood()
        if self._ending is not None:
            return
        if self._underway is None:
            self._answer(data, is_text, is_refused)
            return
        self._waiting.append((b"" if is_refused else data, is_text, is_refused))
        if len(self._waiting) > WAITING_MAX_COUNT:
            self._connection.pause_reading()

    def part_received(self) -> None:
        if self._limiter.spend(self._loop.time()) is Verdict.FLOOD:
            self._end_flood()

    def room_made(self) -> None:
        self._outbox.send_waiting()
        if self._ending is not None and self._outbox.is_empty:
            self._close()

    def connection_lost(self) -> None:
        self._is_lost = True
        self._outbox.close()
        if self._ending is not None and self._underway is not None:
            self._underway.cancel()
        # What came before the end is carried out.
        self._finish_if_idle()

    # One message after the other

    def _answer(self, data: bytes, is_text: bool, is_refused: bool) -> None:
        self._metrics.frame_count += 1
        session = self._session
        if self._hello_limit is not None and session.is_welcomed:
            self._end_newcomers_limits(self._hello_limit)
        if is_refused:
            session.refuse_unread(self._limit_text())
        elif is_text is not self._codec.is_text:
            wanted = "text" if self._codec.is_text else "binary"
            reason = f"{self._codec.subprotocol} is spoken in {wanted} frames"
            self._end_by_client(CloseCode.UNSUPPORTED_DATA, reason)
        else:
            session.lag_ms = self._connection.lag_ms
            try:
                self._underway = session.receive(data)
            except RemoteProtocolError as error:
                self._end_by_client(CloseCode(error.close_code or CloseCode.PROTOCOL_ERROR), error.message)
            except Exception as error:
                # A fault of ours in answering one client must not keep anything of it behind.
                self._end_by_fault(error)

    def _go_on(self) -> None:
        self._underway = None
        while self._waiting and self._underway is None:
            data, is_text, is_refused = self._waiting.popleft()
            if not self._waiting and self._last_words is None:
                self._connection.resume_reading()
            self._answer(data, is_text, is_refused)
        if self._underway is None and self._last_words is not None:
            self.end(*self._last_words)
        self._finish_if_idle()

    def _finish_if_idle(self) -> None:
        if not self._is_lost or self._underway is not None:
            return
        log.debug("connection ended", account=self._session.account_id, reason=self._connection.ending)
        for limit in (self._hello_limit, self._drain_limit):
            if limit is not None:
                limit.cancel()
        self._session.close()
        self._on_finished(self)
        # Both know this handler: without the circle memory is free at once.
        del self._session, self._outbox

    def _end_newcomers_limits(self, hello_limit: Limit) -> None:
        hello_limit.cancel()
        self._hello_limit = None
        self._outbox.limit_bytes = self._config.outbox_bytes

    # Reasons for the end

    def _end_by_client(self, code: CloseCode, reason: str) -> None:
        if self._ending is None:
            log.info("connection closed", reason=reason, close_code=code)
            self.end(code, reason)

    def _end_flood(self) -> None:
        self._end_by_client(CloseCode.TOO_MANY_MESSAGES, self._limit_text())
        # At once: meanwhile more would be read.
        self._close()

    def _end_by_fault(self, error: Exception) -> None:
        log.error("connection failed", account=self._session.account_id, exc_info=error)
        self.end(CloseCode.INTERNAL_ERROR, "the server made a mistake; connect again")

    def _end_slow_reader(self) -> None:
        log.info("slow reader closed", account=self._session.account_id)
        self.end(CloseCode.TOO_SLOW, "you read too slowly; connect again and resume")

    def _miss_hello(self) -> None:
        if not self._session.is_welcomed:
            reason = f"hello_timeout_ms: no hello within {self._config.hello_timeout_ms} ms"
            self._end_by_client(CloseCode.HELLO_TIMEOUT, reason)

    def _limit_text(self) -> str:
        config = self._config
        return (
            f"messages_per_second_count: at most {config.messages_per_second_count} messages a second, and"
            f" {config.messages_burst_count} at once"
        )

    def _close(self) -> None:
        assert self._ending is not None
        self._connection.close(*self._ending)
