"""One page for everybody: the keyboard, screen readers, fingers, small and wide windows, colours."""

from __future__ import annotations

import random
import re
from pathlib import Path
from typing import Any

import pytest

from tabuleiro.protocol.boards import layout_of
from tests.browser.conftest import PHONE, Served
from tests.browser.play import (
    OVER,
    READY,
    WAYS,
    join,
    play_to_the_end,
    played,
    position,
    reported,
    start,
    step,
    wait_for_actions,
    way_by_keys,
)

pytestmark = pytest.mark.browser

AXE = Path("build/axe/node_modules/axe-core/axe.min.js")
TABS_MAX_COUNT = 80
NAME_OF_FOCUS = """() => {
    const it = document.activeElement;
    return [it.closest('label')?.innerText, it.getAttribute('aria-label'), it.innerText].filter(Boolean).join(' ');
}"""


def tab_to(page: Any, name: str) -> None:
    """Press Tab until something with this name has the focus."""
    for _ in range(TABS_MAX_COUNT):
        if re.match(name, page.evaluate(NAME_OF_FOCUS)):
            return
        page.keyboard.press("Tab")
    raise AssertionError(f"no key leads to {name!r}")


def choose_by_keys(page: Any, layout: Any, index: int) -> None:
    """Walk to a cell of the grid and press Enter."""
    if not page.evaluate("() => document.activeElement.closest('[role=grid]') !== null"):
        page.keyboard.press("Tab")
        tab_to(page, r"[a-z][0-9]+, ")
    here = page.evaluate("() => document.activeElement.dataset.cell")
    for key in way_by_keys(layout, layout.names.index(here), index):
        page.keyboard.press(key)
    assert page.evaluate("() => document.activeElement.dataset.cell") == layout.names[index]
    assert page.locator("polygon.focus").count() == 1
    page.keyboard.press("Enter")


@pytest.mark.parametrize(("game", "options"), [("minefield", {"size": 5}), ("iris", {"side": 5})])
def test_a_whole_match_is_played_by_the_keyboard_alone(
    visit: Any, game: str, options: dict[str, int | str]
) -> None:
    page = visit()
    page.wait_for_selector("form.new")
    with reported(page):
        tab_to(page, "Game")
        page.keyboard.type("Mine" if game == "minefield" else "Iris")
        tab_to(page, "Opponent")
        page.keyboard.type("bot: random")
        tab_to(page, "More settings")
        page.keyboard.press("Enter")
        ((label, value),) = options.items()
        tab_to(page, label)
        page.keyboard.press("Control+a")
        page.keyboard.type(str(value))
        tab_to(page, "Start")
        page.keyboard.press("Enter")
        page.wait_for_selector("svg.board")
        chance = random.Random(7)
        for _ in range(200):
            page.wait_for_function(
                """() => document.querySelector('circle.next')
                || /wins|draw/i.test(document.querySelector('.status').textContent)"""
            )
            if OVER.search(page.inner_text(".status")):
                break
            state = position(game, options, played(page))
            count = len(played(page))
            layout = layout_of(state)
            is_amid_turn = True
            while is_amid_turn:
                cells = [action for action in state.legal_actions() if state.choice(action).targets]
                action = chance.choice(cells)
                choose_by_keys(page, layout, state.choice(action).targets[0])
                state, count = state.child(action), count + 1
                # In Minefield each action is played at once, also where the other is skipped and the turn goes on.
                is_amid_turn = game == "iris" and not state.is_terminal and state.actions_in_turn > 0
                if is_amid_turn:
                    page.get_by_role("button", name="Step back").wait_for()
            # A turn of several actions is played by a button, a single one at once.
            page.wait_for_function(
                f"""() => document.querySelector('.actions .primary')
                || document.querySelectorAll('.moves li').length >= {count}"""
            )
            if page.locator(".actions .primary", has_text="Play").count():
                page.keyboard.press("Tab")
                tab_to(page, "Play$")
                page.keyboard.press("Enter")
            page.wait_for_function(f"() => document.querySelectorAll('.moves li').length >= {count}")
        assert OVER.search(page.inner_text(".status"))
        page.keyboard.press("Tab")
        tab_to(page, "Rematch")


