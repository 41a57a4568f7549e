"""The worker processes that play the games of an arena in parallel."""

from __future__ import annotations

import asyncio
import multiprocessing
import signal
import sys
from collections.abc import Generator, Iterator
from contextlib import closing
from dataclasses import dataclass
from multiprocessing.connection import Connection, wait
from multiprocessing.context import SpawnProcess
from typing import Final

from tabuleiro.errors import BotError
from tabuleiro.rules import registry
from tabuleiro_server.arena.play import GameResult, play_game
from tabuleiro_server.arena.schedule import Pairing, Terms, iter_pairings
from tabuleiro_server.bots.algorithms import MasterLevel, SearchLevel
from tabuleiro_server.bots.engine.readiness import KERNELS, MASTER_KERNELS
from tabuleiro_server.bots.levels import find_level

Job = tuple[Terms, Pairing]
"""A game to be played."""

WARM_UP_LIMIT_S: Final = 300.0
END_LIMIT_S: Final = 5.0


@dataclass(slots=True)
class _Worker:
    process: SpawnProcess
    connection: Connection
    job: Job | None = None


def play_all(terms: Terms, worker_count: int) -> Generator[GameResult, None, None]:
    """Play all games in ``worker_count`` processes and yield each as it ends; close the generator to stop.

    Raises: BotError when a worker dies, by a bug or a lack of memory and not by a fault of an engine.
    """
    jobs = ((terms, pairing) for pairing in iter_pairings(terms))
    with closing(play_jobs(jobs, min(worker_count, terms.game_count))) as playing:
        for _, result in playing:
            yield result


def play_jobs(jobs: Iterator[Job], worker_count: int) -> Generator[tuple[Job, GameResult], None, None]:
    """Play games of any terms as :func:`play_all` does, in their order; yield each with its job.

    Raises: BotError when a worker dies.
    """
    workers: dict[Connection, _Worker] = {}
    try:
        for _ in range(worker_count):
            worker = _start()
            workers[worker.connection] = worker
            _hand_out(worker, next(jobs, None))
        while any(worker.job is not None for worker in workers.values()):
            for ready in wait([worker.connection for worker in workers.values() if worker.job is not None]):
                assert isinstance(ready, Connection)
                job, result = workers[ready].job, _receive(workers[ready])
                _hand_out(workers[ready], next(jobs, None))
                assert job is not None
                yield job, result
    finally:
        _end(list(workers.values()))


def _start() -> _Worker:
    context = multiprocessing.get_context("spawn")
    here, there = context.Pipe()
    process = context.Process(target=_work, args=(there,), name="arena worker", daemon=True)
    process.start()
    there.close()
    return _Worker(process, here)


def _hand_out(worker: _Worker, job: Job | None) -> None:
    worker.job = job
    if job is not None:
        worker.connection.send(job)


def _receive(worker: _Worker) -> GameResult:
    try:
        result = worker.connection.recv()
    except (EOFError, ConnectionError):
        worker.process.join(END_LIMIT_S)
        number = None if worker.job is None else worker.job[1].number
        raise BotError(f"game {number}: the worker died (exit status {worker.process.exitcode})") from None
    assert isinstance(result, GameResult)
    return result


def _end(workers: list[_Worker]) -> None:
    for worker in workers:
        worker.process.terminate()
    for worker in workers:
        worker.process.join(END_LIMIT_S)
        if worker.process.is_alive():
            worker.process.kill()
            worker.process.join()
        worker.connection.close()
        worker.process.close()


def _work(connection: Connection) -> None:
    """Play games until the connection closes: the main function of a worker."""
    # Ctrl-C reaches the whole process group; the arena itself ends its workers.
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    # An exit and no sudden end: engines are killed on the way out.
    signal.signal(signal.SIGTERM, lambda number, frame: sys.exit(0))
    try:
        while True:
            terms, pairing = connection.recv()
            _warm_up(terms)
            connection.send(asyncio.run(play_game(terms, pairing)))
    except (EOFError, ConnectionError):
        return


def _warm_up(terms: Terms) -> None:
    """Wait for the kernels of the levels that search, so that no game is played without them."""
    levels = [find_level(terms.game, entrant.level) for entrant in terms.entrants if not entrant.command]
    game = registry.load(terms.game, terms.options)
    if any(isinstance(level, SearchLevel) for level in levels):
        KERNELS.searcher(game, WARM_UP_LIMIT_S)
    if any(isinstance(level, MasterLevel) for level in levels):
        MASTER_KERNELS.searcher(game, WARM_UP_LIMIT_S)
