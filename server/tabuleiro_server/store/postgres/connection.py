"""Connections to PostgreSQL, and what their faults mean for whoever waits.

A statement that the server refuses has changed nothing. When the connection breaks before the answer, or the
server says that it did not wait for its standby, what was asked for may be done or not:
:class:`UnknownOutcomeError`.
"""

from __future__ import annotations

import asyncio
import contextlib
from collections.abc import AsyncIterator, Awaitable, Callable
from typing import Any, Final, Literal, TypeVar
from urllib.parse import parse_qsl, unquote, urlsplit

import asyncpg
import structlog

from tabuleiro.errors import ConfigError, DatabaseFormatError, StorageUnavailableError, StoreError
from tabuleiro_server.config import shown_database

T = TypeVar("T")
Synchronous = Literal["FULL", "NORMAL"]

CONNECT_LIMIT_S: Final = 5.0
"""Time for one host: a machine that is lost answers nothing, and the next one in the address is to be asked."""
READ_LIMIT_S: Final = 20.0
"""Time for what only reads: it may be broken off. A commit may not, and has no limit here."""

ATTEMPTS_COUNT: Final = 3
"""Attempts at what can be done twice, on a new connection each."""

HOLD_LIMIT: Final = "5s"
"""Time for which a lock is left to whoever does nothing with it: its server may stand still."""

POOL_COUNT: Final = 4
CLOSE_LIMIT_S: Final = 5.0

log = structlog.get_logger(__name__)


class UnknownOutcomeError(Exception):
    """It is not known whether a statement was committed for good; ``str()`` is the reason."""


BROKEN: Final = (OSError, asyncpg.InterfaceError, asyncpg.PostgresError, asyncpg.InternalClientError, TimeoutError)
"""What asyncpg raises, for the server's errors and for its own."""


def is_refusal(error: BaseException, connection: asyncpg.Connection) -> bool:
    """Return True if nothing was done: an answer of a server that goes on, or values that were not even sent."""
    if _is_closed(connection):
        return False
    if isinstance(error, asyncpg.PostgresError):
        return getattr(error, "severity_en", None) in (None, "ERROR") and not isinstance(
            error, asyncpg.PostgresConnectionError | asyncpg.OperatorInterventionError
        )
    return isinstance(error, asyncpg.InterfaceError)


def _is_closed(connection: asyncpg.Connection) -> bool:
    try:
        return bool(connection.is_closed())
    except asyncpg.InterfaceError:  # the pool has taken a broken one back already
        return True


def is_of_values(error: BaseException) -> bool:
    """Return True if the values of a write are to blame, rather than the state of the storage."""
    kinds = (
        ValueError,  # asyncpg's own error for values is one
        asyncpg.DataError,
        asyncpg.IntegrityConstraintViolationError,
        asyncpg.ProgramLimitExceededError,
    )
    return isinstance(error, kinds)


def reason_of(error: BaseException) -> str:
    """Return what an error says, in one line; its kind if it says nothing."""
    return " ".join(str(error).split()) or type(error).__name__


def storage_error(error: BaseException, place: str) -> StoreError:
    """Translate a fault of a connection into an error that callers know."""
    reason = reason_of(error)
    if isinstance(error, asyncpg.InvalidCatalogNameError | asyncpg.InvalidAuthorizationSpecificationError):
        return StorageUnavailableError(f"{place}: {reason}")
    if isinstance(error, asyncpg.UndefinedTableError | asyncpg.UndefinedColumnError):
        return DatabaseFormatError(place, f"its tables are not those of this program ({reason})")
    if isinstance(error, asyncpg.InvalidSQLStatementNameError | asyncpg.DuplicatePreparedStatementError):
        reason += "; a pooler that shares connections between transactions is in the way: connect directly"
    return StorageUnavailableError(f"{place}: {reason}")


def hosts_of(url: str) -> list[tuple[str | None, int | None]]:
    """Return the hosts and ports in an address that names several; ``None`` for what is left to the library.

    Raises: ValueError.

    >>> hosts_of("postgresql://ana@db1,db2:5433/games")
    [('db1', None), ('db2', 5433)]
    >>> hosts_of("postgresql:///games?host=/run/db1,/run/db2&port=5433&user=ana")
    [('/run/db1', 5433), ('/run/db2', 5433)]
    >>> hosts_of("postgresql://ana@db1/games")
    [(None, None)]
    """
    parts = urlsplit(url)
    query = dict(parse_qsl(parts.query))
    hosts = (unquote(parts.netloc.rpartition("@")[2]) or query.get("host", "")).split(",")
    if len(hosts) == 1:
        return [(None, None)]
    ports = query.get("port", "").split(",")
    found: list[tuple[str | None, int | None]] = []
    for host, port in zip(hosts, ports if len(ports) > 1 else ports * len(hosts), strict=True):
        name, colon, own_port = host.rpartition(":")
        if not colon or host.endswith("]"):
            name, own_port = host, ""
        number = port or own_port
        found.append((name.removeprefix("[").removesuffix("]"), int(number) if number else None))
    return found