def walk_to(page: Any, layout: Any, name: str) -> None:
    """Walk over the grid to a cell, or to a side of the board."""
    if name in ("top", "bottom"):
        for _ in range(TABS_MAX_COUNT):
            if page.evaluate("() => document.activeElement.dataset.cell") == name:
                return
            page.keyboard.press("ArrowUp" if name == "top" else "ArrowDown")
    if (here := page.evaluate("() => document.activeElement.dataset.cell")) in ("top", "bottom"):
        page.keyboard.press("ArrowDown" if here == "top" else "ArrowUp")
        here = page.evaluate("() => document.activeElement.dataset.cell")
    for key in way_by_keys(layout, layout.names.index(here), layout.names.index(name)):
        page.keyboard.press(key)


def test_ships_are_moved_into_a_base_by_the_keyboard_alone(visit: Any) -> None:
    page, chance = visit(), random.Random(8)
    start(page, "xero-g")
    layout = layout_of(position("xero-g", {"setup": "random", "seed": 1}, []))
    with reported(page):
        page.wait_for_selector("circle.next, rect.next")
        tab_to(page, r"[a-z][0-9]+, ")
        for _ in range(500):
            page.wait_for_function(READY)
            if OVER.search(page.inner_text(".status")):
                break
            if page.locator(".actions .primary").count():
                for _ in range(TABS_MAX_COUNT):
                    if page.evaluate("() => document.activeElement.matches('.actions .primary')"):
                        break
                    page.keyboard.press("Tab")
                page.keyboard.press("Enter")
                continue
            names = page.eval_on_selector_all(
                "[role=gridcell][aria-label*='can be played']", "all => all.map((each) => each.dataset.cell)"
            )
            if names:
                goals = [name for name in names if name in ("top", "bottom")] or names
                if not page.evaluate("() => Boolean(document.activeElement.dataset.cell)"):
                    tab_to(page, r"[a-z][0-9]+, |top|bottom")
                walk_to(page, layout, chance.choice(goals))
                page.keyboard.press("Enter")
        assert OVER.search(page.inner_text(".status"))


def test_the_live_region_says_what_happens(visit: Any, served: Served) -> None:
    ana = visit()
    start(ana, "minefield", "")
    rui = visit(ana.url.removeprefix(served.url))
    join(rui)
    ana.locator("#live p", has_text="The match begins: ").wait_for()
    ana.get_by_label("type a turn").fill("c3")
    ana.get_by_label("type a turn").press("Enter")
    ana.locator("#live p", has_text=re.compile(r"^You played: black stone on c3$")).wait_for()
    rui.locator("#live p", has_text=re.compile(r"^Your turn \(white\)$")).wait_for()
    cell = rui.locator("[data-cell=c3]")
    assert cell.get_attribute("aria-label") == "c3, black stone, last turn"


ROOM_PAGES = ("/", "/r/{code}", "/m/{code}/1", "/rules/virus-wars", "/embed/{code}")


@pytest.fixture(scope="module")
def finished_room(browser: Any, session_server: Served) -> str:
    """The code of a room whose match is over."""
    context = browser.new_context()
    page = context.new_page()
    page.goto(session_server.url)
    start(page, "minefield")
    play_to_the_end(page)
    code: str = page.url.rpartition("/")[2]
    context.close()
    return code


@pytest.mark.parametrize("colours", ["light", "dark"])
def test_axe_finds_nothing_serious(visit: Any, finished_room: str, colours: str) -> None:
    if not AXE.exists():
        pytest.skip("axe-core is not installed; `make test-browser` does it where there is npm")
    source = AXE.read_text()

    def assert_sound(page: Any, where: str) -> None:
        page.evaluate(source)
        found = page.evaluate("() => axe.run(document)")
        serious = [
            f"{each['id']}: {each['help']}: {[node['html'][:160] for node in each['nodes'][:3]]}"
            for each in found["violations"]
            if each["impact"] in ("serious", "critical")
        ]
        assert serious == [], where

    for path in ROOM_PAGES:
        page = visit(path.format(code=finished_room), color_scheme=colours)
        page.wait_for_selector("svg.board, form.new, .rules p, .rules h2")
        assert_sound(page, path)
    page = visit(color_scheme=colours, is_phone=True)
    start(page, "virus-wars", "random", "Hints allowed")
    page.wait_for_selector("circle.next")
    step(page, random.Random(1), by_touch=True)
    assert_sound(page, "a turn in the making")


