"""The bots in rooms: turns for the seats they have, and hints for players, both chosen by the pool.

A bot must not lose on time, whatever else its machine does: it thinks for a part of its remaining time, and some
of that is always kept for the way to the room and a slow disk.
"""

from __future__ import annotations

import asyncio
import secrets
from collections.abc import Callable
from dataclasses import dataclass
from typing import Final

import msgspec
import structlog

from tabuleiro.clock import ClockState, NoClock, TimeControl, player_clock_at
from tabuleiro.errors import BotError, CommandError
from tabuleiro.ids import AccountId, Player, RoomCode, TimestampMs
from tabuleiro.protocol.codes import ErrorCode
from tabuleiro.protocol.messages import BotThought, Explanation, HintGiven
from tabuleiro_server.bots.algorithms import MasterLevel
from tabuleiro_server.bots.analysis import HINT_BUDGET_MS
from tabuleiro_server.bots.explanation import level_to_explain
from tabuleiro_server.bots.levels import find_level, level_names
from tabuleiro_server.bots.messages import ThinkRequest
from tabuleiro_server.bots.pool import BotPool
from tabuleiro_server.bots.queue import Claim, Rank
from tabuleiro_server.room.commands import Explain, Play, TakeHint
from tabuleiro_server.room.state import Match, RoomState, bot_account, first_turn_due_ms
from tabuleiro_server.rooms.live_room import LiveRoom, RoomUnloadedError

MARGIN_MS: Final = 500
"""The time that is kept on a clock; with less than four times as much, a quarter."""

TURNS_COUNT: Final = 90
"""A bot thinks for one part of so many of its spare time: the turns of a player in a long match of Minefield."""

PATIENCE_COUNT: Final = 8
"""The wait for an answer, the queue included, is at most one part of so many."""

MISSES_MAX_COUNT: Final = 3
"""Each late answer in succession halves the wait; after so many..."""

PROBE_COUNT: Final = 4
"""...workers are asked at one turn of so many: they are overloaded, and a request takes from the others."""

AT_ONCE_BELOW_MS: Final = 1_000
"""With less on the clock, a turn is made at once: a slow disk takes its part of every later turn."""


UNHURRIED_MS: Final = 6_000
"""Without a clock the turns that wait for the same worker share so much time: a crowd is served sooner."""

UNHURRIED_MIN_MS: Final = 100
"""The least of it for one turn."""

UNCROWDED: Final = 2.0
"""With no more requests than this for each worker, levels have as long as they want."""

WAITING_MAX_COUNT: Final = 20
"""With people at more addresses than this waiting for bots, hints are refused: turns come first."""


@dataclass(frozen=True, slots=True)
class TimeBudget:
    """The time to think about a turn, and the longest wait for the answer, in milliseconds; ``None``: no limit.

    A patience of 0 asks for a turn at once.
    """

    think_ms: int | None = None
    patience_ms: int | None = None


