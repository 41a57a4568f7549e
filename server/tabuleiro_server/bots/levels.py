"""The levels of the bots, by game: random, the computer players of the reports, and those that search."""

from __future__ import annotations

import math
import threading
import time
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
from tabuleiro_server.bots import engine, greedy, minimax
from tabuleiro_server.bots.engine.base import ThinkingTime, complete_turn
from tabuleiro_server.bots.engine.readiness import KERNELS

S = TypeVar("S", bound=State)

TurnChooser = Callable[[Any, Random, ThinkingTime], tuple[int, ...]]
"""Choose all actions of the mover's turn, in a state of the level's game."""

PATIENCE_S: Final = 1.0
"""The longest wait of a turn for kernels that only have to be loaded."""

PATIENCE_SHARE: Final = 0.5
"""The part of a turn's time that this wait may take."""


@dataclass(frozen=True, slots=True)
class Level:
    """A way to choose turns, and the milliseconds that a turn may take."""

    name: str
    choose: TurnChooser
    limit_ms: int


@dataclass(frozen=True, slots=True)
class SearchLevel:
    """A level that searches: ``max_nodes`` nodes a turn, or as many as ``limit_ms`` milliseconds allow.

    The compiled search is used once its kernels are ready, and the one in plain Python before.
    """

    name: str
    max_nodes: int
    limit_ms: int

    def choose(self, state: Any, rng: Random, time_left: ThinkingTime) -> tuple[int, ...]:
        """Choose all actions of the mover's turn, in a state of the level's game.

        With infinite time left, this waits for the kernels, and nodes alone decide: every machine makes the same
        choice.
        """
        if math.isinf(time_left.left_ms):
            deadline_s, patience_s = None, threading.TIMEOUT_MAX
        else:
            deadline_s = time.monotonic() + time_left.left_ms / 1000
            patience_s = min(PATIENCE_S, PATIENCE_SHARE * time_left.left_ms / 1000)
        search = KERNELS.searcher(state.game, patience_s) or engine.plain_searcher(state.game)
        result = search.choose_turn(
            state, max_nodes=self.max_nodes, deadline_s=deadline_s, seed=rng.getrandbits(32)
        )
        return result.actions


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


RANDOM: Final = Level("random", _choose_random, limit_ms=1_000)

LEVELS: Final[Mapping[str, tuple[Level | SearchLevel, ...]]] = {
    VirusWars.name: (
        RANDOM,
        Level("minimax-1", _minimax_chooser(1), limit_ms=1_000),
        Level("minimax-3", _minimax_chooser(3), limit_ms=10_000),
        SearchLevel("easy", 40, limit_ms=1_000),
        SearchLevel("medium", 220, limit_ms=1_000),
        SearchLevel("hard", 1_500, limit_ms=1_500),
        SearchLevel("expert", 200_000, limit_ms=2_000),
    ),
    XeroG.name: (
        RANDOM,
        Level("greedy", _greedy_chooser(greedy.ship_progress), limit_ms=1_000),
        SearchLevel("easy", 300, limit_ms=1_000),
        SearchLevel("medium", 2_500, limit_ms=1_000),
        SearchLevel("hard", 14_000, limit_ms=1_500),
        SearchLevel("expert", 400_000, limit_ms=2_000),
    ),
    Iris.name: (
        RANDOM,
        Level("greedy", _choose_iris_greedy, limit_ms=1_000),
        SearchLevel("easy", 40, limit_ms=1_000),
        SearchLevel("medium", 200, limit_ms=1_000),
        SearchLevel("hard", 1_200, limit_ms=1_500),
        SearchLevel("expert", 80_000, limit_ms=2_000),
    ),
    Minefield.name: (
        RANDOM,
        Level("greedy", _greedy_chooser(greedy.connection_lead), limit_ms=1_000),
        SearchLevel("easy", 30, limit_ms=1_000),
        SearchLevel("medium", 130, limit_ms=1_000),
        SearchLevel("hard", 600, limit_ms=1_500),
        SearchLevel("expert", 30_000, limit_ms=2_000),
    ),
}
"""The levels of each game; a game that is not here has :data:`RANDOM` alone.

First those of the reports (Source: RULES.md, "Computer players of the reports"), then those that search, each
weakest first. Those that search differ in the number of nodes alone.
"""

SEARCH_LEVELS: Final[Mapping[str, tuple[SearchLevel, ...]]] = {
    game: tuple(level for level in levels if isinstance(level, SearchLevel)) for game, levels in LEVELS.items()
}
"""The levels of each game that search, weakest first."""

_STATE_TYPES: Final[Mapping[type[State], str]] = {
    VirusWarsState: VirusWars.name,
    XeroGState: XeroG.name,
    IrisState: Iris.name,
    MinefieldState: Minefield.name,
}
"""The game of every type of state that :data:`LEVELS` has a row for."""


def level_names(game: str) -> tuple[str, ...]:
    """Return the names of the levels of ``game``, in the order of :data:`LEVELS`.

    Raises: GameOptionError for an unknown game.

    >>> level_names("virus-wars")
    ('random', 'minimax-1', 'minimax-3', 'easy', 'medium', 'hard', 'expert')
    """
    return tuple(level.name for level in LEVELS.get(registry.game_type(game).name, (RANDOM,)))


def check_level(game: str, level: str) -> None:
    """Refuse a level that does not exist.

    Raises: BotError when ``game`` has no level of that name; GameOptionError for an unknown game.
    """
    names = level_names(game)
    if level not in names:
        raise _unknown_level(level, names)


def choose_turn(state: State, level: str, seed: int, budget_ms: int | None) -> tuple[int, ...]:
    """Choose the actions that complete the turn of the player to move: one or more.

    The answer ends where the other player is to move, where a new turn begins or where the game ends. The same
    state, level and seed give the same answer, unless the time ran out. ``budget_ms`` is the time for the whole
    turn in milliseconds; ``None`` means the limit of the level, and a longer budget is cut to it.

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
    chosen = _level_for(state, level)
    if isinstance(chosen, SearchLevel):
        chosen = replace(chosen, max_nodes=min(max_nodes, chosen.max_nodes))
    return chosen.choose(state, _chance(state, seed), ThinkingTime(math.inf))


def _level_for(state: State, level: str) -> Level | SearchLevel:
    """Return the level of that name for ``state``. Raises: BotError if there is none, or nothing to choose."""
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
