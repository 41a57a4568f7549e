"""The lobby: live, filtered, and the ways from it into rooms."""

from __future__ import annotations

import asyncio
from contextlib import asynccontextmanager

import pytest
from textual.widgets import DataTable, Input

from tabuleiro.protocol.messages import Announcement, LobbyUpdate, RoomList
from tabuleiro.settings import RoomSettings
from tabuleiro_client.net.library import ME, bot, connect
from tabuleiro_client.tui.screens import lobby
from tabuleiro_client.tui.screens.dialogs import JoinScreen
from tabuleiro_client.tui.screens.home import HomeScreen
from tabuleiro_client.tui.screens.lobby import LobbyScreen
from tabuleiro_client.tui.screens.match import MatchScreen
from tabuleiro_client.tui.screens.questions import PickerScreen
from tabuleiro_client.tui.screens.watch import WatchScreen
from tabuleiro_client.tui.widgets.chat import Chat, Entry
from tabuleiro_client.tui.widgets.forms import FieldRow
from tabuleiro_server.config import Config
from tabuleiro_server.wiring import running_server
from tests.client.tui.tables import until
from tests.client.tui.visits import Visit, lobby_visit


def codes(at: Visit) -> list[str]:
    """The codes in the table, from the top."""
    table = at.app.screen.query_one(DataTable)
    return [str(table.get_row_at(place)[0]) for place in range(table.row_count)]


async def test_rooms_come_and_go_while_one_looks(real_server):
    async with lobby_visit(real_server) as at, connect(real_server.url, name="rui") as rui:
        assert at.app.screen.has_class("empty")
        async with rui.create("iris") as room:
            await until(at.pilot, lambda: codes(at) == [room.code])
            async with rui.create("minefield") as other:
                await until(at.pilot, lambda: codes(at) == [other.code, room.code])
                await other.leave()
                await until(at.pilot, lambda: codes(at) == [room.code])


async def test_who_is_here_is_told(real_server):
    async with lobby_visit(real_server) as at:
        await at.says("1 here (t: chat): ana", "here")
        async with connect(real_server.url, name="rui"):
            await at.says("2 here (t: chat): ana, rui", "here")
        await at.says("1 here (t: chat): ana", "here")


async def test_the_list_is_filtered_by_game_and_by_state(real_server):
    async with lobby_visit(real_server) as at, connect(real_server.url, name="rui") as rui:
        async with rui.create("iris") as iris, rui.create("virus-wars", seats=(ME, bot("random"))) as wars:
            await until(at.pilot, lambda: codes(at) == [wars.code, iris.code])
            await at.press("g")
            await until(at.pilot, lambda: codes(at) == [wars.code])
            assert "Virus Wars" in at.text("filter")
            await at.press("g", "g")
            await until(at.pilot, lambda: codes(at) == [iris.code])
            await at.press("f")
            assert "waiting for somebody" in at.text("filter")
            await until(at.pilot, lambda: codes(at) == [iris.code])
            await at.press("f")
            await until(at.pilot, lambda: codes(at) == [])
            assert at.app.screen.has_class("empty")


async def test_the_cursor_stays_on_its_room(real_server):
    async with lobby_visit(real_server) as at, connect(real_server.url, name="rui") as rui:
        async with rui.create("iris") as first, rui.create("iris") as second:
            await until(at.pilot, lambda: codes(at) == [second.code, first.code])
            await at.press("down")
            async with rui.create("iris"):
                await until(at.pilot, lambda: len(codes(at)) == 3)
                table = at.app.screen.query_one(DataTable)
                assert codes(at)[table.cursor_row] == first.code


async def test_enter_joins_a_room_with_a_free_seat(real_server):
    async with lobby_visit(real_server) as at, connect(real_server.url, name="rui") as rui:
        async with rui.create("iris") as room:
            await until(at.pilot, lambda: codes(at) == [room.code])
            await at.press("enter")
            await at.arrive(MatchScreen)
            await until(at.pilot, lambda: room.mirror.head.seats[1].holder.name == "ana")


