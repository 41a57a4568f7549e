"""A room this client is in: keeps a mirror up to date over lost connections and sends own actions exactly once.

It ties :mod:`tabuleiro_client.net.link` to :mod:`tabuleiro_client.net.mirror`; showing anything is left to others.
"""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Awaitable, Callable, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass
from typing import Final, Self

from tabuleiro.errors import ClientError, CommandError, ConnectionLostError, TabuleiroError
from tabuleiro.ids import Player
from tabuleiro.protocol.codes import ErrorCode
from tabuleiro.protocol.messages import (
    Announcement,
    CreateRoom,
    Error,
    JoinRoom,
    RoomEntered,
    RoomGone,
    RoomHead,
    Update,
)
from tabuleiro.rules import State
from tabuleiro_client.net.link import Backoff, Link
from tabuleiro_client.net.mirror import Mirror, Step
from tabuleiro_client.net.room_requests import RoomRequests
from tabuleiro_client.net.subscription import LinkLost, LinkRestored, Missed, Subscription, Told

_TRY_AGAIN_CODES: Final = frozenset({ErrorCode.BUSY, ErrorCode.STORAGE_UNAVAILABLE, ErrorCode.SHUTTING_DOWN})
_UNSEEN_MAX_COUNT: Final = 1000


@dataclass(frozen=True, slots=True)
class Happened:
    """An event of the room, with the head that came along with it."""

    step: Step
    head: RoomHead


@dataclass(frozen=True, slots=True)
class HeadChanged:
    """No event, but someone's connection or the number of watchers changed."""

    head: RoomHead


@dataclass(frozen=True, slots=True)
class Refreshed:
    """The mirror was made anew from a snapshot: show everything again."""

    head: RoomHead


@dataclass(frozen=True, slots=True)
class Lost:
    """The connection broke; it is being mended."""

    reason: str


@dataclass(frozen=True, slots=True)
class Restored:
    """The room is entered again and the missing events came before this."""


@dataclass(frozen=True, slots=True)
class Said:
    """A word of the server to everybody, or a complaint that belongs to no request."""

    text: str


@dataclass(frozen=True, slots=True)
class Gone:
    """This client is no longer in the room; the last change there is."""

    reason: str


Change = Happened | HeadChanged | Refreshed | Lost | Restored | Said | Gone


