from __future__ import annotations

import shlex
import sys

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


@pytest.mark.parametrize("text", ["gredy", "no-such-program --fast", "", "Ana=", "'open"])
def test_what_is_neither_level_nor_program_is_refused(text: str) -> None:
    with pytest.raises(BotError, match=r"engine .*(neither a level of iris \(random, greedy|quotation)"):
        parse_entrants("iris", ["random", text])


def test_one_alone_and_unknown_games_are_refused() -> None:
    with pytest.raises(ConfigError, match="two engines"):
        parse_entrants("iris", ["random"])
    with pytest.raises(GameOptionError, match="chess"):
        parse_entrants("chess", ["random", "random"])
