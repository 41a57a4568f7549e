"""The directory of rooms: opens them, finds them by their code, and loads them from disk."""

from __future__ import annotations

import asyncio
import secrets
from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Final, NamedTuple

import structlog

from tabuleiro.errors import CommandError, DamagedRoomError, ElsewhereError, StoreError
from tabuleiro.ids import ROOM_CODE_LENGTH, ROOM_CODE_LETTERS, RoomCode, Seq, TimestampMs
from tabuleiro.protocol.codes import ErrorCode
from tabuleiro.protocol.events import SequencedEvent
from tabuleiro_server.config import Config
from tabuleiro_server.locks import Locks
from tabuleiro_server.room.commands import Close, OpenRoom, Resume
from tabuleiro_server.room.decide import open_room
from tabuleiro_server.room.state import RoomState
from tabuleiro_server.rooms.journal import Journal
from tabuleiro_server.rooms.live_room import LiveRoom, RoomContext
from tabuleiro_server.rooms.refusals import code_of_room, damaged, elsewhere, no_such_room, unavailable
from tabuleiro_server.store.port import FIRST_INCARNATION, Incarnation, NodeRow, Ownership

REMOVED_COUNT: Final = 200
"""Rooms that are removed from the disk in one go."""

WOKEN_COUNT: Final = 32
"""Rooms that are loaded at one time when they are due."""

FINDING_MS: Final = 10_000
"""Time for people to find a room whose node died once another node may have it: their clocks stand still."""

DOWNTIMES_COUNT: Final = 1_000
"""Most standstills kept apart; beyond that the oldest standstills count as one."""

log = structlog.get_logger(__name__)


class Downtime(NamedTuple):
    """A time in which nothing was done: before this run began, while it stood still, or a room's node was dead."""

    since_ms: TimestampMs
    until_ms: TimestampMs


