"""The ways to choose turns: by chance, by looking ahead with an evaluation, and by the searches of the games.

A level of a game is one of them with its limits; people choose others by name, e.g. ``alpha-beta depth=3``.
"""

from __future__ import annotations

import math
import re
import shlex
import threading
import time
from collections.abc import Mapping
from dataclasses import dataclass
from random import Random
from typing import Final

from tabuleiro.errors import BotError, shown
from tabuleiro.rules import Game, State
from tabuleiro.rules.games.iris import IrisState
from tabuleiro.rules.games.virus_wars import VirusWarsState
from tabuleiro_server.bots import engine, greedy, minimax
from tabuleiro_server.bots.engine.base import Searcher, ThinkingTime, is_same_turn
from tabuleiro_server.bots.engine.plain_search import PlainSearcher
from tabuleiro_server.bots.engine.readiness import KERNELS, MASTER_KERNELS
from tabuleiro_server.bots.evaluation import EVALUATIONS, Evaluation, Number, find_evaluation
from tabuleiro_server.bots.look_ahead import LookAhead, deepest

PATIENCE_S: Final = 1.0
"""The longest wait of a turn for kernels that only have to be loaded."""

PATIENCE_SHARE: Final = 1 / 3
"""The part of a turn's time that this wait may take."""

ANSWER_MS: Final = 50
"""The time for the way back of a turn on a busy machine; a twenty-fifth of its time at most."""

DEPTH_MAX: Final = 20
PLAYOUTS_MAX: Final = 10_000_000

CHOSEN_LIMIT_MS: Final = 60_000
"""The longest time for a turn of an algorithm that a person has chosen."""


@dataclass(frozen=True, slots=True)
class Choice:
    """All actions of a turn, and the number of positions or playouts looked at; ``None`` where none were."""

    actions: tuple[int, ...]
    nodes: int | None = None


@dataclass(frozen=True, slots=True)
class RandomLevel:
    """Any legal action, each as likely as the others."""

    name: str
    limit_ms: int

    def choose(self, state: State, rng: Random, time_left: ThinkingTime) -> Choice:
        """Choose all actions of the mover's turn."""
        actions: list[int] = []
        later = state
        while is_same_turn(state, later):
            actions.append(rng.choice(later.legal_actions()))
            later = later.child(actions[-1])
        return Choice(tuple(actions))


@dataclass(frozen=True, slots=True)
class LookAheadLevel:
    """The best action by ``evaluation``, ``depth`` actions ahead; one of equal ones by chance.

    ``prunes`` tells alpha-beta from minimax, which find the same. Without ``counts_ends`` an end is worth no more
    than its board.
    """

    name: str
    limit_ms: int
    depth: int
    evaluation: Evaluation
    prunes: bool = True
    counts_ends: bool = True

    def choose(self, state: State, rng: Random, time_left: ThinkingTime) -> Choice:
        """Choose all actions of the mover's turn, one after the other."""
        actions: list[int] = []
        nodes, later = 0, state
        while is_same_turn(state, later):
            action, looked_at = self._choose_action(later, rng, time_left)
            actions.append(action)
            nodes += looked_at
            later = later.child(action)
        return Choice(tuple(actions), nodes)

    def look_ahead(self, state: State, time_left: ThinkingTime) -> LookAhead:
        """Return the search of this level from ``state`` on, which is not over."""
        return LookAhead(
            state, self.evaluation, prunes=self.prunes, counts_ends=self.counts_ends, time_left=time_left
        )

    def _choose_action(self, state: State, rng: Random, time_left: ThinkingTime) -> tuple[int, int]:
        if isinstance(state, VirusWarsState):
            time_left = time_left.share(state.actions_left)
            if self.prunes and self.evaluation == MOBILITY:
                return minimax.choose_action(state, self.depth, rng, time_left)
        elif isinstance(state, IrisState) and state.first is None:
            time_left = time_left.share(2)
        search = self.look_ahead(state, time_left)
        _, best = deepest(search, self.depth)
        return rng.choice(best).action, search.nodes


