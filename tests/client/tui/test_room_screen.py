"""The room while no match is on the board: seats, bots, invitations, talk, the way to a match and back."""

from __future__ import annotations

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

import pytest
from textual.widgets import OptionList

from tabuleiro.clock import Fischer
from tabuleiro.protocol.messages import CreateRoom, JoinRoom
from tabuleiro.settings import LateBot, RoomSettings
from tabuleiro_client.net.library import connect
from tabuleiro_client.net.room import enter
from tabuleiro_client.tui.entrance import screen_of_room
from tabuleiro_client.tui.screens.lobby import LobbyScreen
from tabuleiro_client.tui.screens.match import MatchScreen
from tabuleiro_client.tui.screens.new_match import NewMatchScreen
from tabuleiro_client.tui.screens.questions import PickerScreen
from tabuleiro_client.tui.screens.room import RoomScreen, RoomSettingsScreen
from tabuleiro_client.tui.widgets.chat import Chat
from tabuleiro_client.tui.widgets.forms import FieldRow
from tabuleiro_server.wiring import RunningServer
from tests.client.tui.tables import until
from tests.client.tui.visits import Visit, lobby_visit, own_room


@asynccontextmanager
async def waiting_room(server: RunningServer) -> AsyncIterator[tuple[Visit, RoomScreen]]:
    """Somebody who waits in a room of their own, made by the form."""
    async with lobby_visit(server) as at:
        screen = await own_room(at)
        await at.pilot.pause()
        yield at, screen


async def test_code_seats_and_the_way_in_are_shown(real_server):
    async with waiting_room(real_server) as (at, screen):
        code = screen.room.code
        assert at.text("code") == f"Room  {' '.join(code)}"
        assert f"--server {real_server.url} --room {code}" in at.text("invitation")
        assert at.text("seats").splitlines() == ["blue, x  ana (you)", "red, o   free"]
        assert "as soon as both seats are taken" in at.text("state")


@pytest.mark.slow
async def test_the_code_is_copied_by_the_terminal_and_said(real_server):
    async with waiting_room(real_server) as (at, screen):
        await at.press("c")
        assert at.app.clipboard == screen.room.code
        assert screen.room.code in at.text("say")
        await at.press("i")
        assert at.app.clipboard == at.text("invitation").splitlines()[1]


@pytest.mark.slow
async def test_a_private_room_is_entered_with_what_was_copied(real_server):
    async with lobby_visit(real_server) as at:
        await at.press("n")
        await at.arrive(NewMatchScreen)
        await at.fill("more", "yes")
        await at.fill("private", "yes")
        await at.press("ctrl+s")
        room = await at.arrive(RoomScreen)
        await until(at.pilot, lambda: room.room is not None)
        await at.pilot.pause()
        await at.press("c")
        code, _, secret = at.app.clipboard.partition("-")
        assert f"{code}-{secret}" in at.text("code")
        assert at.text("invitation").endswith(f" --room {code}-{secret}")
        assert f"\ntabuleiro watch {code}-" in at.text("watching")
        async with connect(real_server.url, name="rui") as rui, rui.join(code, secret=secret):
            await at.arrive(MatchScreen)


async def test_a_bot_is_put_on_the_free_seat_and_the_match_begins(real_server):
    async with waiting_room(real_server) as (at, _):
        await at.press("b")
        picker = await at.arrive(PickerScreen)
        assert picker is at.app.screen
        offered = [option.id for option in picker.query_one(OptionList).options]
        levels = real_server_levels(at)
        assert offered == ["easy", *(level for level in levels if level != "easy")]
        await at.press("down", "enter")
        match = await at.arrive(MatchScreen)
        assert match.model.mirror.head.seats[1].holder.level == levels[0] == "random"


def real_server_levels(at: Visit) -> tuple[str, ...]:
    assert at.app.session.venue is not None
    return at.app.session.venue.link.welcome.levels["virus-wars"]


@pytest.mark.slow
async def test_seats_are_swapped_while_waiting(real_server):
    async with waiting_room(real_server) as (at, _):
        await at.press("s")
        await at.says("red, o   ana (you)", "seats")


@pytest.mark.slow
async def test_what_is_said_is_shown(real_server):
    async with waiting_room(real_server) as (at, screen), connect(real_server.url, name="zoe") as zoe:
        async with zoe.watch(screen.room.code) as watching:
            await watching.say("hello")
            await until(at.pilot, lambda: len(screen.room.mirror.chat) == 1)
            await at.press("t", "h", "i", "enter")
            await until(at.pilot, lambda: len(watching.mirror.chat) == 2)
            shown = screen.query_one("#chat", Chat).text
            assert "zoe (watching): hello" in shown


@pytest.mark.slow
async def test_leaving_gives_the_seat_up(real_server):
    async with waiting_room(real_server) as (at, screen), connect(real_server.url, name="zoe") as zoe:
        code = screen.room.code
        async with zoe.watch(code) as watching:
            await at.press("escape")
            await at.arrive(PickerScreen)
            await at.press("c")
            await at.arrive(LobbyScreen)
            await until(at.pilot, lambda: watching.mirror.head.phase == "closed")
        assert at.app.saved_matches.all() == []
        assert at.app.farewells == {}


