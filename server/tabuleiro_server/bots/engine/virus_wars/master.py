"""The search of the level ``master`` of Virus Wars: a Monte-Carlo tree over single actions, without playouts.

What was learnt from games leads it: ratings tell which actions are likely the best, and features of a position how
likely a win is. Actions of one turn commute: below an action, those rated higher that could have been played
instead sleep until the turn ends, and each set of actions is searched once.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from pathlib import Path
from typing import Final, NamedTuple

import numpy as np

from tabuleiro.rules import State
from tabuleiro.rules.games.virus_wars import VirusWars, VirusWarsState
from tabuleiro_server.bots.engine.kernels import Array, RandomState, Words, as_int, kernel, lean_kernel, lowest_bit
from tabuleiro_server.bots.engine.mcts import (
    UNPROVEN,
    Tree,
    Tuning,
    add_children,
    back_up_proof,
    result_of_proof,
)
from tabuleiro_server.bots.engine.virus_wars.board import (
    BOARD_WORDS,
    HASH,
    MOVER,
    NO_WORD,
    ONE,
    SET_WORDS,
    VirusWarsTables,
    board_of,
    copy_board,
    find_reach,
    legal_word,
    play,
    virus_wars_tables,
)
from tabuleiro_server.bots.engine.virus_wars.values import (
    FEATURE_COUNT,
    RATING_COUNT,
    Weights,
    find_features,
    rate,
)
from tabuleiro_server.bots.engine.weights import read_weights

PRIOR_WEIGHT: Final = 1.0
DOUBT: Final = 0.2
"""The most by which a child that was never searched is thought worse than its parent."""
FIRST_CHILDREN: Final = 5
"""The children that a node gets at first; three times as many follow when the last of them is next to search."""
NOISE: Final = 0.05
"""The greatest change of estimates by the seed: without it, all games would be the same."""

WEIGHTS_FILE: Final = Path(__file__).with_name("weights.json")
"""What was learnt from games, a list of numbers; ``make train GAME=virus-wars`` makes it.

