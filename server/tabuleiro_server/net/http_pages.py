"""The few plain HTTP answers on the port of the game: /health, /metrics, and a word to lost browsers.

What the metrics say is up to `obs`.
"""

from __future__ import annotations

from collections.abc import Callable
from http import HTTPStatus
from typing import Final

from websockets.asyncio.server import ServerConnection
from websockets.http11 import Request, Response

from tabuleiro_server.config import Config
from tabuleiro_server.net.addresses import is_loopback
from tabuleiro_server.net.newcomer import Newcomer

METRICS_CONTENT_TYPE: Final = "text/plain; version=0.0.4; charset=utf-8"

_PROXY_HEADERS: Final = ("X-Forwarded-For", "Forwarded", "X-Real-IP", "Via")


class HttpPages:
    """Answers requests that don't ask for a WebSocket. ``render_metrics`` writes Prometheus' text format."""

    def __init__(self, config: Config, render_metrics: Callable[[], str]) -> None:
        self._config = config
        self._render_metrics = render_metrics

    def answer(self, connection: ServerConnection, request: Request) -> Response | None:
        """The answer to a plain request; ``None`` goes on with the WebSocket handshake."""
        path = request.path.partition("?")[0]
        if path == "/health":
            return connection.respond(HTTPStatus.OK, "ok\n")
        if path == "/metrics":
            return self._metrics(connection, request)
        if "Upgrade" not in request.headers:
            text = "this is a tabuleiro game server: use a client, e.g. tabuleiro play --server ADDRESS\n"
            return connection.respond(HTTPStatus.UPGRADE_REQUIRED, text)
        return None

    def _metrics(self, connection: ServerConnection, request: Request) -> Response:
        if not self._may_see_metrics(connection, request):
            return connection.respond(HTTPStatus.NOT_FOUND, "no such page; see the config key metrics\n")
        response = connection.respond(HTTPStatus.OK, self._render_metrics())
        del response.headers["Content-Type"]
        response.headers["Content-Type"] = METRICS_CONTENT_TYPE
        return response

    def _may_see_metrics(self, connection: ServerConnection, request: Request) -> bool:
        if self._config.metrics != "local":
            return self._config.metrics == "all"
        is_proxied = any(name in request.headers for name in _PROXY_HEADERS)
        return isinstance(connection, Newcomer) and is_loopback(connection.peer_address) and not is_proxied
