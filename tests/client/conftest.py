"""A small server of one room for tests of the client: real frames and real rules, faults on demand."""

from __future__ import annotations

import asyncio
import io
from collections.abc import AsyncIterator, Callable
from itertools import count

import msgspec
import pytest
from websockets.asyncio.server import ServerConnection, serve
from websockets.exceptions import ConnectionClosed
from websockets.typing import Subprotocol

from tabuleiro.ids import AccountId, Player, Ply, RoomCode, Seq, TimestampMs
from tabuleiro.protocol.codec import MsgpackCodec
from tabuleiro.protocol.events import (
    ActionsPlayed,
    ActionsUndone,
    Event,
    MatchStarted,
    OfferEnded,
    OfferMade,
    OfferView,
    Said,
    SeatInfo,
    SequencedEvent,
)
from tabuleiro.protocol.messages import (
    Answer,
    ClientMessage,
    Error,
    Hello,
    ListRooms,
    MatchView,
    Offer,
    Ok,
    Play,
    RoomEntered,
    RoomHead,
    RoomList,
    Say,
    SeatView,
    ServerMessage,
    Snapshot,
    Undo,
    Update,
    WatchRoom,
    Welcome,
)
from tabuleiro.protocol.version import SUBPROTOCOL_MSGPACK
from tabuleiro.rules import State, registry
from tabuleiro_client.line.terminal import Line
from tests.patience import LIMIT_S, PATIENCE

ROOM = RoomCode("K7MQ4")
GAME = "virus-wars"


class OneRoom:
    """A running match between the accounts ``a1`` (seat 0) and ``a2`` (seat 1)."""

    def __init__(self) -> None:
        self.game = registry.load(GAME, {"rows": 4, "cols": 4, "steps": 2})
        self.state: State = self.game.initial_state()
        self.actions: list[str] = []
        self.events: list[SequencedEvent] = []
        self.offers: tuple[OfferView, ...] = ()
        self.revision = 0
        self.add(MatchStarted(1))

    def add(self, event: Event) -> SequencedEvent:
        numbered = SequencedEvent(Seq(len(self.events) + 1), TimestampMs(0), event)
        self.events.append(numbered)
        return numbered

    def play(self, ply: int, *actions: str) -> SequencedEvent | None:
        """Play for whoever is to move; ``None`` when exactly this was played at that ply already."""
        if tuple(self.actions[ply : ply + len(actions)]) == actions:
            return None
        mover = self.state.to_move
        assert mover is not None
        assert ply == len(self.actions)
        for action in actions:
            self.state = self.state.apply(self.state.string_to_action(action))
            self.actions.append(action)
        return self.add(ActionsPlayed(1, Ply(ply), mover, actions))

    def undo(self, ply: int) -> SequencedEvent:
        """Undo actions of the one to move, so that ``ply`` are left."""
        mover = self.state.to_move
        assert mover is not None
        del self.actions[ply:]
        self.revision += 1
        self.state = self.game.initial_state()
        for action in self.actions:
            self.state = self.state.apply(self.state.string_to_action(action))
        return self.add(ActionsUndone(1, Ply(ply), mover))

    def perform(self, message: Undo | Offer | Answer | Say) -> SequencedEvent:
        """Do what player 0 asks; nothing is recognised when it comes twice."""
        match message:
            case Undo():
                return self.undo(message.ply)
            case Offer():
                self.offers = (*self.offers, OfferView(message.kind, 0))
                return self.add(OfferMade(message.kind, 0))
            case Answer():
                self.offers = ()
                return self.add(OfferEnded(message.kind, 1, "declined"))
            case Say():
                return self.add(Said(AccountId("a1"), "ana", message.text, True))

    def head(self) -> RoomHead:
        def seat(account: str, name: str) -> SeatView:
            return SeatView(SeatInfo("person", AccountId(account), name), True)

        match = MatchView(
            1, Ply(len(self.actions)), self.to_move, self.state.digest(), TimestampMs(0), revision=self.revision
        )
        return RoomHead(
            room=ROOM,
            seq=Seq(len(self.events)),
            phase="playing",
            game=GAME,
            options=dict(self.game.options),
            host_name="ana",
            created_at_ms=TimestampMs(0),
            seats=(seat("a1", "ana"), seat("a2", "rui")),
            now_ms=TimestampMs(0),
            match=match,
            offers=self.offers,
        )

    @property
    def to_move(self) -> Player | None:
        return self.state.to_move

    def entered(self, since: int | None = None) -> RoomEntered:
        if since is None:
            return RoomEntered(self.head(), 0, Snapshot(tuple(self.actions)))
        return RoomEntered(self.head(), 0, None, tuple(self.events[since:]))


class Typist:
    """Lines as a person at a terminal, or a script on a pipe, types them."""

    def __init__(self, *, is_terminal: bool) -> None:
        self.is_terminal = is_terminal
        self._lines: asyncio.Queue[Line | None] = asyncio.Queue()

    def type(self, *texts: str | None) -> None:
        for text in texts:
            self._lines.put_nowait(None if text is None else Line(text))

    def type_unusable(self, problem: str) -> None:
        self._lines.put_nowait(Line("", problem))

    async def next_line(self) -> Line | None:
        return await self._lines.get()


