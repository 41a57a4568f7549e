"""`tabuleiro tree` as its users meet it."""

from __future__ import annotations

from pathlib import Path
from xml.etree import ElementTree

import pytest

from tabuleiro_client.cli.main import exit_status

SMALL = ["--game", "virus-wars", "-o", "rows=4", "-o", "cols=4", "-o", "steps=3"]


@pytest.fixture
def moves(tmp_path: Path) -> str:
    path = tmp_path / "moves.txt"
    path.write_text("b4 b3 a3 d2 c2")
    return str(path)


def test_the_tree_is_told_with_values_cuts_and_counts(moves: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert exit_status(["tree", moves, *SMALL, "--depth", "3", "--width", "3"]) == 0
    shown = capsys.readouterr().out
    assert "Virus Wars, before turn 2: red to move" in shown
    assert "136 positions looked at with pruning, 234 without" in shown
    assert "red to move: 3\n├─ b1: 3 (blue to move) *\n│  ├─ a2: 5 (blue to move)\n" in shown
    assert "├─ d1 ✂ cut" in shown
    assert "├─ c1: at most 2 (blue to move)" in shown
    assert "3 more not shown, 62 positions looked at there" in shown


def test_minimax_shows_what_alpha_beta_would_cut_and_ascii_stays_ascii(
    moves: str, capsys: pytest.CaptureFixture[str]
) -> None:
    assert (
        exit_status(["tree", moves, *SMALL, "--depth", "3", "--engine", "minimax eval=mobility", "--ascii"]) == 0
    )
    shown = capsys.readouterr().out
    assert shown.isascii()
    assert "136 positions looked at with pruning, 234 without" in shown
    assert "x cut by alpha-beta" in shown


def test_a_picture_is_written(moves: str, tmp_path: Path) -> None:
    file = tmp_path / "tree.svg"
    assert exit_status(["tree", moves, *SMALL, "--turn", "1", "--output", str(file), "--width", "3"]) == 0
    texts = [text.text for text in ElementTree.parse(file).iter("{http://www.w3.org/2000/svg}text")]
    assert texts[0] == "Virus Wars, before turn 1: blue to move"
    assert sum(1 for text in texts if text is not None and text.startswith("b4 ")) >= 1


@pytest.mark.parametrize(
    ("arguments", "status", "told"),
    [
        (["--engine", "easy"], 1, "has no such tree"),
        (["--engine", "minimax eval=rows"], 1, "has no evaluation 'rows'"),
        (["--depth", "4"], 2, "--depth"),
        (["--turn", "9"], 1, "turn 9 is not in this record"),
        (["--output", "/no/such/folder/tree.svg"], 1, "cannot write /no/such/folder/tree.svg"),
    ],
)
def test_what_cannot_be_is_told(
    moves: str, arguments: list[str], status: int, told: str, capsys: pytest.CaptureFixture[str]
) -> None:
    assert exit_status(["tree", moves, *SMALL, *arguments]) == status
    assert told in capsys.readouterr().err
