"""The home screen: the ways from it, servers and matches it knows, and what it says when a way leads nowhere."""

from __future__ import annotations

import asyncio
from contextlib import AbstractAsyncContextManager
from pathlib import Path

import msgspec
import pytest
from textual.widgets import DataTable, Input, OptionList

from tabuleiro.clock import Correspondence
from tabuleiro.ids import RoomCode, TimestampMs
from tabuleiro.settings import RoomSettings
from tabuleiro_client.models.saved_matches import SavedMatch, SavedMatches
from tabuleiro_client.net.files import config_folder
from tabuleiro_client.net.identity import Identity, IdentityFolder
from tabuleiro_client.net.library import ME, connect
from tabuleiro_client.net.link import Link
from tabuleiro_client.tui.screens.dialogs import ConnectScreen, JoinScreen
from tabuleiro_client.tui.screens.help import HelpScreen
from tabuleiro_client.tui.screens.home import HomeScreen
from tabuleiro_client.tui.screens.lobby import LobbyScreen
from tabuleiro_client.tui.screens.match import MatchScreen
from tabuleiro_client.tui.screens.new_match import NewMatchScreen
from tabuleiro_client.tui.screens.questions import ConfirmScreen, PickerScreen
from tabuleiro_client.tui.screens.replay import ReplayScreen
from tabuleiro_client.tui.screens.replays import ReplaysScreen
from tabuleiro_client.tui.screens.room import RoomScreen
from tabuleiro_client.tui.screens.rules import RulesScreen
from tabuleiro_client.tui.screens.settings import SettingsScreen
from tabuleiro_client.tui.screens.watch import WatchScreen
from tabuleiro_server.config import Config
from tabuleiro_server.wiring import RunningServer, running_server
from tests.client.tui.tables import until
from tests.client.tui.visits import Visit, lobby_visit, visit
from tests.selection import rest_slow


def lines(at: Visit) -> list[str]:
    options = at.app.screen.query_one(OptionList)
    return [str(option.prompt).strip() for option in options.options]


async def choose(at: Visit, title: str) -> None:
    options = at.app.screen.query_one(OptionList)
    options.highlighted = next(place for place, line in enumerate(lines(at)) if line.startswith(title))
    await at.press("enter")


@pytest.mark.parametrize(
    ("key", "kind"),
    [
        ("1", NewMatchScreen),
        ("2", NewMatchScreen),
        ("o", ConnectScreen),
        ("p", ReplaysScreen),
        ("r", RulesScreen),
        ("s", SettingsScreen),
        ("question_mark", HelpScreen),
    ],
)
async def test_each_key_opens_its_screen_and_escape_comes_back(key, kind):
    async with visit() as at:
        await at.press(key)
        await at.arrive(kind)
        await at.press("escape")
        await at.arrive(HomeScreen)


async def test_nothing_is_connected_nor_started_before_it_is_needed():
    async with visit() as at:
        await at.press("r")
        await at.arrive(RulesScreen)
        assert at.app.session.venue is None


async def test_what_is_highlighted_is_explained():
    async with visit() as at:
        assert "strength you choose" in at.text("help")
        await at.press("down")
        await at.says("Both sides are played from here", "help")


@pytest.mark.parametrize("keys", rest_slow([["q"], ["ctrl+q"], ["ctrl+c"], ["o", "ctrl+c"], ["end", "enter"]], 3))
async def test_there_are_many_ways_out(keys):
    async with visit() as at:
        await at.press(*keys)
        await until(at.pilot, lambda: at.app._exit)


async def test_a_server_that_does_not_answer_is_told_in_the_question_for_it():
    async with visit() as at:
        await at.press("o")
        await at.arrive(ConnectScreen)
        await at.type("127.0.0.1:1")
        await at.press("enter")
        await until(
            at.pilot,
            lambda: isinstance(at.app.screen, ConnectScreen) and "no server listens" in at.text("problem"),
        )
        assert at.app.screen.query(Input).first().value == "ws://127.0.0.1:1"