class Database:
    """One database: its address, and a few connections for reading and for small changes."""

    def __init__(self, url: str) -> None:
        """Note the address; nothing is connected yet. Raises: ConfigError for a bad one."""
        self.url = url
        self.place = shown_database(url)
        try:
            self._hosts = hosts_of(url)
        except ValueError as error:
            raise ConfigError("db", self.place, f"an address of PostgreSQL: {error}") from error
        self.is_pooled = False
        """True if there is a pooler between us and the server."""
        self._pool: asyncpg.Pool | None = None
        self._changes: set[asyncio.Task[Any]] = set()
        self._in_use: set[Any] = set()

    async def connect(self) -> asyncpg.Connection:
        """Open a connection to a server that can be written to: of several hosts to the first that is one.

        Raises: ConfigError for a bad address; any of ``BROKEN``, for the last host.
        """
        for host in self._hosts[:-1]:
            with contextlib.suppress(*BROKEN):
                return await self._connect_to(host)
        return await self._connect_to(self._hosts[-1])

    async def _connect_to(self, host: tuple[str | None, int | None]) -> asyncpg.Connection:
        try:
            connection = await asyncpg.connect(
                self.url,
                host=host[0],
                port=host[1],
                timeout=CONNECT_LIMIT_S,
                server_settings={"application_name": "tabuleiro"},
                target_session_attrs="read-write",
                statement_cache_size=0 if self.is_pooled else 100,
            )
        except (asyncpg.ClientConfigurationError, ValueError) as error:
            raise ConfigError("db", self.place, f"an address of PostgreSQL: {error}") from error
        # The primary is asked first the next time: one that is lost would take its whole limit again and again.
        self._hosts = sorted(self._hosts, key=lambda each: each != host)
        return connection

    async def open(self) -> None:
        """Make the connections for reading ready to be opened when they are needed."""
        self._pool = asyncpg.create_pool(
            min_size=0, max_size=POOL_COUNT, connect=self._connect_for_pool, reset=_leave_as_it_is
        )
        await self._pool

    async def _connect_for_pool(self, *_: Any, **__: Any) -> asyncpg.Connection:
        return await self.connect()

    async def renew(self) -> None:
        """Give up all connections; who waits for an answer on one asks again on another."""
        if self._pool is not None:
            await self._pool.expire_connections()
        for connection in tuple(self._in_use):
            connection.terminate()

    async def close(self) -> None:
        """Close the connections, after the changes that are on their way, for which it waits a while."""
        if self._changes:
            await asyncio.wait(self._changes, timeout=CLOSE_LIMIT_S)
        pool, self._pool = self._pool, None
        if pool is not None:
            pool.terminate()
        if self._changes:
            await asyncio.wait(self._changes)

    async def read(self, query: Callable[[asyncpg.Connection], Awaitable[T]]) -> T:
        """Return what ``query`` returns; it sees everything that is committed, and may run again.

        Raises: StorageUnavailableError; what ``query`` raises itself.
        """

        async def run(connection: asyncpg.Connection) -> T:
            async with asyncio.timeout(READ_LIMIT_S):
                return await query(connection)

        return await self._attempt(run)

    async def change(self, change: Callable[[asyncpg.Connection], Awaitable[T]]) -> T:
        """Return what ``change`` returns when it is committed, and on the standby where there is one.

        It has to write something, and may run again after it was committed. It is carried through also when the
        wait for it is cancelled.

        Raises: StorageUnavailableError; StoreError for values that cannot be stored; what ``change`` raises.
        """

        async def run(connection: asyncpg.Connection) -> T:
            async with warned(connection), connection.transaction():
                return await change(connection)

        task = asyncio.ensure_future(self._attempt(run))
        self._changes.add(task)
        task.add_done_callback(self._forget)
        return await asyncio.shield(task)

    @contextlib.asynccontextmanager
    async def locked(self, key: int) -> AsyncIterator[None]:
        """Hold an advisory lock while the context lasts: for five idle seconds, or the connection, at most.

        Raises: StorageUnavailableError, when it is entered.
        """
        if self._pool is None:
            raise StorageUnavailableError("the store is not running")
        async with contextlib.AsyncExitStack() as stack:
            try:
                connection = await stack.enter_async_context(self._pool.acquire())
                async with asyncio.timeout(READ_LIMIT_S):
                    # In a transaction, which a pooler leaves on one connection; it writes nothing.
                    await connection.execute("BEGIN")
                    stack.push_async_callback(_end_transaction, connection)
                    await connection.execute(
                        "SELECT set_config('idle_in_transaction_session_timeout', $1, true)", HOLD_LIMIT
                    )
                    await connection.execute("SELECT pg_advisory_xact_lock($1)", key)
            except BROKEN as error:
                raise storage_error(error, self.place) from error
            yield

    def _forget(self, change: asyncio.Task[Any]) -> None:
        self._changes.discard(change)
        if not change.cancelled():
            change.exception()  # whoever has waited for it may have gone

    async def _attempt(self, run: Callable[[asyncpg.Connection], Awaitable[T]]) -> T:
        left_count = ATTEMPTS_COUNT
        while True:
            if self._pool is None:
                raise StorageUnavailableError("the store is not running")
            left_count -= 1
            try:
                async with self._pool.acquire() as connection:
                    self._in_use.add(connection)
                    try:
                        return await run(connection)
                    except BROKEN as error:
                        if is_of_values(error):
                            raise StoreError(f"this cannot be stored: {error}") from error
                        is_lost = not (is_refusal(error, connection) or isinstance(error, TimeoutError))
                        if not ((is_lost or isinstance(error, REPEATED)) and left_count):
                            raise
                    finally:
                        self._in_use.discard(connection)
            except UnknownOutcomeError as error:
                if not left_count:
                    raise StorageUnavailableError(f"{self.place}: {error}") from error
            except BROKEN as error:
                raise storage_error(error, self.place) from error


