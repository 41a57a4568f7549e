"""How far values can be trusted: flips, Brier score, tenths, the best calibration, and a small run."""

from __future__ import annotations

import math

import pytest
from typer.testing import CliRunner

from tabuleiro_server.bots.analysis import Calibration
from tools.strength.trust import Estimate, app, best_calibration, brier_score, flips, reliability


def estimates(*values: float, game: int = 1, points: float = 1.0) -> list[Estimate]:
    return [Estimate(game, turn, turn % 2, value, points) for turn, value in enumerate(values)]


def test_a_flip_is_a_change_of_sign_from_one_turn_to_the_next_of_the_same_game() -> None:
    assert flips(estimates(0.5, -0.1, -0.2, 0.3) + estimates(-0.3, -0.1, game=2)) == (2, 4)
    first, _, third = estimates(0.5, 0.1, -0.2)
    assert flips([first, third]) == (0, 0)


def test_the_brier_score_is_0_for_certainty_that_comes_true_and_a_quarter_for_none() -> None:
    assert brier_score(estimates(1.0, 1.0)) == 0
    assert brier_score(estimates(0.0, 0.0)) == 0.25
    assert brier_score(estimates(0.0, points=0.5)) == 0


def test_each_tenth_of_the_chances_has_its_mean_points() -> None:
    told = [*estimates(0.9, 0.8), *estimates(0.9, points=0.0), *estimates(-1.0, points=0.0), *estimates(1.0)]
    rows = [(count, round(chance, 3), round(points, 3)) for count, chance, points in reliability(told)]
    assert rows == [(1, 0.0, 0.0), (4, 0.95, 0.75)]


def test_the_best_calibration_finds_back_what_made_the_outcomes() -> None:
    hidden, told = Calibration(slope=2.0, lead=-0.4), []
    for turn, raw in enumerate(value / 50 for value in range(-40, 41)):
        chance = (1 + hidden.value(raw)) / 2
        # Parts of a win, as the mean of very many games: the fit has nothing to guess.
        mover = turn % 2
        told.append(Estimate(1, turn, mover, -raw if mover else raw, 1 - chance if mover else chance))
    found = best_calibration(told)
    assert math.isclose(found.slope, 2.0, abs_tol=0.02)
    assert math.isclose(found.lead, -0.4, abs_tol=0.02)


@pytest.mark.slow
def test_games_are_played_and_judged() -> None:
    given = ["iris", "--option", "side=5", "--games", "2", "--max-nodes", "20"]
    said = CliRunner().invoke(app, given).output
    assert said.startswith("iris: 2 games, ")
    assert "Brier score 0." in said
    assert "positions  chance  points\n" in said
