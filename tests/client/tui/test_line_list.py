"""A list of texts: what is seen of it while it grows, is scrolled and is resized, and what it keeps of them."""

from __future__ import annotations

from collections import Counter
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import ClassVar

from textual.app import App, ComposeResult
from textual.content import Content
from textual.pilot import Pilot

from tabuleiro_client.tui.widgets.line_list import LineList


class Texts(LineList[str]):
    """Shows texts as they are, and counts how often each was made into lines."""

    def __init__(self) -> None:
        super().__init__()
        self.made: Counter[str] = Counter()

    def content_of(self, entry: str) -> Content:
        self.made[entry] += 1
        return Content(entry)


class TextsApp(App[None]):
    """A list that fills the window."""

    CSS: ClassVar[str] = "Texts { height: 1fr; } .wide { color: red; }"

    def compose(self) -> ComposeResult:
        yield Texts()


Shown = tuple[Texts, Pilot[None]]


@asynccontextmanager
async def shown(*texts: str, size: tuple[int, int] = (20, 5)) -> AsyncIterator[Shown]:
    """A list of ``texts`` in a window of ``size`` columns and rows."""
    app = TextsApp()
    async with app.run_test(size=size) as pilot:
        made = app.query_one(Texts)
        made.show_entries(texts)
        await pilot.pause()
        yield made, pilot


def seen(texts: Texts) -> list[str]:
    """The lines that are in the window, as they are drawn."""
    return [texts.render_line(y).text.rstrip() for y in range(texts.size.height)]


def numbered(count: int) -> list[str]:
    return [f"line {number}" for number in range(count)]


async def test_few_texts_stand_at_the_top_and_the_rest_of_the_window_is_blank():
    async with shown("one", "two") as (texts, _):
        assert seen(texts) == ["one", "two", "", "", ""]
        assert texts.text == "one\ntwo"
        assert not texts.show_vertical_scrollbar


async def test_without_texts_there_is_nothing_and_nothing_to_scroll():
    async with shown() as (texts, _):
        assert (seen(texts), texts.line_count, texts.text) == ([""] * 5, 0, "")
        texts.scroll_so_that(-1)
        assert texts.scroll_offset.y == 0


async def test_a_text_that_is_appended_is_the_only_one_made_into_lines():
    async with shown(*numbered(30)) as (texts, _):
        before = Counter(texts.made)
        texts.show_entries(numbered(31))
        assert texts.made - before == Counter({"line 30": 1})
        assert texts.text.splitlines() == numbered(31)


async def test_the_bar_comes_with_the_first_line_too_many_and_goes_with_it():
    async with shown(*numbered(5)) as (texts, pilot):
        assert not texts.show_vertical_scrollbar
        texts.show_entries(numbered(6))
        await pilot.pause()
        assert texts.show_vertical_scrollbar
        assert (texts.virtual_size.height, texts.max_scroll_y) == (6, 1)
        texts.show_entries(numbered(5))
        await pilot.pause()
        assert not texts.show_vertical_scrollbar
        assert seen(texts) == numbered(5)


async def test_scrolling_to_a_line_makes_it_the_last_that_is_seen():
    async with shown(*numbered(20)) as (texts, pilot):
        texts.scroll_so_that(12)
        await pilot.pause()
        assert seen(texts) == numbered(20)[8:13]
        texts.scroll_so_that(2)
        await pilot.pause()
        assert seen(texts) == numbered(20)[:5]


async def test_who_scrolled_back_goes_on_seeing_the_same_while_texts_come():
    async with shown(*numbered(20)) as (texts, pilot):
        texts.scroll_so_that(9)
        await pilot.pause()
        for count in range(21, 60):
            texts.show_entries(numbered(count))
        await pilot.pause()
        assert seen(texts) == numbered(20)[5:10]
        texts.scroll_so_that(texts.line_count - 1)
        await pilot.pause()
        assert seen(texts) == numbered(59)[-5:]


async def test_the_wheel_goes_back_and_on_to_the_end_after_more_has_come():
    async with shown(*numbered(20)) as (texts, pilot):
        texts.scroll_so_that(19)
        texts.show_entries(numbered(40))
        await pilot.pause()
        texts.scroll_end(animate=False, immediate=True)
        await pilot.pause()
        assert seen(texts) == numbered(40)[-5:]
        texts.scroll_home(animate=False, immediate=True)
        await pilot.pause()
        assert seen(texts) == numbered(5)


