"""Keys one after another: the next one waits until the one before it has done all it does.

The library hands a key to the widget that has the focus at that moment, and what no widget takes comes back up
to the application, which looks for a binding. In a burst the keys after one that moves the focus would still go to
the widget before, and letters, which an input takes at once, would overtake a backspace, which is a binding. Which
widget gets a key, and what it does, is left to the application.
"""

from __future__ import annotations

import asyncio
from collections import deque
from collections.abc import Awaitable, Callable
from contextlib import suppress
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


class Turnstile:
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
