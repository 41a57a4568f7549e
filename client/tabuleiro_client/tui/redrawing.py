"""Drawing a screen anew while much happens: not too often, part after part, and what is typed goes first.

A key waits for whatever is being drawn when it comes. So nothing is drawn in one go that can be drawn in parts,
and between two parts the loop is free for long enough to draw what a key did. What the parts are is left to the
screen.
"""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable, Sequence
from typing import Final

REDRAW_S: Final = 0.2
"""What happens within so much time is drawn together; what comes after a quiet moment is drawn at once."""

PART_S: Final = 1 / 60
"""Between two parts: the library draws no more often than this, and each part is to be drawn by itself."""

PATIENCE_S: Final = 0.25
"""For how long keys go first: who holds one down must still see what happens."""


class Redrawing:
    """Calls ``parts``, one after another, some time after each :meth:`ask`; :meth:`keep_up` has to run.

    ``quiet`` waits until nothing that was typed waits to be drawn, but no longer than for so many seconds.
    """

    def __init__(self, parts: Sequence[Callable[[], None]], quiet: Callable[[float], Awaitable[None]]) -> None:
        self._parts = parts
        self._quiet = quiet
        self._asked = asyncio.Event()

    def ask(self) -> None:
        """Have everything drawn anew soon, together with what else is asked for until then."""
        self._asked.set()

    async def keep_up(self) -> None:
        """Draw whenever that was asked for, until cancelled."""
        loop = asyncio.get_running_loop()
        while True:
            await self._asked.wait()
            self._asked.clear()
            begun_s = loop.time()
            for part in self._parts:
                await self._quiet(begun_s + PATIENCE_S - loop.time())
                part()
                await asyncio.sleep(PART_S)
            await asyncio.sleep(begun_s + REDRAW_S - loop.time())
