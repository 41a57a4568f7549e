"""`tabuleiro export` and `tabuleiro replay` of a match on a server or in a file."""

from __future__ import annotations

import asyncio
import io
import json
import sys

import pytest

from tabuleiro.notation.formats import find_records
from tabuleiro.notation.record_text import format_record, parse_record
from tabuleiro.settings import RoomSettings
from tabuleiro_client.cli.main import exit_status
from tabuleiro_client.net.files import CONFIG_VARIABLE
from tabuleiro_client.net.library import ME, connect
from tabuleiro_server.config import Config
from tabuleiro_server.wiring import running_server
from tests.client.cli.command_line import run, run_program

OPTIONS = {"rows": 4, "cols": 4, "steps": 2}


@pytest.fixture(autouse=True)
def own_folders(tmp_path, monkeypatch):
    monkeypatch.setenv(CONFIG_VARIABLE, str(tmp_path / "config"))


@pytest.fixture
async def server(tmp_path):
    async with running_server(Config(port=0, db=str(tmp_path / "server.db"))) as running:
        yield running


async def played(server, *, settings=RoomSettings()):
    """Play two short matches in a room, and return its code and its secrets."""
    async with connect(server.url, name="ana") as ana:
        async with ana.create("virus-wars", OPTIONS, seats=(ME, ME), settings=settings) as room:
            await room.play(["b3", "c2"])
            await room.resign()
            await room.offer("rematch")
            await room.play(["a3"])
            record = await ana.record(room.code, 1)
            assert record.actions == ("b3", "c2")
            return room.code, room.secrets


async def test_a_match_of_a_room_is_written_as_a_record_that_reads_back(server, tmp_path):
    code, _ = await played(server)
    status, text, errors = await run_program("export", code.lower(), "--server", server.url, "--match", "1")
    assert (status, errors) == (0, "")
    record = parse_record(text)
    assert (record.actions, record.termination) == (("b3", "c2"), "resignation")
    assert format_record(record) == text
    _, last, _ = await run("export", code, "--server", server.url)
    assert parse_record(last).actions == ("a3",)
    file = tmp_path / "game.txt"
    file.write_text(text, encoding="utf-8")
    assert await run("export", str(file)) == (0, text, "")


async def test_json_names_the_match_and_a_file_gives_the_same_without_the_name(server, tmp_path):
    code, _ = await played(server)
    wanted = ("export", code, "--server", server.url, "--match", "1")
    file = tmp_path / "game.txt"
    file.write_text((await run(*wanted))[1], encoding="utf-8")
    of_room = json.loads((await run(*wanted, "--format", "json"))[1])
    of_file = json.loads((await run("export", str(file), "--format", "json"))[1])
    assert of_room["header"]["site"].pop("gameid") == f"{code}-1"
    assert of_room == of_file
    assert of_room["header"]["game"]["name"] == "Virus Wars"


async def test_a_private_room_wants_its_secret(server):
    code, secrets = await played(server, settings=RoomSettings(is_private=True))
    status, output, errors = await run("export", code, "--server", server.url)
    assert (status, output) == (1, "")
    assert "is private" in errors
    status, output, _ = await run("export", code, "--server", server.url, "--secret", secrets.watch)
    assert (status, parse_record(output).actions) == (0, ("a3",))
    assert await run("export", f"{code}-{secrets.watch}", "--server", server.url) == (0, output, "")


async def test_a_match_of_a_room_is_stepped_through(server):
    code, _ = await played(server)
    wanted = ("replay", code, "--server", server.url, "--match", "1", "--ascii")
    status, output, _ = await run(*wanted, typed="end\nquit\n")
    assert status == 0
    assert "Turn 1 (2 of 2): blue played c2. Action 2 of 2.\nThe end. Blue wins: red resigned.\n" in output


