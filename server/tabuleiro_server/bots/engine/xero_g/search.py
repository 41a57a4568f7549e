"""The search of Xero-G: alpha-beta over the most promising actions in stages, and rows for the setup.

Except at the last ply, all legal actions are rated by an estimate of the next position, and a *width* limits the
number of those searched further. A position counts as lost only after every action was tried: proven results are
proven. A position that occurs for the third time, with the positions played, is a draw in the search as in the
rules.
"""

from __future__ import annotations

import itertools
import random
from collections.abc import Iterator
from typing import Final, NamedTuple, cast

import numpy as np

from tabuleiro.ids import Player, opponent
from tabuleiro.rules import State
from tabuleiro.rules.analysis import Analysis, Candidate
from tabuleiro.rules.board import bit_indexes
from tabuleiro.rules.games.xero_g import XeroG, XeroGState
from tabuleiro.rules.games.xero_g.actions import DROP_COUNT, FIRST_MOVE, TARGET_COUNT, placement_number
from tabuleiro.rules.games.xero_g.moves import BASE
from tabuleiro_server.bots.engine.alpha_beta import (
    ALLOWED,
    ESTIMATE_LIMIT,
    INFINITY,
    IS_OVER,
    NO_ENTRY,
    NODES,
    PROVEN,
    WIN,
    Effort,
    StagedRoot,
    Transpositions,
    TurnSizes,
    ValuedLine,
    bound_of,
    bring_best_forward,
    find_entry,
    iter_analyses,
    keep_entry,
    keep_line,
    limited_effort,
    new_transpositions,
    spend_node,
    unit_value,
    unlimited_effort,
    usable_value,
)
from tabuleiro_server.bots.engine.base import SearchResult, after, check_task
from tabuleiro_server.bots.engine.kernels import Array, kernel
from tabuleiro_server.bots.engine.xero_g.board import (
    HASH,
    MAX_MOVES,
    MOVER,
    POSITION_SIZE,
    WINNER,
    hash_of,
    list_moves,
    play_move,
    position_of,
)
from tabuleiro_server.bots.engine.xero_g.targets import new_room
from tabuleiro_server.bots.engine.xero_g.values import FEATURE_COUNT, estimate

MAX_PLIES: Final = 24
_REPETITIONS_BEFORE: Final = 2
"""The occurrences before the one that is a draw."""
_DESTINATION_COUNT: Final = TARGET_COUNT * DROP_COUNT


ALL_ACTIONS: Final = 4096
"""The width for proofs: no action is left out, and none is rated by an estimate."""
_KILLER_RATING: Final = 1e6
_FIRST_RATING: Final = 1e9


class Memory(NamedTuple):
    """The working memory of a search, a row for each ply: positions, moves and ratings, lines.

    ``killers`` holds for each ply the last two moves that cut the search there; ``path`` the hashes of all
    positions played and searched; the one number of ``played_count`` counts those played before the root.
    ``history`` rates destinations by mover by the number of their cuts. ``width`` is the number of actions tried,
    twice as many at the root.
    """

    positions: Array
    moves: Array
    ratings: Array
    lines: Array
    killers: Array
    path: Array
    played_count: Array
    history: Array
    width: Array
    weights: Array
    features: Array
    room: Array
    noise: Array


def new_memory(played: list[int], weights: Array, seed: int) -> Memory:
    """Return memory for a search after the positions whose hashes are ``played``."""
    return Memory(
        positions=np.zeros((MAX_PLIES, POSITION_SIZE), dtype=np.int64),
        moves=np.zeros((MAX_PLIES, MAX_MOVES), dtype=np.int32),
        ratings=np.zeros((MAX_PLIES, MAX_MOVES), dtype=np.float32),
        lines=np.zeros((MAX_PLIES, MAX_PLIES + 2), dtype=np.int32),
        killers=np.zeros((MAX_PLIES, 2), dtype=np.int32),
        path=np.array([*played, *[0] * MAX_PLIES], dtype=np.int64),
        played_count=np.array([len(played)], dtype=np.int64),
        history=np.zeros((2, _DESTINATION_COUNT), dtype=np.float32),
        width=np.zeros(1, dtype=np.int64),
        weights=weights,
        features=np.zeros(FEATURE_COUNT),
        room=new_room(),
        noise=np.random.default_rng(seed).integers(0, 2**62, size=1, dtype=np.int64) * 2 + 1,
    )