@pytest.mark.parametrize(
    ("address", "name", "wrong"), rest_slow([("ftp://x", "ana", "address"), ("localhost", "a", "name")])
)
async def test_an_address_or_a_name_that_is_none_is_told_at_its_field(address, name, wrong):
    async with visit() as at:
        await at.press("o")
        await at.arrive(ConnectScreen)
        await at.type(address)
        await at.press("tab")
        await at.type(name)
        await at.press("enter")
        await until(at.pilot, lambda: at.problem(wrong).startswith("! expected "))
        assert at.row(wrong).has_focus_within


@pytest.mark.slow
async def test_a_name_that_somebody_has_is_told_in_the_question(real_server):
    async with Link(real_server.url, name="ana"), visit() as at:
        await at.press("o")
        await at.arrive(ConnectScreen)
        await at.type(real_server.url)
        await at.press("tab")
        await at.type("ana")
        await at.press("enter")
        await until(at.pilot, lambda: at.app.screen.query(".hint.wrong"))
        assert at.problem("name") == "! ana is somebody else there; choose another name"
        await until(at.pilot, lambda: at.row("name").has_focus_within)
        await at.type("eva")
        await at.press("enter")
        await at.arrive(LobbyScreen)


async def test_a_server_once_visited_is_listed_and_leads_to_its_lobby(real_server):
    async with lobby_visit(real_server, "ana") as at:
        await at.press("escape")
        await at.arrive(HomeScreen)
        place = real_server.url.partition("://")[2]
        assert f"{place} as ana" in lines(at)
        await choose(at, place)
        await at.arrive(LobbyScreen)
        assert at.app.session.venue.link.welcome.name == "ana"


async def test_a_guest_that_only_looks_on_is_no_server_one_knows():
    IdentityFolder(config_folder()).save(Identity("ws://h:1 (looking on)", "guest-1", "t"))
    async with visit() as at:
        assert not any("guest-1" in line for line in lines(at))


async def test_a_match_left_is_listed_and_can_be_gone_on_with():
    async with visit() as at:
        await at.press("2")
        await at.arrive(NewMatchScreen)
        await until(at.pilot, lambda: at.app.session.venue is not None and at.app.screen.form.errors() == {})
        await at.press("ctrl+s")
        match = await at.arrive(MatchScreen)
        code = match.room.code
        await at.press("escape", "y")
        await at.arrive(HomeScreen)
        assert f"Virus Wars against yourself ({code})" in lines(at)
        await choose(at, "Virus Wars against")
        again = await at.arrive(MatchScreen)
        await until(at.pilot, lambda: again.room is not None)
        assert again.room.code == code


@pytest.mark.slow
async def test_a_match_whose_room_is_no_more_is_forgotten(real_server):
    async with lobby_visit(real_server, "ana") as at:
        SavedMatches(config_folder()).keep(saved_match(real_server.url))
        await at.press("escape")
        await at.arrive(HomeScreen)
        await choose(at, "Iris against rui")
        await at.says("room K7MQ4 is gone, and the server keeps no record of it")
        assert not any("K7MQ4" in line for line in lines(at))


async def test_what_comes_while_the_screen_is_being_left_is_not_shown_any_more():
    """Symptom: the program ended with "No nodes match 'OptionList'" when it was left at that moment."""
    async with visit() as at:
        await at.app.screen.query_one(OptionList).remove()
        await at.pilot.resize_terminal(100, 40)
        await at.pilot.pause()
        assert isinstance(at.app.screen, HomeScreen)


async def ask_about(at: Visit, code: str) -> None:
    """Press x on a match."""
    options = at.app.screen.query_one(OptionList)
    options.highlighted = next(place for place, line in enumerate(lines(at)) if code in line)
    await at.pilot.pause()
    await at.press("x")
    await at.arrive(PickerScreen)