First the weights of :data:`~tabuleiro_server.bots.engine.virus_wars.values.RATING_NAMES` for contamination, then
those for absorption, then those of :data:`~tabuleiro_server.bots.engine.virus_wars.values.FEATURE_NAMES`, and a
constant. The sum of a position's features and the constant is half the logarithm of the odds to win.
"""
RATINGS_END: Final = 2 * RATING_COUNT
WEIGHT_COUNT: Final = RATINGS_END + FEATURE_COUNT + 1

_TUNING: Final = Tuning(exploration=0.0, rave_weight=0.0, prior_visits=1.0, expand_at_visits=1)


class Room(NamedTuple):
    """Arrays that a search overwrites: a board, sleeping actions, actions with their ratings, a path of nodes."""

    board: Words
    sleeping: Words
    actions: Array
    ratings: Array
    path: Array


def new_room(tables: VirusWarsTables) -> Room:
    """Return room for searches of a game."""
    place_count = len(tables.actions)
    return Room(
        np.zeros(BOARD_WORDS, dtype=np.uint64),
        np.zeros(SET_WORDS, dtype=np.uint64),
        np.zeros(place_count, dtype=np.int16),
        np.zeros(place_count, dtype=np.float32),
        # Each cell is played at most twice: a virus, and its absorption.
        np.zeros(2 * place_count + 2, dtype=np.int32),
    )


@kernel
def estimate_chance(tables: VirusWarsTables, board: Words, weights: Weights, noise: np.uint64) -> float:
    """Return the estimated value of a position that is not over to its mover, from -1 to 1."""
    features = np.empty(FEATURE_COUNT, dtype=np.float64)
    find_features(tables, board, features)
    value = weights[RATINGS_END + FEATURE_COUNT]
    for index in range(FEATURE_COUNT):
        value += weights[RATINGS_END + index] * features[index]
    value += NOISE * (as_int((board[HASH] * noise) >> np.uint64(57)) - 64) / 64
    return math.tanh(value)


@lean_kernel
def put_in(cells: Words, place: int) -> None:
    """Add ``place`` to a set of cells."""
    cells[place >> 6] |= ONE << np.uint64(place & 63)


@kernel
def list_by_rating(tables: VirusWarsTables, room: Room, weights: Weights) -> int:
    """List the legal actions that do not sleep, and their ratings, the highest first; return their number."""
    board, actions, ratings = room.board, room.actions, room.ratings
    mover = as_int(board[MOVER])
    enemy_reach = np.empty(SET_WORDS, dtype=np.uint64)
    asleep = np.empty(SET_WORDS, dtype=np.uint64)
    unused = np.empty(SET_WORDS, dtype=np.uint64)
    find_reach(tables, board, 1 - mover, enemy_reach, unused)
    find_reach(tables, board, mover, unused, asleep)
    count = 0
    for word in range(tables.shape[0]):
        awake = legal_word(board, tables.full, word) & ~room.sleeping[word]
        while awake != NO_WORD:
            action = 64 * word + lowest_bit(awake)
            awake &= awake - ONE
            rating = rate(tables, board, enemy_reach, asleep, weights, action)
            place = count
            while place > 0 and ratings[place - 1] < rating:
                actions[place], ratings[place] = actions[place - 1], ratings[place - 1]
                place -= 1
            actions[place], ratings[place] = action, rating
            count += 1
    return count


@kernel
def is_stuck(tables: VirusWarsTables, room: Room) -> bool:
    """Return True if no legal action is awake."""
    awake = NO_WORD
    for word in range(tables.shape[0]):
        awake |= legal_word(room.board, tables.full, word) & ~room.sleeping[word]
    return bool(awake == NO_WORD)


@kernel
def leave_out_children(tree: Tree, node: int, room: Room, listed: int) -> int:
    """Drop the actions of the children of ``node`` from the list, and return the number of the others."""
    known = np.zeros(SET_WORDS, dtype=np.uint64)
    for child in range(tree.first_child[node], tree.first_child[node] + tree.child_count[node]):
        put_in(known, int(tree.action[child]))
    count = 0
    for place in range(listed):
        action = int(room.actions[place])
        if known[action >> 6] >> np.uint64(action & 63) & ONE == NO_WORD:
            room.actions[count], room.ratings[count] = action, room.ratings[place]
            count += 1
    return count


@kernel
def expand(tree: Tree, node: int, tables: VirusWarsTables, room: Room, weights: Weights, is_root: bool) -> int:
    """Give ``node`` its likeliest children, or more than it has; return how many, -1 if the tree is full.

    What was found below the children that it has stays. They come first; those that are added have falling priors.
    """
    actions, ratings = room.actions, room.ratings
    listed = list_by_rating(tables, room, weights)
    highest, total = ratings[0], 0.0
    for place in range(listed):
        ratings[place] = math.exp(ratings[place] - highest)
        total += ratings[place]
    had, old = int(tree.child_count[node]), int(tree.first_child[node])
    fresh = min(leave_out_children(tree, node, room, listed), max(FIRST_CHILDREN, 3 * had))
    if fresh == 0:
        return 0
    for place in range(fresh - 1, -1, -1):
        actions[had + place], ratings[had + place] = actions[place], ratings[place]
    mover = as_int(room.board[MOVER])
    # Only a root without children needs the room that is kept for roots.
    if not add_children(tree, node, mover, actions, had + fresh, _TUNING, is_root and had == 0):
        return -1
    first = int(tree.first_child[node])
    for place in range(had + fresh):
        tree.prior[first + place] = ratings[place] / total
    for place in range(had):
        copy_node(tree, old + place, first + place)
    return fresh


@kernel
def copy_node(tree: Tree, source: int, target: int) -> None:
    """Make the node ``target`` equal to ``source``, with the same children."""
    tree.first_child[target] = tree.first_child[source]
    tree.child_count[target] = tree.child_count[source]
    tree.action[target] = tree.action[source]
    tree.mover[target] = tree.mover[source]
    tree.proof[target] = tree.proof[source]
    tree.visits[target] = tree.visits[source]
    tree.total[target] = tree.total[source]
    tree.prior[target] = tree.prior[source]


@kernel
def select_likely(tree: Tree, node: int) -> int:
    """Select the child to search next: a proven win at once, else the one with the best upper bound.

    Children have falling priors: of those never searched, only the first can be the best. At least one child must
    not be lost.
    """
    first = tree.first_child[node]
    winning = tree.mover[node] + 1
    sign = 1.0 if winning == 1 else -1.0
    visits_here = max(tree.visits[node], 1)
    hope = PRIOR_WEIGHT * math.sqrt(visits_here + 1.0)
    searched = 0.0
    for child in range(first, first + tree.child_count[node]):
        if tree.visits[child] > 0:
            searched += tree.prior[child]
    unseen = sign * tree.total[node] / visits_here - DOUBT * math.sqrt(searched)
    best, best_score = int(first), -np.inf
    for child in range(first, first + tree.child_count[node]):
        if tree.proof[child] == winning:
            return child
        if tree.proof[child] != UNPROVEN:
            continue
        visits = tree.visits[child]
        mean = sign * tree.total[child] / visits if visits > 0 else unseen
        score = mean + hope * tree.prior[child] / (visits + 1.0)
        if score > best_score:
            best, best_score = child, score
        if visits == 0:
            break
    return best


@kernel
def descend(tree: Tree, root: int, tables: VirusWarsTables, room: Room, weights: Weights) -> int:
    """Follow the best bounds from ``root`` to a node never searched, or proven; return the length of the path.

    The board of the room is that of ``root``, and then that of the end. Nodes get children when they are searched
    again. If the tree is full, the path ends earlier.
    """
    board, sleeping, path = room.board, room.sleeping, room.path
    sleeping[:] = NO_WORD
    node, length = root, 1
    path[0] = root
    while tree.proof[node] == UNPROVEN and (node == root or tree.visits[node] > 0):
        if tree.child_count[node] == 0 and expand(tree, node, tables, room, weights, node == root) <= 0:
            break
        child = select_likely(tree, node)
        # The last child is never searched while there are others to add: no loss is proven without them.
        if child == tree.first_child[node] + tree.child_count[node] - 1 and tree.visits[child] == 0:
            added = expand(tree, node, tables, room, weights, node == root)
            if added < 0:
                break
            if added > 0:
                child = select_likely(tree, node)
        for earlier in range(tree.first_child[node], child):
            put_in(sleeping, int(tree.action[earlier]))
        mover = board[MOVER]
        play(tables, board, int(tree.action[child]))
        if board[MOVER] != mover:
            sleeping[:] = NO_WORD
        node = child
        path[length] = node
        length += 1
    return length


@kernel
def search_likely(
    tree: Tree,
    root: int,
    start: Words,
    tables: VirusWarsTables,
    room: Room,
    weights: Weights,
    rng: RandomState,
    visit_count: int,
) -> int:
    """Grow the tree below ``root``, whose board is ``start``, and return the number of visits.

    There are fewer than ``visit_count`` only when the root is proven.
    """
    copy_board(start, room.board)
    if tree.child_count[root] == 0:
        # Also if it is proven: with every action asleep it counts as lost, but a turn may have to go on there.
        room.sleeping[:] = NO_WORD
        expand(tree, root, tables, room, weights, True)
    noise = np.uint64(rng[0] | ONE)
    for done in range(visit_count):
        if tree.proof[root] != UNPROVEN:
            return done
        copy_board(start, room.board)
        length = descend(tree, root, tables, room, weights)
        node = room.path[length - 1]
        mover = as_int(room.board[MOVER])
        if tree.proof[node] == UNPROVEN and is_stuck(tables, room):
            tree.proof[node] = 2 - mover
            back_up_proof(tree, room.path, length)
        if tree.proof[node] != UNPROVEN:
            result = result_of_proof(tree.proof[node])
        else:
            result = (1 - 2 * mover) * estimate_chance(tables, room.board, weights, noise)
        for depth in range(length):
            tree.visits[room.path[depth]] += 1
            tree.total[room.path[depth]] += result
    return visit_count


class MasterVirusWarsKernels:
    """The :class:`~tabuleiro_server.bots.engine.mcts.GameKernels` of ``master`` with the options of ``game``."""

    def __init__(self, game: VirusWars, weights: Sequence[float] | None = None) -> None:
        """Take ``weights`` in the order of the file; those of the file if left out."""
        self._tables = virus_wars_tables(game)
        self._room = new_room(self._tables)
        self._weights = np.array(weights or read_weights(WEIGHTS_FILE))
        if len(self._weights) != WEIGHT_COUNT:
            # Kernels do not check indexes.
            raise ValueError(f"{len(self._weights)} weights of Virus Wars, expected {WEIGHT_COUNT}")

    def pack(self, state: State) -> Words:
        """Return the board of ``state``."""
        assert isinstance(state, VirusWarsState)
        return board_of(state, self._tables)

    def grow(self, tree: Tree, root: int, board: Words, rng: RandomState, playout_count: int) -> int:
        """Search below the node ``root``; see :func:`search_likely`."""
        return search_likely(tree, root, board, self._tables, self._room, self._weights, rng, playout_count)

    def action_of(self, number: int) -> int:
        """Return the action that plays on the place ``number``."""
        return int(self._tables.actions[number])

    def actions_left(self, state: State) -> int:
        """Return the actions that the mover still makes in this turn."""
        assert isinstance(state, VirusWarsState)
        return state.actions_left