@kernel
def _is_third_time(memory: Memory, ply: int) -> bool:
    """Return True if the position of ``ply`` occurred twice before, in the search or in the game."""
    last = memory.played_count[0] + ply
    count = 0
    for index in range(last - 2, -1, -2):
        if memory.path[index] == memory.path[last]:
            count += 1
    return count >= _REPETITIONS_BEFORE


@kernel
def _estimate_at(memory: Memory, ply: int) -> int:
    """Return the estimated value of the position of ``ply``; forced results count from the root.

    The seed changes estimates by up to 32: without it, all games would be the same.
    """
    value = estimate(memory.positions[ply], memory.room, memory.weights, memory.features)
    if value >= PROVEN:
        return value - ply
    if value <= -PROVEN:
        return value + ply
    return value + int((memory.positions[ply, HASH] * memory.noise[0]) >> 58)


@kernel
def _rate_moves(memory: Memory, ply: int, count: int, is_worth_time: bool, first: int) -> None:
    """Rate the moves of ``ply``: by an estimate of the next position if that is worth the time, and by history."""
    mover = memory.positions[ply, MOVER]
    for index in range(count):
        move = memory.moves[ply, index]
        rating = memory.history[mover, (move - FIRST_MOVE) % _DESTINATION_COUNT]
        if is_worth_time:
            memory.positions[ply + 1, :] = memory.positions[ply]
            play_move(memory.positions[ply + 1], move)
            rating -= _estimate_at(memory, ply + 1)
        elif move == memory.killers[ply, 0] or move == memory.killers[ply, 1]:
            rating += _KILLER_RATING
        memory.ratings[ply, index] = rating if move != first else _FIRST_RATING


@kernel
def _entering_move(memory: Memory, ply: int, count: int) -> int:
    """Return a move into the base among the ``count`` moves of ``ply``, 0 if there is none."""
    for index in range(count):
        move = memory.moves[ply, index]
        if (move - FIRST_MOVE) // DROP_COUNT % TARGET_COUNT == BASE:
            return int(move)
    return 0


@kernel
def _note_cut(memory: Memory, ply: int, depth: int, move: int) -> None:
    """Remember that ``move`` cut the search at ``ply``."""
    mover = memory.positions[ply, MOVER]
    memory.history[mover, (move - FIRST_MOVE) % _DESTINATION_COUNT] += depth * depth
    if memory.killers[ply, 0] != move:
        memory.killers[ply, 1] = memory.killers[ply, 0]
        memory.killers[ply, 0] = move


