"""The connection that lasts as long as the server: its lock on the database, its lease and its signs of life.

A server with an address of its own is a node, one of several; a server without one works on its database alone. So
the lock is shared by nodes, and held against everybody by the others. It is an advisory one of PostgreSQL, which
ends with the connection that took it, however that ends. It makes finding another server quick; incarnations make
what it stores safe.

A network that swallows everything breaks no connection. It shows here, where something is written every second and
waits for nobody: then all connections are given up, and what was being committed is settled on new ones. So they
are when this connection breaks: who only waits never learns that the other machine was started again.
"""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable
from contextlib import suppress
from dataclasses import dataclass
from typing import Final

import asyncpg
import structlog

from tabuleiro.errors import DatabaseLockedError, StoreError
from tabuleiro.ids import TimestampMs
from tabuleiro_server.store.postgres.connection import BROKEN, Database

SERVING: Final = 0x7461_6263
"""The key of the advisory lock of those who work on a database."""

_SOON_GONE: Final = (
    "SELECT set_config('tcp_keepalives_idle', '10', false), set_config('tcp_keepalives_interval', '5', false),"
    " set_config('tcp_keepalives_count', '3', false)"
)
"""Has the lock of a machine that is lost freed within half a minute, and not after PostgreSQL's two hours."""

LEASE_S: Final = 3.0
"""Time from a sign of life for which a node keeps its rooms."""

LOCK_LIMIT_S: Final = 1
"""The longest wait for the lock: PostgreSQL takes a moment to notice that the server before has gone."""

RENEWALS_COUNT: Final = 3
"""Signs of life in the time of one lease."""

_REMEDY: Final = "stop it; servers that share a database each need an address of their own (node_url)"

RETRY_S: Final = 1.0
WRITE_LIMIT_S: Final = 5.0

_RENEW: Final = """
INSERT INTO tabuleiro.signs_of_life AS life
    (node, alive_ms, name, url, rooms_count, is_draining, has_left, lease_until, steady_since, started_at)
SELECT id, $2, $3, $4, $5, $6, $7, now() + make_interval(secs => $8), now(), now()
FROM tabuleiro.nodes WHERE id = $1
ON CONFLICT (node) DO UPDATE SET alive_ms = excluded.alive_ms, rooms_count = excluded.rooms_count,
    has_left = excluded.has_left, seen_at = now(), lease_until = excluded.lease_until,
    steady_since = CASE WHEN $9 OR life.lease_until < now() THEN now() ELSE life.steady_since END
RETURNING steady_since = now()
"""

log = structlog.get_logger(__name__)


@dataclass(frozen=True, slots=True)
class NodeAddress:
    """A server as others know it: its name, and the ``url`` at which clients reach it. Without one it is alone."""

    name: str
    url: str


ALONE: Final = NodeAddress("", "")
"""A server that keeps all others out."""


