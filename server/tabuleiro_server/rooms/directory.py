"""Which rooms there are: made here, found by their code, loaded from disk when they are touched."""

from __future__ import annotations

import asyncio
import secrets
from collections.abc import Callable

import structlog

from tabuleiro.errors import CommandError, DamagedRoomError, StoreError
from tabuleiro.ids import ROOM_CODE_LENGTH, ROOM_CODE_LETTERS, RoomCode, Seq, TimestampMs
from tabuleiro.protocol.events import SequencedEvent
from tabuleiro_server.config import Config
from tabuleiro_server.room.commands import OpenRoom, Resume
from tabuleiro_server.room.decide import open_room
from tabuleiro_server.room.state import RoomState
from tabuleiro_server.rooms.journal import Journal
from tabuleiro_server.rooms.refusals import code_of_room, damaged, no_such_room, unavailable
from tabuleiro_server.rooms.room_task import RoomContext, RoomTask

log = structlog.get_logger(__name__)


class Directory:
    """The rooms in memory, by code, and the way to those on disk.

    ``last_alive_ms`` is when the server that ran before this one was last known to run.
    """

    def __init__(
        self,
        journal: Journal,
        config: Config,
        now_ms: Callable[[], TimestampMs],
        on_change: Callable[[RoomTask], None],
        last_alive_ms: TimestampMs,
    ) -> None:
        self._started_ms = now_ms()
        self._last_alive_ms = last_alive_ms
        self._context = RoomContext(journal, config, now_ms, on_change, self._drop)
        self._rooms: dict[RoomCode, RoomTask] = {}
        self._loading: dict[RoomCode, asyncio.Lock] = {}
        self._damaged: set[RoomCode] = set()

    @property
    def rooms_count(self) -> int:
        """Rooms in memory."""
        return len(self._rooms)

    async def new_code(self) -> RoomCode:
        """Draw a room code that was never used. Raises: CommandError when the storage cannot tell."""
        while True:
            letters = (secrets.choice(ROOM_CODE_LETTERS) for _ in range(ROOM_CODE_LENGTH))
            code = RoomCode("".join(letters))
            try:
                if code not in self._rooms and not await self._context.journal.exists(code):
                    return code
            except StoreError as error:
                raise unavailable(error) from error

    async def open(self, command: OpenRoom) -> RoomTask:
        """Make a room. Raises: CommandError when it is refused or cannot be stored."""
        now_ms = self._context.now_ms()
        events = tuple(
            SequencedEvent(Seq(number), now_ms, event) for number, event in enumerate(open_room(command), start=1)
        )
        try:
            appended = self._context.journal.append(None, events)
            await appended.stored
        except StoreError as error:
            raise unavailable(error) from error
        room = self._started(appended.room, None)
        self._context.on_change(room)
        return room

    def loaded(self, text: str) -> RoomTask | None:
        """The room of this code if it is in memory and the code is written as usual; ``None``: :meth:`find` it."""
        return self._rooms.get(RoomCode(text))

    async def find(self, text: str) -> RoomTask:
        """The room of this code. Raises: CommandError when there is none, or it cannot be loaded."""
        room = self.loaded(text)
        if room is not None:
            return room
        code = code_of_room(text)
        room = self._rooms.get(code)
        if room is not None:
            return room
        lock = self._loading.setdefault(code, asyncio.Lock())
        try:
            async with lock:
                return self._rooms.get(code) or await self._load(code)
        finally:
            if not lock.locked():
                self._loading.pop(code, None)

    async def wake_due_rooms(self) -> None:
        """Load the rooms in which something has to be done by now, or may have to be. Raises: StoreError."""
        for code in await self._context.journal.due_rooms(self._context.now_ms()):
            if code in self._damaged or self._sees_to_itself(code):
                continue
            try:
                room = await self.find(code)
            except CommandError as error:
                log.warning("room not woken", room=code, reason=str(error))
            else:
                if not room.is_damaged:
                    self._context.on_change(room)

    def _sees_to_itself(self, code: RoomCode) -> bool:
        """Whether the room is in memory, and wants nobody else to do anything."""
        room = self._rooms.get(code)
        return room is not None and not room.state.is_bot_to_move

    async def stop(self) -> None:
        """End all rooms, each after the commands that wait for it."""
        await asyncio.gather(*(room.stop() for room in tuple(self._rooms.values())))

    async def _load(self, code: RoomCode) -> RoomTask:
        if code in self._damaged:
            raise damaged(code)
        try:
            state = await self._context.journal.load(code)
        except DamagedRoomError as error:
            raise self._quarantined(code) from error
        except StoreError as error:
            raise unavailable(error) from error
        except Exception as error:
            # What was stored cannot be replayed: a fault of ours that must not reach other rooms.
            raise self._quarantined(code) from error
        if state is None or state.phase == "closed":
            raise no_such_room(code)
        return self._rooms.get(code) or self._started(state, self._resumption(state))

    def _quarantined(self, code: RoomCode) -> CommandError:
        """Leave a room alone until the next start; called where an exception is at hand, which is logged."""
        self._damaged.add(code)
        log.exception("room damaged", room=code)
        return damaged(code)

    def _resumption(self, state: RoomState) -> Resume | None:
        """What a room must be told first that was last changed before this server started."""
        if state.updated_at_ms >= self._started_ms or state.phase == "finished":
            return None
        return Resume(TimestampMs(max(self._last_alive_ms, state.updated_at_ms)), self._started_ms)

    def _started(self, state: RoomState, first: Resume | None) -> RoomTask:
        room = self._rooms[state.code] = RoomTask(state, self._context, first)
        return room

    def _drop(self, room: RoomTask) -> None:
        if room.is_damaged:
            self._damaged.add(room.state.code)
        self._rooms.pop(room.state.code, None)
