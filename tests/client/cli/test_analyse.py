"""`tabuleiro analyse`: the position that is meant, what is printed of it, and what is refused."""

from __future__ import annotations

import json
from collections.abc import Iterator

import pytest

from tabuleiro.errors import ClientError, ConfigError
from tabuleiro.notation.record import MatchRecord, RecordPlayer
from tabuleiro.notation.record_text import format_record
from tabuleiro.rules import Game, State, registry
from tabuleiro.rules.analysis import Analysis, Candidate
from tabuleiro.rules.base import Outcome, Termination
from tabuleiro_client.cli import analyse
from tabuleiro_client.cli.main import exit_status
from tabuleiro_client.models import analysis
from tabuleiro_client.models.analysis import load_analyser
from tabuleiro_client.net.files import CONFIG_VARIABLE
from tabuleiro_client.net.library import ME, connect
from tabuleiro_client.text.analysis import analysis_json, analysis_lines, progress_text
from tabuleiro_server.config import Config
from tabuleiro_server.wiring import running_server
from tests.client.cli.command_line import run, run_program

PLAYERS = (RecordPlayer("ana"), RecordPlayer("rui"))
MINEFIELD = {"size": 5, "rules": "beginner"}
WON = ("c1", "a1", "c2", "a2", "c3", "a3", "c4", "a4", "c5")


def record(actions: tuple[str, ...], outcome: Outcome | None = None) -> MatchRecord:
    return MatchRecord("minefield", MINEFIELD, PLAYERS, actions, outcome)


def first_actions(game: Game, state: State, seconds: float, count: int) -> Iterator[Analysis]:
    """A search that always likes the first actions, each a little less, and has no lines."""
    actions = state.legal_actions()[:count]
    values = [0.4 - 0.3 * place for place in range(len(actions))]
    yield Analysis(tuple(Candidate((action,), (action,), 0.0) for action in actions[:1]), 1, 1)
    yield Analysis(
        tuple(Candidate((each,), (each,), value) for each, value in zip(actions, values, strict=True)), 10, 2
    )


@pytest.fixture
def quick_search(monkeypatch):
    monkeypatch.setattr(analyse, "load_analyser", lambda: first_actions)


@pytest.fixture
def file(tmp_path):
    path = tmp_path / "match.txt"
    path.write_text(format_record(record(WON, Outcome(0, Termination.CONNECTION))))
    return str(path)


@pytest.mark.parametrize(("turn", "number", "to_move"), [(None, 9, 0), (1, 1, 0), (4, 4, 1)])
def test_the_position_before_a_turn(turn, number, to_move):
    state = analyse.position_before(record(WON), turn)
    assert (state.turn_number, state.to_move) == (number, to_move)


def test_the_last_position_of_a_match_that_goes_on():
    assert analyse.position_before(record(WON[:4]), None).turn_number == 5
    assert analyse.position_before(record(WON[:4]), 5).turn_number == 5
    with pytest.raises(ClientError, match="turn 6 is not in this record: it has turns up to 5"):
        analyse.position_before(record(WON[:4]), 6)
    with pytest.raises(ClientError, match="turn 10 is not in this record"):
        analyse.position_before(record(WON), 10)


def test_candidates_are_printed_with_words_numbers_and_lines(quick_search, file, capsys):
    assert exit_status(["analyse", file, "--turn", "3", "--lines", "2"]) == 0
    assert capsys.readouterr().out.splitlines() == [
        "Minefield, before turn 3: black to move",
        "position w.b../...../...../...../..... 0",
        "2 turns deep, 10 positions looked at; values are for black, from -1 (lost) to +1 (won)",
        "1. +0.40 better",
        "   3. b1",
        "2. +0.10 slightly better",
        "   3. d1",
    ]


def test_proven_results_are_told_with_their_turns():
    game = registry.load("minefield", MINEFIELD)
    state = analyse.position_before(record(WON), None)
    line = (state.string_to_action("c5"),)
    won = Analysis((Candidate(line, line, 1.0, True, 1, 12),), 12)
    assert analysis_lines(game, state, won)[2:] == [
        "12 positions looked at; values are for black, from -1 (lost) to +1 (won)",
        "1. +1.00 wins in 1 turn (12 positions)",
        "   9. c5",
    ]
    assert progress_text(state, won, 1.2) == "1 s: +1.00 wins in 1 turn, c5 (12 positions looked at)"


def test_what_speaks_for_a_candidate_is_told_in_words_and_in_json():
    options = {"size": 5, "rules": "beginner", "position": "..b../..b../...../..b../ww.w. 0"}
    game = registry.load("minefield", options)
    state = game.initial_state()
    line = (state.string_to_action("c3"),)
    found = Analysis((Candidate(line, line, 0.5),), 12)
    assert analysis_lines(game, state, found)[-1] == "   it threatens to win, joins 2 groups"
    assert analysis_json(game, state, found)["candidates"][0]["reasons"] == [
        {"kind": "threatens", "count": 0},
        {"kind": "joins", "count": 2},
    ]