# Longer than other functions: kernels that call each other in a circle would need types written by hand.
@kernel
def search(
    memory: Memory, table: Transpositions, effort: Effort, ply: int, depth: int, alpha: int, beta: int
) -> int:
    """Return the value of the position of ``ply``, ``depth`` actions deep, if between ``alpha`` and ``beta``.

    Outside of them it is a bound on that side. Once the effort is over, the value can be used at the root alone:
    there it is that of the line, the best of those searched.
    """
    memory.lines[ply, 0] = 0
    if spend_node(effort):
        return 0
    position = memory.positions[ply]
    memory.path[memory.played_count[0] + ply] = position[HASH]
    if ply > 0 and _is_third_time(memory, ply):
        return 0
    if depth == 0:
        return _estimate_at(memory, ply)
    width = memory.width[0] if ply > 0 else 2 * memory.width[0]
    # Values found with another width cannot be used.
    label = depth * 2 * ALL_ACTIONS + memory.width[0]
    key = np.uint64(position[HASH])
    entry = find_entry(table, key)
    first = 0
    if entry != NO_ENTRY:
        first = table.entries[entry, 3]
        known = usable_value(table, entry, label, ply, alpha, beta)
        if known != INFINITY and ply > 0:
            return known
    count = list_moves(position, memory.room, memory.moves[ply])
    memory.lines[ply + 1, 0] = 0
    entering = _entering_move(memory, ply, count)
    if entering:
        keep_line(memory.lines, ply, entering)
        return WIN - 1 - ply
    if count == 0:
        return ply - WIN
    is_proof = memory.width[0] == ALL_ACTIONS
    if is_proof and depth == 1:
        # No win by entering, and any other last action proves nothing.
        return 0
    is_worth_time = depth > 1 and not is_proof
    _rate_moves(memory, ply, count, is_worth_time, first)
    if is_worth_time:
        effort[NODES] += count
    best, best_move, lowest = -INFINITY, 0, alpha
    for index in range(count):
        if depth > 1 and index >= width and best > -PROVEN:
            break
        bring_best_forward(memory.moves[ply], memory.ratings[ply], index, count)
        move = memory.moves[ply, index]
        memory.positions[ply + 1, :] = position
        play_move(memory.positions[ply + 1], move)
        # After a good move, a null window tests if the others are better; those that are get a full window.
        limit = beta if index == 0 or depth == 1 else lowest + 1
        value = -search(memory, table, effort, ply + 1, depth - 1, -limit, -lowest)
        if limit <= value < beta:
            value = -search(memory, table, effort, ply + 1, depth - 1, -beta, 1 - value)
        if effort[IS_OVER]:
            return best if ply == 0 else 0
        if value > best:
            best, best_move = value, move
            if value > lowest:
                lowest = value
                keep_line(memory.lines, ply, move)
            if value >= beta:
                _note_cut(memory, ply, depth, move)
                break
    keep_entry(table, key, best, bound_of(best, alpha, beta), label, ply, best_move)
    return best


WEIGHTS: Final = (80.0, 65.0, 5.0, 23.0, -200.0, 40.0, -70.0, -5.5, -22.0, 250.0, -50.0, 50.0, -450.0)
"""The weights of :data:`~tabuleiro_server.bots.engine.xero_g.values.FEATURE_NAMES`."""

STAGES: Final = (
    (1, 12),
    (2, 24),
    (3, ALL_ACTIONS),
    (3, 12),
    (3, 24),
    (4, 12),
    (4, 24),
    (5, 12),
    (5, 24),
    (6, 16),
    (5, ALL_ACTIONS),
    (7, 24),
    (7, ALL_ACTIONS),
)
"""The depth of each stage in actions, and the actions tried at every ply but the last.

Stages that try all actions only look for a forced win.
"""
REPLY_COUNT: Final = 8
"""The rows of the opponent against which a row is tried in the setup."""
ROW_NODES: Final = 2_000
"""The fewest nodes with which a row is searched one action deep, and not only estimated."""


def between_parities(lines: list[ValuedLine], best_by_parity: dict[int, int]) -> list[ValuedLine]:
    """Return lines, best first, with values moved to the mean of the best ones of odd and of even depths.

    The player who moves last in a line looks better than they are. A forced win stays as it is.
    """
    estimates = [value for value in best_by_parity.values() if abs(value) < PROVEN]
    if lines[0].is_proven or not estimates:
        return lines
    swing = sum(estimates) // len(estimates) - lines[0].value
    return [each.moved(swing) for each in lines]


