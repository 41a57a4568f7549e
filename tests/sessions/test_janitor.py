"""The janitor's rounds go on, whatever one of them meets."""

from __future__ import annotations

import asyncio
from typing import Any

import pytest

from tabuleiro.errors import StorageUnavailableError
from tabuleiro.ids import TimestampMs
from tabuleiro_server.config import Config
from tabuleiro_server.sessions.lifecycle import Janitor
from tests.patience import LIMIT_S


class House:
    """All that the janitor looks after: its first round meets ``fault``."""

    def __init__(self, fault: Exception) -> None:
        self.faults = [fault]
        self.is_well = asyncio.Event()
        self.beat_count = 0
        self.removal_count = 0
        self.visits_noted_count = 0
        self.rooms_count = 0

    def beat(self, now_ms: TimestampMs, rooms_count: int) -> None:
        self.beat_count += 1

    async def wake_due_rooms(self) -> None:
        if self.faults:
            raise self.faults.pop()

    async def remove_unplayed(self) -> None:
        self.removal_count += 1

    async def note_visits(self) -> None:
        self.visits_noted_count += 1

    async def free_unused(self, unused_ms: int) -> int:
        self.is_well.set()
        return 0


@pytest.mark.parametrize("fault", [StorageUnavailableError("disk full"), OSError("no lock"), KeyError("a bug")])
async def test_a_round_that_fails_is_followed_by_the_next(fault: Exception) -> None:
    house: Any = House(fault)
    janitor = Janitor(house, house, house, Config(lobby_wake_ms=1), lambda: TimestampMs(10**12))
    janitor.start()
    try:
        async with asyncio.timeout(LIMIT_S):
            await house.is_well.wait()
    finally:
        await janitor.stop()
    assert house.beat_count >= 2
    assert house.removal_count >= 1
    assert house.visits_noted_count >= 1
