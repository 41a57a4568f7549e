"""The process that thinks: ``python -m tabuleiro_server.bots.worker`` reads jobs and writes answers as frames.

It lives as long as its standard input is open, so it does not outlive a server that was killed.
"""

from __future__ import annotations

import os
import signal
import sys
import traceback
from typing import BinaryIO, Final

from tabuleiro.errors import BotError
from tabuleiro.rules import Game, State, registry
from tabuleiro_server.bots.algorithms import MasterLevel, SearchLevel
from tabuleiro_server.bots.analysis import HINT_BUDGET_MS, suggest
from tabuleiro_server.bots.engine.readiness import KERNELS, MASTER_KERNELS, compile_apart
from tabuleiro_server.bots.explanation import explain
from tabuleiro_server.bots.levels import choose_turn, find_level
from tabuleiro_server.bots.messages import (
    Answer,
    Evaluation,
    Job,
    Ready,
    Refusal,
    WorkerMessage,
    encode_frame,
    read_job,
    replay,
    texts_of,
)

NICENESS: Final = 5
"""Added to the process's niceness, so that thinking does not starve the server on few cores.

With more, other programs on the machine would starve the bots, which then lose on time or play at random.
"""

ORPHAN_GRACE_S: Final = 2.0
"""Time the pool has, after the hang limit of a job, to kill the worker before the worker's own alarm does."""


def main() -> None:
    """Answer jobs until standard input ends."""
    # Ctrl-C in a terminal reaches the whole process group; a server that stops ends its workers itself.
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    if sys.platform != "win32":
        signal.signal(signal.SIGHUP, signal.SIG_IGN)
    if hasattr(os, "nice"):
        os.nice(NICENESS)
    jobs, answers = sys.stdin.buffer, _claim_stdout()
    try:
        _send(answers, Ready())
        KERNELS.start(compile_apart)
        MASTER_KERNELS.start(compile_apart)
        while (job := read_job(jobs)) is not None:
            _send(answers, _work(job))
    except BrokenPipeError:
        # There is no reader any more.
        return


def _claim_stdout() -> BinaryIO:
    """Return standard output for frames alone; all other prints go to standard error."""
    claimed = os.fdopen(os.dup(sys.stdout.fileno()), "wb", buffering=0)
    os.dup2(sys.stderr.fileno(), sys.stdout.fileno())
    return claimed


def _send(stream: BinaryIO, message: WorkerMessage) -> None:
    rest = memoryview(encode_frame(message))
    while rest:
        rest = rest[stream.write(rest) :]


def _work(job: Job) -> WorkerMessage:
    """Return the answer to ``job``. A level that fails costs this one answer, not the process."""
    _set_alarm(job.hang_limit_ms / 1000 + ORPHAN_GRACE_S)
    try:
        request = job.request
        state = replay(request)
        if request.is_hint:
            return _hint(job.number, registry.load(request.game, request.options), state, request.budget_ms)
        if request.explained_count:
            budget_ms = HINT_BUDGET_MS if request.budget_ms is None else request.budget_ms
            try:
                found = explain(state, request.level, request.explained_count, budget_ms)
            except BotError as error:
                return Answer(job.number, [], problem=str(error))
            return Answer(job.number, [], explanation=found)
        level = find_level(request.game, request.level)
        if request.kernels_wait_ms and isinstance(level, SearchLevel | MasterLevel):
            level.searcher(state.game, request.kernels_wait_ms / 1000)
        actions = choose_turn(state, request.level, request.seed, request.budget_ms, request.cores)
        return Answer(job.number, texts_of(state, actions))
    except Exception as error:
        traceback.print_exc()
        return Refusal(job.number, f"{type(error).__name__}: {error}")
    finally:
        _set_alarm(0)


def _hint(number: int, game: Game, state: State, budget_ms: int | None) -> Answer:
    best = suggest(game, state, HINT_BUDGET_MS if budget_ms is None else budget_ms)
    evaluation = Evaluation(best.value, best.is_proven, best.turns_to_end)
    return Answer(number, texts_of(state, best.actions), evaluation)


def _set_alarm(delay_s: float) -> None:
    """Let the operating system end this process after ``delay_s`` seconds; 0 cancels the alarm.

    A worker that hangs never sees its standard input close, so without the pool nothing else would end it.
    """
    if hasattr(signal, "setitimer"):
        signal.setitimer(signal.ITIMER_REAL, delay_s)


if __name__ == "__main__":
    main()
