"""Bots at the table: what they think is played, and what was no thought of theirs is told as such."""

from __future__ import annotations

import asyncio
from typing import Any

import pytest

from tabuleiro.clock import Fischer
from tabuleiro.errors import StorageUnavailableError
from tabuleiro.protocol import messages
from tabuleiro.protocol.events import ActionsPlayed
from tabuleiro.protocol.messages import SeatRequest
from tabuleiro.settings import RoomSettings
from tabuleiro_server.bots.messages import ThinkRequest
from tabuleiro_server.bots.pool import Thought
from tabuleiro_server.bots.seats import BotSeats
from tests.patience import LIMIT_S

RETRY_MS = 1


class ScriptedPool:
    """A pool whose thoughts are those of the test. ``asked`` holds its requests, each with the patience for it."""

    crowd = 1.0

    def __init__(self, *thoughts: Thought) -> None:
        self.asked: list[tuple[ThinkRequest, int | None]] = []
        self._thoughts = list(thoughts)

    async def think(self, request: ThinkRequest, patience_ms: int | None = None) -> Thought:
        self.asked.append((request, patience_ms))
        return self._thoughts.pop(0)


@pytest.fixture
async def against_bot(stage: Any) -> Any:
    """Make a room in which the bot of ``pool`` has the second seat, and play ana's first turn."""

    async def make(pool: ScriptedPool, settings: RoomSettings = RoomSettings()) -> Any:
        ana = stage.client("ana")
        seats = (SeatRequest("me"), SeatRequest("bot", "random"))
        code = (await ana.create(seats=seats, settings=settings)).head.room
        await ana.play(code, 0, "a3", "a2")
        bots = BotSeats(pool, stage.clock, RETRY_MS)
        bots.consider(await stage.room(code))
        async with asyncio.timeout(LIMIT_S):
            await bots.finish()
        return ana, code

    return make


async def played_by_bot(ana: Any) -> ActionsPlayed:
    update = await ana.hear(
        lambda said: (
            isinstance(said, messages.Update)
            and any(isinstance(each.event, ActionsPlayed) and each.event.player == 1 for each in said.events)
        )
    )
    return next(each.event for each in update.events if isinstance(each.event, ActionsPlayed))


async def test_a_thought_of_the_bot_is_played(against_bot: Any) -> None:
    pool = ScriptedPool(Thought(("d2", "d3"), False, 5))
    ana, _ = await against_bot(pool)
    assert await played_by_bot(ana) == ActionsPlayed(1, 2, 1, ("d2", "d3"))
    assert [patience_ms for _, patience_ms in pool.asked] == [None]


async def test_a_turn_at_random_is_told_to_the_room(against_bot: Any) -> None:
    ana, _ = await against_bot(ScriptedPool(Thought(("d2", "d3"), True, 5)))
    assert (await played_by_bot(ana)).is_makeshift


async def test_a_bot_with_a_clock_is_waited_for_only_so_long(against_bot: Any) -> None:
    pool = ScriptedPool(Thought(("d2", "d3"), False, 5))
    await against_bot(pool, RoomSettings(time_control=Fischer(5_000, 0)))
    (request, patience_ms), *_ = pool.asked
    assert request.budget_ms is not None
    assert patience_ms is not None
    assert 0 < request.budget_ms < patience_ms < 5_000


async def test_a_move_that_the_disk_refuses_is_tried_again_without_being_thought_again(
    stage: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Symptom: a bot beside a full disk thought ten times a second, and filled the log with it."""
    pool, ana = ScriptedPool(Thought(("d2", "d3"), False, 5)), stage.client("ana")
    code = (await ana.create(seats=(SeatRequest("me"), SeatRequest("bot", "random")))).head.room
    await ana.play(code, 0, "a3", "a2")
    room = await stage.room(code)
    bots = BotSeats(pool, stage.clock, RETRY_MS)
    tries: asyncio.Queue[None] = asyncio.Queue()
    perform = room.perform

    async def counted(*values: Any) -> Any:
        tries.put_nowait(None)
        return await perform(*values)

    monkeypatch.setattr(room, "perform", counted)
    stage.store.failures[code] = StorageUnavailableError("database or disk is full")
    bots.consider(room)
    async with asyncio.timeout(LIMIT_S):
        for _ in range(3):
            await tries.get()
    bots.consider(room)
    stage.store.failures.clear()
    assert (await played_by_bot(ana)).actions == ("d2", "d3")
    assert len(pool.asked) == 1
    await bots.stop()


async def test_a_server_that_stops_does_not_wait_for_the_disk_to_take_a_bots_move(stage: Any) -> None:
    pool, ana = ScriptedPool(Thought(("d2", "d3"), False, 5)), stage.client("ana")
    code = (await ana.create(seats=(SeatRequest("me"), SeatRequest("bot", "random")))).head.room
    await ana.play(code, 0, "a3", "a2")
    stage.store.failures[code] = StorageUnavailableError("database or disk is full")
    bots = BotSeats(pool, stage.clock, RETRY_MS)
    bots.consider(await stage.room(code))
    await stage.store.refused()
    async with asyncio.timeout(LIMIT_S):
        await bots.finish()
    assert len(await stage.stored(code)) == (await stage.room(code)).state.seq
