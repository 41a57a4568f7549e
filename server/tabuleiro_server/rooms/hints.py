"""Hints in progress: computed beside everything else, then noted in the room and answered.

Each player has at most one; it ends when the position moves on. `suggest` computes it; the room decides who may
have it.
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
from tabuleiro_server.rooms.live_room import LiveRoom, RoomUnloadedError
from tabuleiro_server.timers import time_limit

log = structlog.get_logger(__name__)

HINT_LIMIT_S: Final = 10.0
"""Time limit for computing a hint; clients wait for an answer no longer than 15 seconds."""

Suggest = Callable[[LiveRoom, AccountId], Awaitable[HintGiven]]
Answer = Callable[[HintGiven | CommandError], None]

_Place = tuple[int, int, int]
"""Match number, ply and revision of the position that a hint is about."""


@dataclass(frozen=True, slots=True)
class _Pending:
    code: RoomCode
    place: _Place
    answer: Answer
    task: asyncio.Task[None]


class Hints:
    """The hints in progress, by account."""

    def __init__(self, suggest: Suggest, now_ms: Callable[[], TimestampMs], limit_s: float = HINT_LIMIT_S) -> None:
        self._suggest = suggest
        self._now_ms = now_ms
        self._limit_s = limit_s
        self._pending: dict[AccountId, _Pending] = {}

    def start(self, room: LiveRoom, command: TakeHint, answer: Answer, is_wanted: Callable[[], bool]) -> None:
        """Start to compute a hint.

        Args:
            room: The room of the match.
            command: The command that notes the hint.
            answer: Called once, with the hint when it is stored, or with the reason for having none.
            is_wanted: Asked before the hint is stored; if it returns False, the hint is dropped.

        Raises:
            CommandError: The hint is refused at once.
        """
        if command.account in self._pending:
            raise CommandError(ErrorCode.BUSY, "your last hint is still being thought out")
        # Nothing is stored yet: a player who may not have a hint need not wait for it.
        decide(room.state, command, self._now_ms())
        task = asyncio.create_task(self._give(room, command, answer, is_wanted), name=f"hint in {room.state.code}")
        place = (command.match, command.ply, command.revision)
        pending = _Pending(room.state.code, place, answer, task)
        self._pending[command.account] = pending
        task.add_done_callback(lambda _: self._forget(command.account, pending))

    def consider(self, room: LiveRoom) -> None:
        """End hints of a changed room that are about another position than the present one."""
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

    async def _give(
        self, room: LiveRoom, command: TakeHint, answer: Answer, is_wanted: Callable[[], bool]
    ) -> None:
        task = asyncio.current_task()
        assert task is not None

        def acknowledge(_: RoomState) -> None:
            # A request that was refused meanwhile gets no second answer.
            if not task.cancelling():
                self._pending.pop(command.account, None)
                answer(given)

        try:
            async with time_limit(self._limit_s):
                given = await self._suggest(room, command.account)
            if is_wanted():
                await room.perform(command, acknowledge)
        except CommandError as error:
            self._pending.pop(command.account, None)
            answer(error)
        except (BotError, TimeoutError, RoomUnloadedError) as error:
            log.info("no hint", room=room.state.code, reason=str(error) or type(error).__name__)
            self._pending.pop(command.account, None)
            answer(CommandError(ErrorCode.BUSY, "all bots are busy; try again in a moment"))
