"""A living room: one task that takes commands one by one, stores, acknowledges and announces them.

The order is the promise: decide, append (waits for the commit), evolve, acknowledge the sender, publish. What the
wishes mean is the matter of `room`; who is in the room, and who is told what, that of `audience`.
"""

from __future__ import annotations

import asyncio
from collections import deque
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Final

import structlog

from tabuleiro.errors import CommandError, ConflictError, StoreError
from tabuleiro.ids import Seq, TimestampMs
from tabuleiro.protocol.codes import ErrorCode
from tabuleiro.protocol.events import SequencedEvent
from tabuleiro.protocol.messages import BotThought, RoomHead
from tabuleiro_server.config import Config
from tabuleiro_server.room.commands import Command, Connect, Disconnect, Expire
from tabuleiro_server.room.deadlines import Deadline, next_deadline
from tabuleiro_server.room.decide import decide
from tabuleiro_server.room.evolve import replay
from tabuleiro_server.room.state import RoomState
from tabuleiro_server.room.views import head_of
from tabuleiro_server.runtime.alarm import Alarm
from tabuleiro_server.runtime.audience import Visitor, Visitors
from tabuleiro_server.runtime.draws import draw
from tabuleiro_server.runtime.goings import Goings
from tabuleiro_server.runtime.journal import NO_SNAPSHOT, Journal
from tabuleiro_server.runtime.refusals import damaged, unavailable
from tabuleiro_server.runtime.room_inbox import RoomInbox

RECENT_EVENTS_COUNT: Final = 128
"""Events kept in memory for clients that resume; older ones are read from disk."""

MISSED_EVENTS_COUNT: Final = 1_000
"""Events that a resuming client gets at most; a snapshot is shorter then, and sure to fit in a message."""

PRESENCE_DELAY_S: Final = 0.1
"""Comings and goings within this time are told in one update."""

SNAPSHOT_EVERY_COUNT: Final = 200
"""Events since its last snapshot after which a room gets one.

So no load has more to replay, which takes about five milliseconds. The snapshot is one more row to commit and,
with the longest chat and match, a tenth of a millisecond to write. Most rooms never come to it.
"""

log = structlog.get_logger(__name__)

Missed = tuple[SequencedEvent, ...] | None
"""Events that a resuming client has missed; ``None`` when it needs a snapshot."""


class RoomUnloadedError(Exception):
    """The room left memory between being found and being asked: find it again."""


def _new_future() -> asyncio.Future[RoomState]:
    return asyncio.get_running_loop().create_future()


@dataclass(slots=True)
class _Wish:
    command: Command
    acknowledge: Callable[[RoomState], None] | None
    done: asyncio.Future[RoomState] = field(default_factory=_new_future)


@dataclass(slots=True)
class _Entry:
    visitor: Visitor
    permission: Command
    since: Seq | None
    acknowledge: Callable[[RoomState, Missed], None]
    done: asyncio.Future[RoomState] = field(default_factory=_new_future)


@dataclass(slots=True)
class _PresenceCheck:
    done: asyncio.Future[RoomState] = field(default_factory=_new_future)


_Item = _Wish | _Entry | _PresenceCheck


