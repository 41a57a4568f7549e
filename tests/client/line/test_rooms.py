"""What people do in rooms of a real server, as typed: invitations, quick play, hosts, rematch, live lobby."""

from __future__ import annotations

import asyncio
import re
from contextlib import asynccontextmanager

import pytest

from tabuleiro.clock import Fischer
from tabuleiro.errors import CommandError
from tabuleiro.settings import LateBot, RoomSettings
from tabuleiro_client.line import launch
from tabuleiro_client.line.client import LineClient
from tabuleiro_client.line.terminal import Screen
from tabuleiro_client.models.saved_matches import SavedMatches
from tabuleiro_client.net.identity import IdentityFolder
from tabuleiro_client.net.library import connect
from tabuleiro_client.text.board import TextStyle
from tabuleiro_server.config import Config
from tabuleiro_server.wiring import running_server

SMALL = {"rows": 4, "cols": 4, "steps": 2}


@pytest.fixture
async def real_server(tmp_path):
    async with running_server(Config(port=0, db=str(tmp_path / "server.db"))) as running:
        yield running


class Person:
    """Somebody at a terminal of their own."""

    def __init__(self, typist, paper, folder, name) -> None:
        self.type, self.paper, self.shows = typist.type, paper, paper.shows
        screen = Screen(paper, TextStyle(color=False, ascii=True), has_prompt=True)
        self.saved = SavedMatches(folder / (name or "nobody"))
        self.client = LineClient(typist, screen, IdentityFolder(folder), name, self.saved)

    def play(self, **options) -> asyncio.Task[None]:
        return asyncio.create_task(launch.play(self.client, launch.PlayOptions(**options)))


@pytest.fixture
async def person(make_typist, make_paper, tmp_path):
    def make(name=None) -> Person:
        return Person(make_typist(is_terminal=True), make_paper(), tmp_path / "config", name)

    return make


async def opens(someone, server, **options):
    """Open a room, and return its task and the room's code."""
    options = {"game": "virus-wars", "options": SMALL, **options}
    playing = someone.play(server=server.url, **options)
    await someone.shows("or from another terminal:\n")
    await someone.shows("\n")
    return playing, re.findall(r"--room (\w+)", someone.paper.getvalue())[-1]


async def leave(*people_and_tasks):
    for someone, _ in people_and_tasks:
        someone.type("quit")
    await asyncio.gather(*(task for _, task in people_and_tasks))


@pytest.fixture
def two_at_a_table(real_server, person):
    """Ana opens a room with ``options`` and rui joins; at the end both leave."""

    @asynccontextmanager
    async def sit(**options):
        ana, rui = person("ana"), person("rui")
        ana_plays, code = await opens(ana, real_server, **options)
        rui_plays = rui.play(server=real_server.url, room=code)
        yield ana, rui
        await leave((ana, ana_plays), (rui, rui_plays))

    return sit


async def test_a_private_room_prints_its_invitations_and_lets_in_who_has_them(real_server, person):
    ana, rui, eva, nosy = person("ana"), person("rui"), person("eva"), person("nosy")
    ana_plays, code = await opens(ana, real_server, settings=RoomSettings(is_private=True))
    invite = re.findall(rf"--room {code}-(\S+)", ana.paper.getvalue())[-1]
    await ana.shows("to watch only:\n  http:")
    await ana.shows("\n  tabuleiro watch ")
    watch = re.findall(rf"watch {code}-(\S+) ", ana.paper.getvalue())[-1]
    await launch.list_rooms(nosy.client, real_server.url)
    assert code not in nosy.paper.getvalue()
    for secret in (None, watch, "wrong"):
        with pytest.raises(CommandError, check=lambda error: error.code == "bad-secret"):
            await nosy.play(server=real_server.url, room=code, secret=secret)
    with pytest.raises(CommandError, check=lambda error: error.code == "bad-secret"):
        await launch.watch(nosy.client, code, real_server.url, invite[:-1])
    eva_watches = asyncio.create_task(launch.watch(eva.client, f"{code.lower()}-{watch}", real_server.url))
    await eva.shows("is private, its host has the invitation")
    rui_plays = rui.play(server=real_server.url, room=code, secret=invite)
    await eva.shows("rui sits down as red, o")
    await leave((ana, ana_plays), (rui, rui_plays), (eva, eva_watches))


