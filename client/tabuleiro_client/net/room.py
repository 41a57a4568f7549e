"""A room this client is in: the ways in, a mirror kept over lost connections, and what can be asked of the room.

``play`` is done exactly once, over lost connections too; every other request at most once. Showing anything is
left to others.
"""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from types import TracebackType
from typing import Final, Self

from msgspec import UNSET

from tabuleiro.errors import (
    ClientError,
    CommandError,
    ConnectionLostError,
    TabuleiroError,
    UnknownOutcomeError,
)
from tabuleiro.ids import Player, RoomCode, Seq
from tabuleiro.protocol.codes import ErrorCode
from tabuleiro.protocol.events import OfferKind
from tabuleiro.protocol.messages import (
    Abort,
    Announcement,
    Answer,
    ChangeSettings,
    ClaimWin,
    ClientMessage,
    Consider,
    Considered,
    CreateRoom,
    Error,
    Explain,
    Explanation,
    HintGiven,
    JoinRoom,
    LeaveRoom,
    Mute,
    Offer,
    Ok,
    Play,
    QuickPlay,
    Resign,
    RoomEntered,
    RoomGone,
    RoomHead,
    Say,
    SeatBot,
    SwapSeats,
    TakeHint,
    Undo,
    Update,
    WantsBoards,
    WatchRoom,
)
from tabuleiro.rules import State
from tabuleiro.settings import RoomSettings
from tabuleiro_client.net.link import Backoff, Link, LinkState, result_of
from tabuleiro_client.net.mirror import Mirror, Step
from tabuleiro_client.net.subscription import LinkLost, LinkRestored, Missed, Subscription, Told

EntryRequest = CreateRoom | QuickPlay | JoinRoom | WatchRoom
"""The ways into a room: make one, sit down where somebody waits, sit down in this one, watch it."""

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


async def enter(link: Link, request: EntryRequest) -> EnteredRoom:
    """Enter a room and follow it until it is closed: by :meth:`EnteredRoom.close`, or as a context manager.

    Raises: CommandError when the server refuses, ConnectionLostError, ClientError for a game this version doesn't
        know.
    """
    subscription = link.subscribe()
    try:
        connection_count = link.connection_count
        entered = result_of(await link.request(request), RoomEntered)
        secret = request.secret if isinstance(request, JoinRoom | WatchRoom) else None
        return EnteredRoom(link, subscription, entered, connection_count, secret, request.boards)
    except BaseException:
        link.unsubscribe(subscription)
        raise