class RoomTask:
    """The runtime of one room.

    ``on_change`` is called after each change, ``on_unload`` when it ends. ``pending`` is done before anything
    else. ``snapshot_seq`` is the event after which its snapshot on disk was taken, ``NO_SNAPSHOT`` without.
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
        snapshot_seq: Seq = NO_SNAPSHOT,
    ) -> None:
        self.state = state
        self.is_damaged = False
        self.visitors = Visitors(state.code)
        self._journal = journal
        self._config = config
        self._now_ms = now_ms
        self._on_change = on_change
        self._on_unload = on_unload
        self._inbox: RoomInbox[_Item] = RoomInbox(config.room_queue_count)
        self._is_touched = False
        self._recent: deque[SequencedEvent] = deque(maxlen=RECENT_EVENTS_COUNT)
        self._pending = pending
        self._snapshot_seq = snapshot_seq
        self._thinking: BotThought | None = None
        self._presence_alarm = Alarm(self._check_presence)
        self._goings = Goings()
        self._retry_at_ms: int | None = None
        self._deadline: Deadline | None = None
        self._deadline_of: RoomState | None = None
        self._is_ended = False
        self._presence_changed()
        self._task = asyncio.create_task(self._run(), name=f"room {state.code}")

    async def perform(self, command: Command, acknowledge: Callable[[RoomState], None] | None = None) -> RoomState:
        """Have a command decided and stored. ``acknowledge`` is called after the commit, before the news spread.

        Raises: CommandError when it is refused or cannot be stored; RoomUnloadedError.
        """
        return await self._ask(_Wish(command, acknowledge))

    async def enter(
        self,
        visitor: Visitor,
        permission: Command,
        since: Seq | None,
        acknowledge: Callable[[RoomState, Missed], None],
    ) -> RoomState:
        """Let a connection in if ``permission`` is granted.

        ``acknowledge`` gets the events after ``since``, or ``None`` when a snapshot is needed.

        Raises: CommandError; RoomUnloadedError.
        """
        return await self._ask(_Entry(visitor, permission, since, acknowledge))

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

    def _ask(self, item: _Wish | _Entry) -> asyncio.Future[RoomState]:
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
                await self._serve(item)
                self._is_touched = True
                if self.state.phase == "closed":
                    return
                if self.state.seq - self._snapshot_seq >= SNAPSHOT_EVERY_COUNT:
                    await self._keep_snapshot()
        finally:
            self._end()

    async def _next_item(self) -> _Item | None:
        """The next thing to do; ``None`` when the room shall end: told so, or idle for long.

        What time brings goes before commands that wait, so that nobody can talk a flag up.
        """
        while True:
            wait_ms = self._config.idle_room_unload_ms
            deadline_ms = self._deadline_ms()
            if deadline_ms is not None:
                left_ms = deadline_ms - self._now_ms()
                if left_ms <= 0:
                    return _Wish(Expire(draw()), None)
                wait_ms = min(left_ms, wait_ms)
            item = self._inbox.take()
            if item is not None or self._inbox.is_closed:
                return item
            if not await self._inbox.wait(wait_ms / 1000):
                return self._inbox.take()
            if self._is_idle():
                return None
            self._is_touched = False

    def _deadline_ms(self) -> int | None:
        """When time will bring something; later than due when storing it has failed just now."""
        if self.is_damaged:
            return None
        if self._deadline_of is not self.state:
            self._deadline, self._deadline_of = next_deadline(self.state), self.state
        deadline = self._deadline
        if deadline is None or self._retry_at_ms is None:
            return None if deadline is None else deadline.at_ms
        return max(deadline.at_ms, self._retry_at_ms)

    def _is_idle(self) -> bool:
        """Whether nobody has wanted anything for long, is here, or is to be expected."""
        is_settled = not self._is_touched and not self._inbox and not self._presence_alarm.is_set
        return is_settled and not len(self.visitors) and not self.state.is_bot_to_move

    async def _serve(self, item: _Item) -> None:
        if self.is_damaged:
            _fail(item, damaged(self.state.code))
            return
        try:
            if self._pending is not None:
                await self._do(self._pending)
                self._pending = None
            match item:
                case _Wish():
                    await self._do(item.command, acknowledge=item.acknowledge)
                    if not item.done.done():
                        item.done.set_result(self.state)
                case _Entry():
                    await self._let_in(item)
                case _PresenceCheck():
                    await self._note_presence()
            self._retry_at_ms = None
        except CommandError as error:
            _fail(item, error)
        except ConflictError as error:
            await self._catch_up(error)
            _fail(item, unavailable(error))
        except StoreError as error:
            self._put_off()
            _fail(item, unavailable(error))
        except Exception:
            # A fault of ours must not spread: this room stops taking commands, the others go on.
            self.is_damaged = True
            log.exception("room damaged", room=self.state.code, seq=self.state.seq)
            _fail(item, damaged(self.state.code))

    def _put_off(self) -> None:
        """Nobody asks again for what the room wants by itself: deadlines and presence are looked at later."""
        self._retry_at_ms = self._now_ms() + self._config.storage_retry_ms
        self._presence_changed(self._config.storage_retry_ms / 1000)

    async def _catch_up(self, conflict: ConflictError) -> None:
        """Take in what is on disk and not here: a write that was given up may have got there all the same."""
        log.warning("room behind its log", room=self.state.code, reason=str(conflict))
        try:
            events = tuple(await self._journal.events_after(self.state.code, self.state.seq))
        except StoreError:
            self._put_off()
            return
        if events:
            self.state = replay(events, self.state)
            self._announce(events)
        self._presence_changed()

    async def _do(self, *commands: Command, acknowledge: Callable[[RoomState], None] | None = None) -> None:
        """Decide, store, acknowledge, publish: all of the commands or none."""
        events = self._decided(commands)
        if events:
            self.state, self._deadline = await self._journal.append(self.state, events)
            self._deadline_of = self.state
        if acknowledge is not None:
            acknowledge(self.state)
        if events:
            self._announce(events)

    def _decided(self, commands: tuple[Command, ...]) -> tuple[SequencedEvent, ...]:
        """The events that follow from the commands, each decided in the room that the earlier ones lead to."""
        now_ms, room = self._now_ms(), self.state
        found: tuple[SequencedEvent, ...] = ()
        for command in commands:
            if found:
                room = replay(found, self.state)
            decided = enumerate(decide(room, command, now_ms), start=room.seq + 1)
            found += tuple([SequencedEvent(Seq(seq), now_ms, event) for seq, event in decided])
        return found

    def _announce(self, events: tuple[SequencedEvent, ...]) -> None:
        """Tell everybody what is on disk and in the state now."""
        self._recent.extend(events)
        if self._thinking is not None and not self.state.is_bot_to_move:
            self._thinking = None
        self.visitors.publish(self.state, self.head(), events)
        self._on_change(self)

    async def _let_in(self, entry: _Entry) -> None:
        """The newcomer hears its own answer first, and then all that follows."""
        # The sender may be gone by now: what it wished for counts, but nobody is there to be let in.
        self._presence_changed()
        with self.visitors.entering(entry.visitor.account_id):
            await self._do(entry.permission, Connect(entry.visitor.account_id))
            missed = None if entry.since is None else await self._events_after(entry.since)
        if not entry.done.done():
            self.visitors.add(entry.visitor)
            entry.acknowledge(self.state, missed)
            entry.done.set_result(self.state)

    async def _events_after(self, since: Seq) -> Missed:
        """The events after ``since``; ``None`` when they are many, or the client claims to know the future."""
        if not 0 <= self.state.seq - since <= MISSED_EVENTS_COUNT:
            return None
        if self.state.seq - since <= len(self._recent):
            return tuple(event for event in self._recent if event.seq > since)
        return tuple(await self._journal.events_after(self.state.code, since))

    def _presence_changed(self, delay_s: float = PRESENCE_DELAY_S) -> None:
        if not self._is_ended:
            self._presence_alarm.set(delay_s)

    def _check_presence(self) -> None:
        if self._inbox.is_full:
            self._presence_changed()
        else:
            self._inbox.put(_PresenceCheck())

    async def _note_presence(self) -> None:
        now_ms = self._now_ms()
        gone, again_in_ms = self._goings.due(self.state, self.visitors.accounts(), now_ms)
        for account in gone:
            await self._do(Disconnect(account))
            self._goings.note(account, now_ms)
        self.visitors.publish(self.state, self.head(), ())
        self._on_change(self)
        if again_in_ms is not None:
            self._presence_changed(again_in_ms / 1000)

    async def _keep_snapshot(self) -> None:
        """Spare the next load most of the replay, unless the server stops: that waits for commits alone.

        The snapshot before is close enough for the load after a stop. One that cannot be saved is not tried again
        before as many events have come: a disk in trouble has other things to do.
        """
        if self.is_damaged or self._inbox.is_closed:
            return
        self._snapshot_seq = self.state.seq
        try:
            await self._journal.save_snapshot(self.state)
        except Exception:
            # A fault of ours in writing it down costs the next load some time; it must not cost anybody the match.
            log.exception("snapshot not made", room=self.state.code, seq=self.state.seq)

    def _end(self) -> None:
        self._is_ended = True
        self._inbox.stop()
        self._presence_alarm.stop()
        self._on_unload(self)
        is_closed = self.state.phase == "closed"
        self.visitors.dismiss_all("the room is closed" if is_closed else "the server stops")
        while (item := self._inbox.take()) is not None:
            _fail(item, RoomUnloadedError(self.state.code))


def _fail(item: _Item, error: Exception) -> None:
    if not item.done.done():
        item.done.set_exception(error)
        # Nobody waits for what the room asked of itself.
        item.done.exception()
