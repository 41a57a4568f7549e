"""Tests that what is typed in one burst does the same as what is typed key by key."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from typing import ClassVar

import pytest
from textual import events
from textual.app import App, ComposeResult
from textual.binding import Binding, BindingType
from textual.containers import Vertical
from textual.keys import _character_to_key
from textual.widgets import Input, Static

from tabuleiro_client.tui import pacing
from tabuleiro_client.tui.pacing import InputQueue, Typed


class Keys(Static, can_focus=True):
    """A widget that takes ``o`` itself and leaves all other keys to the application."""

    taken = ""

    def on_key(self, event: events.Key) -> None:
        if event.key == "o":
            event.stop()
            self.taken += "o"


class Slow(Static, can_focus=True):
    """A widget that is busy with a key until it is let go."""

    def __init__(self) -> None:
        super().__init__()
        self.is_busy, self.is_free = asyncio.Event(), asyncio.Event()

    async def on_key(self, event: events.Key) -> None:
        self.is_busy.set()
        await self.is_free.wait()


class TypingApp(App[int]):
    """A widget for keys, deep down, and a line that ``i`` goes to and Enter leaves."""

    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("i", "open"),
        Binding("x", "note('x')"),
        Binding("ctrl+c", "note('^c')", priority=True),
    ]

    def __init__(self) -> None:
        super().__init__()
        self.noted = ""
        self._has_changed = asyncio.Event()
        self.input_queue = InputQueue(self, super().on_event)

    def compose(self) -> ComposeResult:
        with Vertical(), Vertical():
            yield Keys()
            yield Slow()
        yield Input()

    def on_mount(self) -> None:
        self.query_one(Keys).focus()

    async def on_event(self, event: events.Event) -> None:
        if isinstance(event, Typed) and not event.is_forwarded:
            await self.input_queue.take(event)
        else:
            await super().on_event(event)

    def action_open(self) -> None:
        self.screen.set_focus(self.query_one(Input))

    def action_note(self, letter: str) -> None:
        self.noted += letter
        self._has_changed.set()

    def on_input_changed(self) -> None:
        self._has_changed.set()

    async def until(self, is_so: Callable[[], object]) -> None:
        """Wait for changes until ``is_so``; a pilot would wait for widgets that are busy too."""
        while not is_so():
            await self._has_changed.wait()
            self._has_changed.clear()

    def type(self, *keys: str) -> None:
        """Post everything at once, as a terminal does with what was pasted or typed while it was busy."""
        for key in keys:
            letter = key if len(key) == 1 else None
            self.post_message(events.Key(_character_to_key(key) if letter else key, letter))


@pytest.mark.parametrize(
    ("keys", "value"),
    [
        (["i", *"b1 a1"], "b1 a1"),
        (["i", *"ab", "backspace", "c"], "ac"),
        (["i", *"ac", "left", "b", "end", "d"], "abcd"),
        (["i", *"abc", "home", "delete", *"xo"], "xobc"),
    ],
)
async def test_a_burst_arrives_in_the_order_of_its_keys(keys, value):
    app = TypingApp()
    async with app.run_test():
        app.type(*keys)
        await app.until(lambda: app.query_one(Input).value == value)


async def test_a_key_goes_on_when_a_widget_takes_the_one_before(monkeypatch):
    monkeypatch.setattr(pacing, "WAIT_LIMIT_S", 3600.0)
    app = TypingApp()
    async with app.run_test():
        app.type(*"oxoxi", *"oxi")
        await app.until(lambda: app.query_one(Input).value == "oxi")
        assert (app.noted, app.query_one(Keys).taken) == ("xx", "oo")


async def test_what_is_pasted_takes_its_turn():
    app = TypingApp()
    async with app.run_test():
        app.type("i", "a")
        app.post_message(events.Paste("b c"))
        app.type("d")
        await app.until(lambda: app.query_one(Input).value == "ab cd")


async def test_a_widget_that_is_busy_with_a_key_does_not_hold_the_others_for_ever(monkeypatch):
    monkeypatch.setattr(pacing, "WAIT_LIMIT_S", 0.01)
    app = TypingApp()
    async with app.run_test():
        slow = app.query_one(Slow)
        app.screen.set_focus(slow)
        app.type("x")
        await slow.is_busy.wait()
        app.screen.set_focus(app.query_one(Input))
        app.type(*"abc")
        await app.until(lambda: app.query_one(Input).value == "abc")
        slow.is_free.set()


async def test_ctrl_c_is_let_in_before_all_that_waits_and_nothing_of_it_comes_after(monkeypatch):
    monkeypatch.setattr(pacing, "WAIT_LIMIT_S", 3600.0)
    app = TypingApp()
    async with app.run_test():
        slow = app.query_one(Slow)
        app.screen.set_focus(slow)
        app.type("x")
        await slow.is_busy.wait()
        app.type(*"xx", "ctrl+c")
        await app.until(lambda: "^c" in app.noted)
        assert app.noted == "^c"
        slow.is_free.set()
        app.screen.set_focus(app.query_one(Keys))
        app.type("i", "a")
        await app.until(lambda: app.query_one(Input).value == "a")
        assert app.noted in ("^c", "^cx")


async def test_it_is_quiet_when_what_was_typed_is_done_and_drawn(monkeypatch):
    monkeypatch.setattr(pacing, "WAIT_LIMIT_S", 3600.0)
    app = TypingApp()
    async with app.run_test():
        await app.input_queue.quiet(3600)
        slow = app.query_one(Slow)
        app.screen.set_focus(slow)
        app.type("x")
        await slow.is_busy.wait()
        waiting = asyncio.create_task(app.input_queue.quiet(3600))
        await app.input_queue.quiet(0.01)
        assert not waiting.done()
        slow.is_free.set()
        await waiting
        assert app.noted == "x"


async def test_it_is_not_quiet_before_the_last_of_several_keys_is_done(monkeypatch):
    monkeypatch.setattr(pacing, "DRAWING_S", 0.0)
    app = TypingApp()
    async with app.run_test():
        app.type(*"oxxo")
        await app.until(lambda: app.noted)
        await app.input_queue.quiet(3600)
        assert (app.noted, app.query_one(Keys).taken) == ("xx", "oo")
