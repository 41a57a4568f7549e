"""The connection that lasts as long as the server: its lock on the database, and its signs of life.

Until rooms know which server of several has them, one server at a time works on a database. The lock is an
advisory one of PostgreSQL, which ends with the connection that took it, however that ends. It makes finding a
second server quick; incarnations make what it stores safe.

A network that swallows everything breaks no connection. It shows here, where something is written every second and
waits for nobody: then all connections are given up, and what was being committed is settled on new ones.
"""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable
from contextlib import suppress
from typing import Final

import asyncpg
import structlog

from tabuleiro.errors import DatabaseLockedError, StoreError
from tabuleiro.ids import TimestampMs
from tabuleiro_server.store.postgres.connection import BROKEN, Database

SERVING: Final = 0x7461_6263
"""The key of the advisory lock of the one server that works on a database."""

_SOON_GONE: Final = (
    "SELECT set_config('tcp_keepalives_idle', '10', false), set_config('tcp_keepalives_interval', '5', false),"
    " set_config('tcp_keepalives_count', '3', false)"
)
"""Has the lock of a machine that is lost freed within half a minute, and not after PostgreSQL's two hours."""

RETRY_S: Final = 1.0
WRITE_LIMIT_S: Final = 5.0

log = structlog.get_logger(__name__)


class Keeper:
    """Keeps one connection open, and opens it again when it breaks.

    With ``is_alone`` it holds the database against other servers. ``on_silence`` is called when no answer comes.
    """

    def __init__(self, database: Database, on_silence: Callable[[], Awaitable[None]], *, is_alone: bool) -> None:
        self._database = database
        self._on_silence = on_silence
        self._is_alone = is_alone
        self._node_id = 0
        self.write_limit_s = WRITE_LIMIT_S
        self._alive_ms: TimestampMs | None = None
        self._connection: asyncpg.Connection | None = None
        self._task: asyncio.Task[None] | None = None
        self._beaten = asyncio.Event()
        self._stopping = asyncio.Event()

    async def connect(self) -> asyncpg.Connection:
        """Take the lock, and return the connection, for what is to be done before all else.

        Raises: DatabaseLockedError when another server has the database; any of ``BROKEN``.
        """
        self._connection = connection = await self._connect()
        return connection

    async def start(self, node_id: int) -> int | None:
        """Begin to note signs of life; return the last one of any server before. Raises: any of ``BROKEN``."""
        assert self._connection is not None
        connection, self._node_id = self._connection, node_id
        last_ms: int | None = await connection.fetchval("SELECT max(alive_ms) FROM tabuleiro.signs_of_life")
        # Of servers that have been silent for long nothing can come any more; what they knew goes on in this one.
        await connection.execute(
            "DELETE FROM tabuleiro.nodes USING tabuleiro.signs_of_life"
            " WHERE node = id AND id <> $1 AND seen_at < now() - interval '1 day'",
            node_id,
        )
        self._alive_ms = None if last_ms is None else TimestampMs(last_ms)
        await self._write(connection, last_ms)
        self._task = asyncio.create_task(self._keep(), name="store-keeper")
        return last_ms

    def beat(self, now_ms: TimestampMs) -> None:
        """Have it noted that the server lives, soon and without waiting for it."""
        self._alive_ms = now_ms
        self._beaten.set()

    async def stop(self) -> None:
        """Note the last sign of life, and give the connection back. A second call does nothing."""
        self._stopping.set()
        self._beaten.set()
        task, self._task = self._task, None
        if task is not None:
            # Never cancelled in the middle of a statement, each of which has a limit.
            await asyncio.wait({task})
        connection, self._connection = self._connection, None
        if connection is not None:
            connection.terminate()

    async def _keep(self) -> None:
        while not self._stopping.is_set():
            await self._beaten.wait()
            self._beaten.clear()
            try:
                if self._connection is None or self._connection.is_closed():
                    self._connection = await self._connect()
                await self._write(self._connection, self._alive_ms)
            except (StoreError, *BROKEN) as error:
                if isinstance(error, DatabaseLockedError):
                    log.error("another connection holds the lock on the database", place=error.path)
                if self._connection is not None and isinstance(error, TimeoutError):
                    log.warning("the database is silent", place=self._database.place)
                    self._connection.terminate()
                    await self._on_silence()
                with suppress(TimeoutError):
                    async with asyncio.timeout(RETRY_S):
                        await self._stopping.wait()

    async def _connect(self) -> asyncpg.Connection:
        connection = await self._database.connect()
        try:
            await connection.execute(_SOON_GONE)
            if self._is_alone and not await connection.fetchval("SELECT pg_try_advisory_lock($1)", SERVING):
                raise DatabaseLockedError(self._database.place, None)
        except BaseException:
            connection.terminate()
            raise
        return connection

    async def _write(self, connection: asyncpg.Connection, alive_ms: int | None) -> None:
        async with asyncio.timeout(self.write_limit_s), connection.transaction():
            # Losing the last of them in a crash is no harm, and nothing is to wait for a standby here.
            await connection.execute("SET LOCAL synchronous_commit = off")
            await connection.execute(
                "INSERT INTO tabuleiro.signs_of_life (node, alive_ms)"
                " SELECT id, $2 FROM tabuleiro.nodes WHERE id = $1"
                " ON CONFLICT (node) DO UPDATE SET alive_ms = excluded.alive_ms, seen_at = now()",
                self._node_id,
                alive_ms,
            )
