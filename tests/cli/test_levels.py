"""`tabuleiro levels` as its users meet it."""

from __future__ import annotations

import pytest

from tabuleiro.rules import registry
from tabuleiro_client.cli.main import exit_status
from tabuleiro_server.bots.evaluation import EVALUATIONS
from tabuleiro_server.bots.levels import level_names
from tabuleiro_server.cli.levels import level_lines


@pytest.mark.parametrize("game", registry.names())
def test_there_is_a_sentence_for_every_level_and_evaluation(game: str) -> None:
    lines = level_lines(game)
    for name in (*level_names(game), *(evaluation.name for evaluation in EVALUATIONS[game])):
        assert any(line.startswith(f"  {name}: ") for line in lines)
    assert max(map(len, lines)) <= 78


def test_one_game_or_all_are_told(capsys: pytest.CaptureFixture[str]) -> None:
    assert exit_status(["levels", "xero-g"]) == 0
    shown = " ".join(capsys.readouterr().out.split())
    assert shown.startswith(
        "Xero-G: the levels of the report, then those that search, weakest first random: takes"
    )
    assert "row 1 1, row 2 5, row 3 6, row 4 8, row 5 10, row 6 12, far base 20" in shown
    assert "greedy: takes the action that is best at once, by the ship values on each row" in shown
    assert exit_status(["levels"]) == 0
    shown = capsys.readouterr().out
    assert all(f"{registry.game_type(name).title}: the levels" in shown for name in registry.names())
    assert exit_status(["levels", "chess"]) == 2
    assert "chess" in capsys.readouterr().err