def time_budget(
    control: TimeControl,
    clock: ClockState,
    player: Player,
    now_ms: int,
    *,
    crowd: float = 1.0,
    misses_count: int = 0,
    until_ms: int | None = None,
) -> TimeBudget:
    """Return the budget that the clock of ``player``, who is to move, and the crowd at the workers allow.

    ``crowd`` is the number of requests for each worker, this one included: all of them wait for each other, so
    each gets less. ``misses_count`` is the number of late answers in succession. ``until_ms`` ends the time for a
    first turn.
    """
    if isinstance(control, NoClock):
        share_ms = max(int(UNHURRIED_MS / max(crowd, 1.0)), UNHURRIED_MIN_MS)
        return TimeBudget(None if crowd <= UNCROWDED else share_ms)
    left_ms = player_clock_at(control, clock, player, now_ms).stage_ms
    if until_ms is not None:
        left_ms = min(left_ms, until_ms - now_ms)
    is_skipped = misses_count >= MISSES_MAX_COUNT and misses_count % PROBE_COUNT != 0
    if left_ms < AT_ONCE_BELOW_MS or is_skipped:
        return TimeBudget(1, 0)
    spare_ms = left_ms - min(MARGIN_MS, left_ms // 4)
    # A seldom request may take longer: otherwise no bot would find out that the workers have time again.
    is_probe = misses_count >= MISSES_MAX_COUNT
    patience_ms = spare_ms // PATIENCE_COUNT >> (1 if is_probe else misses_count)
    think_ms = min(spare_ms / TURNS_COUNT / max(crowd, 1.0), patience_ms / 2)
    return TimeBudget(max(int(think_ms), 1), max(patience_ms, 1))


KERNELS_WAIT_SHARE: Final = 3
"""The first turn of ``master`` waits for its kernels at most for one part of so many of its clock..."""

KERNELS_WAIT_MAX_MS: Final = 20_000
"""...and for so long at most."""


def kernels_wait_ms(
    control: TimeControl,
    clock: ClockState,
    player: Player,
    now_ms: int,
    *,
    until_ms: int | None = None,
    think_ms: int | None = None,
) -> int:
    """Return the wait for kernels that the first turn of ``player`` may take, in milliseconds.

    The arguments are those of :func:`time_budget`. It gives the time to think afterwards, ``think_ms``, a part of
    which is a wait too. All of it leaves enough of the clock for the longest patience.
    """
    if isinstance(control, NoClock):
        return KERNELS_WAIT_MAX_MS
    left_ms = player_clock_at(control, clock, player, now_ms).stage_ms
    if until_ms is not None:
        left_ms = min(left_ms, until_ms - now_ms)
    return max(min(left_ms // KERNELS_WAIT_SHARE - (think_ms or 0), KERNELS_WAIT_MAX_MS), 0)


log = structlog.get_logger(__name__)

Moment = tuple[int, int, int]
"""Match number, ply and revision: the position of a request."""


class BotSeats:
    """The moves of the bots of all rooms, with at most one request a room at a time.

    A move that the disk refuses is tried again every ``retry_ms`` milliseconds. ``spend_turn`` counts a turn of
    bots among themselves for an account and an address, and returns the seconds to wait before it is made.
    """

    def __init__(
        self,
        pool: BotPool,
        now_ms: Callable[[], TimestampMs],
        retry_ms: int,
        spend_turn: Callable[[AccountId, str], float] = lambda account, address: 0.0,
    ) -> None:
        self._pool = pool
        self._spend_turn = spend_turn
        self._now_ms = now_ms
        self._retry_ms = retry_ms
        self._thoughts: dict[RoomCode, tuple[Moment, Claim, asyncio.Task[None]]] = {}
        self._misses: dict[RoomCode, int] = {}
        """The number of late answers in succession, by room."""
        self._is_finishing = False

    def consider(self, room: LiveRoom) -> None:
        """Handle a change of a room: start to think if a bot is to move, stop if it no longer is.

        A thought that somebody has come for begins again, among those that people wait for.
        """
        code, state = room.state.code, room.state
        moment = _moment(state)
        running = self._thoughts.get(code)
        if running is not None:
            if running[0] == moment and (running[1].rank <= _claim(room).rank or self._is_finishing):
                return
            self._cancel(code)
        if moment is not None and not self._is_finishing:
            claim = _claim(room)
            task = asyncio.create_task(self._move(room, moment, claim), name=f"bot in {code}")
            self._thoughts[code] = (moment, claim, task)
            task.add_done_callback(lambda done: self._note_done(code, done))

    def forget(self, room: LiveRoom) -> None:
        """Stop to think for a room that has left memory."""
        self._cancel(room.state.code)
        self._misses.pop(room.state.code, None)

    def _cancel(self, code: RoomCode) -> None:
        running = self._thoughts.pop(code, None)
        if running is not None:
            running[2].cancel()

    async def finish(self) -> None:
        """Start no more requests, and wait until the current ones are played that people wait for."""
        self._is_finishing = True
        for code, (_, claim, _) in tuple(self._thoughts.items()):
            if claim.rank is not Rank.PLAYED:
                self._cancel(code)
        while self._thoughts:
            await asyncio.wait([task for *_, task in self._thoughts.values()])

    async def stop(self) -> None:
        """Cancel all requests; the next start of the server takes them up again."""
        self._is_finishing = True
        tasks = [task for *_, task in self._thoughts.values()]
        for task in tasks:
            task.cancel()
        await asyncio.gather(*tasks, return_exceptions=True)

    def _note_done(self, code: RoomCode, task: asyncio.Task[None]) -> None:
        running = self._thoughts.get(code)
        if running is not None and running[2] is task:
            del self._thoughts[code]

    async def _move(self, room: LiveRoom, moment: Moment, claim: Claim) -> None:
        match = room.state.match
        assert match is not None
        assert match.to_move is not None
        try:
            room.set_thinking(BotThought(match.to_move, self._now_ms()))
            code = room.state.code
            misses_count = self._misses.pop(code, 0)
            now_ms, until_ms = self._now_ms(), first_turn_due_ms(room.state)
            crowd = self._pool.crowd(claim)
            budget = time_budget(
                match.time_control,
                match.clock,
                match.to_move,
                now_ms,
                crowd=crowd,
                misses_count=misses_count,
                until_ms=until_ms,
            )
            seat = room.state.seats[match.to_move]
            level = seat.level or seat.stand_in
            assert level is not None
            request, patience_ms = _request(room.state, match, level, budget.think_ms), budget.patience_ms
            is_first = match.to_move not in match.movers
            if is_first and crowd <= UNCROWDED and patience_ms != 0 and _waits_for_kernels(room.state, level):
                wait_ms = kernels_wait_ms(
                    match.time_control,
                    match.clock,
                    match.to_move,
                    now_ms,
                    until_ms=until_ms,
                    think_ms=budget.think_ms,
                )
                request = msgspec.structs.replace(request, kernels_wait_ms=wait_ms)
                patience_ms = None if patience_ms is None else patience_ms + wait_ms
            thought = await self._pool.think(request, patience_ms, claim)
            if thought.is_fallback:
                self._misses[code] = misses_count + 1
                tell = log.warning if claim.rank is Rank.PLAYED else log.debug
                tell("bot gave no answer, a quick move was made", room=room.state.code)
            if claim.rank is not Rank.PLAYED:
                wait_s = self._spend_turn(claim.account, claim.address)
                await asyncio.sleep(wait_s if isinstance(match.time_control, NoClock) else 0)
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

    async def _play(self, room: LiveRoom, command: Play) -> None:
        """Have the move stored; try again as long as the disk refuses it.

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
    """Return the moment at which a bot has to move; ``None`` if none has."""
    if not state.is_bot_to_move or state.match is None:
        return None
    return state.match.number, len(state.match.actions), state.match.revision


def _request(
    state: RoomState, match: Match, level: str, budget_ms: int | None, is_hint: bool = False
) -> ThinkRequest:
    return ThinkRequest(
        room=state.code,
        game=state.game.name,
        options=dict(state.game.options),
        actions=list(match.actions),
        level=level,
        seed=secrets.randbelow(2**32),
        budget_ms=budget_ms,
        is_hint=is_hint,
    )


def _waits_for_kernels(state: RoomState, level: str) -> bool:
    return isinstance(find_level(state.game.name, level), MasterLevel)


def _claim(room: LiveRoom) -> Claim:
    """Return the claim of a bot's turn: that of a player who is here, or else of the host or a watcher."""
    state, here = room.state, room.subscribers
    accounts = here.accounts()
    players = [seat.account for seat in state.seats if seat.kind == "person" and seat.account in accounts]
    account = players[0] if players else state.host if state.host in accounts else min(accounts, default=None)
    if account is None:
        return Claim(Rank.ALONE, "", state.host)
    return Claim(Rank.PLAYED if players else Rank.WATCHED, here.address_of(account), account)


async def advise(pool: BotPool, room: LiveRoom, wish: TakeHint | Explain) -> HintGiven | Explanation:
    """Have ``pool`` choose the best turn for the player to move, or explain a position as a level sees it.

    Raises: BotError when there is no match, the workers are overloaded, or they give no answer; CommandError for
    a level that cannot value the position.
    """
    match = room.state.match
    if match is None:
        raise BotError("there is no match to give a hint in")
    if pool.waiting_addresses_count > WAITING_MAX_COUNT:
        raise BotError("too many people wait for bots")
    claim = Claim(Rank.PLAYED, room.subscribers.address_of(wish.account), wish.account)
    if isinstance(wish, Explain):
        return await _explain(pool, room.state, match, wish, claim)
    level = level_names(room.state.game.name)[-1]
    request = _request(room.state, match, level, HINT_BUDGET_MS, is_hint=True)
    thought = await pool.think(request, claim=claim)
    if thought.is_fallback or thought.evaluation is None:
        raise BotError("the workers gave no answer")
    value = round(thought.evaluation.value, 4)
    return HintGiven(thought.actions, value, thought.evaluation.is_proven, thought.evaluation.turns_to_end)


async def _explain(pool: BotPool, state: RoomState, match: Match, wish: Explain, claim: Claim) -> Explanation:
    playing = next((seat.level for seat in state.seats if seat.level is not None), None)
    level = wish.level or playing or level_to_explain(state.game.name)
    request = msgspec.structs.replace(
        _request(state, match, level, HINT_BUDGET_MS),
        actions=list(match.actions[: wish.ply]),
        explained_count=wish.count,
    )
    thought = await pool.think(request, claim=claim)
    if thought.problem:
        raise CommandError(ErrorCode.UNKNOWN_LEVEL, thought.problem)
    if thought.explanation is None:
        raise BotError("the workers gave no answer")
    return thought.explanation
