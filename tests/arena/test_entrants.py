from __future__ import annotations

import shlex
import sys
from pathlib import Path

import pytest

from tabuleiro.errors import BotError, ConfigError, GameOptionError
from tabuleiro_server.arena.schedule import LABEL_MAX_CHARS, Entrant, parse_entrants


def test_levels_and_commands_are_told_apart_and_may_be_named() -> None:
    command = shlex.join([sys.executable, "/some/where/my bot.py"])
    level, program, named, named_level = parse_entrants("iris", ["greedy", command, f"Ana={command}", "B=random"])
    assert level == Entrant("greedy", level="greedy")
    assert program.command == (sys.executable, "/some/where/my bot.py")
    assert program.label.endswith("my bot.py")
    assert len(program.label) <= LABEL_MAX_CHARS
    assert named == Entrant("Ana", command=program.command)
    assert named_level == Entrant("B", level="random")


def test_those_who_would_be_called_the_same_get_numbers() -> None:
    labels = [entrant.label for entrant in parse_entrants("iris", ["random", "random", "greedy", "random"])]
    assert labels == ["random", "random #2", "greedy", "random #3"]


def test_algorithms_are_told_by_their_shortest_text_and_need_no_quotes_of_their_own() -> None:
    deep, mcts = parse_entrants("iris", ["Deep=alpha-beta depth=2 eval=groups", "MCTS playouts=20"])
    assert deep == Entrant("Deep", level="alpha-beta depth=2")
    assert mcts == Entrant("mcts playouts=20", level="mcts playouts=20")


def test_what_is_wrong_with_an_algorithm_or_a_value_function_is_told_before_any_game(tmp_path: Path) -> None:
    with pytest.raises(BotError, match="'deep=2' is not possible"):
        parse_entrants("iris", ["random", "alpha-beta deep=2"])
    (tmp_path / "mine.py").write_text("def value(state, player): return 1 / 0")
    with pytest.raises(BotError, match="value failed: ZeroDivisionError"):
        parse_entrants("iris", ["random", f"alpha-beta depth=1 eval={tmp_path / 'mine.py'}"])


@pytest.mark.parametrize("text", ["gredy", "no-such-program --fast", "", "Ana=", "'open"])
def test_what_is_neither_level_nor_program_is_refused(text: str) -> None:
    with pytest.raises(BotError, match=r"engine .*(neither a level of iris \(random, greedy|quotation)"):
        parse_entrants("iris", ["random", text])


def test_one_alone_and_unknown_games_are_refused() -> None:
    with pytest.raises(ConfigError, match="two engines"):
        parse_entrants("iris", ["random"])
    with pytest.raises(GameOptionError, match="chess"):
        parse_entrants("chess", ["random", "random"])