class EnteredRoom(RoomRequests):
    """The room of a mirror, kept alive; made by :func:`enter_room`. An async iterator of changes.

    The mirror may be ahead of the changes not yet read. The iteration ends after ``Gone`` or when the link is
    closed, and raises what ended the link otherwise.
    """

    def __init__(
        self, link: Link, subscription: Subscription, entered: RoomEntered, secret: str | None = None
    ) -> None:
        super().__init__(link, Mirror(link.account, entered))
        self.secrets = entered.secrets
        """The secret parts of a private room, told to its host; ``None`` otherwise."""
        self._secret = secret
        self._subscription = subscription
        self._changes: asyncio.Queue[Change | None] = asyncio.Queue(_UNSEEN_MAX_COUNT)
        self._news = asyncio.Event()
        self._is_in = asyncio.Event()
        self._is_in.set()
        self._entered_connection = link.connection_count
        self._is_over = False
        self._failure: TabuleiroError | None = None

    @property
    def has_unread(self) -> bool:
        """Whether a change is there to be read without waiting."""
        return not self._changes.empty()

    def __aiter__(self) -> Self:
        return self

    async def __anext__(self) -> Change:
        change = await self.next_change()
        if change is None:
            raise StopAsyncIteration
        return change

    async def next_change(self) -> Change | None:
        """What happened next, ``None`` when nothing can any more. Raises: what ended the link."""
        if not self._is_over or self.has_unread:
            change = await self._changes.get()
            if change is not None:
                return change
        if self._failure is not None:
            raise self._failure
        return None

    async def turns(self) -> AsyncIterator[State]:
        """Yield the position each time that this account may act, until the match is over.

        What to do is the caller's: to play, resign, or wait for the next change. Waits for a match to begin.
        Changes not yet read are dropped: the mirror holds them, and who plays both sides would never read any.
        """
        asked: object = None
        while True:
            while self.has_unread and await self.next_change() is not None:
                pass
            mirror = self.mirror
            moment = (mirror.match, mirror.state) if mirror.is_my_turn else None
            if moment is not None and moment != asked:
                asked = moment
                yield mirror.state
            elif mirror.head.phase in ("finished", "closed") or await self.next_change() is None:
                return

    def server_now_ms(self) -> int:
        """The latest that it can be now by the server's clock: what to read the match clock by."""
        return self._link.server_now_ms()

    async def _wait_while(self, is_so: Callable[[], bool]) -> None:
        while not self._is_over and is_so():
            self._news.clear()
            await self._news.wait()

    async def _send_until_answered(self, send: Callable[[], Awaitable[None]]) -> None:
        while True:
            await self._is_in.wait()
            if self._is_over:
                raise self._failure or ConnectionLostError(f"no longer in room {self.code}")
            connection = self._link.connection_count
            try:
                return await send()
            except ConnectionLostError:
                # Lost, or one that we have not entered the room on: we are told when we are in again.
                if self._entered_connection <= connection:
                    self._is_in.clear()

    async def follow(self) -> None:
        """Keep the mirror up to date until the room or the link is gone; run as a task by :func:`enter_room`."""
        try:
            if self.mirror.is_stale:
                await self._enter_again()
            async for told in self._subscription:
                await self._take(told)
                self._news.set()
                if self._is_over:
                    break
        except TabuleiroError as error:
            self._failure = error
        finally:
            self._is_over = True
            self._is_in.set()
            self._news.set()
        await self._changes.put(None)

    async def _take(self, told: Told) -> None:
        if isinstance(told, Update) and told.head.room == self.code:
            # Told before we know what we missed: the server let us in, but its answer came too late or not at all.
            if self._is_in.is_set():
                await self._update(told)
        elif isinstance(told, RoomGone) and told.room == self.code:
            await self._go(told.reason)
        elif isinstance(told, Announcement):
            await self._changes.put(Said(told.text))
        elif isinstance(told, Error):
            await self._changes.put(Said(told.message))
        elif isinstance(told, LinkLost):
            self._is_in.clear()
            await self._changes.put(Lost(told.reason))
        elif isinstance(told, LinkRestored):
            if await self._enter_again():
                await self._changes.put(Restored())
        elif isinstance(told, Missed):
            await self._enter_again()

    async def _update(self, update: Update) -> None:
        steps = self.mirror.update(update)
        await self._report(steps, update.head)
        if not steps:
            await self._changes.put(HeadChanged(update.head))
        if self.mirror.is_stale:
            await self._enter_again()

    async def _report(self, steps: Sequence[Step], head: RoomHead) -> None:
        self._note_events(step.event for step in steps)
        for step in steps:
            await self._changes.put(Happened(step, head))

    async def _enter_again(self) -> bool:
        """Enter on the present connection; return whether we are in. A lost connection is somebody else's news."""
        try:
            if not self.mirror.is_stale:
                await self._take_entered(await self._watch(self.mirror.since))
            if self.mirror.is_stale:
                await self._take_entered(await self._watch(None))
        except ConnectionLostError:
            return False
        except CommandError as error:
            await self._go(error.message)
            return False
        if self.mirror.is_stale:
            raise ClientError(
                f"room {self.code}: the server's position is not the one its moves lead to; "
                "client and server may be of different versions"
            )
        self._entered_connection = self._link.connection_count
        self._is_in.set()
        return True

    async def _take_entered(self, entered: RoomEntered) -> None:
        """Take in what was missed, or a snapshot in its place, which the server may give unasked."""
        steps = self.mirror.enter(entered)
        if entered.snapshot is None:
            await self._report(steps, entered.head)
        else:
            self._note_snapshot()
            await self._changes.put(Refreshed(entered.head))

    async def _watch(self, since: int | None) -> RoomEntered:
        for delay_s in Backoff(attempt_count=6).delays():
            try:
                return await self._link.watch_room(self.code, since, self._secret)
            except CommandError as error:
                if error.code not in _TRY_AGAIN_CODES:
                    raise
                await asyncio.sleep(delay_s)
        return await self._link.watch_room(self.code, since, self._secret)

    async def _go(self, reason: str) -> None:
        self._is_over = True
        await self._changes.put(Gone(reason))


@asynccontextmanager
async def enter_room(
    link: Link, request: Callable[[], Awaitable[RoomEntered]], secret: str | None = None
) -> AsyncIterator[EnteredRoom]:
    """Enter a room by ``request`` and follow it until the context ends; the server is not told of the end.

    ``secret`` is what a private room wants when it is entered again after a lost connection.

    Raises: CommandError, ConnectionLostError, ClientError for a game this version doesn't know.
    """
    subscription = link.subscribe()
    try:
        room = EnteredRoom(link, subscription, await request(), secret)
        following = asyncio.create_task(room.follow(), name=f"following room {room.code}")
        try:
            yield room
        finally:
            following.cancel()
            await asyncio.wait([following])
            if not following.cancelled():
                following.result()
    finally:
        link.unsubscribe(subscription)


@asynccontextmanager
async def create_room(link: Link, message: CreateRoom) -> AsyncIterator[EnteredRoom]:
    """Make a room and follow it. Raises: as :func:`enter_room`."""
    async with enter_room(link, lambda: link.create_room(message)) as room:
        yield room


@asynccontextmanager
async def join_room(
    link: Link, code: str, seat: Player | None = None, secret: str | None = None
) -> AsyncIterator[EnteredRoom]:
    """Sit down in a room and follow it. ``secret`` is for private rooms. Raises: as :func:`enter_room`."""
    message = JoinRoom(id=0, room=code, seat=seat, secret=secret)
    async with enter_room(link, lambda: link.enter(message), secret) as room:
        yield room


@asynccontextmanager
async def watch_room(link: Link, code: str, secret: str | None = None) -> AsyncIterator[EnteredRoom]:
    """Enter a room without asking for a seat, and follow it. Raises: as :func:`enter_room`."""
    async with enter_room(link, lambda: link.watch_room(code, secret=secret), secret) as room:
        yield room
