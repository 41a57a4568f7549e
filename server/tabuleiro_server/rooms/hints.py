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
    is_wanted: Callable[[], bool]
    task: asyncio.Task[None]


class Hints:
    """The hints in progress, by account: each is answered once, whatever becomes of its room or its player."""

    def __init__(self, suggest: Suggest, now_ms: Callable[[], TimestampMs], limit_s: float = HINT_LIMIT_S) -> None:
        self._suggest = suggest
        self._now_ms = now_ms
        self._limit_s = limit_s
        self._pending: dict[AccountId, _Pending] = {}
        self._tasks: set[asyncio.Task[None]] = set()
        self._is_stopping = False

    def start(self, room: LiveRoom, command: TakeHint, answer: Answer, is_wanted: Callable[[], bool]) -> None:
        """Start to compute a hint.

        Args:
            room: The room of the match.
            command: The command that notes the hint.
            answer: Called once, with the hint when it is stored, or with the reason for having none.
            is_wanted: Returns False once the player has left the room; the hint is refused then.

        Raises:
            CommandError: The hint is refused at once.
        """
        if self._is_stopping:
            raise _stopping()
        if command.account in self._pending:
            raise CommandError(ErrorCode.BUSY, "your last hint is still being thought out")
        # Nothing is stored yet: a player who may not have a hint need not wait for it.
        decide(room.state, command, self._now_ms())
        task = asyncio.create_task(self._give(room, command, answer, is_wanted), name=f"hint in {room.state.code}")
        self._tasks.add(task)
        task.add_done_callback(self._tasks.discard)
        place = (command.match, command.ply, command.revision)
        self._pending[command.account] = _Pending(room.state.code, place, answer, is_wanted, task)

    def consider(self, room: LiveRoom) -> None:
        """End hints of a changed room that nobody waits for there, or about another position than the present."""
        if not self._pending:
            return
        match = room.state.match
        is_over = match is None or match.to_move is None
        place = None if is_over or match is None else (match.number, len(match.actions), match.revision)
        for account, pending in tuple(self._pending.items()):
            if pending.code != room.state.code:
                continue
            if not pending.is_wanted():
                self._end(account, _not_there(pending.code))
            elif pending.place != place:
                self._end(account, CommandError(ErrorCode.STALE_PLY, "the position has moved on: ask again"))

    async def stop(self) -> None:
        """End all hints, and start no others; those that are being stored are given."""
        self._is_stopping = True
        for account in tuple(self._pending):
            self._end(account, _stopping())
        await asyncio.gather(*self._tasks, return_exceptions=True)

    def _end(self, account: AccountId, refusal: CommandError) -> None:
        pending = self._pending.pop(account)
        pending.task.cancel()
        pending.answer(refusal)

    async def _give(
        self, room: LiveRoom, command: TakeHint, answer: Answer, is_wanted: Callable[[], bool]
    ) -> None:
        try:
            async with time_limit(self._limit_s):
                given = await self._suggest(room, command.account)
            # It is up to the room now: what is stored is given, whatever happens meanwhile.
            del self._pending[command.account]
            if not is_wanted():
                raise _not_there(room.state.code)
            await room.perform(command, lambda _: answer(given))
        except CommandError as error:
            self._refuse(command.account, answer, error)
        except (BotError, TimeoutError, RoomUnloadedError) as error:
            log.info("no hint", room=room.state.code, reason=str(error) or type(error).__name__)
            self._refuse(command.account, answer, _busy())
        except Exception:
            # A fault of ours: the player waits for an answer all the same.
            log.exception("hint failed", room=room.state.code)
            self._refuse(command.account, answer, _busy())

    def _refuse(self, account: AccountId, answer: Answer, refusal: CommandError) -> None:
        pending = self._pending.get(account)
        if pending is not None and pending.task is asyncio.current_task():
            del self._pending[account]
        answer(refusal)


def _busy() -> CommandError:
    return CommandError(ErrorCode.BUSY, "all bots are busy; try again in a moment")


def _stopping() -> CommandError:
    return CommandError(ErrorCode.SHUTTING_DOWN, "the server stops")


def _not_there(code: RoomCode) -> CommandError:
    return CommandError(ErrorCode.NOT_WATCHING, f"you left room {code} before the hint was found")
