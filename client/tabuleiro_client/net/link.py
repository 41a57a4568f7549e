"""A connection to one server: hello, requests and their answers, messages told unasked, and coming back.

The only client module that imports websockets. It knows messages, not what they mean for a room: entering rooms
again after a lost connection is left to :mod:`tabuleiro_client.net.room`.
"""

from __future__ import annotations

import asyncio
import errno
import ipaddress
import random
import re
import socket
import ssl
import sys
import time
from collections.abc import Awaitable, Callable, Iterator, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field, replace
from enum import StrEnum
from itertools import count
from types import TracebackType
from typing import Final, Self, TypeVar
from urllib.parse import urlsplit

import msgspec
from websockets.asyncio.client import ClientConnection, connect
from websockets.exceptions import (
    ConnectionClosed,
    InvalidHandshake,
    InvalidMessage,
    InvalidProxy,
    InvalidStatus,
    ProxyError,
    SecurityError,
    WebSocketException,
)
from websockets.typing import Subprotocol

from tabuleiro import __version__
from tabuleiro.clock import offset_bound_ms
from tabuleiro.errors import (
    CommandError,
    ConfigError,
    ConnectionLostError,
    RemoteProtocolError,
    TabuleiroError,
    shown,
)
from tabuleiro.ids import AccountId, Phase
from tabuleiro.notation.plain_text import strip_controls
from tabuleiro.protocol.addresses import parse_server_url
from tabuleiro.protocol.codec import SERVER_FRAME_MAX_BYTES, MsgpackCodec
from tabuleiro.protocol.codes import ErrorCode
from tabuleiro.protocol.messages import (
    BoardsShown,
    ClientMessage,
    Error,
    GameList,
    GetBoards,
    GetRecord,
    Hello,
    ListGames,
    ListRooms,
    Ok,
    RecordPlayed,
    Result,
    RoomEntered,
    RoomList,
    SayInLobby,
    ServerMessage,
    SubscribeLobby,
    UnsubscribeLobby,
    Update,
    Welcome,
)
from tabuleiro.protocol.version import SUBPROTOCOL_MSGPACK
from tabuleiro_client.net.subscription import LinkLost, LinkRestored, Subscription, Told


class LinkState(StrEnum):
    """The states of a connection, in the words of a person."""

    CONNECTING = "connecting"
    CONNECTED = "connected"
    RECONNECTING = "reconnecting"
    CLOSED = "closed"


@dataclass(frozen=True, slots=True)
class Backoff:
    """Waiting times that grow by ``factor`` from ``first_s`` up to ``limit_s`` seconds.

    Each is shortened by a random part of at most ``jitter`` (0 to 1) of itself, so that many clients of a
    restarted server don't all come at once. ``attempt_count`` ``None``: there is no last one. ``draw`` gives
    numbers from 0 to 1.
    """

    first_s: float = 0.25
    factor: float = 2.0
    limit_s: float = 20.0
    jitter: float = 0.5
    attempt_count: int | None = None
    draw: Callable[[], float] = random.random

    def delays(self) -> Iterator[float]:
        """Yield how many seconds to wait before each attempt.

        >>> list(Backoff(first_s=1, limit_s=3, jitter=0, attempt_count=4).delays())
        [1, 2.0, 3, 3]
        """
        delay_s, made_count = min(self.first_s, self.limit_s), 0
        while self.attempt_count is None or made_count < self.attempt_count:
            yield delay_s * (1 - self.jitter * self.draw()) if self.jitter else delay_s
            delay_s = min(delay_s * self.factor, self.limit_s)
            made_count += 1