async def test_a_match_of_a_server_can_be_taken_off_the_list_after_a_question():
    SavedMatches(config_folder()).keep(saved_match("ws://games.example.org"))
    async with visit() as at:
        assert "end" not in at.footer()
        for answer in ("escape", "f"):
            assert any("K7MQ4" in line for line in lines(at))
            await ask_about(at, "K7MQ4")
            await at.press(answer)
            await at.arrive(HomeScreen)
        await until(at.pilot, lambda: not any("K7MQ4" in line for line in lines(at)))
        assert SavedMatches(config_folder()).all() == []


async def match_left_here(at: Visit) -> str:
    """Begin a match for two at this keyboard, leave it, and return its code."""
    await at.press("2")
    await at.arrive(NewMatchScreen)
    await until(at.pilot, lambda: at.app.session.venue is not None and at.app.screen.form.errors() == {})
    await at.press("ctrl+s")
    code = (await at.arrive(MatchScreen)).room.code
    await at.press("escape", "y")
    await at.arrive(HomeScreen)
    return str(code)


async def test_an_unfinished_match_of_this_machine_is_ended_or_deleted_after_a_question():
    async with visit() as at:
        ended, deleted = await match_left_here(at), await match_left_here(at)
        for code, letter in ((ended, "e"), (deleted, "d")):
            for answer in ("n", "y"):
                await ask_about(at, code)
                await at.press(letter)
                await at.arrive(ConfirmScreen)
                await at.press(answer)
                await at.arrive(HomeScreen)
            await until(at.pilot, lambda code=code: not any(code in line for line in lines(at)))
        await at.says(f"deleted: Virus Wars against yourself ({deleted})")
        (kept,) = SavedMatches(config_folder()).all()
        assert (kept.room, kept.result) == (ended, "no result")


async def test_more_unfinished_matches_than_home_shows_are_all_in_a_list():
    saved = SavedMatches(config_folder())
    for number in range(23):
        saved.keep(
            msgspec.structs.replace(saved_match("ws://games.example.org"), room=RoomCode(f"K7M{number:02}"))
        )
    saved.keep(msgspec.structs.replace(saved_match("ws://games.example.org"), phase="finished", result="won"))
    async with visit() as at:
        await choose(at, "all 23 unfinished matches")
        screen = await at.arrive(ReplaysScreen)
        assert screen.query_one(DataTable).row_count == 23
        assert {"continue", "end"} <= at.footer()
        await at.press("f3")
        await at.type("won")
        await at.press("enter")
        assert screen.query_one(DataTable).row_count == 1
        assert "continue" not in at.footer()


async def test_a_match_is_continued_or_deleted_from_the_list_of_all():
    async with visit() as at:
        code = await match_left_here(at)
        await at.press("p")
        await at.arrive(ReplaysScreen)
        await at.press("c")
        assert (await at.arrive(MatchScreen)).room.code == code
        await at.press("escape", "y")
        screen = await at.arrive(ReplaysScreen)
        await at.press("x")
        await at.arrive(PickerScreen)
        await at.press("d")
        await at.arrive(ConfirmScreen)
        await at.press("y")
        await at.arrive(ReplaysScreen)
        await until(at.pilot, lambda: screen.query_one(DataTable).row_count == 0)
        assert SavedMatches(config_folder()).all() == []


async def test_a_match_of_two_bots_is_among_ones_own_matches():
    async with visit() as at:
        await choose(at, "watch two bots play")
        await at.arrive(NewMatchScreen)
        await until(at.pilot, lambda: at.app.session.venue is not None and at.app.screen.form.errors() == {})
        await at.press("ctrl+s")
        code = (await at.arrive(WatchScreen)).room.code
        await at.press("escape")
        await at.arrive(HomeScreen)
        assert f"Virus Wars, easy-bot - easy-bot-2 ({code})" in lines(at)


