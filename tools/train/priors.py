"""Weights of features for the priors of ``master`` in the games with playouts, fitted to searches.

Games are played by the search of ``expert`` with fewer playouts, and some of their first actions are drawn. The
shares of the visits of the actions are the chances to be learnt.
"""

from __future__ import annotations

from collections.abc import Callable
from concurrent.futures import ProcessPoolExecutor
from functools import partial
from typing import Final, NamedTuple

import msgspec
import numpy as np

from tabuleiro_server.bots.engine.kernels import Array
from tools.train.games import HELD_OUT_EVERY

RANDOM_FIRST: Final = 3
"""The most random actions at the start of a game."""
VARIED_SHARE: Final = 0.25
"""In the first actions of a game, this share is drawn by visits; all others are the best."""
DECIDED: Final = 0.95
"""A game ends for the training when a value is so far from even: then all actions are as good."""
_TELL_EVERY: Final = 20
_ROUNDS: Final = 200
_STEP: Final = 0.1
_DECAY: Final = 1.0


class Examples(NamedTuple):
    """Positions as rows: one for each legal action, with its features and the chance to be learnt.

    ``sizes`` has the number of rows of each position.
    """

    features: Array
    chances: Array
    sizes: Array


def train_priors(
    play_game: Callable[[int, int], Examples],
    feature_count: int,
    games: int,
    seed: int,
    jobs: int,
    tell: Callable[[str], None],
) -> bytes:
    """Return a file of weights of features; ``play_game`` plays the game of a seed and a number."""
    learnt, held_out = list[Examples](), list[Examples]()
    with ProcessPoolExecutor(jobs) as pool:
        for number, examples in enumerate(pool.map(partial(play_game, seed), range(games)), 1):
            (held_out if number % HELD_OUT_EVERY == 0 else learnt).append(examples)
            if number % _TELL_EVERY == 0:
                tell(f"{number} of {games} games")
    examples = _joined(learnt)
    weights = fit(examples, feature_count)
    error = cross_entropy(weights, _joined(held_out))
    tell(f"{len(examples.sizes)} positions, cross-entropy of those held out {error:.4f}")
    hundredths = np.rint(weights * 100).astype(int)
    kept = {int(feature): int(hundredths[feature]) for feature in np.flatnonzero(hundredths)}
    return msgspec.json.encode(kept) + b"\n"


def examples_of(positions: list[tuple[Array, Array]]) -> Examples:
    """Return positions, each given by the features and the chances of its actions, as one."""
    features, chances = zip(*positions, strict=True)
    return Examples(np.concatenate(features), np.concatenate(chances), np.array([len(each) for each in chances]))


def _joined(examples: list[Examples]) -> Examples:
    return Examples(*map(np.concatenate, zip(*examples, strict=True)))


def _guesses(weights: Array, examples: Examples) -> Array:
    """Return the logarithms of the chances that ``weights`` give."""
    logits = weights[examples.features].sum(axis=1)
    starts = np.cumsum(examples.sizes) - examples.sizes
    logits -= np.repeat(np.maximum.reduceat(logits, starts), examples.sizes)
    return np.asarray(logits - np.repeat(np.log(np.add.reduceat(np.exp(logits), starts)), examples.sizes))


def cross_entropy(weights: Array, examples: Examples) -> float:
    """Return the mean cross-entropy of a position."""
    return float(-(examples.chances * _guesses(weights, examples)).sum() / len(examples.sizes))


def fit(examples: Examples, feature_count: int) -> Array:
    """Return the weights whose sums of features give chances nearest to those of ``examples``.

    The method is Adam on all examples; weights decay a little, and a feature that none has weighs nothing.
    """
    weights, mean, square = np.zeros((3, feature_count))
    for turn in range(1, _ROUNDS + 1):
        left = np.exp(_guesses(weights, examples)) - examples.chances
        slope = _DECAY * weights
        for column in range(examples.features.shape[1]):
            slope += np.bincount(examples.features[:, column], left, minlength=feature_count)
        mean, square = 0.9 * mean + 0.1 * slope, 0.99 * square + 0.01 * slope**2
        step = mean / (1 - 0.9**turn) / (np.sqrt(square / (1 - 0.99**turn)) + 1e-8)
        weights = weights - _STEP * (1.0 if turn < _ROUNDS * 0.7 else 0.3) * step
    return weights
