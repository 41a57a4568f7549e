"""How fast kernels and searches of Virus Wars and Xero-G are, beside the rules. Prints figures and asserts none.

    python -m tests.bench.bench_engine [--seconds SECONDS] [--compile]

All figures are for one core, by processor time. Virus Wars (the default board): actions a second in random games
and perft nodes a second, in kernels and in plain Python; nodes a second of the search. Xero-G (``gyges``):
positions whose moves are counted a second and moves listed a second, over positions of random games that average
about 250 moves. With ``--compile`` also how long it takes until a search is ready in a new process, before and
after its kernels are compiled. Iris and Minefield: ``bench_mcts.py``.
"""

from __future__ import annotations

import argparse
from collections.abc import Callable
from random import Random
from time import process_time
from typing import Any

import numpy as np

from tabuleiro.rules import State, perft, registry
from tabuleiro.rules.games.virus_wars import VirusWars, VirusWarsState
from tabuleiro.rules.games.xero_g import XeroGState
from tabuleiro.rules.games.xero_g.moves import BASE_BIT
from tabuleiro_server.bots import engine
from tabuleiro_server.bots.engine.kernels import Array, RandomState, kernel, lowest_bit, new_rng, random_below
from tabuleiro_server.bots.engine.virus_wars import board as virus_wars_board
from tabuleiro_server.bots.engine.xero_g import board as xero_g_board
from tabuleiro_server.bots.engine.xero_g.targets import new_room
from tests.bench.bench_mcts import report_compile

PERFT_DEPTH = 8
PLAIN_PERFT_DEPTH = 6
POSITION_COUNT = 1_000
LONGEST_GAME = 40


def rate(work: Callable[[], int], seconds: float) -> float:
    """How much work a second of processor time does; ``work`` says how much it did, and is warm after one call."""
    work()
    done, started = 0, process_time()
    while process_time() - started < seconds:
        done += work()
    return done / (process_time() - started)


def report(name: str, fast: float, plain: float | None = None) -> None:
    beside = "" if plain is None else f"   plain Python {plain:>12,.0f}   {fast / plain:6.0f} times"
    print(f"{name:<48} {fast:>13,.0f} a second{beside}", flush=True)


@kernel
def random_games(tables: Any, start: Array, rng: RandomState, count: int) -> int:
    """Play ``count`` random games of Virus Wars; the number of actions."""
    board = np.empty_like(start)
    played = 0
    for _ in range(count):
        board[:] = start
        legal = virus_wars_board.count_legal(tables, board)
        while legal > 0:
            skipped, word = random_below(rng, legal), 0
            here = virus_wars_board.legal_word(board, tables.full, 0)
            while True:
                if here == virus_wars_board.NO_WORD:
                    word += 1
                    here = virus_wars_board.legal_word(board, tables.full, word)
                elif skipped > 0:
                    here &= here - virus_wars_board.ONE
                    skipped -= 1
                else:
                    break
            virus_wars_board.play(tables, board, 64 * word + lowest_bit(here))
            played += 1
            legal = virus_wars_board.count_legal(tables, board)
    return played


def plain_game(state: State, random: Random) -> int:
    """Play a random game by the rules; the number of actions."""
    played = 0
    while not state.is_terminal:
        state = state.child(random.choice(state.legal_actions()))
        played += 1
    return played


def bench_virus_wars(seconds: float) -> None:
    game = registry.load("virus-wars")
    assert isinstance(game, VirusWars)
    state, tables = game.initial_state(), virus_wars_board.virus_wars_tables(game)
    assert isinstance(state, VirusWarsState)
    start, rng, random = virus_wars_board.board_of(state, tables), new_rng(1), Random(1)
    games_played = 0

    def play_games() -> int:
        nonlocal games_played
        games_played += 200
        return random_games(tables, start, rng, 200)

    fast = rate(play_games, seconds)
    report("virus-wars: actions in random games", fast, rate(lambda: plain_game(state, random), seconds))
    length = random_games(tables, start, rng, 1_000) / 1_000
    report("virus-wars: random games", fast / length)
    boards = np.zeros((PERFT_DEPTH, virus_wars_board.BOARD_WORDS), dtype=np.uint64)
    boards[0] = start
    fast = rate(lambda: virus_wars_board.count_sequences(tables, boards, PERFT_DEPTH), seconds)
    report("virus-wars: perft", fast, rate(lambda: perft(state, PLAIN_PERFT_DEPTH), seconds))
    search = engine.searcher(game)
    report(
        "virus-wars: nodes of the search",
        rate(lambda: search.choose_turn(state, max_nodes=50_000, deadline_s=None, seed=1).nodes, seconds),
    )


