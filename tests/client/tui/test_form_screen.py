"""Filling in the form for a new match."""

from __future__ import annotations

import asyncio
from contextlib import asynccontextmanager

import pytest
from textual.widgets import Button

from tabuleiro.rules import registry
from tabuleiro_client.net import server as venues
from tabuleiro_client.net.library import Client
from tabuleiro_client.net.link import LinkState
from tabuleiro_client.tui.room_form import Field
from tabuleiro_client.tui.screens.match import MatchScreen
from tabuleiro_client.tui.screens.new_match import NewMatchScreen
from tabuleiro_client.tui.screens.room import RoomScreen
from tabuleiro_client.tui.screens.watch import WatchScreen
from tabuleiro_client.tui.widgets.forms import Chooser, FieldRow, FormBox
from tabuleiro_server.config import Config
from tabuleiro_server.wiring import running_server
from tests.client.tui.tables import until
from tests.client.tui.visits import Visit, lobby_visit, visit
from tests.selection import rest_slow


async def local_form(at: Visit, key: str) -> NewMatchScreen:
    """Open a form for this machine with all its fields, and wait until its server runs."""
    await at.press(key)
    screen = await at.arrive(NewMatchScreen)
    await until(at.pilot, lambda: screen.form.errors() == {} and screen.query(FieldRow))
    await all_fields(at)
    return screen


async def all_fields(at: Visit) -> None:
    """Ask the form for all its fields."""
    form = at.app.screen.form
    at.row("more").query_one(Chooser).action_choose(1)
    await until(at.pilot, lambda: shown(at) == [field.name for field in form.fields()] and len(shown(at)) > 4)


def shown(at: Visit) -> list[str]:
    return [row.field.name for row in at.app.screen.query(FieldRow)]


async def go_to(at: Visit, name: str) -> None:
    """Put the cursor into a field, as tab and the arrow keys do."""
    at.row(name).take_focus()
    await at.pilot.pause()


@pytest.mark.parametrize("game", rest_slow(registry.names()))
async def test_a_match_of_each_game_against_a_bot_starts_from_the_form(game):
    async with visit() as at:
        screen = await local_form(at, "1")
        for _ in range(registry.names().index(game)):
            await at.press("right")
        assert screen.form.game.name == game
        await until(at.pilot, lambda: shown(at) == [field.name for field in screen.form.fields()])
        assert at.row("game").has_focus_within
        await at.press("ctrl+s")
        match = await at.arrive(MatchScreen)
        head = match.model.mirror.head
        assert (head.game, head.seats[1].holder.level) == (game, "easy")


@pytest.mark.parametrize("moment", rest_slow(["before", "after"]))
async def test_a_form_that_is_left_while_its_rows_are_made_just_goes(monkeypatch, moment):
    """Symptom: the program ended with "coroutine raised StopIteration" after Esc right behind another game."""
    mount_all = FormBox.mount_all

    async def mount_and_go(box, widgets, **place):
        await mount_all(box, widgets, **place)
        await box.remove_children()

    async with visit() as at:
        screen = await local_form(at, "1")
        if moment == "after":
            monkeypatch.setattr(FormBox, "mount_all", mount_and_go)
        else:
            await screen.query_one(FormBox).remove()
        screen.form.set("game", "xero-g")
        await screen._show_all()
        assert len(shown(at)) < len(screen.form.fields())


@pytest.mark.parametrize("choices", [None, {"no": "no", "yes": "yes"}])
async def test_a_row_that_has_lost_its_children_is_shown_and_read_like_any(choices):
    """Symptom: the program ended with "No nodes match 'Chooser'" when a form was left as its rows were made."""
    field = Field("undo", "undo", "Undo within a turn.", choices)
    async with visit() as at:
        row = FieldRow(field, "no", "")
        await at.app.screen.mount(row)
        await row.remove_children()
        row.show(field, "yes", "this is wrong")
        assert row.text == "yes"


async def test_a_wrong_value_is_told_at_its_field_and_nothing_is_asked_of_the_server():
    async with visit() as at:
        await local_form(at, "1")
        await go_to(at, "option:rows")
        await at.type("99")
        await until(at.pilot, lambda: "a whole number from 4 to 30" in at.problem("option:rows"))
        await go_to(at, "level")
        await at.press("ctrl+s")
        assert at.row("option:rows").has_focus_within
        assert at.text("say") == "check the field: rows"
        assert isinstance(at.app.screen, NewMatchScreen)
        await at.type("6")
        await until(at.pilot, lambda: at.problem("option:rows").startswith("4 to 30"))
        assert at.text("say") == ""


async def test_a_preset_fills_the_fields_in():
    async with visit() as at:
        screen = await local_form(at, "1")
        await go_to(at, "preset")
        await at.press("right")
        await until(at.pilot, lambda: screen.form.values["option:rows"] == "10")
        await at.press("down", "right")
        assert at.row("option:rows").query_one("Input").value == "10"


