"""Virus Wars as kernels: boards, the cells in reach, playing an action. Source: RULES.md, "Virus Wars".

Tests keep it equal to :mod:`tabuleiro.rules.games.virus_wars`.

A set of cells takes :data:`SET_WORDS` words. A row takes one bit more than it has cells, so that a shift by one
column never runs into the next row; *places* number the cells in this layout, *actions* in that of the rules.
"""

from __future__ import annotations

from typing import Final, NamedTuple

import numpy as np

from tabuleiro.rules.games.virus_wars import VirusWars, VirusWarsState
from tabuleiro_server.bots.engine.kernels import (
    Array,
    Words,
    as_index,
    as_int,
    count_bits,
    lean_kernel,
    lowest_bit,
)

SET_WORDS: Final = 15
"""The words of a set: enough for 30 rows of 31 bits."""

VIRUSES: Final = 0
"""The place of the viruses of player 0 in a board; those of player 1 follow."""
ZOMBIES: Final = 2 * SET_WORDS
REACH: Final = 4 * SET_WORDS
"""All cells next to awake pieces of the mover, or those on which they may enter; empty or not."""
ASLEEP: Final = 5 * SET_WORDS
"""The zombies of the mover that are asleep."""
MOVER: Final = 6 * SET_WORDS
LEFT: Final = MOVER + 1
"""Actions left in the turn."""
HASH: Final = MOVER + 2
"""The hash of viruses, zombies, mover and actions left: equal positions have equal hashes."""
BOARD_WORDS: Final = MOVER + 3

ONE: Final = np.uint64(1)
NO_WORD: Final = np.uint64(0)
WORD_BITS: Final = np.uint64(64)


class VirusWarsTables(NamedTuple):
    """The geometry and the options of one game.

    ``shape`` holds the words in use, the bits of a row, the actions of a turn, whether the opening is ``edges``
    and whether the first virus is free there; ``full`` is the set of all cells, ``edges`` the cells on which each
    player may enter, ``near`` the neighbours of each place, ``keys`` the hash keys: by kind (viruses of 0 and 1,
    zombies of 0 and 1) and place, then by actions left for each mover. ``actions`` turns places into actions.
    """

    shape: Array
    full: Words
    edges: Words
    near: Words
    keys: Words
    actions: Array


def place_of(action: int, cols: int) -> int:
    """Return the place of the cell ``action`` of the rules."""
    row, col = divmod(action, cols)
    return row * (cols + 1) + col


def pack(cells: int, cols: int) -> Words:
    """Return a set of cells of the rules as words."""
    spread, row = 0, 0
    while cells >> row * cols:
        spread |= (cells >> row * cols & ((1 << cols) - 1)) << row * (cols + 1)
        row += 1
    return np.array([spread >> 64 * word & 0xFFFF_FFFF_FFFF_FFFF for word in range(SET_WORDS)], dtype=np.uint64)