@pytest.mark.slow
async def test_a_waiting_room_can_be_left_open_and_the_way_back_is_said(real_server):
    """Esc closed it at once, while a friend was about to join."""
    async with waiting_room(real_server) as (at, screen):
        code = screen.room.code
        await at.press("escape")
        await at.arrive(PickerScreen)
        await at.press("escape")
        assert at.app.screen is screen
        await at.press("escape", "k")
        await at.arrive(LobbyScreen)
        kept = (
            f"Your seat in {code} is kept for a while. To continue, run: tabuleiro play --server {real_server.url}"
        )
        assert at.text("say").startswith(kept)
        assert at.app.farewells[code].startswith(kept)
        await until(at.pilot, lambda: at.app.screen._rows and at.app.screen._rows[0].is_own)
        await at.press("enter")
        await at.arrive(RoomScreen)


async def test_a_match_opens_when_somebody_joins_and_its_end_leads_back_to_the_room_for_a_rematch(real_server):
    async with waiting_room(real_server) as (at, screen), connect(real_server.url, name="rui") as rui:
        async with rui.join(screen.room.code) as other:
            await at.arrive(MatchScreen)
            await other.resign()
            await until(at.pilot, lambda: screen.room.mirror.head.phase == "finished")
            await at.press("escape")
            assert await at.arrive(RoomScreen) is screen
            await at.says("You win", "state")
            assert {"rematch", "swap", "board"} <= at.footer()
            assert at.app.saved_matches.all()[0].phase == "finished"
            await other.offer("rematch")
            await at.says("rui offers a rematch", "offer")
            await at.press("y")
            match = await at.arrive(MatchScreen)
            await until(at.pilot, lambda: match.model.mirror.match.number == 2)


@pytest.mark.slow
async def test_leaving_a_match_that_goes_on_leads_past_the_room_and_back_in_by_the_lobby(real_server):
    async with waiting_room(real_server) as (at, screen), connect(real_server.url, name="rui") as rui:
        async with rui.join(screen.room.code):
            await at.arrive(MatchScreen)
            await at.press("escape", "y")
            await at.arrive(LobbyScreen)
            assert at.text("say").startswith(f"Your seat in {screen.room.code} is kept. To continue, run: ")
            assert at.app.saved_matches.all()[0].opponent == "rui"
            await until(at.pilot, lambda: at.app.screen._rows and at.app.screen._rows[0].is_own)
            await at.press("enter")
            await at.arrive(MatchScreen)


@pytest.mark.slow
async def test_keys_that_do_nothing_now_are_not_offered(real_server):
    async with waiting_room(real_server) as (at, _):
        assert {"code", "invite", "bot", "swap", "setup", "chat"} <= at.footer()
        assert not {"bot off", "rematch", "board"} & at.footer()


@pytest.mark.slow
async def test_who_is_no_host_may_not_put_bots(real_server):
    async with connect(real_server.url, name="rui") as rui, rui.create("iris", settings=LATE) as made:
        async with lobby_visit(real_server) as at:
            venue = at.app.session.venue
            room = await enter(venue.link, JoinRoom(id=0, room=made.code))
            await made.resign()
            await until(at.pilot, lambda: room.mirror.head.phase == "finished")
            at.app.push_screen(screen_of_room(venue, room, at.app.writing, is_to_watch=False))
            await at.arrive(RoomScreen)
            assert not {"bot", "swap", "setup"} & at.footer()


LATE = RoomSettings(late_bot=LateBot("random", 86_400_000), may_undo=False, away_after_ms=60_000)


async def test_the_settings_of_the_room_are_told(real_server):
    async with lobby_visit(real_server) as at:
        venue = at.app.session.venue
        made = await enter(venue.link, CreateRoom(id=0, game="iris", settings=LATE))
        at.app.push_screen(screen_of_room(venue, made, at.app.writing, is_to_watch=False))
        await at.arrive(RoomScreen)
        await at.says("a bot (random) takes the free seat after 1 day", "settings")
        assert "no undoing within a turn" in at.text("settings")


@pytest.mark.slow
async def test_a_late_bot_begins_the_match(real_server):
    async with lobby_visit(real_server) as at:
        await at.press("n")
        await at.arrive(NewMatchScreen)
        await at.fill("more", "yes")
        await at.fill("late-bot", "random")
        await at.fill("late-bot-after", "0s")
        await at.press("ctrl+s")
        match = await at.arrive(MatchScreen)
        assert match.model.mirror.head.seats[1].holder.kind == "bot"


@pytest.mark.slow
async def test_the_host_changes_the_settings_and_the_match_is_played_with_them(real_server):
    async with waiting_room(real_server) as (at, screen):
        await at.press("e")
        form = await at.arrive(RoomSettingsScreen)
        await until(at.pilot, lambda: len(form.query(FieldRow)) == len(form.form.fields()))
        assert "change" in at.footer()
        assert "start" not in at.footer()
        at.row("time").take_focus()
        await at.type("soon")
        await at.press("ctrl+s")
        await at.says("check the field: time control")
        await at.type("5+3")
        await at.press("ctrl+s")
        await at.arrive(RoomScreen)
        wanted = RoomSettings(time_control=Fischer(initial_ms=300_000, increment_ms=3_000))
        await until(at.pilot, lambda: screen.room.mirror.head.settings == wanted)
        await at.says("5 minutes", "settings")
        async with connect(real_server.url, name="rui") as rui, rui.join(screen.room.code) as joined:
            await at.arrive(MatchScreen)
            await until(at.pilot, lambda: joined.mirror.head.match is not None)
            assert joined.mirror.head.match.clock.players[0].stage_ms == 300_000
