"""The one place that knows all parts: puts a server together, starts it, and takes it down again."""

from __future__ import annotations

import asyncio
import os
import time
from collections.abc import AsyncIterator
from contextlib import AsyncExitStack, asynccontextmanager
from dataclasses import dataclass
from pathlib import Path

import structlog

import tabuleiro
from tabuleiro.ids import TimestampMs
from tabuleiro.rules import registry
from tabuleiro_server.bots.levels import level_names
from tabuleiro_server.bots.pool import BotPool
from tabuleiro_server.bots.seat import BotSeats
from tabuleiro_server.config import Config
from tabuleiro_server.net.websocket_server import WebSocketServer
from tabuleiro_server.obs.logs import configure_logs
from tabuleiro_server.room.views import summary_of
from tabuleiro_server.runtime.archive import Archive
from tabuleiro_server.runtime.caretaker import Caretaker
from tabuleiro_server.runtime.directory import Directory
from tabuleiro_server.runtime.guests import Guests
from tabuleiro_server.runtime.journal import Journal
from tabuleiro_server.runtime.lobby import Lobby
from tabuleiro_server.runtime.requests import Requests
from tabuleiro_server.runtime.room_task import RoomTask
from tabuleiro_server.runtime.services import Services
from tabuleiro_server.store.accounts import Accounts
from tabuleiro_server.store.database import Database
from tabuleiro_server.store.event_log import EventLog

log = structlog.get_logger(__name__)


@dataclass(frozen=True, slots=True)
class RunningServer:
    """A server that accepts connections; it ends with the context that gave it."""

    host: str
    port: int
    directory: Directory

    @property
    def url(self) -> str:
        """Where clients connect to."""
        host = f"[{self.host}]" if ":" in self.host else self.host
        return f"ws://{host}:{self.port}"


def now_ms() -> TimestampMs:
    """The time of day in milliseconds since 1970 UTC."""
    return TimestampMs(time.time_ns() // 1_000_000)


@asynccontextmanager
async def running_server(config: Config) -> AsyncIterator[RunningServer]:
    """Run a server for as long as the context lasts.

    On the way out connections are told to come back, commands that wait are stored, and every task and process
    that was started is ended.

    Raises: StoreError when the database cannot be used, OSError when the address cannot be had.
    """
    async with AsyncExitStack() as stack:
        database = await Database.open(Path(config.db), synchronous=config.synchronous)
        stack.push_async_callback(database.close)
        event_log = EventLog(database)
        await event_log.start()
        stack.push_async_callback(event_log.stop)
        journal = Journal(event_log)
        lobby = Lobby(await journal.summaries())
        pool = BotPool(config.bot_workers or max((os.cpu_count() or 2) - 1, 1), config.bot_think_limit_ms)
        await pool.start()
        stack.push_async_callback(pool.stop)
        seats = BotSeats(pool, now_ms)

        def on_change(room: RoomTask) -> None:
            lobby.update(summary_of(room.state, room.watchers_count))
            seats.consider(room)

        last_alive_ms = TimestampMs(database.last_alive_ms or now_ms())
        directory = Directory(journal, config, now_ms, on_change, last_alive_ms)
        stack.push_async_callback(directory.stop)
        stack.push_async_callback(seats.stop)
        accounts = Accounts(database)
        services = Services(
            config=config,
            guests=Guests(accounts, now_ms),
            directory=directory,
            lobby=lobby,
            archive=Archive(journal),
            levels={name: level_names(name) for name in registry.names()},
            now_ms=now_ms,
            version=tabuleiro.__version__,
        )
        stack.callback(lobby.stop)
        server = WebSocketServer(Requests(services), config)
        await server.start()
        stack.push_async_callback(_stop_server, server, config)
        caretaker = Caretaker(database, directory, accounts, config, now_ms)
        caretaker.start()
        stack.push_async_callback(caretaker.stop)
        yield RunningServer(config.host, server.port, directory)


@asynccontextmanager
async def embedded_server(db: Path) -> AsyncIterator[RunningServer]:
    """Run a server for this process alone: on a free loopback port, logging errors only.

    Raises: as :func:`running_server`.
    """
    configure_logs("error")
    async with running_server(Config(db=str(db), port=0)) as server:
        yield server


async def _stop_server(server: WebSocketServer, config: Config) -> None:
    try:
        async with asyncio.timeout(config.shutdown_limit_ms / 1000):
            await server.stop()
    except TimeoutError:
        log.warning("connections did not close in time", limit_ms=config.shutdown_limit_ms)
