"""What the page does for a player: it lays the stone that is left, and keeps hints for the replay."""

from __future__ import annotations

import re
from typing import Any

import pytest

from tests.browser.conftest import Served
from tests.browser.play import join, played, reported, start, wait_for_actions

pytestmark = pytest.mark.browser


def type_turn(page: Any, turn: str) -> None:
    page.locator(".status", has_text=re.compile("your turn", re.IGNORECASE)).wait_for()
    page.get_by_label("type a turn").fill(turn)
    page.locator(".typed button").click()


def press_cell(page: Any, name: str) -> None:
    page.locator(f"[data-cell={name}]").evaluate("(cell) => cell.click()")


def test_the_second_stone_of_iris_is_laid_where_one_cell_is_left_unless_it_is_switched_off(
    visit: Any, served: Served
) -> None:
    ana = visit()
    start(ana, "iris", "")
    rui = visit(ana.url.removeprefix(served.url))
    join(rui)
    with reported(ana), reported(rui):
        type_turn(ana, "e5")
        wait_for_actions(rui, 1)
        type_turn(rui, "a1")
        wait_for_actions(ana, 3)
        assert played(ana) == ["e5", "a1", "i5"]
        rui.locator("#live", has_text="i5 is laid too: the rules leave no other cell").wait_for(state="attached")
        ana.locator(".status", has_text=re.compile("your turn", re.IGNORECASE)).wait_for()
        press_cell(ana, "a2")
        said = "i4 is laid too: the rules leave no other cell. a2 i4: play it?"
        ana.locator(".status", has_text=said).wait_for()
        press_cell(ana, "i4")  # by habit: it is there already
        assert said in ana.inner_text(".status")
        ana.get_by_role("button", name="Step back").click()
        ana.wait_for_selector("circle.next")
        assert "laid" not in ana.inner_text(".status"), "one step takes both back"
        ana.get_by_label("Lay the second stone where one cell is left").uncheck()
        press_cell(ana, "a2")
        ana.get_by_role("button", name="Step back").wait_for()
        assert "laid" not in ana.inner_text(".status")
        press_cell(ana, "i4")
        ana.locator(".status", has_text="a2 i4: play it?").wait_for()
        ana.locator(".actions .primary").click()
        wait_for_actions(rui, 5)
        assert played(rui)[3:] == ["a2", "i4"]


def test_a_hint_is_seen_again_in_the_replay_with_its_value_by_whoever_got_it(visit: Any, served: Served) -> None:
    ana = visit()
    start(ana, "minefield", "random", "Hints")
    with reported(ana):
        ana.get_by_role("button", name="Hint").click()
        ana.locator(".status", has_text="Hint:").wait_for()
        hint = ana.inner_text(".status").removeprefix("Hint: ")
        press_cell(ana, hint.split()[0])
        ana.wait_for_function("() => document.querySelectorAll('.moves li').length >= 1")
        replay = ana.url.removeprefix(served.url).replace("/r/", "/m/").split("#")[0] + "/1"
        ana.goto(served.url + replay)
        ana.get_by_role("button", name="first position").click()
        ana.locator(".status", has_text=f"The hint here: {hint}, worth ").wait_for()
        ana.get_by_role("button", name="one action on").click()
        ana.locator(".status", has_text="Action 1 of").wait_for()
        assert "hint" not in ana.inner_text(".status")
    other = visit(replay)
    with reported(other):
        other.get_by_role("button", name="first position").click()
        other.locator(".status", has_text="The start;").wait_for()
        assert "hint" not in other.inner_text(".status")