async def test_texts_that_became_fewer_leave_no_window_beyond_the_end():
    async with shown(*numbered(40)) as (texts, pilot):
        texts.scroll_so_that(39)
        await pilot.pause()
        texts.show_entries(numbered(7))
        await pilot.pause()
        assert seen(texts) == numbered(7)[-5:]
        texts.show_entries(numbered(2))
        await pilot.pause()
        assert seen(texts) == ["line 0", "line 1", "", "", ""]


async def test_long_texts_are_wrapped_by_words_and_long_words_are_cut():
    async with shown("seven words are too many for one", "x" * 25, size=(20, 8)) as (texts, _):
        assert seen(texts)[:5] == ["seven words are too", "many for one", "x" * 20, "x" * 5, ""]


async def test_every_line_is_as_wide_as_the_window_so_that_nothing_old_stays():
    async with shown("short", "\u56f2\u7881\u56f2\u7881", *numbered(9)) as (texts, pilot):
        for place in range(texts.line_count):
            texts.scroll_so_that(place)
            await pilot.pause()
            widths = {texts.render_line(y).cell_length for y in range(5)}
            assert widths == {texts.scrollable_content_region.width} == {19}


async def test_characters_two_columns_wide_are_wrapped_between_and_never_halved():
    async with shown("\u56f2" * 12, size=(11, 8)) as (texts, _):
        assert seen(texts)[:4] == ["\u56f2" * 5, "\u56f2" * 5, "\u56f2" * 2, ""]


async def test_another_width_wraps_anew_and_the_width_before_comes_back():
    words = "one two three four five six"
    async with shown(words, size=(28, 5)) as (texts, pilot):
        assert seen(texts)[0] == words
        await pilot.resize_terminal(14, 5)
        await pilot.pause()
        assert texts.text.splitlines() == ["one two three", "four five six"]
        await pilot.resize_terminal(28, 5)
        await pilot.pause()
        assert texts.text == words


async def test_the_bar_that_a_narrow_window_needs_takes_its_column_from_the_texts():
    async with shown(*["ab cd ef"] * 3, size=(8, 4)) as (texts, pilot):
        assert texts.text.splitlines() == ["ab cd ef"] * 3
        texts.show_entries(["ab cd ef"] * 5)
        await pilot.pause()
        assert texts.text.splitlines() == ["ab cd", "ef"] * 5
        assert texts.scrollable_content_region.width == 7


async def test_a_list_that_is_not_seen_waits_until_it_is():
    async with shown(*numbered(3)) as (texts, pilot):
        texts.display = False
        await pilot.pause()
        texts.show_entries(numbered(9))
        texts.display = True
        await pilot.pause()
        assert texts.text.splitlines() == numbered(9)
        texts.scroll_so_that(8)
        await pilot.pause()
        assert seen(texts) == numbered(9)[-5:]


async def test_other_colours_are_drawn_at_once():
    async with shown("one") as (texts, pilot):
        before = texts.render_line(0)
        texts.add_class("wide")
        await pilot.pause()
        assert texts.render_line(0).text == before.text
        assert texts.render_line(0) != before


def kept(texts: Texts) -> int:
    """How many made texts the list holds, of all widths."""
    return sum(map(len, texts._known.values()))


async def test_many_texts_are_kept_once_a_width_and_what_is_no_longer_shown_is_not_kept():
    many = numbered(5000)
    async with shown(*many) as (texts, pilot):
        assert texts.line_count == 5000
        for start in range(0, 5000, 500):
            texts.show_entries(many[start : start + 500])
        assert texts.line_count == 500
        assert kept(texts) <= 500 + 5
        assert max(texts.made.values()) <= 2
        await pilot.pause()


async def test_a_window_that_is_drawn_wider_and_wider_leaves_no_lines_of_all_its_widths():
    async with shown(*numbered(100)) as (texts, pilot):
        for width in range(10, 60):
            await pilot.resize_terminal(width, 5)
        await pilot.pause()
        assert seen(texts) == numbered(5)
        assert kept(texts) <= 2 * 100
