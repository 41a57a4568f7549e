"""Connections that cannot be made, each told in words that say what to do; never a library's text or a number."""

from __future__ import annotations

import asyncio
import errno
import re
import socket
import ssl
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path

import pytest
from websockets.datastructures import Headers
from websockets.exceptions import InvalidProxyMessage, InvalidStatus, InvalidUpgrade, ProxyError
from websockets.http11 import Response

from tabuleiro.errors import CommandError, ConnectionLostError
from tabuleiro.ids import RoomCode
from tabuleiro.protocol.messages import JoinRoom
from tabuleiro_client.net.link import Link, check_reachable, connecting_reason
from tabuleiro_server.config import Config
from tabuleiro_server.wiring import running_server

CERTIFICATE = Path(__file__).parents[2] / "data" / "localhost.pem"
"""For localhost, signed by nobody, made with its key for these tests; good for a hundred years."""


@asynccontextmanager
async def listening(answer: bytes, *, is_secure: bool = False) -> AsyncIterator[int]:
    """Something that answers whatever it is told with ``answer``; gives its port."""
    context = None
    if is_secure:
        context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
        context.load_cert_chain(CERTIFICATE)

    async def talk(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        try:
            await reader.read(1000)
            writer.write(answer)
            await writer.drain()
        except ConnectionError:
            pass
        finally:
            writer.close()

    server = await asyncio.start_server(talk, "127.0.0.1", 0, ssl=context)
    try:
        yield server.sockets[0].getsockname()[1]
    finally:
        server.close()


async def reason_at(url: str) -> str:
    """Why there is no connection."""
    with pytest.raises(ConnectionLostError) as failure:
        await check_reachable(url)
    told = str(failure.value)
    assert told.startswith(f"cannot connect to {url}: ")
    return told.removeprefix(f"cannot connect to {url}: ")


async def test_a_server_with_tls_is_told_to_want_it() -> None:
    async with listening(b"", is_secure=True) as port:
        assert await reason_at(f"ws://127.0.0.1:{port}") == f"this server wants wss://, try wss://127.0.0.1:{port}"


async def test_a_web_server_that_refuses_plain_requests_at_its_secure_port_wants_tls_too() -> None:
    async with listening(b"HTTP/1.1 400 Bad Request\r\nContent-Length: 0\r\n\r\n", is_secure=True) as port:
        assert "wants wss://" in await reason_at(f"ws://127.0.0.1:{port}/play")


async def test_a_server_without_tls_is_told_to_have_none(tmp_path: Path) -> None:
    async with running_server(Config(db=str(tmp_path / "plain.db"), port=0)) as server:
        url = server.url.replace("ws://", "wss://")
        assert await reason_at(url) == f"no TLS there, try {server.url}"


async def test_a_certificate_that_nobody_signed_is_told() -> None:
    async with listening(b"", is_secure=True) as port:
        assert "nobody whom this computer trusts" in await reason_at(f"wss://127.0.0.1:{port}")


@pytest.mark.parametrize(
    ("answer", "reason"),
    [
        (b"220 mail.example.org ESMTP\r\n", "this is no tabuleiro server"),
        (b"HTTP/1.1 200 OK\r\nContent-Length: 0\r\n\r\n", "this is no tabuleiro server"),
        (b"HTTP/1.1 404 Not Found\r\nContent-Length: 0\r\n\r\n", "this is no tabuleiro server"),
        (b"HTTP/1.1 502 Bad Gateway\r\nContent-Length: 0\r\n\r\n", "no tabuleiro server runs behind it"),
        (b"", "this is no tabuleiro server"),
    ],
)
async def test_something_else_that_answers_is_no_tabuleiro_server(answer: bytes, reason: str) -> None:
    async with listening(answer) as port:
        assert reason in await reason_at(f"ws://127.0.0.1:{port}")


async def test_a_port_where_nobody_listens_is_told_for_a_host_with_two_addresses_as_well() -> None:
    assert await reason_at("ws://127.0.0.1:9") == "no server listens there"
    several = OSError("Multiple exceptions: [Errno 111] Connect call failed ('::1', 9), [Errno 111] Connect ...")
    if errno.ECONNREFUSED == 111:
        assert connecting_reason(several) == "no server listens there"


async def test_a_host_name_that_can_be_none_is_told() -> None:
    assert await reason_at(f"ws://{'a' * 70}.example.org:8765") == "there is no such host"


def certificate_error(number: int) -> ssl.SSLCertVerificationError:
    error = ssl.SSLCertVerificationError(1, "certificate verify failed")
    error.verify_code = number
    return error


@pytest.mark.parametrize(
    ("error", "reason"),
    [
        (socket.gaierror(socket.EAI_NONAME, "Name or service not known"), "no such host"),
        (socket.gaierror(socket.EAI_AGAIN, "Temporary failure"), "is this computer online"),
        (TimeoutError(), "does not answer"),
        (OSError(errno.ETIMEDOUT, "Connection timed out"), "does not answer"),
        (OSError(errno.EHOSTUNREACH, "Connect call failed"), "no way to it"),
        (OSError(errno.ENETUNREACH, "Network is unreachable"), "online"),
        (ConnectionResetError(errno.ECONNRESET, "Connection reset by peer"), "hung up"),
        (OSError(errno.EADDRNOTAVAIL, "x"), "no such address"),
        (OSError(), "cannot be reached"),
        (OSError(12345, "Mystery"), "cannot be reached"),
        (certificate_error(10), "expired"),
        (certificate_error(62), "another name"),
        (certificate_error(12345), "not valid"),
        (ssl.SSLError(1, "[SSL] internal error"), "no secure connection"),
        (ImportError("connecting through a SOCKS proxy requires python-socks"), "proxy"),
        (ProxyError("x"), "proxy"),
        (InvalidProxyMessage("x"), "proxy"),
        (InvalidStatus(Response(503, "Service Unavailable", Headers())), "web server"),
        (InvalidUpgrade("Upgrade", "h2c"), "no tabuleiro server"),
    ],
)
def test_every_reason_is_in_our_words(error: Exception, reason: str) -> None:
    told = connecting_reason(error)
    assert reason in told
    assert not re.search(r"Errno|\[|Error|exception|URI|HTTP|failed", told)


def test_a_refusal_is_told_by_its_message_and_not_by_its_code() -> None:
    error = CommandError("no-such-room", "there is no room 'ABCDE'")
    assert str(error) == "there is no room 'ABCDE'"
    assert "no-such-room" in repr(error)


async def test_a_limit_is_told_without_the_name_of_the_hosts_setting(tmp_path: Path) -> None:
    config = Config(db=str(tmp_path / "full.db"), port=0, connections_count=1)
    async with running_server(config) as server:
        async with Link(server.url, name="ana"):
            with pytest.raises(ConnectionLostError) as failure:
                async with Link(server.url, name="rui"):
                    pass
    assert str(failure.value).endswith("the server closed the connection: at most 1 connections; try later")


async def test_a_request_that_is_too_long_is_refused_without_a_librarys_text(tmp_path: Path) -> None:
    """Symptom: 'join-room: Expected `str` of length <= 100 - at `$.secret`'."""
    async with (
        running_server(Config(db=str(tmp_path / "long.db"), port=0)) as server,
        Link(server.url, name="ana") as link,
    ):
        with pytest.raises(CommandError, match=r"^the server does not understand this") as refusal:
            await link.request(JoinRoom(id=0, room=RoomCode("ABCDE"), secret="x" * 200))
    assert refusal.value.code == "bad-message"
    assert "$.secret" in refusal.value.__notes__[0]
