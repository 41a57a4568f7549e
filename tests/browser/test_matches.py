"""Whole matches in a real browser: by mouse, by touch, between two browsers, and against a terminal."""

from __future__ import annotations

import os
import random
import re
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from tests.browser.conftest import Served
from tests.browser.play import (
    OVER,
    SMALL,
    join,
    play_to_the_end,
    played,
    position,
    reported,
    start,
    step,
    wait_for_actions,
)

pytestmark = pytest.mark.browser

GAMES = list(SMALL)
FULL: dict[str, dict[str, str]] = {
    "virus-wars": {"rows": "7", "cols": "7", "steps": "3"},
    "xero-g": {"setup": "manual"},
    "iris": {"side": "6"},
    "minefield": {"size": "9"},
}
"""Options of longer matches, for the long form."""


@pytest.mark.parametrize("game", GAMES)
def test_a_match_is_played_to_its_end_by_clicks(visit: Any, game: str) -> None:
    page = visit()
    start(page, game)
    assert OVER.search(play_to_the_end(page))
    assert page.get_by_role("button", name="Rematch").is_visible()
    page.get_by_role("link", name="replay").click()
    page.locator(".status", has_text="Action").wait_for()
    page.keyboard.press("Home")
    page.wait_for_function("() => /The start/.test(document.querySelector('.status').textContent)")


@pytest.mark.parametrize("game", GAMES)
def test_a_match_is_played_to_its_end_on_a_phone_with_touch(visit: Any, game: str) -> None:
    page = visit(is_phone=True)
    start(page, game)
    assert OVER.search(play_to_the_end(page, seed=2, by_touch=True))
    assert page.evaluate("document.documentElement.scrollWidth") <= 360
    assert page.locator(".focus").count() == 0


@pytest.mark.slow
@pytest.mark.parametrize("is_phone", [False, True], ids=["desktop", "phone"])
@pytest.mark.parametrize("game", GAMES)
def test_a_long_match_is_played_to_its_end(visit: Any, game: str, *, is_phone: bool) -> None:
    page = visit(is_phone=is_phone)
    start(page, game, **FULL[game])
    assert OVER.search(play_to_the_end(page, seed=3, by_touch=is_phone))


def test_cells_tapped_before_the_server_has_answered_are_taken_in_order(visit: Any) -> None:
    page = visit()
    start(page, "virus-wars", rows="5", cols="5", steps="3")
    page.wait_for_selector("circle.next")
    page.evaluate(
        "() => { for (const cell of ['a4', 'b4']) document.querySelector(`[data-cell=${cell}]`).click(); }"
    )
    page.locator(".status", has_text="1 action left").wait_for()
    page.locator("[data-cell=c4]").evaluate("(cell) => { cell.click(); cell.click(); }")
    page.locator(".status", has_text="a4 b4 c4: play it?").wait_for()
    page.locator("[data-cell=c4]").evaluate("(cell) => cell.click()")
    assert page.locator(".actions .primary").inner_text() == "Play"
    for left in ("1 action left", "2 actions left"):
        page.get_by_role("button", name="Step back").click()
        page.locator(".status", has_text=left).wait_for()
    page.get_by_label("type a turn").fill("a4 b4 c4")
    page.get_by_label("type a turn").press("Enter")
    page.wait_for_function("() => document.querySelectorAll('.moves li').length >= 3")
    assert played(page)[:3] == ["a4", "b4", "c4"]


def test_two_browsers_play_a_match_and_a_third_watches(visit: Any, served: Served) -> None:
    ana = visit()
    start(ana, "minefield", "")
    path = ana.url.removeprefix(served.url)
    rui, eva = visit(path), visit(path)
    join(rui)
    chance = random.Random(4)
    for count in range(1, 26):
        # Whoever is to move: a side without a turn is skipped by the rules.
        ana.wait_for_function("() => !/Waiting|Sending/.test(document.querySelector('.status').textContent)")
        status = ana.inner_text(".status")
        if OVER.search(status):
            break
        mover = ana if "Your turn" in status else rui
        step(mover, chance)
        for page in (ana, rui, eva):
            wait_for_actions(page, count)
        assert eva.locator("circle.next").count() == 0
    endings = {page.inner_text(".status") for page in (ana, rui, eva)}
    assert len(endings) == 1
    assert OVER.search(endings.pop())
    assert played(ana) == played(rui) == played(eva)


def test_a_browser_plays_a_match_against_a_terminal(visit: Any, served: Served, tmp_path: Path) -> None:
    page = visit()
    start(page, "minefield", "")
    code = page.url.rpartition("/")[2]
    command = [sys.executable, "-m", "tabuleiro_client", "play", "--plain", "--ascii"]
    command += ["--server", served.address, "--room", code, "--name", "terminal"]
    environment = {**os.environ, "TABULEIRO_DATA_DIR": str(tmp_path), "TABULEIRO_CONFIG_DIR": str(tmp_path)}
    terminal = subprocess.Popen(
        command,
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
        env=environment,
    )
    assert terminal.stdin is not None
    try:
        chance, options = random.Random(5), {"size": 5}
        page.locator(".players", has_text="terminal").wait_for()
        while (state := position("minefield", options, actions := played(page))).to_move is not None:
            if state.to_move == 0:
                step(page, chance)
            else:
                action = chance.choice(list(state.legal_actions()))
                terminal.stdin.write(state.action_to_string(action) + "\n")
                terminal.stdin.flush()
            wait_for_actions(page, len(actions) + 1)
        with reported(page):
            page.wait_for_function("() => /wins|draw/i.test(document.querySelector('.status').textContent)")
        said, _ = terminal.communicate(timeout=20)
    finally:
        terminal.kill()
        terminal.wait()
    ending = re.search(r"^winner: (.*)$", said, re.MULTILINE)
    assert ending is not None, said
    outcome = position("minefield", options, played(page)).outcome
    assert outcome is not None
    assert ("terminal" in ending.group(1)) == (outcome.winner == 1)
