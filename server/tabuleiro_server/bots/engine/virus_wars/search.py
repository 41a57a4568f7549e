"""The search of Virus Wars: alpha-beta over the most promising single actions, in wider and deeper stages.

A turn has several actions, so a value changes its sign where the mover changes and nowhere else. Actions of one
turn commute: legal actions stay legal, and the order leaves no trace. So an action that was searched sleeps below
its later siblings until the turn ends, and each set of actions is searched once.

There are far too many turns to search all of them: a *width* limits the actions that are tried, the best rated
first. If all of them lose, more are tried, and a position counts as lost only after every action was tried: proven
results are proven.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Final, NamedTuple

import numpy as np

from tabuleiro.ids import opponent
from tabuleiro.rules import State
from tabuleiro.rules.analysis import Analysis
from tabuleiro.rules.games.virus_wars import VirusWars, VirusWarsState
from tabuleiro_server.bots.engine.alpha_beta import (
    ESTIMATE_LIMIT,
    INFINITY,
    IS_OVER,
    NO_ENTRY,
    NODES,
    ORDER_ONLY,
    PROVEN,
    WIN,
    Effort,
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
from tabuleiro_server.bots.engine.base import SearchResult, check_task
from tabuleiro_server.bots.engine.kernels import Array, Words, as_int, kernel, lowest_bit
from tabuleiro_server.bots.engine.virus_wars.board import (
    BOARD_WORDS,
    HASH,
    LEFT,
    MOVER,
    NO_WORD,
    ONE,
    SET_WORDS,
    VirusWarsTables,
    board_of,
    find_reach,
    legal_word,
    play,
    virus_wars_tables,
)
from tabuleiro_server.bots.engine.virus_wars.values import FEATURE_COUNT, Weights, find_features, rate

FIRST_RATING: Final = 1e9
HISTORY_STEP: Final = 0.05
"""The addition to the rating of an action that cut the search, for each turn left to look ahead."""
NOISE: Final = 64
"""The greatest change of estimates by the seed: without it, all games would be the same."""
RATING_NOISE: Final = 1.0 / 64
"""The same for ratings, which change by up to 64 times this."""
MAX_PLIES: Final = 96
MAX_ACTIONS: Final = 900
MAX_TURNS: Final = 16
PATIENCE: Final = 4
"""The multiple of the width that is tried if all actions of the width lose."""


class Memory(NamedTuple):
    """The working memory of a search, a row for each ply: boards, sleeping actions, actions and ratings, lines.

    ``history`` rates places by mover by the number of their cuts; ``widths`` has for each turn from the root, and
    each action left in it, the number of actions tried; ``stage`` is the number of the search with such widths;
    ``noise`` is mixed into the last digits of estimates.
    """

    boards: Words
    sleeping: Words
    actions: Array
    ratings: Array
    lines: Array
    history: Array
    widths: Array
    stage: Array
    value_weights: Weights
    rating_weights: Weights
    noise: Words


def new_memory(board: Words, value_weights: Weights, rating_weights: Weights, seed: int) -> Memory:
    """Return memory for a search from ``board``; the caller sets the widths of each stage."""
    memory = Memory(
        boards=np.zeros((MAX_PLIES, BOARD_WORDS), dtype=np.uint64),
        sleeping=np.zeros((MAX_PLIES, SET_WORDS), dtype=np.uint64),
        actions=np.zeros((MAX_PLIES, MAX_ACTIONS), dtype=np.int32),
        ratings=np.zeros((MAX_PLIES, MAX_ACTIONS), dtype=np.float32),
        lines=np.zeros((MAX_PLIES, MAX_PLIES + 2), dtype=np.int32),
        history=np.zeros((2, 64 * SET_WORDS), dtype=np.float32),
        widths=np.zeros((1, 1), dtype=np.int32),
        stage=np.zeros(1, dtype=np.int32),
        value_weights=value_weights,
        rating_weights=rating_weights,
        noise=np.random.default_rng(seed).integers(0, 2**64, size=1, dtype=np.uint64) | ONE,
    )
    memory.boards[0] = board
    return memory


@kernel
def estimate(tables: VirusWarsTables, memory: Memory, board: Words) -> int:
    """Return the estimated value of a position that is not over."""
    features = np.empty(FEATURE_COUNT, dtype=np.float64)
    find_features(tables, board, features)
    value = 0.0
    for index in range(FEATURE_COUNT):
        value += memory.value_weights[index] * features[index]
    value += as_int((board[HASH] * memory.noise[0]) >> np.uint64(57)) - NOISE
    return int(min(max(value, -ESTIMATE_LIMIT), ESTIMATE_LIMIT))


@kernel
def _list_actions(tables: VirusWarsTables, memory: Memory, ply: int, first: int) -> int:
    """Put the legal actions that do not sleep and their ratings in the rows of ``ply``; return their number.

    ``first`` is rated above all others; -1 is no action. Return -1 when no action is legal.
    """
    board = memory.boards[ply]
    mover = as_int(board[MOVER])
    enemy_reach = np.zeros(SET_WORDS, dtype=np.uint64)
    enemy_asleep = np.zeros(SET_WORDS, dtype=np.uint64)
    asleep = np.zeros(SET_WORDS, dtype=np.uint64)
    find_reach(tables, board, 1 - mover, enemy_reach, enemy_asleep)
    find_reach(tables, board, mover, asleep.copy(), asleep)
    count, is_blocked = 0, True
    for word in range(int(tables.shape[0])):
        legal = legal_word(board, tables.full, word)
        if legal != NO_WORD:
            is_blocked = False
        legal &= ~memory.sleeping[ply, word]
        while legal != NO_WORD:
            place = 64 * word + lowest_bit(legal)
            legal &= legal - ONE
            rating = rate(tables, board, enemy_reach, asleep, memory.rating_weights, place)
            rating += RATING_NOISE * as_int((tables.keys[0, place] * memory.noise[0]) >> np.uint64(58))
            memory.actions[ply, count] = place
            memory.ratings[ply, count] = rating + memory.history[mover, place] if place != first else FIRST_RATING
            count += 1
    return -1 if is_blocked else count


@kernel
def _value_at_end(tables: VirusWarsTables, memory: Memory, ply: int) -> int:
    """Return the value of the position of ``ply`` at the end of the search."""
    board = memory.boards[ply]
    for word in range(int(tables.shape[0])):
        if legal_word(board, tables.full, word) != NO_WORD:
            return estimate(tables, memory, board)
    return ply - WIN


@kernel
def _is_all_awake(tables: VirusWarsTables, memory: Memory, ply: int) -> bool:
    """Return True if no action sleeps in ``ply``; after a free first virus some may, with a whole turn to play."""
    asleep = NO_WORD
    for word in range(int(tables.shape[0])):
        asleep |= memory.sleeping[ply, word]
    return bool(asleep == NO_WORD)


# Longer than other functions: kernels that call each other in a circle would need types written by hand.
@kernel
def search(
    tables: VirusWarsTables,
    memory: Memory,
    table: Transpositions,
    effort: Effort,
    ply: int,
    turn: int,
    alpha: int,
    beta: int,
) -> int:
    """Return the value of the position of ``ply``, ``turn`` turns from the root, from ``alpha`` to ``beta``.

    Outside of them it is a bound on that side. Once the effort is over, the value can be used at the root alone:
    there it is that of the line, the best of those searched.
    """
    memory.lines[ply, 0] = 0
    if spend_node(effort):
        return 0
    board = memory.boards[ply]
    mover, left = as_int(board[MOVER]), as_int(board[LEFT])
    turns_left = memory.widths.shape[0] - turn
    depth = int(memory.stage[0]) * MAX_TURNS + turns_left
    is_turn_start = left == tables.shape[2] and ply > 0 and _is_all_awake(tables, memory, ply)
    entry = find_entry(table, board[HASH])
    first = -1
    if entry != NO_ENTRY:
        first = table.entries[entry, 3]
        if is_turn_start:
            known = usable_value(table, entry, depth, ply, alpha, beta)
            if known != INFINITY:
                return known
    if turns_left == 0 or ply == MAX_PLIES - 2:
        return _value_at_end(tables, memory, ply)
    count = _list_actions(tables, memory, ply, first)
    if count < 0:
        return ply - WIN
    best, best_place, lowest = -INFINITY, -1, alpha
    width = memory.widths[turn, left - 1]
    for index in range(count):
        if index >= width and (best > -PROVEN or index >= PATIENCE * width):
            best = max(best, 1 - PROVEN)
            break
        bring_best_forward(memory.actions[ply], memory.ratings[ply], index, count)
        place = int(memory.actions[ply, index])
        memory.boards[ply + 1, :] = board
        play(tables, memory.boards[ply + 1], place)
        if as_int(memory.boards[ply + 1, MOVER]) != mover:
            memory.sleeping[ply + 1, :] = NO_WORD
            value = -search(tables, memory, table, effort, ply + 1, turn + 1, -beta, -lowest)
        else:
            memory.sleeping[ply + 1, :] = memory.sleeping[ply]
            value = search(tables, memory, table, effort, ply + 1, turn, lowest, beta)
        if effort[IS_OVER]:
            return best if ply == 0 else 0
        memory.sleeping[ply, place >> 6] |= ONE << np.uint64(place & 63)
        if value > best:
            best, best_place = value, place
            if value > lowest:
                lowest = value
                keep_line(memory.lines, ply, place)
            if value >= beta:
                memory.history[mover, place] += HISTORY_STEP * turns_left
                break
    bound = bound_of(best, alpha, beta) if is_turn_start else ORDER_ONLY
    keep_entry(table, board[HASH], best, bound, depth, ply, best_place)
    return best


VALUE_WEIGHTS: Final = (-29.0, 71.0, 2.0, 5.0, 10.0, 1.5, 8.0, 8.0, 50.0)
"""The weights of :data:`~tabuleiro_server.bots.engine.virus_wars.values.FEATURE_NAMES`."""
RATING_WEIGHTS: Final = (
    (0.0, 1.0, 3.0, -1.0, 0.5, 0.0, 0.0, 2.0, 0.0),
    (6.0, 1.0, 3.0, 0.0, 0.5, 0.0, 0.0, 2.0, 0.0),
)
"""The weights of ``RATING_NAMES`` there, for contamination and absorption."""

STAGES: Final = (
    (1, 1),
    (1, 4),
    (2, 4),
    (2, 6),
    (2, 8),
    (2, 12),
    (3, 8),
    (3, 12),
    (3, 16),
    (3, 24),
    (3, 40),
    (5, 40),
    (7, 80),
    (11, 400),
    (15, 400),
)
"""The depth of each stage in turns, and the actions tried for the first action of a turn."""
_LATER_ACTION: Final = 0.8
_LATER_TURN: Final = 0.85
_LEAST_WIDTH: Final = 2


class VirusWarsRoot:
    """A :class:`~tabuleiro_server.bots.engine.alpha_beta.StagedRoot` of Virus Wars.

    ``memory`` holds the position; ``iter_widths`` yields the widths of each stage.
    """

    def __init__(
        self, tables: VirusWarsTables, memory: Memory, sizes: TurnSizes, iter_widths: Callable[[], Iterator[Array]]
    ) -> None:
        self.sizes = sizes
        self._tables = tables
        self._memory = memory
        self._table = new_transpositions()
        self._iter_widths = iter_widths

    def depths(self) -> Iterator[int]:
        """Yield the number of turns that each stage looks ahead."""
        for stage, widths in enumerate(self._iter_widths()):
            self._memory.stage[0] = stage
            self._memory = self._memory._replace(widths=widths)
            yield len(widths)

    def candidates(self, count: int, effort: Effort) -> list[ValuedLine]:
        """Return the best ``count`` turns: the best, then the best without its first action, and so on.

        The actions of a turn commute, so a turn that begins with another action may be the same turn: first
        actions of earlier candidates sleep in the search for the next one.
        """
        memory, found = self._memory, list[ValuedLine]()
        asleep = np.zeros(SET_WORDS, dtype=np.uint64)
        while len(found) < count:
            memory.sleeping[0] = asleep
            value = search(self._tables, memory, self._table, effort, 0, 0, -INFINITY, INFINITY)
            length = memory.lines[0, 0]
            if length == 0 or effort[IS_OVER]:
                break
            places = memory.lines[0, 1 : length + 1]
            found.append(ValuedLine(tuple(int(self._tables.actions[place]) for place in places), int(value)))
            first = int(places[0])
            asleep[first >> 6] |= ONE << np.uint64(first & 63)
        return sorted(found, key=lambda each: -each.value)


def turn_sizes(state: VirusWarsState) -> TurnSizes:
    """Return the numbers of actions in the turns from ``state`` on, with the first viruses that cost none."""
    steps, mover = state.game.steps, state.mover
    return TurnSizes(
        first=state.actions_left + state.enters_free(mover),
        second=steps + state.enters_free(opponent(mover)),
        later=steps,
    )


class VirusWarsSearcher:
    """A :class:`~tabuleiro_server.bots.engine.base.Searcher` for Virus Wars. A node is a position."""

    cores = 1

    def __init__(self, game: VirusWars) -> None:
        self._tables = virus_wars_tables(game)
        self._steps = game.steps
        self._value_weights = np.array(VALUE_WEIGHTS)
        self._rating_weights = np.array(RATING_WEIGHTS).ravel()

    def choose_turn(
        self, state: State, *, max_nodes: int | None, deadline_s: float | None, seed: int
    ) -> SearchResult:
        """Choose the actions that complete the turn; see :class:`~tabuleiro_server.bots.engine.base.Searcher`."""
        check_task(state, max_nodes, deadline_s)
        assert isinstance(state, VirusWarsState)
        memory = new_memory(board_of(state, self._tables), self._value_weights, self._rating_weights, seed)
        table = new_transpositions()
        # The narrowest stage takes a few nodes and always runs to its end: it gives a legal turn.
        effort = unlimited_effort()
        with limited_effort(max_nodes, deadline_s) as limits:
            for stage, widths in enumerate(self._iter_widths()):
                memory.stage[0], memory.sleeping[0] = stage, NO_WORD
                value = search(
                    self._tables, memory._replace(widths=widths), table, effort, 0, 0, -INFINITY, INFINITY
                )
                # A stage that was cut short still searched the best turn so far first; but if that is lost, the
                # turns not yet searched may not be.
                line = self._line(memory)
                if line and (value > -PROVEN or not effort[IS_OVER]):
                    best_line, best_value = line, value
                if effort[IS_OVER] or abs(best_value) >= PROVEN:
                    break
                limits[NODES], effort = effort[NODES], limits
        best = best_line[: turn_sizes(state).first]
        return SearchResult(
            best, unit_value(best_value), abs(best_value) >= PROVEN, int(effort[NODES]), (best_line,)
        )

    def analyse(
        self, state: State, *, candidate_count: int, max_nodes: int | None, deadline_s: float | None, seed: int
    ) -> Iterator[Analysis]:
        """Yield the best turns; see :class:`~tabuleiro_server.bots.engine.base.Searcher`."""
        check_task(state, max_nodes, deadline_s)
        assert isinstance(state, VirusWarsState)
        memory = new_memory(board_of(state, self._tables), self._value_weights, self._rating_weights, seed)
        root = VirusWarsRoot(self._tables, memory, turn_sizes(state), self._iter_widths)
        return iter_analyses(root, candidate_count, max_nodes, deadline_s)

    def _line(self, memory: Memory) -> tuple[int, ...]:
        length = memory.lines[0, 0]
        return tuple(int(self._tables.actions[place]) for place in memory.lines[0, 1 : length + 1])

    def _iter_widths(self) -> Iterator[Array]:
        """Yield the widths of each stage: by turn from the root and by actions left in it, less one."""
        actions_made = np.arange(self._steps)[::-1]
        for turns, width in STAGES:
            if turns * self._steps < MAX_PLIES - 2:
                rows = [width * _LATER_TURN**turn * _LATER_ACTION**actions_made for turn in range(turns)]
                yield np.maximum(np.round(rows), min(width, _LEAST_WIDTH)).astype(np.int32)
