"""Own matches by their code: without naming a server, whether they were played here or elsewhere."""

from __future__ import annotations

from contextlib import asynccontextmanager

import msgspec
import pytest

from tabuleiro.ids import RoomCode, TimestampMs
from tabuleiro.protocol.messages import ME, CreateRoom
from tabuleiro.settings import RoomSettings
from tabuleiro_client.models.saved_matches import SavedMatch, SavedMatches
from tabuleiro_client.net.addresses import SERVER_VARIABLE
from tabuleiro_client.net.identity import IdentityFolder
from tabuleiro_client.net.library import connect
from tabuleiro_client.net.room import enter
from tabuleiro_client.net.server import local_venue
from tabuleiro_server.config import Config
from tabuleiro_server.wiring import running_server
from tests.client.cli.command_line import run, run_program

MINEFIELD = {"size": 5, "rules": "beginner"}
PLAYED = ("c1", "a1", "c2", "a2")


@pytest.fixture(autouse=True)
def folders(tmp_path, monkeypatch):
    monkeypatch.setenv("TABULEIRO_CONFIG_DIR", str(tmp_path / "config"))
    monkeypatch.setenv("TABULEIRO_DATA_DIR", str(tmp_path / "data"))
    monkeypatch.setenv(SERVER_VARIABLE, "ws://127.0.0.1:9")


@asynccontextmanager
async def played_here(tmp_path):
    """Another terminal of this machine that has a match open; gives its code."""
    async with local_venue(IdentityFolder(tmp_path / "config"), "ana") as venue:
        request = CreateRoom(id=0, game="minefield", options=MINEFIELD, seats=(ME, ME))
        async with await enter(venue.link, request) as room:
            for action in PLAYED:
                await room.play([action])
            yield room.code


async def test_a_match_played_here_is_found_by_its_code_also_while_another_terminal_has_it(tmp_path):
    """Symptom: 'cannot connect to ws://127.0.0.1:8765: no server listens there'."""
    async with played_here(tmp_path) as first, played_here(tmp_path) as second:
        for code in (first, second.lower()):
            status, output, errors = await run("export", code)
            assert (status, errors) == (0, "")
            assert "1. c1" in output
    status, output, _ = await run("replay", second, "--plain", typed="end\n")
    assert status == 0
    assert "match 1 of 1 of room" in output
    # analyse and explain find their record as export does.


async def test_a_match_that_the_room_does_not_have_is_told(tmp_path):
    async with played_here(tmp_path) as code:
        status, _, errors = await run("export", code, "--match", "2")
    assert status == 1
    assert f"there is no match 2 in room {code}" in errors


async def test_an_own_match_is_asked_for_at_the_server_where_it_was_played_with_its_secret(tmp_path):
    async with running_server(Config(port=0, db=str(tmp_path / "server.db"))) as server:
        settings = RoomSettings(is_private=True)
        async with (
            connect(server.url, name="ana") as ana,
            ana.create("minefield", MINEFIELD, seats=(ME, ME), settings=settings) as room,
        ):
            await room.play([PLAYED[0]])
            match = SavedMatch(server.url, "ana", room.code, "Minefield", "", "playing", "", TimestampMs(1))
            SavedMatches(tmp_path / "config").keep(msgspec.structs.replace(match, secret=room.secret))
        status, output, errors = await run("export", room.code)
    assert (status, errors) == (0, "")
    assert "1. c1" in output


async def test_a_code_that_is_nobodys_is_told_with_the_way_out(tmp_path):
    status, _, errors = await run("export", "ZZZZZ")
    assert status == 1
    assert "room ZZZZZ is none of your matches here, and cannot connect to ws://127.0.0.1:9" in errors
    assert errors.endswith("name its --server\n")


async def test_a_server_that_is_named_is_asked_and_nothing_else(tmp_path):
    async with played_here(tmp_path) as code:
        status, _, errors = await run("export", code, "--server", "ws://127.0.0.1:9")
    assert status == 1
    assert "cannot connect to ws://127.0.0.1:9" in errors


async def test_all_own_matches_are_in_one_list_also_one_of_two_bots_that_a_script_saw(tmp_path):
    assert await run("matches") == (1, "", "no matches yet\n")
    match = SavedMatch(
        "ws://h:1", "ana", RoomCode("AAAA2"), "Iris", "", "finished", "rui", TimestampMs(1), result="won"
    )
    SavedMatches(tmp_path / "config").keep(match)
    assert (await run_program("play"))[0] == 0
    record = tmp_path / "record.txt"
    record.write_text('[Game "minefield"]\n1. c3 d4 *\n')
    assert (await run("import", str(record)))[0] == 0
    status, output, _ = await run("matches")
    heading, *rows = output.splitlines()
    assert (status, len(rows)) == (0, 3)
    assert heading.split() == ["ROOM", "GAME", "AGAINST", "RESULT", "DATE", "WHERE", "BOARD"]
    (of_bots,) = [row for row in rows if "random-bot - minimax-1-bot" in row]
    assert "this machine" in of_bots
    status, output, _ = await run("export", of_bots.split()[0])
    assert (status, '[Game "virus-wars"]' in output) == (0, True)
    status, output, _ = await run("matches", "iris", "won")
    assert output.splitlines()[1].startswith("AAAA2  Iris  rui      won     1970-01-01  h:1")
    assert await run("matches", "xyz") == (1, "", "no match has all of that\n")
