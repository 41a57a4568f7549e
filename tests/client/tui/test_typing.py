"""Lines that are typed on the screens: what is refused stays in the line, and what was typed before comes back."""

from __future__ import annotations

import pytest
from textual.pilot import Pilot
from textual.widgets import Static

from tabuleiro.protocol.messages import CHAT_MAX_CHARS
from tabuleiro_client.tui.app import TabuleiroApp
from tabuleiro_client.tui.screens.replay import TryScreen
from tabuleiro_client.tui.settings import Settings
from tabuleiro_client.tui.widgets.chat import Entry
from tests.client.tui.tables import Table, table, until
from tests.client.tui.visits import lobby_visit, own_room

SMALL: dict[str, int | str] = {"rows": 4, "cols": 4, "steps": 2}


def said(app: TabuleiroApp) -> str:
    return str(app.screen.query_one("#say", Static).render())


def entry(app: TabuleiroApp) -> Entry:
    return app.screen.query_one(Entry)


async def type_text(pilot: Pilot[int], text: str) -> None:
    await pilot.press(*("space" if character == " " else character for character in text))


async def entered(at: Table, pilot: Pilot[int]) -> None:
    await until(pilot, lambda: at.screen.model.can_act)


async def test_refused_actions_stay_in_the_line_with_the_wrong_one_selected(real_server):
    # A refused line was lost, and had to be typed again.
    async with table(real_server, "virus-wars", SMALL) as at, at.app.run_test() as pilot:
        await entered(at, pilot)
        await pilot.press("colon")
        await type_text(pilot, "b4 d1 b3")
        await pilot.press("enter")
        await until(pilot, lambda: entry(at.app).has_focus)
        assert (entry(at.app).value, entry(at.app).selected_text) == ("b4 d1 b3", "d1")
        assert said(at.app) == "'d1': you have no virus or awake zombie next to it"
        await type_text(pilot, "a3")
        assert entry(at.app).value == "b4 a3 b3"
        await pilot.press("end", "backspace", "backspace", "enter")
        await until(pilot, lambda: at.screen.model.composer.texts() == ["b4", "a3"])
        assert not entry(at.app).has_class("open")


@pytest.mark.slow
async def test_a_line_typed_out_of_turn_is_kept_until_it_can_be_played(real_server):
    async with table(real_server, "virus-wars", SMALL) as at, at.app.run_test() as pilot:
        await entered(at, pilot)
        await pilot.press(*"b4", "enter", *"a3", "enter", "enter")
        await until(pilot, lambda: at.opponent.room.mirror.is_my_turn)
        await until(pilot, lambda: not at.screen.model.can_act)
        await pilot.press(*"b3", "enter")
        await until(pilot, lambda: said(at.app) == "it is not your turn")
        assert (entry(at.app).value, entry(at.app).cursor_position) == ("b3", 2)
        await at.opponent.room.play(["c1", "c2"])
        await until(pilot, lambda: at.screen.model.can_act)
        await pilot.press("enter")
        await until(pilot, lambda: at.screen.model.composer.texts() == ["b3"])


async def test_keys_typed_after_a_refused_line_are_not_taken_for_a_part_of_it(real_server):
    async with table(real_server, "virus-wars", SMALL) as at, at.app.run_test() as pilot:
        await entered(at, pilot)
        at.screen.query_one(Entry).open_for("play")
        at.screen.query_one(Entry).action_give_up()
        at.app.typed_count += 1
        at.screen.query_one(Entry).refuse("play", "d1", 1)
        assert at.screen.board.has_focus
        await pilot.press("colon")
        assert (entry(at.app).value, entry(at.app).selected_text) == ("d1", "d1")


@pytest.mark.slow
async def test_lines_typed_before_come_back_with_the_arrow_keys(real_server):
    async with table(real_server, "virus-wars", SMALL) as at, at.app.run_test() as pilot:
        await entered(at, pilot)
        for text in ("hi", "how are you"):
            await pilot.press("f4")
            await type_text(pilot, text)
            await pilot.press("enter")
        await until(pilot, lambda: len(at.screen.model.mirror.chat) == 2)
        await pilot.press("f4", "x", "up")
        assert entry(at.app).value == "how are you"
        await pilot.press("up", "up")
        assert entry(at.app).value == "hi"
        await pilot.press("down", "down")
        assert entry(at.app).value == "x"
        await pilot.press("escape", "colon", "up")
        assert entry(at.app).value == ""


async def test_what_is_too_long_to_be_said_is_kept_whole_with_what_is_too_much_selected(real_server):
    text = "o" * (CHAT_MAX_CHARS + 7)
    async with table(real_server, "virus-wars", SMALL) as at, at.app.run_test() as pilot:
        await entered(at, pilot)
        await pilot.press("f4")
        entry(at.app).insert_text_at_cursor(text)
        await pilot.press("enter")
        await until(pilot, lambda: entry(at.app).has_focus)
        assert said(at.app) == "that is 307 characters long: at most 300 can be sent at once"
        assert (entry(at.app).value, entry(at.app).selected_text) == (text, "o" * 7)
        await pilot.press("backspace", "enter")
        await until(pilot, lambda: at.screen.model.mirror.chat)
        assert at.screen.model.mirror.chat[0].text == text[:CHAT_MAX_CHARS]


@pytest.mark.slow
async def test_a_watcher_who_is_muted_keeps_the_line_and_is_told(real_server):
    async with table(real_server, "virus-wars", SMALL, is_watching=True) as at, at.app.run_test() as pilot:
        await until(pilot, lambda: at.screen.is_whole)
        room = at.opponent.room
        await pilot.press("f4", *"hi", "enter")
        await until(pilot, lambda: room.mirror.chat)
        await room.mute("ana")
        await pilot.press("f4")
        await type_text(pilot, "well played")
        await pilot.press("enter")
        await until(pilot, lambda: said(at.app).startswith("rui has muted you"))
        await until(pilot, lambda: entry(at.app).has_focus)
        assert entry(at.app).value == "well played"
        await pilot.press("escape", "9", "9", "enter")
        await until(pilot, lambda: said(at.app).startswith("cannot read '99'"))
        assert entry(at.app).value == "99"


@pytest.mark.slow
async def test_what_is_refused_in_a_room_that_waits_stays_in_the_line(real_server):
    async with lobby_visit(real_server) as at:
        screen = await own_room(at)
        await at.press("f4")
        screen.query_one(Entry).insert_text_at_cursor("o" * 301)
        await at.press("enter")
        await at.says("that is 301 characters long")
        await until(at.pilot, lambda: screen.query_one(Entry).has_focus)
        await at.press("backspace", "enter")
        await until(at.pilot, lambda: len(screen.room.mirror.chat) == 1)


@pytest.mark.slow
async def test_what_is_refused_on_a_board_to_try_stays_in_the_line():
    app = TabuleiroApp(lambda: TryScreen("minefield", {"size": 7}), settings=Settings())
    async with app.run_test() as pilot:
        await pilot.press(*"h9", "enter")
        await until(pilot, lambda: entry(app).has_focus)
        assert entry(app).value == "h9"
        assert said(app).startswith("'h9': row 9 does not exist")
        await pilot.press("end", "ctrl+u", "comma", "enter")
        await until(pilot, lambda: said(app) == "',': there is no action in it")
        await pilot.press("end", "ctrl+u", "enter")
        assert app.screen.board.has_focus
        assert app.screen.model.branch.actions == []