async def test_quick_play_brings_two_people_together(real_server, person):
    ana, rui = person("ana"), person("rui")
    blitz = RoomSettings(time_control=Fischer(300_000, 3_000))
    ana_plays = ana.play(server=real_server.url, game="minefield", is_quick=True, settings=blitz)
    await ana.shows("waiting for an opponent")
    rui_plays = rui.play(server=real_server.url, game="minefield", is_quick=True, settings=blitz)
    await rui.shows("in this room: 5 minutes + 3 seconds a turn")
    await ana.shows("rui sits down as white")
    await ana.shows("the clock starts after both first turns; 30 s for your first turn")
    await rui.shows("the clock starts after both first turns; 30 s for ana's first turn")
    await ana.shows("[first turn 0:")
    await leave((ana, ana_plays), (rui, rui_plays))


async def test_after_the_end_people_talk_and_play_again_with_sides_swapped(two_at_a_table):
    async with two_at_a_table() as (ana, rui):
        await rui.shows("ana (blue, x) to move")
        ana.type("resign", "yes")
        await rui.shows("winner: rui (red, o)\nrematch asks for another match, chat TEXT")
        rui.type("say well played", "rematch")
        await ana.shows("rui: well played")
        await ana.shows("rui offers a rematch: accept or decline")
        ana.type("accept")
        await ana.shows("the match begins: rui (blue, x) against ana (red, o)")
        await rui.shows("your turn (blue, x), 2 actions left")


async def test_a_host_changes_the_settings_for_the_rematch_and_both_are_told(real_server, person):
    ana, rui = person("ana"), person("rui")
    ana_plays, code = await opens(ana, real_server)
    ana.type("set undo no")
    await ana.shows("the host has changed the settings: no undoing within a turn")
    rui_plays = rui.play(server=real_server.url, room=code)
    await rui.shows("in this room: no undoing within a turn")
    await rui.shows("ana (blue, x) to move")
    ana.type("set time 5+3")
    await ana.shows("not while the match runs; it can be done once that is over")
    ana.type("resign", "yes", "set tme 5+3", "set")
    await ana.shows("expected one of time, casual, hints, draw-first,")
    await ana.shows("settings: no undoing within a turn")
    rui.type("rematch", "set time 5+3")
    await ana.shows("rui offers a rematch: accept or decline")
    await rui.shows("only ana, who made room")
    ana.type("set time 5+3")
    for someone, whose in ((ana, "rui's"), (rui, "your")):
        await someone.shows(f"{whose} rematch offer has lapsed")
        await someone.shows("the host has changed the settings: 5 minutes")
    ana.type("clock", "rematch")
    await ana.shows("the clock starts with a match")
    await rui.shows("ana offers a rematch: accept or decline")
    rui.type("accept", "clock")
    await rui.shows("ana (red, o): 5:00")
    await leave((rui, rui_plays), (ana, ana_plays))


@pytest.mark.usefixtures("draws_in_virus_wars")
async def test_offers_undo_and_takeback_between_two_people(two_at_a_table):
    async with two_at_a_table() as (ana, rui):
        await ana.shows("your turn")
        ana.type("b3", "undo", "b3 c2")
        await ana.shows("you took the last actions back")
        await rui.shows("ana played b3 c2")
        await rui.shows("your turn (red, o), 2 actions left")
        ana.type("takeback")
        await rui.shows("ana asks to take the last turn back: accept or decline")
        rui.type("accept takeback")
        await ana.shows("your turn (blue, x), 2 actions left")
        ana.type("draw")
        await ana.shows("you offer a draw (decline withdraws it)")
        ana.type("decline")
        await rui.shows("ana's draw offer was withdrawn")
        rui.type("draw")
        await ana.shows("rui offers a draw: accept or decline")
        ana.type("draw")
        await rui.shows("a draw by agreement\nwinner: nobody\n")


