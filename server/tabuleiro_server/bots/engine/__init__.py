"""The search of the bots: compiled kernels for each game, and plain Python where there are none. See README.md.

:mod:`~tabuleiro_server.bots.levels` says how far each level of a game searches.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial
from typing import Final

from tabuleiro.errors import BotError
from tabuleiro.rules import Game, State
from tabuleiro.rules.games.iris import Iris, IrisState
from tabuleiro.rules.games.minefield import Minefield
from tabuleiro.rules.games.virus_wars import VirusWars
from tabuleiro.rules.games.xero_g import XeroG
from tabuleiro_server.bots.engine.base import Searcher
from tabuleiro_server.bots.engine.plain_search import PlainSearcher
from tabuleiro_server.bots.engine.xero_g.plain import PlainXeroGSearcher

SEARCHED_GAMES: Final = (VirusWars.name, XeroG.name, Iris.name, Minefield.name)
"""The games that have a compiled search."""

PLAYOUT_GAMES: Final = (Iris.name, Minefield.name)
"""Those of them in which it is a Monte-Carlo tree search; in the others it is alpha-beta."""


def searcher(game: Game) -> Searcher:
    """Return the compiled search for ``game``; its kernels are compiled or loaded when it is first used.

    Raises: BotError if this game has no search, ImportError without the extra ``bots``.
    """
    # Imported late: these modules need numba, and take seconds to import where it is installed.
    from tabuleiro_server.bots.engine.iris.search import IrisKernels
    from tabuleiro_server.bots.engine.mcts import MctsSearcher
    from tabuleiro_server.bots.engine.minefield.search import MinefieldKernels
    from tabuleiro_server.bots.engine.virus_wars.search import VirusWarsSearcher
    from tabuleiro_server.bots.engine.xero_g.search import XeroGSearcher

    if isinstance(game, VirusWars):
        return VirusWarsSearcher(game)
    if isinstance(game, XeroG):
        return XeroGSearcher(game)
    if isinstance(game, Iris):
        return MctsSearcher(IrisKernels(game))
    if isinstance(game, Minefield):
        return MctsSearcher(MinefieldKernels(game))
    raise BotError(f"there is no search for {game.title}")


def master_searcher(game: Game) -> Searcher:
    """Return the search of the level ``master`` for ``game``, as :func:`searcher` does.

    Raises: BotError if this game has no search, ImportError without the extra ``bots``.
    """
    from tabuleiro_server.bots.engine.guided import GuidedSearcher
    from tabuleiro_server.bots.engine.iris.master import MasterIrisKernels
    from tabuleiro_server.bots.engine.minefield.master import MasterMinefieldKernels
    from tabuleiro_server.bots.engine.virus_wars.master import MasterVirusWarsKernels
    from tabuleiro_server.bots.engine.xero_g.master import MasterXeroGSearcher

    if isinstance(game, VirusWars):
        return GuidedSearcher(partial(MasterVirusWarsKernels, game))
    if isinstance(game, XeroG):
        return MasterXeroGSearcher(game)
    if isinstance(game, Iris):
        return GuidedSearcher(partial(MasterIrisKernels, game))
    if isinstance(game, Minefield):
        return GuidedSearcher(partial(MasterMinefieldKernels, game))
    raise BotError(f"there is no search for {game.title}")


def plain_searcher(game: Game) -> Searcher:
    """Return the search for ``game`` in plain Python, for as long as there are no kernels."""
    if isinstance(game, XeroG):
        return PlainXeroGSearcher()
    return PlainSearcher(_stones) if isinstance(game, Iris) else PlainSearcher()


def _stones(state: State) -> Sequence[int]:
    """Return the legal actions of Iris without the pass: own stones never hurt, and passes only blur playouts."""
    actions = state.legal_actions()
    return actions[:-1] if isinstance(state, IrisState) and state.can_pass else actions