class ServerClock:
    """An upper bound of the server's clock minus the own one, on one connection.

    As long as neither clock jumps, :meth:`at` is never before the server's time: who reads a match clock by it
    shows no more than is left. Before anything is known the two are taken to be the same.
    """

    def __init__(self) -> None:
        self._ahead_ms: int | None = None

    def forget(self) -> None:
        """Begin anew, as on a new connection: since the last one a clock may have been set."""
        self._ahead_ms = None

    def bound(self, asked_ms: int, server_ms: int) -> None:
        """Take in an answer: asked at ``asked_ms`` by the own clock, written at ``server_ms`` by the server's.

        The closest of all bounds counts.
        """
        ahead_ms = offset_bound_ms(asked_ms, server_ms)
        self._ahead_ms = ahead_ms if self._ahead_ms is None else min(self._ahead_ms, ahead_ms)

    def hear(self, heard_ms: int, server_ms: int) -> None:
        """Take in what was told unasked and came at ``heard_ms``: the server's clock is at least so far ahead."""
        if self._ahead_ms is not None:
            self._ahead_ms = max(self._ahead_ms, server_ms - heard_ms)

    def at(self, own_ms: int) -> int:
        """Return the latest possible time at the server when the own clock shows ``own_ms``."""
        return own_ms + (self._ahead_ms or 0)


def elapsed_ms() -> int:
    """Return milliseconds since some moment, by a clock that nobody sets and that counts the machine's sleep."""
    if sys.platform == "linux":
        return time.clock_gettime_ns(time.CLOCK_BOOTTIME) // 1_000_000
    elif sys.platform == "win32":
        return time.monotonic_ns() // 1_000_000
    else:  # on macOS it counts sleep, other than `time.monotonic`
        return time.clock_gettime_ns(time.CLOCK_MONOTONIC) // 1_000_000


_AHEAD_MS: Final = time.time_ns() // 1_000_000 - elapsed_ms()


def own_now_ms() -> int:
    """Return the time of day at the start of this program plus what has passed since, in ms since 1970-01-01 UTC.

    Setting the machine's clock does not change it: a match clock that is shown must not jump.
    """
    return elapsed_ms() + _AHEAD_MS


PROBE_LIMIT_S: Final = 3.0
"""How long it may take to find out that the other scheme of addresses is the right one."""

_SETTING: Final = re.compile(r"^[a-z]+(_[a-z]+)+: ")

_HTTP_GATEWAYS: Final = frozenset({502, 503, 504})

_OF_ERRNO: Final[dict[int, str]] = {
    errno.ECONNREFUSED: "no server listens there",
    errno.ETIMEDOUT: "it does not answer",
    errno.EHOSTUNREACH: "there is no way to it from here; is it on, and in reach of this network?",
    errno.ENETUNREACH: "there is no way to it from here; is this computer online?",
    errno.ENETDOWN: "this computer is not online",
    errno.ECONNRESET: "it hung up at once; is that a tabuleiro server?",
    errno.ECONNABORTED: "it hung up at once; is that a tabuleiro server?",
    errno.EPIPE: "it hung up at once; is that a tabuleiro server?",
    errno.EACCES: "this computer does not allow it; perhaps a firewall forbids it",
    errno.EPERM: "this computer does not allow it; perhaps a firewall forbids it",
    errno.EADDRNOTAVAIL: "there is no such address",
    errno.EINVAL: "there is no such address",
    errno.EAFNOSUPPORT: "this computer knows no addresses of that kind",
    errno.EMFILE: "this program has too many open files",
}

_OF_CERTIFICATE: Final[dict[int, str]] = {
    9: "its certificate is not valid yet; is the clock of this computer right?",
    10: "its certificate has expired; is the clock of this computer right?",
    18: "nobody whom this computer trusts has signed its certificate",
    19: "nobody whom this computer trusts has signed its certificate",
    20: "nobody whom this computer trusts has signed its certificate",
    21: "nobody whom this computer trusts has signed its certificate",
    62: "its certificate is for another name",
    64: "its certificate is for another address",
}
"""By the numbers of OpenSSL's X509_V_ERR."""


