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
from tabuleiro_server.bots.queue import Claim, Rank
from tabuleiro_server.bots.seats import BotSeats
from tests.patience import LIMIT_S

RETRY_MS = 1


class ScriptedPool:
    """A pool whose thoughts are those of the test. ``asked`` holds its requests, each with the patience for it."""

    def __init__(self, *thoughts: Thought) -> None:
        self.asked: list[tuple[ThinkRequest, int | None]] = []
        self.claims: list[Claim] = []
        self.given_up_count = 0
        self.news: asyncio.Queue[None] = asyncio.Queue()
        self._thoughts = list(thoughts)

    def crowd(self, claim: Claim) -> float:
        return 1.0

    async def think(self, request: ThinkRequest, patience_ms: int | None, claim: Claim) -> Thought:
        """Return the next thought; without any, think until cancelled."""
        self.asked.append((request, patience_ms))
        self.claims.append(claim)
        self.news.put_nowait(None)
        try:
            return self._thoughts.pop(0) if self._thoughts else await asyncio.Future()
        except asyncio.CancelledError:
            self.given_up_count += 1
            raise


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


TWO_BOTS = (SeatRequest("bot", "random"), SeatRequest("bot", "random"))


async def thinks(pool: ScriptedPool) -> None:
    """Wait until one turn more is asked for."""
    await asyncio.wait_for(pool.news.get(), LIMIT_S)


async def test_a_turn_goes_on_the_account_of_the_player_who_waits_for_it(stage: Any) -> None:
    pool, ana, rui = ScriptedPool(), stage.client("ana", "192.0.2.7"), stage.client("rui", "192.0.2.8")
    code = (await ana.create(seats=(SeatRequest("me"), SeatRequest("bot", "random")))).head.room
    await rui.watch(code)
    await ana.play(code, 0, "a3", "a2")
    bots = BotSeats(pool, stage.clock, RETRY_MS)
    bots.consider(await stage.room(code))
    await thinks(pool)
    assert pool.claims == [Claim(Rank.PLAYED, "192.0.2.7", ana.account)]
    await bots.stop()


async def test_a_turn_among_bots_goes_on_the_account_of_their_host_or_of_somebody_who_watches(stage: Any) -> None:
    pool, ana, rui = ScriptedPool(), stage.client("ana", "192.0.2.7"), stage.client("rui", "192.0.2.8")
    code = (await ana.create(seats=TWO_BOTS)).head.room
    await rui.watch(code)
    room = await stage.room(code)
    for _ in range(2):
        bots = BotSeats(pool, stage.clock, RETRY_MS)
        bots.consider(room)
        await thinks(pool)
        await bots.stop()
        room.dismiss(ana.session)
    assert pool.claims == [
        Claim(Rank.WATCHED, "192.0.2.7", ana.account),
        Claim(Rank.WATCHED, "192.0.2.8", rui.account),
    ]


async def test_a_turn_that_nobody_sees_waits_no_longer_once_somebody_comes(stage: Any) -> None:
    pool, ana, rui = ScriptedPool(), stage.client("ana"), stage.client("rui", "192.0.2.8")
    code = (await ana.create(seats=TWO_BOTS)).head.room
    room = await stage.room(code)
    room.dismiss(ana.session)
    bots = BotSeats(pool, stage.clock, RETRY_MS)
    bots.consider(room)
    await thinks(pool)
    await rui.watch(code)
    bots.consider(room)
    await thinks(pool)
    assert pool.claims == [Claim(Rank.ALONE, "", ana.account), Claim(Rank.WATCHED, "192.0.2.8", rui.account)]
    assert pool.given_up_count == 1
    # And goes on when they leave.
    room.dismiss(rui.session)
    bots.consider(room)
    assert pool.given_up_count == 1
    await bots.stop()


async def test_bots_that_nobody_watches_pause_on_disk_and_go_on_when_somebody_comes(stage: Any) -> None:
    ana = stage.client("ana")
    code = (await ana.create(seats=TWO_BOTS)).head.room
    room = await stage.room(code)
    assert room.state.is_bot_to_move
    room.dismiss(ana.session)
    await stage.unloaded(code)
    assert await stage.journal.due_rooms(stage.now_ms) == []
    stage.changes.clear()
    await ana.watch(code)
    await stage.until(lambda: any(room.state.is_bot_to_move for room in stage.changes))


async def test_bots_with_a_clock_do_not_pause(stage: Any) -> None:
    ana = stage.client("ana")
    settings = RoomSettings(time_control=Fischer(600_000, 0))
    code = (await ana.create(seats=TWO_BOTS, settings=settings)).head.room
    assert await stage.journal.due_rooms(stage.now_ms) == [code]


async def test_the_turn_of_a_room_that_has_left_memory_is_thought_about_no_longer(stage: Any) -> None:
    pool, ana = ScriptedPool(), stage.client("ana")
    code = (await ana.create(seats=TWO_BOTS)).head.room
    bots = BotSeats(pool, stage.clock, RETRY_MS)
    room = await stage.room(code)
    bots.consider(room)
    await thinks(pool)
    bots.forget(room)
    await asyncio.sleep(0)
    assert pool.given_up_count == 1


async def test_a_server_that_stops_waits_for_no_turn_of_bots_among_themselves(stage: Any) -> None:
    """Symptom: with twenty rooms of bots a stop took ten seconds."""
    pool, ana = ScriptedPool(), stage.client("ana")
    code = (await ana.create(seats=TWO_BOTS)).head.room
    bots = BotSeats(pool, stage.clock, RETRY_MS)
    bots.consider(await stage.room(code))
    await thinks(pool)
    async with asyncio.timeout(LIMIT_S):
        await bots.finish()
    await asyncio.sleep(0)
    assert pool.given_up_count == 1


async def test_a_turn_among_bots_counts_for_who_watches_it_and_waits_until_it_may_be_stored(
    stage: Any,
) -> None:
    spent: list[tuple[str, str]] = []

    def spend(account: str, address: str) -> float:
        spent.append((account, address))
        return 0.0 if len(spent) == 1 else 3_600.0

    pool = ScriptedPool(Thought(("a3", "a2"), False, 5), Thought(("d2", "d3"), False, 5))
    ana = stage.client("ana", "192.0.2.7")
    code = (await ana.create(seats=TWO_BOTS)).head.room
    bots = BotSeats(pool, stage.clock, RETRY_MS, spend)
    room = await stage.room(code)
    bots.consider(room)
    await thinks(pool)
    await stage.until(lambda: room.state.match is not None and len(room.state.match.actions) == 2)
    bots.consider(room)
    await thinks(pool)
    await asyncio.sleep(0)
    assert spent == [(ana.account, "192.0.2.7")] * 2
    assert len(room.state.match.actions) == 2
    await bots.stop()


async def test_a_turn_that_a_player_waits_for_costs_nobody_anything(stage: Any) -> None:
    def spend(account: str, address: str) -> float:
        raise AssertionError("nobody is charged")

    pool, ana = ScriptedPool(Thought(("d2", "d3"), False, 5)), stage.client("ana")
    code = (await ana.create(seats=(SeatRequest("me"), SeatRequest("bot", "random")))).head.room
    await ana.play(code, 0, "a3", "a2")
    bots = BotSeats(pool, stage.clock, RETRY_MS, spend)
    bots.consider(await stage.room(code))
    assert (await played_by_bot(ana)).actions == ("d2", "d3")
    await bots.stop()
