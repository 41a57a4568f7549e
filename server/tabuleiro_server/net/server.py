"""Listens, admits connections within the limits, and hands each to a handler until it ends."""

from __future__ import annotations

import asyncio
import errno
import socket
from collections.abc import Callable
from functools import partial

import structlog

from tabuleiro.errors import ConfigError, RemoteProtocolError
from tabuleiro.protocol.addresses import format_server_url, parse_server_url
from tabuleiro.protocol.codes import CloseCode
from tabuleiro.protocol.messages import ServerMessage
from tabuleiro.protocol.version import SUBPROTOCOLS
from tabuleiro_server.config import Config
from tabuleiro_server.memory import Memory
from tabuleiro_server.metrics import NetMetrics
from tabuleiro_server.net.addresses import Proxies, is_loopback, own_addresses, rate_limit_key
from tabuleiro_server.net.connection import READ_BYTES, Connection, Flusher, Framer, Shared
from tabuleiro_server.net.handler import Handler
from tabuleiro_server.net.http import HttpPages
from tabuleiro_server.net.rate_limit import ANSWERED_TIMES, ConnectionLimiter, HandshakeLimiter
from tabuleiro_server.sessions.requests import Requests

log = structlog.get_logger(__name__)


class WebSocketServer:
    """Everything behind the port that clients connect to.

    ``public_urls`` are the addresses by which other machines reach it once it listens, the best one first.
    """

    def __init__(
        self,
        requests: Requests,
        config: Config,
        pages: HttpPages,
        metrics: NetMetrics,
        awake_s: Callable[[], float],
        memory: Memory,
    ) -> None:
        self.public_urls: list[str] = []
        self._requests = requests
        self._config = config
        self._metrics = metrics
        self._proxies = Proxies(config.trusted_proxies)
        self._limiter = ConnectionLimiter(config, metrics, memory)
        self._handshakes = HandshakeLimiter(config, self._proxies, metrics)
        buffer = bytearray(READ_BYTES)
        self._answered = HandshakeLimiter(config, self._proxies, metrics, ANSWERED_TIMES)
        self._shared = Shared(
            config, self._handshakes, self._answered, pages, self._open, Flusher(), Framer(), buffer, awake_s
        )
        self._server: asyncio.Server | None = None
        self._addresses: dict[Handler, str] = {}
        self._all_finished = asyncio.Event()

    async def start(self) -> None:
        """Listen.

        Raises:
            ConfigError: The address cannot be had.
        """
        try:
            await self._listen()
            self.public_urls = await self._find_public_urls()
        except BaseException:
            if self._server is not None:
                self._server.close()
            raise

    async def _listen(self) -> None:
        config, loop = self._config, asyncio.get_running_loop()
        try:
            # In two steps: if it is cancelled while it begins to listen, the sockets are known and can be closed.
            self._server = await loop.create_server(
                partial(Connection, self._shared), config.host, config.port, start_serving=False
            )
            await self._server.start_serving()
        except (OSError, UnicodeError) as error:
            address, reason = f"{config.host}:{config.port}", _why_not_free(error)
            raise ConfigError(address, "host and port", f"a free address of this machine: {reason}") from error

    async def _find_public_urls(self) -> list[str]:
        if self._config.public_url:
            return [parse_server_url(self._config.public_url)]
        # The name of a machine may be asked for over the network, which takes its time.
        addresses = await asyncio.to_thread(own_addresses, self._config.host)
        return [format_server_url(address, self.port) for address in addresses]

    @property
    def port(self) -> int:
        """Return the TCP port listened on."""
        assert self._server is not None
        port: int = self._server.sockets[0].getsockname()[1]
        return port

    @property
    def connections_count(self) -> int:
        """Return how many connections are admitted."""
        return len(self._addresses)

    def send_all(self, message: ServerMessage) -> None:
        """Tell every client something."""
        for handler in self._addresses:
            handler.send(message)

    async def stop(self) -> None:
        """Stop listening, and tell every client that the server restarts (1012).

        Cancelling it cuts the connections that have not gone yet.
        """
        if self._server is None:
            return
        self._server.close()
        for connection in (*self._handshakes.waiting, *self._answered.waiting):
            connection.cut()
        for handler in tuple(self._addresses):
            handler.end_after_answers(CloseCode.SERVICE_RESTART, "the server restarts; connect again and resume")
        try:
            await self._until_all_finished()
        finally:
            for handler in tuple(self._addresses):
                handler.cut()
            await self._until_all_finished()

    async def _until_all_finished(self) -> None:
        while self._addresses:
            self._all_finished.clear()
            await self._all_finished.wait()

    def _open(self, connection: Connection) -> None:
        address = self._proxies.client_address(
            connection.peer_address, connection.request.headers.get_all("X-Forwarded-For")
        )
        try:
            if connection.subprotocol is None:
                known = " or ".join(SUBPROTOCOLS)
                raise RemoteProtocolError(f"speak the subprotocol {known}", CloseCode.PROTOCOL_ERROR)
            self._limiter.admit(address)
        except RemoteProtocolError as error:
            log.info("connection refused", reason=error.message)
            connection.close(CloseCode(error.close_code or CloseCode.PROTOCOL_ERROR), error.message)
            return
        self._handshakes.leave(connection)
        handler = Handler(
            connection,
            rate_limit_key(address),
            self._requests,
            self._config,
            self._metrics,
            self._finish,
            self._public_url(address),
        )
        self._addresses[handler] = address

    def _public_url(self, address: str) -> str | None:
        """Return the address for the invitations of a client at ``address``; ``None``: the one it has used itself.

        Our guess is for those on this machine alone: whoever came from elsewhere knows a better way.
        """
        if not self._config.public_url and not is_loopback(address):
            return None
        return self.public_urls[0] if self.public_urls else None

    def _finish(self, handler: Handler) -> None:
        self._limiter.release(self._addresses.pop(handler))
        if not self._addresses:
            self._all_finished.set()


def _why_not_free(error: OSError | UnicodeError) -> str:
    """Return what is wrong with an address to listen on, and what to do."""
    match error:
        case socket.gaierror() | UnicodeError():
            return "there is no such host"
        case OSError(errno=errno.EADDRINUSE):
            return "the port is in use; stop the other server, or choose another port with --port"
        # From Python 3.13 on, asyncio raises one error without a number for all addresses that it could not have.
        case OSError(errno=errno.EADDRNOTAVAIL) | OSError(errno=None):
            return "this machine does not have it; 0.0.0.0 stands for all that it has"
        case OSError(errno=errno.EACCES):
            return "this user may not have the port; choose one from 1024 on with --port"
    return "it cannot be had"
