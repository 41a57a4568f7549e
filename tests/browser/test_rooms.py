"""Rooms and guests in a real browser: private rooms, chat, names, a room inside another site."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from threading import Thread
from typing import Any

import pytest

from tabuleiro_client.net.identity import Identity, identity_text
from tests.browser.conftest import Served
from tests.browser.play import LIMIT_MS, join, reported, start

pytestmark = pytest.mark.browser


@contextmanager
def other_site(body: str) -> Iterator[str]:
    """The address of a site with one page."""

    class Handler(BaseHTTPRequestHandler):
        def do_GET(self) -> None:
            self.send_response(200)
            self.send_header("Content-Type", "text/html")
            self.end_headers()
            self.wfile.write(body.encode())

        def log_message(self, format: str, *arguments: object) -> None:
            pass

    with ThreadingHTTPServer(("127.0.0.1", 0), Handler) as site:
        thread = Thread(target=site.serve_forever)
        thread.start()
        try:
            yield f"http://localhost:{site.server_port}/"
        finally:
            site.shutdown()
            thread.join()


def take_name(page: Any, name: str) -> None:
    page.get_by_role("button", name="change name").click()
    page.get_by_label("your name").fill(name)
    page.get_by_role("button", name="Save").click()


def test_a_private_room_is_entered_by_its_fragment_alone(visit: Any, served: Served) -> None:
    ana = visit()
    start(ana, "minefield", "", "Private")
    address = ana.locator(".invite code").first.inner_text()
    assert "#" in address
    path = ana.url.removeprefix(served.url)
    bare, _, secret = path.partition("#")
    assert secret
    for wrong in (bare, f"{bare}#%", f"{bare}#{secret}x"):
        visit(wrong).locator(".status", has_text="This room is private").wait_for()
    requests: list[str] = []
    friend = visit(path, prepare=lambda page: page.on("request", lambda request: requests.append(request.url)))
    join(friend)
    ana.wait_for_selector("circle.next")
    assert requests
    assert not any(secret in url for url in requests)


def test_chat_is_text_whatever_it_looks_like(visit: Any, served: Served) -> None:
    ana = visit()
    start(ana, "minefield", "")
    eva = visit(ana.url.removeprefix(served.url))
    eva.wait_for_selector("svg.board")
    with reported(eva):
        for written, shown in (
            ("<b>good\u202egame</b>", "<b>goodgame</b>"),
            ("<img src=x onerror=alert(1)>", "<img src=x onerror=alert(1)>"),
            ("a\u0007b\u200bc\u2066d", "abcd"),
            ("javascript:alert(1) &amp; &lt;", "javascript:alert(1) &amp; &lt;"),
        ):
            ana.get_by_label("chat message").fill(written)
            ana.get_by_role("button", name="Send").click()
            eva.locator(".lines p", has_text=shown).wait_for()
        assert eva.locator(".lines b b, .lines img, .lines script, #live b, #live img").count() == 0


def test_people_on_the_home_page_write_to_each_other_and_markup_stays_text(visit: Any) -> None:
    ana, rui = visit(), visit()
    with reported(ana), reported(rui):
        ana.get_by_label("chat message").fill("<b>a game,\u202e anybody?</b>")
        ana.get_by_role("button", name="Send").click()
        for page in (ana, rui):
            page.get_by_role("log").get_by_text("<b>a game, anybody?</b>").wait_for()
            assert page.get_by_role("log").locator("b").count() == 1
        assert ana.get_by_label("chat message").input_value() == ""
        late = visit()
        late.get_by_role("log").get_by_text("<b>a game, anybody?</b>").wait_for()
        for number in range(5):
            rui.get_by_label("chat message").fill(f"line {number}")
            rui.get_by_role("button", name="Send").click()
            ana.get_by_role("log").get_by_text(f"line {number}").wait_for()
        rui.get_by_label("chat message").fill("too much")
        rui.get_by_role("button", name="Send").click()
        rui.get_by_role("alert").get_by_text("at most 5 lines").wait_for()
        assert rui.get_by_label("chat message").input_value() == "too much"


def test_a_name_is_changed_and_kept(visit: Any) -> None:
    page = visit()
    take_name(page, "browser-ana")
    page.locator(".guest", has_text="browser-ana").wait_for()
    page.reload()
    page.locator(".guest", has_text="browser-ana").wait_for()


def test_a_name_that_is_none_is_refused_and_the_old_one_kept(visit: Any) -> None:
    page = visit()
    take_name(page, "x<y")
    page.locator(".guest .problem", has_text="This is no name").wait_for()
    page.reload()
    page.locator(".guest", has_text="guest-").wait_for()


def test_a_name_comes_along_from_another_computer(visit: Any, served: Served) -> None:
    page = visit()
    take_name(page, "traveller")
    page.locator(".guest", has_text="traveller").wait_for()
    token = page.evaluate("() => JSON.parse(localStorage.getItem('tabuleiro.identity')).token")
    other = visit()
    take_name(other, identity_text(Identity(served.address, "traveller", token)))
    other.locator(".guest", has_text="traveller").wait_for()


def test_a_room_inside_another_site_only_shows(visit: Any, served: Served) -> None:
    page = visit()
    start(page, "minefield")
    page.wait_for_selector("circle.next")
    code = page.url.rpartition("/")[2]
    # In the same browser, so that the player's own name is there.
    page.goto(f"{served.url}/embed/{code}")
    page.wait_for_selector("svg.board")
    page.locator(".connection", has_text="Connected").wait_for()
    assert page.locator("form, .actions button, circle.next").count() == 0
    board = page.locator("svg.board").bounding_box()
    page.mouse.click(board["x"] + board["width"] / 2, board["y"] + board["height"] / 2)
    page.goto(f"{served.url}/r/{code}")
    page.wait_for_selector("circle.next")
    assert page.locator(".moves li").count() == 0


def test_another_site_may_frame_the_embedded_room_and_nothing_else(
    visit: Any, browser: Any, served: Served
) -> None:
    ana = visit()
    start(ana, "minefield")
    code = ana.url.rpartition("/")[2]
    frames = "".join(f'<iframe src="{served.url}/{kind}/{code}"></iframe>' for kind in ("embed", "r"))
    page = browser.new_page()
    said: list[str] = []
    page.on("console", lambda message: said.append(message.text))
    with other_site(frames) as address:
        page.goto(address)
        page.frame_locator("iframe").first.locator("svg.board").wait_for(timeout=LIMIT_MS)
        assert page.frame_locator("iframe").nth(1).locator("svg.board").count() == 0
    assert any("frame-ancestors 'none'" in text for text in said)
    page.close()


def test_whoever_leaves_is_no_longer_counted(visit: Any, served: Served) -> None:
    ana = visit()
    start(ana, "minefield")
    eva = visit(ana.url.removeprefix(served.url))
    ana.locator(".facts", has_text="1 watching").wait_for()
    eva.locator("a.brand").click()
    ana.wait_for_function("() => !/watching/.test(document.querySelector('.facts').textContent)")
