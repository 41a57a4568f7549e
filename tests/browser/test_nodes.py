"""The page with a server of two nodes on one PostgreSQL: it follows its room to whichever node has it."""

from __future__ import annotations

import random
import re
import socket
import socketserver
import threading
from collections.abc import Callable, Iterator
from contextlib import suppress
from pathlib import Path
from typing import Any

import pytest

from tests.browser.conftest import Served
from tests.browser.play import join, played, reported, start, step, wait_for_actions
from tests.e2e.server_process import free_port
from tests.postgres import cluster_with_games

pytestmark = [pytest.mark.browser, pytest.mark.slow]


class OneName(socketserver.ThreadingTCPServer):
    """One address for all nodes, as a proxy has it: `/node/NAME` leads to that one, all else to the first alive.

    ``ports`` are those of the nodes by their names.
    """

    daemon_threads = True

    def __init__(self) -> None:
        super().__init__(("127.0.0.1", 0), Passing)
        self.host = f"127.0.0.1:{self.server_address[1]}"
        self.ports: dict[str, int] = {}


class Passing(socketserver.StreamRequestHandler):
    """A connection that is passed on to a node until either side ends it."""

    server: OneName

    def handle(self) -> None:
        head = self.rfile.readline()
        named = re.match(rb"GET /node/(\w+) ", head)
        for name in [named[1].decode()] if named else [*self.server.ports]:
            with suppress(OSError), socket.create_connection(("127.0.0.1", self.server.ports[name])) as node:
                node.sendall(re.sub(rb"/node/\w+", b"/", head))
                back = threading.Thread(target=self._pass_back, args=(node,))
                back.start()
                with suppress(OSError):
                    while data := self.rfile.read1(65_536):  # type: ignore[attr-defined]
                        node.sendall(data)
                    node.shutdown(socket.SHUT_RDWR)
                back.join()
                return

    def _pass_back(self, node: socket.socket) -> None:
        with suppress(OSError):
            while data := node.recv(65_536):
                self.connection.sendall(data)
        with suppress(OSError):
            self.connection.shutdown(socket.SHUT_RDWR)


class Nodes:
    """Two nodes, ``a`` and ``b``: each with a name of its own, which is its port, or both behind ``one_name``."""

    def __init__(self, folder: Path, db: str, one_name: OneName | None = None) -> None:
        self.nodes: dict[str, Served] = {}
        for name in "ab":
            port = free_port()
            host = f"127.0.0.1:{port}" if one_name is None else one_name.host
            settings: dict[str, Any] = {"node": name, "node_url": f"ws://{host}/node/{name}"}
            self.nodes[name] = Served(folder, db, port, shutdown_notice_ms=0, **settings)
            if one_name is not None:
                one_name.ports[name] = port

    def __getitem__(self, name: str) -> Served:
        return self.nodes[name]

    def kill(self) -> None:
        """Kill those that still run."""
        for node in self.nodes.values():
            node.kill()


@pytest.fixture(scope="module")
def postgres_url() -> Iterator[str]:
    """The address of a database of its own."""
    with cluster_with_games() as running:
        yield running.url("games")


@pytest.fixture
def nodes(tmp_path: Path, postgres_url: str) -> Iterator[Nodes]:
    """Two nodes, ``a`` and ``b``."""
    nodes = Nodes(tmp_path, postgres_url)
    yield nodes
    nodes.kill()


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


@pytest.fixture
def one_name() -> Iterator[OneName]:
    """A proxy."""
    with OneName() as proxy:
        serving = threading.Thread(target=proxy.serve_forever)
        serving.start()
        yield proxy
        proxy.shutdown()
        serving.join()


def test_nodes_behind_one_name_are_reached_by_their_paths(
    visit: Visit, one_name: OneName, tmp_path: Path, postgres_url: str
) -> None:
    chance, nodes = random.Random(4), Nodes(tmp_path, postgres_url, one_name)
    try:
        page = visit(f"http://{one_name.host}/")
        start(page, "minefield", "")
        one_name.ports = {name: one_name.ports[name] for name in "ba"}
        other = visit(page.url)
        join(other)
        page.wait_for_selector("circle.next")
        take_turns((page, other), chance, 0, 2)
        nodes["a"].stop()
        take_turns((page, other), chance, 2, 3)
    finally:
        nodes.kill()


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