REPEATED: Final = (asyncpg.DeadlockDetectedError, asyncpg.SerializationError)
"""Faults after which the same may well be done."""


async def _end_transaction(connection: asyncpg.Connection) -> None:
    with contextlib.suppress(*BROKEN):  # the lock is free then too
        await connection.execute("ROLLBACK")


async def _leave_as_it_is(connection: asyncpg.Connection) -> None:
    """Leave a connection as it is when it goes back: nobody changes its state."""


@contextlib.asynccontextmanager
async def warned(connection: asyncpg.Connection) -> AsyncIterator[None]:
    """Raise UnknownOutcomeError at the end if the server has warned of something meanwhile.

    It warns when it ends the wait for its standby early, in words of its own language, and answers as if all were
    well: "canceling wait for synchronous replication due to user request". No statement of ours has another
    warning. Warnings are handed over before the answer that they come before.
    """
    warnings: list[str] = []

    def note(_: object, message: asyncpg.PostgresLogMessage) -> None:
        if message.severity_en == "WARNING":
            warnings.append(f"{message.message} ({message.detail})" if message.detail else message.message)

    connection.add_log_listener(note)
    try:
        yield
    finally:
        with contextlib.suppress(asyncpg.InterfaceError):  # the pool has taken a broken one back already
            connection.remove_log_listener(note)
    if warnings:
        log.warning("PostgreSQL warned at a commit", warning=warnings[0])
        raise UnknownOutcomeError(warnings[0])


async def check_durability(connection: asyncpg.Connection, place: str, synchronous: Synchronous) -> None:
    """Check that what is answered as committed is on disk, and on the standby where there is one.

    Raises: DatabaseFormatError when it is not, unless ``synchronous`` is NORMAL; or for an encoding that cannot
    hold all names.
    """
    encoding = await connection.fetchval("SELECT current_setting('server_encoding')")
    if encoding != "UTF8":
        raise DatabaseFormatError(place, f"its encoding is {encoding}; make a database with the encoding UTF8")
    level = await connection.fetchval("SELECT current_setting('synchronous_commit')")
    has_standby = await connection.fetchval(
        "SELECT current_setting('synchronous_standby_names') <> '' OR EXISTS (SELECT FROM pg_stat_replication)"
    )
    if level == "off" or (level == "local" and has_standby):
        lost = "a crash" if level == "off" else "the loss of this machine, in spite of its standby,"
        reason = f"synchronous_commit is {level}: {lost} would take acknowledged moves back"
        if synchronous == "FULL":
            raise DatabaseFormatError(
                place, f'{reason}; set it to on, or allow this with `synchronous = "NORMAL"` in the configuration'
            )
        log.warning("moves may be lost", reason=reason)
    if await connection.fetchval("SELECT current_setting('fsync')") == "off":
        log.warning("moves may be lost", reason="fsync is off: a crash of the machine may destroy the database")


async def has_pooler(connection: asyncpg.Connection) -> bool:
    """Return True if somebody between us and the server answers for it."""
    return bool(await connection.fetchval("SELECT pg_backend_pid()") != connection.get_server_pid())
