"""A room in memory: performs commands one by one; stores, acknowledges and announces what follows from them.

The order is the promise: decide, append, and after the commit acknowledge the sender and notify the subscribers.
A command to a room at rest is decided at once; others wait in a queue for the commit before them. `room` decides
what commands mean, `subscribers` which notification a connection gets.
"""

from __future__ import annotations

import asyncio
import secrets
from collections import deque
from collections.abc import Callable, Collection, Coroutine
from dataclasses import dataclass, field
from functools import partial
from typing import Final

import structlog

from tabuleiro.errors import CommandError, ConflictError, StoreError, TakenOverError
from tabuleiro.ids import AccountId, Seq, TimestampMs
from tabuleiro.protocol.codes import ErrorCode
from tabuleiro.protocol.events import SequencedEvent
from tabuleiro.protocol.messages import BotThought, RoomHead, RoomSummary
from tabuleiro_server.config import Config
from tabuleiro_server.room.commands import Chance, ClaimWin, Command, Connect, Disconnect, Expire, Resume
from tabuleiro_server.room.deadlines import Deadline, next_deadline
from tabuleiro_server.room.decide import decide_together
from tabuleiro_server.room.evolve import replay
from tabuleiro_server.room.state import RoomState
from tabuleiro_server.room.views import head_of, summary_of
from tabuleiro_server.rooms.journal import Appended, Journal
from tabuleiro_server.rooms.refusals import damaged, elsewhere, no_such_room, unavailable
from tabuleiro_server.rooms.subscribers import Subscriber, Subscribers
from tabuleiro_server.store.port import Incarnation, NodeRow
from tabuleiro_server.timers import Limit, Timer

PRESENCE_DELAY_S: Final = 0.1
"""Arrivals and departures within this time are announced in one update."""

RETURN_MS: Final = 5_000
"""Time for people to follow a room from another node before they count as gone."""

DEPARTURE_INTERVAL_MS: Final = 30_000
"""Shortest time between two stored departures of a player: at 2 events each, below 6,000 events a day."""

RECENT_EVENTS_COUNT: Final = 128
"""Events kept in memory for clients that resume."""

MISSED_EVENTS_COUNT: Final = 1_000
"""Most events that a resuming client gets; beyond that a snapshot is shorter, and sure to fit in a message."""

Missed = tuple[SequencedEvent, ...] | None
"""Events that a resuming client has missed; ``None`` when it needs a snapshot."""

log = structlog.get_logger(__name__)


class RoomUnloadedError(Exception):
    """The room has left memory: find it again."""


def new_chance() -> Chance:
    """Draw random values for one command."""
    return Chance(seed=secrets.randbelow(2**32), is_swapped=bool(secrets.randbits(1)))


def _new_future() -> asyncio.Future[RoomState]:
    return asyncio.get_running_loop().create_future()


@dataclass(slots=True)
class Submission:
    """Commands to be decided together: all or none. ``acknowledge`` is called before the events are announced."""

    commands: tuple[Command, ...]
    acknowledge: Callable[[RoomState], None] | None = None
    done: asyncio.Future[RoomState] = field(default_factory=_new_future)


@dataclass(slots=True)
class Entry:
    """A connection that wants to enter; ``permission`` is the command that lets it in or not.

    It has seen the events up to ``since``.
    """

    subscriber: Subscriber
    permission: Command
    since: Seq | None
    acknowledge: Callable[[RoomState, Missed], None]
    done: asyncio.Future[RoomState] = field(default_factory=_new_future)

    @property
    def commands(self) -> tuple[Command, ...]:
        """The commands to be decided together."""
        return (self.permission, Connect(self.subscriber.account_id))


