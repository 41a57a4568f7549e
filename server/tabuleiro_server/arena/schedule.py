"""Which games an arena plays: every pair, the sides swapped each round, all chance drawn from one seed."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from itertools import combinations
from random import Random
from typing import Final

from tabuleiro.rules import registry
from tabuleiro.rules.options import Options
from tabuleiro_server.arena.entrants import Entrant

SEED_LIMIT: Final = 2**31
"""Seeds drawn here are below this, so that they fit the option ``seed`` of every game and a C ``int``."""


@dataclass(frozen=True, slots=True)
class Terms:
    """What all games of an arena have in common.

    ``limit_ms`` is the time for a turn in milliseconds; a level thinks for its own limit if that is shorter. With
    ``max_nodes``, levels look at no clock but at so many nodes a turn, or at their own number of them if that is
    less: then the same terms give the same games wherever they are played. A game that has not ended after
    ``max_plies`` actions is a draw.
    """

    game: str
    options: Options
    entrants: tuple[Entrant, ...]
    round_count: int
    seed: int
    limit_ms: int = 5_000
    max_plies: int = 1_000
    max_nodes: int | None = None

    @property
    def game_count(self) -> int:
        """How many games there are to play."""
        return self.round_count * len(self.entrants) * (len(self.entrants) - 1) // 2


@dataclass(frozen=True, slots=True)
class Pairing:
    """A game to be played: ``sides`` are the places in the list of entrants of player 0 and player 1.

    ``number`` and ``round`` count from 1. ``options`` are those of the game, a drawn one among them where it
    needs it; ``seeds`` are for player 0 and player 1 to draw from.
    """

    number: int
    round: int
    sides: tuple[int, int]
    options: Options
    seeds: tuple[int, int]


def iter_pairings(terms: Terms) -> Iterator[Pairing]:
    """Yield all games, round after round: in each, every pair plays once. The same terms give the same games.

    Two successive rounds of the same pair start from the same drawn position, if any, with sides swapped.
    """
    game_type = registry.game_type(terms.game)
    pairs = list(combinations(range(len(terms.entrants)), 2))
    number = 0
    for turn in range(terms.round_count):
        for one, other in pairs:
            number += 1
            options = dict(terms.options)
            if game_type.needs_seed(options):
                options["seed"] = Random(f"{terms.seed} start {turn // 2} {one} {other}").randrange(SEED_LIMIT)
            chance = Random(f"{terms.seed} players {number}")
            sides = (one, other) if turn % 2 == 0 else (other, one)
            seeds = (chance.randrange(SEED_LIMIT), chance.randrange(SEED_LIMIT))
            yield Pairing(number, turn + 1, sides, options, seeds)
