"""The state of the kernels of a process: compiled or loaded in the background, and ready game by game.

Compiling takes up to a minute at the first start on a machine, and loading compiled kernels about a second. Until
then, and without the extra ``bots``, there is no compiled search, and the caller searches in plain Python.

    python -m tabuleiro_server.bots.engine.readiness GAME

compiles those of a game, for a process that would keep the memory that a compiler takes, 250 MB and more.
"""

from __future__ import annotations

import hashlib
import os
import platform
import subprocess
import sys
import threading
from collections.abc import Callable, Iterable
from pathlib import Path
from typing import ClassVar, Final

import structlog

from tabuleiro.rules import Game, registry
from tabuleiro_server.bots import engine
from tabuleiro_server.bots.engine.base import Searcher

log = structlog.get_logger(__name__)

WARM_UP_NODES: Final = 4
"""Enough nodes for a search to call each of its kernels."""


SOURCES: Final = Path(__file__).parent

COMPILE_LIMIT_S: Final = 900.0
"""The longest time to compile the kernels of a game, on the slowest machine."""

_compiling = threading.Lock()


def mark_compiled(game: str) -> None:
    """Remember that the machine code of ``game`` is kept. Raises: OSError, and ImportError without the extra."""
    _mark(game).touch()


def _mark(game: str) -> Path:
    import numba

    from tabuleiro_server.bots.engine.kernels import CACHE_FOLDER

    # numba keeps machine code for the place of its sources, and until one of them is written anew.
    written_ns = max(source.stat().st_mtime_ns for source in SOURCES.rglob("*.py"))
    place = hashlib.blake2b(f"{SOURCES} {written_ns}".encode(), digest_size=4).hexdigest()
    return CACHE_FOLDER / f"{game}-{place}-{sys.implementation.cache_tag}-{numba.__version__}-{platform.machine()}"


def compile_apart(game: str) -> None:
    """Have the kernels of ``game`` compiled in a process of its own, if none did so before; wait for its end.

    It ends with this process. Where machine code cannot be kept, or compiling fails, nothing is done.

    Raises: ImportError without the extra ``bots``.
    """
    from tabuleiro_server.bots.engine.kernels import IS_KEPT

    # Several at once would only wait for each other.
    with _compiling:
        if not IS_KEPT or _mark(game).exists():
            return
        command = (sys.executable, "-P", "-m", __name__, game)
        try:
            with subprocess.Popen(command, stdin=subprocess.PIPE) as process:
                try:
                    process.wait(COMPILE_LIMIT_S)
                finally:
                    process.kill()
        except (OSError, subprocess.TimeoutExpired) as error:
            log.warning("kernels are compiled in a bot's worker, which takes memory", game=game, reason=str(error))


def _end_with_input() -> None:
    # Not by sys.stdin, which a thread must not hold at the end of the process.
    os.read(0, 1)
    os._exit(0)


def _main(name: str) -> None:
    threading.Thread(target=_end_with_input, daemon=True).start()
    game = registry.load(name)
    if all(each.searcher(game, None) is not None for each in (KERNELS, MASTER_KERNELS)):
        mark_compiled(name)


class Readiness:
    """The kernels of some games, made ready by ``make_searcher`` in threads of this process."""

    _made: ClassVar[tuple[Readiness, Game, Searcher] | None] = None
    """The last search of this process, of whatever level: several would take too much memory."""

    def __init__(
        self,
        make_searcher: Callable[[Game], Searcher] = engine.searcher,
        games: Iterable[str] = engine.SEARCHED_GAMES,
    ) -> None:
        self._make_searcher = make_searcher
        self._ready: set[str] = set()
        self._started: set[str] = set()
        self._compile: Callable[[str], None] | None = None
        self._finished = {name: threading.Event() for name in games}
        self._lock = threading.Lock()

    def start(self, compile_first: Callable[[str], None] | None = None) -> None:
        """Start a thread that compiles or loads the kernels of all games that were not asked for before.

        ``compile_first`` may compile those of a game elsewhere, so that they only have to be loaded here.
        """
        self._compile = compile_first
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
        # The last one is kept: making tables and trees takes longer than a hurried turn may take.
        made = Readiness._made
        if made is None or made[0] is not self or made[1] != game:
            # Its memory is free before the next one takes its own.
            made = Readiness._made = None
            made = Readiness._made = (self, game, self._make_searcher(game))
        return made[2]

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
        if self._compile is not None:
            self._compile(name)
        game = registry.load(name)
        search = self._make_searcher(game)
        search.choose_turn(game.initial_state(), max_nodes=WARM_UP_NODES, deadline_s=None, seed=0)
        self._ready.add(name)


KERNELS: Final = Readiness()
"""The kernels of this process."""

MASTER_KERNELS: Final = Readiness(engine.master_searcher)
"""Those of the level ``master``."""


if __name__ == "__main__":
    _main(sys.argv[1])
