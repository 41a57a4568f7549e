"""The levels of computer players, by game. How each of them thinks is left to the module of its family."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from random import Random
from typing import Final

from tabuleiro.errors import BotError, shown
from tabuleiro.rules import State, registry
from tabuleiro.rules.games.virus_wars import VirusWars, VirusWarsState
from tabuleiro_server.bots import minimax
from tabuleiro_server.bots.thinking_time import ThinkingTime

TurnChooser = Callable[[State, Random, ThinkingTime], tuple[int, ...]]
"""Chooses the actions of the whole turn of the mover."""


@dataclass(frozen=True, slots=True)
class Level:
    """A computer player: its name, how it chooses a turn, and how many milliseconds it may think about one."""

    name: str
    choose: TurnChooser
    limit_ms: int


def _choose_random(state: State, rng: Random, time_left: ThinkingTime) -> tuple[int, ...]:
    """Actions drawn with equal chances until the turn is over."""
    actions: list[int] = []
    next_state = state
    while is_same_turn(state, next_state):
        action = rng.choice(next_state.legal_actions())
        actions.append(action)
        next_state = next_state.child(action)
    return tuple(actions)


def _minimax_chooser(depth: int) -> TurnChooser:
    def choose(state: State, rng: Random, time_left: ThinkingTime) -> tuple[int, ...]:
        if not isinstance(state, VirusWarsState):
            raise BotError(f"minimax plays Virus Wars, not {type(state).__name__}")
        actions: list[int] = []
        next_state = state
        while is_same_turn(state, next_state):
            share = time_left.share(next_state.actions_left)
            action = minimax.choose_action(next_state, depth, rng, share)
            actions.append(action)
            next_state = next_state.child(action)
        return tuple(actions)

    return choose


RANDOM: Final = Level("random", _choose_random, limit_ms=1_000)

LEVELS: Final[Mapping[str, tuple[Level, ...]]] = {
    "virus-wars": (
        RANDOM,
        Level("minimax-1", _minimax_chooser(1), limit_ms=1_000),
        Level("minimax-3", _minimax_chooser(3), limit_ms=10_000),
    ),
}
"""The levels of each game, weakest first; a game that is not here has :data:`RANDOM` alone.

Source: RULES.md, "Computer players of the reports".
"""


_STATE_TYPES: Final[Mapping[type[State], str]] = {VirusWarsState: VirusWars.name}
"""The game of every type of state that :data:`LEVELS` has a row for."""


def is_same_turn(start: State, later: State) -> bool:
    """Whether the turn that was being played in ``start`` goes on in ``later``."""
    return not later.is_terminal and (start.to_move, start.turn_number) == (later.to_move, later.turn_number)


def level_names(game: str) -> tuple[str, ...]:
    """The names of the levels of ``game``, weakest first. Raises: GameOptionError for an unknown game.

    >>> level_names("virus-wars")
    ('random', 'minimax-1', 'minimax-3')
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
    levels = LEVELS.get(_STATE_TYPES.get(type(state), ""), (RANDOM,))
    chosen = next((candidate for candidate in levels if candidate.name == level), None)
    if chosen is None:
        raise _unknown_level(level, tuple(candidate.name for candidate in levels))
    if state.is_terminal:
        raise BotError(f"nothing to think about, the game is over (position {state.to_position()})")
    limit_ms = chosen.limit_ms if budget_ms is None else min(budget_ms, chosen.limit_ms)
    # One seed serves a whole match: without the turn number, every turn would draw the same numbers.
    rng = Random(f"{seed} {state.turn_number}")
    return chosen.choose(state, rng, ThinkingTime(limit_ms))


def _unknown_level(level: str, names: tuple[str, ...]) -> BotError:
    return BotError(f"level {shown(level)} is not possible, expected one of {', '.join(names)}")