def connecting_reason(error: Exception) -> str:
    """Why a connection could not be made, as the end of a sentence; nothing of it is a library's."""
    match error:
        case TimeoutError():
            return "it does not answer"
        case socket.gaierror() if error.errno == socket.EAI_AGAIN:
            return "its name cannot be looked up now; is this computer online?"
        case socket.gaierror() | UnicodeError():  # the latter for a name with a part that is empty or too long
            return "there is no such host"
        case ssl.SSLCertVerificationError():
            return _OF_CERTIFICATE.get(error.verify_code, "its certificate is not valid")
        case ssl.SSLError():
            return "no secure connection comes about"
        case OSError():
            return next((_OF_ERRNO[n] for n in _errnos(error) if n in _OF_ERRNO), "it cannot be reached")
        case ImportError():
            return "this computer is set to use a SOCKS proxy, which needs python-socks to be installed"
        case ProxyError() | InvalidProxy():
            return "the proxy that this computer is set to use does not let it through"
        case InvalidStatus() if error.response.status_code in _HTTP_GATEWAYS:
            return "a web server answers there, but no tabuleiro server runs behind it"
        case SecurityError():
            return "it sends us on to an address without TLS"
    return "this is no tabuleiro server"


def _errnos(error: OSError) -> list[int]:
    """Return the numbers of an error; a host with several addresses has one for each in the text alone."""
    return [error.errno] if error.errno else [int(number) for number in re.findall(r"\[Errno (\d+)\]", str(error))]


async def _reason_at(url: str, error: Exception) -> str:
    """Why a connection to ``url`` could not be made; looks there once more if the scheme may be the wrong one."""
    parts = urlsplit(url)
    is_secure = parts.scheme == "wss"
    host, port = parts.hostname or "", parts.port or (443 if is_secure else 80)
    is_refused = isinstance(error, ssl.SSLCertVerificationError)  # there is TLS, of the wrong kind
    hung_up = isinstance(error, OSError) and not {errno.ECONNRESET, errno.EPIPE}.isdisjoint(_errnos(error))
    may_lack_tls = (
        is_secure
        and not is_refused
        and (isinstance(error, ssl.SSLError | InvalidMessage | TimeoutError) or hung_up)
    )
    if may_lack_tls and await _answers(host, port, _speaks_http):
        return f"no TLS there, try {_other_scheme(url, 'ws')}"
    may_want_tls = not is_secure and (isinstance(error, InvalidHandshake) or hung_up)
    if may_want_tls and await _answers(host, port, _speaks_tls):
        return f"this server wants wss://, try {_other_scheme(url, 'wss')}"
    return connecting_reason(error)


def _other_scheme(url: str, scheme: str) -> str:
    return f"{scheme}://{url.partition('://')[2].rstrip('/')}"


async def _answers(host: str, port: int, speaks: Callable[[str, int], Awaitable[bool]]) -> bool:
    with suppress(OSError, TimeoutError, UnicodeError):
        async with asyncio.timeout(PROBE_LIMIT_S):
            return await speaks(host, port)
    return False


async def _speaks_tls(host: str, port: int) -> bool:
    context = ssl.create_default_context()
    context.check_hostname, context.verify_mode = False, ssl.CERT_NONE  # nothing is sent there
    _, writer = await asyncio.open_connection(host, port, ssl=context)
    writer.close()
    return True


async def _speaks_http(host: str, port: int) -> bool:
    reader, writer = await asyncio.open_connection(host, port)
    try:
        writer.write(f"GET / HTTP/1.1\r\nHost: {host}\r\nConnection: close\r\n\r\n".encode())
        return (await reader.read(5)).startswith(b"HTTP/")
    finally:
        writer.close()


def is_loopback(url: str) -> bool:
    """Return True if the server of ``url`` is this machine."""
    host = urlsplit(url).hostname or ""
    with suppress(ValueError):
        return ipaddress.ip_address(host).is_loopback
    return host == "localhost"


ResultT = TypeVar("ResultT", bound=Result)

CONNECTION_BROKE: Final = "the connection broke"
"""The reason for a lost connection of which nothing more is known."""

_HELLO_REFUSED_FOR_GOOD: Final = frozenset(
    {
        ErrorCode.BAD_MESSAGE,
        ErrorCode.HELLO_FIRST,
        ErrorCode.BAD_NAME,
        ErrorCode.NAME_TAKEN,
        ErrorCode.BAD_TOKEN,
    }
)