async def test_arrows_and_enter_go_from_field_to_field():
    async with visit() as at:
        await local_form(at, "1")
        await go_to(at, "preset")
        await at.press("enter")
        assert at.row("option:rows").has_focus_within
        await at.press("enter")
        assert at.row("option:cols").has_focus_within
        await at.press("down")
        assert at.row("option:steps").has_focus_within
        await at.press("up", "up", "up")
        assert at.row("preset").has_focus_within


@pytest.mark.slow
async def test_a_value_is_chosen_by_a_click():
    async with visit() as at:
        screen = await local_form(at, "1")
        chooser = at.row("game").query_one(Chooser)
        await at.pilot.click(chooser, offset=(5, 0))
        assert screen.form.game.name == "xero-g"
        await at.pilot.pause()
        await at.pilot.click(at.row("game").query_one(Chooser), offset=(0, 0))
        assert screen.form.game.name == "virus-wars"


@pytest.mark.slow
async def test_two_bots_are_watched():
    async with visit() as at:
        await local_form(at, "1")
        await go_to(at, "opponent")
        await at.press("right", "right")
        await until(at.pilot, lambda: "level-2" in shown(at))
        assert at.row("opponent").has_focus_within
        await at.press("ctrl+s")
        await at.arrive(WatchScreen)


@pytest.mark.slow
async def test_the_board_beside_the_form_is_the_one_that_is_filled_in():
    async with visit((120, 40)) as at:
        screen = await local_form(at, "1")
        assert not screen.has_class("narrow")
        await go_to(at, "option:rows")
        await at.type("6")
        await until(at.pilot, lambda: len(screen.query_one("#preview")._view.row_labels) == 6)


@pytest.mark.slow
async def test_a_window_without_room_for_the_board_shows_none_while_a_value_is_wrong_either():
    """Symptom: the form was squeezed to say beside it that the window was too small for a board."""
    async with visit((110, 34)) as at:
        screen = await local_form(at, "1")
        assert screen.has_class("narrow")
        await at.fill("option:rows", "99")
        await until(at.pilot, lambda: "a whole number" in at.problem("option:rows"))
        assert screen.has_class("narrow")


@pytest.mark.slow
async def test_what_is_typed_into_a_field_replaces_what_was_there():
    """Symptom: going down to the rows and typing 9 made 119 of them, and the time control none5+3."""
    async with visit() as at:
        await local_form(at, "1")
        await go_to(at, "preset")
        await at.press("down", "9", "down", "up")
        assert at.row("option:rows").text == "9"
        await at.press("end", "1")
        assert at.row("option:rows").text == "91"


async def test_online_the_room_is_made_with_its_settings(real_server):
    async with lobby_visit(real_server) as at:
        await at.press("n")
        await at.arrive(NewMatchScreen)
        await all_fields(at)
        await go_to(at, "time")
        await at.type("10m+5x30s")
        await go_to(at, "private")
        await at.press("right")
        await at.press("ctrl+s")
        room = await at.arrive(RoomScreen)
        await until(at.pilot, lambda: room.room is not None)
        settings = room.room.mirror.head.settings
        assert settings.is_private
        assert settings.time_control.periods == 5


async def test_usual_clocks_are_chosen_by_a_key_and_others_typed():
    async with visit() as at:
        screen = await local_form(at, "1")
        await go_to(at, "time")
        for key, clock in (("pagedown", "1+0"), ("pagedown", "3+2"), ("pageup", "1+0"), ("pageup", "none")):
            await at.press(key)
            await until(at.pilot, lambda: screen.form.values["time"] == clock)  # noqa: B023
        await at.type("7")
        await until(at.pilot, lambda: screen.form.values["time"] == "7" and not screen.form.errors())
        await at.press("pageup")
        await until(at.pilot, lambda: screen.form.values["time"] == "3d/turn")


@pytest.mark.slow
async def test_what_the_server_refuses_is_told(tmp_path):
    config = Config(db=str(tmp_path / "full.db"), port=0, rooms_per_account_count=1)
    async with running_server(config) as server, lobby_visit(server) as at:
        venue = at.app.session.venue
        async with Client(venue.link).create("iris"):
            await at.press("n")
            await at.arrive(NewMatchScreen)
            await at.press("ctrl+s")
            await at.says("at most 1 unfinished rooms")
            assert isinstance(at.app.screen, NewMatchScreen)


async def test_from_home_a_match_against_a_bot_takes_three_keys():
    async with visit() as at:
        await at.press("enter")
        screen = await at.arrive(NewMatchScreen)
        await until(at.pilot, lambda: shown(at) == ["game", "level", "more"])
        assert at.row("game").has_focus_within
        await at.press("enter")
        assert at.row("level").has_focus_within
        await at.press("enter")
        match = await at.arrive(MatchScreen)
        head = match.model.mirror.head
        assert (head.game, head.seats[1].holder.level) == (screen.form.game.name, "easy")
        # Codes of options and rooms mean nothing in a first match alone.
        await until(at.pilot, lambda: str(match.query_one("#title").content) == screen.form.game.title)