def virus_wars_tables(game: VirusWars) -> VirusWarsTables:
    """Return the tables of ``game``."""
    board, cols = game.board, game.board.cols
    place_count = board.rows * (cols + 1)
    near = np.zeros((place_count, SET_WORDS), dtype=np.uint64)
    actions = np.full(place_count, -1, dtype=np.int64)
    for action in range(board.cell_count):
        place = place_of(action, cols)
        actions[place] = action
        near[place] = pack(board.spread8(1 << action) & ~(1 << action), cols)
    keys = np.random.default_rng(20180).integers(0, 2**64, size=(6, max(place_count, 10)), dtype=np.uint64)
    openings = [int(game.has_edge_opening), int(game.has_free_first_virus)]
    shape = [(place_count + 63) // 64, cols + 1, game.steps, *openings]
    edges = np.array([pack(board.left_column, cols), pack(board.right_column, cols)])
    return VirusWarsTables(np.array(shape), pack(board.full, cols), edges, near, keys, actions)


def board_of(state: VirusWarsState, tables: VirusWarsTables) -> Words:
    """Return the board of a state of the rules that is not terminal."""
    cols = state.game.board.cols
    board = np.zeros(BOARD_WORDS, dtype=np.uint64)
    hashed = tables.keys[4 + state.mover, state.actions_left]
    for kind, cells in enumerate((*state.viruses, *state.zombies)):
        board[kind * SET_WORDS : (kind + 1) * SET_WORDS] = pack(cells, cols)
        for action in range(state.game.board.cell_count):
            if cells >> action & 1:
                hashed ^= tables.keys[kind, place_of(action, cols)]
    board[MOVER], board[LEFT], board[HASH] = state.mover, state.actions_left, hashed
    find_reach(tables, board, state.mover, board[REACH:], board[ASLEEP:])
    return board


@lean_kernel
def _across(below: np.uint64, here: np.uint64, above: np.uint64) -> np.uint64:
    """Return a word of a set, between its neighbours, with the cells left and right of its members."""
    return here | here << ONE | here >> ONE | below >> np.uint64(63) | above << np.uint64(63)


@lean_kernel
def _upwards_too(below: np.uint64, here: np.uint64, above: np.uint64, row: np.uint64) -> np.uint64:
    """Return the same with the cells one ``row`` up and down."""
    return here | here << row | here >> row | below >> (WORD_BITS - row) | above << (WORD_BITS - row)


# Local variables hold the words of a set: in memory, this would take four times as long.
@lean_kernel
def spread(tables: VirusWarsTables, cells: Words, wider: Words) -> None:
    """Put ``cells`` and all their neighbours in ``wider``, another array."""
    words, row = tables.shape[0], np.uint64(tables.shape[1])
    here, above = cells[0], cells[1] if words > 1 else NO_WORD
    wide_below, wide = NO_WORD, _across(NO_WORD, here, above)
    for word in range(words):
        below, here, above = here, above, cells[word + 2] if word + 2 < words else NO_WORD
        wide_above = _across(below, here, above)
        wider[word] = _upwards_too(wide_below, wide, wide_above, row) & tables.full[word]
        wide_below, wide = wide, wide_above


@lean_kernel
def _awake_word(board: Words, viruses: int, zombies: int, asleep: Words, word: int) -> np.uint64:
    return np.uint64(board[as_index(viruses + word)] | (board[as_index(zombies + word)] & ~asleep[word]))


@lean_kernel
def _spread_awake(tables: VirusWarsTables, board: Words, player: int, asleep: Words, reach: Words) -> None:
    """Put the awake pieces of ``player``, and all cells next to them, in ``reach``; see :func:`spread`."""
    viruses, zombies = VIRUSES + player * SET_WORDS, ZOMBIES + player * SET_WORDS
    words, row = tables.shape[0], np.uint64(tables.shape[1])
    here = _awake_word(board, viruses, zombies, asleep, 0)
    above = _awake_word(board, viruses, zombies, asleep, 1) if words > 1 else NO_WORD
    wide_below, wide = NO_WORD, _across(NO_WORD, here, above)
    for word in range(words):
        below, here, above = here, above, NO_WORD
        if word + 2 < words:
            above = _awake_word(board, viruses, zombies, asleep, word + 2)
        wide_above = _across(below, here, above)
        reach[word] = _upwards_too(wide_below, wide, wide_above, row) & tables.full[word]
        wide_below, wide = wide, wide_above


@lean_kernel
def find_reach(tables: VirusWarsTables, board: Words, player: int, reach: Words, asleep: Words) -> None:
    """Put the cells next to awake pieces of ``player`` in ``reach``, their sleeping zombies in ``asleep``."""
    words = tables.shape[0]
    viruses, zombies = VIRUSES + player * SET_WORDS, ZOMBIES + player * SET_WORDS
    pieces = NO_WORD
    dozing = NO_WORD
    for word in range(words):
        pieces |= board[as_index(viruses + word)] | board[as_index(zombies + word)]
        dozing |= board[as_index(zombies + word)]
        asleep[word] = board[as_index(zombies + word)]
    if tables.shape[3] and pieces == NO_WORD:
        for word in range(words):
            reach[word] = tables.edges[player, word] & ~board[as_index(VIRUSES + (1 - player) * SET_WORDS + word)]
        return
    _spread_awake(tables, board, player, asleep, reach)
    woken = dozing
    while dozing != NO_WORD and woken != NO_WORD:
        woken = NO_WORD
        dozing = NO_WORD
        for word in range(words):
            fresh = reach[word] & asleep[word]
            asleep[word] ^= fresh
            woken |= fresh
            dozing |= asleep[word]
        if woken != NO_WORD:
            _spread_awake(tables, board, player, asleep, reach)


@lean_kernel
def legal_word(board: Words, full: Words, word: int) -> np.uint64:
    """Return one word of the set of legal cells of the mover."""
    own = VIRUSES + as_int(board[MOVER]) * SET_WORDS
    blocked = (
        board[as_index(own + word)] | board[as_index(ZOMBIES + word)] | board[as_index(ZOMBIES + SET_WORDS + word)]
    )
    return np.uint64(board[as_index(REACH + word)] & full[word] & ~blocked)


@lean_kernel
def count_legal(tables: VirusWarsTables, board: Words) -> int:
    """Return the number of actions of the mover; 0 means that they have lost."""
    count = 0
    for word in range(tables.shape[0]):
        count += count_bits(legal_word(board, tables.full, word))
    return count


@lean_kernel
def play(tables: VirusWarsTables, board: Words, place: int) -> None:
    """Play the legal action of the mover on ``place``."""
    word, bit = place >> 6, ONE << np.uint64(place & 63)
    mover = as_int(board[MOVER])
    left = as_int(board[LEFT])
    own, enemy = VIRUSES + mover * SET_WORDS, VIRUSES + (1 - mover) * SET_WORDS
    hashed = board[HASH] ^ tables.keys[as_index(4 + mover), as_index(left)]
    if board[as_index(enemy + word)] & bit:
        board[as_index(enemy + word)] ^= bit
        board[as_index(ZOMBIES + mover * SET_WORDS + word)] |= bit
        hashed ^= (
            tables.keys[as_index(1 - mover), as_index(place)] ^ tables.keys[as_index(2 + mover), as_index(place)]
        )
    else:
        board[as_index(own + word)] |= bit
        hashed ^= tables.keys[as_index(mover), as_index(place)]
    if tables.shape[4] and _count_pieces(tables, board, mover) == 1:
        # The first virus is free.
        left += 1
    if left == 1:
        mover, left = 1 - mover, int(tables.shape[2])
        find_reach(tables, board, mover, board[REACH:], board[ASLEEP:])
    else:
        left -= 1
        _widen_reach(tables, board, mover, place)
    board[MOVER], board[LEFT] = np.uint64(mover), np.uint64(left)
    board[HASH] = hashed ^ tables.keys[as_index(4 + mover), as_index(left)]


@lean_kernel
def _widen_reach(tables: VirusWarsTables, board: Words, mover: int, place: int) -> None:
    """Add the reach of the mover's new piece on ``place`` and of the pieces that it wakes."""
    words = tables.shape[0]
    woken = NO_WORD
    for word in range(words):
        woken |= tables.near[as_index(place), as_index(word)] & board[as_index(ASLEEP + word)]
    if woken != NO_WORD or (tables.shape[3] and _count_pieces(tables, board, mover) == 1):
        find_reach(tables, board, mover, board[REACH:], board[ASLEEP:])
        return
    for word in range(words):
        board[as_index(REACH + word)] |= tables.near[as_index(place), as_index(word)]


@lean_kernel
def _count_pieces(tables: VirusWarsTables, board: Words, player: int) -> int:
    pieces = 0
    for word in range(tables.shape[0]):
        pieces += count_bits(board[as_index(VIRUSES + player * SET_WORDS + word)])
        pieces += count_bits(board[as_index(ZOMBIES + player * SET_WORDS + word)])
    return pieces


@lean_kernel
def copy_board(source: Words, target: Words) -> None:
    """Make ``target`` equal to ``source``; faster than assigning one slice to another."""
    for word in range(BOARD_WORDS):
        target[word] = source[word]


@lean_kernel
def count_sequences(tables: VirusWarsTables, boards: Words, depth: int) -> int:
    """Count the sequences of ``depth`` (1 or more) actions from ``boards[0]``; ``boards`` has a row for each."""
    if depth == 1:
        return count_legal(tables, boards[0])
    count = 0
    for word in range(tables.shape[0]):
        legal = legal_word(boards[0], tables.full, word)
        while legal != NO_WORD:
            place = 64 * word + lowest_bit(legal)
            legal &= legal - ONE
            copy_board(boards[0], boards[1])
            play(tables, boards[1], place)
            count += count_sequences(tables, boards[1:], depth - 1)
    return count


def legal_actions(tables: VirusWarsTables, board: Words) -> tuple[int, ...]:
    """Return the legal actions as the rules number them, ascending."""
    found = []
    for word in range(int(tables.shape[0])):
        legal = int(legal_word(board, tables.full, word))
        found += [int(tables.actions[64 * word + bit]) for bit in range(64) if legal >> bit & 1]
    return tuple(found)
