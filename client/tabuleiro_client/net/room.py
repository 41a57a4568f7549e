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
    Resign,
    RoomGone,
    RoomHead,
    Say,
    SeatBot,
    SwapSeats,
    TakeHint,
    Undo,
    Update,
    WatchRoom,
)
from tabuleiro.rules import State
from tabuleiro.settings import RoomSettings
from tabuleiro_client.net.entering import (
    ATTEMPTS,
    REDIRECTS_MAX_COUNT,
    TRY_AGAIN_CODES,
    Entrance,
    EntryRequest,
    NodeFailedError,
    enter_by,
    find_entrance,
)
from tabuleiro_client.net.link import Link, LinkState, result_of
from tabuleiro_client.net.mirror import Mirror, Step
from tabuleiro_client.net.subscription import LinkLost, LinkRestored, Missed, Told

ONLY_TO_WATCH: Final = "the room has so many watchers that nothing but watching is possible now"
"""Why a request is refused when the node that has the room sends us back to one that only shows it."""

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
    entrance = await find_entrance(link, request)
    try:
        return EnteredRoom(link, entrance)
    except BaseException:
        entrance.link.unsubscribe(entrance.subscription)
        raise


class EnteredRoom:
    """A room that was entered by :func:`enter`: an async iterator of changes, with a method for each request.

    It follows the room to whichever node of the server has it; ``home`` is the link that asks where that is.

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

    def __init__(self, home: Link, entrance: Entrance) -> None:
        request, entered = entrance.request, entrance.entered
        self.layout, self.board = entered.layout, entered.board
        self._boards = request.boards
        self.mirror = Mirror(home.account, entered)
        self.secrets = entered.secrets
        secret = request.secret if isinstance(request, JoinRoom | WatchRoom) else None
        self.secret = secret if entered.secrets is None else entered.secrets.invite
        self._home = home
        self._link = entrance.link
        self._subscription = entrance.subscription
        self._follows = _is_follower(request)
        self._changes: asyncio.Queue[Change | None] = asyncio.Queue(_UNSEEN_MAX_COUNT)
        self._news = asyncio.Event()
        self._entered_connection: int | None = entrance.connection_count
        self._is_moving = False
        self._is_lost = False
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
        self._is_over = True
        self._news.set()
        following.cancel()
        await asyncio.wait([following])
        self._link.unsubscribe(self._subscription)
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
            except ConnectionLostError as error:
                if self._is_over and not isinstance(error, UnknownOutcomeError):
                    raise
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
        """Have a request done at most once; on return the mirror holds what was done."""
        await self._wait_while(lambda: self._is_moving)
        self._check_is_in()
        ok = await self._send(message)
        seq = ok.seq
        if seq is not None:
            await self._wait_while(lambda: self.mirror.since < seq)
        return ok

    async def _send(self, message: ClientMessage) -> Ok:
        """Send a request on the connection that the room is entered on, and after the room if that moves.

        Raises: UnknownOutcomeError when it breaks before the answer, ConnectionLostError when the room is gone.
        """
        for _ in range(REDIRECTS_MAX_COUNT):
            try:
                return await self._send_once(message)
            except CommandError as error:
                if error.code != ErrorCode.ELSEWHERE or error.node_url is None:
                    raise
                # Nothing was done. Being told so unasked, and being told so now, lead the same way.
                was_follower = self._follows
                self._entered_connection, self._is_moving = None, True
                self._subscription.put(RoomGone(self.code, error.message, error.node_url))
                await self._wait_while(lambda: self._is_moving)
                self._check_is_in()
                if was_follower and self._follows:
                    raise CommandError(error.code, ONLY_TO_WATCH) from error
        return await self._send_once(message)

    def _check_is_in(self) -> None:
        """Raise ConnectionLostError when no request can be sent now, but for one to a room that is gone."""
        if not self._is_over and not self._is_in:
            raise ConnectionLostError("not connected to the server now: nothing was sent")

    async def _send_once(self, message: ClientMessage) -> Ok:
        if self._is_over:
            raise self._failure or ConnectionLostError(f"no longer in room {self.code}")
        link, connection_count = self._link, self._entered_connection
        try:
            return await link.request(message)
        except ConnectionLostError as error:
            if self._link is link and self._entered_connection == connection_count:
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
                await self._enter_again(self._link)
            while not self._is_over and (told := await anext(self._subscription, None)) is not None:
                await self._take(told)
                self._news.set()
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
            await self._go_after(told)
        elif isinstance(told, Announcement):
            await self._changes.put(Said(told.text))
        elif isinstance(told, Error):
            await self._changes.put(Said(told.message))
        elif isinstance(told, LinkLost):
            await self._lose(told.reason)
            if self._link is not self._home:
                await self._enter_again(self._home)
        elif isinstance(told, LinkRestored):
            await self._enter_again(self._home)
        elif isinstance(told, Missed):
            await self._enter_again(self._link)

    async def _lose(self, reason: str) -> None:
        self._entered_connection, self._is_moving, self._is_lost = None, False, True
        self._news.set()
        await self._changes.put(Lost(reason))

    async def _go_after(self, gone: RoomGone) -> None:
        """Enter the room where it is now, unless it was closed; nobody needs to notice."""
        if self.mirror.head.phase == "closed":
            await self._go(gone.reason)
            return
        self._entered_connection, self._is_moving = None, True
        link = self._home
        if gone.node_url is not None:
            try:
                link = await self._home.to_node(gone.node_url)
            except (CommandError, ConnectionLostError) as error:
                await self._lose(str(error))
        await self._enter_again(link, gone.reason)
        self._is_moving = False

    async def _update(self, update: Update) -> None:
        if update.board is not UNSET:
            self.board = update.board
        steps = self.mirror.update(update)
        await self._report(steps, update.head)
        if not steps:
            await self._changes.put(HeadChanged(update.head))
        if self.mirror.is_stale:
            await self._enter_again(self._link)

    async def _report(self, steps: Sequence[Step], head: RoomHead) -> None:
        for step in steps:
            await self._changes.put(Happened(step, head))

    async def _enter_again(self, link: Link, reason_gone: str = "") -> None:
        """Enter by ``link``, and while nodes fail by the home link; there is other news when that is lost.

        ``reason_gone`` is why the room is gone if nobody has it.
        """
        delays = (self._home.settings.backoff or ATTEMPTS).delays()
        while True:
            if link is self._home and self._link is not link:
                # Before it is asked, so that what becomes of it is heard.
                self._link.unsubscribe(self._subscription)
                self._link, self._subscription = link, link.subscribe()
            try:
                await self._enter_once(link)
                return
            except ConnectionLostError as error:
                if self._link is self._home and not isinstance(error, NodeFailedError):
                    return
                failure = str(error)
            except CommandError as error:
                failure = error.message
                if error.code not in TRY_AGAIN_CODES:
                    is_nowhere = error.code == ErrorCode.NO_SUCH_ROOM
                    await self._go(reason_gone if is_nowhere and reason_gone else failure)
                    return
            if not self._is_lost:
                await self._lose(failure)
            delay_s = next(delays, None)
            if delay_s is None:
                await self._go(failure)
                return
            await asyncio.sleep(delay_s)
            link = self._home

    async def _enter_once(self, link: Link) -> None:
        if not self.mirror.is_stale:
            await self._take_entrance(link, self.mirror.since)
            link = self._link
        if self.mirror.is_stale:
            await self._take_entrance(link, None)
        if self.mirror.is_stale:
            raise ClientError(
                f"room {self.code}: the server's position is not the one its moves lead to; "
                "client and server may be of different versions"
            )

    async def _take_entrance(self, link: Link, since: Seq | None) -> None:
        """Enter by ``link``, and take in what was missed, or a snapshot, which the server may give unasked."""
        is_here = link is self._link
        message = WatchRoom(
            id=0,
            room=self.code,
            since=since,
            secret=self.secret,
            boards=self._boards,
            follow=is_here and self._follows,
        )
        entrance = await enter_by(self._home, link, message, self._subscription if is_here else None)
        if entrance.subscription is not self._subscription:
            self._link.unsubscribe(self._subscription)
            self._link, self._subscription = entrance.link, entrance.subscription
        self._follows = _is_follower(entrance.request)
        entered = entrance.entered
        self.board = entered.board
        steps = self.mirror.enter(entered)
        if entered.snapshot is None:
            await self._report(steps, entered.head)
        else:
            await self._changes.put(Refreshed(entered.head))
        if self.mirror.is_stale:
            return
        self._entered_connection = entrance.connection_count
        if self._is_lost:
            self._is_lost = False
            await self._changes.put(Restored())

    async def _go(self, reason: str) -> None:
        self._is_over = True
        await self._changes.put(Gone(reason))


def _is_follower(request: EntryRequest) -> bool:
    """Return True if a node was asked to show a room that another one has."""
    return isinstance(request, WatchRoom) and request.follow