class Keeper:
    """Keeps one connection open, and opens it again when it breaks; renews the lease by it.

    ``on_loss`` is called when it breaks, or no answer comes. ``node_id`` returns the number of this server in the
    database.
    """

    def __init__(
        self,
        database: Database,
        on_loss: Callable[[], Awaitable[None]],
        node_id: Callable[[], int],
        address: NodeAddress,
        lease_s: float,
    ) -> None:
        self.takes_rooms = False
        """For the first sign of life; later ones leave it as it was written."""
        self.was_silent = False
        """True if others may have taken this server for dead since this was set back."""
        self.write_limit_s = WRITE_LIMIT_S
        self._database = database
        self._on_loss = on_loss
        self._node_id = node_id
        self._address = address
        self._lease_s = lease_s
        self._rooms_count = 0
        self._alive_ms: TimestampMs | None = None
        self._connection: asyncpg.Connection | None = None
        self._lease_until_s = 0.0
        """The end of the lease by the event loop's time, or a little before it."""
        self._is_steady = False
        """True once something was written by the present connection."""
        self._task: asyncio.Task[None] | None = None
        self._stopping = asyncio.Event()

    @property
    def trouble(self) -> str:
        """Why this server has no lease, or may lose it: ``database``, ``lease``, or empty while all is well."""
        if self._connection is None or self._connection.is_closed():
            return "database"
        return "lease" if asyncio.get_running_loop().time() >= self._lease_until_s else ""

    async def connect(self) -> asyncpg.Connection:
        """Take the lock, and return the connection, for what is to be done before all else.

        Raises: DatabaseLockedError when another server has the database; any of ``BROKEN``.
        """
        self._connection = connection = await self._connect()
        return connection

    async def start(self) -> int | None:
        """Begin to note signs of life; return the last one of any server before, ``None`` while another one lives.

        Raises: any of ``BROKEN``.
        """
        connection = self._connection
        assert connection is not None
        query = (
            "SELECT max(alive_ms), coalesce(bool_or(lease_until > now() AND NOT has_left AND url <> $1), false)"
            " FROM tabuleiro.signs_of_life"
        )
        last_ms, is_served = await connection.fetchrow(query, self._address.url)
        self._alive_ms = None if last_ms is None else TimestampMs(last_ms)
        await self._write(connection)
        # Of servers that have been silent for long nothing can come any more; what they knew goes on in this one.
        await connection.execute(
            "DELETE FROM tabuleiro.nodes USING tabuleiro.signs_of_life"
            " WHERE node = id AND id <> $1 AND (has_left OR seen_at < now() - interval '1 day')",
            self._node_id(),
        )
        self._task = asyncio.create_task(self._keep(), name="store-keeper")
        return None if is_served else last_ms

    def beat(self, now_ms: TimestampMs, rooms_count: int) -> None:
        """Have it noted with the next sign of life that the server does its work, with so many rooms in memory."""
        self._alive_ms = now_ms
        self._rooms_count = rooms_count

    async def stop(self) -> None:
        """Say goodbye, so that our rooms are free, and give the connection back. A second call does nothing."""
        self._stopping.set()
        task, self._task = self._task, None
        if task is not None:
            # Never cancelled in the middle of a statement, each of which has a limit.
            await asyncio.wait({task})
        connection, self._connection = self._connection, None
        if connection is not None:
            connection.terminate()

    async def _keep(self) -> None:
        is_last = False
        while not is_last:
            await self._pause(self._lease_s / RENEWALS_COUNT)
            # Who is stopped while writing writes once more: the goodbye.
            is_last = self._stopping.is_set()
            try:
                if self._connection is not None and self._connection.is_closed():
                    await self._lose_connection()
                if self._connection is None:
                    self._connection = await self._connect()
                await self._write(self._connection)
            except (StoreError, *BROKEN) as error:
                if isinstance(error, DatabaseLockedError):
                    log.error("another connection holds the lock on the database", place=error.path)
                if self._connection is not None and isinstance(error, TimeoutError):
                    log.warning("the database is silent", place=self._database.place)
                    await self._lose_connection()
                await self._pause(RETRY_S)

    async def _lose_connection(self) -> None:
        """Give up this connection and all others."""
        connection, self._connection = self._connection, None
        if connection is not None:
            connection.terminate()
            await self._on_loss()

    async def _pause(self, limit_s: float) -> None:
        """Wait, but no longer than until the stop."""
        with suppress(TimeoutError):
            async with asyncio.timeout(limit_s):
                await self._stopping.wait()

    async def _connect(self) -> asyncpg.Connection:
        connection = await self._database.connect()
        lock = "pg_advisory_lock_shared" if self._address.url else "pg_advisory_lock"
        try:
            await connection.execute(_SOON_GONE)
            async with connection.transaction():
                await connection.execute(f"SET LOCAL lock_timeout = '{LOCK_LIMIT_S}s'")
                await connection.execute(f"SELECT {lock}($1)", SERVING)
        except asyncpg.LockNotAvailableError as error:
            connection.terminate()
            raise DatabaseLockedError(self._database.place, None, _REMEDY) from error
        except BaseException:
            connection.terminate()
            raise
        self._is_steady = False
        return connection

    async def _write(self, connection: asyncpg.Connection) -> None:
        has_left = self._stopping.is_set()
        lease_until_s = asyncio.get_running_loop().time() + self._lease_s
        async with asyncio.timeout(self.write_limit_s), connection.transaction():
            # Losing the last of them in a crash is no harm, and nothing is to wait for a standby here.
            await connection.execute("SET LOCAL synchronous_commit = off")
            is_new_lease = await connection.fetchval(
                _RENEW,
                *(self._node_id(), self._alive_ms, self._address.name, self._address.url, self._rooms_count),
                *(not self.takes_rooms, has_left, 0.0 if has_left else self._lease_s, not self._is_steady),
            )
        self._is_steady = True
        self._lease_until_s = lease_until_s
        self.was_silent = self.was_silent or bool(is_new_lease)