async def test_enter_watches_a_room_without_a_free_seat_and_w_any(real_server):
    async with lobby_visit(real_server) as at, connect(real_server.url, name="rui") as rui:
        async with rui.create("iris", seats=(ME, bot("random"))) as room:
            await until(at.pilot, lambda: codes(at) == [room.code])
            for key in ("enter", "w"):
                await at.press(key)
                await at.arrive(WatchScreen)
                await at.press("escape")
                await at.arrive(LobbyScreen)


@pytest.mark.slow
async def test_a_room_is_entered_by_its_code(real_server):
    async with lobby_visit(real_server) as at, connect(real_server.url, name="rui") as rui:
        async with rui.create("iris") as room:
            await at.press("j")
            await at.arrive(JoinScreen)
            await at.type("nothing")
            await at.press("enter")
            await until(at.pilot, lambda: "the code of a room" in at.problem("code"))
            await at.pilot.pause()  # the field takes the focus with all its text selected
            await at.type(room.code.lower())
            assert at.row("code").text == room.code.lower()
            await at.pilot.click("#watch")
            await at.arrive(WatchScreen)


async def test_a_code_that_leads_nowhere_is_told(real_server):
    async with lobby_visit(real_server) as at:
        await at.press("j")
        await at.arrive(JoinScreen)
        await at.type("K7MQ4")
        await at.press("enter")
        # The question was closed, and the code had to be typed again.
        await until(at.pilot, lambda: at.app.screen.query("#problem.open"))
        assert at.text("problem").startswith("there is no room")
        assert at.row("code").text == "K7MQ4"
        await at.press("escape")
        await at.arrive(LobbyScreen)


@pytest.mark.slow
async def test_a_secret_that_is_wrong_is_asked_for_again_and_gives_way_to_one_with_the_code(real_server):
    """Symptom: the wrong one was left in its line, and counted more than the one typed after the code."""
    private = RoomSettings(is_private=True)
    async with lobby_visit(real_server) as at, connect(real_server.url, name="rui") as rui:
        async with rui.create("iris", settings=private) as room:
            await at.press("j")
            await at.arrive(JoinScreen)
            await at.type(f"{room.code}-wrong")
            await at.press("enter")
            await until(at.pilot, lambda: at.app.screen.query(FieldRow) and "private" in at.problem("secret"))
            assert at.row("secret").has_focus_within
            await at.fill("code", f"{room.code}-{room.secrets.invite}")
            await at.press("enter")
            await at.arrive(MatchScreen)


async def test_what_a_server_said_before_it_restarted_does_not_stay_once_it_is_back(real_server, monkeypatch):
    """Symptom: "the server restarts" stood below a list that had long been told anew."""
    told: asyncio.Queue[RoomList | LobbyUpdate | Announcement] = asyncio.Queue()

    @asynccontextmanager
    async def follow(link, game, phases):
        async def news():
            while True:
                yield await told.get()

        yield news()

    monkeypatch.setattr(lobby, "follow_lobby", follow)
    told.put_nowait(RoomList(()))
    told.put_nowait(LobbyUpdate((), (), ("ana",), 1))
    async with lobby_visit(real_server) as at:
        told.put_nowait(Announcement("back soon", 3_000))
        await at.says("the server says: back soon")
        told.put_nowait(RoomList(()))
        await until(at.pilot, lambda: at.text("say") == "")


@pytest.mark.slow
async def test_people_stand_beside_the_list_where_there_is_room(real_server):
    async with lobby_visit(real_server, size=(120, 40)) as at:
        await until(at.pilot, lambda: not at.app.screen.has_class("narrow"))
        await at.says("1 here\nana", "names")


@pytest.mark.slow
async def test_what_is_typed_filters_the_list_while_it_changes_and_escape_shows_all(real_server):
    async with lobby_visit(real_server) as at, connect(real_server.url, name="rui") as rui:
        async with rui.create("iris") as iris, rui.create("minefield") as mines:
            await until(at.pilot, lambda: codes(at) == [mines.code, iris.code])
            assert at.text("count") == "2 of 2 shown"
            await at.press("slash", *"iris")
            await until(at.pilot, lambda: codes(at) == [iris.code])
            assert at.text("count") == "1 of 2 shown"
            assert {"list", "all"} <= at.footer()
            async with rui.create("iris") as more:
                await until(at.pilot, lambda: codes(at) == [more.code, iris.code])
                assert at.text("count") == "2 of 3 shown"
                await more.leave()
            await until(at.pilot, lambda: at.text("count") == "1 of 2 shown")
            await at.press("enter")
            await until(at.pilot, lambda: isinstance(at.app.focused, DataTable))
            assert codes(at) == [iris.code]
            assert "find" in at.footer()
            await at.press("escape")
            await until(at.pilot, lambda: codes(at) == [mines.code, iris.code])
            assert isinstance(at.app.screen, LobbyScreen)
            await at.press("escape")
            await at.arrive(HomeScreen)