async def test_every_match_of_a_room_is_gone_to_by_its_number(server):
    code, _ = await played(server)
    wanted = ("replay", code, "--server", server.url, "--ascii")
    status, output, _ = await run(*wanted, typed="match 7\nmatch1\nend\nhelp\nmatch 2\nend\nquit\n")
    assert status == 0
    assert output.startswith(f"match 2 of 2 of room {code}\n")
    places = [
        "The start; 1 actions in 1 turns follow.",
        f"there is no match 7: room {code} has matches 1 to 2",
        f"match 1 of 2 of room {code}",
        "The end. Blue wins: red resigned.",
        "match N          another one of matches 1 to 2",
        f"match 2 of 2 of room {code}",
        "The record ends here; the match is unfinished.",
    ]
    found = [output.index(places[0])]
    for place in places[1:]:
        found.append(output.index(place, found[-1]))
    assert found == sorted(found)


async def test_a_number_that_no_match_has_is_told_before_anything_is_shown(server):
    code, _ = await played(server)
    status, output, errors = await run("replay", code, "--server", server.url, "--match", "7")
    assert (status, output) == (1, "")
    assert f"there is no match 7: room {code} has matches 1 to 2" in errors


async def test_another_match_whose_server_is_gone_is_told_and_the_record_stays(tmp_path):
    async with running_server(Config(port=0, db=str(tmp_path / "server.db"))) as server:
        code, _ = await played(server)
        process = await asyncio.create_subprocess_exec(
            *(sys.executable, "-m", "tabuleiro_client", "replay", code, "--server", server.url, "--ascii"),
            stdin=asyncio.subprocess.PIPE,
            stdout=asyncio.subprocess.PIPE,
        )
        while b"The start" not in await process.stdout.readline():
            pass
    output, _ = await process.communicate(b"match 1\nend\n")
    assert process.returncode == 0
    assert "no server listens there" in output.decode()
    assert "The record ends here; the match is unfinished." in output.decode()


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["nowhere.txt"], "there is no file 'nowhere.txt', and it is no code of a room either"),
        (["games/K7MQ4.txt"], "there is no file 'games/K7MQ4.txt', and it is no code of a room either"),
        (["K7MQ4-1.txt"], "there is no file 'K7MQ4-1.txt', and it is no code of a room either"),
        (["ABCDE", "--match", "0"], "Invalid value for '--match'"),
        (["ABCDE", "--format", "xml"], "Invalid value for '--format'"),
        (["ABCDE", "--server", "ws://127.0.0.1:9"], "no server listens there"),
    ],
)
def test_what_cannot_be_exported_is_one_clear_message(arguments, message, capsys):
    assert exit_status(["export", *arguments]) in (1, 2)
    assert message in capsys.readouterr().err


@pytest.mark.parametrize("command", ["export", "replay", "analyse", "import"])
def test_a_number_that_no_match_of_a_file_has_is_told(command, tmp_path, capsys):
    """Symptom: the number counted for nothing, silently."""
    file = tmp_path / "game.txt"
    file.write_text('[Game "virus-wars"]\n', encoding="utf-8")
    assert exit_status([command, str(file), "--match", "2"]) == 1
    assert capsys.readouterr().err == f"tabuleiro: there is no match 2: {file} has match 1 alone\n"


TWO = """\
[Event "club"]
[Game "minefield"]
[Option "size=5"]
[Player0 "Zé"]

1. c3 {good} d4 1-0

[Event "club"]
[Game "minefield"]
[Option "size=5"]
1. e5 ; the corner
"""


@pytest.fixture
def two(tmp_path):
    file = tmp_path / "two.txt"
    file.write_bytes(TWO.encode("utf-16"))  # as PowerShell writes it
    return file


def test_of_several_matches_in_a_file_one_is_chosen_by_its_number_and_else_the_last(two, capsys):
    assert exit_status(["export", str(two)]) == 0
    shown = capsys.readouterr()
    assert parse_record(shown.out).actions == ("e5",)
    assert shown.err == f"{two} holds 2 matches, and this is the last one; --match N takes another\n"
    assert exit_status(["export", str(two), "--match", "1"]) == 0
    shown = capsys.readouterr()
    assert (parse_record(shown.out).actions, shown.err) == (("c3", "d4"), "")
    assert exit_status(["export", str(two), "--match", "3"]) == 1
    assert f"there is no match 3: {two} has matches 1 to 2" in capsys.readouterr().err