MOBILITY: Final = find_evaluation("virus-wars")


@dataclass(frozen=True, slots=True)
class GroupsLevel:
    """The greedy player of Iris: the turn of two stones with the best lead in groups."""

    name: str
    limit_ms: int

    def choose(self, state: State, rng: Random, time_left: ThinkingTime) -> Choice:
        """Choose all actions of the mover's turn."""
        assert isinstance(state, IrisState)
        return Choice(rng.choice(greedy.best_iris_turns(state)))


@dataclass(frozen=True, slots=True)
class SearchLevel:
    """A level that searches: ``max_nodes`` nodes a turn, or as many as ``limit_ms`` milliseconds allow.

    The compiled search is used once its kernels are ready, and the one in plain Python before. With
    ``plays_out`` it is a Monte-Carlo tree search in every game.
    """

    name: str
    max_nodes: int
    limit_ms: int
    plays_out: bool = False

    def choose(self, state: State, rng: Random, time_left: ThinkingTime) -> Choice:
        """Choose all actions of the mover's turn, in a state of the level's game.

        With infinite time left, this waits for the kernels, and nodes alone decide: every machine makes the same
        choice.
        """
        return _search(self, state, rng, None if math.isinf(time_left.left_ms) else time_left)

    def searcher(self, game: Game, patience_s: float | None) -> Searcher:
        """Return the search of this level, compiled if its kernels are ready within ``patience_s`` seconds."""
        if self.plays_out and game.name not in engine.PLAYOUT_GAMES:
            return PlainSearcher()
        return KERNELS.searcher(game, patience_s) or engine.plain_searcher(game)


@dataclass(frozen=True, slots=True)
class MasterLevel:
    """The strongest level: it searches for ``limit_ms`` milliseconds a turn, or as long as the clock allows.

    It thinks on ``cores`` cores and keeps what it found for its next turn. Until its kernels are ready it searches
    in plain Python. With ``max_nodes`` it searches so many nodes instead, and keeps nothing: every machine makes
    the same choice.
    """

    name: str
    limit_ms: int
    max_nodes: int | None = None
    cores: int = 1

    def choose(self, state: State, rng: Random, time_left: ThinkingTime) -> Choice:
        """Choose all actions of the mover's turn, in a state of the level's game."""
        return _search(self, state, rng, time_left if self.max_nodes is None else None)

    def searcher(self, game: Game, patience_s: float | None) -> Searcher:
        """Return the search of this level, compiled if its kernels are ready within ``patience_s`` seconds."""
        search = MASTER_KERNELS.searcher(game, patience_s) or engine.plain_searcher(game)
        search.cores = self.cores
        return search


def _search(level: SearchLevel | MasterLevel, state: State, rng: Random, time_left: ThinkingTime | None) -> Choice:
    """Choose by the search of a level; without ``time_left`` it waits for the kernels, and nodes alone decide."""
    if time_left is None:
        deadline_s, patience_s = None, threading.TIMEOUT_MAX
    else:
        left_ms = time_left.left_ms
        deadline_s = time.monotonic() + (left_ms - min(ANSWER_MS, left_ms / 25)) / 1000
        patience_s = min(PATIENCE_S, PATIENCE_SHARE * left_ms / 1000)
    search = level.searcher(state.game, patience_s)
    result = search.choose_turn(state, max_nodes=level.max_nodes, deadline_s=deadline_s, seed=rng.getrandbits(32))
    return Choice(result.actions, result.nodes)


Level = RandomLevel | LookAheadLevel | GroupsLevel | SearchLevel | MasterLevel

ALGORITHMS: Final[Mapping[str, tuple[str, ...]]] = {
    "minimax": ("depth", "eval", "weights"),
    "alpha-beta": ("depth", "eval", "weights"),
    "mcts": ("playouts",),
}
"""The algorithms that people may choose by name, and their parameters."""

ALGORITHMS_TEXT: Final = (
    "minimax-N, minimax depth=N, alpha-beta depth=N eval=NAME weights=N,N,..., mcts playouts=N"
)

