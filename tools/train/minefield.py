"""Weights for the priors of ``master`` in Minefield, fitted to what ``expert`` looks at in games against itself.

Each position of a game is searched; the shares of the visits of the actions are the chances to be learnt.
"""

from __future__ import annotations

import itertools
from collections.abc import Callable
from concurrent.futures import ProcessPoolExecutor
from functools import partial
from random import Random
from typing import Final, NamedTuple

import msgspec
import numpy as np

from tabuleiro.rules import registry
from tabuleiro.rules.games.minefield import Minefield, MinefieldState
from tabuleiro_server.bots.engine.kernels import Array
from tabuleiro_server.bots.engine.mcts import MctsSearcher
from tabuleiro_server.bots.engine.minefield.board import (
    MinefieldTables,
    list_minefield,
    minefield_tables,
    pack_minefield,
)
from tabuleiro_server.bots.engine.minefield.patterns import (
    FEATURE_COUNT,
    Look,
    find_features,
    look_around,
    new_look,
)
from tabuleiro_server.bots.engine.minefield.search import MinefieldKernels
from tools.train.games import HELD_OUT_EVERY

NODES: Final = 5_000
"""The playouts for a position."""
CANDIDATES: Final = 60
RANDOM_FIRST: Final = 3
"""The most random actions at the start of a game."""
VARIED_PLIES: Final = 16
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


def train(games: int, seed: int, jobs: int, tell: Callable[[str], None]) -> bytes:
    """Return a file of weights."""
    learnt, held_out = list[Examples](), list[Examples]()
    with ProcessPoolExecutor(jobs) as pool:
        for number, examples in enumerate(pool.map(partial(play_game, seed), range(games)), 1):
            (held_out if number % HELD_OUT_EVERY == 0 else learnt).append(examples)
            if number % _TELL_EVERY == 0:
                tell(f"{number} of {games} games")
    examples = _joined(learnt)
    weights = fit(examples)
    error = cross_entropy(weights, _joined(held_out))
    tell(f"{len(examples.sizes)} positions, cross-entropy of those held out {error:.4f}")
    hundredths = np.rint(weights * 100).astype(int)
    kept = {int(feature): int(hundredths[feature]) for feature in np.flatnonzero(hundredths)}
    return msgspec.json.encode(kept) + b"\n"


def play_game(seed: int, number: int) -> Examples:
    """Play a game and return its positions, as far as none is decided."""
    rng = Random(f"{seed} game {number}")
    game = registry.load(Minefield.name)
    assert isinstance(game, Minefield)
    searcher = MctsSearcher(MinefieldKernels(game))
    tables, look = minefield_tables(game), new_look(game.size)
    state = game.initial_state()
    for _ in range(rng.randrange(RANDOM_FIRST + 1)):
        state = state.child(rng.choice(state.legal_actions()))
    found = list[tuple[Array, Array]]()
    for ply in itertools.count():
        *_, analysis = searcher.analyse(
            state, candidate_count=CANDIDATES, max_nodes=NODES, deadline_s=None, seed=rng.getrandbits(32)
        )
        if abs(analysis.candidates[0].value) >= DECIDED:
            break
        visits = {each.actions[0]: each.nodes or 0 for each in analysis.candidates}
        found.append(_example(tables, look, state, visits))
        if ply < VARIED_PLIES and rng.random() < VARIED_SHARE:
            action = rng.choices(list(visits), list(visits.values()))[0]
        else:
            action = analysis.candidates[0].actions[0]
        state = state.child(action)
    features, chances = zip(*found, strict=True)
    return Examples(np.concatenate(features), np.concatenate(chances), np.array([len(each) for each in chances]))


def _example(
    tables: MinefieldTables, look: Look, state: MinefieldState, visits: dict[int, int]
) -> tuple[Array, Array]:
    """Return the features of all legal actions of ``state``, and their shares of ``visits``."""
    board, cells = pack_minefield(state, tables), np.empty(len(tables.cell_of), dtype=np.int16)
    count = list_minefield(board, tables, cells)
    look_around(board, tables, look)
    last = -1 if state.last_action is None else int(tables.cell_of[state.last_action])
    find_features(board, tables, look, last, cells, count)
    shares = np.zeros(board.size)
    for action, nodes in visits.items():
        shares[tables.cell_of[action]] = nodes
    chances = shares[cells[:count]]
    return look.features[:count].copy(), chances / chances.sum()


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


def fit(examples: Examples) -> Array:
    """Return the weights whose sums of features give chances nearest to those of ``examples``.

    The method is Adam on all examples; weights decay a little, and a feature that none has weighs nothing.
    """
    weights, mean, square = np.zeros((3, FEATURE_COUNT))
    for turn in range(1, _ROUNDS + 1):
        left = np.exp(_guesses(weights, examples)) - examples.chances
        slope = _DECAY * weights
        for column in range(examples.features.shape[1]):
            slope += np.bincount(examples.features[:, column], left, minlength=FEATURE_COUNT)
        mean, square = 0.9 * mean + 0.1 * slope, 0.99 * square + 0.01 * slope**2
        step = mean / (1 - 0.9**turn) / (np.sqrt(square / (1 - 0.99**turn)) + 1e-8)
        weights = weights - _STEP * (1.0 if turn < _ROUNDS * 0.7 else 0.3) * step
    return weights
