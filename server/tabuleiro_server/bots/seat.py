"""Bot seats: whenever a bot is to move, have it thought about and send the actions as any player would."""

from __future__ import annotations

import asyncio
import secrets
from collections.abc import Callable

import structlog

from tabuleiro.errors import BotError, CommandError
from tabuleiro.ids import RoomCode, TimestampMs
from tabuleiro.protocol.codes import ErrorCode
from tabuleiro.protocol.messages import BotThought
from tabuleiro_server.bots.pool import BotPool
from tabuleiro_server.bots.request import ThinkRequest
from tabuleiro_server.bots.time_budget import time_budget
from tabuleiro_server.room.commands import Play
from tabuleiro_server.room.state import Match, RoomState, bot_account
from tabuleiro_server.rooms.room_task import RoomTask, RoomUnloadedError

log = structlog.get_logger(__name__)

Moment = tuple[int, int, int]
"""Match number, ply and revision: what a thought is about."""


class BotSeats:
    """Moves for the bots of all rooms. At most one thought a room is under way.

    A move that the disk refuses is tried again every ``retry_ms`` milliseconds.
    """

    def __init__(self, pool: BotPool, now_ms: Callable[[], TimestampMs], retry_ms: int) -> None:
        self._pool = pool
        self._now_ms = now_ms
        self._retry_ms = retry_ms
        self._thoughts: dict[RoomCode, tuple[Moment, asyncio.Task[None]]] = {}
        self._misses: dict[RoomCode, int] = {}
        """For each room, how many answers in succession did not come in time."""
        self._is_finishing = False

    def consider(self, room: RoomTask) -> None:
        """Look at a room that has changed: start thinking if a bot is to move, stop if it is no longer."""
        code, state = room.state.code, room.state
        moment = _moment(state)
        running = self._thoughts.get(code)
        if running is not None:
            if running[0] == moment:
                return
            running[1].cancel()
            del self._thoughts[code]
        if moment is not None and not self._is_finishing:
            task = asyncio.create_task(self._move(room, moment), name=f"bot in {code}")
            self._thoughts[code] = (moment, task)
            task.add_done_callback(lambda done: self._forget(code, done))

    async def finish(self) -> None:
        """Start no more thoughts, and wait until those under way are played."""
        self._is_finishing = True
        while self._thoughts:
            await asyncio.wait([task for _, task in self._thoughts.values()])

    async def stop(self) -> None:
        """End all thoughts; what is still to be moved is taken up again after the next start."""
        self._is_finishing = True
        tasks = [task for _, task in self._thoughts.values()]
        for task in tasks:
            task.cancel()
        await asyncio.gather(*tasks, return_exceptions=True)

    def _forget(self, code: RoomCode, task: asyncio.Task[None]) -> None:
        running = self._thoughts.get(code)
        if running is not None and running[1] is task:
            del self._thoughts[code]

    async def _move(self, room: RoomTask, moment: Moment) -> None:
        match = room.state.match
        assert match is not None
        assert match.to_move is not None
        try:
            room.set_thinking(BotThought(match.to_move, self._now_ms()))
            code = room.state.code
            misses_count = self._misses.pop(code, 0)
            budget = time_budget(
                match.time_control,
                match.clock,
                match.to_move,
                self._now_ms(),
                crowd=self._pool.crowd,
                misses_count=misses_count,
            )
            request = _request(room.state, match, budget.think_ms)
            thought = await self._pool.think(request, budget.patience_ms)
            if thought.is_fallback:
                self._misses[code] = misses_count + 1
                log.warning("bot gave no answer, a quick move was made", room=room.state.code)
            command = Play(
                bot_account(match.to_move),
                *moment[:2],
                thought.actions,
                moment[2],
                is_makeshift=thought.is_fallback,
            )
            await self._play(room, command)
        except RoomUnloadedError:
            log.info("bot's room was unloaded", room=room.state.code)
        except (BotError, CommandError) as error:
            log.error("bot did not move", room=room.state.code, reason=str(error))

    async def _play(self, room: RoomTask, command: Play) -> None:
        """Have the move stored; what was thought is kept while the disk refuses.

        Raises: CommandError, for a disk that refuses only when the server stops; RoomUnloadedError.
        """
        while True:
            try:
                await room.perform(command)
                return
            except CommandError as error:
                if error.code != ErrorCode.STORAGE_UNAVAILABLE or self._is_finishing:
                    raise
            await asyncio.sleep(self._retry_ms / 1000)


def _moment(state: RoomState) -> Moment | None:
    """The moment at which a bot has to move; ``None`` when none has."""
    if not state.is_bot_to_move or state.match is None:
        return None
    return state.match.number, len(state.match.actions), state.match.revision


def _request(state: RoomState, match: Match, budget_ms: int | None) -> ThinkRequest:
    assert match.to_move is not None
    seat = state.seats[match.to_move]
    level = seat.level or seat.stand_in
    assert level is not None
    return ThinkRequest(
        room=state.code,
        game=state.game.name,
        options=dict(state.game.options),
        actions=list(match.actions),
        level=level,
        seed=secrets.randbelow(2**32),
        budget_ms=budget_ms,
    )
