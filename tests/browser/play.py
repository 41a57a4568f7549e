"""Matches played in a browser with its real mouse, fingers and keys."""

from __future__ import annotations

import random
import re
from collections import deque
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

from tabuleiro.rules import State, registry

LIMIT_MS = 20_000
CLICKS_MAX_COUNT = 1_000
OVER = re.compile(r"wins|draw", re.IGNORECASE)

SMALL: dict[str, dict[str, str]] = {
    "virus-wars": {"rows": "4", "cols": "4", "steps": "2"},
    "xero-g": {"setup": "random"},
    "iris": {"side": "5"},
    "minefield": {"size": "5"},
}
"""Options of short matches."""

READY = """() => document.querySelector('.actions .primary, circle.next, rect.next, .actions .choice')
    || /wins|draw/i.test(document.querySelector('.status').textContent)"""
WAYS = """() => [...document.querySelectorAll('circle.next, rect.next')].map((way) => {
    const {x, y, width, height} = way.getBoundingClientRect();
    return [x + width / 2, y + height / 2, way.tagName];
})"""


@contextmanager
def reported(page: Any) -> Iterator[None]:
    """Say what the page showed if a step fails."""
    try:
        yield
    except Exception as error:
        raise AssertionError(f"{page.url}: {page.inner_text('body')[:600]}") from error


def start(page: Any, game: str, opponent: str = "random", *checked: str, **settings: str) -> None:
    """Start a match by the form of the home page."""
    with reported(page):
        page.locator("label.field", has_text=re.compile("^Game")).locator("select").select_option(game)
        page.locator("label.field", has_text=re.compile("^Opponent")).locator("select").select_option(opponent)
        page.get_by_text("More settings").click()
        for label, value in (SMALL[game] | settings).items():
            row = page.locator("label.field", has_text=re.compile(rf"^{label}", re.IGNORECASE))
            if row.locator("select").count():
                row.locator("select").select_option(value)
            else:
                row.locator("input").fill(value)
        for label in checked:
            page.get_by_label(label).check()
        page.get_by_role("button", name="Start").click()
        page.wait_for_selector("svg.board")


def join(page: Any) -> None:
    page.get_by_role("button", name="Take the seat").click()


def point(page: Any, x: float, y: float, *, by_touch: bool) -> None:
    if by_touch:
        page.touchscreen.tap(x, y)
    else:
        page.mouse.click(x, y)


def next_button(page: Any, chance: random.Random) -> Any | None:
    """The button that completes the turn, or one of the choices where the board itself offers no way."""
    primary = page.query_selector(".actions .primary")
    if primary is not None or page.evaluate(WAYS):
        return primary
    choices = page.query_selector_all(".actions .choice")
    return chance.choice(choices) if choices else None


def press(button: Any, *, by_touch: bool) -> bool:
    """Press a button; False if the page has taken it away meanwhile."""
    from playwright.sync_api import Error  # not installed where only the other tests run

    try:
        button.tap() if by_touch else button.click()
    except Error:
        if button.evaluate("button => button.isConnected"):
            raise
        return False
    return True


def step(page: Any, chance: random.Random, *, by_touch: bool = False) -> bool:
    """Do one thing in the own turn by pointing; return False once the match is over."""
    page.wait_for_function(READY, timeout=LIMIT_MS)
    if OVER.search(page.inner_text(".status")):
        return False
    button = next_button(page, chance)
    if button is not None:
        return press(button, by_touch=by_touch) or step(page, chance, by_touch=by_touch)
    page.evaluate("() => document.querySelector('svg.board').scrollIntoView({block: 'center'})")
    ways = page.evaluate(WAYS)
    if ways:
        sides = [way for way in ways if way[2] == "rect"]
        x, y, _ = chance.choice(sides or ways)
        point(page, x, y, by_touch=by_touch)
    return True


def play_to_the_end(page: Any, seed: int = 1, *, by_touch: bool = False) -> str:
    """Play against a bot; return what the page says at the end."""
    chance = random.Random(seed)
    with reported(page):
        for _ in range(CLICKS_MAX_COUNT):
            if not step(page, chance, by_touch=by_touch):
                return str(page.inner_text(".status"))
        raise AssertionError("the match did not end")


def played(page: Any) -> list[str]:
    """The actions of the match that is shown."""
    return list(page.locator(".moves li").all_inner_texts())


def wait_for_actions(page: Any, count: int) -> None:
    with reported(page):
        page.wait_for_function(
            f"() => document.querySelectorAll('.moves li').length === {count}", timeout=LIMIT_MS
        )


def position(game: str, options: dict[str, int | str], actions: list[str]) -> State:
    """The position after actions, by the rules."""
    state: State = registry.load(game, options).initial_state()
    for text in actions:
        state = state.child(state.string_to_action(text))
    return state


def way_by_keys(layout: Any, start_index: int, goal_index: int) -> list[str]:
    """The keys that walk from one cell of a board to another."""
    place = {(x, y): index for index, (x, y) in enumerate(zip(layout.xs, layout.ys, strict=True))}
    is_hex = layout.topology == "hex"
    steps = {"ArrowLeft": (-2, 0), "ArrowRight": (2, 0)}
    if is_hex:
        steps |= {"ArrowUp": (1, -1), "ArrowDown": (1, 1), "Shift+ArrowUp": (-1, -1), "Shift+ArrowDown": (-1, 1)}
    else:
        steps |= {"ArrowUp": (0, -1), "ArrowDown": (0, 1)}
    waiting, before = deque([start_index]), {start_index: (start_index, "")}
    while waiting:
        here = waiting.popleft()
        for key, (dx, dy) in steps.items():
            there = place.get((layout.xs[here] + dx, layout.ys[here] + dy))
            if there is not None and there not in before:
                before[there] = (here, key)
                waiting.append(there)
    keys: list[str] = []
    while goal_index != start_index:
        goal_index, key = before[goal_index]
        keys.insert(0, key)
    return keys
