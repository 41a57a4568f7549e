"""Algorithms chosen by name, and the names of the reports."""

from __future__ import annotations

from pathlib import Path

import pytest

from tabuleiro.errors import BotError, GameOptionError
from tabuleiro.rules import registry
from tabuleiro_server.bots.algorithms import LookAheadLevel, SearchLevel
from tabuleiro_server.bots.levels import choose, find_level


@pytest.mark.parametrize(
    ("game", "text", "name"),
    [
        ("virus-wars", "minimax-3", "minimax-3"),
        ("virus-wars", "Minimax-2", "minimax-2"),
        ("virus-wars", "minimax depth=2 eval=mobility", "minimax depth=2"),
        ("virus-wars", "alpha-beta weights=1,-0.5 depth=2", "alpha-beta depth=2 weights=1,-0.5"),
        ("virus-wars", "alpha-beta-2 eval=pieces weights=1,1,-1,-1", "alpha-beta depth=2 eval=pieces"),
        ("xero-g", "alpha-beta depth=1 weights=1,5,6,8,10,12,20", "alpha-beta depth=1"),
        ("minefield", "mcts playouts=100", "mcts playouts=100"),
        ("virus-wars", "Level 1", "random"),
        ("virus-wars", "level 2", "minimax-1"),
        ("virus-wars", "Level3", "minimax-3"),
        ("virus-wars", "greedy", "minimax-1"),
        ("xero-g", "Smart", "greedy"),
        ("iris", "Level-2", "greedy"),
        ("iris", "EXPERT", "expert"),
    ],
)
def test_a_text_is_read_and_written_in_its_shortest_form(game: str, text: str, name: str) -> None:
    level = find_level(game, text)
    assert level.name == name
    assert find_level(game, level.name) == level


@pytest.mark.parametrize(
    ("text", "told"),
    [
        ("minimax", "depth= takes a whole number from 1 to 20, it is missing"),
        ("minimax-0", "from 1 to 20, got '0'"),
        ("minimax-99", "from 1 to 20"),
        ("minimax-2 depth=3", "'depth=3' is not possible, minimax takes depth=, eval=, weights= once each"),
        ("alpha-beta depth=2 evil=mobility", "'evil=mobility' is not possible"),
        ("alpha-beta depth=two", "got 'two'"),
        (
            "alpha-beta depth=2 eval=rows",
            "has no evaluation 'rows', expected mobility, pieces or a file",
        ),
        (
            "alpha-beta depth=2 weights=1",
            r"mobility has 2 weights \(own choices, .* of the opponent\), got 1",
        ),
        ("alpha-beta depth=2 weights=1,x", "weights= takes numbers and commas, got 'x'"),
        ("alpha-beta depth=2 weights=1,inf", "got 'inf'"),
        ("alpha-beta depth=2 eval='x", "No closing quotation"),
        ("mcts", "playouts= takes a whole number"),
        ("mcts depth=2", "mcts takes playouts= once each"),
        ("level 4", "level 'level 4' is not possible"),
        ("genius", "expected one of random, minimax-1, .*, or minimax-N"),
    ],
)
def test_what_is_wrong_is_named(text: str, told: str) -> None:
    with pytest.raises(BotError, match=told):
        find_level("virus-wars", text)


def test_an_unknown_game_is_named() -> None:
    with pytest.raises(GameOptionError, match="chess"):
        find_level("chess", "minimax-2")


@pytest.mark.parametrize("game", registry.names())
@pytest.mark.parametrize("text", ["minimax-1", "minimax depth=1", "alpha-beta depth=1", "mcts playouts=3"])
def test_every_algorithm_plays_whole_turns_of_every_game(game: str, text: str) -> None:
    options: dict[str, int | str] = {"setup": "random", "seed": 3} if game == "xero-g" else {}
    later = registry.load(game, options).initial_state()
    choice = choose(later, text, 5, max_nodes=3)
    assert choice == choose(later, text, 5, max_nodes=3)
    assert choice.nodes is not None
    assert choice.nodes > 0
    for action in choice.actions:
        assert later.turn_number == 1
        later = later.apply(action)
    assert later.turn_number == 2


def test_playouts_and_depth_are_those_that_were_asked_for() -> None:
    mcts, look_ahead = find_level("xero-g", "mcts playouts=77"), find_level("xero-g", "minimax depth=2")
    assert isinstance(mcts, SearchLevel)
    assert (mcts.max_nodes, mcts.plays_out) == (77, True)
    assert isinstance(look_ahead, LookAheadLevel)
    assert (look_ahead.depth, look_ahead.prunes) == (2, False)


def test_a_file_is_named_by_its_whole_path(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "my value.py").write_text("def value(state, player): return -state.legal_count()")
    monkeypatch.chdir(tmp_path)
    level = find_level("minefield", "alpha-beta depth=1 eval='my value.py'")
    assert level.name == f"alpha-beta depth=1 'eval={tmp_path / 'my value.py'}'"
    assert find_level("minefield", level.name).name == level.name
    assert choose(registry.load("minefield", {"size": 5}).initial_state(), level.name, 1).nodes == 25
