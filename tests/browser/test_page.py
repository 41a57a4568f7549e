"""The page in a real browser: whole matches, watching, private rooms, chat, a killed server, the keyboard."""

from __future__ import annotations

import re
from typing import Any

import pytest

from tabuleiro.rules import registry
from tabuleiro_client.net.identity import Identity, identity_text
from tests.browser.conftest import LIMIT_MS, Served, reported

pytestmark = pytest.mark.browser

SMALL: dict[str, dict[str, str]] = {
    "virus-wars": {"rows": "4", "cols": "4", "steps": "2"},
    "xero-g": {"setup": "random"},
    "iris": {"side": "5"},
    "minefield": {"size": "5"},
}
OVER = re.compile(r"wins|draw", re.IGNORECASE)
CLICKS_MAX_COUNT = 600


def start(page: Any, game: str, opponent: str = "random", **fields: str) -> None:
    """Start a match by the form of the home page."""
    with reported(page):
        page.locator("label.field", has_text=re.compile("^Game")).locator("select").select_option(game)
        page.locator("label.field", has_text=re.compile("^Opponent")).locator("select").select_option(opponent)
        page.get_by_text("More settings").click()
        for label, value in SMALL[game].items():
            row = page.locator("label.field", has_text=re.compile(rf"^{label}", re.IGNORECASE))
            if row.locator("select").count():
                row.locator("select").select_option(value)
            else:
                row.locator("input").fill(value)
        for label in fields:
            page.get_by_label(label).check()
        page.get_by_role("button", name="Start").click()
        page.wait_for_selector("svg.board")


def step(page: Any) -> bool:
    """Do one thing in the own turn; return False once the match is over."""
    page.wait_for_function(
        """() => document.querySelector('.actions button.primary, circle.next, rect.next, .actions button.pass')
        || /wins|draw/i.test(document.querySelector('.status').textContent)""",
        timeout=LIMIT_MS,
    )
    if OVER.search(page.inner_text(".status")):
        return False
    page.evaluate(
        """() => {
          const play = document.querySelector('.actions button.primary');
          if (play) { play.click(); return; }
          const ways = document.querySelectorAll('circle.next, rect.next');
          if (!ways.length) return;
          const way = ways[Math.floor(Math.random() * ways.length)].getBoundingClientRect();
          document.querySelector('svg.board').dispatchEvent(new MouseEvent('click',
            {clientX: way.x + way.width / 2, clientY: way.y + way.height / 2, bubbles: true}));
        }"""
    )
    return True


def play_to_the_end(page: Any) -> str:
    with reported(page):
        for _ in range(CLICKS_MAX_COUNT):
            if not step(page):
                return str(page.inner_text(".status"))
        raise AssertionError("the match did not end")


@pytest.mark.parametrize("game", ["virus-wars", "minefield", pytest.param("iris", marks=pytest.mark.slow)])
def test_a_match_is_played_to_its_end_by_clicks(visit: Any, game: str) -> None:
    page = visit()
    start(page, game)
    assert OVER.search(play_to_the_end(page))
    assert page.get_by_role("button", name="Rematch").is_visible()
    page.get_by_role("link", name="replay").click()
    page.locator(".status", has_text="Action").wait_for()
    page.keyboard.press("Home")
    page.wait_for_function("() => /The start/.test(document.querySelector('.status').textContent)")


def test_ships_are_chosen_landed_and_put_elsewhere(visit: Any) -> None:
    page = visit()
    start(page, "xero-g")
    with reported(page):
        for _ in range(12):
            if not step(page):
                break
        assert page.locator(".moves li").count() >= 2
        assert page.locator("g.ship").count() == 12


def test_a_match_is_played_on_a_phone_with_touch(visit: Any) -> None:
    page = visit(is_phone=True)
    start(page, "minefield")
    assert page.evaluate("document.documentElement.scrollWidth") <= 360
    board = page.locator("svg.board").bounding_box()
    assert board["width"] >= 340
    page.locator("circle.next").first.tap()
    page.get_by_role("button", name="Play", exact=True).first.tap()
    page.wait_for_function("() => document.querySelectorAll('.moves li').length >= 1")


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


def test_two_browsers_play_and_a_third_watches(visit: Any, served: Served) -> None:
    ana = visit()
    start(ana, "minefield", "")
    path = ana.url.removeprefix(served.url)
    rui, eva = visit(path), visit(path)
    rui.get_by_role("button", name="Take the seat").click()
    ana.wait_for_selector("circle.next")
    step(ana)
    rui.wait_for_selector("circle.next")
    eva.wait_for_function("() => document.querySelectorAll('.stone').length === 1")
    assert eva.locator("circle.next").count() == 0
    ana.get_by_label("chat message").fill("<b>good\u202egame</b>")
    ana.get_by_role("button", name="Send").click()
    eva.locator(".lines", has_text="<b>goodgame</b>").wait_for()
    assert eva.locator(".lines b b").count() == 0


