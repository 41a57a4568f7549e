"""Pictures of the page in a browser, for README and docs: a match of Virus Wars on a desk, one of Iris on a phone.

Run as a module with the folder to write to; needs playwright and chromium.
"""

from __future__ import annotations

import os
import re
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any, Final

from tabuleiro.rules import State, registry
from tabuleiro_server.bots.levels import choose_turn

MATCHES: Final[dict[str, tuple[dict[str, int | str], int]]] = {
    "virus-wars": ({"rows": 9, "cols": 9, "steps": 3}, 10),
    "iris": ({"side": 5}, 16),
}
"""The options of each match, and the number of its turns; a bot chooses them."""

LEVEL: Final = "hard"

DESK: Final = {"viewport": {"width": 1180, "height": 760}, "color_scheme": "light"}
PHONE: Final = {"viewport": {"width": 390, "height": 780}, "color_scheme": "dark", "is_mobile": True}


@contextmanager
def server(folder: str) -> Iterator[str]:
    """Run a server; yield the address of its page."""
    command = [sys.executable, "-m", "tabuleiro_client", "serve", "--port", "0", "--db", f"{folder}/pictures.db"]
    process = subprocess.Popen(command, stdout=subprocess.PIPE, text=True, env=dict(os.environ))
    try:
        assert process.stdout is not None
        found = re.search(r"ws://(\S+)", process.stdout.readline())
        assert found is not None
        yield f"http://{found.group(1)}"
    finally:
        process.terminate()
        process.wait(20)


def arrive(browser: Any, address: str, name: str, look: dict[str, Any]) -> Any:
    """Return a page on which a guest has taken a name."""
    page = browser.new_context(**look).new_page()
    page.goto(address)
    page.get_by_role("button", name="change name").click()
    page.get_by_label("your name").fill(name)
    page.get_by_role("button", name="Save").click()
    page.locator(".guest", has_text=name).wait_for()
    return page


def play(
    browser: Any, address: str, game: str, names: tuple[str, str], look: dict[str, Any], target: Path
) -> None:
    """Play a match between two guests and take a picture of what the second one sees."""
    options, turns_count = MATCHES[game]
    ana, rui = arrive(browser, address, names[0], DESK), arrive(browser, address, names[1], look)
    ana.locator("label.field", has_text=re.compile("^Game")).locator("select").select_option(game)
    ana.locator("label.field", has_text=re.compile("^Opponent")).locator("select").select_option("")
    ana.get_by_text("More settings").click()
    for key, value in options.items():
        ana.locator("label.field", has_text=re.compile(f"^{key}")).locator("input").fill(str(value))
    ana.get_by_role("button", name="Start").click()
    ana.wait_for_selector("svg.board")
    rui.goto(ana.url)
    rui.get_by_role("button", name="Take the seat").click()
    players, played_count = (ana, rui), 0
    state: State = registry.load(game, options).initial_state()
    for _ in range(turns_count):
        mover, texts = players[state.to_move or 0], []
        for action in choose_turn(state, LEVEL, played_count, None):
            texts.append(state.action_to_string(action))
            state = state.child(action)
        mover.locator(".status", has_text="Your turn").wait_for()
        mover.get_by_label("type a turn").fill(" ".join(texts))
        mover.locator(".typed button").click()
        played_count += len(texts)
        for page in players:
            wanted = f"() => document.querySelectorAll('.moves li').length === {played_count}"
            page.wait_for_function(wanted)
    ana.get_by_label("chat message").fill("well seen")
    ana.get_by_role("button", name="Send").click()
    rui.locator(".lines", has_text="well seen").wait_for()
    rui.evaluate("() => scrollTo(0, 0)")
    rui.screenshot(path=target)


def main(folder: str) -> None:
    """Write the pictures."""
    from playwright.sync_api import sync_playwright

    chromium = shutil.which("chromium") or shutil.which("google-chrome")
    with tempfile.TemporaryDirectory() as data, server(data) as address, sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=chromium, args=["--no-sandbox"])
        play(browser, address, "virus-wars", ("ana", "rui"), DESK, Path(folder, "page.png"))
        play(browser, address, "iris", ("eva", "tom"), PHONE, Path(folder, "page-phone.png"))
        browser.close()


if __name__ == "__main__":
    main(sys.argv[1])
