"""The fair queue: addresses take turns, then their accounts, then their rooms, however much they put in."""

from __future__ import annotations

import asyncio

from tabuleiro.ids import AccountId
from tabuleiro_server.bots.queue import Claim, FairQueue, Rank


def claim(address: str = "", account: str = "", rank: Rank = Rank.PLAYED) -> Claim:
    return Claim(rank, address, AccountId(account))


def put(queue: FairQueue[str], *items: str, rank: Rank = Rank.PLAYED) -> None:
    """Put items in the room of their first letter."""
    for item in items:
        queue.put(claim(rank=rank), item[0], item)


async def taken(queue: FairQueue[str], count: int) -> list[str]:
    return [(await queue.take())[0] for _ in range(count)]


async def test_rooms_take_turns_and_keep_their_own_order() -> None:
    queue: FairQueue[str] = FairQueue()
    put(queue, "a1", "a2", "a3", "b1", "c1", "b2")
    assert len(queue) == 6
    assert await taken(queue, 6) == ["a1", "b1", "c1", "a2", "b2", "a3"]
    assert len(queue) == 0


async def test_a_room_that_comes_late_is_next_after_one_item_of_the_others() -> None:
    queue: FairQueue[str] = FairQueue()
    put(queue, *(f"a{number}" for number in range(50)))
    assert await taken(queue, 1) == ["a0"]
    put(queue, "b0")
    assert set(await taken(queue, 2)) == {"a1", "b0"}


async def test_a_guest_with_twenty_rooms_waits_for_themselves() -> None:
    """Symptom: another's bot needed 14 to 18 s a turn, because each of the twenty rooms came before it."""
    queue: FairQueue[str] = FairQueue()
    for number in range(20):
        queue.put(claim("6.6.6.6", "mallory"), f"room {number}", f"m{number}")
    assert await taken(queue, 1) == ["m0"]
    queue.put(claim("192.0.2.7", "ana"), "A", "ana's")
    assert "ana's" in await taken(queue, 2)


async def test_many_guests_at_one_address_are_one_address() -> None:
    queue: FairQueue[str] = FairQueue()
    for number in range(20):
        queue.put(claim("6.6.6.6", f"mallory-{number}"), f"room {number}", f"m{number}")
    queue.put(claim("192.0.2.7", "ana"), "A", "ana's")
    assert "ana's" in await taken(queue, 2)


async def test_guests_at_one_address_take_turns() -> None:
    queue: FairQueue[str] = FairQueue()
    for number in range(20):
        queue.put(claim("192.0.2.7", "rui"), f"room {number}", f"r{number}")
    queue.put(claim("192.0.2.7", "ana"), "A", "ana's")
    assert "ana's" in await taken(queue, 2)
    assert queue.counts(Rank.PLAYED) == {"192.0.2.7": 19}


async def test_what_is_watched_goes_before_what_nobody_sees() -> None:
    queue: FairQueue[str] = FairQueue()
    put(queue, "a1", rank=Rank.ALONE)
    put(queue, "b1", rank=Rank.WATCHED)
    assert await taken(queue, 2) == ["b1", "a1"]


async def test_of_what_nobody_sees_one_item_goes_at_a_time() -> None:
    queue: FairQueue[str] = FairQueue()
    put(queue, "a1", "b1", rank=Rank.ALONE)
    assert await queue.take() == ("a1", Rank.ALONE)
    second = asyncio.create_task(queue.take())
    await asyncio.sleep(0)
    put(queue, "c1", rank=Rank.WATCHED)
    assert await second == ("c1", Rank.WATCHED)
    third = asyncio.create_task(queue.take())
    await asyncio.sleep(0)
    assert not third.done()
    queue.release()
    assert await third == ("b1", Rank.ALONE)


async def test_a_discarded_item_is_never_taken() -> None:
    queue: FairQueue[str] = FairQueue()
    put(queue, "a1", "a2", "b1")
    for item in ("a1", "b1", "never put in"):
        queue.discard(item)
    assert len(queue) == 1
    assert queue.counts(Rank.PLAYED) == {"": 1}
    assert await taken(queue, 1) == ["a2"]


async def test_take_waits_for_the_next_item() -> None:
    queue: FairQueue[str] = FairQueue()
    takers = [asyncio.create_task(queue.take()) for _ in range(2)]
    await asyncio.sleep(0)
    put(queue, "a1", "a2")
    assert sorted(await asyncio.gather(*takers)) == [("a1", Rank.PLAYED), ("a2", Rank.PLAYED)]


async def test_a_cancelled_taker_takes_nothing_with_it() -> None:
    queue: FairQueue[str] = FairQueue()
    gone = asyncio.create_task(queue.take())
    left = asyncio.create_task(queue.take())
    await asyncio.sleep(0)
    gone.cancel()
    put(queue, "a1")
    assert await left == ("a1", Rank.PLAYED)