def test_json_holds_the_same(quick_search, file, capsys):
    assert exit_status(["analyse", file, "--turn", "3", "--lines", "1", "--json"]) == 0
    found = json.loads(capsys.readouterr().out)
    assert (found["turn"], found["side"], found["depth"], found["nodes"]) == (3, "black", 2, 10)
    assert found["candidates"] == [
        {
            "actions": ["b1"],
            "line": [["b1"]],
            "value": 0.4,
            "is_proven": False,
            "turns_to_end": None,
            "nodes": None,
            "reasons": [],
        }
    ]


def test_every_turn_is_judged_and_the_worst_is_named(quick_search, file, capsys):
    """Both sides always think they are better, so that each turn but the winning one seems to lose 0.8."""
    assert exit_status(["analyse", file, "--all"]) == 0
    lines = capsys.readouterr().out.splitlines()
    assert lines[0] == "1. black c1: +0.40 better, then -0.40  BLUNDER, better was a1"
    assert lines[8] == "9. black c5: +0.40 better, then +1.00"
    assert lines[9:] == ["the worst was turn 1: it cost 0.80"]
    assert exit_status(["analyse", file, "--all", "--json"]) == 0
    judged = json.loads(capsys.readouterr().out)
    assert [each["verdict"] for each in judged] == ["blunder"] * 8 + [None]
    assert judged[8]["value_after"] == 1.0


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["nowhere.txt"], "there is no file 'nowhere.txt'"),
        (["FILE", "--turn", "11"], "turn 11 is not in this record: it has turns up to 9"),
        (["FILE", "--turn", "0"], "Invalid value for '--turn'"),
        (["FILE", "--seconds", "0"], "Invalid value for '--seconds'"),
        (["FILE", "--seconds", "9999"], "Invalid value for '--seconds'"),
    ],
)
def test_what_cannot_be_analysed_is_one_clear_message(quick_search, file, arguments, message, capsys):
    assert exit_status(["analyse", *(file if word == "FILE" else word for word in arguments)]) in (1, 2)
    assert message in capsys.readouterr().err


def test_a_client_without_the_servers_side_says_what_to_install(monkeypatch):
    monkeypatch.setattr(analysis, "entry_points", lambda **_: ())
    with pytest.raises(ConfigError, match=r"pipx install .*\.whl\[server,bots\]'"):
        load_analyser()


async def test_the_search_of_this_installation_finds_the_win_of_a_record_from_standard_input():
    status, output, errors = await run("analyse", "-", "--seconds", "0.2", typed=format_record(record(WON[:8])))
    assert (status, errors) == (0, "")
    assert "1. +1.00 wins in 1 turn" in output
    assert "   9. c5" in output


async def test_without_the_compiled_search_the_plain_one_is_used_and_says_so(tmp_path):
    """A folder before the installed packages stands for a machine without numba."""
    (tmp_path / "numba.py").write_text("raise ModuleNotFoundError(\"No module named 'numba'\", name='numba')\n")
    status, output, errors = await run_program(
        *("analyse", "-", "--seconds", "0.2"),
        typed=format_record(record(WON[:8])),
        PYTHONPATH=str(tmp_path),
    )
    assert status == 0
    assert "1. +1.00 wins in 1 turn" in output
    assert ".whl[server,bots]'" in errors


async def test_a_match_of_a_room_is_analysed(tmp_path, monkeypatch):
    monkeypatch.setenv(CONFIG_VARIABLE, str(tmp_path / "config"))
    async with running_server(Config(port=0, db=str(tmp_path / "server.db"))) as server:
        async with connect(server.url, name="ana") as ana:
            async with ana.create("minefield", MINEFIELD, seats=(ME, ME)) as room:
                for action in WON[:8]:
                    await room.play([action])
                status, output, _ = await run(
                    "analyse", room.code, "--server", server.url, "--seconds", "0.2", "--json"
                )
    assert status == 0
    assert json.loads(output)["candidates"][0]["actions"] == ["c5"]


def test_a_level_or_playouts_may_search_in_the_place_of_the_engine(tmp_path, capsys):
    path = tmp_path / "game.txt"
    path.write_text(format_record(record(WON[:-1])))
    assert exit_status(["analyse", str(path), "--engine", "mcts playouts=60", "--json"]) == 0
    told = capsys.readouterr()
    assert "plain Python" not in told.err
    found = json.loads(told.out)
    assert found["candidates"][0]["actions"] == ["c5"]
    assert found["nodes"] <= 60
    assert exit_status(["analyse", str(path), "--engine", "minimax-2"]) == 1
    assert (
        "minimax-2 has values of another kind, which `tabuleiro explain --level` shows" in capsys.readouterr().err
    )
