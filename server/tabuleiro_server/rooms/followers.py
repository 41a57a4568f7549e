"""Rooms of other nodes that are watched on this one: each is the log of its room, read as it grows.

Nothing is performed here and nothing stored, and the node that has the room does not know of it. Changes by other
nodes say what is to be read: all rooms in one go. Whatever is asked beyond watching is for the room's own node.
"""

from __future__ import annotations

import asyncio
from collections import deque
from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Final

import structlog

from tabuleiro.errors import CommandError, DamagedRoomError, StoreError
from tabuleiro.ids import RoomCode, Seq, TimestampMs
from tabuleiro.protocol.codes import ErrorCode
from tabuleiro.protocol.events import SequencedEvent
from tabuleiro.protocol.messages import RoomHead
from tabuleiro_server.locks import Locks
from tabuleiro_server.room.commands import Watch
from tabuleiro_server.room.evolve import replay
from tabuleiro_server.room.seating import decide_watch
from tabuleiro_server.room.state import RoomState
from tabuleiro_server.room.views import head_of
from tabuleiro_server.rooms.change_feed import ChangeFeed
from tabuleiro_server.rooms.journal import Journal
from tabuleiro_server.rooms.live_room import MISSED_EVENTS_COUNT, PRESENCE_DELAY_S, RECENT_EVENTS_COUNT, Missed
from tabuleiro_server.rooms.refusals import damaged, no_such_room, unavailable
from tabuleiro_server.rooms.subscribers import Subscriber, Subscribers
from tabuleiro_server.timers import Timer

RETRY_S: Final = 1.0
"""Time until the next attempt to read a log that could not be read."""

log = structlog.get_logger(__name__)


class FollowedRoom:
    """A room of another node, as far as its log has been read. ``on_empty`` is called when nobody watches it."""

    def __init__(
        self, state: RoomState, now_ms: Callable[[], TimestampMs], on_empty: Callable[[FollowedRoom], None]
    ) -> None:
        self.state = state
        self.subscribers = Subscribers(state.code)
        self.has_ended = False
        self._now_ms = now_ms
        self._on_empty = on_empty
        self._further_watchers_count = 0
        self._presence_timer = Timer(self._publish)
        self._recent: deque[SequencedEvent] = deque(maxlen=RECENT_EVENTS_COUNT)

    def head(self) -> RoomHead:
        """Return the room as its log tells: players are here who are not noted as gone, and bots do not think."""
        seats = zip(self.state.seats, self.state.away_since_ms, strict=True)
        return head_of(
            self.state,
            max(self._now_ms(), self.state.updated_at_ms),
            connected={seat.account for seat, since_ms in seats if seat.account and since_ms is None},
            watchers_count=self.subscribers.count_watchers(self.state.seats) + self._further_watchers_count,
        )

    def missed(self, since: Seq, read: Iterable[SequencedEvent] = ()) -> Missed:
        """Return the events after ``since``, as far as they are in memory or were ``read``; ``None`` for a gap."""
        events = {event.seq: event for event in (*read, *self._recent) if since < event.seq <= self.state.seq}
        is_whole = len(events) == self.state.seq - since
        return tuple(events[seq] for seq in sorted(events)) if is_whole else None

    def take(self, events: Sequence[SequencedEvent]) -> None:
        """Take in what the log has more, and notify everybody; once the room is closed it ends."""
        events = tuple([event for event in events if event.seq > self.state.seq])
        if self.has_ended or not events:
            return
        self.state = replay(events, self.state)
        self._recent.extend(events)
        self._publish(events)
        if self.state.phase == "closed":
            self.end("the room is closed")

    def _publish(self, events: tuple[SequencedEvent, ...] = ()) -> None:
        self.subscribers.publish(self.state, self.head(), events)

    def admit(self, subscriber: Subscriber) -> None:
        """Add a connection; the others see soon that it is there."""
        self.subscribers.add(subscriber)
        self._presence_timer.set(PRESENCE_DELAY_S)

    def dismiss(self, subscriber: Subscriber) -> None:
        """Remove a connection that leaves or is lost."""
        if self.subscribers.remove(subscriber):
            self._presence_timer.set(PRESENCE_DELAY_S)
            if not len(self.subscribers):
                self._on_empty(self)

    def note_further_watchers(self, count: int) -> None:
        """Show as watchers also those who watch the room on other nodes."""
        if count != self._further_watchers_count:
            self._further_watchers_count = count
            self._presence_timer.set(PRESENCE_DELAY_S)

    def end(self, farewell: str = "") -> None:
        """Send everybody away, and notify nobody any more."""
        if not self.has_ended:
            self.has_ended = True
            self._presence_timer.end()
            self._on_empty(self)
            self.subscribers.dismiss_all(farewell)


