"""The levels of the bots, by game: random, the computer players of the reports, and those that search."""

from __future__ import annotations

import math
import re
from collections.abc import Mapping
from dataclasses import replace
from random import Random
from typing import Final

from tabuleiro.errors import BotError, shown
from tabuleiro.rules import State, registry
from tabuleiro.rules.games.iris import Iris
from tabuleiro.rules.games.minefield import Minefield
from tabuleiro.rules.games.virus_wars import VirusWars
from tabuleiro.rules.games.xero_g import XeroG
from tabuleiro_server.bots.algorithms import (
    ALGORITHMS_TEXT,
    Choice,
    GroupsLevel,
    Level,
    LookAheadLevel,
    MasterLevel,
    RandomLevel,
    SearchLevel,
    names_algorithm,
    read_algorithm,
)
from tabuleiro_server.bots.engine.base import ThinkingTime
from tabuleiro_server.bots.evaluation import find_evaluation

RANDOM: Final = RandomLevel("random", limit_ms=1_000)

LEVELS: Final[Mapping[str, tuple[Level, ...]]] = {
    VirusWars.name: (
        RANDOM,
        LookAheadLevel("minimax-1", 1_000, 1, find_evaluation(VirusWars.name)),
        LookAheadLevel("minimax-3", 10_000, 3, find_evaluation(VirusWars.name)),
        SearchLevel("easy", 40, limit_ms=1_000),
        SearchLevel("medium", 220, limit_ms=1_000),
        SearchLevel("hard", 1_500, limit_ms=1_500),
        SearchLevel("expert", 200_000, limit_ms=2_000),
        MasterLevel("master", limit_ms=2_000),
    ),
    XeroG.name: (
        RANDOM,
        LookAheadLevel("greedy", 1_000, 1, find_evaluation(XeroG.name), counts_ends=False),
        SearchLevel("easy", 300, limit_ms=1_000),
        SearchLevel("medium", 2_500, limit_ms=1_000),
        SearchLevel("hard", 14_000, limit_ms=1_500),
        SearchLevel("expert", 400_000, limit_ms=2_000),
        MasterLevel("master", limit_ms=2_000),
    ),
    Iris.name: (
        RANDOM,
        GroupsLevel("greedy", limit_ms=1_000),
        SearchLevel("easy", 40, limit_ms=1_000),
        SearchLevel("medium", 200, limit_ms=1_000),
        SearchLevel("hard", 1_200, limit_ms=1_500),
        SearchLevel("expert", 80_000, limit_ms=2_000),
        MasterLevel("master", limit_ms=2_000),
    ),
    Minefield.name: (
        RANDOM,
        LookAheadLevel("greedy", 1_000, 1, find_evaluation(Minefield.name), counts_ends=False),
        SearchLevel("easy", 30, limit_ms=1_000),
        SearchLevel("medium", 130, limit_ms=1_000),
        SearchLevel("hard", 600, limit_ms=1_500),
        SearchLevel("expert", 30_000, limit_ms=2_000),
        MasterLevel("master", limit_ms=2_000),
    ),
}
"""The levels of each game; a game that is not here has :data:`RANDOM` alone.

First those of the reports (Source: RULES.md, "Computer players of the reports"), then those that search, each
weakest first. Those that search differ in the number of nodes alone, but for ``master``, which searches by time.
"""

SEARCH_LEVELS: Final[Mapping[str, tuple[SearchLevel, ...]]] = {
    game: tuple(level for level in levels if isinstance(level, SearchLevel)) for game, levels in LEVELS.items()
}
"""The levels of each game that search so many nodes, weakest first."""

_REPORT_NAMES: Final[Mapping[str, int]] = {
    "level 1": 0,
    "level 2": 1,
    "smart": 1,
    "greedy": 1,
    "level 3": 2,
}
"""The names that the reports give their computer players, by the place among the levels of a game."""


def level_names(game: str) -> tuple[str, ...]:
    """Return the names of the levels of ``game``, in the order of :data:`LEVELS`.

    Raises: GameOptionError for an unknown game.

    >>> level_names("virus-wars")
    ('random', 'minimax-1', 'minimax-3', 'easy', 'medium', 'hard', 'expert', 'master')
    """
    return tuple(level.name for level in LEVELS.get(registry.game_type(game).name, (RANDOM,)))


