"""Plain HTTP on the port of the game: /health, /metrics, and the page in the browser.

A connection answers one request and is closed. What the metrics say is up to `metrics`.
"""

from __future__ import annotations

from collections.abc import Callable, Coroutine
from email.utils import formatdate
from http import HTTPStatus
from typing import Final
from urllib.parse import urlsplit

from websockets.http11 import Request

from tabuleiro.errors import CommandError
from tabuleiro_server.config import Config
from tabuleiro_server.net.addresses import is_local_host, is_loopback
from tabuleiro_server.net.page import SECURITY_HEADERS, Draw, File, NodeUrls, Page, Write

TEXT_CONTENT_TYPE: Final = "text/plain; charset=utf-8"
METRICS_CONTENT_TYPE: Final = "text/plain; version=0.0.4; charset=utf-8"

PICTURE_MAX_AGE_S: Final = 60
"""How long others may keep the picture of a position, which the next move changes."""

_PROXY_HEADERS: Final = (
    "X-Forwarded-For",
    "X-Forwarded-Host",
    "X-Forwarded-Proto",
    "Forwarded",
    "X-Real-IP",
    "Via",
)


class HttpPages:
    """Answers requests that ask for no WebSocket.

    ``render_metrics`` writes Prometheus' text format; ``page`` is ``None`` where browsers get none. ``node_urls``
    are the nodes of the server, whose pages may connect to each other. ``find_trouble`` tells in one word why the
    server cannot do its work now, and nothing while it can.
    """

    def __init__(
        self,
        config: Config,
        render_metrics: Callable[[], str],
        page: Page | None = None,
        node_urls: NodeUrls = tuple,
        find_trouble: Callable[[], str] = str,
    ) -> None:
        self._config = config
        self._render_metrics = render_metrics
        self._page = page
        self._node_urls = node_urls
        self._find_trouble = find_trouble
        known = filter(None, (*config.web_origins, config.public_url))
        self._origin_hosts = {urlsplit(address).netloc.lower() for address in known}

    def answer(self, request: Request, peer_address: str) -> bytes | Coroutine[None, None, bytes] | None:
        """Return the answer to a plain request, or ``None`` to go on with the WebSocket handshake.

        An answer that takes a while comes as a coroutine.

        Args:
            request: Its head; a request with a body is refused before.
            peer_address: The other end of the socket.
        """
        authority, target = _split_target(request.path)
        path = target.partition("?")[0]
        is_page = path in ("/health", "/metrics")
        if not is_page and request.method == "GET" and "Upgrade" in request.headers:
            if self._may_connect(request):
                return None
            text = "pages of other sites may not connect here; see the config key web_origins\n"
            return response(HTTPStatus.FORBIDDEN, text)
        if request.method not in ("GET", "HEAD"):
            text = "pages can be read, with GET or HEAD, and nothing else\n"
            return response(HTTPStatus.METHOD_NOT_ALLOWED, text, headers=(("Allow", "GET, HEAD"),))
        has_body = request.method == "GET"
        if path == "/health":
            trouble = self._find_trouble()
            status = HTTPStatus.SERVICE_UNAVAILABLE if trouble else HTTPStatus.OK
            return response(status, f"{trouble or 'ok'}\n", has_body=has_body)
        if path == "/metrics":
            hosts = [*request.headers.get_all("Host"), *authority]
            return self._metrics(request, peer_address, hosts, has_body=has_body)
        if self._page is not None:
            draw = self._page.find_picture(path)
            if draw is not None:
                return _picture_response(draw, has_body=has_body)
            write = self._page.find_room(path)
            if write is not None:
                return _room_response(write, request, has_body=has_body)
            file = self._page.find(path)
            return _file_response(file, request, has_body=has_body) if file else _not_found(has_body=has_body)
        text = "this is a tabuleiro game server: use a client, e.g. tabuleiro play --server ADDRESS\n"
        upgrade = (("Connection", "Upgrade"), ("Upgrade", "websocket"))
        return response(HTTPStatus.UPGRADE_REQUIRED, text, headers=upgrade, has_body=has_body)

    def _may_connect(self, request: Request) -> bool:
        """Return True unless a browser says that another site wants to connect; programs name no origin."""
        origins = request.headers.get_all("Origin")
        if not origins or "*" in self._config.web_origins:
            return True
        hosts = self._origin_hosts | {host.lower() for host in request.headers.get_all("Host")}
        hosts |= {urlsplit(url).netloc.lower() for url in self._node_urls()}
        return all(urlsplit(origin).netloc.lower() in hosts for origin in origins)

    def _metrics(self, request: Request, peer_address: str, hosts: list[str], *, has_body: bool) -> bytes:
        if not self._may_see_metrics(request, peer_address):
            text = "no such page; see the config key metrics\n"
            return response(HTTPStatus.NOT_FOUND, text, has_body=has_body)
        is_for_us = len(hosts) > 0 and all(map(is_local_host, hosts))
        if self._config.metrics == "local" and not is_for_us:
            text = "this page is at a local address alone, e.g. http://localhost; see the config key metrics\n"
            return response(HTTPStatus.MISDIRECTED_REQUEST, text, has_body=has_body)
        return response(HTTPStatus.OK, self._render_metrics(), METRICS_CONTENT_TYPE, has_body=has_body)

    def _may_see_metrics(self, request: Request, peer_address: str) -> bool:
        if self._config.metrics != "local":
            return self._config.metrics == "all"
        is_proxied = any(name in request.headers for name in _PROXY_HEADERS)
        return is_loopback(peer_address) and not is_proxied


