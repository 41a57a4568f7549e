"""`tabuleiro explain` as its users meet it."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from tabuleiro_client.cli.main import exit_status

SMALL = ["--game", "virus-wars", "-o", "rows=4", "-o", "cols=4", "-o", "steps=3"]


@pytest.fixture
def moves(tmp_path: Path) -> str:
    path = tmp_path / "moves.txt"
    path.write_text("b4 b3 a3 d2 c2")
    return str(path)


def test_candidates_are_told_with_values_and_terms(moves: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert exit_status(["explain", moves, *SMALL, "--lines", "2"]) == 0
    assert capsys.readouterr().out.splitlines()[:-1] == [
        "Virus Wars, before turn 2: red to move",
        "position ...o/..oo/xx../xx.. 1 1",
        "minimax-1 for red, who is to move; values are sums of its terms, for red",
        "the position: own choices 6 = 6",
        " 1. b3  10: own choices 10 = 10",
        " 2. b2  8: own choices 8 = 8",
        "    and 4 more",
    ]


def test_any_algorithm_explains_and_json_is_for_programs(moves: str, capsys: pytest.CaptureFixture[str]) -> None:
    arguments = ["--level", "alpha-beta depth=2 weights=1,-1", "--turn", "1", "--json"]
    assert exit_status(["explain", moves, *SMALL, *arguments]) == 0
    found = json.loads(capsys.readouterr().out)
    assert (found["level"], found["depth"], found["unit"]) == ("alpha-beta depth=2 weights=1,-1", 2, "evaluation")
    assert {tuple(turn["actions"]) for turn in found["turns"]} == {("a3",), ("b3",), ("b4",)}


def test_an_unknown_level_is_told(moves: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert exit_status(["explain", moves, *SMALL, "--level", "genius"]) == 1
    assert "level 'genius' is not possible" in capsys.readouterr().err
