"""The levels of Virus Wars and Xero-G: one search, ended sooner or later; ``easy`` looks less far, that is all."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final

from tabuleiro.rules.games.virus_wars import VirusWars
from tabuleiro.rules.games.xero_g import XeroG
from tabuleiro_server.bots.engine.plain_search import PlainSearcher
from tabuleiro_server.bots.engine.plain_xero_g import PlainXeroGSearcher
from tabuleiro_server.bots.engine.search_level import SearchLevel

SEARCH_LEVELS: Final[Mapping[str, tuple[SearchLevel, ...]]] = {
    VirusWars.name: (
        SearchLevel("easy", 40, 1_000, PlainSearcher),
        SearchLevel("medium", 220, 1_000, PlainSearcher),
        SearchLevel("hard", 1_500, 1_500, PlainSearcher),
        SearchLevel("expert", 200_000, 2_000, PlainSearcher),
    ),
    XeroG.name: (
        SearchLevel("easy", 300, 1_000, PlainXeroGSearcher),
        SearchLevel("medium", 2_500, 1_000, PlainXeroGSearcher),
        SearchLevel("hard", 14_000, 1_500, PlainXeroGSearcher),
        SearchLevel("expert", 400_000, 2_000, PlainXeroGSearcher),
    ),
}
"""The levels of each game, weakest first."""
