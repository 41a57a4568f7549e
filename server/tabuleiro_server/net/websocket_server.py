"""Listens, lets connections in within the limits, and runs a peer for each until it ends."""

from __future__ import annotations

import asyncio
from collections.abc import Sequence

import structlog
from websockets.asyncio.server import Server, ServerConnection, serve
from websockets.typing import Subprotocol

from tabuleiro.errors import ConfigError, RemoteProtocolError
from tabuleiro.protocol.codes import CloseCode
from tabuleiro.protocol.messages import ServerMessage
from tabuleiro.protocol.version import SUBPROTOCOLS
from tabuleiro_server.config import Config
from tabuleiro_server.net.addresses import Proxies
from tabuleiro_server.net.admission import Admission, Door
from tabuleiro_server.net.figures import NetFigures
from tabuleiro_server.net.http_pages import HttpPages
from tabuleiro_server.net.newcomer import Newcomer, newcomers_at
from tabuleiro_server.net.peer import Peer, close_or_cut
from tabuleiro_server.sessions.requests import Requests

log = structlog.get_logger(__name__)


class WebSocketServer:
    """Everything behind the port that clients connect to."""

    def __init__(self, requests: Requests, config: Config, pages: HttpPages, figures: NetFigures) -> None:
        self._requests = requests
        self._config = config
        self._pages = pages
        self._figures = figures
        self._proxies = Proxies(config.trusted_proxies)
        self._admission = Admission(config, figures)
        self._door = Door(config, self._proxies, figures)
        self._server: Server | None = None
        self._peers: set[Peer] = set()

    async def start(self) -> None:
        """Listen. Raises: ConfigError when the address cannot be had."""
        config = self._config
        try:
            self._server = await serve(
                self._serve_connection,
                config.host,
                config.port,
                process_request=self._pages.answer,
                subprotocols=[Subprotocol(name) for name in SUBPROTOCOLS],
                select_subprotocol=_common_subprotocol,
                create_connection=newcomers_at(self._door, config.client_frame_bytes),
                max_size=config.client_frame_bytes,
                compression=None,
                open_timeout=config.handshake_timeout_ms / 1000,
                ping_interval=config.ping_interval_ms / 1000,
                ping_timeout=config.ping_timeout_ms / 1000,
                close_timeout=config.close_timeout_ms / 1000,
                server_header=None,
            )
        except OSError as error:
            address = f"{config.host}:{config.port}"
            reason = f"a free address of this machine: {error.strerror or error}"
            raise ConfigError(address, "host and port", reason) from error

    @property
    def port(self) -> int:
        """The TCP port listened on."""
        assert self._server is not None
        port: int = self._server.sockets[0].getsockname()[1]
        return port

    @property
    def connections_count(self) -> int:
        """Open connections that were let in."""
        return len(self._peers)

    def send_all(self, message: ServerMessage) -> None:
        """Tell every client something."""
        for peer in self._peers:
            peer.send(message)

    async def stop(self) -> None:
        """Stop listening, and tell every client that the server restarts (1012).

        Cancelling it cuts the connections that have not gone yet.
        """
        if self._server is None:
            return
        self._server.close(close_connections=False)
        for newcomer in self._door.waiting:
            newcomer.cut()
        endings = [asyncio.create_task(peer.end_for_restart()) for peer in self._peers]
        try:
            await self._server.wait_closed()
        finally:
            for peer in tuple(self._peers):
                peer.cut()
            await asyncio.gather(*endings)

    async def _serve_connection(self, connection: ServerConnection) -> None:
        assert isinstance(connection, Newcomer)
        try:
            if connection.subprotocol is None:
                known = " or ".join(SUBPROTOCOLS)
                raise RemoteProtocolError(f"speak the subprotocol {known}", CloseCode.PROTOCOL_ERROR)
            with self._admission.place(self._address_of(connection)):
                self._door.leave(connection)
                await self._serve_peer(connection)
        except RemoteProtocolError as error:
            log.info("connection refused", reason=error.message)
            code = CloseCode(error.close_code or CloseCode.PROTOCOL_ERROR)
            connection.ignore_messages()
            await close_or_cut(connection, code, error.message, self._config.close_timeout_ms)

    async def _serve_peer(self, connection: Newcomer) -> None:
        peer = Peer(connection, self._requests, self._config, self._figures)
        self._peers.add(peer)
        try:
            await peer.run()
        finally:
            self._peers.discard(peer)

    def _address_of(self, connection: Newcomer) -> str:
        assert connection.request is not None
        forwarded_for = connection.request.headers.get_all("X-Forwarded-For")
        return self._proxies.client_address(connection.peer_address, forwarded_for)


def _common_subprotocol(_: ServerConnection, offered: Sequence[Subprotocol]) -> Subprotocol | None:
    """The subprotocol that we like best of those offered; ``None`` when we speak none of them."""
    return next((Subprotocol(name) for name in SUBPROTOCOLS if name in offered), None)
