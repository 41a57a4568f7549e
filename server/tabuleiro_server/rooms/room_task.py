"""A living room: takes commands one by one, stores, acknowledges and announces them.

The order is the promise: decide, append, and after the commit acknowledge the sender and publish. A command that
finds the room at rest is decided at once, and told by what the commit calls; whatever has to wait, for its turn or
for a time, waits for the room's task. What the wishes mean is the matter of `room`; who is in the room, and who is
told what, that of `audience`.
"""

from __future__ import annotations

import asyncio
from collections import deque
from collections.abc import Callable, Collection, Iterable
from typing import Final, Generic, TypeVar

import structlog

from tabuleiro.errors import CommandError, ConflictError, StoreError
from tabuleiro.ids import AccountId, RoomCode, Seq, TimestampMs
from tabuleiro.protocol.codes import ErrorCode
from tabuleiro.protocol.events import SequencedEvent
from tabuleiro.protocol.messages import BotThought, RoomHead, RoomSummary
from tabuleiro_server.config import Config
from tabuleiro_server.room.commands import Command, Connect, Disconnect, Expire
from tabuleiro_server.room.deadlines import Deadline, next_deadline
from tabuleiro_server.room.decide import decide_together
from tabuleiro_server.room.evolve import replay
from tabuleiro_server.room.state import RoomState
from tabuleiro_server.room.views import head_of, summary_of
from tabuleiro_server.rooms.draws import draw
from tabuleiro_server.rooms.journal import Appended, Journal
from tabuleiro_server.rooms.refusals import damaged, unavailable
from tabuleiro_server.rooms.room_items import Entry, Item, Missed, PresenceCheck, RoomUnloadedError, Wish, fail
from tabuleiro_server.rooms.subscribers import Visitor, Visitors


class Hour:
    """The next deadline of one room, worked out once for each state of it."""

    def __init__(self) -> None:
        self._deadline: Deadline | None = None
        self._room: RoomState | None = None
        self._not_before_ms = 0

    def of(self, room: RoomState) -> TimestampMs | None:
        """When something is due; ``None`` when nothing is awaited."""
        if room is not self._room:
            self._room, self._deadline = room, next_deadline(room)
        if self._deadline is None:
            return None
        return TimestampMs(max(self._deadline.at_ms, self._not_before_ms))

    def note(self, room: RoomState, deadline: Deadline | None) -> None:
        """Know the next deadline of a room that has just been stored: nothing is put off any more."""
        self._room, self._deadline = room, deadline
        self._not_before_ms = 0

    def put_off(self, until_ms: int) -> None:
        """Let nothing be due before ``until_ms``."""
        self._not_before_ms = until_ms


GOING_EVERY_MS: Final = 30_000
"""A player's goings are stored at most so often, which is 2 events each time: below 6,000 a day."""


class Goings:
    """When each player of a room was last stored as gone."""

    def __init__(self) -> None:
        self._stored_ms: dict[AccountId, TimestampMs] = {}

    def due(self, gone: Collection[AccountId], now_ms: TimestampMs) -> tuple[list[AccountId], int | None]:
        """Tell which of those who are ``gone`` are to be stored as gone now, and when to ask again.

        That is in milliseconds from now, ``None`` when nobody is left to be stored as gone later.
        """
        # What lies ahead was noted before the machine's clock was set back, and would count for as long again.
        self._stored_ms = {
            account: at_ms for account, at_ms in self._stored_ms.items() if 0 <= now_ms - at_ms < GOING_EVERY_MS
        }
        waits_ms = [
            self._stored_ms[account] + GOING_EVERY_MS - now_ms for account in gone if account in self._stored_ms
        ]
        return [account for account in gone if account not in self._stored_ms], min(waits_ms, default=None)

    def note(self, account: AccountId, now_ms: TimestampMs) -> None:
        """``account`` has been stored as gone."""
        self._stored_ms[account] = now_ms


