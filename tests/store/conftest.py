"""What the store's tests share: rows to write and stores to write them to."""

from __future__ import annotations

import asyncio
import sqlite3
import threading
from collections.abc import AsyncIterator, Callable
from contextlib import AbstractAsyncContextManager, asynccontextmanager
from pathlib import Path
from typing import Any

import pytest

from tabuleiro.ids import AccountId, RoomCode, Seq, TimestampMs
from tabuleiro_server.store.database import Database
from tabuleiro_server.store.event_log import EventLog, MatchRow, PlayerRow, RoomRow, StoredEvent
from tests.patience import LIMIT_S


class Make:
    """Rows with plausible values, so that tests name only what they are about."""

    @staticmethod
    def events(first: int, last: int, payload: bytes = b"fact") -> list[StoredEvent]:
        return [StoredEvent(Seq(seq), TimestampMs(1_000 + seq), 1, payload) for seq in range(first, last + 1)]

    @staticmethod
    def room(code: str, phase: str = "playing", deadline_ms: int | None = None, summary: bytes = b"s") -> RoomRow:
        deadline = None if deadline_ms is None else TimestampMs(deadline_ms)
        return RoomRow(RoomCode(code), phase, True, TimestampMs(1), TimestampMs(2), deadline, summary)

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


@asynccontextmanager
async def opened_database(path: Path, **settings: Any) -> AsyncIterator[Database]:
    """A database that is closed at the end: an open one would keep the test run from ending."""
    database = await Database.open(path, **settings)
    try:
        yield database
    finally:
        await database.close()


OpenDatabase = Callable[..., AbstractAsyncContextManager[Database]]
OpenLog = Callable[..., AbstractAsyncContextManager[EventLog]]


@pytest.fixture
def open_database() -> OpenDatabase:
    """``async with open_database(path, ...) as database``."""
    return opened_database


@pytest.fixture
def open_log(tmp_path: Path) -> OpenLog:
    """``async with open_log(...) as log``: a running event log on ``path``, else on ``tmp_path/rooms.db``."""

    @asynccontextmanager
    async def opened(path: Path = tmp_path / "rooms.db", **settings: Any) -> AsyncIterator[EventLog]:
        async with opened_database(path, **settings) as database:
            log = EventLog(database)
            await log.start()
            try:
                yield log
            finally:
                await log.stop()

    return opened


@pytest.fixture
async def log(open_log: OpenLog) -> AsyncIterator[EventLog]:
    async with open_log() as opened:
        yield opened


@pytest.fixture
def database_path(tmp_path: Path) -> Path:
    """Where ``log`` and ``open_log`` keep their database."""
    return tmp_path / "rooms.db"


class Script:
    """What the connections made by :meth:`connection_class` do before they run a statement.

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