def random_xero_g_states() -> list[XeroGState]:
    """Positions of random games that enter a base only where nothing else is left."""
    states: list[XeroGState] = []
    for seed in range(POSITION_COUNT):
        random = Random(seed)
        options = {"variant": "gyges", "setup": "random", "seed": seed}
        state: State = registry.load("xero-g", options).initial_state()
        for _ in range(LONGEST_GAME):
            assert isinstance(state, XeroGState)
            if state.is_terminal:
                break
            states.append(state)
            if len(states) == POSITION_COUNT:
                return states
            ships = state.ship_moves()
            is_won = any(ship.targets & BASE_BIT for ship in ships)
            actions = state.legal_actions()
            if is_won:
                actions = tuple(a for a in actions if not state.action_to_string(a).endswith("base")) or actions
            state = state.child(random.choice(actions))
    return states


@kernel
def count_all(positions: Array, room: Array) -> int:
    """Count the moves of all positions; the number of positions."""
    for index in range(positions.shape[0]):
        xero_g_board.count_moves(positions[index], room)
    return int(positions.shape[0])


@kernel
def list_all(positions: Array, room: Array, moves: Array) -> int:
    """List the moves of all positions; the number of moves."""
    count = 0
    for index in range(positions.shape[0]):
        count += xero_g_board.list_moves(positions[index], room, moves)
    return count


def count_plain(states: list[XeroGState]) -> int:
    """Count the moves of all states by the rules; the number of states. Nothing is remembered from before."""
    for state in states:
        remade = XeroGState(state.game, state.mover, state.ships, state.occupied, 0, 1, ((), None), None)
        remade.legal_count()
    return len(states)


def list_plain(states: list[XeroGState]) -> int:
    """List the moves of all states by the rules; the number of moves."""
    count = 0
    for state in states:
        remade = XeroGState(state.game, state.mover, state.ships, state.occupied, 0, 1, ((), None), None)
        count += len(remade.legal_actions())
    return count


def bench_xero_g(seconds: float) -> None:
    states = random_xero_g_states()
    positions = np.array([xero_g_board.position_of(state) for state in states])
    room, moves = new_room(), np.zeros(xero_g_board.MAX_MOVES, dtype=np.int32)
    print(
        f"xero-g: {len(states)} positions, {list_all(positions, room, moves) / len(states):.0f} moves on average"
    )
    some = states[:: len(states) // 100]
    fast = rate(lambda: count_all(positions, room), seconds)
    report("xero-g: positions counted", fast, rate(lambda: count_plain(some), seconds))
    fast = rate(lambda: list_all(positions, room, moves), seconds)
    report("xero-g: moves listed", fast, rate(lambda: list_plain(some), seconds))
    search = engine.searcher(states[0].game)
    report(
        "xero-g: nodes of the search",
        rate(lambda: search.choose_turn(states[0], max_nodes=50_000, deadline_s=None, seed=1).nodes, seconds),
    )


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--seconds", type=float, default=2.0, help="processor time for each figure")
    parser.add_argument("--compile", action="store_true", help="also time new processes; takes minutes")
    arguments = parser.parse_args()
    bench_virus_wars(arguments.seconds)
    bench_xero_g(arguments.seconds)
    if arguments.compile:
        for name in ("virus-wars", "xero-g"):
            report_compile(name)


if __name__ == "__main__":
    main()