async def test_every_match_of_a_file_is_stepped_through(two):
    status, output, _ = await run("replay", str(two), "--ascii", typed="match 3\nmatch 1\nend\nquit\n")
    assert status == 0
    places = [f"match 2 of 2 of {two}", f"there is no match 3: {two} has matches 1 to 2", f"match 1 of 2 of {two}"]
    found = [output.index(place) for place in [*places, "The end. Black wins: white resigned."]]
    assert found == sorted(found)


def test_one_wrong_match_of_a_file_keeps_none_of_the_others_from_being_read(two, capsys):
    two.write_text(TWO.replace("e5 ;", "e6 ;"), encoding="utf-8")
    assert exit_status(["export", str(two), "--match", "1"]) == 0
    capsys.readouterr()
    assert exit_status(["export", str(two)]) == 1
    assert (
        f"{two}: match 2 of 2: line 11, column 4: 'e6': expected a cell from a1 to e5" in capsys.readouterr().err
    )


@pytest.mark.parametrize("encoding", ["cp1252", "latin-1", "ascii", "utf-8"])
@pytest.mark.parametrize("arguments", [[], ["--format", "json"]])
def test_a_record_is_written_in_utf_8_whatever_the_encoding_of_the_output(encoding, arguments, two, monkeypatch):
    """Symptom: letters that the terminal does not have were question marks, with status 0."""
    name = "Zé 猫 \u0160"
    two.write_text(TWO.replace("Zé", name), encoding="utf-8")
    written = io.BytesIO()
    monkeypatch.setattr(sys, "stdout", io.TextIOWrapper(written, encoding=encoding, errors="replace"))
    assert exit_status(["export", str(two), "--match", "1", *arguments]) == 0
    assert name in written.getvalue().decode("utf-8")
    (found,) = find_records(written.getvalue())
    assert found.read(None).players[0].name == name


def test_a_record_is_written_into_a_file(two, tmp_path, capsys):
    target = tmp_path / "written.txt"
    assert exit_status(["export", str(two), "--match", "1", "--output", str(target)]) == 0
    assert capsys.readouterr().out == ""
    assert parse_record(target.read_text(encoding="utf-8")).players[0].name == "Zé"
    assert exit_status(["export", str(two), "--match", "1", "--output", str(tmp_path / "none" / "a.txt")]) == 1
    assert "cannot write" in capsys.readouterr().err


def test_a_list_of_moves_is_of_the_game_that_the_command_line_names(tmp_path, capsys):
    file = tmp_path / "moves.txt"
    file.write_text("1. c3 d4 2. e5")
    assert exit_status(["export", str(file), "--game", "minefield", "--option", "size=7"]) == 0
    record = parse_record(capsys.readouterr().out)
    assert (record.options["size"], record.actions) == (7, ("c3", "d4", "e5"))
    assert exit_status(["export", str(file), "--game", "minefield", "--preset", "feup-10"]) == 0
    assert parse_record(capsys.readouterr().out).options["size"] == 10


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ([], "nothing names the game: a record begins with a header such as [Game "),
        (["--preset", "feup-10"], "--preset: feup-10: expected --game beside it"),
        (["--option", "size=7"], "--option: size=7: expected --game beside it"),
        (["--game", "chess"], "there is no game 'chess'; games: virus-wars"),
    ],
)
@pytest.mark.parametrize("command", ["export", "replay", "analyse", "import"])
def test_a_list_of_moves_without_its_game_is_refused(command, arguments, message, tmp_path, capsys):
    file = tmp_path / "moves.txt"
    file.write_text("c3 d4 e5")
    assert exit_status([command, str(file), *arguments]) in (1, 2)
    assert message in capsys.readouterr().err


def test_a_game_named_beside_what_names_its_own_is_refused(two, capsys):
    assert exit_status(["export", str(two), "--game", "iris"]) == 2
    assert f"--game: iris: expected a record that names no game; {two} names its own" in capsys.readouterr().err
    assert exit_status(["export", "K7MQ4", "--game", "iris"]) == 2
    assert "--game: iris: expected a file beside it; a room knows its game" in capsys.readouterr().err


async def test_a_match_that_was_not_played_is_told(server):
    code, _ = await played(server)
    status, output, errors = await run("export", code, "--server", server.url, "--match", "7")
    assert (status, output) == (1, "")
    assert "no match 7 has begun in room" in errors
