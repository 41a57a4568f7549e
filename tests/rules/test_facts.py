"""Facts computed by an independent program: perft counts and whole random games."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from tabuleiro.rules import perft, registry

DATA = Path(__file__).parent.parent / "data"
NODES_LIMIT = 400_000
"""Cases beyond this many nodes are marked slow."""


def perft_cases() -> list[Any]:
    cases = []
    for case in json.loads((DATA / "perft.json").read_text())["cases"]:
        if case["game"] not in registry.names():
            continue
        for depth, nodes in enumerate(case["nodes"], start=1):
            marks = [pytest.mark.slow] if nodes > NODES_LIMIT else []
            options = "-".join(str(value) for value in case["options"].values())
            name = f"{case['game']}-{options[:40]}-depth{depth}"
            cases.append(pytest.param(case["game"], case["options"], depth, nodes, marks=marks, id=name))
    return cases


@pytest.mark.parametrize(("name", "options", "depth", "nodes"), perft_cases())
def test_perft_agrees(name: str, options: dict[str, Any], depth: int, nodes: int) -> None:
    assert perft(registry.load(name, options).initial_state(), depth) == nodes


def vector_files() -> list[Path]:
    return [path for path in sorted((DATA / "vectors").glob("*.jsonl")) if path.stem in registry.names()]


@pytest.mark.parametrize("path", vector_files(), ids=lambda path: path.stem)
def test_whole_games_agree(path: Path) -> None:
    for number, line in enumerate(path.read_text().splitlines(), start=1):
        game = json.loads(line)
        state = registry.load(game["game"], game["options"]).initial_state()
        plies = zip(game["actions"], game["legal_counts"], game["to_move"], strict=True)
        for ply, (action, legal_count, to_move) in enumerate(plies):
            where = f"line {number}, ply {ply}"
            assert state.to_move == to_move, where
            assert len(state.legal_actions()) == state.legal_count() == legal_count, where
            state = state.apply(state.string_to_action(action))
        assert state.is_terminal == game["over"], f"line {number}"
        if game["over"]:
            assert state.outcome is not None
            assert state.outcome.winner == game["winner"], f"line {number}"
        if "scores" in game:
            assert [list(scores) for scores in state.view().scores or ()] == game["scores"]
