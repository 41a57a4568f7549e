"""Frames that wait for one reader: in order, bounded, and never holding anybody else up."""

from __future__ import annotations

import asyncio

from tabuleiro_server.sessions.outbox import Outbox


async def test_frames_are_taken_in_order_all_at_once() -> None:
    outbox = Outbox(3, 100, lambda: None)
    for frame in (b"1", b"2", b"3"):
        outbox.put(frame)
    assert await outbox.take() == [b"1", b"2", b"3"]


async def test_a_reader_waits_for_the_next_frame() -> None:
    outbox = Outbox(3, 100, lambda: None)
    reading = asyncio.create_task(outbox.take())
    await asyncio.sleep(0)
    assert not reading.done()
    outbox.put(b"late")
    assert await reading == [b"late"]


async def test_one_frame_too_many_ends_it_for_good_and_is_told_once() -> None:
    overflows: list[int] = []
    outbox = Outbox(2, 100, lambda: overflows.append(1))
    for _ in range(5):
        outbox.put(b"x")
    assert (overflows, outbox.has_overflowed) == ([1], True)
    assert await outbox.take() == []
    outbox.put(b"x")
    assert await outbox.take() == []


async def test_what_is_there_when_it_closes_is_still_taken() -> None:
    outbox = Outbox(2, 100, lambda: None)
    outbox.put(b"last")
    outbox.close()
    outbox.put(b"too late")
    assert await outbox.take() == [b"last"]
    assert await outbox.take() == []


async def test_a_waiting_reader_is_woken_when_it_closes() -> None:
    outbox = Outbox(2, 100, lambda: None)
    reading = asyncio.create_task(outbox.take())
    await asyncio.sleep(0)
    outbox.close()
    assert await reading == []


async def test_frames_go_straight_to_a_connection_that_keeps_up_and_never_overtake_each_other() -> None:
    sent: list[bytes] = []
    is_slow = False

    def send_now(frame: bytes) -> bool:
        if not is_slow:
            sent.append(frame)
        return not is_slow

    outbox = Outbox(5, 100, lambda: None, send_now)
    outbox.put(b"1")
    assert sent == [b"1"]
    is_slow = True
    outbox.put(b"2")
    is_slow = False
    outbox.put(b"3")
    assert await outbox.take() == [b"2", b"3"]
    outbox.put(b"4")
    assert await outbox.take() == [b"4"]
    reading = asyncio.create_task(outbox.take())
    await asyncio.sleep(0)
    outbox.put(b"5")
    assert sent == [b"1", b"5"]
    outbox.close()
    assert await reading == []
