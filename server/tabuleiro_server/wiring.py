"""The one place that knows all parts: puts a server together, starts it, and takes it down again."""

from __future__ import annotations

import os
import socket
from collections.abc import AsyncIterator, Awaitable, Callable, Iterator
from contextlib import AsyncExitStack, asynccontextmanager, contextmanager
from dataclasses import dataclass
from functools import partial
from pathlib import Path

import structlog

import tabuleiro
from tabuleiro.errors import ConfigError, StoreError
from tabuleiro.ids import SECOND_MS, RoomCode, TimestampMs
from tabuleiro.protocol.addresses import format_server_url, parse_server_url
from tabuleiro.rules import registry
from tabuleiro_server.bots.levels import level_names, read_level
from tabuleiro_server.bots.pool import BotPool
from tabuleiro_server.bots.seats import BotSeats, advise
from tabuleiro_server.config import Config, names_postgres
from tabuleiro_server.memory import Memory
from tabuleiro_server.metrics import LoopLagProbe, NetMetrics
from tabuleiro_server.metrics.exposition import ServerCollector, render_metrics
from tabuleiro_server.net.addresses import is_everywhere
from tabuleiro_server.net.http import HttpPages
from tabuleiro_server.net.page import Page
from tabuleiro_server.net.pictures import Pictures, can_draw
from tabuleiro_server.net.server import WebSocketServer
from tabuleiro_server.rooms.archive import Archive
from tabuleiro_server.rooms.change_feed import ChangeFeed
from tabuleiro_server.rooms.directory import Directory
from tabuleiro_server.rooms.followers import Followers
from tabuleiro_server.rooms.hints import Hints
from tabuleiro_server.rooms.journal import Journal, rows_of
from tabuleiro_server.rooms.live_room import LiveRoom
from tabuleiro_server.rooms.nodes import Nodes
from tabuleiro_server.run_clock import RunClock
from tabuleiro_server.sessions.budgets import Budgets
from tabuleiro_server.sessions.guests import Guests, RoomQuota
from tabuleiro_server.sessions.levels import Levels
from tabuleiro_server.sessions.lifecycle import Janitor, Lifecycle
from tabuleiro_server.sessions.lobby import Lobby
from tabuleiro_server.sessions.peers import LobbyPeers
from tabuleiro_server.sessions.requests import Requests
from tabuleiro_server.sessions.services import Services
from tabuleiro_server.store.port import Store
from tabuleiro_server.store.sqlite.admin import read_stats
from tabuleiro_server.store.sqlite.store import SqliteStore

log = structlog.get_logger(__name__)

OpenStore = Callable[[Config], Awaitable[Store]]
"""Opens the store that the settings name. Raises: StoreError."""


@dataclass(frozen=True, slots=True)
class RunningServer:
    """A server that accepts connections; it ends with its context.

    ``url`` is its address on this machine, ``public_urls`` are those for other machines, the best one first.
    ``clock_behind_ms`` is the time by which the machine's clock was behind the newest event on disk, or 0.
    """

    url: str
    public_urls: list[str]
    port: int
    clock_behind_ms: int
    directory: Directory
    guests: Guests
    lifecycle: Lifecycle
    nodes: Nodes
    _sockets: WebSocketServer
    _bot_seats: BotSeats
    _notice_ms: int

    async def wind_down(self) -> None:
        """Give all rooms to other nodes, at once.

        Without another one announce the stop to every client, go on for the notice without new rooms, and let bots
        finish.
        """
        await self.lifecycle.within_limit(self._drain(), "rooms for other nodes")
        if self.nodes.has_drained:
            self.lifecycle.begin_stop(0)
            return
        self.lifecycle.begin_stop(self._notice_ms if self._sockets.connections_count else 0)
        announcement = self.lifecycle.announcement
        assert announcement is not None
        self._sockets.send_all(announcement)
        await self.lifecycle.give_notice()
        await self.lifecycle.within_limit(self._bot_seats.finish(), "bots that think")

    async def _drain(self) -> None:
        try:
            await self.nodes.drain()
        except StoreError as error:
            log.warning("rooms not given to other nodes", reason=str(error))


@contextmanager
def needing_cluster() -> Iterator[None]:
    """Import what works on PostgreSQL inside. Raises: StoreError, with the remedy, when its library is missing."""
    try:
        yield
    except ModuleNotFoundError as error:
        if error.name != "asyncpg":
            raise
        raise StoreError("PostgreSQL takes the extra `cluster`: pip install 'tabuleiro[cluster]'") from error