_WITH_DEPTH: Final = re.compile(r"(minimax|alpha-beta)-(\d+)")


def names_algorithm(text: str) -> bool:
    """Return True if ``text`` begins with the name of an algorithm, whatever follows.

    >>> names_algorithm("minimax-2"), names_algorithm("alpha-beta depth=3"), names_algorithm("minimaxer")
    (True, True, False)
    """
    word = text.strip().lower().partition(" ")[0]
    return word in ALGORITHMS or _WITH_DEPTH.fullmatch(word) is not None


def read_algorithm(game: str, text: str) -> Level:
    """Read an algorithm with its parameters; the name of the level is its shortest text.

    ``minimax-N`` is the player of the reports, who leaves out what cannot matter; ``minimax depth=N`` looks at
    every position and finds the same.

    Raises: BotError naming the parameter that is wrong; GameOptionError for an unknown game.

    >>> read_algorithm("virus-wars", "Alpha-Beta  eval=mobility weights=1,-1 depth=3").name
    'alpha-beta depth=3 weights=1,-1'
    >>> [read_algorithm("iris", text).name for text in ("minimax-2", "minimax depth=2", "mcts playouts=50")]
    ['minimax-2', 'minimax depth=2', 'mcts playouts=50']
    """
    try:
        first, *rest = shlex.split(text)
    except ValueError as error:
        raise BotError(f"level {shown(text)}: {error}") from error
    with_depth = _WITH_DEPTH.fullmatch(first.lower())
    name = first.lower() if with_depth is None else with_depth[1]
    values = {} if with_depth is None else {"depth": with_depth[2]}
    for word in rest:
        key, equals, value = word.partition("=")
        if not equals or key not in ALGORITHMS[name] or key in values:
            keys = ", ".join(f"{known}=" for known in ALGORITHMS[name])
            raise BotError(f"level {shown(text)}: {shown(word)} is not possible, {name} takes {keys} once each")
        values[key] = value
    if name == "mcts":
        playouts = _count(text, "playouts", values.get("playouts"), PLAYOUTS_MAX)
        return SearchLevel(f"mcts playouts={playouts}", playouts, CHOSEN_LIMIT_MS, plays_out=True)
    depth = _count(text, "depth", values.get("depth"), DEPTH_MAX)
    weights = None if "weights" not in values else _weights(text, values["weights"])
    evaluation = find_evaluation(game, values.get("eval"), weights)
    prunes = name == "alpha-beta" or with_depth is not None
    words = [f"minimax-{depth}"] if prunes and name == "minimax" else [name, f"depth={depth}"]
    full_name = shlex.join([*words, *_evaluation_words(game, evaluation)])
    return LookAheadLevel(full_name, CHOSEN_LIMIT_MS, depth, evaluation, prunes)


def _evaluation_words(game: str, evaluation: Evaluation) -> list[str]:
    """Return the parameters that choose ``evaluation``; none for that which the game has anyway."""
    standard = EVALUATIONS[game]
    chosen = [] if evaluation.name == standard[0].name else [f"eval={evaluation.name}"]
    if all((evaluation.name, evaluation.weights) != (each.name, each.weights) for each in standard):
        chosen += [f"weights={','.join(map(str, evaluation.weights))}"] if evaluation.weights != (1,) else []
    return chosen


def _count(text: str, key: str, value: str | None, most: int) -> int:
    if value is None or not value.isascii() or not value.isdigit() or not 1 <= int(value) <= most:
        given = "it is missing" if value is None else f"got {shown(value)}"
        raise BotError(f"level {shown(text)}: {key}= takes a whole number from 1 to {most}, {given}")
    return int(value)


def _weights(text: str, value: str) -> tuple[Number, ...]:
    found: list[Number] = []
    for word in value.split(","):
        try:
            number = float(word)
        except ValueError:
            number = math.nan
        if not math.isfinite(number):
            raise BotError(f"level {shown(text)}: weights= takes numbers and commas, got {shown(word)}")
        found.append(int(number) if number.is_integer() else number)
    return tuple(found)
