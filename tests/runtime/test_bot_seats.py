"""Bots at the table: what they think is played, and what was no thought of theirs is told as such."""

from __future__ import annotations

import asyncio
from typing import Any

import pytest

from tabuleiro.clock import Fischer
from tabuleiro.protocol import messages
from tabuleiro.protocol.events import ActionsPlayed
from tabuleiro.protocol.messages import SeatRequest
from tabuleiro.protocol.settings import RoomSettings
from tabuleiro_server.bots.pool import Thought
from tabuleiro_server.bots.request import ThinkRequest
from tabuleiro_server.bots.seat import BotSeats


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
        bots = BotSeats(pool, stage.clock)
        bots.consider(await stage.room(code))
        async with asyncio.timeout(30):
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