class EnteredRoom:
    """A room that was entered by :func:`enter`: an async iterator of changes, with a method for each request.

    ``mirror`` is the room as it is known here; it may be ahead of the changes not yet read. The iteration ends
    after ``Gone`` or when the link is closed, and raises what ended the link otherwise.

    ``secrets`` are the secret parts of a private room, told to its host, ``None`` otherwise; ``secret`` is what
    others need to come in here as this client did, ``None`` where nothing is needed.

    ``layout`` and ``board`` are the position as the server draws it, if the request wanted ``boards``; ``None``
    otherwise.

    All requests raise CommandError when the server refuses, ConnectionLostError when there is no connection or
    the room is gone, and ClientError when they need a match and none runs. All but :meth:`play` raise
    UnknownOutcomeError when the connection breaks before the answer. On return the mirror holds what was done.
    """

    def __init__(
        self,
        link: Link,
        subscription: Subscription,
        entered: RoomEntered,
        connection_count: int,
        secret: str | None = None,
        boards: WantsBoards = UNSET,
    ) -> None:
        self.layout, self.board = entered.layout, entered.board
        self._boards = boards
        self.mirror = Mirror(link.account, entered)
        self.secrets = entered.secrets
        self.secret = secret if entered.secrets is None else entered.secrets.invite
        self._link = link
        self._subscription = subscription
        self._changes: asyncio.Queue[Change | None] = asyncio.Queue(_UNSEEN_MAX_COUNT)
        self._news = asyncio.Event()
        self._entered_connection: int | None = connection_count
        self._is_over = False
        self._failure: TabuleiroError | None = None
        self._following: asyncio.Task[None] | None = asyncio.create_task(
            self._follow(), name=f"following room {self.code}"
        )

    @property
    def code(self) -> RoomCode:
        """The room's code."""
        return self.mirror.head.room

    @property
    def has_unread(self) -> bool:
        """True if a change can be read without waiting."""
        return not self._changes.empty()

    async def __aenter__(self) -> Self:
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        await self.close()

    async def close(self) -> None:
        """Follow the room no longer; the server is not told. Closing twice is fine."""
        following, self._following = self._following, None
        if following is None:
            return
        self._link.unsubscribe(self._subscription)
        self._is_over = True
        self._news.set()
        following.cancel()
        await asyncio.wait([following])
        if not following.cancelled():
            following.result()

    def __aiter__(self) -> Self:
        return self

    async def __anext__(self) -> Change:
        change = await self.next_change()
        if change is None:
            raise StopAsyncIteration
        return change

    async def next_change(self) -> Change | None:
        """Return what happened next, ``None`` when nothing can any more. Raises: what ended the link."""
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
        """Return the latest that it can be now by the server's clock: what to read the match clock by."""
        return self._link.server_now_ms()

    async def play(self, actions: Sequence[str]) -> None:
        """Make actions of the own turn at the mirror's ply, all or none.

        After a lost connection they are sent again for the same ply, which the server recognises; without one they
        wait for it.
        """
        places = (self._place, self._place_to_act)
        match, ply, revision = self._place_to_act
        message = Play(id=0, room=self.code, match=match, ply=ply, actions=tuple(actions), revision=revision)
        while True:
            await self._wait_while(lambda: not self._is_in)
            try:
                with self._in_a_match():
                    await self._send(message)
                break
            except UnknownOutcomeError:
                continue
        # The place only: clocks and connections change the match view too, and mean nothing here.
        await self._wait_while(lambda: self._place in places)

    async def consider(self, actions: Sequence[str]) -> Considered:
        """Ask for the position after unplayed actions of the own turn. Source: PROTOCOL.md."""
        match, ply, revision = self._place_to_act
        message = Consider(id=0, room=self.code, match=match, ply=ply, actions=tuple(actions), revision=revision)
        return result_of(await self._ask_in_match(message), Considered)

    async def undo(self, ply: int) -> None:
        """Undo own actions of the turn in progress: ``ply`` actions are left."""
        match, _, _ = self._place_to_act
        await self._ask_in_match(Undo(id=0, room=self.code, match=match, ply=ply))

    async def take_hint(self) -> HintGiven:
        """Ask what to play now, which everybody in the room is told; it takes a few seconds."""
        match, ply, revision = self._place_to_act
        message = TakeHint(id=0, room=self.code, match=match, ply=ply, revision=revision)
        return result_of(await self._ask_in_match(message), HintGiven)

    async def explain(self, level: str | None = None, ply: int | None = None) -> Explanation:
        """Ask what a bot of ``level`` thinks of a position; it takes a few seconds.

        ``None`` for ``level``: the bot that plays here, or the game's first that values positions. ``None`` for
        ``ply``: the position as it is now; after the end any is possible.
        """
        match, last_ply, revision = self._place_to_act
        wanted_ply = last_ply if ply is None else ply
        message = Explain(id=0, room=self.code, match=match, ply=wanted_ply, revision=revision, level=level)
        return result_of(await self._ask_in_match(message), Explanation)

    async def resign(self, seat: Player | None = None) -> None:
        """Resign; ``seat`` says for whom when both are ours, ``None``: for who is to move."""
        match, _, _ = self._place_to_act
        await self._ask_in_match(Resign(id=0, room=self.code, match=match, seat=seat))

    async def abort(self) -> None:
        """End a match without a result that not both have made an action in."""
        match, _, _ = self._place_to_act
        await self._ask_in_match(Abort(id=0, room=self.code, match=match))

    async def claim_win(self) -> None:
        """Claim the win because the opponent stays away."""
        match, _, _ = self._place_to_act
        await self._ask_in_match(ClaimWin(id=0, room=self.code, match=match))

    async def offer(self, kind: OfferKind) -> None:
        """Offer a draw or a rematch, or ask for a takeback; accept the other's offer of the same."""
        await self._ask(Offer(id=0, room=self.code, kind=kind))

    async def answer(self, kind: OfferKind, *, accept: bool) -> None:
        """Accept or decline the other's offer, or withdraw the own one by declining it."""
        await self._ask(Answer(id=0, room=self.code, kind=kind, accept=accept))

    async def say(self, text: str) -> None:
        """Write a line of chat."""
        await self._ask(Say(id=0, room=self.code, text=text))

    async def mute(self, name: str, *, is_muted: bool = True) -> None:
        """As the host, mute somebody or let them chat again."""
        await self._ask(Mute(id=0, room=self.code, name=name, is_muted=is_muted))

    async def seat_bot(self, seat: Player, level: str | None) -> None:
        """As the host, put a bot on an open seat, or with ``None`` take it off."""
        await self._ask(SeatBot(id=0, room=self.code, seat=seat, level=level))

    async def swap_seats(self) -> None:
        """As the host, let the two players change places."""
        await self._ask(SwapSeats(id=0, room=self.code))

    async def change_settings(self, settings: RoomSettings) -> None:
        """As the host, let the matches to come be played with ``settings``."""
        await self._ask(ChangeSettings(id=0, room=self.code, settings=settings))

    async def leave(self) -> None:
        """Tell the server that we leave: gives an own seat up before the match, keeps it later."""
        await self._ask(LeaveRoom(id=0, room=self.code))

    @property
    def _place_to_act(self) -> tuple[int, int, int]:
        """The place that a request about the match is for: before the first match is known of, its beginning.

        News of that one may be on the way; only the server knows.
        """
        return self._place or (1, 0, 0)

    @contextmanager
    def _in_a_match(self) -> Iterator[None]:
        """Raise ClientError for the refusal of a request in a room whose first match has not begun."""
        try:
            yield
        except CommandError as error:
            if error.code != ErrorCode.WRONG_PHASE or self.mirror.match is not None:
                raise
            raise ClientError("no match is being played here") from error

    async def _ask_in_match(self, message: ClientMessage) -> Ok:
        """Send a request about a match, as :meth:`_ask` does."""
        with self._in_a_match():
            return await self._ask(message)

    @property
    def _place(self) -> tuple[int, int, int] | None:
        match = self.mirror.match
        return None if match is None else (match.number, len(self.mirror.actions), match.revision)

    @property
    def _is_in(self) -> bool:
        """True if the room is entered on the present connection."""
        is_connected = self._link.state is LinkState.CONNECTED
        return is_connected and self._entered_connection == self._link.connection_count

    async def _ask(self, message: ClientMessage) -> Ok:
        """Send a request at most once; on return the mirror holds what was done."""
        if not self._is_over and not self._is_in:
            raise ConnectionLostError("not connected to the server now: nothing was sent")
        ok = await self._send(message)
        seq = ok.seq
        if seq is not None:
            await self._wait_while(lambda: self.mirror.since < seq)
        return ok

    async def _send(self, message: ClientMessage) -> Ok:
        """Send a request on the connection that the room is entered on.

        Raises: UnknownOutcomeError when it breaks before the answer, ConnectionLostError when the room is gone.
        """
        if self._is_over:
            raise self._failure or ConnectionLostError(f"no longer in room {self.code}")
        connection_count = self._entered_connection
        try:
            return await self._link.request(message)
        except ConnectionLostError as error:
            if self._entered_connection == connection_count:
                # It is of no use any more, which the link has not told yet.
                self._entered_connection = None
            raise UnknownOutcomeError(str(error)) from error

    async def _wait_while(self, is_so: Callable[[], bool]) -> None:
        """Wait for news until it is no longer so, or the room is gone."""
        while not self._is_over and is_so():
            self._news.clear()
            await self._news.wait()

    async def _follow(self) -> None:
        """Keep the mirror up to date until the room or the link is gone."""
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
            self._news.set()
        await self._changes.put(None)

    async def _take(self, told: Told) -> None:
        if isinstance(told, Update) and told.head.room == self.code:
            # Told before we know what we missed: the server let us in, but its answer came too late or not at all.
            if self._entered_connection is not None:
                await self._update(told)
        elif isinstance(told, RoomGone) and told.room == self.code:
            await self._go(told.reason)
        elif isinstance(told, Announcement):
            await self._changes.put(Said(told.text))
        elif isinstance(told, Error):
            await self._changes.put(Said(told.message))
        elif isinstance(told, LinkLost):
            self._entered_connection = None
            await self._changes.put(Lost(told.reason))
        elif isinstance(told, LinkRestored):
            if await self._enter_again():
                await self._changes.put(Restored())
        elif isinstance(told, Missed):
            await self._enter_again()

    async def _update(self, update: Update) -> None:
        if update.board is not UNSET:
            self.board = update.board
        steps = self.mirror.update(update)
        await self._report(steps, update.head)
        if not steps:
            await self._changes.put(HeadChanged(update.head))
        if self.mirror.is_stale:
            await self._enter_again()

    async def _report(self, steps: Sequence[Step], head: RoomHead) -> None:
        for step in steps:
            await self._changes.put(Happened(step, head))

    async def _enter_again(self) -> bool:
        """Enter on the present connection; return whether we are in. A lost connection is somebody else's news."""
        connection_count = self._link.connection_count
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
        self._entered_connection = connection_count
        return True

    async def _take_entered(self, entered: RoomEntered) -> None:
        """Take in what was missed, or a snapshot in its place, which the server may give unasked."""
        self.board = entered.board
        steps = self.mirror.enter(entered)
        if entered.snapshot is None:
            await self._report(steps, entered.head)
        else:
            await self._changes.put(Refreshed(entered.head))

    async def _watch(self, since: Seq | None) -> RoomEntered:
        message = WatchRoom(id=0, room=self.code, since=since, secret=self.secret, boards=self._boards)
        for delay_s in Backoff(attempt_count=6).delays():
            try:
                return result_of(await self._link.request(message), RoomEntered)
            except CommandError as error:
                if error.code not in _TRY_AGAIN_CODES:
                    raise
                await asyncio.sleep(delay_s)
        return result_of(await self._link.request(message), RoomEntered)

    async def _go(self, reason: str) -> None:
        self._is_over = True
        await self._changes.put(Gone(reason))