@pytest.mark.slow
async def test_a_room_is_joined_by_its_code_from_home(real_server):
    async with lobby_visit(real_server, "ana") as ana, lobby_visit(real_server, "rui") as rui:
        await ana.press("n")
        await ana.arrive(NewMatchScreen)
        await ana.press("ctrl+s")
        room = await ana.arrive(RoomScreen)
        await until(ana.pilot, lambda: room.room is not None)
        await rui.press("escape", "j")
        await rui.arrive(JoinScreen)
        await rui.type(room.room.code.lower())
        await rui.press("enter")
        await rui.arrive(MatchScreen)
        await ana.arrive(MatchScreen)


async def test_the_window_may_be_narrow_and_the_list_long():
    saved = SavedMatches(config_folder())
    saved.keep(saved_match("ws://games.example.org"))
    async with visit((50, 14)) as at:
        assert at.app.screen.has_class("narrow")
        await at.press("end")
        await at.pilot.pause()
        assert at.app.screen.query_one(OptionList).highlighted == len(lines(at)) - 1


def saved_match(server: str) -> SavedMatch:
    return SavedMatch(
        server=server,
        guest="ana",
        room=RoomCode("K7MQ4"),
        game="Iris",
        board="default board",
        phase="playing",
        opponent="rui",
        seen_at_ms=TimestampMs(1000),
    )


async def test_a_match_in_which_it_is_ones_turn_comes_first_with_the_time_left(real_server):
    settings = RoomSettings(time_control=Correspondence(days=3))
    async with connect(real_server.url, name="ana") as ana, connect(real_server.url, name="rui") as rui:
        async with ana.create("iris", settings=settings) as room, rui.join(room.code):
            waiting, other = (
                msgspec.structs.replace(saved_match(real_server.url), room=code) for code in (room.code, "ZZZZZ")
            )
            SavedMatches(config_folder()).keep(waiting)
            SavedMatches(config_folder()).keep(other)
            async with visit() as at:
                await until(at.pilot, lambda: lines(at)[0] == "Your turn")
                # A day for the first turn, before the clock starts.
                assert lines(at)[1].startswith(f"Iris against rui ({room.code}) 23:59:")
                listed = lines(at)
                assert listed[listed.index("Continue a match") + 1] == "Iris against rui (ZZZZZ)"
                at.app.screen.query_one(OptionList).highlighted = 1
                await at.says("It is your turn, with 23:59:", "help")


async def test_going_somewhere_else_ends_the_way_before(real_server, monkeypatch):
    never = asyncio.Event()

    async def wait_for_ever(*arguments: object) -> None:
        await never.wait()

    async with visit() as at:
        monkeypatch.setattr("tabuleiro_client.tui.session.Session.go_online", wait_for_ever)
        await at.press("o")
        await at.arrive(ConnectScreen)
        await at.press("enter")
        await at.arrive(HomeScreen)
        await at.press("s")
        await at.arrive(SettingsScreen)
        assert [worker for worker in at.app.workers if worker.name == "travel" and worker.is_running] == []


def server_on(port: int, folder: Path, name: str) -> AbstractAsyncContextManager[RunningServer]:
    """A server with a database of that name, on a port that was free or was its own before (0: any)."""
    return running_server(Config(db=str(folder / f"{name}.db"), port=port))


@pytest.mark.slow
async def test_a_match_is_gone_on_with_once_its_server_is_there_again(tmp_path):
    async with server_on(0, tmp_path, "one") as server, connect(server.url, name="ana") as ana:
        IdentityFolder(config_folder()).save(Identity(server.url, "ana", ana.token))
        async with ana.create("iris", seats=(ME, ME)) as room:
            match = msgspec.structs.replace(saved_match(server.url), room=room.code)
            SavedMatches(config_folder()).keep(match)
    async with visit() as at:
        for title in ("Iris against", server.url.partition("://")[2]):
            await choose(at, title)
            await at.says("no server listens there")
            await at.press("down")
        async with server_on(server.port, tmp_path, "one"):
            await choose(at, "Iris against")
            await at.arrive(MatchScreen)
            await at.press("escape", "y")
            await at.arrive(HomeScreen)


