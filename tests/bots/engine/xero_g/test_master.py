"""The search of the level ``master`` of Xero-G: what it never does, what it proves, and what it keeps."""

from __future__ import annotations

import random

import pytest

from tabuleiro.rules import registry
from tabuleiro.rules.games.xero_g import XeroG, XeroGState
from tabuleiro.rules.games.xero_g.actions import FIRST_MOVE

pytest.importorskip("numba", reason="the extra `bots` is not installed, so there are no kernels")

import msgspec
import numpy as np

from tabuleiro_server.bots.engine.alpha_beta import (
    AT_LEAST,
    AT_MOST,
    EXACT,
    INFINITY,
    PROVEN,
    new_transpositions,
    unlimited_effort,
)
from tabuleiro_server.bots.engine.base import SearchResult
from tabuleiro_server.bots.engine.kernels import Array
from tabuleiro_server.bots.engine.xero_g import board as kernels
from tabuleiro_server.bots.engine.xero_g import master, search
from tabuleiro_server.bots.engine.xero_g.targets import new_room
from tabuleiro_server.bots.engine.xero_g.values import FEATURE_COUNT

NODES = 3_000


def game_of(variant: str, seed: int) -> XeroG:
    game = registry.load("xero-g", {"variant": variant, "setup": "random", "seed": seed})
    assert isinstance(game, XeroG)
    return game


def random_state(seed: int, plies: int) -> XeroGState | None:
    """Return the position after random actions that do not enter; ``None`` if the game is over before."""
    rng, state = random.Random(seed), game_of(("xero-g", "gyges")[seed % 2], seed).initial_state()
    for _ in range(plies):
        quiet = [action for action in state.legal_actions() if not state.action_to_string(action).endswith("base")]
        if not quiet:
            return None
        state = state.child(rng.choice(quiet))
    return state


def can_enter(state: XeroGState) -> bool:
    """Return True if the player to move can enter the base, by the rules."""
    return any(state.action_to_string(action).endswith("base") for action in state.legal_actions())


def chosen_in(
    state: XeroGState, searcher: master.MasterXeroGSearcher | None = None, nodes: int = NODES
) -> SearchResult:
    searcher = searcher or master.MasterXeroGSearcher(game_of("gyges", 1))
    return searcher.choose_turn(state, max_nodes=nodes, deadline_s=None, seed=1)


def test_a_win_is_taken_and_none_is_handed_over_if_there_is_another_action() -> None:
    taken_count = safe_count = 0
    for seed in range(60):
        state = random_state(seed, 1 + seed % 9)
        if state is None:
            continue
        found = chosen_in(state)
        after = state.apply(found.actions[0])
        if can_enter(state):
            assert after.outcome is not None
            assert found.is_proven
            taken_count += 1
        elif can_enter(after):
            assert all(can_enter(state.child(action)) for action in state.legal_actions())
            assert found.is_proven
            assert found.value == -1.0
        else:
            safe_count += 1
    assert taken_count > 10
    assert safe_count > 10


def loses_at_once(position: Array, room: Array) -> bool:
    """Return True if each action of the mover lets the opponent enter, by trying all of them."""
    moves = np.zeros(kernels.MAX_MOVES, dtype=np.int32)
    mover = int(position[kernels.MOVER])
    for move in moves[: kernels.list_moves(position, room, moves)]:
        child = position.copy()
        kernels.play_move(child, move)
        if child[kernels.WINNER] >= 0 or not kernels.can_enter(child, 1 - mover, room):
            return False
    return True


def is_lost(position: Array) -> bool:
    """Return True if the mover loses in six actions at most, by a search that leaves nothing out."""
    memory = search.new_memory([], np.array(search.WEIGHTS), 1)
    memory.width[0] = search.ALL_ACTIONS
    memory.positions[0] = position
    effort, table = unlimited_effort(), new_transpositions()
    return any(search.search(memory, table, effort, 0, depth, -INFINITY, 1) <= -PROVEN for depth in (2, 4, 6))