async def test_looking_for_what_is_not_there_says_so_and_escape_goes_back_to_the_list(real_server):
    async with lobby_visit(real_server) as at, connect(real_server.url, name="rui") as rui:
        async with rui.create("iris") as room:
            await until(at.pilot, lambda: codes(at) == [room.code])
            await at.press("slash", *"nobody")  # longer than a code, which is random
            await at.says('Nothing has "nobody" in its code, its game or its names', "empty")
            assert at.app.screen.has_class("empty")
            await at.press("escape")
            await until(at.pilot, lambda: codes(at) == [room.code])
            await until(at.pilot, lambda: isinstance(at.app.focused, DataTable))


@pytest.mark.slow
async def test_filters_of_all_three_kinds_hold_together(real_server):
    async with lobby_visit(real_server) as at, connect(real_server.url, name="rui") as rui:
        async with rui.create("iris") as iris, rui.create("minefield") as mines:
            await until(at.pilot, lambda: codes(at) == [mines.code, iris.code])
            await at.press("slash", *"rui", "enter", "g", "g", "g")
            await until(at.pilot, lambda: codes(at) == [iris.code])
            await at.press("f", "f")
            await at.says("No room of Iris is being played now.", "empty")
            await at.press("escape")
            await until(at.pilot, lambda: at.app.screen.query_one(Input).value == "")
            assert isinstance(at.app.screen, LobbyScreen)


def shown_lines(at: Visit) -> list[str]:
    return [f"{line.name}: {line.text}" for line in at.app.screen.query_one(Chat)._entries if line is not None]


@pytest.mark.parametrize("size", [(80, 24), (120, 40)])
async def test_people_in_the_lobby_write_to_each_other(real_server, size):
    async with lobby_visit(real_server, "ana", size) as ana, connect(real_server.url, name="rui") as rui:
        async with rui.lobby() as news:
            assert "chat" in ana.footer()
            await ana.press("t", *"hello", "enter")
            async for told in news:
                if isinstance(told, LobbyUpdate) and told.chat:
                    break
            assert [(line.name, line.text) for line in told.chat] == [("ana", "hello")]
            await rui.say_in_lobby("[b]hi[/b]")
            await until(ana.pilot, lambda: shown_lines(ana) == ["ana: hello", "rui: [b]hi[/b]"])
            assert ana.app.screen.query_one(Chat).size.height >= 4
            # The letters of the list are commands again.
            await ana.press("g")
            await ana.says("game (g): Virus Wars", "filter")


async def test_a_line_that_is_refused_comes_back_with_the_reason(tmp_path):
    async with running_server(Config(db=str(tmp_path / "server.db"), port=0, lobby_chat=False)) as server:
        async with lobby_visit(server) as at:
            await at.press("f4", *"hello", "enter")
            await at.says("the chat of the lobby is turned off on this server")
            assert at.app.screen.query_one(Entry).value == "hello"
            await at.press("escape")
            await at.press("t", *("o" for _ in range(301)), "enter")
            await at.says("that is 301 characters long")


async def test_what_somebody_writes_can_be_hidden_and_shown_again(real_server):
    async with lobby_visit(real_server, "ana") as at, connect(real_server.url, name="rui") as rui, rui.lobby():
        await rui.say_in_lobby("buy!")
        await until(at.pilot, lambda: shown_lines(at) == ["rui: buy!"])
        for lines in ([], ["rui: buy!"]):
            await at.press("M")
            await at.arrive(PickerScreen)
            await at.press("enter")
            await at.arrive(LobbyScreen)
            await until(at.pilot, lambda lines=lines: shown_lines(at) == lines)