def test_no_page_is_wider_than_a_small_phone(visit: Any, finished_room: str) -> None:
    for path in ROOM_PAGES:
        page = visit(path.format(code=finished_room), is_phone=True)
        page.wait_for_selector("svg.board, form.new, .rules p, .rules h2")
        assert page.evaluate("document.documentElement.scrollWidth") <= 360, path
        if board := page.locator("svg.board").first.bounding_box() if path.startswith(("/r/", "/m/")) else None:
            assert board["width"] >= 340
    assert "maximum-scale" not in page.content()
    assert "user-scalable" not in page.content()


def test_the_board_fits_a_phone_on_its_side(visit: Any, finished_room: str) -> None:
    page = visit(f"/r/{finished_room}", **PHONE | {"viewport": {"width": 740, "height": 360}})
    page.wait_for_selector("svg.board")
    board = page.locator("svg.board").bounding_box()
    assert board["height"] <= 360
    assert board["height"] >= 250
    assert page.evaluate("document.documentElement.scrollWidth") <= 740


def test_nothing_lies_under_the_notch_of_a_phone_on_its_side(visit: Any, finished_room: str) -> None:
    page = visit(f"/r/{finished_room}", **PHONE | {"viewport": {"width": 740, "height": 360}})
    insets = {"top": 12, "left": 47, "right": 47, "bottom": 21}
    page.context.new_cdp_session(page).send("Emulation.setSafeAreaInsetsOverride", {"insets": insets})
    page.wait_for_selector("svg.board")
    page.wait_for_function("getComputedStyle(document.body).paddingLeft === '47px'")
    for name in ("header a", "svg.board", "main button", "main input"):
        for part in page.locator(name).all():
            box = part.bounding_box()
            if box is not None:
                assert box["x"] >= 47
                assert box["x"] + box["width"] <= 740 - 47
    assert page.locator("header a").first.bounding_box()["y"] >= 12
    end = page.evaluate("document.querySelector('main').getBoundingClientRect().bottom + scrollY")
    assert page.evaluate("document.documentElement.scrollHeight") - end >= 21


def test_a_tap_beside_a_cell_counts_for_it_and_is_confirmed(visit: Any) -> None:
    page = visit(is_phone=True)
    start(page, "minefield")
    page.wait_for_selector("circle.next")
    board = page.locator("svg.board").bounding_box()
    cell = board["width"] / (5 * 40 + 2 * 26) * 40
    first = page.locator("polygon.cell").first.bounding_box()
    # Left of the outermost cell, on its row: nearer to it than to any other.
    page.touchscreen.tap(first["x"] - cell * 0.2, first["y"] + cell * 0.5)
    # In one step: the board may be drawn anew between finding a cell and measuring it.
    measure = "() => document.querySelector('polygon.picked')?.getBoundingClientRect().toJSON()"
    picked = page.wait_for_function(measure).json_value()
    assert abs(picked["x"] - first["x"]) < cell / 4
    assert played(page) == []
    page.get_by_role("button", name="Cancel").tap()
    assert page.locator("polygon.picked").count() == 0
    # Far from every cell nothing is meant.
    page.touchscreen.tap(board["x"] + 2, board["y"] + 2)
    assert page.locator("polygon.picked").count() == 0
    page.touchscreen.tap(first["x"] + cell * 0.9, first["y"] + cell * 0.9)
    page.get_by_role("button", name="Play", exact=True).first.tap()
    page.wait_for_function("() => document.querySelectorAll('.moves li').length >= 1")


MIDDLE = """(element) => {
    element.scrollIntoView({block: 'center'});
    const {x, y, width, height} = element.getBoundingClientRect();
    return [x + width / 2, y + height / 2];
}"""


def press_during_news(page: Any, x: float, y: float, other: Any, news: str) -> None:
    """Press at a place; between down and up the page hears a line of chat."""
    page.mouse.move(x, y)
    page.mouse.down()
    other.get_by_label("chat message").fill(news)
    other.get_by_role("button", name="Send").click()
    page.locator(".lines p", has_text=news).wait_for()
    page.mouse.up()


