from __future__ import annotations

from pathlib import Path

import pytest

import tools.strength.page
from tabuleiro.errors import ConfigError
from tabuleiro.rules import registry
from tabuleiro_server.arena.standings import Tally
from tabuleiro_server.bots.levels import SEARCH_LEVELS, choose
from tools.strength.__main__ import strength
from tools.strength.games import NODE_CAPS, LevelPair, Measured, level_pairs
from tools.strength.page import format_page

pytestmark = pytest.mark.slow

PAIR = LevelPair("iris", "expert", "hard", 0.75, (10_000, 2_000))


def play(folder: Path, games: int = 2) -> str:
    page = folder / "STRENGTH.md"
    strength(page, folder / "games.jsonl", games=games, game=["xero-g"], max_nodes=["xero-g=300"], jobs=1)
    return page.read_text()


@pytest.fixture(scope="module")
def whole(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Return the folder of a whole run of two games a pair, page and results, for tests that only read it."""
    folder = tmp_path_factory.mktemp("whole")
    play(folder)
    return folder


def test_the_page_tells_every_pair_and_the_command_that_makes_it(whole: Path) -> None:
    text = (whole / "STRENGTH.md").read_text()
    assert "    make strength GAMES=2 NODES='xero-g=300' ONLY='xero-g'\n" in text
    assert "pairs reach their aim.** 10 of 10 games are played.\n" in text
    pairs = text.partition("`master` has")[0]
    assert [line.split(" | ")[:5] for line in pairs.splitlines() if line.startswith("| ")][2:] == [
        ["| easy", "300", "random", "-", "2"],
        ["| medium", "300", "easy", "300", "2"],
        ["| hard", "300", "medium", "300", "2"],
        ["| expert", "300", "hard", "300", "2"],
        ["| expert", "300", "greedy", "-", "2"],
    ]


def test_a_run_broken_off_goes_on_where_it_was_and_ends_with_the_same_page(tmp_path: Path, whole: Path) -> None:
    kept = tmp_path / "games.jsonl"
    lines = (whole / kept.name).read_text().splitlines(keepends=True)
    kept.write_text("".join(lines[::2]))
    assert play(tmp_path) == (whole / "STRENGTH.md").read_text()
    assert sorted(kept.read_text().splitlines(keepends=True)) == sorted(lines)


def test_games_with_other_budgets_are_not_counted(tmp_path: Path, whole: Path) -> None:
    kept = tmp_path / "games.jsonl"
    others = (whole / kept.name).read_text().replace("300", "200")
    kept.write_text(others)
    play(tmp_path, games=1)
    assert len(kept.read_text().splitlines()) == len(others.splitlines()) + 5


@pytest.mark.parametrize("text", ["chess=5", "iris", "iris=", "iris=0", "iris=-3", "iris=1e3"])
def test_a_cap_that_is_none_is_refused(tmp_path: Path, text: str) -> None:
    with pytest.raises(ConfigError, match="--max-nodes"):
        strength(tmp_path / "page", tmp_path / "games", max_nodes=[text])


def test_a_file_that_holds_something_else_is_refused_and_left_alone(tmp_path: Path) -> None:
    file = tmp_path / "notes.txt"
    file.write_text("buy milk\n")
    with pytest.raises(ConfigError, match="a file of results"):
        strength(tmp_path / "page", file, games=1)
    assert file.read_text() == "buy milk\n"


def test_the_page_says_what_is_missed_and_what_was_not_played() -> None:
    page = format_page({PAIR: Tally(74, 0, 26)}, 200, "make strength")
    assert "| expert | 10000 | hard | 2000 | 100 of 200 | 74 | 0 | 26 | 74.0% |" in page
    assert "**missed**" in page
    assert "**0 of 1 pairs reach their aim.** 100 of 200 games are played." in page
    page = format_page({PAIR: Tally()}, 200, "make strength")
    assert "| expert | 10000 | hard | 2000 | 0 of 200 | 0 | 0 | 0 | - | - | - | 75% | not played |" in page


def test_the_page_tells_what_was_measured_by_time_in_the_part_of_the_game(monkeypatch: pytest.MonkeyPatch) -> None:
    def measured(game: str, aim: float | None, tally: Tally) -> Measured:
        return Measured(game, "1a2b3c4d", "`expert`", "variant=gyges", 300, "2026-11-29", aim, tally)

    parts = (
        measured("iris", 0.7, Tally(7, 1, 2)),
        measured("iris", 0.8, Tally(7, 1, 2)),
        measured("iris", None, Tally(7, 1, 2)),
        measured("xero-g", None, Tally(3, 0, 0)),
    )
    monkeypatch.setattr(tools.strength.page, "MEASURED", parts)
    page = format_page({PAIR: Tally()}, 200, "make strength")
    start = "| `1a2b3c4d` | `expert` | variant=gyges | 300 ms | 2026-11-29 | 10 | 7 | 1 | 2 | 75.0% | "
    assert [line.split(" | ")[11:] for line in page.splitlines() if line.startswith(start)] == [
        ["70%", "reached |"],
        ["80%", "**missed** |"],
        ["-", " |"],
    ]
    assert "| 3 | 0 | 0 |" not in page


@pytest.mark.parametrize("game", registry.names())
def test_the_page_caps_expert_alone(game: str) -> None:
    own = {level.name: level.max_nodes for level in SEARCH_LEVELS[game]}
    pairs = level_pairs(game, NODE_CAPS[game])
    assert pairs[-1].budgets == (own["hard"], None)
    budgets = {pair.stronger: pair.budgets[0] for pair in pairs[:-1]}
    assert [name for name in own if own[name] != budgets[name]] == ["expert"]


@pytest.mark.parametrize("game", registry.names())
def test_without_a_clock_the_same_nodes_give_the_same_turn_and_no_level_exceeds_its_own(game: str) -> None:
    options = {"setup": "random", "seed": 3} if game == "xero-g" else {}
    state = registry.load(game, options).initial_state()
    easy = SEARCH_LEVELS[game][0]
    turns = [choose(state, easy.name, 5, max_nodes=nodes).actions for nodes in (easy.max_nodes, 10**9)]
    assert turns[0] == turns[1] == choose(state, "expert", 5, max_nodes=easy.max_nodes).actions
