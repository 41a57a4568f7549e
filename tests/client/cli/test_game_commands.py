"""`tabuleiro perft` and `tabuleiro rules`, as typed."""

from __future__ import annotations

import pytest

from tabuleiro.errors import GameOptionError
from tabuleiro.rules import registry
from tabuleiro.rules.page import diagrams_in
from tabuleiro_client.cli.main import exit_status
from tabuleiro_client.cli.options import chosen_game, chosen_options


@pytest.mark.parametrize(
    ("arguments", "count"),
    [
        ("--depth 0", 1),
        ("--depth 3", 105),
        ("--preset feup-a --depth 2", 46),
        ("--preset feup-a --option rows=4 -o COLS=4 --depth 4", 704),
        ("--preset feup-a --option rows=4 -o COLS=4 -o first_virus=counts --depth 4", 376),
    ],
)
def test_perft_prints_the_count(arguments: str, count: int, capsys: pytest.CaptureFixture[str]) -> None:
    assert exit_status(["perft", "virus-wars", *arguments.split()]) == 0
    assert capsys.readouterr().out == f"{count}\n"


@pytest.mark.parametrize(
    ("arguments", "expected"),
    [
        ("chess --depth 1", "there is no game"),
        ("virus-wars --preset feup-z --depth 1", "one of feup-a, feup-b"),
        ("iris --preset x --depth 1", "no preset, since iris has none"),
        ("virus-wars -o rows=99 --depth 1", "a whole number from 4 to 30"),
        ("virus-wars -o rows --depth 1", "the form name=value"),
        ("virus-wars -o colour=mauve --depth 1", "one of the options rows"),
        ("virus-wars --depth -1", "Invalid value for '--depth'"),
    ],
)
def test_wrong_games_and_options_are_named(
    arguments: str, expected: str, capsys: pytest.CaptureFixture[str]
) -> None:
    assert exit_status(["perft", *arguments.split()]) == 2
    assert expected in capsys.readouterr().err


def test_texts_win_over_the_preset() -> None:
    assert chosen_options("virus-wars", "feup-a", ["steps=2"]) == {
        "rows": 10,
        "cols": 10,
        "steps": 2,
        "opening": "edges",
        "first_virus": "free",
    }
    assert chosen_game("virus-wars", None, None) == registry.load("virus-wars")


def test_options_that_do_not_fit_each_other_are_refused() -> None:
    with pytest.raises(GameOptionError, match="fewer steps than columns"):
        chosen_game("virus-wars", "feup-a", ["cols=4", "steps=4"])


def test_rules_without_a_game_lists_all(capsys: pytest.CaptureFixture[str]) -> None:
    assert exit_status(["rules"]) == 0
    listed = capsys.readouterr().out.splitlines()
    assert [line.split()[0] for line in listed] == list(registry.names())


@pytest.mark.parametrize("name", registry.names())
def test_rules_prints_the_page_and_every_option_and_preset(name: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert exit_status(["rules", name]) == 0
    shown = capsys.readouterr().out
    game_type = registry.game_type(name)
    assert shown.startswith(game_type.rules_page.partition("[")[0])
    assert all(line in shown for line in game_type.rules_page.splitlines() if not diagrams_in(line))
    for word in [spec.key for spec in game_type.option_specs] + list(game_type.presets):
        assert f"  {word}: " in shown
    assert max(map(len, shown.splitlines())) <= 80, "a line that the terminal would break within a word"
