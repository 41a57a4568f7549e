"""Small changes in groups: each asked for once, with a result of its own."""

from __future__ import annotations

import asyncio
from collections.abc import Sequence

import pytest

from tabuleiro_server.store.postgres.grouping import GROUP_COUNT, Grouped
from tests.patience import LIMIT_S


class Changes:
    """Notes what is written, as groups; ``blocked`` are in nobody's group, and wait alone for ``free``."""

    def __init__(self, blocked: str = "") -> None:
        self.groups: list[str] = []
        self.free = asyncio.Event()
        self.failure: Exception | None = None
        self.grouped = Grouped(self._together, self._alone)
        self._blocked = blocked

    async def _together(self, changes: Sequence[str]) -> dict[str, int]:
        self.groups.append("".join(changes))
        await asyncio.sleep(0)
        if self.failure is not None:
            raise self.failure
        return {change: len(self.groups) for change in changes if change not in self._blocked}

    async def _alone(self, change: str) -> int:
        await self.free.wait()
        return 0


async def test_changes_that_are_asked_for_meanwhile_are_written_together() -> None:
    changes = Changes()
    first = asyncio.create_task(changes.grouped.write("a"))
    await asyncio.sleep(0)
    await asyncio.sleep(0)
    assert changes.groups == ["a"]
    assert await asyncio.gather(*map(changes.grouped.write, "bcb")) == [2, 2, 3]
    assert await first == 1
    assert changes.groups == ["a", "bc", "b"]


async def test_change_that_somebody_is_in_the_way_of_waits_alone() -> None:
    changes = Changes(blocked="b")
    first, blocked, third = [asyncio.create_task(changes.grouped.write(change)) for change in "abc"]
    assert (await first, await third) == (1, 1)
    assert await changes.grouped.write("d") == 2
    assert not blocked.done()
    changes.free.set()
    assert await blocked == 0


async def test_failure_of_a_group_is_told_to_all_of_it_and_the_next_one_is_written() -> None:
    changes = Changes()
    changes.failure = OSError("away")
    assert await asyncio.gather(*map(changes.grouped.write, "ab"), return_exceptions=True) == [changes.failure] * 2
    changes.failure = None
    assert await changes.grouped.write("c") == 2


async def test_change_is_written_for_somebody_who_waits_no_more() -> None:
    changes = Changes()
    waiting = asyncio.create_task(changes.grouped.write("a"))
    await asyncio.sleep(0)
    waiting.cancel()
    with pytest.raises(asyncio.CancelledError):
        await waiting
    await changes.grouped.finish(LIMIT_S)
    assert changes.groups == ["a"]


async def test_groups_have_a_largest_size() -> None:
    sizes: list[int] = []

    async def together(numbers: Sequence[int]) -> dict[int, None]:
        sizes.append(len(numbers))
        return dict.fromkeys(numbers)

    grouped = Grouped(together, asyncio.sleep)
    await asyncio.gather(*map(grouped.write, range(GROUP_COUNT + 1)))
    assert sizes == [GROUP_COUNT, 1]