class Paper(io.StringIO):
    """What was written, and a way to wait for it."""

    def __init__(self) -> None:
        super().__init__()
        self._grown = asyncio.Event()
        self._seen = 0

    def write(self, text: str) -> int:
        self._grown.set()
        return super().write(text)

    async def shows(self, text: str) -> None:
        """Wait until ``text`` stands after everything that was waited for before."""
        while (at := self.getvalue().find(text, self._seen)) < 0:
            self._grown.clear()
            try:
                await asyncio.wait_for(self._grown.wait(), LIMIT_S)
            except TimeoutError:
                raise AssertionError(f"{text!r} is not in {self.getvalue()[self._seen :]!r}") from None
        self._seen = at + len(text)
        PATIENCE.renew()


Reply = ServerMessage | None


class FaultyServer:
    """Answers like a server; ``on_message`` may return a reply of its own, or ``None`` for the usual one."""

    def __init__(self) -> None:
        self.room = OneRoom()
        self.url = ""
        self.received: list[ClientMessage] = []
        self.connections: list[ServerConnection] = []
        self.on_message: Callable[[ClientMessage, ServerConnection], Reply] = lambda message, connection: None
        self.cut_before_reply_to: type[ClientMessage] | None = None
        self.update_to_tell: Update | None = None
        self.lets_in = asyncio.Event()
        self.lets_in.set()
        self.answers = asyncio.Event()
        self.answers.set()
        self._codec = MsgpackCodec()
        self._guests = count(1)

    async def serve_one(self, connection: ServerConnection) -> None:
        self.connections.append(connection)
        try:
            async for frame in connection:
                assert isinstance(frame, bytes)
                message = self._codec.decode_client(frame)
                self.received.append(message)
                if isinstance(message, Hello):
                    await self.lets_in.wait()
                else:
                    await self.answers.wait()
                reply = self.on_message(message, connection) or self.usual_reply(message)
                if self.cut_before_reply_to is type(message):
                    self.cut_before_reply_to = self.update_to_tell = None
                    connection.transport.abort()
                    return
                await connection.send(self._codec.encode(reply))
                if self.update_to_tell is not None:
                    update, self.update_to_tell = self.update_to_tell, None
                    await self.tell(update)
        except ConnectionClosed:
            pass
        finally:
            self.connections.remove(connection)

    def usual_reply(self, message: ClientMessage) -> ServerMessage:
        match message:
            case Hello():
                token = None if message.token else f"token-{next(self._guests)}"
                name = message.name or "ana"
                return Ok(message.id, Welcome(AccountId("a1"), name, "test", TimestampMs(0), {}, token))
            case ListRooms():
                return Ok(message.id, RoomList(()))
            case WatchRoom():
                return Ok(message.id, self.room.entered(message.since))
            case Play():
                event = self.room.play(message.ply, *message.actions)
                if event is not None:
                    self.update_to_tell = Update(self.room.head(), (event,))
                return Ok(message.id)
            case Undo() | Offer() | Answer() | Say():
                event = self.room.perform(message)
                self.update_to_tell = Update(self.room.head(), (event,))
                return Ok(message.id, seq=event.seq)
            case _:
                return Error(message.id, "not-allowed", "not part of this test")

    async def tell(self, message: ServerMessage) -> None:
        """Send ``message`` unasked to every connection."""
        for connection in self.connections:
            await connection.send(self._codec.encode(message))

    async def opponent_plays(self, *actions: str) -> None:
        """Play for the side to move and tell everybody."""
        event = self.room.play(len(self.room.actions), *actions)
        assert event is not None
        await self.tell(Update(self.room.head(), (event,)))

    async def cut(self) -> None:
        """Break every connection without a closing handshake."""
        for connection in list(self.connections):
            connection.transport.abort()

    def with_other_digest(self, update: Update) -> Update:
        """The same update with a head that claims another position."""
        assert update.head.match is not None
        match = msgspec.structs.replace(update.head.match, digest="0" * 16)
        return Update(msgspec.structs.replace(update.head, match=match), update.events)


@pytest.fixture
async def server() -> AsyncIterator[FaultyServer]:
    """A server on a free loopback port."""
    faulty = FaultyServer()
    subprotocols = [Subprotocol(SUBPROTOCOL_MSGPACK)]
    async with serve(faulty.serve_one, "127.0.0.1", 0, subprotocols=subprotocols) as listening:
        port = next(iter(listening.sockets)).getsockname()[1]
        faulty.url = f"ws://127.0.0.1:{port}"
        yield faulty


@pytest.fixture(scope="session")
def one_room() -> type[OneRoom]:
    """The room of the server, for tests that need no server."""
    return OneRoom


@pytest.fixture(scope="session")
def make_typist() -> type[Typist]:
    """Makes somebody who types."""
    return Typist


@pytest.fixture(scope="session")
def make_paper() -> type[Paper]:
    """Makes something to write on."""
    return Paper


@pytest.fixture(autouse=True)
async def _patience() -> AsyncIterator[None]:
    """No test of this folder may wait for ever."""
    PATIENCE.renew()
    yield
    PATIENCE.end()
