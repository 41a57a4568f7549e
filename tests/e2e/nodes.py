"""Several nodes on one PostgreSQL, all in this process."""

from __future__ import annotations

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import Any

from tabuleiro_server.config import Config
from tabuleiro_server.store.port import Store
from tabuleiro_server.store.postgres.keeper import NodeAddress
from tabuleiro_server.store.postgres.store import PostgresStore
from tabuleiro_server.wiring import RunningServer, running_server

CALM = {"messages_per_second_count": 1_000_000, "messages_burst_count": 1_000_000, "shutdown_notice_ms": 0}
"""For tests that are not about the messages a second, nor about the notice of a stop."""


@asynccontextmanager
async def running_node(database_url: str, name: str, **settings: Any) -> AsyncIterator[RunningServer]:
    """Run a node until the context ends."""
    config = Config(**({"host": "127.0.0.1", "port": 0, "db": database_url, "web": False} | CALM | settings))

    async def open_store(config: Config) -> Store:
        return await PostgresStore.open(config.db, address=NodeAddress(name, f"ws://{name}.example.org"))

    async with running_server(config, open_store=open_store) as server:
        yield server
