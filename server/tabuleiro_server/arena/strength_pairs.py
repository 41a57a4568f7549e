"""Which levels play each other for the page on strength, how far they may search, and what they must score.

Playing them, and writing the page, are left to others.
"""

from __future__ import annotations

import itertools
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Final

from tabuleiro.rules.games.iris import Iris
from tabuleiro.rules.games.minefield import Minefield
from tabuleiro.rules.games.virus_wars import VirusWars
from tabuleiro.rules.games.xero_g import XeroG
from tabuleiro_server.bots.levels import RANDOM, SEARCH_LEVELS

NEXT_LEVEL_AIM: Final = 0.75
"""What a level must score against the one below."""

REPORT_LEVEL_AIM: Final = 0.95
"""What the strongest level must score against the best computer player of the game's report."""

REPORT_LEVELS: Final[Mapping[str, str]] = {
    VirusWars.name: "minimax-3",
    XeroG.name: "greedy",
    Iris.name: "greedy",
    Minefield.name: "greedy",
}
"""The best computer player of each game's report. Source: RULES.md, "Computer players of the reports"."""

NODE_CAPS: Final[Mapping[str, int]] = {
    VirusWars.name: 8_000,
    XeroG.name: 100_000,
    Iris.name: 6_000,
    Minefield.name: 2_400,
}
"""Nodes a turn beyond which no level searches for the page, so that it can be made in an evening.

Only ``expert`` may search further in a real match, and is stronger there. Against the report's player it gets no
more nodes than the level below has: if that is enough, more are.
"""


@dataclass(frozen=True, slots=True)
class LevelPair:
    """Two levels of a game, and the score from 0 to 1 that ``stronger`` must reach.

    ``budgets`` are the nodes a turn of ``stronger`` and of ``weaker``, ``None`` if that one does not search.
    """

    game: str
    stronger: str
    weaker: str
    aim: float
    budgets: tuple[int, int | None]


def level_pairs(game: str, node_cap: int) -> tuple[LevelPair, ...]:
    """The pairs of ``game``: each searching level and the one below, then the strongest and the report's best.

    >>> [(pair.stronger, pair.weaker) for pair in level_pairs("iris", 100)][-2:]
    [('expert', 'hard'), ('expert', 'greedy')]
    """
    levels = SEARCH_LEVELS[game]
    names = [RANDOM.name, *(level.name for level in levels)]
    budgets = {level.name: min(level.max_nodes, node_cap) for level in levels}
    pairs = [
        LevelPair(game, stronger, weaker, NEXT_LEVEL_AIM, (budgets[stronger], budgets.get(weaker)))
        for weaker, stronger in itertools.pairwise(names)
    ]
    report_level = REPORT_LEVELS[game]
    pairs.append(LevelPair(game, names[-1], report_level, REPORT_LEVEL_AIM, (budgets[names[-2]], None)))
    return tuple(pairs)