async def test_enter_alone_leads_through_a_whole_form_to_the_match():
    async with visit() as at:
        await local_form(at, "1")
        await go_to(at, "preset")
        assert "go on" in at.footer()
        for _ in range(40):
            if isinstance(at.app.focused, Button):
                break
            await at.press("enter")
        assert at.app.focused.id == "submit"
        await at.press("enter")
        await at.arrive(MatchScreen)


@pytest.mark.parametrize("way", ["tab", "click"])
async def test_the_button_that_starts_is_reached_by_tab_and_by_the_mouse(way):
    async with visit() as at:
        await at.press("enter")
        screen = await at.arrive(NewMatchScreen)
        await until(at.pilot, lambda: shown(at) == ["game", "level", "more"] and screen.form.errors() == {})
        if way == "tab":
            await at.press("tab", "tab", "tab", "enter")
        else:
            await at.pilot.click("#submit")
        await at.arrive(MatchScreen)


async def test_a_hidden_field_that_is_wrong_is_shown():
    async with visit() as at:
        screen = await local_form(at, "1")
        await go_to(at, "option:rows")
        await at.type("99")
        await go_to(at, "more")
        await at.press("right")
        await until(at.pilot, lambda: shown(at) == ["game", "level", "more"])
        await at.press("ctrl+s")
        await until(at.pilot, lambda: "option:rows" in shown(at) and at.row("option:rows").has_focus_within)
        assert isinstance(at.app.screen, NewMatchScreen)
        assert screen.form.values["more"] == "yes"


@pytest.mark.slow
async def test_quick_play_brings_two_people_together(real_server):
    async with lobby_visit(real_server, "ana") as ana, lobby_visit(real_server, "rui") as rui:
        for at in (ana, rui):
            await at.press("q")
            await at.arrive(NewMatchScreen)
            await until(at.pilot, lambda: shown(at) == ["game", "more"])  # noqa: B023
            await at.press("enter")
        await ana.arrive(MatchScreen)
        await rui.arrive(MatchScreen)


async def test_back_leaves_the_form():
    async with visit() as at:
        screen = await local_form(at, "1")
        await at.pilot.click("#back")
        await until(at.pilot, lambda: at.app.screen is not screen)


@pytest.mark.slow
async def test_keys_typed_faster_than_the_form_is_drawn_are_all_taken():
    async with visit() as at:
        screen = await local_form(at, "1")
        await go_to(at, "option:cols")
        for key in ("backspace", "backspace", "1", "left", "delete", "6"):
            at.app.simulate_key(key)
        await until(at.pilot, lambda: screen.form.values["option:cols"] == "6")
        await at.pilot.pause()
        assert at.row("option:cols").text == "6"


@pytest.mark.slow
async def test_values_chosen_faster_than_the_form_is_drawn_are_all_taken():
    async with visit() as at:
        screen = await local_form(at, "1")
        for _ in range(3):
            at.app.simulate_key("right")
        await until(at.pilot, lambda: screen.form.game.name == registry.names()[3])
        await at.pilot.pause()
        assert at.row("game").text == registry.names()[3]


async def test_without_the_part_of_the_server_the_form_says_how_to_get_it_and_does_not_wait(monkeypatch):
    """Symptom: 'against: starting the server ...' for ever."""

    @asynccontextmanager
    async def missing(*_):
        raise ModuleNotFoundError("No module named 'structlog'", name="structlog")
        yield

    monkeypatch.setattr(venues, "local_venue", missing)
    async with visit() as at:
        await at.press("1")
        await at.arrive(NewMatchScreen)
        await at.says("this needs the server part of tabuleiro")
        await at.press("ctrl+s")
        await at.says("check the field: level")
        await until(at.pilot, lambda: "[server]" in at.problem("level"))


@pytest.mark.parametrize("key", rest_slow(["1", "2"]))
async def test_a_match_asked_for_before_the_server_of_this_machine_runs_starts_when_it_does(key, monkeypatch):
    # The way to the server was given up for the one that followed, and then ended that one.
    may_go_on = asyncio.Event()
    local_venue = venues.local_venue

    @asynccontextmanager
    async def slow(*arguments):
        await may_go_on.wait()
        async with local_venue(*arguments) as venue:
            yield venue

    monkeypatch.setattr(venues, "local_venue", slow)
    async with visit() as at:
        await at.press(key)
        await at.arrive(NewMatchScreen)
        await at.press("ctrl+s")
        may_go_on.set()
        await at.arrive(MatchScreen)
        assert at.app.session.state is LinkState.CONNECTED