@pytest.mark.slow
async def test_a_match_that_ended_meanwhile_is_told_and_moves_to_the_replays(real_server):
    async with connect(real_server.url, name="ana") as ana, visit() as at:
        IdentityFolder(config_folder()).save(Identity(real_server.url, "ana", ana.token))
        async with ana.create("iris", seats=(ME, ME)) as room:
            SavedMatches(config_folder()).keep(
                msgspec.structs.replace(saved_match(real_server.url), room=room.code)
            )
            await room.resign()
            at.app.screen._list()
            await choose(at, "Iris against")
            await at.arrive(RoomScreen)
            await at.says("black resigned", "state")
            await at.press("escape")
            await at.arrive(HomeScreen)
            assert not any(room.code in line for line in lines(at))
            await at.press("p")
            await at.arrive(ReplaysScreen)
            assert at.app.screen.query_one(DataTable).get_row_at(0)[0] == room.code


@pytest.mark.slow
async def test_a_match_whose_room_is_closed_by_now_stays_among_the_replays(real_server):
    # It was forgotten, and its record could not be found any more.
    async with connect(real_server.url, name="ana") as ana, visit() as at:
        IdentityFolder(config_folder()).save(Identity(real_server.url, "ana", ana.token))
        async with ana.create("iris", seats=(ME, ME)) as room:
            await room.play(["f6"])
            await room.resign()
            await room.leave()
            SavedMatches(config_folder()).keep(
                msgspec.structs.replace(saved_match(real_server.url), room=room.code)
            )
        at.app.screen._list()
        await choose(at, "Iris against")
        await at.says(f"room {room.code} is closed; what was played there is among the replays (p)")
        assert not any(room.code in line for line in lines(at))
        await at.press("p")
        await at.arrive(ReplaysScreen)
        await at.press("enter")
        assert (await at.arrive(ReplayScreen)).model.record.actions == ("f6",)


@pytest.mark.slow
async def test_a_server_that_knows_us_no_more_is_told_and_makes_us_anew(tmp_path):
    async with server_on(0, tmp_path, "one") as server:
        IdentityFolder(config_folder()).save(Identity(server.url, "ana", "x" * 40))
        place = server.url.partition("://")[2]
        async with visit() as at:
            await choose(at, place)
            await at.arrive(LobbyScreen)
            told = [note.message for note in at.app._notifications]
            assert told[0].startswith(f"{server.url} does not know its guest ana any more")
            await at.press("escape")
            await at.arrive(HomeScreen)
            assert f"{place} as ana" in lines(at)


@pytest.mark.slow
async def test_a_name_that_is_somebody_elses_by_now_is_asked_for_again(real_server):
    IdentityFolder(config_folder()).save(Identity(real_server.url, "ana", "x" * 40))
    async with connect(real_server.url, name="ana"), visit() as at:
        await choose(at, real_server.url.partition("://")[2])
        await at.arrive(ConnectScreen)
        await until(at.pilot, lambda: at.problem("name") == "! ana is somebody else there; choose another name")
        await at.type("eva")
        await at.press("enter")
        await at.arrive(LobbyScreen)
        assert at.app.session.venue.link.welcome.name == "eva"


@pytest.mark.slow
async def test_a_server_that_came_back_without_its_guests_says_so_on_the_banner(tmp_path):
    async with visit() as at:
        async with server_on(0, tmp_path, "one") as server:
            await at.press("o")
            await at.arrive(ConnectScreen)
            await at.type(server.url)
            await at.press("enter")
            await at.arrive(LobbyScreen)
        async with server_on(server.port, tmp_path, "two"):
            await at.says("this server does not know you any more). Connect again from the home", "banner")
