"""The one place that knows all parts: puts a server together, starts it, and takes it down again."""

from __future__ import annotations

import os
import time
from collections.abc import AsyncIterator
from contextlib import AsyncExitStack, asynccontextmanager
from dataclasses import dataclass
from pathlib import Path

import tabuleiro
from tabuleiro.ids import TimestampMs
from tabuleiro.rules import registry
from tabuleiro_server.bots.levels import level_names
from tabuleiro_server.bots.pool import BotPool
from tabuleiro_server.bots.seat import BotSeats
from tabuleiro_server.config import Config
from tabuleiro_server.net.figures import NetFigures
from tabuleiro_server.net.http_pages import HttpPages
from tabuleiro_server.net.websocket_server import WebSocketServer
from tabuleiro_server.obs.logs import configure_logs
from tabuleiro_server.obs.loop_lag import LoopLagProbe
from tabuleiro_server.obs.metrics import ServerCollector, render_metrics
from tabuleiro_server.room.views import summary_of
from tabuleiro_server.runtime.archive import Archive
from tabuleiro_server.runtime.caretaker import Caretaker
from tabuleiro_server.runtime.directory import Directory
from tabuleiro_server.runtime.guests import Guests
from tabuleiro_server.runtime.journal import Journal
from tabuleiro_server.runtime.lobby import Lobby
from tabuleiro_server.runtime.requests import Requests
from tabuleiro_server.runtime.room_quota import RoomQuota
from tabuleiro_server.runtime.room_task import RoomTask
from tabuleiro_server.runtime.services import Services
from tabuleiro_server.store.accounts import Accounts
from tabuleiro_server.store.database import Database
from tabuleiro_server.store.event_log import EventLog


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

    Raises: StoreError when the database cannot be used, ConfigError when the address cannot be had.
    """
    async with AsyncExitStack() as stack:
        database = await Database.open(Path(config.db), synchronous=config.synchronous)
        stack.push_async_callback(database.close)
        event_log = EventLog(database)
        await event_log.start()
        stack.push_async_callback(event_log.stop)
        pool = BotPool(config.bot_workers or max((os.cpu_count() or 2) - 1, 1), config.bot_think_limit_ms)
        await pool.start()
        stack.push_async_callback(pool.stop)
        services = await _start_rooms(stack, config, database, event_log, pool)
        server = await _start_net(stack, config, services, event_log, pool)
        caretaker = Caretaker(database, services.directory, services.guests, config, now_ms)
        caretaker.start()
        stack.push_async_callback(caretaker.stop)
        yield RunningServer(config.host, server.port, services.directory)


async def _start_rooms(
    stack: AsyncExitStack, config: Config, database: Database, event_log: EventLog, pool: BotPool
) -> Services:
    """Put together what sessions talk to."""
    journal = Journal(event_log)
    lobby = Lobby(await journal.summaries())
    quota = RoomQuota(config.rooms_per_account_count, await journal.unfinished_hosts())
    seats = BotSeats(pool, now_ms)

    def on_change(room: RoomTask) -> None:
        lobby.update(summary_of(room.state, room.watchers_count))
        quota.note(room.state)
        seats.consider(room)

    last_alive_ms = TimestampMs(database.last_alive_ms or now_ms())
    directory = Directory(journal, config, now_ms, on_change, last_alive_ms)
    stack.push_async_callback(directory.stop)
    stack.push_async_callback(seats.stop)
    stack.callback(lobby.stop)
    return Services(
        config=config,
        guests=Guests(Accounts(database), now_ms),
        directory=directory,
        lobby=lobby,
        archive=Archive(journal),
        quota=quota,
        levels={name: level_names(name) for name in registry.names()},
        now_ms=now_ms,
        version=tabuleiro.__version__,
    )


async def _start_net(
    stack: AsyncExitStack, config: Config, services: Services, event_log: EventLog, pool: BotPool
) -> WebSocketServer:
    """Listen for connections, and let what happens be measured."""
    probe = LoopLagProbe()
    probe.start()
    stack.callback(probe.stop)
    requests = Requests(services)
    figures = NetFigures()
    collector = ServerCollector(
        version=services.version,
        net=figures,
        requests=requests.figures,
        commits=event_log.figures,
        loop_lags_us=probe.lags_us,
        rooms_count=lambda: services.directory.rooms_count,
        bots=lambda: pool.counts,
    )
    pages = HttpPages(config, lambda: render_metrics(collector))
    server = WebSocketServer(requests, config, pages, figures)
    await server.start()
    stack.push_async_callback(server.stop)
    return server


@asynccontextmanager
async def embedded_server(db: Path) -> AsyncIterator[RunningServer]:
    """Run a server for this process alone: on a free loopback port, logging errors only.

    Raises: as :func:`running_server`.
    """
    configure_logs("error")
    async with running_server(Config(db=str(db), port=0)) as server:
        yield server
