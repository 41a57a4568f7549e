"""The search of the level ``master`` of Xero-G: alpha-beta by time over all actions that do not let the other in.

Actions after which the opponent can enter the base are left out from the start; ``threats`` tells them cheaply.
The others are rated by an estimate of the next position. Those rated low are searched less deep at first, and the
last of them only if all others lose: proven results are proven. At a leaf a player who is threatened looks one
action further. Each new best action of the root is put to a search for proofs, in which the opponent tries
everything.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor, wait
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path
from typing import Final, NamedTuple

import numpy as np

from tabuleiro.rules import State
from tabuleiro.rules.analysis import Analysis
from tabuleiro.rules.games.xero_g import XeroG, XeroGState
from tabuleiro.rules.games.xero_g.actions import DROP_COUNT, FIRST_MOVE, TARGET_COUNT
from tabuleiro.rules.games.xero_g.moves import BASE
from tabuleiro_server.bots.engine.alpha_beta import (
    AT_LEAST,
    AT_MOST,
    EXACT,
    INFINITY,
    IS_OVER,
    NODES,
    PROVEN,
    WIN,
    Effort,
    StagedRoot,
    TurnSizes,
    ValuedLine,
    bound_of,
    bring_best_forward,
    keep_line,
    spend_node,
    unit_value,
    unlimited_effort,
)
from tabuleiro_server.bots.engine.base import END_LIMIT_S, SearchResult
from tabuleiro_server.bots.engine.kernels import Array, Words, as_int, kernel, lean_kernel
from tabuleiro_server.bots.engine.weights import read_weights
from tabuleiro_server.bots.engine.xero_g.board import (
    HASH,
    MAX_MOVES,
    MOVER,
    POSITION_SIZE,
    WINNER,
    list_moves,
    play_move,
    position_of,
)
from tabuleiro_server.bots.engine.xero_g.search import XeroGSearcher, between_parities, hashes_played
from tabuleiro_server.bots.engine.xero_g.targets import new_room
from tabuleiro_server.bots.engine.xero_g.threats import Patterns, is_known_to_enter, lets_in, new_patterns
from tabuleiro_server.bots.engine.xero_g.values import look_at

MAX_DEPTH: Final = 30
EVASION_PLIES: Final = 1
"""The actions beyond the depth that a threatened player may look ahead."""
_ROWS: Final = MAX_DEPTH + EVASION_PLIES + 3
_DESTINATION_COUNT: Final = TARGET_COUNT * DROP_COUNT

RATED_DEPTH: Final = 2
"""With so many actions to go, actions are rated by estimates; with fewer by history alone."""
WIDTH: Final = 12
"""The actions tried for each action to go, the root left out."""
_SORTED_COUNT: Final = 40
"""The actions brought into order; those behind are seldom tried."""
_UNREDUCED_COUNT: Final = 4
_MUCH_REDUCED_FROM: Final = 12
_MOST_REDUCED_FROM: Final = 40

_KILLER_RATING: Final = 1e6
_LETTING_IN: Final = -1e9

TABLE_BITS: Final = 20
_BUCKET_MASK: Final = np.uint64((1 << TABLE_BITS - 1) - 1)
_NO_ENTRY: Final = np.uint64(0)
_VALUE_SHIFT: Final = 1 << 15
_IS_THREATENED: Final = INFINITY


class Table(NamedTuple):
    """A transposition table of buckets of two: the deeper result stays, the other makes room.

    ``entries`` (uint64) are packed results, ``keys`` the hashes of their positions, with the bits changed that the
    entry has: what two threads wrote at once belongs to no position, and needs no lock.
    """

    keys: Words
    entries: Words


def new_table() -> Table:
    """Return an empty table."""
    size = 1 << TABLE_BITS
    return Table(np.zeros(size, dtype=np.uint64), np.zeros(size, dtype=np.uint64))


@lean_kernel
def pack_entry(value: int, bound: int, depth: int, action: int) -> np.uint64:
    """Return the entry of a result; it is never 0."""
    return np.uint64(value + _VALUE_SHIFT | bound << 16 | depth << 18 | action << 24)


@lean_kernel
def unpack_entry(entry: np.uint64) -> tuple[int, int, int, int]:
    """Return the value, the kind of bound, the depth of the search, and the best action."""
    bits = as_int(entry)
    return (bits & 0xFFFF) - _VALUE_SHIFT, bits >> 16 & 3, bits >> 18 & 63, bits >> 24


@lean_kernel
def find(table: Table, key: np.uint64) -> np.uint64:
    """Return the entry for ``key``, 0 if there is none."""
    index = np.int64(key & _BUCKET_MASK) * 2
    entry: np.uint64 = table.entries[index]
    if table.keys[index] ^ entry == key:
        return entry
    entry = table.entries[index + 1]
    return entry if table.keys[index + 1] ^ entry == key else _NO_ENTRY


@lean_kernel
def keep(table: Table, key: np.uint64, value: int, bound: int, depth: int, ply: int, action: int) -> None:
    """Store the result of a search of ``depth``, ``ply`` actions after the root."""
    index = np.int64(key & _BUCKET_MASK) * 2
    if value >= PROVEN:
        value += ply
    elif value <= -PROVEN:
        value -= ply
    known, known_key = table.entries[index], table.keys[index]
    if known_key ^ known != key:
        if unpack_entry(known)[2] > depth:
            index += 1
        else:
            table.keys[index + 1], table.entries[index + 1] = known_key, known
    entry = pack_entry(value, bound, depth, action)
    table.keys[index], table.entries[index] = key ^ entry, entry


class Memory(NamedTuple):
    """The working memory of a search, a row for each ply: positions, moves and ratings, lines, killers.

    ``path`` holds the hashes of all positions played and searched; the one number of ``played_count`` counts those
    played before the root. ``history`` rates destinations by mover by the number of their cuts. ``weights`` are
    those of estimates. ``is_proof`` holds 1 while only proofs are looked for.
    """

    positions: Array
    moves: Array
    ratings: Array
    lines: Array
    killers: Array
    path: Array
    played_count: Array
    history: Array
    weights: Array
    is_proof: Array
    room: Array
    noise: Array
    patterns: Patterns


def new_memory(played: list[int], weights: Array, seed: int) -> Memory:
    """Return memory for a search after the positions whose hashes are ``played``."""
    return Memory(
        positions=np.zeros((_ROWS, POSITION_SIZE), dtype=np.int64),
        moves=np.zeros((_ROWS, MAX_MOVES), dtype=np.int32),
        ratings=np.zeros((_ROWS, MAX_MOVES), dtype=np.float32),
        lines=np.zeros((_ROWS, _ROWS + 2), dtype=np.int32),
        killers=np.zeros((_ROWS, 2), dtype=np.int32),
        path=np.array([*played, *[0] * _ROWS], dtype=np.int64),
        played_count=np.array([len(played)], dtype=np.int64),
        history=np.zeros((2, _DESTINATION_COUNT), dtype=np.float32),
        weights=weights,
        is_proof=np.zeros(1, dtype=np.int64),
        room=new_room(),
        noise=np.random.default_rng(seed).integers(0, 2**62, size=1, dtype=np.int64) * 2 + 1,
        patterns=new_patterns(),
    )


@lean_kernel
def _is_repeated(memory: Memory, ply: int) -> bool:
    """Return True if the position of ``ply`` occurred before in the search, or twice in the game."""
    last = memory.played_count[0] + ply
    count = 0
    for index in range(last - 2, -1, -2):
        if memory.path[index] == memory.path[last]:
            count += 2 if index >= memory.played_count[0] else 1
    return count >= 2


@lean_kernel
def _play_from(memory: Memory, ply: int, move: int) -> None:
    """Make the position after ``move`` at ``ply`` that of the next ply."""
    for part in range(POSITION_SIZE):
        memory.positions[ply + 1, part] = memory.positions[ply, part]
    play_move(memory.positions[ply + 1], move)


@lean_kernel
def _has_safe_move(memory: Memory, ply: int) -> bool:
    """Return True if the mover of ``ply`` has an action that does not let the other in."""
    other = 1 - memory.positions[ply, MOVER]
    for index in range(list_moves(memory.positions[ply], memory.room, memory.moves[ply])):
        _play_from(memory, ply, memory.moves[ply, index])
        if not lets_in(memory.positions[ply + 1], other, memory.room, memory.patterns):
            return True
    return False


@lean_kernel
def _leaf_value(memory: Memory, ply: int, depth: int) -> int:
    """Return the value of a leaf, :data:`_IS_THREATENED` if the mover must be given another action to answer.

    The seed changes estimates a little, so that games differ.
    """
    position = memory.positions[ply]
    mover = int(position[MOVER])
    if memory.is_proof[0]:
        # Nothing but a threat that cannot be answered is a proof.
        if depth == 0 and not lets_in(position, 1 - mover, memory.room, memory.patterns):
            return 0
        if lets_in(position, mover, memory.room, memory.patterns):
            return WIN - ply - 1
        return _IS_THREATENED if depth == 0 else 0
    value, may_enter, is_threatened = look_at(position, memory.room, memory.weights)
    if may_enter and lets_in(position, mover, memory.room, memory.patterns):
        return WIN - ply - 1
    if is_threatened and lets_in(position, 1 - mover, memory.room, memory.patterns):
        if depth > -EVASION_PLIES:
            return _IS_THREATENED
        if not _has_safe_move(memory, ply):
            return ply + 2 - WIN
    return value + int((position[HASH] * memory.noise[0]) >> 60)


@lean_kernel
def _list_and_rate(memory: Memory, effort: Effort, ply: int, by_estimates: bool) -> int:
    """List and rate the moves of ``ply``; return their number."""
    mover = int(memory.positions[ply, MOVER])
    count = list_moves(memory.positions[ply], memory.room, memory.moves[ply])
    for index in range(count):
        move = memory.moves[ply, index]
        rating = memory.history[mover, (move - FIRST_MOVE) % _DESTINATION_COUNT]
        if by_estimates:
            _play_from(memory, ply, move)
            child = memory.positions[ply + 1]
            if is_known_to_enter(child, 1 - mover, memory.patterns):
                rating = _LETTING_IN
            else:
                value, may_enter, _ = look_at(child, memory.room, memory.weights)
                effort[NODES] += 1
                if may_enter and lets_in(child, 1 - mover, memory.room, memory.patterns):
                    rating = _LETTING_IN
                else:
                    rating -= value
        elif move == memory.killers[ply, 0] or move == memory.killers[ply, 1]:
            rating += _KILLER_RATING
        memory.ratings[ply, index] = rating
    return count


@lean_kernel
def _note_cut(memory: Memory, ply: int, depth: int, move: int) -> None:
    """Remember that ``move`` cut the search at ``ply``."""
    depth = max(depth, 0)
    memory.history[memory.positions[ply, MOVER], (move - FIRST_MOVE) % _DESTINATION_COUNT] += depth * depth + 1
    if memory.killers[ply, 0] != move:
        memory.killers[ply, 1] = memory.killers[ply, 0]
        memory.killers[ply, 0] = move


@lean_kernel
def _less_deep(tried: int, depth: int) -> int:
    """Return by how much less deep than its position the move number ``tried`` (from 1) is searched at first."""
    if depth < 2 or tried <= _UNREDUCED_COUNT:
        return 1
    if depth < 3 or tried <= _MUCH_REDUCED_FROM:
        return 2
    return 3 if depth < 5 or tried <= _MOST_REDUCED_FROM else 4


# Longer than other functions: kernels that call each other in a circle would need types written by hand.
@kernel
def search(memory: Memory, table: Table, effort: Effort, ply: int, depth: int, alpha: int, beta: int) -> int:
    """Return the value of the position of ``ply``, ``depth`` actions deep, if between ``alpha`` and ``beta``.

    With any depth to go, the mover must not be able to enter the base. Outside of the two limits the value is a
    bound on that side. Once the effort is over, it can be used at the root alone: there it is that of the line,
    the best of those searched.
    """
    memory.lines[ply, 0] = 0
    if spend_node(effort):
        return 0
    position = memory.positions[ply]
    mover = int(position[MOVER])
    memory.path[memory.played_count[0] + ply] = position[HASH]
    if ply > 0 and _is_repeated(memory, ply):
        return 0
    if depth <= 0:
        value = _leaf_value(memory, ply, depth)
        if value != _IS_THREATENED:
            return value
        is_threatened = True
    else:
        is_threatened = lets_in(position, 1 - mover, memory.room, memory.patterns)
    is_proof = memory.is_proof[0] == 1
    key = np.uint64(position[HASH])
    entry = find(table, key)
    first = 0
    if entry != _NO_ENTRY:
        value, bound, known_depth, first = unpack_entry(entry)
        is_win, is_loss = value >= PROVEN, value <= -PROVEN
        is_forced = (is_win and bound != AT_MOST) or (is_loss and bound != AT_LEAST)
        if ply > 0 and is_forced:
            return int(value - ply if is_win else value + ply)
        is_usable = (
            bound == EXACT or (bound == AT_LEAST and value >= beta) or (bound == AT_MOST and value <= alpha)
        )
        if ply > 0 and is_usable and known_depth >= depth and not is_proof:
            return int(value)
    memory.lines[ply + 1, 0] = 0
    by_estimates = depth >= RATED_DEPTH and not is_proof
    best, best_move, lowest = -INFINITY, 0, alpha
    tried, count = 0, -1
    # The best action so far comes first: it may make it needless to list and to rate the others.
    index = -2 if first else -1
    while count < 0 or index + 1 < count:
        index += 1
        move = first
        if index >= 0:
            if count < 0:
                count = _list_and_rate(memory, effort, ply, by_estimates)
                if count == 0:
                    return ply - WIN
            if index < _SORTED_COUNT:
                bring_best_forward(memory.moves[ply], memory.ratings[ply], index, count)
            move = memory.moves[ply, index]
            if move == first or memory.ratings[ply, index] == np.float32(_LETTING_IN):
                continue
        _play_from(memory, ply, move)
        child = memory.positions[ply + 1]
        # A leaf finds out itself; others that are rated by estimates are known to be safe.
        if depth <= 1:
            if is_known_to_enter(child, 1 - mover, memory.patterns):
                continue
        elif (index < 0 or not by_estimates) and lets_in(child, 1 - mover, memory.room, memory.patterns):
            continue
        tried += 1
        is_late = depth >= RATED_DEPTH and ply > 0 and tried > WIDTH * depth
        if is_late and best > -PROVEN and not is_proof:
            break
        if tried == 1:
            value = -search(memory, table, effort, ply + 1, depth - 1, -beta, -lowest)
        else:
            less = 1 if is_threatened or is_proof else _less_deep(tried, depth)
            if less > 1 and lets_in(child, mover, memory.room, memory.patterns):
                less = 1
            value = -search(memory, table, effort, ply + 1, depth - less, -lowest - 1, -lowest)
            if less > 1 and value > lowest and effort[IS_OVER] == 0:
                value = -search(memory, table, effort, ply + 1, depth - 1, -lowest - 1, -lowest)
            if lowest < value < beta and effort[IS_OVER] == 0:
                value = -search(memory, table, effort, ply + 1, depth - 1, -beta, -lowest)
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
    if tried == 0:
        # Whatever is played, the opponent enters next.
        best, best_move = ply + 2 - WIN, memory.moves[ply, 0]
        memory.lines[ply + 1, 0] = 0
        keep_line(memory.lines, ply, best_move)
    if not is_proof or abs(best) >= PROVEN:
        keep(table, key, best, bound_of(best, alpha, beta), depth, ply, best_move)
    return best


WEIGHTS_FILE: Final = Path(__file__).with_name("weights.json")
"""The weights of estimates, a list in the order of the features; ``make train GAME=xero-g`` makes it."""


class MasterXeroGSearcher(XeroGSearcher):
    """A :class:`~tabuleiro_server.bots.engine.base.Searcher` for Xero-G. A node is a position.

    The table is kept from turn to turn, except by searches that are limited by nodes alone: these always give the
    same result. Other cores search the same position, and share what they find by the table alone. Rows of the
    setup are chosen as ``XeroGSearcher`` does.
    """

    def __init__(self, game: XeroG, weights: Sequence[float] | None = None) -> None:
        """Take ``weights`` for the estimates; those of the file if left out."""
        super().__init__(game)
        self._table = new_table()
        self._learnt = np.array(weights or read_weights(WEIGHTS_FILE))
        self._threads = ThreadPoolExecutor(thread_name_prefix="search helper")
        self._helper_count = 0

    def choose_turn(
        self, state: State, *, max_nodes: int | None, deadline_s: float | None, seed: int
    ) -> SearchResult:
        """Choose the actions that complete the turn; see :class:`~tabuleiro_server.bots.engine.base.Searcher`."""
        if deadline_s is None:
            self._table = new_table()
        self._helper_count = self.cores - 1 if max_nodes is None else 0
        return super().choose_turn(state, max_nodes=max_nodes, deadline_s=deadline_s, seed=seed)

    def analyse(
        self, state: State, *, candidate_count: int, max_nodes: int | None, deadline_s: float | None, seed: int
    ) -> Iterator[Analysis]:
        """Yield the best actions, or one row; see :class:`~tabuleiro_server.bots.engine.base.Searcher`."""
        if deadline_s is None:
            self._table = new_table()
        return super().analyse(
            state, candidate_count=candidate_count, max_nodes=max_nodes, deadline_s=deadline_s, seed=seed
        )

    def _root(self, state: XeroGState, seed: int) -> StagedRoot:
        return MasterRoot(self._new_memory(state, seed), self._table)

    def _new_memory(self, state: XeroGState, seed: int) -> Memory:
        memory = new_memory(hashes_played(state), self._learnt, seed)
        memory.positions[0] = position_of(state)
        return memory

    def _choose_move(self, state: XeroGState, limits: Effort, seed: int) -> SearchResult:
        memory = self._new_memory(state, seed)
        entering = _entering_move(memory)
        if entering:
            return SearchResult((entering,), 1.0, True, 1, ((entering,),))
        with self._helped(state, seed) as efforts:
            result = self._deepen(memory, limits)
        return replace(result, nodes=result.nodes + sum(int(effort[NODES]) for effort in efforts))

    @contextmanager
    def _helped(self, state: XeroGState, seed: int) -> Iterator[list[Effort]]:
        """Have the same position searched on other cores meanwhile; yield their efforts."""
        efforts = [unlimited_effort() for _ in range(self._helper_count)]
        works = [
            self._threads.submit(self._search_deeper, state, seed, effort, number)
            for number, effort in enumerate(efforts, 1)
        ]
        try:
            yield efforts
        finally:
            for effort in efforts:
                effort[IS_OVER] = 1
        # They end at once; one that has no core now ends later, which does no harm.
        for work in wait(works, END_LIMIT_S).done:
            work.result()

    def _search_deeper(self, state: XeroGState, seed: int, effort: Effort, number: int) -> None:
        """Fill the table by searches deeper and deeper; every second helper is a turn ahead."""
        memory = self._new_memory(state, seed)
        for depth in range(1 + number % 2, MAX_DEPTH + 1):
            if (
                abs(search(memory, self._table, effort, 0, depth, -INFINITY, INFINITY)) >= PROVEN
                or effort[IS_OVER]
            ):
                return

    def _deepen(self, memory: Memory, limits: Effort) -> SearchResult:
        """Search deeper and deeper, and try to refute each new best action."""
        refutation = Refutation(memory, self._table)
        # The first depth takes a moment and always runs to its end: it gives a legal action.
        effort, best_value = unlimited_effort(), 0
        best_line: tuple[int, ...] = (0,)
        for depth in range(1, MAX_DEPTH + 1):
            is_settled = False
            while not is_settled:
                value = search(memory, self._table, effort, 0, depth, -INFINITY, INFINITY)
                line = tuple(int(move) for move in memory.lines[0, 1 : memory.lines[0, 0] + 1])
                # A search that was cut short still tried the best action so far first; but if that loses, the
                # actions not yet tried may not.
                if line and (value > -PROVEN or not effort[IS_OVER]):
                    best_line, best_value = line, value
                limits[NODES], effort = effort[NODES], limits
                is_decided = bool(effort[IS_OVER]) or abs(value) >= PROVEN
                is_settled = is_decided or not refutation.refutes(best_line[0], depth - 1, effort)
            if is_decided or effort[IS_OVER]:
                break
        is_proven = abs(best_value) >= PROVEN
        return SearchResult(best_line[:1], unit_value(best_value), is_proven, int(effort[NODES]), (best_line,))

    def _search_row(self, start: XeroGState, depth: int, limits: Effort, seed: int) -> int:
        memory = new_memory([], self._learnt, seed)
        memory.positions[0] = position_of(start)
        if _entering_move(memory):
            return WIN
        return int(search(memory, self._table, limits, 0, depth, -INFINITY, INFINITY))


class Refutation:
    """Proofs that actions at the root lose, each tried once; what they prove is kept in the table."""

    def __init__(self, memory: Memory, table: Table) -> None:
        self._memory = memory
        self._table = table
        self._withstood: dict[int, int] = {}
        """The depth of the deepest proof that failed, by action."""
        self._refuted: set[int] = set()

    def refutes(self, move: int, depth: int, effort: Effort) -> bool:
        """Return True if the opponent has a win after ``move`` that proofs of up to ``depth`` find now."""
        if move in self._refuted:
            return False
        memory = self._memory
        memory.path[memory.played_count[0]] = memory.positions[0, HASH]
        memory.is_proof[0] = 1
        for proof_depth in range(self._withstood.get(move, -1) + 2, depth + 1, 2):
            _play_from(memory, 0, move)
            value = search(memory, self._table, effort, 1, proof_depth, PROVEN - 1, PROVEN)
            if effort[IS_OVER]:
                break
            if value >= PROVEN:
                self._refuted.add(move)
                break
            self._withstood[move] = proof_depth
        memory.is_proof[0] = 0
        return move in self._refuted


class MasterRoot:
    """A :class:`~tabuleiro_server.bots.engine.alpha_beta.StagedRoot` of Xero-G after the setup."""

    sizes = TurnSizes(1, 1, 1)

    def __init__(self, memory: Memory, table: Table) -> None:
        self._memory = memory
        self._table = table
        self._refutation = Refutation(memory, table)
        self._depth = 0
        self._lines: list[ValuedLine] = []
        """All actions, best first by what is known of them."""
        self._best_by_parity: dict[int, int] = {}

    def depths(self) -> Iterator[int]:
        """Yield the number of turns that each stage looks ahead."""
        for depth in range(1, MAX_DEPTH + 1):
            self._depth = depth
            yield depth

    def candidates(self, count: int, effort: Effort) -> list[ValuedLine]:
        """Return the best ``count`` actions with their lines; proofs of this depth refute none of them."""
        if self._depth == 1:
            self._lines = self._all_actions(effort)
        else:
            self._search_all(count, effort)
            while self._refutes_any(count, effort):
                self._search_all(count, effort)
        self._best_by_parity[self._depth % 2] = self._lines[0].value
        return between_parities(self._lines[:count], self._best_by_parity)

    def _all_actions(self, effort: Effort) -> list[ValuedLine]:
        """Return all actions, valued by the positions after them; of those that lead to the same, only one."""
        memory, by_position = self._memory, dict[int, ValuedLine]()
        mover = int(memory.positions[0, MOVER])
        memory.path[memory.played_count[0]] = memory.positions[0, HASH]
        found = list_moves(memory.positions[0], memory.room, memory.moves[0])
        for move in map(int, memory.moves[0, :found].copy()):
            _play_from(memory, 0, move)
            child = memory.positions[1]
            if child[WINNER] >= 0:
                value = WIN - 1
            elif lets_in(child, 1 - mover, memory.room, memory.patterns):
                value = 2 - WIN
            else:
                value = -int(look_at(child, memory.room, memory.weights)[0])
            by_position.setdefault(int(child[HASH]), ValuedLine((move,), value))
        effort[NODES] += found
        return sorted(by_position.values(), key=lambda each: -each.value)

    def _search_all(self, count: int, effort: Effort) -> None:
        """Search all actions but those that lose; the best ``count`` get exact values."""
        searched = list[ValuedLine]()
        for place, known in enumerate(self._lines):
            if known.value <= -PROVEN:
                searched.append(known)
                continue
            best = sorted((each.value for each in searched), reverse=True)[:count]
            alpha = best[-1] if len(best) == count else -INFINITY
            searched.append(self._value_of(known.line[0], place + 1, alpha, effort))
            if effort[IS_OVER]:
                return
        searched.sort(key=lambda each: -each.value)
        self._lines = searched

    def _value_of(self, move: int, tried: int, alpha: int, effort: Effort) -> ValuedLine:
        """Return the line and the value of an action if it is above ``alpha``; ``tried`` counts it from 1."""
        memory, table, depth = self._memory, self._table, self._depth - 1
        _play_from(memory, 0, move)
        mover = int(memory.positions[0, MOVER])
        value = alpha + 1
        if alpha > -INFINITY:
            child = memory.positions[1]
            less = 1 if lets_in(child, mover, memory.room, memory.patterns) else _less_deep(tried, self._depth)
            value = -search(memory, table, effort, 1, self._depth - less, -alpha - 1, -alpha)
        if value > alpha and effort[IS_OVER] == 0:
            value = -search(memory, table, effort, 1, depth, -INFINITY, -alpha)
        line = memory.lines[1, 1 : memory.lines[1, 0] + 1]
        return ValuedLine((move, *map(int, line)), int(value))

    def _refutes_any(self, count: int, effort: Effort) -> bool:
        """Return True if one of the best ``count`` actions turns out to lose; the table tells it from now on."""
        best = [each for each in self._lines[:count] if not each.is_proven]
        return any(
            effort[IS_OVER] == 0 and self._refutation.refutes(each.line[0], self._depth - 1, effort)
            for each in best
        )


def _entering_move(memory: Memory) -> int:
    """Return a move into the base from the root, 0 if there is none."""
    count = list_moves(memory.positions[0], memory.room, memory.moves[0])
    for move in map(int, memory.moves[0, :count]):
        if (move - FIRST_MOVE) // DROP_COUNT % TARGET_COUNT == BASE:
            return move
    return 0
