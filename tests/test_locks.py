"""Locks by key."""

from __future__ import annotations

import asyncio

import pytest

from tabuleiro_server.locks import Locks


async def test_those_who_come_when_a_lock_is_let_go_wait_for_those_who_waited_before() -> None:
    """Symptom: the second of three loaded a room after the first had failed, and the third one loaded it again."""
    locks = Locks[str]()
    inside: list[int] = []
    may_go = [asyncio.Event() for _ in range(3)]

    async def enter(number: int) -> None:
        async with locks.held("K7MQ4"):
            inside.append(number)
            await may_go[number].wait()
            inside.remove(number)

    async with asyncio.TaskGroup() as tasks:
        first, second = (tasks.create_task(enter(number)) for number in range(2))
        await asyncio.sleep(0)
        may_go[0].set()
        await first
        third = tasks.create_task(enter(2))
        for _ in range(5):
            await asyncio.sleep(0)
        assert inside == [1]
        may_go[1].set()
        await second
        may_go[2].set()
        await third
    assert len(locks) == 0


async def test_nothing_is_kept_of_a_key_that_failed_or_was_given_up() -> None:
    locks = Locks[str]()
    with pytest.raises(KeyError):
        async with locks.held("K7MQ4"):
            raise KeyError
    async with locks.held("K7MQ4"):
        waiting = asyncio.ensure_future(locks.held("K7MQ4").__aenter__())
        await asyncio.sleep(0)
        waiting.cancel()
        await asyncio.gather(waiting, return_exceptions=True)
        async with locks.held("W2XYZ"):
            assert len(locks) == 2
    assert len(locks) == 0
