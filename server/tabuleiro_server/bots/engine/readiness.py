"""The state of the kernels of a process: compiled or loaded in the background, and ready game by game.

Compiling takes up to a minute at the first start on a machine, and loading compiled kernels about a second. Until
then, and without the extra ``bots``, there is no compiled search, and the caller searches in plain Python.
"""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterable
from typing import Final

import structlog

from tabuleiro.rules import Game, registry
from tabuleiro_server.bots import engine
from tabuleiro_server.bots.engine.base import Searcher

log = structlog.get_logger(__name__)

WARM_UP_NODES: Final = 4
"""Enough nodes for a search to call each of its kernels."""


class Readiness:
    """The kernels of some games, made ready by ``make_searcher`` in threads of this process."""

    def __init__(
        self,
        make_searcher: Callable[[Game], Searcher] = engine.searcher,
        games: Iterable[str] = engine.SEARCHED_GAMES,
    ) -> None:
        self._make_searcher = make_searcher
        self._ready: set[str] = set()
        self._started: set[str] = set()
        self._made: dict[str, tuple[Game, Searcher]] = {}
        self._finished = {name: threading.Event() for name in games}
        self._lock = threading.Lock()

    def start(self) -> None:
        """Start a thread that compiles or loads the kernels of all games that were not asked for before."""
        self._start(self._finished)

    def finish(self) -> bool:
        """Wait until the kernels of all games are ready; return False if the extra is missing."""
        self.start()
        for finished in self._finished.values():
            finished.wait()
        return len(self._ready) == len(self._finished)

    def searcher(self, game: Game, patience_s: float | None) -> Searcher | None:
        """Return the compiled search for ``game`` if its kernels are ready after ``patience_s`` seconds at most.

        A patience of ``None`` has no end. The answer ``None`` means that the kernels are not ready yet, or never
        will be. The first call for a game starts on its kernels.
        """
        self._start((game.name,))
        self._finished[game.name].wait(patience_s)
        if game.name not in self._ready:
            return None
        # One is kept for each game: making tables and trees takes longer than a hurried turn may take.
        made = self._made.get(game.name)
        if made is None or made[0] != game:
            made = self._made[game.name] = (game, self._make_searcher(game))
        return made[1]

    def _start(self, games: Iterable[str]) -> None:
        with self._lock:
            wanted = [name for name in games if name not in self._started]
            self._started.update(wanted)
        if wanted:
            # A daemon: a process with nothing else to do need not wait for it.
            threading.Thread(target=self._warm_up, args=(wanted,), name="kernel warm-up", daemon=True).start()

    def _warm_up(self, games: Iterable[str]) -> None:
        for name in games:
            try:
                self._make_ready(name)
            except ImportError:
                # Without the extra there are no kernels; the bots think in plain Python.
                pass
            except Exception:
                # Kernels that fail must not hold up the bots of this game, which think in plain Python, nor the
                # games after it.
                log.exception("kernels failed", game=name)
            finally:
                self._finished[name].set()

    def _make_ready(self, name: str) -> None:
        game = registry.load(name)
        search = self._make_searcher(game)
        search.choose_turn(game.initial_state(), max_nodes=WARM_UP_NODES, deadline_s=None, seed=0)
        self._ready.add(name)


KERNELS: Final = Readiness()
"""The kernels of this process."""

MASTER_KERNELS: Final = Readiness(engine.master_searcher, engine.MASTER_GAMES)
"""Those of the level ``master``."""
