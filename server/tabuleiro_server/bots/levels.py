"""The levels of computer players, by game. How each of them thinks is left to the module of its family."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from random import Random
from typing import Any, Final, TypeVar

from tabuleiro.errors import BotError, shown
from tabuleiro.ids import Player
from tabuleiro.rules import State, registry
from tabuleiro.rules.games.iris import Iris, IrisState
from tabuleiro.rules.games.minefield import Minefield, MinefieldState
from tabuleiro.rules.games.virus_wars import VirusWars, VirusWarsState
from tabuleiro.rules.games.xero_g import XeroG, XeroGState
from tabuleiro_server.bots import greedy, minimax
from tabuleiro_server.bots.engine import alpha_beta_levels, mcts_levels
from tabuleiro_server.bots.engine.search_level import SearchLevel
from tabuleiro_server.bots.thinking_time import ThinkingTime
from tabuleiro_server.bots.turns import complete_turn

S = TypeVar("S", bound=State)

TurnChooser = Callable[[Any, Random, ThinkingTime], tuple[int, ...]]
"""Chooses the actions of the whole turn of the mover, in a state of the game that the level belongs to."""


@dataclass(frozen=True, slots=True)
class Level:
    """A computer player: its name, how it chooses a turn, and how many milliseconds it may think about one."""

    name: str
    choose: TurnChooser
    limit_ms: int


def _choose_random(state: State, rng: Random, time_left: ThinkingTime) -> tuple[int, ...]:
    return complete_turn(state, lambda later: rng.choice(later.legal_actions()))


def _minimax_chooser(depth: int) -> TurnChooser:
    def choose(state: VirusWarsState, rng: Random, time_left: ThinkingTime) -> tuple[int, ...]:
        def choose_action(later: VirusWarsState) -> int:
            return minimax.choose_action(later, depth, rng, time_left.share(later.actions_left))

        return complete_turn(state, choose_action)

    return choose


def _greedy_chooser(value: Callable[[S, Player], int]) -> TurnChooser:
    def choose(state: S, rng: Random, time_left: ThinkingTime) -> tuple[int, ...]:
        return complete_turn(state, lambda later: rng.choice(greedy.best_actions(later, value)))

    return choose


def _choose_iris_greedy(state: IrisState, rng: Random, time_left: ThinkingTime) -> tuple[int, ...]:
    return rng.choice(greedy.best_iris_turns(state))


SEARCH_LEVELS: Final[Mapping[str, tuple[SearchLevel, ...]]] = {
    **alpha_beta_levels.SEARCH_LEVELS,
    **mcts_levels.SEARCH_LEVELS,
}
"""The levels of each game that search, weakest first."""


def _search_levels(game: str) -> tuple[Level, ...]:
    return tuple(Level(level.name, level.choose, level.limit_ms) for level in SEARCH_LEVELS[game])


RANDOM: Final = Level("random", _choose_random, limit_ms=1_000)

LEVELS: Final[Mapping[str, tuple[Level, ...]]] = {
    "virus-wars": (
        RANDOM,
        Level("minimax-1", _minimax_chooser(1), limit_ms=1_000),
        Level("minimax-3", _minimax_chooser(3), limit_ms=10_000),
        *_search_levels(VirusWars.name),
    ),
    "xero-g": (
        RANDOM,
        Level("greedy", _greedy_chooser(greedy.ship_progress), limit_ms=1_000),
        *_search_levels(XeroG.name),
    ),
    "iris": (RANDOM, Level("greedy", _choose_iris_greedy, limit_ms=1_000), *_search_levels(Iris.name)),
    "minefield": (
        RANDOM,
        Level("greedy", _greedy_chooser(greedy.connection_lead), limit_ms=1_000),
        *_search_levels(Minefield.name),
    ),
}
"""The levels of each game; a game that is not here has :data:`RANDOM` alone.

First those of the reports (Source: RULES.md, "Computer players of the reports"), then those that search, each
weakest first.
"""


_STATE_TYPES: Final[Mapping[type[State], str]] = {
    VirusWarsState: VirusWars.name,
    XeroGState: XeroG.name,
    IrisState: Iris.name,
    MinefieldState: Minefield.name,
}
"""The game of every type of state that :data:`LEVELS` has a row for."""


def level_names(game: str) -> tuple[str, ...]:
    """The names of the levels of ``game``, in the order of :data:`LEVELS`.

    Raises: GameOptionError for an unknown game.

    >>> level_names("virus-wars")
    ('random', 'minimax-1', 'minimax-3', 'easy', 'medium', 'hard', 'expert')
    """
    return tuple(level.name for level in LEVELS.get(registry.game_type(game).name, (RANDOM,)))


def check_level(game: str, level: str) -> None:
    """Refuse a level that is not there.

    Raises: BotError when ``game`` has no level of that name; GameOptionError for an unknown game.
    """
    names = level_names(game)
    if level not in names:
        raise _unknown_level(level, names)


def choose_turn(state: State, level: str, seed: int, budget_ms: int | None) -> tuple[int, ...]:
    """Choose the actions that complete the turn of the player to move: one or more.

    The answer ends where the other player is to move, where a new turn begins or where the game ends. The same
    state, level and seed give the same answer, unless the time ran out; ``budget_ms`` is the time for the
    whole turn in milliseconds, ``None`` means the limit of the level, and a longer budget is cut to it.

    Raises: BotError for a level that the game does not have, and when the game is over.
    """
    chosen = _level_for(state, level)
    limit_ms = chosen.limit_ms if budget_ms is None else min(budget_ms, chosen.limit_ms)
    return chosen.choose(state, _chance(state, seed), ThinkingTime(limit_ms))


def choose_turn_by_nodes(state: State, level: str, seed: int, max_nodes: int) -> tuple[int, ...]:
    """Choose as :func:`choose_turn` does, but without a clock: the same arguments always give the same answer.

    A level that searches looks at ``max_nodes`` nodes, or at its own number of them if that is less.

    Raises: BotError as :func:`choose_turn`.
    """
    choose = _level_for(state, level).choose
    for searching in SEARCH_LEVELS.get(_STATE_TYPES.get(type(state), ""), ()):
        if searching.name == level:
            choose = replace(searching, max_nodes=min(max_nodes, searching.max_nodes)).choose
    return choose(state, _chance(state, seed), ThinkingTime(math.inf))


def _level_for(state: State, level: str) -> Level:
    """The level of that name for ``state``. Raises: BotError when there is none, or nothing to choose."""
    levels = LEVELS.get(_STATE_TYPES.get(type(state), ""), (RANDOM,))
    chosen = next((candidate for candidate in levels if candidate.name == level), None)
    if chosen is None:
        raise _unknown_level(level, tuple(candidate.name for candidate in levels))
    if state.is_terminal:
        raise BotError(f"nothing to think about, the game is over (position {state.to_position()})")
    return chosen


def _chance(state: State, seed: int) -> Random:
    # One seed serves a whole match: without the turn number, every turn would draw the same numbers.
    return Random(f"{seed} {state.turn_number}")


def _unknown_level(level: str, names: tuple[str, ...]) -> BotError:
    return BotError(f"level {shown(level)} is not possible, expected one of {', '.join(names)}")
