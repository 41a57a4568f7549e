"""The page with a server of two nodes on one PostgreSQL: it follows its room to whichever node has it."""

from __future__ import annotations

import random
import re
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from tests.browser.conftest import Served
from tests.browser.play import join, played, reported, start, step, wait_for_actions
from tests.e2e.server_process import free_port
from tests.postgres import cluster, reason_to_skip

pytestmark = [pytest.mark.browser, pytest.mark.slow]


class Nodes:
    """Two nodes; each has a name of its own, which is its port."""

    def __init__(self, folder: Path, db: str) -> None:
        self._folder = folder
        self._db = db
        self.nodes: dict[str, Served] = {}
        for name in "ab":
            self.begin(name)

    def begin(self, name: str) -> Served:
        """Start a node."""
        port = free_port()
        settings: dict[str, Any] = {"node": name, "node_url": f"ws://127.0.0.1:{port}/node/{name}"}
        self.nodes[name] = Served(self._folder, self._db, port, shutdown_notice_ms=0, **settings)
        return self.nodes[name]

    def __getitem__(self, name: str) -> Served:
        return self.nodes[name]


@pytest.fixture(scope="module")
def postgres_url() -> Iterator[str]:
    """The address of a database of its own."""
    if reason := reason_to_skip():
        pytest.skip(reason)
    with cluster() as running:
        running.sql("CREATE DATABASE games")
        yield running.url("games")


@pytest.fixture
def nodes(tmp_path: Path, postgres_url: str) -> Iterator[Nodes]:
    """Two nodes, ``a`` and ``b``."""
    nodes = Nodes(tmp_path, postgres_url)
    yield nodes
    for node in nodes.nodes.values():
        node.kill()


Visit = Callable[..., Any]


def room_path(page: Any) -> str:
    """The part of the address of a page that names its room."""
    found = re.search(r"/r/.*", page.url)
    assert found is not None
    return found.group()


def start_between(visit: Visit, nodes: Nodes, **options: Any) -> tuple[Any, Any]:
    """A match between a page of node ``a``, which has the room, and one of ``b``."""
    page = visit(nodes["a"].url, **options)
    start(page, "minefield", "")
    other = visit(nodes["b"].url + room_path(page))
    join(other)
    page.wait_for_selector("circle.next")
    return page, other


def take_turns(pages: tuple[Any, Any], chance: random.Random, since: int, count: int) -> None:
    """Let each page play in turn, and both show every action."""
    for ply in range(since, since + count):
        with reported(pages[ply % 2]):
            step(pages[ply % 2], chance)
        for page in pages:
            wait_for_actions(page, ply + 1)
    assert played(pages[0]) == played(pages[1])


def test_two_pages_of_two_nodes_play_a_match(visit: Visit, nodes: Nodes) -> None:
    """The second one connects to another host than its own, which its policy and the node have to allow."""
    page, other = start_between(visit, nodes)
    take_turns((page, other), random.Random(1), 0, 4)
    other.get_by_label("chat message").fill("over there")
    other.get_by_role("button", name="Send").click()
    page.locator(".lines p", has_text="over there").wait_for()
    assert other.url.startswith(nodes["b"].url)


def test_quick_play_on_two_nodes_leads_into_one_room(visit: Visit, nodes: Nodes) -> None:
    page = visit(nodes["a"].url)
    page.get_by_role("button", name="Iris", exact=True).click()
    page.wait_for_selector("svg.board")
    other = visit(nodes["b"].url)
    with reported(other):
        other.get_by_role("button", name="Iris", exact=True).click()
        other.wait_for_selector("svg.board")
    assert room_path(page) == room_path(other)
    page.wait_for_selector("circle.next")


def test_a_match_goes_on_without_a_word_when_its_node_is_stopped(visit: Visit, nodes: Nodes) -> None:
    """Pages of the other node do not notice; those of the node itself connect to the other one."""
    chance = random.Random(2)
    page, other = start_between(visit, nodes)
    take_turns((page, other), chance, 0, 2)
    other.evaluate(
        """() => {
            window.said = [];
            const shown = document.querySelector('.connection');
            new MutationObserver(() => window.said.push(shown.textContent)).observe(shown, {childList: true});
        }"""
    )
    nodes["a"].stop()
    take_turns((page, other), chance, 2, 4)
    assert other.evaluate("window.said") == []


def test_a_match_goes_on_at_another_node_when_its_own_is_killed(visit: Visit, nodes: Nodes) -> None:
    chance = random.Random(3)
    page, other = start_between(visit, nodes)
    take_turns((page, other), chance, 0, 1)
    nodes["a"].kill()
    other.locator(".connection.bad").wait_for()
    # Played without a connection: it goes out when the room is back, once.
    step(other, chance)
    for each in (page, other):
        wait_for_actions(each, 2)
        each.locator(".connection", has_text="Connected").wait_for()
    take_turns((page, other), chance, 2, 3)


def test_a_page_that_may_not_connect_to_a_newer_node_is_loaded_again_but_not_over_and_over(
    browser: Any, served: Served
) -> None:
    """Its policy knows the nodes that there were when it was loaded."""
    context = browser.new_context()
    page = context.new_page()
    page.clock.install()
    page.goto(served.url)
    page.locator(".connection", has_text="Connected").wait_for()
    connect = "() => { window.isOld = true; new WebSocket('ws://127.0.0.1:1/'); }"
    with page.expect_console_message(lambda said: "Content Security Policy" in said.text):
        page.evaluate(connect)
    assert page.evaluate("window.isOld")
    page.clock.fast_forward(60_000)
    with page.expect_event("load"):
        page.evaluate(connect)
    assert page.evaluate("window.isOld") is None
    page.locator(".connection", has_text="Connected").wait_for()
    context.close()
