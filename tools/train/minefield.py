"""Weights for the priors of ``master`` in Minefield; see :mod:`tools.train.priors`."""

from __future__ import annotations

import itertools
from collections.abc import Callable
from random import Random
from typing import Final

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
from tools.train.priors import DECIDED, RANDOM_FIRST, VARIED_SHARE, Examples, examples_of, train_priors

NODES: Final = 5_000
"""The playouts for a position."""
CANDIDATES: Final = 60
VARIED_PLIES: Final = 16


def train(games: int, seed: int, jobs: int, tell: Callable[[str], None]) -> bytes:
    """Return a file of weights."""
    return train_priors(play_game, FEATURE_COUNT, games, seed, jobs, tell)


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
    return examples_of(found)


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
