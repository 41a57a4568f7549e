"""The search of Iris: playouts that keep bridges, and a Monte-Carlo tree over single stones.

A bridge is two own stones with two empty cells between them that are next to both: when one of those is taken, the
other joins them. The two cells are neighbours, so that one turn cannot take both, and playouts answer at once.
"""

from __future__ import annotations

from typing import Final

import numpy as np

from tabuleiro.rules import State
from tabuleiro.rules.games.iris import Iris, IrisState
from tabuleiro_server.bots.engine.iris.board import (
    FIRST,
    HEADER,
    IS_OVER,
    IS_STARTED,
    LAST_FIRST,
    LAST_SECOND,
    MOVER,
    NEUTRAL_COUNT,
    PASSES,
    RIM_COUNT,
    RIM_START,
    Board,
    IrisTables,
    has_second,
    iris_tables,
    is_beside,
    list_iris,
    pack_iris,
    play_iris,
    put,
)
from tabuleiro_server.bots.engine.iris.scores import EMPTY_SET, compare_scores, compare_sets, row_sets
from tabuleiro_server.bots.engine.kernels import Array, RandomState, as_index, kernel, lean_kernel, random_below
from tabuleiro_server.bots.engine.mcts import (
    DRAWN,
    UNPROVEN,
    Tree,
    Tuning,
    add_children,
    back_up,
    back_up_proof,
    result_of_proof,
    select_child,
)

TUNING: Final = Tuning(exploration=0.03, rave_weight=0.002, prior_visits=4.0, expand_at_visits=8)


_PLACES: Final = (4, 6, 5, 2, 0, 1)
"""The bit of each of the six cells around a cell, clockwise, in what :func:`bits_around` returns."""


def _reply_table() -> Array:
    """Return the step to the cell that rejoins two stones, by :func:`bits_around` of stones and empty cells.

    The step is from 1 to 6, clockwise from the right; 0 where nothing is cut.
    """
    sets = np.arange(1 << 14)
    stones, empty = ([sets >> shift + place & 1 for place in _PLACES] for shift in (0, 7))
    steps = np.zeros(1 << 14, dtype=np.int8)
    for step in range(5, -1, -1):
        steps[(empty[step] & stones[step - 1] & stones[(step + 1) % 6]) == 1] = step + 1
    return steps


_REPLIES: Final = _reply_table()


@lean_kernel
def bits_around(rows: Array, row: int, bit: int) -> int:
    """Return what a set has around a cell, seven bits: two above it, three with the cell itself, two below."""
    above, beside = rows[as_index(row - 1)] >> (bit - 1) & 3, rows[as_index(row)] >> (bit - 1) & 7
    return int(above | beside << 2 | (rows[as_index(row + 1)] >> bit & 3) << 5)


@lean_kernel
def bridge_reply(tables: IrisTables, sets: Array, stone: int, player: int) -> int:
    """Return the empty cell that rejoins two stones of ``player`` after ``stone`` cut between them, else -1."""
    if stone < 0:
        return -1
    row, bit = int(tables.rows[as_index(stone)]), int(tables.bits[as_index(stone)])
    around = bits_around(sets[as_index(player)], row, bit) | bits_around(sets[EMPTY_SET], row, bit) << 7
    step = _REPLIES[as_index(around)]
    return int(tables.around[as_index(stone), as_index(step)]) if step > 0 else -1


@lean_kernel
def put_both(board: Board, tables: IrisTables, sets: Array, cell: int, player: int) -> None:
    """Put a stone on an empty cell of the board and of the bit sets."""
    put(board, tables, cell, player)
    row, bit = tables.rows[as_index(cell)], 1 << int(tables.bits[as_index(cell)])
    sets[as_index(player), as_index(row)] |= bit
    sets[EMPTY_SET, as_index(row)] ^= bit


@kernel
def random_first(board: Board, tables: IrisTables, rng: RandomState) -> int:
    """Return a random first stone of a turn."""
    neutral = int(board[NEUTRAL_COUNT])
    place = random_below(rng, neutral + board[RIM_COUNT] if board[IS_STARTED] else neutral)
    if place >= neutral:
        place += board[RIM_START] - neutral
    return int(board[HEADER + 1 + len(tables.is_rim) + place])


@kernel
def random_second(board: Board, tables: IrisTables, rng: RandomState, first: int) -> int:
    """Return a random second stone after one on the neutral cell ``first``; there must be a cell for it."""
    lists = HEADER + 1 + len(tables.is_rim)
    neutral = int(board[NEUTRAL_COUNT])
    place = random_below(rng, neutral)
    cell = int(board[lists + place])
    while is_beside(tables, first, cell):
        place = place + 1 if place + 1 < neutral else 0
        cell = int(board[lists + place])
    return cell


