"""WebSocket connections: frames between the sockets and the sessions, and the life of each connection."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from http import HTTPStatus

import structlog
from websockets.asyncio.server import Server, ServerConnection, serve
from websockets.exceptions import ConnectionClosed
from websockets.http11 import Request, Response
from websockets.typing import Subprotocol

from tabuleiro.errors import RemoteProtocolError
from tabuleiro.protocol.codec import CLIENT_FRAME_MAX_BYTES, codec_for
from tabuleiro.protocol.codes import CloseCode
from tabuleiro.protocol.version import SUBPROTOCOLS
from tabuleiro_server.config import Config
from tabuleiro_server.runtime.outbox import Outbox
from tabuleiro_server.runtime.requests import Requests
from tabuleiro_server.runtime.session import Session

log = structlog.get_logger(__name__)

CLOSE_REASON_MAX_BYTES = 120
"""RFC 6455 allows 123."""


class WebSocketServer:
    """Listens, and runs one session for each connection."""

    def __init__(self, requests: Requests, config: Config) -> None:
        self._requests = requests
        self._config = config
        self._server: Server | None = None
        self._connections: dict[ServerConnection, Session] = {}

    async def start(self) -> None:
        """Listen. Raises: OSError when the address cannot be had."""
        self._server = await serve(
            self._serve_connection,
            self._config.host,
            self._config.port,
            process_request=_answer_http,
            subprotocols=[Subprotocol(name) for name in SUBPROTOCOLS],
            max_size=CLIENT_FRAME_MAX_BYTES,
            max_queue=16,
            compression=None,
            ping_interval=20,
            ping_timeout=20,
            close_timeout=5,
            server_header=None,
        )

    @property
    def port(self) -> int:
        """The TCP port listened on."""
        assert self._server is not None
        port: int = self._server.sockets[0].getsockname()[1]
        return port

    @property
    def connections_count(self) -> int:
        """Open connections."""
        return len(self._connections)

    def send_all(self, send: Callable[[Session], None]) -> None:
        """Have something sent to every connection."""
        for session in self._connections.values():
            send(session)

    async def stop(self) -> None:
        """Close every connection with 1012 (service restart) and stop listening.

        Cancelling it breaks the connections that have not answered yet.
        """
        if self._server is None:
            return
        self._server.close(code=CloseCode.SERVICE_RESTART, reason="the server restarts")
        try:
            await self._server.wait_closed()
        except asyncio.CancelledError:
            for connection in self._connections:
                connection.transport.abort()
            raise

    async def _serve_connection(self, connection: ServerConnection) -> None:
        if connection.subprotocol is None:
            known = " or ".join(SUBPROTOCOLS)
            await connection.close(CloseCode.PROTOCOL_ERROR, f"speak the subprotocol {known}")
            return
        closing: set[asyncio.Task[None]] = set()

        def close_slow_reader() -> None:
            log.info("slow reader closed", account=session.account_id)
            reason = "you read too slowly; connect again and resume"
            closing.add(asyncio.create_task(connection.close(CloseCode.TOO_SLOW, reason)))

        outbox = Outbox(self._config.outbox_frames_count, close_slow_reader)
        session = Session(
            codec_for(connection.subprotocol), outbox, self._requests.answer, self._requests.farewell
        )
        self._connections[connection] = session
        writer = asyncio.create_task(_write(connection, session, outbox), name="connection writer")
        try:
            await self._read(connection, session)
        except ConnectionClosed:
            pass
        except RemoteProtocolError as error:
            log.info("connection refused", reason=error.message, close_code=error.close_code)
            await connection.close(error.close_code or CloseCode.PROTOCOL_ERROR, _cut(error.message))
        finally:
            self._connections.pop(connection, None)
            session.close()
            outbox.close()
            await asyncio.gather(writer, *closing)

    async def _read(self, connection: ServerConnection, session: Session) -> None:
        try:
            async with asyncio.timeout(self._config.hello_timeout_ms / 1000):
                while not session.is_welcomed:
                    await session.receive(await _frame(connection, session))
        except TimeoutError:
            raise RemoteProtocolError("no hello in time", CloseCode.HELLO_TIMEOUT) from None
        while True:
            await session.receive(await _frame(connection, session))


def _answer_http(connection: ServerConnection, request: Request) -> Response | None:
    """Answer plain HTTP requests; ``None`` goes on with the WebSocket handshake."""
    if request.path == "/health":
        return connection.respond(HTTPStatus.OK, "ok\n")
    if "Upgrade" not in request.headers:
        return connection.respond(HTTPStatus.UPGRADE_REQUIRED, "this is a tabuleiro game server: use a client\n")
    return None


async def _frame(connection: ServerConnection, session: Session) -> bytes:
    """Wait for the next frame. Raises: RemoteProtocolError when it is of the wrong kind."""
    frame = await connection.recv()
    if isinstance(frame, str) != session.codec.is_text:
        wanted = "text" if session.codec.is_text else "binary"
        message = f"{session.codec.subprotocol} is spoken in {wanted} frames"
        raise RemoteProtocolError(message, CloseCode.UNSUPPORTED_DATA)
    return frame.encode() if isinstance(frame, str) else frame


async def _write(connection: ServerConnection, session: Session, outbox: Outbox) -> None:
    try:
        while frames := await outbox.take():
            for frame in frames:
                await connection.send(frame, text=session.codec.is_text)
    except ConnectionClosed:
        outbox.close()


def _cut(reason: str) -> str:
    """The reason as short as a close frame wants it."""
    return reason.encode()[:CLOSE_REASON_MAX_BYTES].decode(errors="ignore")
