"""The fair queue: rooms take turns, however much they put in."""

from __future__ import annotations

import asyncio

from tabuleiro_server.bots.pool import FairQueue


async def test_rooms_take_turns_and_keep_their_own_order() -> None:
    queue: FairQueue[str] = FairQueue()
    for item in ("a1", "a2", "a3", "b1", "c1", "b2"):
        await queue.put(item[0], item)
    assert len(queue) == 6
    assert [await queue.take() for _ in range(6)] == ["a1", "b1", "c1", "a2", "b2", "a3"]
    assert len(queue) == 0


async def test_a_room_that_comes_late_is_next_after_one_item_of_the_others() -> None:
    queue: FairQueue[str] = FairQueue()
    for number in range(50):
        await queue.put("a", f"a{number}")
    assert await queue.take() == "a0"
    await queue.put("b", "b0")
    assert {await queue.take(), await queue.take()} == {"a1", "b0"}


async def test_a_discarded_item_is_never_taken() -> None:
    queue: FairQueue[str] = FairQueue()
    for item in ("a1", "a2", "b1"):
        await queue.put(item[0], item)
    queue.discard("a", "a1")
    queue.discard("b", "b1")
    queue.discard("c", "c1")
    queue.discard("a", "never put in")
    assert len(queue) == 1
    assert await queue.take() == "a2"


async def test_take_waits_for_the_next_item() -> None:
    queue: FairQueue[str] = FairQueue()
    takers = [asyncio.create_task(queue.take()) for _ in range(2)]
    await queue.put("a", "a1")
    await queue.put("a", "a2")
    assert sorted(await asyncio.gather(*takers)) == ["a1", "a2"]


async def test_a_cancelled_taker_takes_nothing_with_it() -> None:
    queue: FairQueue[str] = FairQueue()
    gone = asyncio.create_task(queue.take())
    left = asyncio.create_task(queue.take())
    await asyncio.sleep(0)
    gone.cancel()
    await queue.put("a", "a1")
    assert await left == "a1"
