"""What the trainers of all games share: games of ``expert`` against itself, and a file of weights."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from contextlib import closing
from typing import Final

import msgspec

from tabuleiro.rules.options import Options
from tabuleiro_server.arena.play import GameResult
from tabuleiro_server.arena.schedule import Terms, iter_pairings, parse_entrants
from tabuleiro_server.arena.workers import play_jobs

Train = Callable[[int, int, int, Callable[[str], None]], bytes]
"""Games, seed, processes and a way to tell how far it is: the bytes of a file of weights."""

LEVEL: Final = "expert"
"""The level that plays. It never changes."""

HELD_OUT_EVERY: Final = 10
"""Each so many games, one is not learnt from: it tells how good the weights are."""


def play_games(game: str, options: Options, count: int, seed: int, jobs: int, nodes: int) -> list[GameResult]:
    """Return games of so many ``nodes`` a turn by number, whichever process is ready first."""
    terms = Terms(game, options, parse_entrants(game, (LEVEL, LEVEL)), count, seed, max_nodes=nodes)
    with closing(play_jobs(((terms, pairing) for pairing in iter_pairings(terms)), jobs)) as playing:
        return sorted((result for _, result in playing), key=lambda result: result.pairing.number)


def weights_file(weights: Iterable[float], digits: int) -> bytes:
    """Return a file of weights, a list of numbers with so many digits after the point."""
    return msgspec.json.format(msgspec.json.encode([round(float(each), digits) for each in weights])) + b"\n"
