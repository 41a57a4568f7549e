"""Pacing of the screens: keys one after another, frames not too often, no long rounds of the garbage collector.

The library hands a key to the widget that has the focus at that moment, and what no widget takes comes back up
to the application, which looks for a binding. In a burst the keys after one that moves the focus would still go to
the widget before, and letters, which an input takes at once, would overtake a backspace, which is a binding. So a
key waits until the one before it has done all it does.

A key also waits for whatever is being drawn when it comes. So nothing is drawn in one go that can be drawn in
parts, and between two parts the loop is free for long enough to draw what a key did.
"""

from __future__ import annotations

import asyncio
import gc
from collections import deque
from collections.abc import Awaitable, Callable, Iterator, Sequence
from contextlib import contextmanager, suppress
from typing import Final

from textual import events
from textual.app import App
from textual.dom import DOMNode

WAIT_LIMIT_S: Final = 0.5
"""For how long a key is waited for: a widget may go away with the key still before it."""

DRAWING_S: Final = 0.03
"""How long it takes to draw what a key did once that is done: up to two frames."""

INTERRUPT: Final = "ctrl+c"

Typed = events.Key | events.Paste


class InputQueue:
    """Hands what is typed to ``admit``, each once the one before has passed its widget and all those above it."""

    def __init__(self, app: App[int], admit: Callable[[Typed], Awaitable[None]]) -> None:
        self._app = app
        self._admit = admit
        self._waiting: deque[Typed] = deque()
        self._inside: Typed | None = None
        self._limit: asyncio.TimerHandle | None = None
        self._is_quiet = asyncio.Event()
        self._is_quiet.set()
        self._drawing: asyncio.TimerHandle | None = None

    async def take(self, event: Typed) -> None:
        """Let ``event`` in, at once if nothing is inside; Ctrl-C at once, and nothing that waited before it.

        A terminal does the same: what was typed and not read yet is gone with an interrupt.
        """
        is_interrupt = isinstance(event, events.Key) and event.key == INTERRUPT
        if is_interrupt:
            self._waiting.clear()
        self._waiting.append(event)
        if self._inside is None or is_interrupt:
            await self._let_in()

    async def quiet(self, limit_s: float) -> None:
        """Wait until what was typed is done and drawn, or for ``limit_s`` seconds when there is more and more."""
        with suppress(TimeoutError):
            async with asyncio.timeout(limit_s):
                await self._is_quiet.wait()

    async def _let_in(self) -> None:
        event = self._inside = self._waiting.popleft()
        self._is_quiet.clear()
        if self._drawing is not None:
            self._drawing.cancel()
        first = self._app.focused or self._app.screen
        loop = asyncio.get_running_loop()
        self._limit = loop.call_later(WAIT_LIMIT_S, self._app.call_later, self._passed, event)
        await self._admit(event)
        self._follow(first, event)

    def _follow(self, node: DOMNode | None, event: Typed) -> None:
        """Stand behind the event in the queue of ``node``, and then of those above it, up to the application."""
        if node is None or node is self._app or not node.call_later(self._follow, node.parent, event):
            self._app.call_later(self._passed, event)

    async def _passed(self, event: Typed) -> None:
        if event is not self._inside:
            return  # the limit has let the next one in before
        if self._limit is not None:
            self._limit.cancel()
        self._inside = None
        if self._waiting:
            await self._let_in()
        else:
            self._drawing = asyncio.get_running_loop().call_later(DRAWING_S, self._is_quiet.set)


REDRAW_S: Final = 0.2
"""What happens within so much time is drawn together; what comes after a quiet moment is drawn at once."""

PART_S: Final = 1 / 60
"""Between two parts: the library draws no more often than this, and each part is to be drawn by itself."""

PATIENCE_S: Final = 0.25
"""For how long keys go first: who holds one down must still see what happens."""


class FrameLimiter:
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


FULL_ROUND_EVERY: Final = 1000
"""After how many rounds in the younger objects the old ones are looked through as well."""


@contextmanager
def spared_objects() -> Iterator[None]:
    """Have the collector pass over all that is there now, and seldom go through what gets old meanwhile.

    What is there is the loaded program, mostly, of which nothing becomes garbage: looking through it takes a tenth
    of a second each time, in which no key is taken. After the context all is as before: where something was spared
    already, by a caller or by this context around it, no more is, for nobody could tell the two apart afterwards.
    """
    thresholds, is_first = gc.get_threshold(), gc.get_freeze_count() == 0
    if is_first:
        gc.freeze()
    gc.set_threshold(*thresholds[:2], FULL_ROUND_EVERY)
    try:
        yield
    finally:
        gc.set_threshold(*thresholds)
        if is_first:
            gc.unfreeze()
