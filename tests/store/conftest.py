"""Rows to write, and stores to write them to, for all tests of the store."""

from __future__ import annotations

import asyncio
import sqlite3
import threading
from collections.abc import AsyncIterator, Callable
from contextlib import AbstractAsyncContextManager, asynccontextmanager
from pathlib import Path
from typing import Any

import asyncpg
import pytest

from tabuleiro.ids import AccountId, RoomCode, Seq, TimestampMs
from tabuleiro_server.store.port import MatchRow, PlayerRow, Replay, RoomRow, Rows, Store, StoredEvent
from tabuleiro_server.store.postgres.store import PostgresStore
from tabuleiro_server.store.sqlite.store import SqliteStore
from tests.patience import LIMIT_S
from tests.store.nodes import HERE
from tests.store.replays import no_replay


class Make:
    """Rows with plausible values, so that tests name only what they are about."""

    @staticmethod
    def events(first: int, last: int, payload: bytes = b"fact") -> list[StoredEvent]:
        return [StoredEvent(Seq(seq), TimestampMs(1_000 + seq), 1, payload) for seq in range(first, last + 1)]

    @staticmethod
    def room(
        code: str,
        phase: str = "playing",
        deadline_ms: int | None = None,
        summary: bytes = b"s",
        maker: str = "ana",
    ) -> RoomRow:
        deadline = None if deadline_ms is None else TimestampMs(deadline_ms)
        return RoomRow(
            RoomCode(code), phase, True, TimestampMs(1), TimestampMs(2), deadline, summary, AccountId(maker)
        )

    @staticmethod
    def rows(code: str) -> Rows:
        return Rows(Make.room(code))

    @staticmethod
    def match(code: str, number: int = 1, account: str = "ana", winner: int | None = None) -> MatchRow:
        return MatchRow(
            room=RoomCode(code),
            number=number,
            game="virus-wars",
            options_json='{"rows":4}',
            players=(PlayerRow(AccountId(account), account.title()), PlayerRow(None, "minimax-3", "minimax-3")),
            started_at_ms=TimestampMs(10 * number),
            ended_at_ms=None if winner is None else TimestampMs(10 * number + 5),
            winner=winner,
            termination=None if winner is None else "no-moves",
            action_count=7,
        )


@pytest.fixture
def make() -> Make:
    return Make()


OpenStore = Callable[..., AbstractAsyncContextManager[SqliteStore]]


@pytest.fixture
def open_store(tmp_path: Path) -> OpenStore:
    """``async with open_store(...) as store``: on ``path``, else on ``tmp_path/rooms.db``."""

    @asynccontextmanager
    async def opened(
        path: Path = tmp_path / "rooms.db", replay: Replay = no_replay, **settings: Any
    ) -> AsyncIterator[SqliteStore]:
        store = await SqliteStore.open(path, replay, **settings)
        try:
            yield store
        finally:
            await store.close()

    return opened


@pytest.fixture
async def store(open_store: OpenStore) -> AsyncIterator[SqliteStore]:
    async with open_store() as opened:
        yield opened


@pytest.fixture
def database_path(tmp_path: Path) -> Path:
    """The file in which ``store`` and ``open_store`` keep their database."""
    return tmp_path / "rooms.db"


class Script:
    """The actions of connections made by :meth:`connection_class` before they run a statement.

    ``before[text]`` is called, in the connection's thread, before any statement that begins with ``text``; what it
    raises comes out of the statement. ``connect_count`` counts the connections made.
    """

    def __init__(self) -> None:
        self.before: dict[str, Callable[[], object]] = {}
        self.connect_count = 0

    def connection_class(self) -> type[sqlite3.Connection]:
        script = self

        class ScriptedConnection(sqlite3.Connection):
            def __init__(self, *args: Any, **kwargs: Any) -> None:
                script.connect_count += 1
                super().__init__(*args, **kwargs)

            def execute(self, sql: str, parameters: Any = ()) -> sqlite3.Cursor:
                self._run_script(sql)
                return super().execute(sql, parameters)

            def executemany(self, sql: str, parameters: Any) -> sqlite3.Cursor:
                self._run_script(sql)
                return super().executemany(sql, parameters)

            def _run_script(self, sql: str) -> None:
                for start, action in list(script.before.items()):
                    if sql.startswith(start):
                        action()

        return ScriptedConnection

    def fail(self, start: str, code: int, text: str) -> None:
        """Let statements that begin with ``start`` fail like SQLite does, until ``before`` is cleared."""

        def fail() -> None:
            error = sqlite3.OperationalError(text)
            error.sqlite_errorcode = code
            raise error

        self.before[start] = fail

    def hold(self, start: str) -> Gate:
        """Let statements that begin with ``start`` wait at a gate."""
        gate = Gate()
        self.before[start] = gate.wait_here
        return gate


class Gate:
    """A place where a thread waits until a test lets it pass."""

    def __init__(self) -> None:
        self._is_reached = threading.Event()
        self._is_open = threading.Event()

    def wait_here(self) -> None:
        self._is_reached.set()
        assert self._is_open.wait(LIMIT_S), "nobody opened the gate"

    async def reached(self) -> None:
        assert await asyncio.to_thread(self._is_reached.wait, LIMIT_S), "nobody came to the gate"

    def open(self) -> None:
        self._is_open.set()


@pytest.fixture
def script() -> Script:
    return Script()


OpenAny = Callable[[], AbstractAsyncContextManager[Store]]
ADAPTERS = ("sqlite", "postgres")
SHARED = frozenset({"postgres"})
"""The adapters of which two stores may be open on the same data."""


@pytest.fixture(params=ADAPTERS)
def adapter(request: pytest.FixtureRequest) -> str:
    """The name of each adapter in turn."""
    name: str = request.param
    return name


@pytest.fixture
def open_any(adapter: str, tmp_path: Path, request: pytest.FixtureRequest) -> OpenAny:
    """``async with open_any() as store``: on the same data each time."""
    url = request.getfixturevalue("database_url") if adapter == "postgres" else ""

    async def open_store() -> Store:
        if url:
            return await PostgresStore.open(url, address=HERE)
        return await SqliteStore.open(tmp_path / "rooms.db", no_replay)

    @asynccontextmanager
    async def opened() -> AsyncIterator[Store]:
        store = await open_store()
        try:
            yield store
        finally:
            await store.close()

    return opened


@pytest.fixture
async def admin(database_url: str) -> AsyncIterator[asyncpg.Connection]:
    """A connection that nobody disturbs."""
    connection = await asyncpg.connect(database_url)
    yield connection
    await connection.close()


@pytest.fixture
async def any_store(open_any: OpenAny) -> AsyncIterator[Store]:
    """A store of each adapter."""
    async with open_any() as store:
        yield store


@pytest.fixture
async def owners(adapter: str, any_store: Store, open_any: OpenAny) -> AsyncIterator[tuple[Store, Store]]:
    """Two stores on the same data, or twice the same one where there can be no other."""
    if adapter not in SHARED:
        yield any_store, any_store
        return
    async with open_any() as other:
        yield any_store, other