class Alarm:
    """Calls ``ring`` from the event loop that runs when it is set."""

    def __init__(self, ring: Callable[[], None]) -> None:
        self._ring = ring
        self._timer: asyncio.TimerHandle | None = None

    @property
    def is_set(self) -> bool:
        """Whether it is going to ring."""
        return self._timer is not None

    def set(self, delay_s: float) -> None:
        """Ring in ``delay_s`` seconds, unless it rings earlier anyway."""
        loop = asyncio.get_running_loop()
        at_s = loop.time() + delay_s
        if self._timer is None or at_s < self._timer.when():
            self.stop()
            self._timer = loop.call_at(at_s, self._go_off)

    def stop(self) -> None:
        """Do not ring; it may be set again."""
        if self._timer is not None:
            self._timer.cancel()
            self._timer = None

    def _go_off(self) -> None:
        self._timer = None
        self._ring()


T = TypeVar("T")


class RoomInbox(Generic[T]):
    """A queue of at most ``limit_count`` items; putting never waits."""

    def __init__(self, limit_count: int) -> None:
        self.is_closed = False
        self._loop = asyncio.get_running_loop()
        self._limit_count = limit_count
        self._items: deque[T] = deque()
        self._waiter: asyncio.Future[bool] | None = None
        self._alarm = Alarm(lambda: self._wake(by_alarm=True))

    def __len__(self) -> int:
        return len(self._items)

    @property
    def is_full(self) -> bool:
        """Whether there is no place for one more item."""
        return len(self._items) >= self._limit_count

    def put(self, item: T) -> None:
        """Add an item. Raises: asyncio.QueueFull."""
        if self.is_full:
            raise asyncio.QueueFull
        self._items.append(item)
        self._wake(by_alarm=False)

    def close(self) -> None:
        """Let the reader see that nothing more is wanted of it than what is here."""
        self.is_closed = True
        self._wake(by_alarm=False)

    def poke(self) -> None:
        """Let the reader look again, as if something had come."""
        self._wake(by_alarm=False)

    def take(self) -> T | None:
        """The item that has waited longest; ``None`` when there is none."""
        return self._items.popleft() if self._items else None

    async def wait(self, at_most_s: float) -> bool:
        """Wait for an item or the end; tells whether it was an alarm that ended the waiting.

        The alarm rings in ``at_most_s`` seconds, or earlier when one was set before: look again at what is due.
        """
        if self._items or self.is_closed:
            return False
        self._alarm.set(at_most_s)
        self._waiter = self._loop.create_future()
        try:
            return await self._waiter
        finally:
            self._waiter = None

    def stop(self) -> None:
        """Let no alarm ring any more."""
        self._alarm.stop()

    def _wake(self, *, by_alarm: bool) -> None:
        if self._waiter is not None and not self._waiter.done():
            self._waiter.set_result(by_alarm)


RECENT_EVENTS_COUNT: Final = 128
"""Events kept in memory."""

MISSED_EVENTS_COUNT: Final = 1_000
"""Events that a resuming client gets at most; a snapshot is shorter then, and sure to fit in a message."""


class RecentEvents:
    """The events that a room has announced since it is in memory, no more than ``RECENT_EVENTS_COUNT``."""

    def __init__(self, journal: Journal, code: RoomCode) -> None:
        self._journal = journal
        self._code = code
        self._events: deque[SequencedEvent] = deque(maxlen=RECENT_EVENTS_COUNT)

    def extend(self, events: Iterable[SequencedEvent]) -> None:
        """Remember the latest events."""
        self._events.extend(events)

    async def after(self, since: Seq, last: Seq) -> Missed:
        """The events after ``since`` of a room whose last is ``last``.

        ``None`` when they are very many, and for who claims to know the future. Raises: StoreError when they have
        to be read and cannot be.
        """
        if not 0 <= last - since <= MISSED_EVENTS_COUNT:
            return None
        if last - since <= len(self._events):
            return tuple(event for event in self._events if event.seq > since)
        return tuple(await self._journal.events_after(self._code, since))


PRESENCE_DELAY_S: Final = 0.1
"""Comings and goings within this time are told in one update."""

log = structlog.get_logger(__name__)


