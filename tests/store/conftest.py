"""What the store's tests share: rows to write and stores to write them to."""

from __future__ import annotations

from collections.abc import AsyncIterator, Callable, Sequence
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

import pytest

from tabuleiro.ids import AccountId, RoomCode, Seq, TimestampMs
from tabuleiro_server.store.database import Database
from tabuleiro_server.store.event_log import EventLog, MatchRow, PlayerRow, RoomRow, StoredEvent


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


OpenLog = Callable[..., Any]


@pytest.fixture
def open_log(tmp_path: Path) -> OpenLog:
    """``async with open_log(...) as log``: a running event log on ``tmp_path/rooms.db``."""

    @asynccontextmanager
    async def opened(**settings: Any) -> AsyncIterator[EventLog]:
        database = await Database.open(tmp_path / "rooms.db", **settings)
        try:
            log = EventLog(database)
            await log.start()
            try:
                yield log
            finally:
                await log.stop()
        finally:
            await database.close()

    return opened


@pytest.fixture
async def log(open_log: OpenLog) -> AsyncIterator[EventLog]:
    async with open_log() as opened:
        yield opened


@pytest.fixture
def database_path(tmp_path: Path) -> Path:
    """Where ``log`` and ``open_log`` keep their database."""
    return tmp_path / "rooms.db"


def seqs(events: Sequence[StoredEvent]) -> list[int]:
    """The numbers of the events."""
    return [event.seq for event in events]