class Followers:
    """The rooms of other nodes that are watched here; ``is_here`` tells that this one has a room in memory."""

    def __init__(
        self,
        journal: Journal,
        feed: ChangeFeed,
        now_ms: Callable[[], TimestampMs],
        is_here: Callable[[RoomCode], bool],
    ) -> None:
        self._journal = journal
        self._feed = feed
        self._now_ms = now_ms
        self._is_here = is_here
        self._rooms: dict[RoomCode, FollowedRoom] = {}
        self._loading = Locks[RoomCode]()
        self._unread: set[RoomCode] = set()
        self._reading: asyncio.Task[None] | None = None

    @property
    def rooms_count(self) -> int:
        """The number of rooms that are followed."""
        return len(self._rooms)

    def watchers(self) -> dict[RoomCode, int]:
        """Return the number of watchers of each room here."""
        return {code: room.subscribers.count_watchers(room.state.seats) for code, room in self._rooms.items()}

    def note_further_watchers(self, counts: Mapping[RoomCode, int]) -> None:
        """Take in how many watch each room on other nodes."""
        for code, room in self._rooms.items():
            room.note_further_watchers(counts.get(code, 0))

    def follows(self, code: RoomCode) -> bool:
        """Return True if the room is watched here already."""
        return code in self._rooms

    async def enter(
        self,
        code: RoomCode,
        subscriber: Subscriber,
        watch: Watch,
        since: Seq | None,
        acknowledge: Callable[[FollowedRoom, Missed], None],
    ) -> bool:
        """Add a connection to those who watch a room; ``acknowledge`` is called before it is notified of anything.

        It gets the events after ``since``, ``None`` when a snapshot is needed.

        Returns:
            False if nothing was done because the account holds a seat: its presence counts where the room is.

        Raises:
            CommandError: There is no such room, or it cannot be read, or ``watch`` is refused.
        """
        room = await self._find(code)
        try:
            decide_watch(room.state, watch, room.state.updated_at_ms)
            if room.state.seats_of(watch.account):
                return False
            missed = None if since is None else await self._missed(room, since)
            if room.has_ended:
                raise _moved(code)
            room.admit(subscriber)
            acknowledge(room, missed)
            return True
        finally:
            if not len(room.subscribers):
                room.end()

    def end(self, code: RoomCode) -> None:
        """Follow a room no more that this node has itself now: whoever watches it enters it again."""
        room = self._rooms.get(code)
        if room is not None:
            room.end("the room has moved here")

    async def stop(self) -> None:
        """Follow no room any more."""
        for room in tuple(self._rooms.values()):
            room.end("the server stops")
        if self._reading is not None:
            self._reading.cancel()
            await asyncio.wait({self._reading})

    async def _find(self, code: RoomCode) -> FollowedRoom:
        try:
            async with self._loading.held(code):
                self._listen()
                return self._rooms.get(code) or await self._load(code)
        finally:
            self._listen()

    async def _load(self, code: RoomCode) -> FollowedRoom:
        try:
            state = await self._journal.load(code)
        except DamagedRoomError as error:
            raise damaged(code) from error
        except StoreError as error:
            raise unavailable(error) from error
        if state is None or state.phase == "closed":
            raise no_such_room(code)
        if self._is_here(code):
            raise _moved(code)
        room = self._rooms[code] = FollowedRoom(state, self._now_ms, self._forget)
        self._read_soon({code})  # what was changed after its log was read, and before it was in our list
        return room

    def _forget(self, room: FollowedRoom) -> None:
        room.end()
        if self._rooms.get(room.state.code) is room:
            del self._rooms[room.state.code]
            self._listen()

    def _listen(self) -> None:
        """Hear of changes while there is anything to follow."""
        if self._rooms or self._loading:
            self._feed.add(self._hear)
        else:
            self._feed.remove(self._hear)

    async def _missed(self, room: FollowedRoom, since: Seq) -> Missed:
        """Return what somebody has missed, ``None`` where a snapshot is shorter. Raises: CommandError."""
        missed = room.missed(since)
        if missed is not None or abs(room.state.seq - since) > MISSED_EVENTS_COUNT:
            return missed
        # Whoever comes from the room's own node may have seen more than was read here.
        try:
            events = tuple(await self._journal.events_after(room.state.code, min(since, room.state.seq)))
        except StoreError as error:
            raise unavailable(error) from error
        room.take(events)
        return room.missed(since, events)

    def _hear(self, changes: Mapping[RoomCode, Seq]) -> None:
        if not changes:
            self._read_soon(set(self._rooms))
            return
        rooms = self._rooms
        self._read_soon({code for code in changes.keys() & rooms.keys() if changes[code] > rooms[code].state.seq})

    def _read_soon(self, codes: set[RoomCode]) -> None:
        self._unread |= codes
        if self._unread and (self._reading is None or self._reading.done()):
            self._reading = asyncio.create_task(self._read(), name="logs of followed rooms")

    async def _read(self) -> None:
        while self._unread:
            codes, self._unread = self._unread, set()
            rooms = [self._rooms[code] for code in codes if code in self._rooms]
            try:
                found = await self._journal.events_behind({room.state.code: room.state.seq for room in rooms})
                await self._end_removed([room for room in rooms if room.state.code not in found])
            except DamagedRoomError as error:
                self._unread |= codes
                self._give_up(RoomCode(error.room), error)
            except StoreError as error:
                unavailable(error)
                self._unread |= codes
                await asyncio.sleep(RETRY_S)
            else:
                for room in rooms:
                    self._take(room, found.get(room.state.code, ()))

    async def _end_removed(self, rooms: Iterable[FollowedRoom]) -> None:
        """End those of ``rooms`` that are not there any more: closed ones that never saw a match are removed."""
        for room in rooms:
            if not await self._journal.exists(room.state.code):
                room.end("the room is closed")

    def _take(self, room: FollowedRoom, events: Sequence[SequencedEvent]) -> None:
        try:
            room.take(events)
        except Exception as error:
            # A fault of ours in one room must not keep others from being followed.
            self._give_up(room.state.code, error)

    def _give_up(self, code: RoomCode, error: Exception) -> None:
        log.error("room not followed any more", room=code, exc_info=error)
        room = self._rooms.get(code)
        if room is not None:
            room.end("the room cannot be read here")


def _moved(code: RoomCode) -> CommandError:
    return CommandError(ErrorCode.BUSY, f"room {code} has just moved; try again")