@dataclass(frozen=True, slots=True)
class LinkSettings:
    """Limits of a link, in seconds unless named otherwise. ``backoff`` ``None``: never come back."""

    backoff: Backoff | None = field(default_factory=Backoff)
    open_timeout_s: float = 10.0
    request_timeout_s: float = 15.0
    close_timeout_s: float = 2.0
    ping_interval_s: float = 20.0
    unread_max_count: int = 1000


class Link:
    """A connection that mends itself; an async context manager that connects on entry.

    ``name`` asks for a new guest, ``token`` shows who one is; the token of a new guest is in ``welcome``.
    ``connection_count`` counts the connections made so far.

    Of a server of several nodes this is the connection to one of them: by the address that the user has named, or
    while nobody answers there, by that of another node. :meth:`to_node` gives the links to the others.

    Raises: on entry ConnectionLostError when the server can't be reached, CommandError when it refuses the guest.
    """

    def __init__(
        self,
        url: str,
        *,
        name: str | None = None,
        token: str | None = None,
        settings: LinkSettings | None = None,
    ) -> None:
        self.url = url
        self.state = LinkState.CLOSED
        self.connection_count = 0
        self.settings = settings or LinkSettings()
        self._name = name
        self._token = token
        self._codec = MsgpackCodec()
        self._clock = ServerClock()
        self._ids = count(1)
        self._pending: dict[int, asyncio.Future[Ok]] = {}
        self._subscriptions: list[Subscription] = []
        self._connection: ClientConnection | None = None
        self._welcome: Welcome | None = None
        self._failure: TabuleiroError | None = None
        self._task: asyncio.Task[None] | None = None
        self._node_urls: tuple[str, ...] = ()
        self._nodes: dict[str, Link] = {}
        self._connecting: dict[str, asyncio.Lock] = {}
        self._followers_count = 0
        self._leaving: set[asyncio.Task[None]] = set()

    @property
    def welcome(self) -> Welcome:
        """The answer to the first hello. Raises: ConnectionLostError before there is one."""
        if self._welcome is None:
            raise ConnectionLostError(f"not connected to {self.url}")
        return self._welcome

    @property
    def account(self) -> AccountId:
        """The own account on this server."""
        return self.welcome.account

    def server_now_ms(self) -> int:
        """Return the latest possible time by the server's clock, in milliseconds since 1970-01-01 UTC."""
        return self._clock.at(own_now_ms())

    async def __aenter__(self) -> Self:
        self.state = LinkState.CONNECTING
        try:
            connection = await self._connect(self.url)
        except BaseException:
            self.state = LinkState.CLOSED
            raise
        self._task = asyncio.create_task(self._stay_connected(connection), name=f"link to {self.url}")
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        await self.close()

    async def close(self) -> None:
        """End the connection and the coming back, and the links to other nodes. Closing twice is fine."""
        task, self._task = self._task, None
        if task is None:
            return
        await asyncio.gather(*(node.close() for node in self._nodes.values()))
        connection = self._connection
        for ending in (task, *self._leaving):
            ending.cancel()
        await asyncio.wait([task, *self._leaving])
        if connection is not None:
            # A task cancelled before its first step never came to close it.
            await connection.close()
        if not task.cancelled():
            task.result()
        elif self.state is not LinkState.CLOSED:
            self._end(None)

    async def to_node(self, node_url: str) -> Link:
        """Return a connected link to a node of this server, as the same guest; this one, if it is connected there.

        There is one for each node, and it lasts as long as this link. It does not mend itself: when its connection
        breaks it ends, and the node that this link is connected to knows where to go on.

        Raises: ConnectionLostError when the node can't be reached, CommandError when it refuses the guest.
        """
        url = self._checked_node(node_url)
        # Who has come back by the address of another node is there, and not at the first address.
        own_url = self._node_urls[0] if self._node_urls else self.url
        if self.state is LinkState.CONNECTED and url == own_url:
            return self
        async with self._connecting.setdefault(url, asyncio.Lock()):
            known = self._nodes.get(url)
            if known is not None and known.state is not LinkState.CLOSED:
                return known
            settings = replace(self.settings, backoff=None)
            node = await Link(url, token=self._token, settings=settings).__aenter__()
            if self._task is None:
                await node.close()
                raise ConnectionLostError("the link was closed")
            self._nodes[url] = node
            # It knows of nodes that came after we connected: the way back when this one does not come again.
            if self._node_urls:
                self._node_urls = tuple(dict.fromkeys((self._node_urls[0], *node._node_urls)))
            return node

    def _checked_node(self, node_url: str) -> str:
        """Return the address of a node. Raises: ConnectionLostError for one that the token must not be sent to."""
        try:
            url = parse_server_url(node_url)
        except ConfigError as error:
            told = f"{self.url} sends us to {shown(node_url)}, which is no address"
            raise ConnectionLostError(told) from error
        if self.url.startswith("wss:") and not url.startswith("wss:"):
            raise ConnectionLostError(f"{self.url} sends us to {url}, an address without TLS")
        return url

    def subscribe(self) -> Subscription:
        """Listen to what the server tells from now on, until :meth:`unsubscribe`."""
        subscription = Subscription(self.settings.unread_max_count)
        if self.state is LinkState.CLOSED:
            subscription.end(self._failure)
        self._subscriptions.append(subscription)
        return subscription

    def unsubscribe(self, subscription: Subscription) -> None:
        """Listen no longer."""
        self._subscriptions.remove(subscription)

    async def request(self, message: ClientMessage) -> Ok:
        """Send a request and return its answer. The link chooses the ``id`` itself.

        Raises: CommandError when the server refuses, ConnectionLostError when there is no connection, or it is
        lost, or no answer comes in time; then the request may or may not have been done.
        """
        connection = self._connection
        if connection is None:
            raise self._failure or ConnectionLostError(f"not connected to {self.url}")
        number = next(self._ids)
        answer: asyncio.Future[Ok] = asyncio.get_running_loop().create_future()
        self._pending[number] = answer
        asked_ms = own_now_ms()
        try:
            async with asyncio.timeout(self.settings.request_timeout_s):
                await connection.send(self._codec.encode(msgspec.structs.replace(message, id=number)))
                ok = await answer
            if isinstance(ok.result, RoomEntered):
                self._clock.bound(asked_ms, ok.result.head.now_ms)
            return ok
        except TimeoutError as error:
            # A server this late is taken for gone: a half-open connection would never say so itself.
            connection.transport.abort()
            raise ConnectionLostError(f"no answer from {self.url} in time") from error
        except ConnectionClosed as error:
            raise ConnectionLostError(_closing_reason(error)) from error
        finally:
            del self._pending[number]
            if answer.done() and not answer.cancelled():
                # When sending itself has failed nobody waits for the answer, and asyncio would complain of that.
                answer.exception()

    async def list_games(self) -> GameList:
        """Ask for the games, for forms that know no rules. Raises: as :meth:`request`."""
        return result_of(await self.request(ListGames(id=0)), GameList)

    async def list_rooms(self, game: str | None = None, phases: Sequence[Phase] | None = None) -> RoomList:
        """Ask for the list of rooms; ``None`` as in the message. Raises: as :meth:`request`."""
        wanted = None if phases is None else tuple(phases)
        return result_of(await self.request(ListRooms(id=0, game=game, phases=wanted)), RoomList)

    async def follow_lobby(self, game: str | None = None, phases: Sequence[Phase] | None = None) -> RoomList:
        """As :meth:`list_rooms`, and be told of changes from then on, on this connection. Raises: as there."""
        wanted = None if phases is None else tuple(phases)
        return result_of(await self.request(SubscribeLobby(id=0, game=game, phases=wanted)), RoomList)

    @contextmanager
    def following_lobby(self) -> Iterator[None]:
        """Follow the lobby inside; once nobody does any more, the server hears of it, for which nobody waits."""
        self._followers_count += 1
        try:
            yield
        finally:
            self._followers_count -= 1
            if not self._followers_count and self._task is not None:
                leaving = asyncio.create_task(self._leave_lobby(), name="leaving the lobby")
                self._leaving.add(leaving)
                leaving.add_done_callback(self._leaving.discard)

    async def _leave_lobby(self) -> None:
        if not self._followers_count:  # nobody does again
            with suppress(ConnectionLostError, CommandError):  # on a new connection nobody follows it
                await self.request(UnsubscribeLobby(id=0))

    async def say_in_lobby(self, text: str) -> None:
        """Write a line to the people in the lobby; :meth:`follow_lobby` first. Raises: as :meth:`request`."""
        await self.request(SayInLobby(id=0, text=text))

    async def get_record(self, room: str, match: int | None = None, secret: str | None = None) -> RecordPlayed:
        """Ask for a match of a room; ``None`` as in the message. Raises: as :meth:`request`."""
        message = GetRecord(id=0, room=room, match=match, secret=secret)
        return result_of(await self.request(message), RecordPlayed)

    async def get_boards(
        self, room: str, match: int | None = None, secret: str | None = None, *, ply: int = 0, count: int = 1
    ) -> BoardsShown:
        """Ask for up to ``count`` positions of a match from ``ply`` on. Raises: as :meth:`request`."""
        message = GetBoards(id=0, room=room, match=match, secret=secret, ply=ply, count=count)
        return result_of(await self.request(message), BoardsShown)

    async def _stay_connected(self, connection: ClientConnection) -> None:
        failure: TabuleiroError | None = None
        try:
            while True:
                reason = await self._read_until_lost(connection)
                self._drop_connection(ConnectionLostError(reason))
                self.state = LinkState.RECONNECTING
                self._tell(LinkLost(reason))
                connection = await self._come_back(reason)
                self._tell(LinkRestored())
        except TabuleiroError as error:
            failure = error
        finally:
            self._end(failure)

    def _end(self, failure: TabuleiroError | None) -> None:
        self.state, self._failure = LinkState.CLOSED, failure
        self._drop_connection(failure or ConnectionLostError("the link was closed"))
        for subscription in self._subscriptions:
            subscription.end(failure)

    async def _come_back(self, reason: str) -> ClientConnection:
        delays = () if self.settings.backoff is None else self.settings.backoff.delays()
        for attempt, delay_s in enumerate(delays):
            await asyncio.sleep(delay_s)
            try:
                return await self._connect(self._url_of_attempt(attempt))
            except ConnectionLostError as error:
                reason = str(error)
            except CommandError as error:
                if error.code in _HELLO_REFUSED_FOR_GOOD:
                    raise
                reason = error.message
        raise ConnectionLostError(reason)

    def _url_of_attempt(self, attempt: int) -> str:
        """Return the address to come back by: the first one, and every second time that of another node."""
        others = [url for url in self._node_urls if url != self.url]
        return others[attempt // 2 % len(others)] if others and attempt % 2 else self.url

    async def _connect(self, url: str) -> ClientConnection:
        connection = await _open(url, self.settings)
        try:
            async with asyncio.timeout(self.settings.request_timeout_s):
                welcome = await self._greet(connection)
        except (TimeoutError, ConnectionClosed) as error:
            await connection.close()
            reason = _closing_reason(error) if isinstance(error, ConnectionClosed) else "it does not answer"
            raise ConnectionLostError(f"cannot connect to {url}: {reason}") from error
        except BaseException:
            await connection.close()
            raise
        self._welcome = self._welcome or welcome
        self._node_urls = self._known_nodes(welcome)
        self._token = welcome.token or self._token
        self._connection = connection
        self.connection_count += 1
        self.state = LinkState.CONNECTED
        return connection

    def _known_nodes(self, welcome: Welcome) -> tuple[str, ...]:
        """Return the addresses of the nodes, that of the one connected to first; none if one is wrong."""
        try:
            return tuple([self._checked_node(node_url) for node_url in welcome.node_urls])
        except ConnectionLostError:
            return ()

    async def _greet(self, connection: ClientConnection) -> Welcome:
        number = next(self._ids)
        name = None if self._token else self._name
        hello = Hello(id=number, name=name, token=self._token, client=f"tabuleiro/{__version__}")
        asked_ms = own_now_ms()
        await connection.send(self._codec.encode(hello))
        while True:
            message = self._decode(await connection.recv())
            if isinstance(message, Ok) and message.id == number:
                welcome = result_of(message, Welcome)
                self._clock.forget()
                self._clock.bound(asked_ms, welcome.now_ms)
                return welcome
            if isinstance(message, Error):
                raise _refusal(message)

    async def _read_until_lost(self, connection: ClientConnection) -> str:
        """Take in messages until the connection ends, and return why it did."""
        try:
            while True:
                self._take(self._decode(await connection.recv()))
        except ConnectionClosed as error:
            return _closing_reason(error)
        finally:
            await connection.close()

    def _decode(self, frame: str | bytes) -> ServerMessage:
        if isinstance(frame, str):
            raise RemoteProtocolError("the server sent text where binary was agreed")
        return self._codec.decode_server(frame)

    def _take(self, message: ServerMessage) -> None:
        if isinstance(message, Ok):
            answer = self._pending.get(message.id)
            if answer is not None and not answer.done():
                answer.set_result(message)
        elif isinstance(message, Error) and message.id is not None:
            answer = self._pending.get(message.id)
            if answer is not None and not answer.done():
                answer.set_exception(_refusal(message))
        else:
            if isinstance(message, Update):
                self._clock.hear(own_now_ms(), message.head.now_ms)
            self._tell(message)

    def _tell(self, item: Told) -> None:
        for subscription in self._subscriptions:
            subscription.put(item)

    def _drop_connection(self, reason: TabuleiroError) -> None:
        self._connection = None
        for answer in self._pending.values():
            if not answer.done():
                answer.set_exception(reason)


async def check_reachable(url: str, settings: LinkSettings | None = None) -> None:
    """Find out whether a server listens at ``url``, without being anybody there. Raises: ConnectionLostError."""
    connection = await _open(url, settings or LinkSettings())
    await connection.close()


async def _open(url: str, settings: LinkSettings) -> ClientConnection:
    try:
        connection = await connect(
            url,
            subprotocols=[Subprotocol(SUBPROTOCOL_MSGPACK)],
            user_agent_header=f"tabuleiro/{__version__}",
            compression=None,
            proxy=None if is_loopback(url) else True,
            open_timeout=settings.open_timeout_s,
            close_timeout=settings.close_timeout_s,
            ping_interval=settings.ping_interval_s,
            ping_timeout=settings.ping_interval_s,
            max_size=SERVER_FRAME_MAX_BYTES,
        )
    except (OSError, WebSocketException, TimeoutError, UnicodeError, ImportError) as error:
        raise ConnectionLostError(f"cannot connect to {url}: {await _reason_at(url, error)}") from error
    if connection.subprotocol is None:
        await connection.close()
        raise ConnectionLostError(f"cannot connect to {url}: this is no tabuleiro server")
    return connection


def result_of(ok: Ok, kind: type[ResultT]) -> ResultT:
    """Return what an answer carries. Raises: RemoteProtocolError when it is something else than was asked for."""
    if not isinstance(ok.result, kind):
        raise RemoteProtocolError(f"the server answered {type(ok.result).__name__}, expected {kind.__name__}")
    return ok.result


def _closing_reason(error: ConnectionClosed) -> str:
    if error.rcvd is None:
        return CONNECTION_BROKE
    reason = _for_people(error.rcvd.reason)
    return f"the server closed the connection: {reason}" if reason else "the server closed the connection"


def _refusal(message: Error) -> CommandError:
    """Return the error for a refusal. What is wrong in the form of a request is told in the words of a library."""
    told = _for_people(message.message)
    if message.code != ErrorCode.BAD_MESSAGE:
        return CommandError(
            message.code, told, node_url=message.node_url, room=message.room, follow=message.follow
        )
    error = CommandError(
        message.code, "the server does not understand this: part of it is too long, or the server is an older one"
    )
    error.add_note(told)
    return error


def _for_people(message: str) -> str:
    """Return a message of a server without the name of the setting that some begin with."""
    return _SETTING.sub("", strip_controls(message))
