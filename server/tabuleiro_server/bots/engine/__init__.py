"""The fast search: kernels of the games and the searches that suit them. Needs the extra ``bots``.

Which level of a game searches how long is left to the level tables.
"""

from __future__ import annotations

from typing import Final

from tabuleiro.errors import BotError
from tabuleiro.rules import Game
from tabuleiro.rules.games.iris import Iris
from tabuleiro.rules.games.minefield import Minefield
from tabuleiro.rules.games.virus_wars import VirusWars
from tabuleiro.rules.games.xero_g import XeroG
from tabuleiro_server.bots.engine.base import Searcher

SEARCHED_GAMES: Final = (VirusWars.name, XeroG.name, Iris.name, Minefield.name)
"""The games that have a compiled search."""


def searcher(game: Game) -> Searcher:
    """Return the compiled search for ``game``; its kernels are compiled or loaded when it is first used.

    Raises: BotError when there is none for this game, ImportError without the extra ``bots``.
    """
    # Imported late: the modules below need numba, and take seconds to import where it is there.
    from tabuleiro_server.bots.engine.iris_search import IrisPlayground
    from tabuleiro_server.bots.engine.mcts_searcher import MctsSearcher
    from tabuleiro_server.bots.engine.minefield_search import MinefieldPlayground
    from tabuleiro_server.bots.engine.virus_wars_searcher import VirusWarsSearcher
    from tabuleiro_server.bots.engine.xero_g_searcher import XeroGSearcher

    if isinstance(game, VirusWars):
        return VirusWarsSearcher(game)
    if isinstance(game, XeroG):
        return XeroGSearcher(game)
    if isinstance(game, Iris):
        return MctsSearcher(IrisPlayground(game))
    if isinstance(game, Minefield):
        return MctsSearcher(MinefieldPlayground(game))
    raise BotError(f"there is no search for {game.title}")
