"""Weights for ``master`` in Virus Wars, learnt from games of ``expert`` against itself.

Ratings say how likely it is that a search chooses an action. At each action of a turn, any of those still to be
played could have come first: each of them is as good an answer as the others. Values say how likely a win is.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Final, NamedTuple

import numpy as np

from tabuleiro.ids import Player
from tabuleiro.rules import registry
from tabuleiro.rules.games.virus_wars import VirusWars, VirusWarsState
from tabuleiro_server.arena.play import GameResult
from tabuleiro_server.bots.engine.base import is_same_turn
from tabuleiro_server.bots.engine.kernels import Array
from tabuleiro_server.bots.engine.virus_wars.board import (
    SET_WORDS,
    VirusWarsTables,
    board_of,
    find_reach,
    place_of,
    virus_wars_tables,
)
from tabuleiro_server.bots.engine.virus_wars.values import FEATURE_COUNT, RATING_COUNT, find_features, rate
from tools.train.games import HELD_OUT_EVERY, play_games, weights_file

NODES: Final = 4_000
"""The nodes a turn of the games."""
UNUSED_TURNS: Final = 4
"""Ratings do not learn from the last turns of a game: whoever has won or lost may play anything."""
_ROUNDS: Final = 30
_DAMPING: Final = 1e-4


class Choices(NamedTuple):
    """The legal actions of many positions, one position after the other.

    ``features`` has a row for each action, ``shares`` its part of the answer, and ``starts`` the row at which each
    position begins.
    """

    features: Array
    shares: Array
    starts: Array


def train(games: int, seed: int, jobs: int, tell: Callable[[str], None]) -> bytes:
    """Return a file of weights."""
    options = registry.read_options(VirusWars.name, [])
    results = play_games(VirusWars.name, options, games, seed, jobs, NODES)
    held_out = [result for result in results if result.pairing.number % HELD_OUT_EVERY == 0]
    learnt = [result for result in results if result.pairing.number % HELD_OUT_EVERY]
    choices = [choice for result in learnt for choice in _iter_choices(result)]
    ratings, values = fit(joined(choices)), fit_values(*positions_of(learnt))
    told = f"{len(results)} games, {len(choices)} choices"
    if held_out:
        likely = np.exp(
            -_surprise(joined([choice for each in held_out for choice in _iter_choices(each)]), ratings)
        )
        features, are_won = positions_of(held_out)
        is_right = (_sums(features, values) > 0) == (are_won > 0)
        told += (
            f"; of those held out, choices are given {likely:.1%} each, {is_right.mean():.1%} of results are told"
        )
    tell(told)
    return weights_file([*ratings, *values], 4)


def joined(choices: list[tuple[Array, Array]]) -> Choices:
    """Return the choices, each given by the features and the shares of its actions, as one."""
    sizes = [len(shares) for _, shares in choices]
    return Choices(
        np.concatenate([features for features, _ in choices]),
        np.concatenate([shares for _, shares in choices]),
        np.cumsum([0, *sizes[:-1]]),
    )


def _iter_choices(result: GameResult) -> Iterator[tuple[Array, Array]]:
    """Yield the features and the shares of the legal actions wherever there was a choice."""
    game = VirusWars.from_options(result.pairing.options)
    tables, state = virus_wars_tables(game), game.initial_state()
    texts = result.actions[: -UNUSED_TURNS * game.steps]
    actions = [state.string_to_action(text) for text in texts]
    for index, action in enumerate(actions):
        end, later = index, state
        while end < len(actions) and is_same_turn(state, later):
            later = later.child(actions[end])
            end += 1
        legal = state.legal_actions()
        shares = np.isin(legal, actions[index:end]).astype(float)
        if len(legal) > 1:
            yield features_of(state, tables), shares / shares.sum()
        state = state.child(action)


def positions_of(results: list[GameResult]) -> tuple[Array, Array]:
    """Return the features of all positions, a row for each, and 1 where the mover won, else 0."""
    features, movers, winners = list[Array](), list[Player](), list[Player]()
    for result in results:
        game = VirusWars.from_options(result.pairing.options)
        tables, state = virus_wars_tables(game), game.initial_state()
        first = len(features)
        for text in result.actions:
            features.append(np.zeros(FEATURE_COUNT))
            find_features(tables, board_of(state, tables), features[-1])
            movers.append(state.mover)
            state = state.child(state.string_to_action(text))
        assert state.outcome is not None
        assert state.outcome.winner is not None
        winners += [state.outcome.winner] * (len(features) - first)
    return np.array(features), (np.array(movers) == winners).astype(float)


def features_of(state: VirusWarsState, tables: VirusWarsTables) -> Array:
    """Return what the rating of each legal action is made of: a row for each, first of contamination."""
    board = board_of(state, tables)
    reach, asleep = np.zeros((2, SET_WORDS), dtype=np.uint64), np.zeros((2, SET_WORDS), dtype=np.uint64)
    for side in (0, 1):
        find_reach(tables, board, (state.mover + side) % 2, reach[side], asleep[side])
    # Every feature is a count from 0 to 8: as digits of one number, one call tells all of them.
    digits = np.tile(16.0 ** np.arange(RATING_COUNT), 2)
    legal = state.legal_actions()
    rows = np.zeros((len(legal), 2 * RATING_COUNT))
    for row, action in zip(rows, legal, strict=True):
        place = place_of(action, state.game.board.cols)
        number = int(rate(tables, board, reach[1], asleep[0], digits, place))
        first = RATING_COUNT * (state.viruses[1 - state.mover] >> action & 1)
        row[first : first + RATING_COUNT] = [number >> 4 * digit & 15 for digit in range(RATING_COUNT)]
    return rows


def _likelihoods(choices: Choices, weights: Array) -> Array:
    """Return the likelihood of each action among those of its position."""
    sizes = np.diff([*choices.starts, len(choices.shares)])
    ratings = choices.features @ weights
    grown = np.exp(ratings - np.repeat(np.maximum.reduceat(ratings, choices.starts), sizes))
    return np.asarray(grown / np.repeat(np.add.reduceat(grown, choices.starts), sizes))


def _surprise(choices: Choices, weights: Array) -> float:
    """Return the mean of minus the logarithms of the likelihoods of the answers."""
    return float(-(choices.shares @ np.log(_likelihoods(choices, weights) + 1e-12)) / len(choices.starts))


def fit(choices: Choices) -> Array:
    """Return the weights that make the answers likeliest, by Newton's method with damping."""
    features, count = choices.features, len(choices.starts)
    weights, damping = np.zeros(features.shape[1]), _DAMPING

    def cost(of: Array) -> float:
        return _surprise(choices, of) + _DAMPING * float(of @ of)

    least = cost(weights)
    for _ in range(_ROUNDS):
        likely = _likelihoods(choices, weights)
        means = np.add.reduceat(likely[:, None] * features, choices.starts)
        slope = features.T @ (likely - choices.shares) / count + 2 * _DAMPING * weights
        bend = ((features * likely[:, None]).T @ features - means.T @ means) / count
        step = np.linalg.solve(bend + (2 * _DAMPING + damping) * np.eye(len(weights)), -slope)
        after = cost(weights + step)
        if after < least:
            weights, least, damping = weights + step, after, damping / 4
        else:
            damping *= 8
    return np.asarray(weights)


def _sums(features: Array, weights: Array) -> Array:
    """Return the sum of each row's weighted features and the constant, the last of ``weights``."""
    return np.asarray(features @ weights[:-1] + weights[-1])


def fit_values(features: Array, are_won: Array) -> Array:
    """Return the weights of features, and a constant, that make the results likeliest, by Newton's method.

    The hyperbolic tangent of a sum is the value from -1 to 1.
    """
    rows = np.column_stack([features, np.ones(len(features))])
    weights = np.zeros(rows.shape[1])
    for _ in range(_ROUNDS):
        likely = (1 + np.tanh(rows @ weights)) / 2
        slope = 2 * rows.T @ (likely - are_won) / len(rows) + 2 * _DAMPING * weights
        bend = 4 * (rows * (likely * (1 - likely))[:, None]).T @ rows / len(rows)
        weights -= np.linalg.solve(bend + 2 * _DAMPING * np.eye(len(weights)), slope)
    return weights