class XeroGRoot:
    """A :class:`~tabuleiro_server.bots.engine.alpha_beta.StagedRoot` of Xero-G after the setup.

    ``memory`` holds the position; ``stages`` are depths and widths.
    """

    sizes = TurnSizes(1, 1, 1)

    def __init__(self, memory: Memory, stages: tuple[tuple[int, int], ...]) -> None:
        self._memory = memory
        self._stages = stages
        self._table = new_transpositions()
        self._depth = 0
        self._lines: list[ValuedLine] = []
        """All actions, best first by what is known of them."""
        self._best_by_parity: dict[int, int] = {}
        """The best values of the last stage of an odd number of turns and of the last one of an even number."""

    def depths(self) -> Iterator[int]:
        """Yield the number of turns that each stage looks ahead."""
        for depth, width in self._stages:
            self._depth = depth
            self._memory.width[0] = width
            yield depth

    def candidates(self, count: int, effort: Effort) -> list[ValuedLine]:
        """Return the best ``count`` actions with their lines.

        Every action of the root is searched, the further the better it was in the stage before.
        """
        if not self._lines:
            self._lines = [ValuedLine((move,), 0) for move in self._legal_moves()]
        if self._memory.width[0] == ALL_ACTIONS:
            self._look_for_win(effort)
        else:
            self._search_all(count, effort)
            self._best_by_parity[self._depth % 2] = self._lines[0].value
        return between_parities(self._lines[:count], self._best_by_parity)

    def _legal_moves(self) -> list[int]:
        """Return the legal moves; of those that lead to the same position, only one."""
        memory = self._memory
        found = list_moves(memory.positions[0], memory.room, memory.moves[0])
        by_position: dict[int, int] = {}
        for move in map(int, memory.moves[0, :found]):
            self._play(move)
            by_position.setdefault(int(memory.positions[1, HASH]), move)
        return list(by_position.values())

    def _play(self, move: int) -> None:
        """Make the position after ``move`` that of ply 1."""
        self._memory.positions[1, :] = self._memory.positions[0]
        # Of the width that kernels hand to each other: otherwise numba compiles another version of this one.
        play_move(self._memory.positions[1], cast(int, np.int32(move)))

    def _look_for_win(self, effort: Effort) -> None:
        value = search(self._memory, self._table, effort, 0, self._depth, PROVEN - 1, PROVEN)
        if value >= PROVEN and not effort[IS_OVER]:
            lines = self._memory.lines
            line = tuple(int(move) for move in lines[0, 1 : lines[0, 0] + 1])
            others = [each for each in self._lines if each.line[0] != line[0]]
            self._lines = [ValuedLine(line, int(value)), *others]

    def _search_all(self, count: int, effort: Effort) -> None:
        """Search the most promising actions, and all of them while those lose; only the best need exact values."""
        memory, searched = self._memory, list[ValuedLine]()
        memory.path[memory.played_count[0]] = memory.positions[0, HASH]
        width = 2 * int(memory.width[0]) if self._depth > 1 else len(self._lines)
        for place, known in enumerate(self._lines):
            best = sorted((each.value for each in searched), reverse=True)[:count]
            if place >= width and best[0] > -PROVEN:
                break
            alpha = best[-1] if len(best) == count else -INFINITY
            searched.append(self._value_of(known.line[0], alpha, effort))
            if effort[IS_OVER]:
                return
        searched.sort(key=lambda each: -each.value)
        self._lines = searched + self._lines[len(searched) :]

    def _value_of(self, move: int, alpha: int, effort: Effort) -> ValuedLine:
        memory = self._memory
        self._play(move)
        if memory.positions[1, WINNER] >= 0:
            return ValuedLine((move,), WIN - 1)
        value = -search(memory, self._table, effort, 1, self._depth - 1, -INFINITY, -alpha)
        line = memory.lines[1, 1 : memory.lines[1, 0] + 1]
        return ValuedLine((move, *map(int, line)), int(value))