class Directory:
    """The rooms in memory by code, and the way to those on disk.

    ``last_alive_ms`` is the last time that the server before this one was known to run, ``None`` if there was none
    or another one runs. The ``observers`` are called after each change of a room, ``on_unload`` for each that
    leaves memory, ``on_load`` for each that comes from the disk.
    """

    def __init__(
        self,
        journal: Journal,
        config: Config,
        now_ms: Callable[[], TimestampMs],
        observers: tuple[Callable[[LiveRoom], None], ...],
        last_alive_ms: TimestampMs | None,
        on_unload: Callable[[LiveRoom], None] = lambda room: None,
        on_load: Callable[[RoomCode], None] = lambda code: None,
    ) -> None:
        started_ms = now_ms()
        self._downtimes_before: list[Downtime] = []
        if last_alive_ms is not None:
            self._downtimes_before.append(Downtime(min(last_alive_ms, started_ms), started_ms))
        self._standstills: list[Downtime] = []
        self._context = RoomContext(journal, config, now_ms, observers, self._drop)
        self._on_unload = on_unload
        self._on_load = on_load
        self._rooms: dict[RoomCode, LiveRoom] = {}
        self._loading = Locks[RoomCode]()
        self._damaged: set[RoomCode] = set()
        self._unplayed: list[RoomCode] = []
        self.next_node: NodeRow | None = None
        """The node that has to load rooms from now on, because this one ends."""

    @property
    def rooms_count(self) -> int:
        """The number of rooms in memory."""
        return len(self._rooms)

    @property
    def rooms(self) -> list[LiveRoom]:
        """The rooms in memory, those that were loaded last at the end."""
        return list(self._rooms.values())

    def watchers(self) -> dict[RoomCode, int]:
        """Return the number of watchers of each room in memory that has any."""
        return {code: room.watchers_count for code, room in self._rooms.items() if room.watchers_count}

    def note_further_watchers(self, counts: Mapping[RoomCode, int]) -> None:
        """Take in how many watch each room on other nodes."""
        for code, room in self._rooms.items():
            room.note_further_watchers(counts.get(code, 0))

    def has(self, code: RoomCode) -> bool:
        """Return True if the room is in memory."""
        return code in self._rooms

    async def new_code(self) -> RoomCode:
        """Return a room code that was never used.

        Raises:
            CommandError: The disk fails.
        """
        while True:
            letters = (secrets.choice(ROOM_CODE_LETTERS) for _ in range(ROOM_CODE_LENGTH))
            code = RoomCode("".join(letters))
            try:
                if code not in self._rooms and not await self._context.journal.exists(code):
                    return code
            except StoreError as error:
                raise unavailable(error) from error

    async def open(self, command: OpenRoom) -> LiveRoom:
        """Make a room.

        Raises:
            CommandError: The room is refused or cannot be stored.
        """
        now_ms = self._context.now_ms()
        events = tuple(
            SequencedEvent(Seq(number), now_ms, event) for number, event in enumerate(open_room(command), start=1)
        )
        try:
            appended = self._context.journal.append(None, events, FIRST_INCARNATION)
            await appended.stored
        except StoreError as error:
            raise unavailable(error) from error
        room = self._started(appended.room, FIRST_INCARNATION, None)
        room.tell_observers()
        return room

    async def find(self, text: str) -> LiveRoom:
        """Return the room of this code.

        Raises:
            CommandError: There is none, or it cannot be loaded.
        """
        code = code_of_room(text)
        room = self._rooms.get(code)
        if room is not None:
            return room
        async with self._loading.held(code):
            return self._rooms.get(code) or await self._load(code)

    async def wake_due_rooms(self) -> None:
        """Load the rooms whose deadline has passed or whose bot is to move.

        Raises:
            StoreError: The disk fails.
        """
        if self.next_node is not None:
            return
        due = await self._context.journal.due_rooms(self._context.now_ms())
        codes = [code for code in due if code not in self._damaged and not self._sees_to_itself(code)]
        for start in range(0, len(codes), WOKEN_COUNT):
            await asyncio.gather(*map(self._wake, codes[start : start + WOKEN_COUNT]))

    async def _wake(self, code: RoomCode) -> None:
        try:
            room = await self.find(code)
        except CommandError as error:
            if error.code != ErrorCode.ELSEWHERE:  # another node was quicker
                log.warning("room not woken", room=code, reason=str(error))
        else:
            if not room.is_damaged:
                room.tell_observers()

    async def drop_lost_rooms(self) -> None:
        """Leave the rooms alone that other nodes have taken over, as they do when a node was silent for too long.

        Raises:
            StoreError: The database fails.
        """
        owned = {room.state.code: room.incarnation for room in self._rooms.values()}
        for code, node_url in (await self._context.journal.lost_rooms(owned)).items():
            room = self._rooms.get(code)
            if room is not None and room.incarnation == owned[code]:
                room.note_taken_over(node_url)

    async def remove_unplayed(self) -> None:
        """Remove the rooms that were closed and never saw a match, or none in which anything happened.

        Raises:
            StoreError: The disk fails; they are removed later.
        """
        unplayed, self._unplayed = self._unplayed[:REMOVED_COUNT], self._unplayed[REMOVED_COUNT:]
        if unplayed:
            try:
                await self._context.journal.remove(unplayed)
            except StoreError:
                self._unplayed += unplayed
                raise

    async def remove(self, code: RoomCode) -> None:
        """Close a room, and remove it from the disk with every match that was played in it.

        Raises:
            CommandError: The server is stopping, or the disk fails.
        """
        try:
            room = await self.find(code)
            await room.perform(Close())
            await room.unloaded()
        except CommandError as error:
            if error.code not in (ErrorCode.NO_SUCH_ROOM, ErrorCode.ROOM_DAMAGED):
                raise
        try:
            await self._context.journal.remove([code])
        except StoreError as error:
            raise unavailable(error) from error

    def _sees_to_itself(self, code: RoomCode) -> bool:
        """Return True if the room is in memory and waits for no bot."""
        room = self._rooms.get(code)
        return room is not None and not room.state.is_bot_to_move

    def note_standstill(self, since_ms: TimestampMs, until_ms: TimestampMs) -> None:
        """Spare all rooms the time in which the server stood still: those on disk when they are loaded."""
        if len(self._standstills) == DOWNTIMES_COUNT:
            self._standstills[:2] = [_together(self._standstills[:2])]
        self._standstills.append(Downtime(since_ms, until_ms))
        for room in self._rooms.values():
            room.note_standstill(since_ms, until_ms)

    async def stop(self) -> None:
        """Unload all rooms, each after the commands that wait for it."""
        await asyncio.gather(*(room.stop() for room in tuple(self._rooms.values())))

    async def _load(self, code: RoomCode) -> LiveRoom:
        if code in self._damaged:
            raise damaged(code)
        if self.next_node is not None:
            raise await self._sent_on(code, self.next_node)
        try:
            ownership = await self._context.journal.take_over(code)
            state = await self._context.journal.load(code)
        except ElsewhereError as error:
            raise elsewhere(code, error.node_url) from error
        except DamagedRoomError as error:
            raise self._quarantined(code) from error
        except StoreError as error:
            raise unavailable(error) from error
        except Exception as error:
            # What was stored cannot be replayed: a fault of ours that must not reach other rooms.
            raise self._quarantined(code) from error
        if state is None or state.phase == "closed":
            self._context.journal.release(code, ownership.incarnation)
            raise no_such_room(code)
        first = self._resumption(state, ownership)
        room = self._started(state, ownership.incarnation, first)
        self._on_load(code)
        if first is None:  # it comes from a node that lives, and so do its people
            room.expect_players()
        return room

    async def _sent_on(self, code: RoomCode, node: NodeRow) -> CommandError:
        """Return the refusal that sends people on to a node, which knows where the room is if it is not there.

        That must not be here: another node may have handed it to this one just before that was to end.
        """
        try:
            await self._context.journal.disown(code)
        except StoreError as error:
            return unavailable(error)
        return elsewhere(code, node.url)

    def _quarantined(self, code: RoomCode) -> CommandError:
        """Leave a room alone until the next start, and log the exception that is being handled."""
        self._damaged.add(code)
        log.exception("room damaged", room=code)
        return damaged(code)

    def _resumption(self, state: RoomState, ownership: Ownership) -> Resume | None:
        """Return the command that a room has to perform first if it was last changed before a downtime."""
        downtimes = [*self._downtimes_before, *self._absences(ownership)]
        missed = _missed([*downtimes, *self._standstills], state.updated_at_ms)
        if not missed or state.phase == "finished":
            return None
        return Resume(*_together(missed), is_standstill=not _missed(downtimes, state.updated_at_ms))

    def _absences(self, ownership: Ownership) -> list[Downtime]:
        """Return the time in which nobody could reach a room whose owner died, and a while to find it again."""
        if not ownership.silent_ms:
            return []
        now_ms = self._context.now_ms()
        counted_ms = min(ownership.silent_ms, ownership.silent_ms - ownership.free_ms + FINDING_MS)
        since_ms = now_ms - ownership.silent_ms
        return [Downtime(TimestampMs(since_ms), TimestampMs(since_ms + counted_ms))]

    def _started(self, state: RoomState, incarnation: Incarnation, first: Resume | None) -> LiveRoom:
        room = self._rooms[state.code] = LiveRoom(state, self._context, incarnation, first)
        return room

    def _drop(self, room: LiveRoom) -> None:
        if room.is_damaged:
            self._damaged.add(room.state.code)
        elif room.state.is_closed_unplayed:
            self._unplayed.append(room.state.code)
        self._rooms.pop(room.state.code, None)
        self._on_unload(room)


def _missed(downtimes: Iterable[Downtime], after_ms: TimestampMs) -> list[Downtime]:
    """Return the parts of downtimes after a moment, in order; what two of them have in common is in one."""
    missed: list[Downtime] = []
    for since_ms, until_ms in sorted(downtimes):
        if until_ms > after_ms:
            begin_ms = max(since_ms, missed[-1].until_ms if missed else after_ms)
            missed.append(Downtime(begin_ms, max(begin_ms, until_ms)))
    return missed


def _together(downtimes: Sequence[Downtime]) -> Downtime:
    """Return one downtime as long as all of them, up to the end of the last."""
    until_ms = downtimes[-1].until_ms
    length_ms = sum(downtime.until_ms - downtime.since_ms for downtime in downtimes)
    return Downtime(TimestampMs(until_ms - length_ms), until_ms)