async def test_a_host_seats_a_bot_takes_it_off_swaps_and_mutes(real_server, person):
    ana, eva = person("ana"), person("eva")
    ana_plays, code = await opens(ana, real_server)
    eva_watches = asyncio.create_task(launch.watch(eva.client, code, real_server.url))
    await eva.shows("waiting for an opponent")
    eva.type("bot random")
    await eva.shows("only ana, who made room")
    eva.type("say hello")
    await ana.shows("eva (watching): hello")
    ana.type("mute eva")
    await eva.shows("the host has muted you: you cannot chat here")
    eva.type("say why?")
    await eva.shows("ana has muted you")
    ana.type("unmute eva", "swap", "bot random")
    await ana.shows("eva may chat again")
    await ana.shows("the players change seats")
    await ana.shows("random-bot (blue, x) against ana (red, o)")
    await ana.shows("your turn (red, o)")
    ana.type("resign", "yes", "rematch")
    await ana.shows("you offer a rematch")
    await ana.shows("the match begins: ana (blue, x) against random-bot (red, o)")
    ana.type("resign", "yes", "nobot")
    await ana.shows("the seat of red is free again")
    await leave((ana, ana_plays), (eva, eva_watches))


async def test_a_match_hardly_begun_is_aborted_and_nobody_can_be_claimed_over_who_is_here(two_at_a_table):
    async with two_at_a_table(settings=RoomSettings(may_undo=False)) as (ana, rui):
        await rui.shows("in this room: no undoing within a turn")
        await rui.shows("to move")
        rui.type("claim")
        await rui.shows("the opponent is here")
        ana.type("b3", "undo")
        await ana.shows("this room does not allow undoing")
        rui.type("abort")
        await ana.shows("the match was aborted\nwinner: nobody\n")


async def test_a_bot_comes_to_who_has_waited_in_vain(real_server, person):
    ana = person("ana")
    settings = RoomSettings(late_bot=LateBot("random", 0))
    playing = ana.play(server=real_server.url, game="virus-wars", options=SMALL, settings=settings)
    await ana.shows("a bot (random) takes the free seat after 0 seconds")
    await ana.shows("ana (blue, x) against random-bot (red, o)")
    await leave((ana, playing))


async def test_the_lobby_is_told_as_it_changes_and_only_what_was_asked_for(real_server, person):
    ana, rui, looker = person("ana"), person("rui"), person()
    wanted = launch.RoomFilter("virus-wars", ("waiting",))
    following = asyncio.create_task(launch.follow_rooms(looker.client, real_server.url, wanted))
    await looker.shows("ROOM  GAME")
    other = rui.play(server=real_server.url, game="minefield")
    await rui.shows("waiting for an opponent")
    ana_plays, code = await opens(ana, real_server)
    await looker.shows(f"new:     {code}  virus-wars  rows=4 cols=4 steps=2  ana  (free)  none")
    ana.type("bot random")
    await looker.shows(f"gone:    {code}\n")
    assert "minefield" not in looker.paper.getvalue()
    await leave((ana, ana_plays), (rui, other))
    following.cancel()
    await asyncio.wait([following])


async def test_xero_g_is_played_by_naming_ships_and_answering_in_words(real_server, person):
    ana = person("ana")
    position = "132321/000000/000000/000000/000000/123123 0"
    playing = ana.play(server=real_server.url, game="xero-g", options={"position": position}, level="random")
    await ana.shows("your turn (south)")
    ana.type("?")
    await ana.shows("name a ship to see where it can go, e.g. b1")
    ana.type("c1")
    await ana.shows("the 2 on c1 can end on b2 d2 c3: type e.g. c1-b2")
    ana.type("a1xb1", "nonsense", "board", "boost", "no")
    await ana.shows("boost SQUARE      to run on from b1")
    await ana.shows("cannot read 'nonsense': expected boost SQUARE, reprogram SQUARE, or no")
    await ana.shows("your turn (south)")
    await ana.shows("boosted from b1, where to?")
    await ana.shows("nothing was played")
    ana.type("a1xf1")
    await ana.shows("'a1xf1': no run of the ship on a1, boosted or not, ends on f1")
    ana.type("a1-b1", "boost b4")
    await ana.shows("you played a1-b4\nits route: a1 b1 (boost) b2 b3 b4\n")
    await leave((ana, playing))


async def test_a_hint_is_told_to_who_asked_and_noted_for_the_other(two_at_a_table):
    hints = RoomSettings(hints=True)
    async with two_at_a_table(options={**SMALL, "steps": 1}, settings=hints) as (ana, rui):
        await rui.shows("in this room: hints are given")
        await ana.shows("your turn (blue, x)")
        rui.type("hint")
        await rui.shows("hints are for the player to move, and it is the other player's turn")
        ana.type("hint")
        await ana.shows("hint: ")
        await rui.shows("ana takes a hint")
        ana.type("hint")
        await ana.shows("you had a hint just now")


