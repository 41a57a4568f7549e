"""A few matches of `fairness.py`: on short clocks and with a busy core beside, no bot loses on time."""

from __future__ import annotations

import pytest

from tests.e2e.fairness import SMALL, Played, Terms, busy_cores, flag_falls, play_all

pytestmark = pytest.mark.slow


async def test_no_bot_loses_on_time_while_the_machine_is_busy() -> None:
    """Small boards, so that matches are short: what the clocks are for is the wait, not the play."""
    terms = Terms(4, 2, 5.0, "expert", ("minefield", "virus-wars"), SMALL)
    played: list[Played] = []
    async with busy_cores(1):
        await play_all(terms, played.append)
    assert len(played) == 4
    assert flag_falls(played) == 0, played
