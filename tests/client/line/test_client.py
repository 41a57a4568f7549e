"""The plain client against the real server, in one process: whole flows as typed."""

from __future__ import annotations

import asyncio
import random
import re

import pytest

from tabuleiro.errors import ClientError, CommandError
from tabuleiro.rules import registry
from tabuleiro_client.line import launch
from tabuleiro_client.line.client import LineClient
from tabuleiro_client.line.terminal import Screen
from tabuleiro_client.models.saved_matches import SavedMatches
from tabuleiro_client.net.files import CONFIG_VARIABLE, DATA_VARIABLE
from tabuleiro_client.net.identity import IdentityFolder
from tabuleiro_client.text.board import TextStyle
from tabuleiro_server.config import Config
from tabuleiro_server.wiring import running_server

SMALL = {"rows": 4, "cols": 4, "steps": 2}


@pytest.fixture(autouse=True)
def own_folders(tmp_path, monkeypatch):
    """Nothing of these tests touches the user's folders."""
    monkeypatch.setenv(CONFIG_VARIABLE, str(tmp_path / "config"))
    monkeypatch.setenv(DATA_VARIABLE, str(tmp_path / "data"))


@pytest.fixture
async def real_server(tmp_path):
    """A server as `tabuleiro serve` runs it."""
    async with running_server(Config(port=0, db=str(tmp_path / "server.db"))) as running:
        yield running


class Person:
    """A client with somebody who types at it and what they see."""

    def __init__(self, make_typist, make_paper, folder, name=None, *, is_terminal=True) -> None:
        typist, self.paper = make_typist(is_terminal=is_terminal), make_paper()
        self.type = typist.type
        self.shows = self.paper.shows
        screen = Screen(self.paper, TextStyle(color=False, ascii=True), has_prompt=is_terminal)
        self.client = LineClient(typist, screen, IdentityFolder(folder), name, SavedMatches(folder))

    @property
    def text(self) -> str:
        return self.paper.getvalue()

    def play(self, **options) -> asyncio.Task[None]:
        return asyncio.create_task(launch.play(self.client, launch.PlayOptions(**options)))


@pytest.fixture
def person(make_typist, make_paper, tmp_path):
    """Makes people; all have the same config folder, as on one machine."""

    def make(name=None, *, is_terminal=True) -> Person:
        return Person(make_typist, make_paper, tmp_path / "config", name, is_terminal=is_terminal)

    return make


def whole_game(seed: int) -> list[tuple[int, list[str]]]:
    """The turns of a random game of the small board: who plays what."""
    draw, state, turns = random.Random(seed), registry.load("virus-wars", SMALL).initial_state(), []
    while not state.is_terminal:
        mover, text = state.to_move, state.action_to_string(draw.choice(state.legal_actions()))
        if turns and turns[-1][0] == mover:
            turns[-1][1].append(text)
        else:
            turns.append((mover, [text]))
        state = state.apply(state.string_to_action(text))
    return turns


async def test_two_people_and_a_watcher_play_a_whole_game_over_the_network(real_server, person):
    ana, rui, watcher = person("ana"), person("rui"), person()
    playing = [ana.play(server=real_server.url, game="virus-wars", options=SMALL)]
    await ana.shows("or from another terminal:\n")
    await ana.shows(f"  tabuleiro play --server {real_server.url} --room ")
    code = re.findall(r"--room (\w+)", ana.text)[-1]
    playing.append(rui.play(server=real_server.url, room=code.lower()))
    await ana.shows("rui sits down as red, o")
    await ana.shows("the match begins: ana (blue, x) against rui (red, o); blue begins")
    await rui.shows("ana (blue, x) to move")
    playing.append(asyncio.create_task(launch.watch(watcher.client, code, real_server.url)))
    await watcher.shows("ana (blue, x) to move")
    for mover, actions in whole_game(seed=7):
        (ana, rui)[mover].type(" ".join(actions))
        await watcher.shows(f"{('ana', 'rui')[mover]} played {' '.join(actions)}")
        await (rui, ana)[mover].shows(f"{('ana', 'rui')[mover]} played {' '.join(actions)}")
    for someone in (ana, rui, watcher):
        await someone.shows("chat TEXT sends a message, quit leaves")
        someone.type("quit")
    await asyncio.gather(*playing)
    endings = {re.findall("winner: .*", someone.text)[-1] for someone in (ana, rui, watcher)}
    assert len(endings) == 1
    assert re.fullmatch(r"winner: (ana \(blue, x\)|rui \(red, o\))", endings.pop())


