"""Scores, intervals and tables, from results made up by hand."""

from __future__ import annotations

import json
import math

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tabuleiro.ids import Player
from tabuleiro_server.arena.play import Effort, GameResult
from tabuleiro_server.arena.schedule import Entrant, Pairing, Terms
from tabuleiro_server.arena.standings import (
    Standings,
    Tally,
    elo_difference,
    format_progress,
    format_results,
    report,
)

ENTRANTS = (Entrant("ana", command=("ana",)), Entrant("rui", level="random"), Entrant("eva", level="greedy"))
TERMS = Terms("minefield", {"size": 5}, ENTRANTS, round_count=2, seed=7)


def result(number: int, sides: tuple[int, int], winner: Player | None, fault: str | None = None) -> GameResult:
    termination = "fault" if fault else "ply-limit" if winner is None else "connection"
    return GameResult(Pairing(number, 1, sides, {"size": 5}, (1, 2)), winner, termination, fault, ("c3",))


RESULTS = [
    result(2, (0, 2), 1, "gave no answer within 10 ms"),
    result(1, (0, 1), 0),
    result(4, (1, 0), 1),
    result(5, (2, 1), None),
]


def test_games_count_for_both_sides() -> None:
    standings = Standings(3, RESULTS)
    assert standings.between(0, 1) == Tally(wins=2)
    assert standings.between(1, 0) == Tally(losses=2)
    assert standings.between(1, 2) == standings.between(2, 1) == Tally(draws=1)
    assert standings.total(0) == Tally(2, 0, 1)
    assert standings.ranking() == [2, 0, 1]


@given(st.integers(0, 300), st.integers(0, 300), st.integers(0, 300))
def test_an_interval_holds_the_score_and_mirrors_the_other_side(wins: int, draws: int, losses: int) -> None:
    tally, other = Tally(wins, draws, losses), Tally(losses, draws, wins)
    if tally.score is None:
        assert tally.interval is None
        return
    assert tally.interval is not None
    assert other.interval is not None
    low, high = tally.interval
    assert 0 <= low <= tally.score <= high <= 1
    assert low < high
    assert other.interval == pytest.approx((1 - high, 1 - low))


def test_intervals_are_those_of_the_books() -> None:
    assert Tally(wins=8, losses=2).interval == pytest.approx((0.4902, 0.9433), abs=1e-4)
    assert Tally(wins=10).interval == pytest.approx((0.7225, 1.0), abs=1e-4)


@given(st.floats(0.001, 0.999))
def test_elo_differences_are_those_that_expect_the_score(score: float) -> None:
    assert 1 / (1 + 10 ** (-elo_difference(score) / 400)) == pytest.approx(score)
    assert elo_difference(0) == -math.inf


def test_the_table_ranks_and_tells_faults_and_what_is_missing() -> None:
    text = "\n".join(format_results(TERMS, RESULTS))
    assert text.startswith("Minefield (size=5): 2 rounds, 4 of 6 games played, seed 7")
    assert "1  eva     2      75.0%" in text
    assert "eva - rui  1      50.0%   5.5%..94.5%    +0    -495..+495" in text
    assert "game 2, ana against eva, ply 1: gave no answer within 10 ms" in text
    assert format_progress(TERMS, RESULTS) == "4/6 games  eva 1.5, ana 2, rui 0.5"


def test_the_table_tells_time_positions_lengths_and_the_score_of_the_first_mover() -> None:
    efforts = {0: (Effort(3, 30.0, 600), Effort(2, 5.0)), 1: (Effort(4, 8.0), Effort(4, 50.0, 1_600))}
    games = [
        GameResult(Pairing(1 + place, 1, sides, {}, (1, 2)), 0, "connection", None, ("c3",), efforts[place])
        for place, sides in enumerate([(2, 1), (1, 2)])
    ]
    text = "\n".join(format_results(TERMS, games))
    assert "eva     11.4       314               6.5" in text
    assert "rui     2.2        -                 6.5" in text
    assert "ana     -          -                 -" in text
    assert "games of 5 to 8 turns; who moves first scores 100.0% (34.2%..100.0%), +2 =0 -0" in text
    values = json.loads(json.dumps(report(TERMS, games)))
    assert values["first_mover"]["wins"] == 2
    assert values["players"][2]["nodes_a_turn"] == pytest.approx(2200 / 7)
    assert values["games"][0]["turns"] == [3, 2]
    assert values["games"][1]["nodes"] == [None, 1600]


def test_a_table_without_any_game_can_be_read() -> None:
    assert "0 of 6 games" in format_results(TERMS, [])[0]


def test_the_report_is_json_and_holds_every_game() -> None:
    values = json.loads(json.dumps(report(TERMS, RESULTS), allow_nan=False))
    assert values["is_complete"] is False
    assert [game["number"] for game in values["games"]] == [1, 2, 4, 5]
    assert values["games"][0]["players"] == ["ana", "rui"]
    assert values["pairs"][0] | {"score_95": None} == {
        "players": ["ana", "rui"],
        "games": 2,
        "wins": 2,
        "draws": 0,
        "losses": 0,
        "score": 1.0,
        "score_95": None,
        "elo_difference": None,
    }
    assert values["players"][0]["command"] == ["ana"]
    assert values["players"][1]["level"] == "random"
