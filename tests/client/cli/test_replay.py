"""`tabuleiro replay`: every command, nonsense, pipes, end of file and Ctrl-C."""

from __future__ import annotations

import io
import signal
import subprocess
import sys
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tabuleiro.notation.record import MatchRecord, RecordPlayer
from tabuleiro.notation.record_text import parse_record
from tabuleiro.rules import registry
from tabuleiro_client.cli.main import exit_status
from tabuleiro_client.line.records import RecordBrowser
from tabuleiro_client.text.board import TextStyle
from tests.e2e.terminal_process import terminal
from tests.patience import LIMIT_S

RECORD = """\
[Game "virus-wars"]
[Option "rows=5"]
[Option "cols=5"]
[Option "steps=3"]
[Option "first_turn_steps=1"]
[Player0 "Ana\\u001b[2J"]
[Player1 "Zé"]
[Bot1 "minimax-3"]
[Result "0-1"]
[Termination "resignation"]
1. b4
2. d2 c3 b4
3. b5 a4
"""
ASCII = TextStyle(color=False, ascii=True)


def browser() -> RecordBrowser:
    return RecordBrowser(parse_record(RECORD), ASCII)


@pytest.fixture
def record_file(tmp_path: Path) -> str:
    file = tmp_path / "match.record"
    file.write_text(RECORD, encoding="utf-8")
    return str(file)


def test_the_introduction_shows_names_without_their_controls() -> None:
    first, signs, *_ = browser().introduction()
    assert first == "Virus Wars: Ana (blue) against Z?, bot minimax-3 (red)"
    assert signs.startswith("x blue virus, X blue zombie (% asleep), ")


def test_a_position_is_drawn_with_what_was_played() -> None:
    assert browser().obey("") == [
        "",
        "5 x . . . .",
        "4 .[x]. . .",
        "3 . . . . .",
        "2 . . . . .",
        "1 . . . . o",
        "  a b c d e",
        "Turn 1: blue played b4. Action 1 of 6.",
    ]


@pytest.mark.parametrize(
    ("commands", "ply"),
    [
        ("n", 1),
        ("next;NEXT ;", 3),
        ("n;b", 0),
        ("n;n;back", 1),
        ("goto 1", 0),
        ("goto 2", 1),
        ("3", 4),
        ("g3", 4),
        ("goto   02", 1),
        ("turn 3", 4),
        ("end", 6),
        ("e;start", 0),
        ("nn", 1),
        ("nn;nn", 4),
        ("nn;nn;nn", 6),
        ("n;n;next turn", 4),
        ("end;bb", 4),
        ("end;bb;bb", 1),
        ("n;n;n;back turn", 1),
    ],
)
def test_commands_lead_to_a_place(commands: str, ply: int) -> None:
    walk = browser()
    for command in commands.split(";"):
        shown = walk.obey(command)
        assert shown == walk.position_lines()
    assert walk.ply == ply
    assert not walk.is_done


@pytest.mark.parametrize(
    ("commands", "message"),
    [
        ("b", "This is the start of the record."),
        ("bb", "This is the start of the record."),
        ("end;n", "This is the end of the record."),
        ("end;nn", "This is the end of the record."),
        ("goto 0", "There is no turn 0 in this record: it has turns 1 to 3."),
        ("999999999", "There is no turn 999999999 in this record: it has turns 1 to 3."),
        ("b4", "'b4' is not a command here. These are:"),
        ("goto", "'goto' is not a command here. These are:"),
        ("goto -1", "'goto -1' is not a command here. These are:"),
        ("goto \u0663", "'goto \\u0663' is not a command here. These are:"),
        ("\x1b[A\x00", "'\\x1b[A\\x00' is not a command here. These are:"),
        ("help", "next, n, Enter   the next action          nn   the next turn"),
    ],
)
def test_what_leads_nowhere_is_a_message(commands: str, message: str) -> None:
    walk = browser()
    *before, last = commands.split(";")
    for command in before:
        walk.obey(command)
    place = walk.ply
    assert walk.obey(last)[0] == message
    assert walk.ply == place


def test_a_question_mark_marks_what_could_be_played() -> None:
    shown = browser().obey("?")
    assert shown[1:3] == ["5 x + . . .", "4 + + . . ."]


def test_the_last_place_says_how_it_ended() -> None:
    assert browser().obey("end")[-1] == "The end. Red wins: blue resigned."
    draw = RECORD.replace("0-1", "1/2-1/2").replace("resignation", "agreement")
    assert RecordBrowser(parse_record(draw), ASCII).obey("end")[-1] == "The end. A draw by agreement."
    running = RECORD.replace("0-1", "*").replace("resignation", "unfinished")
    shown = RecordBrowser(parse_record(running), ASCII).obey("end")
    assert shown[-1] == "The record ends here; the match is unfinished."