def read_level(game: str, text: str, *, is_own_machine: bool) -> str:
    """Return the name of the level called ``text``; algorithms are for one's own machine, where they may take all.

    Raises: BotError for an algorithm elsewhere, or one that is wrong, and for no level; GameOptionError for an
    unknown game.

    >>> read_level("iris", "Level 2", is_own_machine=False)
    'greedy'
    """
    if is_own_machine:
        level = find_level(game, text)
        check_values(game, level)
        return level.name
    found = _level_of_game(game, text)
    if found is None:
        names = ", ".join(level_names(game))
        problem = "plays on one's own machine only" if names_algorithm(text) else "is not possible"
        raise BotError(f"level {shown(text)} {problem}, expected one of {names}")
    return found.name


def check_values(game: str, level: Level) -> None:
    """Value the start of ``game`` once, to tell what is wrong with an own value function before it plays.

    Raises: BotError.
    """
    if isinstance(level, LookAheadLevel):
        level.evaluation.value(registry.load(game).initial_state(), 0)


def find_level(game: str, text: str) -> Level:
    """Return the level called ``text``: one of the game, by its name or that of the reports, or an algorithm.

    :func:`~tabuleiro_server.bots.algorithms.read_algorithm` reads algorithms and their parameters.

    Raises: BotError for what is neither; GameOptionError for an unknown game.

    >>> find_level("minefield", "Smart").name, find_level("virus-wars", "Level 2").name
    ('greedy', 'minimax-1')
    """
    found = _level_of_game(game, text)
    if found is not None:
        return found
    if names_algorithm(text):
        return read_algorithm(game, text)
    names = ", ".join(level_names(game))
    raise BotError(f"level {shown(text)} is not possible, expected one of {names}, or {ALGORITHMS_TEXT}")


def _level_of_game(game: str, text: str) -> Level | None:
    """Return a level by its name or that of the reports; ``None`` for another text."""
    levels = LEVELS.get(registry.game_type(game).name, (RANDOM,))
    name = " ".join(text.split()).lower()
    found = next((level for level in levels if level.name == name), None)
    if found is not None:
        return found
    place = _REPORT_NAMES.get(re.sub(r"level[ _-]?(?=\d)", "level ", name))
    if place is not None and place < len(levels) and not isinstance(levels[place], SearchLevel | MasterLevel):
        return levels[place]
    return None


def choose_turn(state: State, level: str, seed: int, budget_ms: int | None, cores: int = 1) -> tuple[int, ...]:
    """Choose the actions that complete the turn of the player to move: one or more.

    The answer ends where the other player is to move, where a new turn begins or where the game ends. The same
    state, level and seed give the same answer, unless the time ran out. ``budget_ms`` is the time for the whole
    turn in milliseconds; ``None`` means the limit of the level, and a longer budget is cut to it. A level that can
    do so thinks on ``cores`` cores.

    Raises: BotError for a level that the game does not have, and when the game is over.
    """
    return choose(state, level, seed, budget_ms, cores=cores).actions


def choose(
    state: State,
    level: str,
    seed: int,
    budget_ms: int | None = None,
    max_nodes: int | None = None,
    cores: int = 1,
) -> Choice:
    """Choose as :func:`choose_turn` does, and count the positions looked at.

    With ``max_nodes`` no clock is read, and the same arguments always give the same answer: a level that searches
    looks at so many nodes, or at its own number of them if it has one that is less.

    Raises: BotError as :func:`choose_turn`.
    """
    chosen = find_level(state.game.name, level)
    if state.is_terminal:
        raise BotError(f"nothing to think about, the game is over (position {state.to_position()})")
    if isinstance(chosen, MasterLevel):
        chosen = replace(chosen, cores=cores)
    limit_ms: float = chosen.limit_ms if budget_ms is None else min(budget_ms, chosen.limit_ms)
    if max_nodes is not None:
        limit_ms = math.inf
        if isinstance(chosen, SearchLevel):
            chosen = replace(chosen, max_nodes=min(max_nodes, chosen.max_nodes))
        elif isinstance(chosen, MasterLevel):
            chosen = replace(chosen, max_nodes=max_nodes)
    # One seed serves a whole match: without the turn number, every turn would draw the same numbers.
    rng = Random(f"{seed} {state.turn_number}")
    return chosen.choose(state, rng, ThinkingTime(limit_ms))
