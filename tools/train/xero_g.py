"""Weights for the estimates of ``master`` in Xero-G, fitted to games of ``expert`` against itself.

Each position of a game, and after it one random action that is no blunder, is valued by a short search of
``master`` with the weights of the other levels, which never change: what was learnt before is not looked at. The
value to be learnt of a position played is that of the search mixed with the result of the game.
"""

from __future__ import annotations

from collections.abc import Callable
from random import Random
from typing import Final

import numpy as np

from tabuleiro.rules import registry
from tabuleiro.rules.games.xero_g import XeroG, XeroGState
from tabuleiro_server.arena.play import GameResult
from tabuleiro_server.bots.engine.alpha_beta import ESTIMATE_UNIT
from tabuleiro_server.bots.engine.kernels import Array
from tabuleiro_server.bots.engine.xero_g.board import position_of
from tabuleiro_server.bots.engine.xero_g.master import MasterXeroGSearcher
from tabuleiro_server.bots.engine.xero_g.search import WEIGHTS
from tabuleiro_server.bots.engine.xero_g.targets import new_room
from tabuleiro_server.bots.engine.xero_g.threats import lets_in, new_patterns
from tabuleiro_server.bots.engine.xero_g.values import FEATURE_COUNT, look_at
from tools.train.games import HELD_OUT_EVERY, play_games, weights_file

NODES: Final = 1_500
"""The nodes a turn of the games, and of the search that values a position."""
RESULT_SHARE: Final = 0.4
_ROUNDS: Final = 30
_TELL_EVERY: Final = 50


class Examples:
    """Features of positions, the values to be learnt, and if they are held out."""

    def __init__(self) -> None:
        self._features: list[Array] = []
        self._values: list[float] = []
        self._are_held_out: list[bool] = []
        self._room, self._units, self._patterns = new_room(), np.eye(FEATURE_COUNT), new_patterns()

    def add(self, state: XeroGState, value: float, *, is_held_out: bool) -> None:
        """Add a position and its value for the mover, from -1 to 1."""
        position = position_of(state)
        self._features.append(np.array([look_at(position, self._room, unit)[0] for unit in self._units]))
        self._values.append(value)
        self._are_held_out.append(is_held_out)

    def can_enter(self, state: XeroGState, player: int) -> bool:
        """Return True if ``player`` could enter the base if it were their turn."""
        return lets_in(position_of(state), player, self._room, self._patterns)

    def arrays(self) -> tuple[Array, Array, Array]:
        """Return the features (a row for each position), the values, and if they are held out."""
        return np.array(self._features, dtype=float), np.array(self._values), np.array(self._are_held_out)


def train(games: int, seed: int, jobs: int, tell: Callable[[str], None]) -> bytes:
    """Return a file of weights."""
    examples = Examples()
    for variant in ("xero-g", "gyges"):
        # The variant that is harder to play gets more games.
        count = games - games // 4 if variant == "xero-g" else games // 4
        options = registry.read_options(XeroG.name, [f"variant={variant}", "setup=random"])
        # Another searcher for each variant: equal positions have other moves there.
        searcher = MasterXeroGSearcher(XeroG.from_options(options), WEIGHTS)
        for result in play_games(XeroG.name, options, count, seed, jobs, NODES):
            _add_game(examples, searcher, result, seed)
            if result.pairing.number % _TELL_EVERY == 0:
                tell(f"{variant}: {result.pairing.number} of {count} games")
    features, values, held_out = examples.arrays()
    weights = fit(features[~held_out], values[~held_out])
    error = np.mean((np.tanh(features[held_out] @ weights / ESTIMATE_UNIT) - values[held_out]) ** 2)
    tell(f"{len(values)} positions, mean squared error of those held out {error:.4f}")
    return weights_file(weights, 1)


def _add_game(examples: Examples, searcher: MasterXeroGSearcher, result: GameResult, seed: int) -> None:
    number = result.pairing.number
    rng, is_held_out = Random(f"{seed} examples {number}"), number % HELD_OUT_EVERY == 0
    state = XeroG.from_options(result.pairing.options).initial_state()
    for text in result.actions:
        if examples.can_enter(state, state.mover):
            return
        value = searcher.choose_turn(state, max_nodes=NODES, deadline_s=None, seed=number).value
        points = 0.0 if result.winner is None else 1.0 if result.winner == state.mover else -1.0
        examples.add(state, (1 - RESULT_SHARE) * value + RESULT_SHARE * points, is_held_out=is_held_out)
        other = state.child(rng.choice(state.legal_actions()))
        if not other.is_terminal and not examples.can_enter(other, other.mover):
            value = searcher.choose_turn(other, max_nodes=NODES, deadline_s=None, seed=number).value
            examples.add(other, value, is_held_out=is_held_out)
        state = state.child(state.string_to_action(text))


def fit(features: Array, values: Array) -> Array:
    """Return the weights whose sums of ``features``, as winning chances, are nearest to ``values``.

    ``values`` are from -1 to 1. The method is that of Gauss and Newton, damped as Levenberg does.
    """
    scale = np.maximum(np.abs(features).max(axis=0), 1e-9)
    rows = features / scale
    weights, damping, error = np.zeros(rows.shape[1]), 1.0, np.inf
    for _ in range(_ROUNDS):
        guesses = np.tanh(rows @ weights)
        slopes = rows * (1 - guesses**2)[:, None]
        left = values - guesses
        matrix = slopes.T @ slopes
        step = np.linalg.solve(matrix + damping * np.eye(len(weights)), slopes.T @ left)
        after = np.sum((values - np.tanh(rows @ (weights + step))) ** 2)
        if after < error:
            weights, error, damping = weights + step, after, damping / 4
        else:
            damping *= 8
    return np.asarray(weights / scale * ESTIMATE_UNIT)
