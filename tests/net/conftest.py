"""What the server's tests share: the real server in this process, and a watch on logs and leaks."""

from __future__ import annotations

import asyncio
import logging
from collections.abc import AsyncIterator, Iterator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

import pytest
import structlog

from tabuleiro_server.config import Config
from tabuleiro_server.wiring import RunningServer, running_server
from tests.net.wire_client import LIMIT_S, StartServer

CALM = {"messages_per_second_count": 1_000_000, "messages_burst_count": 1_000_000}
"""For tests that are not about the messages a second."""


@pytest.fixture(autouse=True)
def log_entries(caplog: pytest.LogCaptureFixture) -> Iterator[list[dict[str, Any]]]:
    """Nothing that a client does may be worth more than an `info` in the log."""
    with structlog.testing.capture_logs() as entries:
        yield entries
    loud = [entry for entry in entries if entry["log_level"] not in ("debug", "info")]
    phases = [caplog.get_records(when) for when in ("setup", "call", "teardown")]
    records = [record for phase in phases for record in phase if record.levelno > logging.INFO]
    assert (loud, records) == ([], [])


@pytest.fixture
def start_server(tmp_path: Path) -> StartServer:
    """``async with start_server(key=value, ...) as server``; at the end no task of it may be left."""

    @asynccontextmanager
    async def started(**settings: Any) -> AsyncIterator[RunningServer]:
        tasks_before = asyncio.all_tasks()
        config = Config(**({"host": "127.0.0.1", "port": 0, "db": str(tmp_path / "server.db")} | CALM | settings))
        async with running_server(config) as server:
            yield server
        here = {asyncio.current_task()}
        left = asyncio.all_tasks() - tasks_before - here
        if left:
            await asyncio.wait(left, timeout=LIMIT_S)
        assert not asyncio.all_tasks() - tasks_before - here
        assert server.directory.rooms_count == 0

    return started


@pytest.fixture
async def server(start_server: StartServer) -> AsyncIterator[RunningServer]:
    async with start_server() as running:
        yield running