def _split_target(target: str) -> tuple[list[str], str]:
    """Return the authority that a target in absolute form names, or nothing, and its path and query.

    >>> _split_target("http://localhost:8765/health?x"), _split_target("/health")
    ((['localhost:8765'], '/health?x'), ([], '/health'))
    """
    scheme, is_absolute, rest = target.partition("://")
    if not is_absolute or scheme.lower() not in ("http", "https"):
        return [], target
    authority, slash, path = rest.partition("/")
    return [authority], slash + path


def _not_found(*, has_body: bool) -> bytes:
    return response(HTTPStatus.NOT_FOUND, "there is no such page; start at /\n", has_body=has_body)


async def _picture_response(draw: Draw, *, has_body: bool) -> bytes:
    """Return a picture; a room that is not listed and one that does not exist are answered alike."""
    try:
        drawn = await draw()
    except CommandError as error:
        headers: tuple[tuple[str, str], ...] = (("Retry-After", "5"),)
        text = f"{error.message}\n"
        return response(HTTPStatus.SERVICE_UNAVAILABLE, text, headers=headers, has_body=has_body)
    if drawn is None:
        return _not_found(has_body=has_body)
    headers = (*SECURITY_HEADERS, ("Cache-Control", f"public, max-age={PICTURE_MAX_AGE_S}"))
    return response(HTTPStatus.OK, drawn, "image/png", headers=headers, has_body=has_body)


async def _room_response(write: Write, request: Request, *, has_body: bool) -> bytes:
    return _file_response(await write(), request, has_body=has_body)


def _file_response(file: File, request: Request, *, has_body: bool) -> bytes:
    is_zipped = "gzip" in ",".join(request.headers.get_all("Accept-Encoding"))
    headers = (*file.headers, ("Content-Encoding", "gzip")) if is_zipped else file.headers
    body = file.zipped if is_zipped else file.plain
    return response(HTTPStatus.OK, body, file.content_type, headers=headers, has_body=has_body)


def response(
    status: HTTPStatus,
    text: str | bytes,
    content_type: str = TEXT_CONTENT_TYPE,
    *,
    headers: tuple[tuple[str, str], ...] = (),
    has_body: bool = True,
) -> bytes:
    """Write a response after which the connection is closed.

    Args:
        status: Its status.
        text: Its body; bytes are sent as they are.
        content_type: The type of the body.
        headers: Further headers.
        has_body: False for the answer to HEAD, which tells the length of the body and leaves it out.
    """
    body = text.encode() if isinstance(text, str) else text
    lines = [
        f"HTTP/1.1 {status.value} {status.phrase}",
        f"Date: {formatdate(usegmt=True)}",
        "Connection: close",
        f"Content-Length: {len(body)}",
        f"Content-Type: {content_type}",
        *(f"{name}: {value}" for name, value in headers),
    ]
    head = "".join(f"{line}\r\n" for line in [*lines, ""]).encode("ascii")
    return head + body if has_body else head
