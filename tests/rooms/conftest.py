"""A server without its network: sessions, rooms, lobby and a real database, on a clock that the tests turn."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager, suppress
from pathlib import Path
from typing import Any

import msgspec
import pytest

from tabuleiro.errors import CommandError
from tabuleiro.ids import AccountId, RoomCode, Seq, TimestampMs
from tabuleiro.protocol import messages
from tabuleiro.protocol.codec import MsgpackCodec
from tabuleiro.protocol.events import Event, SeatTaken, SequencedEvent
from tabuleiro.protocol.messages import Ok, RoomEntered, RoomGone, SeatRequest, Update
from tabuleiro_server.bots.levels import read_level
from tabuleiro_server.config import Config
from tabuleiro_server.memory import Memory
from tabuleiro_server.rooms.archive import Archive
from tabuleiro_server.rooms.change_feed import ChangeFeed
from tabuleiro_server.rooms.directory import Directory
from tabuleiro_server.rooms.followers import Followers
from tabuleiro_server.rooms.hints import Hints, Wish
from tabuleiro_server.rooms.journal import Journal, rows_of
from tabuleiro_server.rooms.live_room import LiveRoom
from tabuleiro_server.rooms.nodes import Nodes
from tabuleiro_server.run_clock import RunClock
from tabuleiro_server.sessions.budgets import Budgets
from tabuleiro_server.sessions.guests import Guests, RoomQuota
from tabuleiro_server.sessions.levels import Levels
from tabuleiro_server.sessions.lifecycle import Lifecycle
from tabuleiro_server.sessions.lobby import Lobby
from tabuleiro_server.sessions.peers import LobbyPeers
from tabuleiro_server.sessions.requests import Requests
from tabuleiro_server.sessions.services import Services
from tabuleiro_server.sessions.session import Session
from tabuleiro_server.store.port import BEFORE_FIRST
from tabuleiro_server.store.sqlite.store import SqliteStore
from tests.patience import LIMIT_S

SMALL: dict[str, int | str] = {"rows": 4, "cols": 4, "steps": 2}
SEATS = (SeatRequest("me"), SeatRequest())
NO_FOLDER = Path("/nowhere")
START_MS = 1_000_000
AT_ONCE = {"first_turn_ms": 0, "long_first_turn_ms": 0}
"""Clocks of matches do not wait for first turns."""


class FaultyStore(SqliteStore):
    """A store that does what the test says before it appends.

    ``failures`` are raised for their room, and ``refuses_all`` for any, instead of storing; ``after`` is raised
    although it was stored.
    ``gate`` holds every append while it is not set. ``read_failure`` is raised by every load.
    """

    def __init__(self, *args: Any) -> None:
        super().__init__(*args)
        self.failures: dict[str, Exception] = {}
        self.after: Exception | None = None
        self.read_failure: Exception | None = None
        self.gate = asyncio.Event()
        self.gate.set()
        self.refuses_all: Exception | None = None
        self._is_reached = asyncio.Event()
        self._is_refused = asyncio.Event()

    def append(self, room: RoomCode, *args: Any) -> asyncio.Future[None]:
        return asyncio.ensure_future(self._append_as_told(room, *args))

    async def _append_as_told(self, room: RoomCode, *args: Any) -> None:
        if not self.gate.is_set():
            self._is_reached.set()
        await self.gate.wait()
        failure = self.failures.get(room, self.refuses_all)
        if failure is not None:
            self._is_refused.set()
            raise failure
        await super().append(room, *args)
        if self.after is not None:
            failure, self.after = self.after, None
            raise failure

    async def refused(self) -> None:
        """Wait until an append has failed."""
        await asyncio.wait_for(self._is_refused.wait(), LIMIT_S)

    async def reached(self) -> None:
        """Wait until an append waits at the gate."""
        await asyncio.wait_for(self._is_reached.wait(), LIMIT_S)

    async def load(self, room: RoomCode, after_seq: Seq = BEFORE_FIRST) -> Any:
        if self.read_failure is not None:
            raise self.read_failure
        return await super().load(room, after_seq)


class Client:
    """A connection as its client sees it. ``heard`` are the messages it got, oldest first.

    It is its own outbox: what is put is heard at once.
    """

    def __init__(self, stage: Stage, name: str, address: str) -> None:
        self.codec = MsgpackCodec()
        self.faults: list[Exception] = []
        requests = stage.requests
        answer, farewell, fault = requests.answer, requests.farewell, self.faults.append
        self.session = Session(self.codec, self, answer, farewell, fault, lambda: None, address=address)
        self.name = name
        self.account = AccountId(f"{name}-id")
        self.heard: list[Any] = []
        self._next_id = 0
        self._news = asyncio.Event()

    def put(self, frame: bytes) -> None:
        self.heard.append(self.codec.decode_server(frame))
        self._news.set()

    async def ask(self, make: Any, *args: Any, **fields: Any) -> Any:
        """Send a request and return what its answer holds: the result of ``ok``, or the error."""
        self._next_id += 1
        message = make(*args, id=self._next_id, **fields)
        heard_count = len(self.heard)
        answering = self.session.receive(self.codec.encode(message))
        if answering is not None:
            with suppress(CommandError):  # which the client is told
                await answering
        assert self.faults == []
        answer = await self.hear(lambda said: getattr(said, "id", None) == message.id, heard_count)
        return answer.result if isinstance(answer, Ok) else answer

    async def hear(self, is_wanted: Callable[[Any], bool], seen_count: int = 0) -> Any:
        """Wait for a message, which may have come already, but not among the first ``seen_count``."""
        async with asyncio.timeout(LIMIT_S):
            while True:
                for said in self.heard[seen_count:]:
                    if is_wanted(said):
                        return said
                seen_count = len(self.heard)
                self._news.clear()
                await self._news.wait()

    async def hear_event(self, kind: type[Event]) -> Any:
        """Wait until a room tells of such an event, and return it."""
        update = await self.hear(lambda said: kind in map(type, events_in(said)))
        return next(event for event in events_in(update) if isinstance(event, kind))

    async def hear_gone(self) -> RoomGone:
        gone = await self.hear(lambda said: isinstance(said, RoomGone))
        assert isinstance(gone, RoomGone)
        return gone

    async def create(self, **fields: Any) -> RoomEntered:
        entered = await self.ask(
            messages.CreateRoom, **{"game": "virus-wars", "options": SMALL, "seats": SEATS} | fields
        )
        assert isinstance(entered, RoomEntered), entered
        return entered

    async def join(self, room: str, **fields: Any) -> Any:
        return await self.ask(messages.JoinRoom, room=room, **fields)

    async def watch(self, room: str, **fields: Any) -> Any:
        return await self.ask(messages.WatchRoom, room=room, **fields)

    async def play(self, room: str, ply: int, *actions: str) -> Any:
        return await self.ask(messages.Play, room=room, match=1, ply=ply, actions=actions)


def events_in(said: Any) -> list[Event]:
    return [event.event for event in said.events] if isinstance(said, Update) else []


def sequenced_in(heard: list[Any]) -> list[SequencedEvent]:
    """All events of all updates."""
    return [event for said in heard if isinstance(said, Update) for event in said.events]


class Stage:
    """The parts of a server, put together as `wiring` does."""

    def __init__(self, store: FaultyStore, config: Config, now_ms: int, last_alive_ms: int) -> None:
        self.now_ms = now_ms
        self.clock_now: Callable[[], TimestampMs] = lambda: TimestampMs(self.now_ms)
        self.config = config
        self.store = store
        self.journal = Journal(store)
        self.lobby = Lobby()
        self.changes: list[LiveRoom] = []
        self._changed = asyncio.Event()
        self.faults: list[dict[str, Any]] = []
        self.directory = Directory(
            self.journal, config, self.clock, (self._on_change,), TimestampMs(last_alive_ms)
        )
        self.suggested: asyncio.Queue[messages.HintGiven | messages.Explanation | Exception] = asyncio.Queue()
        self.hints = Hints(self._suggest, self.clock)
        budgets = Budgets(config)
        self.guests = Guests(store.accounts, budgets, self.clock)
        feed = ChangeFeed(None)
        followers = Followers(self.journal, feed, self.clock, self.directory.has)
        services = Services(
            config=config,
            guests=self.guests,
            budgets=budgets,
            memory=Memory(NO_FOLDER),
            directory=self.directory,
            nodes=Nodes(store, self.directory, "", RunClock()),
            lobby=self.lobby,
            lobby_peers=LobbyPeers(None, feed, self.lobby, self.directory, followers),
            feed=feed,
            followers=followers,
            levels=Levels({"virus-wars": ("random",)}, read_level),
            now_ms=self.clock,
            version="test",
            archive=Archive(self.journal),
            lifecycle=Lifecycle(config, self.clock),
            quota=RoomQuota(config.rooms_per_account_count, self.journal.count_unfinished),
            hints=self.hints,
        )
        self.requests = Requests(services)

    def clock(self) -> TimestampMs:
        return self.clock_now()

    async def _suggest(self, room: LiveRoom, wish: Wish) -> messages.HintGiven | messages.Explanation:
        """Think until the test has put something into ``suggested``."""
        found = await self.suggested.get()
        if isinstance(found, Exception):
            raise found
        return found

    def _on_change(self, room: LiveRoom) -> None:
        self.hints.consider(room)
        self.changes.append(room)
        self._changed.set()
        self.lobby.update(room.summary())

    def client(self, name: str, address: str = "") -> Client:
        """Somebody who has said hello; two of one name are two connections of one account."""
        client = Client(self, name, address)
        client.session.welcome(client.account, name)
        self.lobby.arrive(name)
        return client

    async def room(self, code: str) -> LiveRoom:
        return await self.directory.find(code)

    async def until(self, is_so: Callable[[], bool]) -> None:
        """Wait for a change of any room after which something is so."""
        async with asyncio.timeout(LIMIT_S):
            while not is_so():
                self._changed.clear()
                await self._changed.wait()

    async def turn_clock_until(self, is_so: Callable[[], bool]) -> None:
        """Let the clock go on, a millisecond in each round of the event loop, until something is so."""
        async with asyncio.timeout(LIMIT_S):
            while not is_so():
                self.now_ms += 1
                await asyncio.sleep(0)

    async def unloaded(self, code: str) -> None:
        """Wait until the room has left memory."""
        room = self.directory._rooms.get(RoomCode(code))
        if room is not None:
            async with asyncio.timeout(LIMIT_S):
                await room.unloaded()

    async def stored(self, code: str) -> list[SequencedEvent]:
        return await self.journal.events_after(RoomCode(code), Seq(0))


@pytest.fixture
def open_stage(tmp_path: Path) -> Any:
    """``async with open_stage(now_ms=..., last_alive_ms=..., **config) as stage``: on one database a test.

    Clocks of matches run from the beginning. Rooms look at the clock every 20 real milliseconds, so that turning
    it is noticed. When the stage is left, no fault must have been reported to the event loop.
    """

    @asynccontextmanager
    async def opened(now_ms: int = START_MS, last_alive_ms: int = START_MS, **config: Any) -> AsyncIterator[Stage]:
        loop = asyncio.get_running_loop()
        store = await FaultyStore.open(tmp_path / "rooms.db", rows_of, synchronous="NORMAL")
        settings = {"idle_room_unload_ms": 20, "storage_retry_ms": 1} | AT_ONCE | config
        stage = Stage(store, msgspec.convert(settings, Config), now_ms, last_alive_ms)
        loop.set_exception_handler(lambda _, context: stage.faults.append(context))
        try:
            yield stage
        finally:
            store.gate.set()
            await stage.directory.stop()
            stage.lobby.stop()
            await store.close()
            loop.set_exception_handler(None)
        assert stage.faults == []

    return opened


@pytest.fixture
async def stage(open_stage: Any) -> AsyncIterator[Stage]:
    async with open_stage() as opened:
        yield opened


@pytest.fixture
async def match_of(stage: Stage) -> tuple[Stage, Client, Client, str]:
    """The stage, ana, who is to move, rui, and the code of their room."""
    ana, rui = stage.client("ana"), stage.client("rui")
    code = (await ana.create()).head.room
    await rui.join(code)
    await ana.hear_event(SeatTaken)
    return stage, ana, rui, code