async def test_a_player_who_comes_back_has_the_seat_and_the_position(real_server, person):
    ana, rui = person("ana"), person("rui")
    first = ana.play(server=real_server.url, options=SMALL)
    await ana.shows("--room ")
    code = re.findall(r"--room (\w+)", ana.text)[-1]
    second = rui.play(server=real_server.url, room=code)
    await ana.shows("your turn")
    ana.type("b3")
    await rui.shows("ana played b3")
    first.cancel()
    await asyncio.wait([first])
    await ana.shows(f"tabuleiro play --server {real_server.url} --room {code} --name ana")
    await rui.shows("ana is away")
    again = person("ana")
    returned = again.play(server=real_server.url, room=code)
    await again.shows("4 x . . .\n3 .[x]. .\n")
    await again.shows("your turn (blue, x), 1 action left")
    await rui.shows("ana is back")
    again.type("resign", "yes")
    await rui.shows("red wins: blue resigned\nwinner: rui (red, o)\n")
    await again.shows("rematch asks for another match")
    again.type("quit")
    rui.type("quit")
    await asyncio.gather(returned, second)


async def test_a_third_person_finds_the_seats_taken(real_server, person):
    ana, eva = person("ana"), person("eva")
    playing = ana.play(server=real_server.url, level="random", options=SMALL)
    await ana.shows("your turn")
    code = re.findall(r"room (\w+):", ana.text)[-1]
    with pytest.raises(CommandError, check=lambda error: error.code == "seat-taken"):
        await eva.play(server=real_server.url, room=code)
    ana.type("quit")
    await playing


async def test_quitting_before_the_match_gives_the_seat_up_and_the_room_goes(real_server, person):
    ana, looker = person("ana"), person()
    playing = ana.play(server=real_server.url, options=SMALL)
    await ana.shows("--room ")
    await launch.list_rooms(looker.client, real_server.url)
    assert re.search(
        r"\w{5}  virus-wars  rows=4 cols=4 steps=2  ana +\(free\)  none   0         0m   waiting\n", looker.text
    )
    ana.type("quit")
    await playing
    emptied = person()
    await launch.list_rooms(emptied.client, real_server.url)
    assert emptied.text == "ROOM  GAME  BOARD  FIRST  SECOND  CLOCK  WATCHING  AGE  STATE\n"


async def test_a_room_is_found_in_the_list_and_joined_from_the_menu(real_server, person):
    ana, rui = person("ana"), person("rui")
    opening = ana.play(server=real_server.url, options=SMALL)
    await ana.shows("--room ")
    joining = rui.play(server=real_server.url)
    rui.type("6")
    await rui.shows("Which room?\n     ROOM")
    rui.type("1")
    await rui.shows("ana (blue, x) against rui (red, o)")
    ana.type("resign", "yes", "quit")
    await rui.shows("winner: rui (red, o)")
    rui.type("quit", "x")
    await asyncio.gather(opening, joining)


@pytest.mark.usefixtures("draws_in_virus_wars")
async def test_two_people_at_one_keyboard_are_asked_before_a_draw_ends_their_match(person):
    """Symptom: `draw`, by a slip or out of curiosity, ended the match at once: nobody else had to agree."""
    both = person("ana")
    both.play(game="virus-wars", options=SMALL)
    await both.shows("blue (x) to move")
    both.type("draw")
    await both.shows("end this match in a draw? type yes")
    both.type("no")
    await both.shows("no draw\n")
    both.type("draw")
    await both.shows("end this match in a draw? type yes")
    assert "by agreement" not in both.text
    both.type("yes")
    await both.shows("a draw by agreement")


async def test_two_people_at_one_keyboard_play_by_turns(person):
    both = person("ana")
    playing = both.play(game="virus-wars", options=SMALL)
    await both.shows("blue (x) against red (o); blue begins")
    for mover, actions in whole_game(seed=3):
        await both.shows(f"{('blue (x)', 'red (o)')[mover]} to move")
        both.type(" ".join(actions))
        await both.shows(f"{('blue', 'red')[mover]} played {' '.join(actions)}")
    await both.shows("quit leaves")
    both.type("quit")
    await playing
    assert re.search(r"wins: \w+ cannot move\nwinner: (blue \(x\)|red \(o\))\n", both.text)


async def test_menus_lead_to_a_match_with_every_option_chosen_back_and_out_again(person):
    ana = person()
    playing = ana.play()
    ana.type("2", "b", "2", "1")
    await ana.shows("Virus Wars: which board?")
    ana.type("9", "4")
    await ana.shows("type a number from 1 to 4")
    await ana.shows("rows: rows of the board; a whole number from 4 to 30 [11]: ")
    ana.type("99")
    await ana.shows("option rows: '99' is not possible")
    ana.type("4", "4", "2", "", "", "")
    await ana.shows("Which bot?")
    ana.type("1")
    await ana.shows("Who begins?")
    ana.type("2")
    await ana.shows("Virus Wars, rows=4 cols=4 steps=2\n")
    await ana.shows("your turn (red, o), 2 actions left")
    ana.type("quit")
    await ana.shows("What would you like to do?")
    ana.type("4", "1", "1")
    await ana.shows("your turn (red, o), 2 actions left")
    ana.type("resign", "yes")
    await ana.shows("winner: easy-bot (blue, x)")
    ana.type("quit")
    await ana.shows("What would you like to do?")
    ana.type("6", "1")
    await ana.shows("VIRUS WARS")
    ana.type("x")
    await playing