def test_a_press_counts_though_the_page_hears_news_meanwhile(visit: Any, served: Served) -> None:
    ana = visit()
    start(ana, "minefield", "")
    rui = visit(ana.url.removeprefix(served.url))
    join(rui)
    with reported(ana), reported(rui):
        ana.wait_for_selector("circle.next")
        x, y, _ = ana.evaluate(WAYS)[8]
        press_during_news(ana, x, y, rui, "hello")
        wait_for_actions(rui, 1)
        wait_for_actions(ana, 1)
        press_during_news(ana, *ana.get_by_role("button", name="Draw").evaluate(MIDDLE), rui, "a good start")
        ana.get_by_role("button", name="Offer a draw").click()
        accept = rui.get_by_role("button", name="Accept")
        press_during_news(rui, *accept.evaluate(MIDDLE), ana, "shall we?")
        ana.locator(".status", has_text=re.compile("draw", re.IGNORECASE)).wait_for()


def test_a_press_on_a_room_counts_though_its_line_changes_meanwhile(visit: Any, served: Served) -> None:
    ana = visit()
    start(ana, "minefield", "")
    address = ana.url.removeprefix(served.url)
    rui = visit()
    line = rui.locator(f'a.room-line[href="{address.split("#")[0]}"]')
    line.wait_for()
    rui.mouse.move(*line.evaluate(MIDDLE))
    rui.mouse.down()
    join(visit(address))
    line.locator(".go", has_text="watch").wait_for()
    rui.mouse.up()
    rui.wait_for_url(f"**{address}")


def test_fingers_find_every_button_and_field_big_enough(visit: Any) -> None:
    page = visit(is_phone=True)
    start(page, "minefield", "random", "Hints allowed")
    page.wait_for_selector("circle.next")
    small = page.evaluate(
        """() => [...document.querySelectorAll('main button, main input')]
            .filter((each) => !each.closest('.grid, .moves'))
            .map((each) => [each.textContent || each.ariaLabel, each.getBoundingClientRect().height])
            .filter(([, height]) => height > 0 && height < 40)"""
    )
    assert small == []


def test_pieces_keep_their_colours_where_the_system_forces_its_own(visit: Any, finished_room: str) -> None:
    page = visit(f"/r/{finished_room}", forced_colors="active")
    page.wait_for_selector(".stone")
    fills = page.evaluate(
        """() => ['.stone.owner-0', '.stone.owner-1', '.cell'].map((each) =>
            getComputedStyle(document.querySelector(each)).fill)"""
    )
    assert len(set(fills)) == 3


def test_nothing_moves_for_people_who_want_that(visit: Any) -> None:
    page = visit(reduced_motion="reduce")
    start(page, "minefield")
    page.wait_for_selector("circle.next")
    moving = page.evaluate(
        """() => [...document.querySelectorAll('*')].filter((each) => {
            const style = getComputedStyle(each);
            const times = style.transitionDuration.split(',').map(parseFloat);
            return style.animationName !== 'none' || times.some((time) => time > 0);
        }).length"""
    )
    assert moving == 0


def contrast(one: tuple[int, int, int], other: tuple[int, int, int]) -> float:
    """The contrast of two colours as WCAG counts it."""

    def luminance(colour: tuple[int, int, int]) -> float:
        parts = [value / 255 for value in colour]
        red, green, blue = (part / 12.92 if part <= 0.04045 else ((part + 0.055) / 1.055) ** 2.4 for part in parts)
        return 0.2126 * red + 0.7152 * green + 0.0722 * blue

    high, low = sorted((luminance(one), luminance(other)), reverse=True)
    return (high + 0.05) / (low + 0.05)


@pytest.mark.parametrize("colours", ["light", "dark"])
def test_marks_and_pieces_stand_out_from_cells(visit: Any, colours: str) -> None:
    page = visit(color_scheme=colours)
    start(page, "virus-wars")
    page.wait_for_selector("circle.next")
    found = page.evaluate(
        """() => Object.fromEntries(['cell', 'first', 'second', 'next', 'picked', 'panel'].map((name) => {
            const probe = document.createElement('i');
            probe.style.setProperty('color', `var(--${name})`);
            document.body.append(probe);
            const colour = getComputedStyle(probe).color.match(/[0-9]+/g).map(Number);
            probe.remove();
            return [name, colour];
        }))"""
    )
    for name in ("first", "second", "next", "picked"):
        assert contrast(found[name], found["cell"]) >= 3, name
    for name in ("first", "second"):
        assert contrast(found[name], found["panel"]) >= 3, name
