"""How long tests wait for anything, and the end of tests that wait for nothing any more."""

from __future__ import annotations

import asyncio
from typing import Final

LIMIT_S: Final = 20
"""How long anything is waited for before a test counts as failed, in seconds."""


class Patience:
    """Ends a test in which nothing that it waits for has happened for ``LIMIT_S`` seconds."""

    def __init__(self) -> None:
        self._limit: asyncio.TimerHandle | None = None

    def renew(self) -> None:
        """Begin to wait, or note that something has happened."""
        self.end()
        self._limit = asyncio.get_running_loop().call_later(LIMIT_S, self._give_up)

    def end(self) -> None:
        """Wait no more."""
        if self._limit is not None:
            self._limit.cancel()
            self._limit = None

    def _give_up(self) -> None:
        for task in asyncio.all_tasks():
            task.cancel(f"nothing happened for {LIMIT_S} s")


PATIENCE: Final = Patience()
"""That of the test that runs: a process runs one at a time."""