async def test_a_room_without_hints_refuses_them(two_at_a_table):
    async with two_at_a_table() as (ana, _):
        await ana.shows("your turn (blue, x)")
        ana.type("hint")
        await ana.shows("this room gives no hints")


async def test_a_match_is_remembered_to_come_back_to_and_a_seat_given_up_is_not(real_server, person):
    """Symptom: only the screens remembered matches, so those of lines were neither at home nor among the turns."""
    ana, rui = person("ana"), person("rui")
    ana_plays, code = await opens(ana, real_server)
    assert [(match.room, match.phase) for match in ana.saved.all()] == [(code, "waiting")]
    await leave((ana, ana_plays))
    assert ana.saved.all() == []
    ana_plays, code = await opens(ana, real_server)
    rui_plays = rui.play(server=real_server.url, room=code)
    await ana.shows("your turn (blue, x)")
    await leave((ana, ana_plays), (rui, rui_plays))
    (match,) = ana.saved.all()
    assert (match.room, match.guest, match.opponent, match.phase) == (code, "ana", "rui", "playing")
    assert [match.opponent for match in rui.saved.all()] == ["ana"]


async def test_where_the_rules_know_no_draw_none_is_offered(two_at_a_table):
    async with two_at_a_table() as (ana, _):
        await ana.shows("your turn (blue, x)")
        ana.type("draw")
        await ana.shows("there are no draws in Virus Wars")


async def test_people_chat_in_the_lobby_from_the_menu_and_go_back_by_an_empty_line(real_server, person):
    ana, rui = person("ana"), person("rui")
    playing = [someone.play(server=real_server.url) for someone in (ana, rui)]
    for someone in (ana, rui):
        await someone.shows("7  chat with the people who are here")
        someone.type("7")
    await ana.shows("2 here: ana, rui")
    ana.type("a game, anybody?")
    for someone in (ana, rui):
        await someone.shows("ana: a game, anybody?\n")
    rui.type("o" * 301)
    await rui.shows("that is 301 characters long: at most 300 can be sent at once")
    for number in range(6):
        rui.type(f"line {number}")
    await rui.shows("at most 5 lines in 10 seconds; wait a little")
    await ana.shows("rui: line 4\n")
    ana.type("")
    await ana.shows("On ws://")
    ana.type("x")
    rui.type("", "x")
    await asyncio.gather(*playing)


async def test_who_comes_to_the_chat_later_sees_what_was_written(real_server, person):
    async with connect(real_server.url, name="eva") as eva, eva.lobby():
        await eva.say_in_lobby("hello")
        ana = person("ana")
        playing = ana.play(server=real_server.url)
        ana.type("7")
        await ana.shows("eva: hello\n")
        ana.type("", "x")
        await playing


async def test_whoever_follows_the_rooms_sees_what_is_written_there(real_server, person):
    ana = person("ana")
    following = asyncio.create_task(launch.follow_rooms(ana.client, real_server.url))
    async with connect(real_server.url, name="eva") as eva, eva.lobby():
        await ana.shows("ROOM")
        await eva.say_in_lobby("hello")
        await ana.shows("chat:    eva: hello\n")
    following.cancel()
    await asyncio.wait([following])


@pytest.mark.parametrize("lays", [True, False])
async def test_the_second_stone_of_iris_is_laid_where_one_cell_is_left_unless_the_settings_say_no(
    two_at_a_table, monkeypatch, tmp_path, lays
):
    monkeypatch.setenv("TABULEIRO_CONFIG_DIR", str(tmp_path / "config"))
    (tmp_path / "config").mkdir()
    (tmp_path / "config" / "settings.json").write_text(f'{{"lays_forced": {str(lays).lower()}}}')
    async with two_at_a_table(game="iris", options={"side": 5}) as (ana, rui):
        await ana.shows("your turn")
        ana.type("e5")
        await rui.shows("ana played e5")
        rui.type("a1")
        if lays:
            await rui.shows("i5 is laid too: the rules leave no other cell")
            await ana.shows("rui played a1 i5")
        else:
            await ana.shows("rui played a1\n")
            rui.type("i5")
            await ana.shows("rui played i5")