async def open_database(config: Config) -> Store:
    """Open the SQLite file or the PostgreSQL database that the settings name. Raises: StoreError; ConfigError."""
    if names_postgres(config.db):
        with needing_cluster():
            from tabuleiro_server.store.postgres.keeper import NodeAddress
            from tabuleiro_server.store.postgres.store import PostgresStore
        address = NodeAddress(node_name(config), node_url(config))
        store: Store = await PostgresStore.open(config.db, synchronous=config.synchronous, address=address)
    elif config.node_url:
        raise ConfigError("settings", "node_url", "the address of a PostgreSQL database in `db`")
    else:
        store = await SqliteStore.open(Path(config.db), rows_of, synchronous=config.synchronous)
    try:
        await Journal(store).fill_in_makers()
    except BaseException:
        await store.close()
        raise
    return store


def node_name(config: Config) -> str:
    """Return the name of this server among several."""
    return config.node or socket.gethostname()


def node_url(config: Config) -> str:
    """Return the address of this server among several, empty when it is alone."""
    return parse_server_url(config.node_url) if config.node_url else ""


async def measure_database(config: Config) -> tuple[int, dict[str, int]] | None:
    """Return the size in bytes of the database that the settings name, and its number of rooms by phase.

    ``None`` for one that cannot be read whole: its damage is told in the log, and what can be served is.
    """
    try:
        if names_postgres(config.db):
            from tabuleiro_server.store.postgres.admin import read_stats as read_postgres_stats

            stats = await read_postgres_stats(config.db)
        else:
            stats = await read_stats(Path(config.db))
    except StoreError:
        return None
    return stats.size_bytes, stats.room_counts


# Longer than other functions: what is started here ends in the reverse order, which is best seen in one place.
@asynccontextmanager
async def running_server(
    config: Config,
    lifecycle: Lifecycle | None = None,
    open_store: OpenStore = open_database,
    clock: RunClock | None = None,
    *,
    prepares_bots: bool = False,
) -> AsyncIterator[RunningServer]:
    """Run a server for as long as the context lasts.

    On the way out connections are told to come back, commands that wait are stored, and every task and process
    that was started is ended, each within its limit.

    Args:
        config: The settings.
        lifecycle: Given by a caller who wants to hurry the stop.
        open_store: Opens the store.
        clock: The time of this run; the caller's lifecycle goes by it too.
        prepares_bots: Starts a worker for bots at once, and not with the first turn of one: other nodes give their
            matches to this one with the clocks running, and a process takes a while to start.

    Raises:
        StoreError: The database cannot be used.
        ConfigError: The address cannot be used.
    """
    clock = clock or RunClock()
    now_ms = clock.now_ms
    lifecycle = lifecycle or Lifecycle(config, now_ms)
    async with AsyncExitStack() as stack:

        def at_the_end(stop: Callable[[], Awaitable[None]], what: str) -> None:
            stack.push_async_callback(lambda: lifecycle.within_limit(stop(), what))

        store = await open_store(config)
        # Not given up: a process does not end before the threads of its connections do.
        stack.push_async_callback(store.close)
        shared_ms = await store.clock_ms()
        if shared_ms is not None:
            clock.begin_at(shared_ms)
        behind_ms = clock.begin_after(await store.newest_ms() or 0)
        if behind_ms >= SECOND_MS:
            log.warning("the machine's clock is behind the newest event; time goes on from there", by_ms=behind_ms)
        at_the_end(store.stop, "commits")
        core_count = os.cpu_count() or 2
        worker_count = config.bot_workers or max(core_count - 1, 1)
        pool = BotPool(worker_count, config.bot_think_limit_ms, core_count=core_count)
        await pool.start()
        if prepares_bots:
            pool.prepare()
        at_the_end(pool.stop, "bot workers")
        budgets = Budgets(config)
        bot_seats = BotSeats(pool, now_ms, config.storage_retry_ms, budgets.bot_turn)
        hints = Hints(partial(advise, pool), now_ms)
        services = await _rooms(config, store, bot_seats, hints, budgets, lifecycle, clock)
        at_the_end(services.directory.stop, "rooms")
        at_the_end(bot_seats.stop, "bots")
        stack.callback(services.lobby.stop)
        at_the_end(services.feed.stop, "changes by other servers")
        at_the_end(services.followers.stop, "followed rooms")
        await services.lobby_peers.start()
        at_the_end(services.lobby_peers.stop, "the lobby of other servers")
        probe = LoopLagProbe()
        probe.start()
        stack.callback(probe.stop)
        clock.watch(services.directory.note_standstill)
        stack.callback(clock.stop)
        sockets = _sockets(config, services, store, pool, probe, clock)
        await sockets.start()
        at_the_end(sockets.stop, "connections")
        # While there are connections to answer on.
        at_the_end(hints.stop, "hints")
        # Only now can people be sent here.
        await services.nodes.start()
        at_the_end(services.nodes.stop, "other nodes")
        janitor = Janitor(store, services.directory, services.guests, config, now_ms)
        janitor.start()
        at_the_end(janitor.stop, "the janitor")
        yield RunningServer(
            url=format_server_url(_own_host(config.host), sockets.port),
            public_urls=sockets.public_urls,
            port=sockets.port,
            clock_behind_ms=behind_ms,
            directory=services.directory,
            guests=services.guests,
            lifecycle=lifecycle,
            nodes=services.nodes,
            _sockets=sockets,
            _bot_seats=bot_seats,
            _notice_ms=config.shutdown_notice_ms,
        )