def test_a_win_that_is_proven_is_one_and_no_choice_loses_to_a_threat() -> None:
    """Every action of the opponent, and every reply to a threat, is tried by kernels that know no patterns."""
    room, moves, won_count, checked_count = new_room(), np.zeros(kernels.MAX_MOVES, dtype=np.int32), 0, 0
    for seed in range(100, 140):
        state = random_state(seed, 2 + seed % 7)
        if state is None or can_enter(state):
            continue
        found = chosen_in(state, nodes=20_000)
        position = kernels.position_of(state.apply(found.actions[0]))
        if found.is_proven and found.value == 1.0:
            assert is_lost(position)
            won_count += 1
        elif not found.is_proven:
            opponent = int(position[kernels.MOVER])
            for move in moves[: kernels.list_moves(position, room, moves)].copy():
                child = position.copy()
                kernels.play_move(child, move)
                if kernels.can_enter(child, opponent, room) and not kernels.can_enter(child, 1 - opponent, room):
                    assert not loses_at_once(child, room)
            checked_count += 1
    assert won_count
    assert checked_count > 10


def test_searches_limited_by_nodes_are_the_same_whatever_was_searched_before() -> None:
    game = game_of("gyges", 3)
    searcher = master.MasterXeroGSearcher(game)
    first = chosen_in(game.initial_state(), searcher)
    later = game.initial_state().apply(first.actions[0])
    chosen_in(later, searcher)
    assert chosen_in(game.initial_state(), searcher) == first


def test_other_weights_lead_to_other_lines_and_those_of_the_file_are_taken_by_themselves() -> None:
    game = game_of("xero-g", 4)
    of_file = msgspec.json.decode(master.WEIGHTS_FILE.read_bytes(), type=list[float])
    assert len(of_file) == FEATURE_COUNT
    searchers = [master.MasterXeroGSearcher(game, weights) for weights in (None, of_file, [0.0] * FEATURE_COUNT)]
    found, same, other = (chosen_in(game.initial_state(), searcher) for searcher in searchers)
    assert found == same
    assert found.value != other.value


def test_a_row_of_the_setup_is_complete() -> None:
    state, searcher = registry.load("xero-g").initial_state(), master.MasterXeroGSearcher(game_of("xero-g", 1))
    for _ in range(2):
        for action in searcher.choose_turn(state, max_nodes=500, deadline_s=None, seed=2).actions:
            state = state.apply(action)
    assert isinstance(state, XeroGState)
    assert not state.is_setup


def test_the_table_keeps_the_deeper_of_two_results_and_makes_room_in_the_other() -> None:
    table = master.new_table()
    bucket = 5
    keys = [np.uint64(bucket | number << 40) for number in (1, 2, 3)]
    master.keep(table, keys[0], 10, EXACT, 6, 0, 101)
    master.keep(table, keys[1], 20, EXACT, 4, 0, 102)
    master.keep(table, keys[2], 30, AT_LEAST, 5, 0, 103)
    kept = [master.find(table, key) for key in keys]
    assert kept[1] == 0
    assert [master.unpack_entry(entry) for entry in (kept[0], kept[2])] == [
        (10, EXACT, 6, 101),
        (30, AT_LEAST, 5, 103),
    ]
    master.keep(table, keys[1], 40, EXACT, 6, 0, 104)
    assert [master.find(table, key) == 0 for key in keys] == [False, False, True]


@pytest.mark.parametrize("value", [-INFINITY, -1, 0, 1, INFINITY])
def test_an_entry_holds_every_value(value: int) -> None:
    entry = master.pack_entry(value, AT_MOST, 31, FIRST_MOVE + 1_000_000)
    assert entry != 0
    assert master.unpack_entry(entry) == (value, AT_MOST, 31, FIRST_MOVE + 1_000_000)


def test_what_two_threads_wrote_at_once_is_no_entry() -> None:
    table, key = master.new_table(), np.uint64(5 | 1 << 40)
    master.keep(table, key, 10, EXACT, 6, 0, 101)
    other = master.new_table()
    master.keep(other, key, 20, EXACT, 4, 0, 102)
    index = int(np.flatnonzero(table.keys)[0])
    table.entries[index] = other.entries[index]
    assert master.find(table, key) == 0
