"""Frames that wait for a slow reader are bounded in number and in bytes."""

from __future__ import annotations

import asyncio

import pytest

from tabuleiro_server.sessions.outbox import Outbox


@pytest.fixture
def overflows() -> list[str]:
    return []


def outbox_of(limit_count: int, limit_bytes: int, overflows: list[str]) -> Outbox:
    return Outbox(limit_count, limit_bytes, lambda: overflows.append("full"))


async def test_frames_come_out_in_order_and_at_the_end_nothing(overflows: list[str]) -> None:
    outbox = outbox_of(3, 100, overflows)
    taking = asyncio.create_task(outbox.take())
    outbox.put(b"a")
    outbox.put(b"b")
    assert await taking == [b"a", b"b"]
    outbox.put(b"c")
    outbox.close()
    outbox.put(b"too late")
    assert [await outbox.take(), await outbox.take()] == [[b"c"], []]
    assert overflows == []


@pytest.mark.parametrize(
    ("limit_count", "limit_bytes", "frame"), [(3, 1_000_000, b"x"), (1_000_000, 30, b"0123456789")]
)
async def test_the_first_frame_too_many_ends_it_once(
    overflows: list[str], limit_count: int, limit_bytes: int, frame: bytes
) -> None:
    outbox = outbox_of(limit_count, limit_bytes, overflows)
    for _ in range(3):
        outbox.put(frame)
    assert await outbox.take() == [frame] * 3
    for _ in range(3):
        outbox.put(frame)
    assert overflows == []
    outbox.put(frame)
    outbox.put(frame)
    assert overflows == ["full"]
    assert await outbox.take() == []


async def test_a_single_frame_may_be_longer_than_all_that_may_wait(overflows: list[str]) -> None:
    outbox = outbox_of(10, 5, overflows)
    outbox.put(b"a long snapshot")
    assert await outbox.take() == [b"a long snapshot"]
    outbox.put(b"a long snapshot")
    outbox.put(b"")
    assert overflows == ["full"]