def _own_host(host: str) -> str:
    """Return the host by which this machine reaches a server that listens on ``host``."""
    if not is_everywhere(host):
        return host
    return "::1" if ":" in host else "127.0.0.1"


async def _rooms(
    config: Config,
    store: Store,
    bot_seats: BotSeats,
    hints: Hints,
    budgets: Budgets,
    lifecycle: Lifecycle,
    clock: RunClock,
) -> Services:
    """Put together the parts that sessions use."""
    journal = Journal(store)
    lobby = Lobby() if store.peers else Lobby(await journal.summaries())

    def on_unload(room: LiveRoom) -> None:
        lobby.settle(room.state.code)
        bot_seats.forget(room)

    def on_load(code: RoomCode) -> None:
        followers.end(code)

    now_ms = clock.now_ms
    last_alive_ms = None if store.last_alive_ms is None else TimestampMs(store.last_alive_ms)
    levels = {name: level_names(name) for name in registry.names()}
    observers = (lobby.note, bot_seats.consider, hints.consider)
    directory = Directory(journal, config, now_ms, observers, last_alive_ms, on_unload, on_load)
    feed = ChangeFeed(store.peers)
    followers = Followers(journal, feed, now_ms, directory.has)
    return Services(
        config=config,
        guests=Guests(store.accounts, budgets, now_ms, {level for game in levels.values() for level in game}),
        directory=directory,
        nodes=Nodes(store, directory, node_url(config), clock),
        lobby=lobby,
        lobby_peers=LobbyPeers(store.peers, feed, lobby, directory, followers),
        feed=feed,
        followers=followers,
        archive=Archive(journal),
        lifecycle=lifecycle,
        quota=RoomQuota(config.rooms_per_account_count, journal.count_unfinished),
        budgets=budgets,
        memory=Memory(),
        hints=hints,
        levels=Levels(levels, read_level),
        now_ms=now_ms,
        version=tabuleiro.__version__,
    )


def _sockets(
    config: Config, services: Services, store: Store, pool: BotPool, probe: LoopLagProbe, clock: RunClock
) -> WebSocketServer:
    """Put together the parts behind the port, and the metrics of all parts."""
    requests = Requests(services)
    metrics = NetMetrics()
    collector = ServerCollector(
        version=services.version,
        node=node_name(config) if config.node_url else "",
        net=metrics,
        requests=requests.metrics,
        commits=store.metrics,
        loop_lags_us=probe.lags_us,
        nodes=services.nodes.metrics,
        rooms_count=lambda: services.directory.rooms_count,
        bots=lambda: pool.counts,
        memory=lambda: services.memory.tightest,
    )
    page = None
    if config.web:
        pictures = Pictures(services.lobby_peers, services.directory, services.archive) if can_draw() else None
        page = Page(services.lobby_peers.listed_room, pictures, config.public_url, lambda: services.nodes.urls)
    pages = HttpPages(
        config,
        lambda: render_metrics(collector),
        page,
        node_urls=lambda: services.nodes.urls,
        find_trouble=lambda: store.trouble,
    )
    return WebSocketServer(requests, config, pages, metrics, clock.awake_s, services.memory)
