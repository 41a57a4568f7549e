"""Hints under way: thought out beside everything else, then noted in the room and answered.

At most one a player; it ends when the position moves on. What to suggest is left to ``suggest``, whether a player
may have it to the room.
"""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable
from dataclasses import dataclass
from typing import Final

import structlog

from tabuleiro.errors import BotError, CommandError
from tabuleiro.ids import AccountId, RoomCode, TimestampMs
from tabuleiro.protocol.codes import ErrorCode
from tabuleiro.protocol.messages import HintGiven
from tabuleiro_server.room.commands import TakeHint
from tabuleiro_server.room.decide import decide
from tabuleiro_server.room.state import RoomState
from tabuleiro_server.rooms.room_task import RoomTask, RoomUnloadedError

log = structlog.get_logger(__name__)

HINT_LIMIT_S: Final = 10.0
"""A hint that is not thought out by then is given up; clients wait for an answer no longer than 15 seconds."""

Suggest = Callable[[RoomState], Awaitable[HintGiven]]
Answer = Callable[[HintGiven | CommandError], None]

_Place = tuple[int, int, int]
"""Match number, ply and revision: what a hint is about."""


@dataclass(frozen=True, slots=True)
class _Pending:
    code: RoomCode
    place: _Place
    answer: Answer
    task: asyncio.Task[None]


class Hints:
    """The hints that are being thought out, by account."""

    def __init__(self, suggest: Suggest, now_ms: Callable[[], TimestampMs], limit_s: float = HINT_LIMIT_S) -> None:
        self._suggest = suggest
        self._now_ms = now_ms
        self._limit_s = limit_s
        self._pending: dict[AccountId, _Pending] = {}

    def start(self, room: RoomTask, wish: TakeHint, answer: Answer, is_wanted: Callable[[], bool]) -> None:
        """Begin to think about a hint; ``answer`` is called once, when the hint is stored or it came to nothing.

        It is dropped when it is no longer ``is_wanted`` in the end.

        Raises: CommandError when it is refused at once.
        """
        if wish.account in self._pending:
            raise CommandError(ErrorCode.BUSY, "your last hint is still being thought out")
        # Nothing is stored yet: whoever may not have a hint is not to wait for it.
        decide(room.state, wish, self._now_ms())
        task = asyncio.create_task(self._give(room, wish, answer, is_wanted), name=f"hint in {room.state.code}")
        place = (wish.match, wish.ply, wish.revision)
        pending = _Pending(room.state.code, place, answer, task)
        self._pending[wish.account] = pending
        task.add_done_callback(lambda _: self._forget(wish.account, pending))

    def consider(self, room: RoomTask) -> None:
        """Look at a room that has changed: hints for a position that is no longer there end."""
        if not self._pending:
            return
        match = room.state.match
        is_over = match is None or match.to_move is None
        place = None if is_over or match is None else (match.number, len(match.actions), match.revision)
        for account, pending in tuple(self._pending.items()):
            if pending.code == room.state.code and pending.place != place:
                self._end(account, CommandError(ErrorCode.STALE_PLY, "the position has moved on: ask again"))

    async def stop(self) -> None:
        """End all hints."""
        tasks = [pending.task for pending in self._pending.values()]
        for account in tuple(self._pending):
            self._end(account, CommandError(ErrorCode.SHUTTING_DOWN, "the server stops"))
        await asyncio.gather(*tasks, return_exceptions=True)

    def _end(self, account: AccountId, refusal: CommandError) -> None:
        pending = self._pending.pop(account)
        pending.task.cancel()
        pending.answer(refusal)

    def _forget(self, account: AccountId, pending: _Pending) -> None:
        if self._pending.get(account) is pending:
            del self._pending[account]

    async def _give(self, room: RoomTask, wish: TakeHint, answer: Answer, is_wanted: Callable[[], bool]) -> None:
        task = asyncio.current_task()
        assert task is not None

        def acknowledge(_: RoomState) -> None:
            # Whoever was told already that it came to nothing is told nothing more.
            if not task.cancelling():
                self._pending.pop(wish.account, None)
                answer(given)

        try:
            async with asyncio.timeout(self._limit_s):
                given = await self._suggest(room.state)
            if is_wanted():
                await room.perform(wish, acknowledge)
        except CommandError as error:
            self._pending.pop(wish.account, None)
            answer(error)
        except (BotError, TimeoutError, RoomUnloadedError) as error:
            log.info("no hint", room=room.state.code, reason=str(error) or type(error).__name__)
            self._pending.pop(wish.account, None)
            answer(CommandError(ErrorCode.BUSY, "the computer players are busy: ask again in a while"))