@kernel
def play_out_iris(board: Board, tables: IrisTables, rng: RandomState) -> int:
    """Play turns without passes until the board is full: rejoin cut bridges, and play at random otherwise.

    Return 1 if black wins, -1 if white does.
    """
    count = len(tables.is_rim)
    last, last_second = int(board[LAST_FIRST]), int(board[LAST_SECOND])
    first, player = int(board[FIRST]), int(board[MOVER])
    sets = row_sets(board, tables)
    while board[NEUTRAL_COUNT] + board[RIM_COUNT] > 0:
        reply = bridge_reply(tables, sets, last, player)
        other_reply = bridge_reply(tables, sets, last_second, player)
        if first < 0:
            if reply < 0:
                reply, other_reply = other_reply, -1
            first = reply if reply >= 0 else random_first(board, tables, rng)
            put_both(board, tables, sets, first, player)
            reply = other_reply
        elif reply < 0 or tables.is_rim[reply] or is_beside(tables, first, reply):
            reply = other_reply
        second = -1
        if tables.is_rim[first]:
            second = count - 1 - first
        elif board[IS_STARTED] and has_second(board, tables, first):
            second = reply
            if (
                second < 0
                or board[HEADER + second] >= 0
                or tables.is_rim[second]
                or is_beside(tables, first, second)
            ):
                second = random_second(board, tables, rng, first)
        if second >= 0:
            put_both(board, tables, sets, second, player)
        board[IS_STARTED] = 1
        last, last_second = first, second
        first, player = -1, 1 - player
    return compare_sets(sets[0], sets[1], tables.rim_rows)


@kernel
def proof_of(margin: int) -> int:
    """Return the proof of an end at which :func:`compare_scores` gives ``margin``."""
    return DRAWN if margin == 0 else 1 if margin > 0 else 2


@kernel
def prove_pass(tree: Tree, node: int, proof: int) -> None:
    """Prove the second pass in succession, the last child of ``node``, and the node itself if that wins."""
    last = tree.first_child[node] + tree.child_count[node] - 1
    tree.proof[last] = proof
    if proof == tree.mover[node] + 1:
        tree.proof[node] = proof


@kernel
def search_iris(
    tree: Tree, root: int, start: Board, tables: IrisTables, rng: RandomState, playout_count: int, tuning: Tuning
) -> int:
    """Grow the tree below ``root``, whose board is ``start``, and return the number of playouts.

    There are fewer than ``playout_count`` only when the root is proven.
    """
    count = len(tables.is_rim)
    board = np.empty_like(start)
    actions = np.empty(count + 1, dtype=np.int16)
    path = np.empty(2 * count + 4, dtype=np.int32)
    for done in range(playout_count):
        if tree.proof[root] != UNPROVEN:
            return done
        board[:] = start
        node, length = root, 1
        path[0] = root
        while tree.child_count[node] > 0 and tree.proof[node] == UNPROVEN:
            node = select_child(tree, node, tuning)
            play_iris(board, tables, tree.action[node])
            path[length] = node
            length += 1
        if tree.proof[node] == UNPROVEN:
            if board[IS_OVER]:
                tree.proof[node] = proof_of(compare_scores(board, tables))
            elif tree.visits[node] >= tuning.expand_at_visits or node == root:
                found = list_iris(board, tables, actions)
                is_added = add_children(tree, node, board[MOVER], actions, found, tuning, node == root)
                if is_added and board[PASSES] > 0:
                    prove_pass(tree, node, proof_of(compare_scores(board, tables)))
            if tree.proof[node] != UNPROVEN:
                back_up_proof(tree, path, length)
        if tree.proof[node] != UNPROVEN:
            result = result_of_proof(tree.proof[node])
        else:
            result = float(play_out_iris(board, tables, rng))
        back_up(tree, path, length, result, board[HEADER : HEADER + count + 1])
    return playout_count


class IrisKernels:
    """The :class:`~tabuleiro_server.bots.engine.mcts.GameKernels` of Iris with the options of ``game``."""

    def __init__(self, game: Iris, tuning: Tuning = TUNING) -> None:
        self._tuning = tuning
        self._tables = iris_tables(game)

    def pack(self, state: State) -> Board:
        """Return the board of ``state``."""
        assert isinstance(state, IrisState)
        return pack_iris(state)

    def grow(self, tree: Tree, root: int, board: Array, rng: RandomState, playout_count: int) -> int:
        """Search below the node ``root``; see :func:`search_iris`."""
        return search_iris(tree, root, board, self._tables, rng, playout_count, self._tuning)

    def action_of(self, number: int) -> int:
        """Return the action of the rules: the same number."""
        return number

    def actions_left(self, state: State) -> int:
        """Return 2 at the start of any turn but the first, else 1."""
        assert isinstance(state, IrisState)
        return 2 if state.first is None and state.stones[0] else 1