class NextDeadline:
    """The next deadline of one room, computed once for each of its states."""

    def __init__(self) -> None:
        self._deadline: Deadline | None = None
        self._room: RoomState | None = None
        self._not_before_ms = TimestampMs(0)

    def of(self, room: RoomState) -> TimestampMs | None:
        """Return the time of the deadline; ``None`` when there is none."""
        if room is not self._room:
            self._room, self._deadline = room, next_deadline(room)
        if self._deadline is None:
            return None
        at_ms = self._deadline.at_ms
        return at_ms if at_ms > self._not_before_ms else self._not_before_ms

    def note(self, room: RoomState, deadline: Deadline | None) -> None:
        """Take in the next deadline of a room that has just been stored, and postpone nothing any more."""
        self._room, self._deadline = room, deadline
        self._not_before_ms = TimestampMs(0)

    def postpone(self, until_ms: int) -> None:
        """Let nothing be due before ``until_ms``."""
        self._not_before_ms = TimestampMs(until_ms)


class Departures:
    """The time when each player's departure was last stored, so that an unstable connection makes few events.

    ``lost_ms`` are the times when those lost their last connection who have none now.
    """

    def __init__(self) -> None:
        self.lost_ms: dict[AccountId, TimestampMs] = {}
        self._stored_ms: dict[AccountId, TimestampMs] = {}

    def due(self, gone: Collection[AccountId], now_ms: TimestampMs) -> tuple[list[AccountId], int | None]:
        """Return the accounts of ``gone`` to be stored as gone now, and when to ask again for the others.

        Returns: also the delay in ms, or ``None`` if no departure is pending.
        """
        self._stored_ms = {
            account: at_ms for account, at_ms in self._stored_ms.items() if now_ms - at_ms < DEPARTURE_INTERVAL_MS
        }
        waits_ms = [
            self._stored_ms[account] + DEPARTURE_INTERVAL_MS - now_ms
            for account in gone
            if account in self._stored_ms
        ]
        return [account for account in gone if account not in self._stored_ms], min(waits_ms, default=None)

    def expect(self, account: AccountId, now_ms: TimestampMs) -> None:
        """Leave ``account`` some time to come before it counts as gone."""
        self._stored_ms[account] = TimestampMs(now_ms + RETURN_MS - DEPARTURE_INTERVAL_MS)

    def note(self, account: AccountId, now_ms: TimestampMs) -> None:
        """Note that the departure of ``account`` has been stored."""
        self._stored_ms[account] = now_ms


@dataclass(frozen=True, slots=True)
class RoomContext:
    """The parts of the server that every room uses.

    The ``observers`` are called after each change of a room, ``on_unload`` when it leaves memory.
    """

    journal: Journal
    config: Config
    now_ms: Callable[[], TimestampMs]
    observers: tuple[Callable[[LiveRoom], None], ...]
    on_unload: Callable[[LiveRoom], None]


