"""Whether the kernels of a game are ready in this process, and making them so in the background.

Compiling takes up to a minute at the first start on a machine, and loading what was compiled about a second; until
then, and without the extra ``bots``, there is no compiled search to be had and the caller thinks in plain Python.
"""

from __future__ import annotations

import threading
from collections.abc import Iterable, Mapping
from types import MappingProxyType
from typing import Final

from tabuleiro.rules import Game, registry
from tabuleiro_server.bots import engine
from tabuleiro_server.bots.engine.base import Searcher

WARM_UP_NODES: Final = 4
"""Enough for a search to call each of its kernels."""

_FINISHED: Final[Mapping[str, threading.Event]] = MappingProxyType(
    {name: threading.Event() for name in engine.SEARCHED_GAMES}
)
_READY: Final[set[str]] = set()
_STARTED: Final[set[str]] = set()
_LOCK: Final = threading.Lock()


def warm_up(games: Iterable[str] = engine.SEARCHED_GAMES) -> bool:
    """Compile or load the kernels of ``games`` now; whether they can be used. False without the extra ``bots``."""
    for name in games:
        try:
            game = registry.load(name)
            search = engine.searcher(game)
            search.choose_turn(game.initial_state(), max_nodes=WARM_UP_NODES, deadline_s=None, seed=0)
        except ImportError:
            return False
        else:
            _READY.add(name)
        finally:
            _FINISHED[name].set()
    return True


def start_warm_up(games: Iterable[str] = engine.SEARCHED_GAMES) -> None:
    """Have a thread compile or load the kernels of those of ``games`` that were not asked for before."""
    with _LOCK:
        wanted = [name for name in games if name not in _STARTED]
        _STARTED.update(wanted)
    if wanted:
        # A daemon: a process that has nothing else to do need not compile to the end.
        threading.Thread(target=warm_up, args=(wanted,), name="kernel warm-up", daemon=True).start()


def ready_searcher(game: Game, patience_s: float) -> Searcher | None:
    """The compiled search for ``game``, if its kernels are ready after ``patience_s`` seconds at most.

    The first wish for a game starts its warm-up. ``None`` means that they are not ready, or never will be.
    """
    start_warm_up((game.name,))
    _FINISHED[game.name].wait(patience_s)
    return engine.searcher(game) if game.name in _READY else None
