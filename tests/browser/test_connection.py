"""The way back to the server in a real browser: no move is lost or doubled."""

from __future__ import annotations

import json
import random
from typing import Any

import pytest

from tests.browser.conftest import Served
from tests.browser.play import join, played, reported, start, step, wait_for_actions

pytestmark = pytest.mark.browser


STEPS_MAX_COUNT = 50


class Line:
    """A page's way to the server, on which answers get lost, or everything does."""

    def __init__(self) -> None:
        self.loses_answers_to = ""
        self.sent: list[dict[str, Any]] = []
        self._awaited: set[int] = set()
        self._is_cut = [False]

    def tap(self, page: Any) -> None:
        page.route_web_socket("**/*", self._connected)

    def fall_silent(self) -> None:
        """Let nothing through any more, without an end, until the page connects again."""
        self._is_cut[0] = True

    def _connected(self, here: Any) -> None:
        server = here.connect_to_server()
        self._is_cut = is_cut = [False]

        def up(text: str) -> None:
            message = json.loads(text)
            self.sent.append(message)
            if message["type"] == self.loses_answers_to:
                self._awaited.add(message["id"])
            if not is_cut[0]:
                server.send(text)

        def down(text: str) -> None:
            message = json.loads(text)
            if message.get("id") in self._awaited:
                self._awaited.clear()
                self.loses_answers_to = ""
                is_cut[0] = True
                server.close()
                here.close(code=3001)
            elif not is_cut[0]:
                here.send(text)

        here.on_message(up)
        server.on_message(down)


def plays(line: Line) -> int:
    return sum(message["type"] == "play" for message in line.sent)


def test_a_killed_server_takes_no_move_away(visit: Any, served: Served) -> None:
    chance = random.Random(1)
    page = visit()
    start(page, "minefield", "")
    other = visit(page.url.removeprefix(served.url))
    join(other)
    page.wait_for_selector("circle.next")
    step(page, chance)
    wait_for_actions(page, 1)
    other.wait_for_selector("circle.next")
    served.kill()
    page.locator(".connection.bad", has_text="Connection lost").wait_for()
    other.locator(".connection.bad", has_text="Connection lost").wait_for()
    # Played without a connection: it goes out when the server is back, once.
    step(other, chance)
    served.start()
    for each in (page, other):
        wait_for_actions(each, 2)
        each.locator(".connection", has_text="Connected").wait_for()
    assert played(page) == played(other)
    step(page, chance)
    wait_for_actions(other, 3)


def test_a_server_killed_in_mid_turn_leaves_the_turn_to_be_made_again(visit: Any, served: Served) -> None:
    chance = random.Random(2)
    page = visit()
    start(page, "virus-wars", rows="5", cols="5", steps="3")
    page.wait_for_selector("circle.next")
    step(page, chance)
    page.get_by_role("button", name="Step back").wait_for()
    served.kill()
    page.locator(".connection.bad").wait_for()
    served.start()
    page.locator(".connection", has_text="Connected").wait_for()
    page.locator(".status", has_text="3 actions left").wait_for()
    assert played(page) == []
    for _ in range(STEPS_MAX_COUNT):
        if len(played(page)) >= 3:
            break
        step(page, chance)
    assert len(played(page)) >= 3


def test_a_move_whose_answer_was_lost_is_not_played_twice(visit: Any, served: Served) -> None:
    line, chance = Line(), random.Random(3)
    page = visit(prepare=line.tap)
    start(page, "minefield", "")
    other = visit(page.url.removeprefix(served.url))
    join(other)
    page.wait_for_selector("circle.next")
    line.loses_answers_to = "play"
    step(page, chance)
    other.wait_for_selector("circle.next")
    wait_for_actions(page, 1)
    page.locator(".connection", has_text="Connected").wait_for()
    with reported(page):
        page.wait_for_function("() => !/Sending/.test(document.querySelector('.status').textContent)")
    assert plays(line) == 2
    assert played(page) == played(other)
    entered = [message for message in line.sent if message["type"] == "watch-room"]
    assert entered[-1]["since"] > 0
    step(other, chance)
    wait_for_actions(page, 2)


def test_a_line_of_chat_whose_answer_was_lost_is_not_said_twice(visit: Any) -> None:
    line = Line()
    page = visit(prepare=line.tap)
    start(page, "minefield")
    line.loses_answers_to = "say"
    page.get_by_label("chat message").fill("only once")
    page.get_by_role("button", name="Send").click()
    page.locator(".status", has_text="not known whether it was done").wait_for()
    page.locator(".connection", has_text="Connected").wait_for()
    page.locator(".lines p", has_text="only once").wait_for()
    assert page.locator(".lines p", has_text="only once").count() == 1


def test_a_phone_that_slept_finds_its_connection_dead_and_comes_back(visit: Any, served: Served) -> None:
    line, chance = Line(), random.Random(4)
    page = visit(is_phone=True, prepare=lambda page: (page.clock.install(), line.tap(page)))
    start(page, "minefield", "")
    other = visit(page.url.removeprefix(served.url))
    join(other)
    page.wait_for_selector("circle.next")
    step(page, chance, by_touch=True)
    # A tap is told to the page a moment later: until then a second step would choose another cell.
    page.locator(".actions .primary").wait_for()
    step(page, chance, by_touch=True)
    wait_for_actions(page, 1)
    # The phone sleeps: what comes is lost, and nobody closes the connection.
    line.fall_silent()
    step(other, chance)
    wait_for_actions(other, 2)
    assert len(played(page)) == 1
    page.evaluate("() => document.dispatchEvent(new Event('visibilitychange'))")
    with reported(page):
        for _ in range(8):
            page.clock.run_for(2_000)
            if len(played(page)) == 2:
                break
        wait_for_actions(page, 2)
    page.locator(".connection", has_text="Connected").wait_for()


def test_a_network_that_was_off_is_noticed_and_its_return_too(visit: Any, served: Served) -> None:
    chance = random.Random(5)
    page = visit()
    start(page, "minefield", "")
    other = visit(page.url.removeprefix(served.url))
    join(other)
    page.wait_for_selector("circle.next")
    page.context.set_offline(True)
    step(page, chance)
    page.context.set_offline(False)
    wait_for_actions(other, 1)
    wait_for_actions(page, 1)
    assert played(page) == played(other)
