"""The short form of the kill harness; `make torture` runs the long one."""

from __future__ import annotations

import asyncio
import secrets
import sys
from pathlib import Path

import pytest

from tests.e2e.torture import SHORT_KILL_COUNT, Torture

pytestmark = pytest.mark.slow


@pytest.mark.skipif(sys.platform == "win32", reason="no SIGKILL there")
async def test_what_was_acknowledged_or_announced_survives_ten_kills(tmp_path: Path) -> None:
    seed = secrets.randbelow(2**31)
    print(f"seed {seed}")
    torture = Torture(tmp_path, seed, SHORT_KILL_COUNT)
    async with asyncio.timeout(300):
        stored = await torture.play()
    assert sum(torture.kills.values()) == SHORT_KILL_COUNT
    assert torture.run.ledger.acknowledged
    assert stored.ended