class LiveRoom:
    """One room in memory, as its owner of ``incarnation`` has it. ``first`` is decided before anything else."""

    def __init__(
        self, room: RoomState, context: RoomContext, incarnation: Incarnation, first: Command | None = None
    ) -> None:
        self.state = room
        self.is_damaged = False
        self.subscribers = Subscribers(room.code)
        self._context = context
        self.incarnation = incarnation
        self._first: tuple[Command, ...] = () if first is None else (first,)
        self._queue: deque[Submission | Entry] = deque()
        self._recent: deque[SequencedEvent] = deque(maxlen=RECENT_EVENTS_COUNT)
        self._thinking: BotThought | None = None
        self._further_watchers_count = 0
        self._deadline = NextDeadline()
        self._timer = Timer(self._look)
        self._looks_at_ms: int | None = None
        self._asked_ms: int | None = None
        """The deadline before which input is being taken in, and..."""
        self._heard_ms: int | None = None
        """...the one before which all of it was."""
        self._presence_timer = Timer(self._check_presence)
        self._is_presence_due = False
        self._departures = Departures()
        self._loop = asyncio.get_running_loop()
        self._touched_s = self._loop.time()
        self._is_behind = False
        self._is_busy = False
        self._reading: asyncio.Task[None] | None = None
        self._is_stopping = False
        self._moving: tuple[NodeRow, asyncio.Future[None]] | None = None
        self._ended: asyncio.Future[None] = self._loop.create_future()
        self._presence_changed()
        self._loop.call_soon(self._advance)

    def perform(
        self, command: Command, acknowledge: Callable[[RoomState], None] | None = None
    ) -> asyncio.Future[RoomState]:
        """Have a command decided and stored. ``acknowledge`` is called after the commit, before the announcement.

        Raises: RoomUnloadedError, or CommandError if too many commands wait. The future raises CommandError if the
        command is refused or cannot be stored.
        """
        return self._submit(Submission((command,), acknowledge))

    def enter(
        self,
        subscriber: Subscriber,
        permission: Command,
        since: Seq | None,
        acknowledge: Callable[[RoomState, Missed], None],
    ) -> asyncio.Future[RoomState]:
        """Add a connection to the subscribers if ``permission`` is granted.

        ``acknowledge`` gets the events after ``since``, ``None`` when a snapshot is needed. A cancelled future
        leaves the connection outside; what ``permission`` changes stays.

        Raises: as :meth:`perform`.
        """
        return self._submit(Entry(subscriber, permission, since, acknowledge))

    def dismiss(self, subscriber: Subscriber) -> None:
        """Remove a connection that leaves or is lost."""
        if self.subscribers.remove(subscriber):
            if subscriber.account_id not in self.subscribers.accounts():
                self._departures.lost_ms[subscriber.account_id] = self._now_ms()
            self._presence_changed()

    def note_standstill(self, since_ms: TimestampMs, until_ms: TimestampMs) -> None:
        """Before anything else, spare everybody the time in which the server stood still."""
        self._first = (*self._first, Resume(since_ms, until_ms, is_standstill=True))
        self._departures.lost_ms = dict.fromkeys(self._departures.lost_ms, until_ms)
        # The timer may not have counted that time.
        self._looks_at_ms = None
        self._presence_changed()
        self._loop.call_soon(self._advance)

    def head(self) -> RoomHead:
        """Return the room as its subscribers see it now."""
        return head_of(
            self.state,
            self._now_ms(),
            connected=self.subscribers.accounts(),
            lost_ms=self._departures.lost_ms,
            watchers_count=self.watchers_count + self._further_watchers_count,
            thinking=self._thinking,
        )

    def summary(self) -> RoomSummary:
        """Return the room's line in the list of rooms."""
        return summary_of(self.state, self.watchers_count)

    @property
    def is_in_use(self) -> bool:
        """True if a match is being played, or somebody is here: it should be in some node's memory."""
        return self.state.phase == "playing" or len(self.subscribers) > 0

    @property
    def watchers_count(self) -> int:
        """Accounts in the room that hold no seat, on this node."""
        return self.subscribers.count_watchers(self.state.seats)

    def note_further_watchers(self, count: int) -> None:
        """Show as watchers also those who watch the room on other nodes."""
        if count != self._further_watchers_count:
            self._further_watchers_count = count
            if len(self.subscribers):
                self._presence_changed()

    def tell_observers(self) -> None:
        """Have the rest of the server take note of the room as it is."""
        for observer in self._context.observers:
            observer(self)

    def set_thinking(self, thinking: BotThought | None) -> None:
        """Show, or no longer show, that a bot thinks."""
        if thinking != self._thinking:
            self._thinking = thinking
            self._presence_changed()

    def expect_players(self) -> None:
        """Leave those who were here before the room was loaded some time to come back."""
        for seat, since_ms in zip(self.state.seats, self.state.away_since_ms, strict=True):
            if seat.kind == "person" and seat.account and since_ms is None:
                self._departures.expect(seat.account, self._now_ms())

    async def move(self, node: NodeRow) -> None:
        """Make another node the owner, as soon as what is being stored is stored, and send everybody there.

        Nothing happens if it leaves memory before.

        Raises: NodeLeavesError; StoreError; the room stays then, unless somebody else has taken it over.
        """
        if self._ended.done():
            return
        moved = self._loop.create_future()
        self._moving = node, moved
        self._advance()
        await moved

    def note_taken_over(self, node_url: str | None) -> None:
        """Leave memory: another node has the room. What is being stored finds that out by itself."""
        if not (self._is_busy or self._ended.done()):
            self._end_taken_over(TakenOverError(self.state.code, node_url))

    async def stop(self) -> None:
        """Leave memory once the commands that wait have been performed."""
        self._is_stopping = True
        self._advance()
        await self.unloaded()

    async def unloaded(self) -> None:
        """Wait until the room has left memory."""
        await asyncio.shield(self._ended)

    def _submit(self, submission: Submission | Entry) -> asyncio.Future[RoomState]:
        if self._ended.done():
            raise RoomUnloadedError(self.state.code)
        if self._is_stopping:
            raise CommandError(ErrorCode.SHUTTING_DOWN, "the server is stopping")
        if len(self._queue) >= self._context.config.room_queue_count:
            message = f"too many commands wait for room {self.state.code}; try again"
            raise CommandError(ErrorCode.BUSY, message)
        self._queue.append(submission)
        self._advance()
        return submission.done

    def _advance(self) -> None:
        """Perform what is due and what waits, until there is a commit to wait for or nothing is left."""
        while not self._is_busy and not self._ended.done():
            submission, now_ms = self._next(self._now_ms())
            if submission is not None:
                self._is_busy = True
                self._start(submission, now_ms)
            elif not self._is_busy:
                self._rest(now_ms)
                return

    def _now_ms(self) -> TimestampMs:
        """Return the time, which is never before the room's newest event."""
        now_ms, newest_ms = self._context.now_ms(), self.state.updated_at_ms
        return now_ms if now_ms > newest_ms else newest_ms

    def _next(self, now_ms: TimestampMs) -> tuple[Submission | Entry | None, TimestampMs]:
        """Return what to perform next, and the time at which it counts as done.

        Deadlines go before commands that wait, so that nobody can hold up a flag by talking. But what has arrived
        by the time that a deadline is found to be due counts as just in time: the server may be late, and nobody
        knows since when it lay there.
        """
        if self.state.phase == "closed":
            return None, now_ms
        if self._moving is not None:
            self._read(self._hand_over(*self._moving))
            return None, now_ms
        if self.is_damaged:
            self._fail_all(damaged(self.state.code))
            return None, now_ms
        if self._is_behind and (self._queue or self._is_presence_due):
            self._read(self._catch_up())
            return None, now_ms
        deadline_ms = self._deadline.of(self.state)
        if deadline_ms is not None and deadline_ms <= now_ms:
            if self._first:
                # The deadline may be a later one then.
                return Submission(()), now_ms
            if self._heard_ms == deadline_ms:
                return Submission((Expire(new_chance()),)), now_ms
            self._take_input_before(deadline_ms)
            now_ms = max(TimestampMs(deadline_ms - 1), self.state.updated_at_ms)
        if self._is_presence_due:
            self._is_presence_due = False
            return self._presence(now_ms), now_ms
        return self._queue.popleft() if self._queue else None, now_ms

    def _take_input_before(self, deadline_ms: TimestampMs) -> None:
        """Let what has arrived be taken in, and see to the deadline then."""
        if self._asked_ms != deadline_ms:
            self._asked_ms = deadline_ms
            Limit(0, partial(self._hear, deadline_ms))

    def _hear(self, deadline_ms: TimestampMs) -> None:
        self._heard_ms, self._asked_ms = deadline_ms, None
        self._advance()

    def _rest(self, now_ms: TimestampMs) -> None:
        """Wait for the next command or the next deadline; end when the room is closed or the server stops."""
        if self.state.phase == "closed" or self._is_stopping:
            self._leave()
            return
        deadline_ms = None if self.is_damaged else self._deadline.of(self.state)
        if deadline_ms is not None and deadline_ms == self._asked_ms:
            return
        if self._looks_at_ms is not None and (deadline_ms is None or deadline_ms >= self._looks_at_ms):
            return
        unload_ms = self._context.config.idle_room_unload_ms
        # What has been quiet for longer is needed all the same: look again later.
        self._looks_at_ms = now_ms + unload_ms - self._quiet_ms() % unload_ms
        if deadline_ms is not None:
            self._looks_at_ms = min(deadline_ms, self._looks_at_ms)
        self._timer.set((self._looks_at_ms - now_ms) / 1000)

    def _look(self) -> None:
        """Leave memory if nobody has wanted anything for long enough; otherwise go on."""
        self._looks_at_ms = None
        if self._is_idle():
            self._leave()
        else:
            self._advance()

    def _quiet_ms(self) -> int:
        """Return the time since anybody wanted anything."""
        return int((self._loop.time() - self._touched_s) * 1000)

    def _is_idle(self) -> bool:
        is_quiet = self._quiet_ms() >= self._context.config.idle_room_unload_ms
        is_settled = is_quiet and not (self._is_busy or self._queue or self._presence_timer.is_set)
        is_needed = self.state.is_bot_to_move and not self.state.can_pause
        return is_settled and not len(self.subscribers) and not is_needed

    def _start(self, submission: Submission | Entry, now_ms: TimestampMs) -> None:
        """Decide a submission and have it stored; the answer comes when it is on disk."""
        self._touched_s = self._loop.time()
        first = self._first
        try:
            commands = (*first, *self._departures_for(submission), *submission.commands)
            events = decide_together(self.state, commands, now_ms)
            if events:
                appended = self._context.journal.append(self.state, events, self.incarnation)
                appended.stored.add_done_callback(lambda _: self._finish(submission, first, events, appended))
                return
            self._first = self._first[len(first) :]
            self._fulfil(submission)
        except Exception as error:
            self._refuse(submission, error)
        self._is_busy = self._reading is not None

    def _departures_for(self, submission: Submission | Entry) -> list[Disconnect]:
        """Return the departures that are not stored yet, for a claim: it is by what everybody sees."""
        for command in submission.commands:
            if type(command) is ClaimWin:
                return self._disconnects(self.subscribers.accounts_gone(self.state))
        return []

    def _disconnects(self, gone: Collection[AccountId]) -> list[Disconnect]:
        return [Disconnect(account, self._departures.lost_ms.get(account)) for account in gone]

    def _finish(
        self,
        submission: Submission | Entry,
        first: tuple[Command, ...],
        events: tuple[SequencedEvent, ...],
        appended: Appended,
    ) -> None:
        """Acknowledge and announce after the commit; or refuse when there was none."""
        try:
            appended.stored.result()
            self._first = self._first[len(first) :]
            self.state = appended.room
            self._deadline.note(appended.room, appended.deadline)
            self._fulfil(submission, events)
        except Exception as error:
            self._refuse(submission, error)
        self._is_busy = self._reading is not None
        if not self._is_at_rest():
            self._advance()

    def _is_at_rest(self) -> bool:
        """Return True if nothing waits and the timer looks again in time, as nearly always after a move."""
        if self._queue or self._is_presence_due or self._first or self._is_behind or self.is_damaged:
            return False
        if self._moving is not None:
            return False
        if self._looks_at_ms is None or self._is_stopping or self.state.phase != "playing":
            return False
        deadline_ms = self._deadline.of(self.state)
        return deadline_ms is None or deadline_ms >= self._looks_at_ms

    def _fulfil(self, submission: Submission | Entry, events: tuple[SequencedEvent, ...] = ()) -> None:
        if isinstance(submission, Entry):
            self._let_in(submission, events)
            return
        if submission.acknowledge is not None:
            submission.acknowledge(self.state)
        if events:
            self._announce(events)
        if not submission.done.done():
            submission.done.set_result(self.state)

    def _refuse(self, submission: Submission | Entry, reason: Exception) -> None:
        """Answer with the reason, and see what it means for the room."""
        match reason:
            case CommandError():
                _fail(submission, reason)
            case TakenOverError():
                _fail(submission, self._end_taken_over(reason))
            case StoreError():
                if isinstance(reason, ConflictError):
                    log.warning("room behind its log", room=self.state.code, reason=str(reason))
                    self._is_behind = True
                    self._presence_changed()
                else:
                    self._postpone()
                refusal = unavailable(reason)
                if isinstance(submission, Entry) and self._may_look_on(submission):
                    self._let_in(submission, is_noted=False)
                else:
                    _fail(submission, refusal)
            case _:
                # A fault of ours must not spread: this room stops taking commands, the others go on.
                self.is_damaged = True
                log.error("room damaged", room=self.state.code, seq=self.state.seq, exc_info=reason)
                _fail(submission, damaged(self.state.code))

    def _end_taken_over(self, reason: TakenOverError) -> CommandError:
        """Leave memory: another node has the room. Return the refusal for whoever waits for it."""
        node_url = reason.node_url
        log.warning("room taken over by another node", room=self.state.code, node_url=node_url)
        refusal = unavailable(reason) if node_url is None else elsewhere(self.state.code, node_url)
        self._end("another server has taken over this room", refusal, node_url)
        return refusal

    async def _hand_over(self, node: NodeRow, moved: asyncio.Future[None]) -> None:
        code = self.state.code
        self._moving = None
        try:
            await self._context.journal.hand_over(code, self.incarnation, node.id)
        except TakenOverError as error:
            self._end_taken_over(error)
            moved.set_exception(error)
        except StoreError as error:
            moved.set_exception(error)
        else:
            self._end(f"the room is at {node.url} now", elsewhere(code, node.url), node.url)
            moved.set_result(None)

    def _postpone(self) -> None:
        """Look at deadlines and presence later: nobody asks again for what the room wants by itself."""
        self._deadline.postpone(self._now_ms() + self._context.config.storage_retry_ms)
        self._presence_changed(self._context.config.storage_retry_ms / 1000)

    def _announce(self, events: tuple[SequencedEvent, ...]) -> None:
        """Notify everybody of events that are on disk and in the state now."""
        self._recent.extend(events)
        if self._thinking is not None and not self.state.is_bot_to_move:
            self._thinking = None
        self._publish(events)

    def _publish(self, events: tuple[SequencedEvent, ...] = ()) -> None:
        self.subscribers.publish(self.state, self.head(), events)
        self.tell_observers()

    def _let_in(self, entry: Entry, events: tuple[SequencedEvent, ...] = (), *, is_noted: bool = True) -> None:
        """Add a connection to the subscribers: it gets its own answer first, and then all that follows.

        ``is_noted`` is False if the arrival could not be stored.
        """
        self._presence_changed()
        if entry.done.done():
            # The connection is gone meanwhile: its command counts, but there is nobody to let in.
            if events:
                self._announce(events)
            return
        with self.subscribers.entering(entry.subscriber.account_id):
            if events:
                self._announce(events)
            missed_count = 0 if entry.since is None else self.state.seq - entry.since
            if entry.since is None or not 0 <= missed_count <= MISSED_EVENTS_COUNT:
                self._admit(entry, None, is_noted=is_noted)
            elif missed_count <= len(self._recent):
                missed = tuple(event for event in self._recent if event.seq > entry.since)
                self._admit(entry, missed, is_noted=is_noted)
            else:
                self._read(self._admit_after_reading(entry, entry.since, is_noted=is_noted))

    async def _admit_after_reading(self, entry: Entry, since: Seq, *, is_noted: bool) -> None:
        try:
            with self.subscribers.entering(entry.subscriber.account_id):
                missed = tuple(await self._context.journal.events_after(self.state.code, since))
            self._admit(entry, missed, is_noted=is_noted)
        except StoreError as error:
            _fail(entry, unavailable(error))
        except Exception as error:
            self._refuse(entry, error)

    def _admit(self, entry: Entry, missed: Missed, *, is_noted: bool) -> None:
        if entry.done.done():
            return
        self.subscribers.add(entry.subscriber)
        self._departures.lost_ms.pop(entry.subscriber.account_id, None)
        entry.acknowledge(self.state, missed)
        entry.done.set_result(self.state)
        if not is_noted:
            self.subscribers.publish(self.state, self.head(), ())

    def _may_look_on(self, entry: Entry) -> bool:
        """Return True if an entry changes nothing but who is present: that need not be stored to look on."""
        try:
            return not decide_together(self.state, (entry.permission,), self._now_ms())
        except CommandError:
            return False

    def _presence_changed(self, delay_s: float = PRESENCE_DELAY_S) -> None:
        if not self._ended.done():
            self._presence_timer.set(delay_s)

    def _check_presence(self) -> None:
        self._is_presence_due = True
        self._advance()

    def _presence(self, now_ms: TimestampMs) -> Submission:
        """Return the commands that note who has come and who has gone; without events presence is announced."""
        back = self.subscribers.accounts_back(self.state)
        all_gone = self.subscribers.accounts_gone(self.state)
        for account in all_gone:
            self._departures.lost_ms.setdefault(account, now_ms)
        gone, again_in_ms = self._departures.due(all_gone, now_ms)
        seq = self.state.seq

        def acknowledge(room: RoomState) -> None:
            for account in gone:
                self._departures.note(account, now_ms)
            if room.seq == seq:
                self._publish()
            if again_in_ms is not None:
                self._presence_changed(again_in_ms / 1000)

        return Submission((*map(Connect, back), *self._disconnects(gone)), acknowledge)

    async def _catch_up(self) -> None:
        """Take in what is on disk and not here, e.g. of a write that was taken for failed."""
        try:
            events = tuple(await self._context.journal.events_after(self.state.code, self.state.seq))
            self._is_behind = False
            if events:
                self.state = replay(events, self.state)
                self._announce(events)
            self._presence_changed()
        except Exception as error:
            self._is_presence_due = False
            self._refuse(self._queue.popleft() if self._queue else Submission(()), error)

    def _read(self, work: Coroutine[None, None, None]) -> None:
        """Do something that reads the disk; commands wait meanwhile."""
        self._is_busy = True
        self._reading = asyncio.create_task(work, name=f"reading room {self.state.code}")
        self._reading.add_done_callback(self._go_on)

    def _go_on(self, _: asyncio.Task[None]) -> None:
        self._reading = None
        self._is_busy = False
        self._advance()

    def _leave(self) -> None:
        """Leave memory when the room is closed, idle, or the server stops."""
        is_closed = self.state.phase == "closed"
        self._context.journal.release(self.state.code, self.incarnation)
        self._end("the room is closed" if is_closed else "the server stops", no_such_room(self.state.code))

    def _end(self, farewell: str, refusal: CommandError, node_url: str | None = None) -> None:
        """Leave memory, and dismiss whoever is in the room or waits for it; ``node_url`` is where it is now."""
        self._ended.set_result(None)
        if self._moving is not None:
            self._moving[1].set_result(None)
        self._timer.end()
        self._presence_timer.end()
        self._context.on_unload(self)
        self.subscribers.dismiss_all(farewell, node_url)
        self._fail_all(refusal)

    def _fail_all(self, refusal: CommandError) -> None:
        while self._queue:
            _fail(self._queue.popleft(), refusal)


def _fail(submission: Submission | Entry, error: CommandError) -> None:
    """Answer a submission with an error."""
    if not submission.done.done():
        submission.done.set_exception(error)
        # Nobody waits for what the room asked of itself.
        submission.done.exception()