def test_scores_are_told_at_the_end() -> None:
    record = parse_record('[Game "iris"]\n1. f6\n2. pass\n3. pass\n')
    shown = RecordBrowser(record, ASCII).obey("end")
    assert shown[-3:] == ["black scores 0", "white scores 0", "The end. A draw: the scores are equal."]


def test_an_empty_record_has_one_place() -> None:
    walk = RecordBrowser(parse_record('[Game "virus-wars"]'), ASCII)
    for command in ("n", "b", "nn", "bb"):
        assert walk.obey(command)[0].startswith("This is the ")
    assert walk.obey("1") == ["There are no turns in this record."]
    assert walk.obey("end")[-1] == "The record ends here; the match is unfinished."


@pytest.mark.parametrize("name", registry.names())
@settings(max_examples=25)
@given(data=st.data())
def test_any_commands_on_any_record_stay_inside_it(name: str, data: st.DataObject) -> None:
    state, actions = registry.load(name).initial_state(), []
    for _ in range(data.draw(st.integers(0, 20))):
        if state.is_terminal:
            break
        action = data.draw(st.sampled_from(state.legal_actions()))
        actions.append(state.action_to_string(action))
        state = state.child(action)
    players = (RecordPlayer("a"), RecordPlayer("b"))
    walk = RecordBrowser(MatchRecord(name, {}, players, tuple(actions), state.outcome), ASCII)
    words = st.sampled_from(["n", "b", "nn", "bb", "start", "end", "?", "help", "2", "goto 7"]) | st.text(
        max_size=9
    )
    for word in data.draw(st.lists(words, max_size=12)):
        assert all(line.isascii() and line.isprintable() for line in walk.obey(word))
        assert 0 <= walk.ply <= len(actions)


def test_commands_come_through_a_pipe_and_its_end_is_the_end(
    record_file: str, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(sys, "stdin", io.StringIO("n\nwhat\nend"))
    assert exit_status(["replay", record_file, "--ascii"]) == 0
    shown = capsys.readouterr()
    assert shown.err == ""
    for line in ("The start; 6 actions in 3 turns follow.", "Action 1 of 6.", "'what' is not", "Red wins: "):
        assert line in shown.out
    assert "replay> " not in shown.out


def test_quit_leaves_the_rest_unread(
    record_file: str, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(sys, "stdin", io.StringIO("quit\nend\n"))
    assert exit_status(["replay", record_file]) == 0
    assert "red wins" not in capsys.readouterr().out


def test_a_wrong_record_is_one_line_with_its_place(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    file = tmp_path / "wrong.record"
    file.write_text(RECORD.replace("b5 a4", "b5 zz"), encoding="utf-8")
    assert exit_status(["replay", str(file)]) == 1
    assert capsys.readouterr().err == (
        f"tabuleiro: {file}: line 13, column 7: 'zz': expected a cell from a1 to e5\n"
    )


def test_ctrl_c_ends_quietly_with_status_130_and_bytes_do_no_harm(record_file: str) -> None:
    command = [sys.executable, "-m", "tabuleiro_client", "replay", record_file]
    with subprocess.Popen(
        command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.PIPE
    ) as process:
        assert process.stdin is not None
        assert process.stdout is not None
        assert process.stderr is not None
        process.stdin.write(b"\xff\xfe\n")
        process.stdin.flush()
        while b"is not a command here" not in (line := process.stdout.readline()):
            assert line, "the output ended before the answer"
        process.send_signal(signal.SIGINT)
        assert process.wait(timeout=LIMIT_S) == 130
        assert process.stderr.read() == b""


async def test_on_a_terminal_the_arrow_keys_bring_lines_typed_before(record_file: str, tmp_path: Path) -> None:
    async with terminal(tmp_path, "replay", record_file, "--plain", "--ascii") as person:
        await person.shows("replay> ")
        for typed in (b"goto 2\n", b"\x1b[A\x7f3\n"):
            person.press(typed)
            await person.shows("replay> ")
        assert "Turn 1: blue played b4. Action 1 of 6." in person.text
        assert "Turn 2 (3 of 3): red played b4. Action 4 of 6." in person.text
        person.press(b"\x04")
        assert await person.wait() == 0


def test_a_record_of_its_own_has_no_other_matches() -> None:
    alone = browser()
    assert alone.obey("match 2") == ["This record is of one match alone: there are no others to go to."]
    assert alone.wanted_match is None
    assert not any(line.startswith("match") for line in alone.introduction())
