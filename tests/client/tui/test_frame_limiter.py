"""Tests that a busy room is drawn part after part, and that what is typed goes first but not for ever."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Callable

import pytest

from tabuleiro_client.tui import pacing
from tabuleiro_client.tui.pacing import FrameLimiter


class Sheet:
    """Takes down what is drawn; ``may_go_on`` is what the parts wait for."""

    def __init__(self) -> None:
        self.drawn = ""
        self.patience_s: list[float] = []
        self.may_go_on = asyncio.Event()
        self.may_go_on.set()
        self._has_changed = asyncio.Event()
        self.redrawing = FrameLimiter([self.part(letter) for letter in "abc"], self.quiet)

    def part(self, letter: str) -> Callable[[], None]:
        def draw() -> None:
            self.drawn += letter
            self._has_changed.set()

        return draw

    async def quiet(self, limit_s: float) -> None:
        self.patience_s.append(limit_s)
        self._has_changed.set()
        await self.may_go_on.wait()

    async def until(self, is_so: Callable[[], object]) -> None:
        while not is_so():
            self._has_changed.clear()
            await self._has_changed.wait()


@pytest.fixture
async def sheet(monkeypatch) -> AsyncIterator[Sheet]:
    monkeypatch.setattr(pacing, "PART_S", 0.0)
    monkeypatch.setattr(pacing, "REDRAW_S", 0.0)
    sheet = Sheet()
    keeping = asyncio.create_task(sheet.redrawing.keep_up())
    yield sheet
    keeping.cancel()
    await asyncio.wait([keeping])


async def test_what_is_asked_for_several_times_is_drawn_once(sheet):
    for _ in range(3):
        sheet.redrawing.ask()
    await sheet.until(lambda: len(sheet.drawn) == 3)
    sheet.redrawing.ask()
    await sheet.until(lambda: len(sheet.drawn) == 6)
    assert sheet.drawn == "abcabc"


async def test_every_part_waits_until_nothing_typed_waits_and_has_less_patience_than_the_one_before(sheet):
    sheet.may_go_on.clear()
    sheet.redrawing.ask()
    await sheet.until(lambda: sheet.patience_s)
    assert sheet.drawn == ""
    sheet.may_go_on.set()
    await sheet.until(lambda: sheet.drawn == "abc")
    assert sheet.patience_s == sorted(sheet.patience_s, reverse=True)
    assert len(set(sheet.patience_s)) == 3
    assert sheet.patience_s[0] <= pacing.PATIENCE_S


async def test_what_happens_while_parts_are_drawn_is_drawn_after_them(sheet):
    sheet.may_go_on.clear()
    sheet.redrawing.ask()
    await sheet.until(lambda: sheet.patience_s)
    sheet.redrawing.ask()
    sheet.may_go_on.set()
    await sheet.until(lambda: sheet.drawn == "abcabc")
