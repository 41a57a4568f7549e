"""Check vectors: what agrees is counted, and the first difference is named."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from tabuleiro.errors import VectorError
from tabuleiro.notation.vectors import VectorCount, check_vectors
from tabuleiro.rules import registry

VECTORS = Path(__file__).parent.parent / "data" / "vectors"
GAME = {
    "game": "virus-wars",
    "options": {"rows": 4, "cols": 4, "steps": 1, "position": "xO../OO../..../..oo 0 1"},
    "actions": [],
    "legal_counts": [],
    "to_move": [],
    "winner": 1,
    "draw": False,
    "over": True,
}
RUNNING = {
    "game": "virus-wars",
    "options": {"rows": 4, "cols": 4, "steps": 2},
    "actions": ["b3", "c2", "d2"],
    "legal_counts": [3, 7, 3],
    "to_move": [0, 0, 1],
    "winner": None,
    "draw": False,
    "over": False,
}


def check(*vectors: dict[str, Any]) -> VectorCount:
    return check_vectors(json.dumps(vector) for vector in vectors)


def test_games_and_plies_are_counted() -> None:
    assert check() == VectorCount(0, 0)
    assert check(GAME, RUNNING) == VectorCount(2, 3)
    assert check_vectors(["", json.dumps(RUNNING), "  \r"]) == VectorCount(1, 3)
    assert check({field: RUNNING[field] for field in ("game", "options", "actions")}) == VectorCount(1, 3)


@pytest.mark.parametrize("name", registry.names())
def test_the_vectors_of_every_game_agree(name: str) -> None:
    lines = (VECTORS / f"{name}.jsonl").read_text(encoding="utf-8").splitlines()
    plies = sum(len(json.loads(line)["actions"]) for line in lines)
    assert check_vectors(lines) == VectorCount(len(lines), plies)


@pytest.mark.parametrize(
    ("change", "ply", "expected", "got"),
    [
        ({"legal_counts": [3, 8, 3]}, 1, "legal_counts 8", "7"),
        ({"to_move": [0, 0, 0]}, 2, "to_move 0", "1"),
        ({"actions": ["b3", "b3", "d2"]}, 1, "'b3' to be legal", "your own virus is there"),
        ({"actions": ["b3", "c2", "z9"]}, 2, "a cell from a1 to d4", "'z9'"),
        ({"winner": 0}, 3, "winner 0", "null"),
        ({"draw": True}, 3, "draw true", "false"),
        ({"over": True}, 3, "over true", "false"),
        ({"scores": [[], []]}, 3, "scores [[], []]", "null"),
    ],
)
def test_the_first_difference_is_named(change: dict[str, Any], ply: int, expected: str, got: str) -> None:
    with pytest.raises(VectorError) as caught:
        check(GAME, {**RUNNING, **change})
    error = caught.value
    assert (error.line, error.ply, error.expected, error.got) == (2, ply, expected, got)
    assert str(error) == f"line 2, ply {ply}: expected {expected}, got {got}"


def test_play_after_the_end_is_a_difference() -> None:
    with pytest.raises(VectorError, match="line 1, ply 0: expected to_move 0, got null"):
        check({**GAME, "actions": ["c3"], "legal_counts": [1], "to_move": [0]})
    with pytest.raises(VectorError, match="line 1, ply 0: expected 'c3' to be legal, got the game is over"):
        check({"game": "virus-wars", "options": GAME["options"], "actions": ["c3"]})


def test_scores_are_compared() -> None:
    line = (VECTORS / "iris.jsonl").read_text(encoding="utf-8").splitlines()[0]
    vector = json.loads(line)
    vector["scores"][1] = [7, 2, 2]
    with pytest.raises(VectorError, match=r"expected scores \[\[.*\], \[7, 2, 2\]\], got \[\[.*\], \[7, 2, 1\]\]"):
        check(vector)


@pytest.mark.parametrize(
    "line",
    [
        "{",
        "3",
        "[" * 100_000,
        "{}",
        '{"game": "virus-wars", "options": {}}',
        json.dumps({**RUNNING, "game": "chess"}),
        json.dumps({**RUNNING, "game": 3}),
        json.dumps({**RUNNING, "options": {"rows": 99}}),
        json.dumps({**RUNNING, "options": {"rows": [4]}}),
        json.dumps({**RUNNING, "options": [4]}),
        json.dumps({**RUNNING, "actions": ["b3", 3, "d2"]}),
        json.dumps({**RUNNING, "actions": "b3"}),
        json.dumps({**RUNNING, "legal_counts": [3, 7]}),
        json.dumps({**RUNNING, "legal_counts": [3, 7, True]}),
        json.dumps({**RUNNING, "to_move": [0, 0, 2]}),
        json.dumps({**RUNNING, "winner": True}),
        json.dumps({**RUNNING, "over": 0}),
        json.dumps({**RUNNING, "scores": [[1]]}),
        json.dumps({**RUNNING, "legal_count": [3, 7, 3]}),
    ],
)
def test_a_malformed_line_is_named_and_never_played(line: str) -> None:
    with pytest.raises(VectorError, match=r"^line 2: expected ") as caught:
        check_vectors([json.dumps(RUNNING), line])
    assert caught.value.ply is None