class RoomTask:
    """The runtime of one room.

    ``on_change`` is called after each change, ``on_unload`` at its end. ``pending`` is done before anything else.
    """

    def __init__(
        self,
        state: RoomState,
        journal: Journal,
        config: Config,
        now_ms: Callable[[], TimestampMs],
        on_change: Callable[[RoomTask], None],
        on_unload: Callable[[RoomTask], None],
        pending: Command | None = None,
    ) -> None:
        self.state = state
        self.is_damaged = False
        self.visitors = Visitors(state.code)
        self._journal = journal
        self._config = config
        self._now_ms = now_ms
        self._on_change = on_change
        self._on_unload = on_unload
        self._inbox: RoomInbox[Item] = RoomInbox(config.room_queue_count)
        self._is_touched = False
        self._recent = RecentEvents(journal, state.code)
        self._pending = pending
        self._thinking: BotThought | None = None
        self._presence_alarm = Alarm(self._check_presence)
        self._goings = Goings()
        self._hour = Hour()
        self._is_ended = False
        self._is_busy = False
        self._is_behind = False
        self._underway: asyncio.Future[None] | None = None
        self._looks_at_ms = 0
        self._presence_changed()
        self._task = asyncio.create_task(self._run(), name=f"room {self.state.code}")

    def perform(
        self, command: Command, acknowledge: Callable[[RoomState], None] | None = None
    ) -> asyncio.Future[RoomState]:
        """Have a command decided and stored. ``acknowledge`` is called after the commit, before the news spread.

        Raises, here or when it is awaited: CommandError when it is refused or cannot be stored; RoomUnloadedError.
        """
        done = self.perform_at_once(command, acknowledge)
        return self._ask(Wish((command,), acknowledge)) if done is None else done

    def perform_at_once(
        self, command: Command, acknowledge: Callable[[RoomState], None] | None = None
    ) -> asyncio.Future[RoomState] | None:
        """As :meth:`perform`; ``None``, and nothing is done, when something else has to be done before."""
        if not self._is_at_rest():
            return None
        wish = Wish((command,), acknowledge)
        self._start(wish)
        return wish.done

    def _is_at_rest(self) -> bool:
        """Whether a command can be decided now: nothing else is being done or has to be done before it."""
        if self._is_busy or self._underway is not None or self._inbox or self._pending is not None:
            return False
        if self._is_ended or self._inbox.is_closed or self.is_damaged or self._is_behind:
            return False
        deadline_ms = self._deadline_ms()
        return deadline_ms is None or deadline_ms > self._now_ms()

    async def enter(
        self,
        visitor: Visitor,
        permission: Command,
        since: Seq | None,
        acknowledge: Callable[[RoomState, Missed], None],
    ) -> RoomState:
        """Let a connection in if ``permission`` is granted.

        ``acknowledge`` gets the events after ``since``, ``None`` when a snapshot is needed.
        Raises: CommandError; RoomUnloadedError.
        """
        return await self._ask(Entry(visitor, permission, since, acknowledge))

    def dismiss(self, visitor: Visitor) -> None:
        """A connection leaves, or is lost."""
        if self.visitors.remove(visitor):
            self._presence_changed()

    def head(self) -> RoomHead:
        """The room as its visitors see it now."""
        return head_of(
            self.state,
            self._now_ms(),
            connected=self.visitors.accounts(),
            watchers_count=self.watchers_count,
            thinking=self._thinking,
        )

    def summary(self) -> RoomSummary:
        """The room's line in the list of rooms."""
        return summary_of(self.state, self.watchers_count)

    @property
    def watchers_count(self) -> int:
        """Accounts in the room that hold no seat."""
        return self.visitors.count_watchers(self.state.seats)

    def set_thinking(self, thinking: BotThought | None) -> None:
        """Show, or no longer show, that a bot thinks."""
        if thinking != self._thinking:
            self._thinking = thinking
            self._presence_changed()

    async def stop(self) -> None:
        """End the task once the commands that wait have been done."""
        self._inbox.close()
        await self._task

    def _ask(self, item: Wish | Entry) -> asyncio.Future[RoomState]:
        if self._is_ended or self._inbox.is_closed:
            raise RoomUnloadedError(self.state.code)
        try:
            self._inbox.put(item)
        except asyncio.QueueFull:
            message = f"too many commands wait for room {self.state.code}; try again"
            raise CommandError(ErrorCode.BUSY, message) from None
        return item.done

    async def _run(self) -> None:
        try:
            while (item := await self._next_item()) is not None:
                self._is_busy = True
                await self._serve(item)
                self._is_busy, self._is_touched = False, True
        finally:
            self._end()

    async def _next_item(self) -> Item | None:
        """The next thing to do; ``None`` when the room shall end: told so, closed, or idle for long.

        What time brings goes before commands that wait, so that nobody can talk a flag up.
        """
        while True:
            if self._underway is not None:
                await asyncio.wait({self._underway})
                continue
            if self.state.phase == "closed":
                return None
            now_ms, deadline_ms = self._now_ms(), self._deadline_ms()
            self._looks_at_ms = now_ms + self._config.idle_room_unload_ms
            if deadline_ms is not None:
                if deadline_ms <= now_ms:
                    return Wish((Expire(draw()),))
                self._looks_at_ms = min(deadline_ms, self._looks_at_ms)
            item = self._inbox.take()
            if item is not None or self._inbox.is_closed:
                return item
            if await self._inbox.wait((self._looks_at_ms - now_ms) / 1000):
                if self._is_idle():
                    return None
                self._is_touched = False

    def _deadline_ms(self) -> int | None:
        return None if self.is_damaged else self._hour.of(self.state)

    def _is_idle(self) -> bool:
        """Whether nobody has wanted anything for long, is here, or is to be expected."""
        is_settled = not (self._is_touched or self._inbox or self._presence_alarm.is_set or self._underway)
        return is_settled and not len(self.visitors) and not self.state.is_bot_to_move

    async def _serve(self, item: Item) -> None:
        if self.is_damaged:
            fail(item, damaged(self.state.code))
            return
        try:
            if self._is_behind:
                await self._catch_up()
            if self._pending is not None and not isinstance(item, Entry):
                await self._do(self._pending)
                self._pending = None
            match item:
                case Wish():
                    self._start(item)
                case Entry():
                    await self._let_in(item)
                case PresenceCheck():
                    await self._note_presence()
        except Exception as error:
            self._refuse(item, error)

    def _refuse(self, item: Item, reason: Exception) -> None:
        """Say why something was not done, and see what that means for the room."""
        match reason:
            case CommandError():
                fail(item, reason)
            case ConflictError():
                log.warning("room behind its log", room=self.state.code, reason=str(reason))
                self._is_behind = True
                self._presence_changed()
                fail(item, unavailable(reason))
            case StoreError():
                self._put_off()
                fail(item, unavailable(reason))
            case _:
                # A fault of ours must not spread: this room stops taking commands, the others go on.
                self.is_damaged = True
                log.error("room damaged", room=self.state.code, seq=self.state.seq, exc_info=reason)
                fail(item, damaged(self.state.code))

    def _put_off(self) -> None:
        """Nobody asks again for what the room wants by itself: deadlines and presence are looked at later."""
        self._hour.put_off(self._now_ms() + self._config.storage_retry_ms)
        self._presence_changed(self._config.storage_retry_ms / 1000)

    async def _catch_up(self) -> None:
        """Take in what is on disk and not here, e.g. of a write that was given up. Raises: StoreError."""
        events = tuple(await self._journal.events_after(self.state.code, self.state.seq))
        self._is_behind = False
        if events:
            self.state = replay(events, self.state)
            self._announce(events)
        self._presence_changed()

    async def _do(self, *commands: Command) -> None:
        """Have the room's own commands decided and stored: all of them or none. Raises: CommandError."""
        wish = Wish(commands)
        self._start(wish)
        await wish.done

    def _start(self, wish: Wish) -> None:
        """Decide a wish and have it stored; what comes of it is told when it is on disk."""
        self._is_touched = True
        try:
            events = decide_together(self.state, wish.commands, self._now_ms())
            if events:
                appended = self._journal.append(self.state, events)
                self._underway = appended.stored
                appended.stored.add_done_callback(lambda _: self._finish(wish, events, appended))
            else:
                self._fulfil(wish)
        except Exception as error:
            self._refuse(wish, error)

    def _finish(self, wish: Wish, events: tuple[SequencedEvent, ...], appended: Appended) -> None:
        """Go on after the commit: acknowledge, publish; or say that there was none."""
        self._underway = None
        try:
            appended.stored.result()
            self.state = appended.room
            self._hour.note(appended.room, appended.deadline)
            self._fulfil(wish, events)
        except Exception as error:
            self._refuse(wish, error)
        if self._inbox or self._inbox.is_closed or self._has_to_look():
            self._inbox.poke()

    def _has_to_look(self) -> bool:
        """Whether the task has to look what is due earlier than it means to."""
        deadline_ms = self._deadline_ms()
        return self.state.phase == "closed" or (deadline_ms is not None and deadline_ms < self._looks_at_ms)

    def _fulfil(self, wish: Wish, events: tuple[SequencedEvent, ...] = ()) -> None:
        if wish.acknowledge is not None:
            wish.acknowledge(self.state)
        if events:
            self._announce(events)
        if not wish.done.done():
            wish.done.set_result(self.state)

    def _announce(self, events: tuple[SequencedEvent, ...]) -> None:
        """Tell everybody what is on disk and in the state now."""
        self._recent.extend(events)
        if self._thinking is not None and not self.state.is_bot_to_move:
            self._thinking = None
        self.visitors.publish(self.state, self.head(), events)
        self._on_change(self)

    async def _let_in(self, entry: Entry) -> None:
        """The newcomer hears its own answer first, and then all that follows."""
        # The sender may be gone by now: what it wished for counts, but nobody is there to be let in.
        self._presence_changed()
        with self.visitors.entering(entry.visitor.account_id):
            is_noted = await self._note_coming(entry)
            missed = None if entry.since is None else await self._recent.after(entry.since, self.state.seq)
        if not entry.done.done():
            self.visitors.add(entry.visitor)
            entry.acknowledge(self.state, missed)
            entry.done.set_result(self.state)
            if not is_noted:
                self.visitors.publish(self.state, self.head(), ())

    async def _note_coming(self, entry: Entry) -> bool:
        """Store what a coming changes; tell if that went: who takes no seat may look on. Raises: CommandError."""
        before = () if self._pending is None else (self._pending,)
        try:
            await self._do(*before, entry.permission, Connect(entry.visitor.account_id))
            self._pending = None
        except CommandError as error:
            is_disk = error.code == ErrorCode.STORAGE_UNAVAILABLE
            if not is_disk or decide_together(self.state, (entry.permission,), self._now_ms()):
                raise
            return False
        return True

    def _presence_changed(self, delay_s: float = PRESENCE_DELAY_S) -> None:
        if not self._is_ended:
            self._presence_alarm.set(delay_s)

    def _check_presence(self) -> None:
        if self._inbox.is_full:
            self._presence_changed()
        else:
            self._inbox.put(PresenceCheck())

    async def _note_presence(self) -> None:
        for account in self.visitors.accounts_back(self.state):
            await self._do(Connect(account))
        gone = self.visitors.accounts_gone(self.state)
        due, again_in_ms = self._goings.due(gone, self._now_ms())
        for account in due:
            await self._do(Disconnect(account))
            self._goings.note(account, self._now_ms())
        self.visitors.publish(self.state, self.head(), ())
        self._on_change(self)
        if again_in_ms is not None:
            self._presence_changed(again_in_ms / 1000)

    def _end(self) -> None:
        self._is_ended = True
        self._inbox.stop()
        self._presence_alarm.stop()
        self._on_unload(self)
        is_closed = self.state.phase == "closed"
        self.visitors.dismiss_all("the room is closed" if is_closed else "the server stops")
        while (item := self._inbox.take()) is not None:
            fail(item, RoomUnloadedError(self.state.code))