async def test_a_person_nobody_knows_yet_is_asked_for_a_name_until_it_can_be_one(real_server, person):
    ana = person()
    playing = ana.play(server=real_server.url)
    await ana.shows("your name: ")
    ana.type("", "a b", "ana", "x")
    await ana.shows("expected a name of 2 to 20 letters")
    await ana.shows(f"connected to {real_server.url} as ana")
    await playing


async def test_a_server_that_is_not_there_is_told_and_the_menu_goes_on(person):
    ana = person()
    playing = ana.play()
    ana.type("5", "ftp://x", "ws://127.0.0.1:9", "ana")
    await ana.shows("expected an address like ws://HOST:PORT")
    await ana.shows("cannot connect to ws://127.0.0.1:9: no server listens there")
    await ana.shows("What would you like to do?")
    ana.type("b")
    await playing


async def test_a_match_of_this_machine_is_ended_or_deleted_from_the_menu_after_a_question(person):
    ana = person()
    playing = asyncio.create_task(launch.play(ana.client, launch.PlayOptions()))
    await ana.shows("continue, end or delete a match on this machine")
    for choice, sure in (("2", "End Virus Wars ("), ("3", "Delete Virus Wars (")):
        ana.type("1", "1", "1", "quit", "4", "1", choice)
        await ana.shows(sure)
        ana.type("1", "4", "1", choice, "2")
        await ana.shows({"2": "ended: Virus Wars (", "3": "deleted: Virus Wars ("}[choice])
    ana.type("4")
    await ana.shows("there is no unfinished match on this machine")
    ana.type("x")
    await playing
    (kept,) = ana.client.saved_matches.all()
    assert (kept.phase, kept.result) == ("finished", "no result")


async def test_two_terminals_play_at_once_on_this_machine(person, tmp_path):
    one, other = person(), person()
    playing = one.play(level="random", options=SMALL)
    await one.shows("your turn")
    also = other.play(level="random", options=SMALL)
    await other.shows("your turn")
    assert sorted(path.name for path in (tmp_path / "data").glob("*.db")) == ["local-2.db", "local.db"]
    one.type("quit")
    other.type("quit")
    await asyncio.gather(playing, also)


async def test_without_a_terminal_and_without_options_two_bots_show_a_game(person):
    nobody = person(is_terminal=False)
    nobody.type(None)
    await nobody.play()
    assert nobody.text.count(" played ") > 5
    assert re.search(r"\nwinner: (random-bot \(blue, x\)|minimax-1-bot \(red, o\))\n$", nobody.text)


async def test_a_script_plays_against_a_bot_and_leaves_when_it_ends(person):
    script = person(is_terminal=False)
    script.type("nonsense", "b3 c2", None)
    await script.play(level="minimax-1", options=SMALL, seat=0)
    assert "cannot" not in script.text
    assert re.search(r"'nonsense': expected a cell.*\nnothing was played", script.text)
    assert "you played b3 c2" in script.text
    assert "You left; your seat is kept" in script.text


async def test_a_level_that_no_bot_has_is_refused_with_those_there_are(person):
    with pytest.raises(CommandError, match="level 'clever' is not possible, expected one of random"):
        await person().play(level="clever")


async def test_what_can_be_no_code_of_a_room_is_told_before_the_server_is_asked(real_server, person):
    """Symptom: 'bad-message: watch-room: Expected `str` of length <= 20 - at `$.room`'."""
    with pytest.raises(ClientError, match="expected the code of a room: 5 letters and digits"):
        await person("ana").play(server=real_server.url, room="the one that rui has made")
    # Nor is it connected to.
    with pytest.raises(ClientError, match="expected the code of a room: 5 letters and digits"):
        await person("ana").play(server="ws://127.0.0.1:9", room="12")


async def test_the_scores_of_the_groups_of_iris_are_told_during_the_match(person):
    """The reports showed the groups of both players beside the board during play."""
    both = person("ana")
    both.play(game="iris", options={"side": 5})
    await both.shows("groups score: black 0, white 0")
    both.type("e5")
    await both.shows("white (W) to move")
    both.type("a1 i5")
    await both.shows("groups score: black 0, white 1 1")
