"""Hints and explanations in progress: computed beside everything else, then noted in the room and answered.

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
from tabuleiro.protocol.messages import Explanation, HintGiven
from tabuleiro_server.room.commands import Explain, TakeHint
from tabuleiro_server.room.decide import decide
from tabuleiro_server.room.playing import HINT_PAUSE_MS
from tabuleiro_server.rooms.live_room import LiveRoom, RoomUnloadedError
from tabuleiro_server.timers import time_limit

log = structlog.get_logger(__name__)

HINT_LIMIT_S: Final = 10.0
"""Time limit for computing a hint; clients wait for an answer no longer than 15 seconds."""

Wish = TakeHint | Explain
Suggest = Callable[[LiveRoom, Wish], Awaitable[HintGiven | Explanation]]
Answer = Callable[[HintGiven | Explanation | CommandError], None]

_Place = tuple[int, int, int]
"""Match number, ply and revision of the position that a hint is about; none after the end of the match."""


@dataclass(frozen=True, slots=True)
class _Pending:
    code: RoomCode
    place: _Place | None
    answer: Answer
    is_wanted: Callable[[], bool]
    task: asyncio.Task[None]


class Hints:
    """The hints in progress, explanations among them, by account.

    Each is answered once, whatever becomes of its room or its player.
    """

    def __init__(self, suggest: Suggest, now_ms: Callable[[], TimestampMs], limit_s: float = HINT_LIMIT_S) -> None:
        self._suggest = suggest
        self._now_ms = now_ms
        self._limit_s = limit_s
        self._pending: dict[AccountId, _Pending] = {}
        self._tasks: set[asyncio.Task[None]] = set()
        self._explained_at_ms: dict[AccountId, TimestampMs] = {}
        """The time of the last explanation that no room noted, by account."""
        self._is_stopping = False

    def start(
        self,
        room: LiveRoom,
        command: Wish,
        answer: Answer,
        is_wanted: Callable[[], bool],
        pause_ms: int = HINT_PAUSE_MS,
    ) -> None:
        """Start to compute a hint.

        Args:
            room: The room of the match.
            command: The command that notes the hint.
            answer: Called once, with the hint when it is stored, or with the reason for having none.
            is_wanted: Returns False once the player has left the room; the hint is refused then.
            pause_ms: The shortest time between two explanations that the room does not note.

        Raises:
            CommandError: The hint is refused at once.
        """
        if self._is_stopping:
            raise _stopping()
        if command.account in self._pending:
            raise CommandError(ErrorCode.BUSY, "your last hint is still being thought out")
        # Nothing is stored yet: a player who may not have a hint need not wait for it.
        if not decide(room.state, command, self._now_ms()):
            self._note_explanation(command.account, pause_ms)
        task = asyncio.create_task(self._give(room, command, answer, is_wanted), name=f"hint in {room.state.code}")
        self._tasks.add(task)
        task.add_done_callback(self._tasks.discard)
        pending = _Pending(room.state.code, _place(room), answer, is_wanted, task)
        self._pending[command.account] = pending

    def _note_explanation(self, account: AccountId, pause_ms: int) -> None:
        """Note an explanation. Raises: CommandError, limit-reached, if the last one was just now."""
        now_ms = self._now_ms()
        recent = {who: at_ms for who, at_ms in self._explained_at_ms.items() if at_ms <= now_ms < at_ms + pause_ms}
        if account in recent:
            seconds = pause_ms // 1000
            message = f"you had an explanation just now: at most one in {seconds} seconds"
            raise CommandError(ErrorCode.LIMIT_REACHED, message)
        self._explained_at_ms = {**recent, account: now_ms}

    def consider(self, room: LiveRoom) -> None:
        """End hints of a changed room that nobody waits for there, or about another position than the present."""
        if not self._pending:
            return
        place = _place(room)
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

    async def _give(self, room: LiveRoom, command: Wish, answer: Answer, is_wanted: Callable[[], bool]) -> None:
        try:
            async with time_limit(self._limit_s):
                given = await self._suggest(room, command)
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


def _place(room: LiveRoom) -> _Place | None:
    match = room.state.match
    if match is None or match.to_move is None:
        return None
    return match.number, len(match.actions), match.revision


def _busy() -> CommandError:
    return CommandError(ErrorCode.BUSY, "all bots are busy; try again in a moment")


def _stopping() -> CommandError:
    return CommandError(ErrorCode.SHUTTING_DOWN, "the server stops")


def _not_there(code: RoomCode) -> CommandError:
    return CommandError(ErrorCode.NOT_WATCHING, f"you left room {code} before the hint was found")