class XeroGSearcher:
    """A :class:`~tabuleiro_server.bots.engine.base.Searcher` for Xero-G. A node is a position."""

    cores = 1

    def __init__(self, game: XeroG) -> None:
        self._weights = np.array(WEIGHTS)

    def choose_turn(
        self, state: State, *, max_nodes: int | None, deadline_s: float | None, seed: int
    ) -> SearchResult:
        """Choose the actions that complete the turn; see :class:`~tabuleiro_server.bots.engine.base.Searcher`."""
        check_task(state, max_nodes, deadline_s)
        assert isinstance(state, XeroGState)
        with limited_effort(max_nodes, deadline_s) as limits:
            if state.is_setup:
                return self._choose_row(state, limits, seed)
            return self._choose_move(state, limits, seed)

    def analyse(
        self, state: State, *, candidate_count: int, max_nodes: int | None, deadline_s: float | None, seed: int
    ) -> Iterator[Analysis]:
        """Yield the best actions, or one row; see :class:`~tabuleiro_server.bots.engine.base.Searcher`."""
        check_task(state, max_nodes, deadline_s)
        assert isinstance(state, XeroGState)
        if state.is_setup:
            row = self.choose_turn(state, max_nodes=max_nodes, deadline_s=deadline_s, seed=seed)
            # Without time for a single row there is no estimate.
            value = row.value if abs(row.value) < 1 else 0.0
            return iter((Analysis((Candidate(row.actions, row.actions, value),), row.nodes),))
        return iter_analyses(self._root(state, seed), candidate_count, max_nodes, deadline_s)

    def _root(self, state: XeroGState, seed: int) -> StagedRoot:
        memory = new_memory(hashes_played(state), self._weights, seed)
        memory.positions[0] = position_of(state)
        return XeroGRoot(memory, STAGES)

    def _choose_move(self, state: XeroGState, limits: Effort, seed: int) -> SearchResult:
        memory, table = new_memory(hashes_played(state), self._weights, seed), new_transpositions()
        memory.positions[0] = position_of(state)
        # The first stage is short and always runs to its end: it gives a legal action.
        effort = unlimited_effort()
        for depth, width in STAGES:
            memory.width[0] = width
            alpha, beta = (PROVEN - 1, PROVEN) if width == ALL_ACTIONS else (-INFINITY, INFINITY)
            value = search(memory, table, effort, 0, depth, alpha, beta)
            line = tuple(int(move) for move in memory.lines[0, 1 : memory.lines[0, 0] + 1])
            # A search that was cut short still tried the best action so far first; but if that loses, the actions
            # not yet tried may not.
            if line and (value > -PROVEN or not effort[IS_OVER]):
                best_line, best_value = line, value
            if effort[IS_OVER] or abs(best_value) >= PROVEN:
                break
            limits[NODES], effort = effort[NODES], limits
        is_proven = abs(best_value) >= PROVEN
        return SearchResult(best_line[:1], unit_value(best_value), is_proven, int(effort[NODES]), (best_line,))

    def _choose_row(self, state: XeroGState, limits: Effort, seed: int) -> SearchResult:
        """Choose the row with the best value against the worst of some replies."""
        rng = random.Random(seed)
        rows = list(_iter_rows(state))
        rng.shuffle(rows)
        best_value, best_row = -INFINITY, rows[0]
        for row in rows:
            placed = after(state, row)
            replies = list(_iter_rows(placed)) if placed.is_setup else []
            starts = [after(placed, reply) for reply in rng.sample(replies, REPLY_COUNT)] if replies else [placed]
            value = min(self._value_of(start, state.mover, limits, seed) for start in starts)
            if limits[IS_OVER]:
                break
            if value > best_value:
                best_value, best_row = value, row
        return SearchResult(best_row, unit_value(best_value), False, int(limits[NODES]), (best_row,))

    def _value_of(self, start: XeroGState, player: Player, limits: Effort, seed: int) -> int:
        """Return the value of the end of a setup for ``player``, one action deep if there are enough nodes."""
        value = self._search_row(start, 1 if limits[ALLOWED] >= ROW_NODES else 0, limits, seed)
        # A win here proves nothing about a row: the reply was one of a sample.
        value = min(max(value, -ESTIMATE_LIMIT), ESTIMATE_LIMIT)
        return value if start.mover == player else -value

    def _search_row(self, start: XeroGState, depth: int, limits: Effort, seed: int) -> int:
        """Return the value of a position for its mover, ``depth`` actions deep."""
        memory = new_memory([], self._weights, seed)
        memory.positions[0] = position_of(start)
        return int(search(memory, new_transpositions(), limits, 0, depth, -INFINITY, INFINITY))


def hashes_played(state: XeroGState) -> list[int]:
    """Return the hashes of the positions from the end of the setup up to the one before ``state``."""
    count = len(state.earlier)
    return [
        hash_of(ships, state.mover if (count - index) % 2 == 0 else opponent(state.mover))
        for index, ships in enumerate(state.earlier)
    ]


def _iter_rows(state: XeroGState) -> Iterator[tuple[int, ...]]:
    """Yield all ways to place the remaining ships of the mover in the setup, by ascending square."""
    squares = bit_indexes(state.free_setup_squares())
    values = [value for value, count in state.supply() for _ in range(count)]
    for order in sorted(set(itertools.permutations(values))):
        yield tuple(placement_number(value, square) for value, square in zip(order, squares, strict=True))