def test_a_private_room_is_entered_by_its_fragment_alone(visit: Any, served: Served) -> None:
    ana = visit()
    start(ana, "minefield", "", Private="yes")
    address = ana.locator(".invite code").first.inner_text()
    assert "#" in address
    path = ana.url.removeprefix(served.url)
    assert path.partition("#")[2]
    stranger = visit(path.partition("#")[0])
    stranger.locator(".status", has_text="This room is private").wait_for()
    friend = visit(path)
    friend.get_by_role("button", name="Take the seat").click()
    ana.wait_for_selector("circle.next")


def test_a_killed_server_takes_no_move_away(visit: Any, served: Served) -> None:
    page = visit()
    start(page, "minefield", "")
    other = visit(page.url.removeprefix(served.url))
    other.get_by_role("button", name="Take the seat").click()
    page.wait_for_selector("circle.next")
    step(page)
    page.wait_for_function("() => document.querySelectorAll('.stone').length === 1")
    served.kill()
    page.locator(".connection", has_text="Connection lost").wait_for()
    served.start()
    other.wait_for_selector("circle.next")
    step(other)
    page.wait_for_function("() => document.querySelectorAll('.stone').length === 2")
    assert page.locator(".moves li").count() == 2


def test_a_turn_is_played_by_the_keyboard_alone(visit: Any) -> None:
    page = visit()
    start(page, "virus-wars")
    page.wait_for_selector("circle.next")
    page.get_by_label("type a turn").focus()
    cells = page.locator("[role=gridcell]")
    names = [cells.nth(place).get_attribute("aria-label") for place in range(cells.count())]
    wanted = next(place for place, name in enumerate(names) if "can be played" in name)
    page.evaluate("() => document.querySelector('[role=gridcell][tabindex=\"0\"]').focus()")
    here = page.evaluate("() => [...document.querySelectorAll('[role=gridcell]')].indexOf(document.activeElement)")
    rows = page.evaluate(
        """() => [...document.querySelectorAll('[role=row]')].map(
            row => [...row.children].map(cell => cell.dataset.cell))"""
    )
    place = {name: (row, column) for row, line in enumerate(rows) for column, name in enumerate(line)}
    in_order = [cells.nth(place).get_attribute("data-cell") for place in range(cells.count())]
    (row, column), (to_row, to_column) = place[in_order[here]], place[in_order[wanted]]
    for _ in range(abs(to_row - row)):
        page.keyboard.press("ArrowDown" if to_row > row else "ArrowUp")
    for _ in range(abs(to_column - column)):
        page.keyboard.press("ArrowRight" if to_column > column else "ArrowLeft")
    page.keyboard.press("Enter")
    page.get_by_role("button", name="Step back").wait_for()


def test_a_name_is_changed_and_kept(visit: Any) -> None:
    page = visit()
    page.get_by_role("button", name="change name").click()
    page.get_by_label("your name").fill("browser-ana")
    page.get_by_role("button", name="Save").click()
    page.locator(".guest", has_text="browser-ana").wait_for()
    page.reload()
    page.locator(".guest", has_text="browser-ana").wait_for()


def test_a_name_comes_along_from_another_computer(visit: Any, served: Served) -> None:
    page = visit()
    page.get_by_role("button", name="change name").click()
    page.get_by_label("your name").fill("traveller")
    page.get_by_role("button", name="Save").click()
    page.locator(".guest", has_text="traveller").wait_for()
    token = page.evaluate("() => JSON.parse(localStorage.getItem('tabuleiro.identity')).token")
    other = visit()
    other.get_by_role("button", name="change name").click()
    other.get_by_label("your name").fill(identity_text(Identity(served.address, "traveller", token)))
    other.get_by_role("button", name="Save").click()
    other.locator(".guest", has_text="traveller").wait_for()


def test_a_room_can_be_shown_inside_another_site(visit: Any, served: Served) -> None:
    page = visit()
    start(page, "minefield")
    code = page.url.rpartition("/")[2]
    shown = visit(f"/embed/{code}")
    shown.wait_for_selector("svg.board")
    assert shown.locator("form").count() == 0


@pytest.mark.parametrize("game", SMALL)
def test_the_rules_have_each_diagram_with_its_caption_and_links_to_the_sources(visit: Any, game: str) -> None:
    diagrams = registry.game_type(game).diagrams.values()
    page = visit(f"/rules/{game}")
    with reported(page):
        page.wait_for_selector("figure figcaption")
        boards = page.eval_on_selector_all(
            "figure", "all => all.map((each) => each.querySelectorAll('svg').length)"
        )
        assert boards == [1 + diagram.shows_both for diagram in diagrams]
        dots = page.eval_on_selector_all(
            "figure", "all => all.map((each) => each.querySelectorAll('.next').length)"
        )
        assert [count > 0 for count in dots] == [bool(diagram.allowed) for diagram in diagrams]
        links = page.eval_on_selector_all("article p a[href^=http]", "all => all.map((each) => each.href)")
        assert links
        assert not page.locator("article [role=grid]").count()
