"""Analyses for both faces: the search of this installation, a process that runs it, and the judging of a match.

``python -m tabuleiro_client.models.analysis`` is that process: it answers one job a line until its input ends.
"""

from __future__ import annotations

import asyncio
import sys
from asyncio.subprocess import DEVNULL, PIPE, Process
from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from importlib.metadata import entry_points
from typing import Final, cast

import msgspec

from tabuleiro.errors import ClientError, ConfigError, TabuleiroError
from tabuleiro.notation.record import RecordTurn
from tabuleiro.protocol.messages import Explanation
from tabuleiro.rules import State, registry
from tabuleiro.rules.analysis import Analyser, Analysis
from tabuleiro.rules.search_tree import SearchTree, TreeGrower
from tabuleiro_client.text.analysis import JudgedTurn, turns_of
from tabuleiro_client.text.problems import missing_part

ANALYSER_GROUP: Final = "tabuleiro.analysers"
"""The entry point group that holds what the bots can tell: the search ``engine`` and others."""

REPLY_MAX_BYTES: Final = 1 << 20

EXPLAINED_COUNT: Final = 10
EXPLANATION_MS: Final = 3_000
TREE_WIDTH: Final = 5
"""How many candidates are told, how long a level may think about them, and the branches shown of a position."""

Explainer = Callable[[State, str | None, int, int], Explanation]
"""Explain a state by a level (``None``: the report's), so many candidates of it, in so many milliseconds."""


def load_analyser() -> Analyser:
    """Load the search of this installation. Raises: ConfigError when there is none."""
    return cast(Analyser, load_from_bots("analyse", "engine"))


def load_engine(game: str, name: str) -> Analyser:
    """Load the search by a level or algorithm of ``game``.

    Raises: as :func:`load_analyser`; BotError for another text.
    """
    engine_named = cast(Callable[[str, str], Analyser], load_from_bots("analyse", "named-engine"))
    return engine_named(game, name)


def load_from_bots(command: str, name: str) -> object:
    """Load what the bots of this installation have for ``command``. Raises: ConfigError when there is none."""
    for found in entry_points(group=ANALYSER_GROUP, name=name):
        try:
            return found.load()
        except ModuleNotFoundError as error:
            if not (error.name or "").startswith("tabuleiro_server"):
                raise
    raise ConfigError(command, "the engine", f"the server's side beside the client: {missing_part('bots')}")


class _Job(msgspec.Struct, frozen=True):
    """A position, by the ``actions`` that lead to it."""

    game: str
    options: Mapping[str, int | str]
    actions: tuple[str, ...]


class SearchJob(_Job, frozen=True, tag="search"):
    """A position to be searched for so many ``seconds``."""

    seconds: float


class ExplainJob(_Job, frozen=True, tag="explain"):
    """A position to be explained as a ``level`` sees it; ``None`` for that of the game's report."""

    level: str | None = None


class TreeJob(_Job, frozen=True, tag="tree"):
    """A position whose tree is to be grown by an engine, so many actions deep."""

    engine: str
    depth: int


Job = SearchJob | ExplainJob | TreeJob


class Explained(msgspec.Struct, frozen=True):
    """An explanation, and the levels that could be asked for others."""

    explanation: Explanation
    levels: tuple[str, ...]


class _Reply(msgspec.Struct, frozen=True):
    """The answer to a job, or the reason why there is none."""

    analysis: Analysis | None = None
    explained: Explained | None = None
    tree: SearchTree | None = None
    problem: str = ""


class SearchProcess:
    """A process that searches positions, one after the other; it is started for the first one.

    The search takes a whole core, and in plain Python the interpreter with it: screens would stand still.
    """

    def __init__(self) -> None:
        self._process: Process | None = None
        self._turn = asyncio.Lock()

    async def search(self, job: SearchJob) -> Analysis:
        """Return the analysis of a position that is not over. Cancelling it ends the search.

        Raises: ClientError when there is no engine, or it fails.
        """
        found = (await self._do(job)).analysis
        assert found is not None, "the reply to a job is what it asks for"
        return found

    async def explain(self, job: ExplainJob) -> Explained:
        """Return an explanation of a position. Raises: as :meth:`search`; ClientError at the end of a game."""
        found = (await self._do(job)).explained
        assert found is not None, "the reply to a job is what it asks for"
        return found

    async def grow_tree(self, job: TreeJob) -> SearchTree:
        """Return the tree of a position. Raises: as :meth:`explain`; ClientError for a tree that is too large."""
        found = (await self._do(job)).tree
        assert found is not None, "the reply to a job is what it asks for"
        return found

    async def _do(self, job: Job) -> _Reply:
        async with self._turn:
            if self._process is None:
                self._process = await asyncio.create_subprocess_exec(
                    *(sys.executable, "-m", __name__),
                    stdin=PIPE,
                    stdout=PIPE,
                    stderr=DEVNULL,
                    limit=REPLY_MAX_BYTES,
                )
            try:
                return await self._answer(self._process, job)
            except BaseException:
                # What it would still say belongs to no job any more.
                await self._end()
                raise

    async def _answer(self, process: Process, job: Job) -> _Reply:
        assert process.stdin is not None
        assert process.stdout is not None
        try:
            process.stdin.write(msgspec.json.encode(job) + b"\n")
            await process.stdin.drain()
            reply = msgspec.json.decode(await process.stdout.readline(), type=_Reply)
        except (OSError, ValueError, msgspec.DecodeError) as error:
            raise ClientError("the search has ended unexpectedly") from error
        if reply.problem:
            raise ClientError(reply.problem)
        return reply

    async def close(self) -> None:
        """End the process, whatever it is doing. Closing twice is fine."""
        async with self._turn:
            await self._end()

    async def _end(self) -> None:
        process, self._process = self._process, None
        if process is None:
            return
        with suppress(ProcessLookupError):
            process.kill()
        with suppress(OSError):
            await process.communicate()


def answer_jobs() -> None:
    """Answer the jobs on standard input, one a line."""
    for line in sys.stdin.buffer:
        job = msgspec.json.decode(line, type=Job)
        try:
            reply = _reply_to(job)
        except (TabuleiroError, ModuleNotFoundError) as error:
            reply = _Reply(problem=str(error))
        sys.stdout.buffer.write(msgspec.json.encode(reply) + b"\n")
        sys.stdout.buffer.flush()


def _reply_to(job: Job) -> _Reply:
    game = registry.load(job.game, job.options)
    state = game.initial_state()
    for text in job.actions:
        state = state.apply(state.string_to_action(text))
    match job:
        case SearchJob():
            *_, last = load_analyser()(game, state, job.seconds, 1)
            return _Reply(analysis=last)
        case ExplainJob():
            explain = cast(Explainer, load_from_bots("explain", "explain"))
            names = cast(Callable[[str], tuple[str, ...]], load_from_bots("explain", "levels"))
            found = explain(state, job.level, EXPLAINED_COUNT, EXPLANATION_MS)
            return _Reply(explained=Explained(found, names(job.game)))
        case TreeJob():
            grow = cast(TreeGrower, load_from_bots("tree", "tree"))
            return _Reply(tree=grow(state, job.engine, job.depth, TREE_WIDTH))


class MatchJudge:
    """Judges the ``turns`` of a match by the analyses of ``states``, as they come.

    ``plies`` are the positions to be analysed: before each turn, and the last one if the game is not over there.
    """

    def __init__(self, states: Sequence[State], turns: Sequence[RecordTurn]) -> None:
        self.turns = tuple(turns)
        self._states = states
        self._analyses: dict[int, Analysis] = {}
        last = len(states) - 1
        is_open = bool(turns) and not states[last].is_terminal
        self.plies: tuple[int, ...] = (*(turn.ply for turn in turns), *((last,) if is_open else ()))

    @property
    def next_ply(self) -> int | None:
        """The first position without an analysis; ``None`` if there is none."""
        return next((ply for ply in self.plies if ply not in self._analyses), None)

    @property
    def done_count(self) -> int:
        """The number of positions analysed."""
        return len(self._analyses)

    def take(self, ply: int, analysis: Analysis) -> None:
        """Take the analysis of the position at ``ply``."""
        self._analyses[ply] = analysis

    def value(self, ply: int) -> float | None:
        """Return the value of a position for the first player, from -1 to 1; ``None`` if it is not known yet."""
        state = self._states[ply]
        if state.outcome is not None:
            return 0.0 if state.outcome.winner is None else 1.0 - 2.0 * state.outcome.winner
        analysis = self._analyses.get(ply)
        if analysis is None:
            return None
        return analysis.best.value if state.to_move == 0 else -analysis.best.value

    def values(self) -> list[float | None]:
        """Return the values before each turn and after the last one."""
        if not self.turns:
            return []
        return [*(self.value(turn.ply) for turn in self.turns), self.value(len(self._states) - 1)]

    def judgements(self) -> list[JudgedTurn | None]:
        """Return the judgement of each turn; ``None`` without an analysis before it or a value after it."""
        return [self._judgement(turn) for turn in self.turns]

    def judged(self) -> list[JudgedTurn]:
        """Return the judgements there are, in the order of play."""
        return [judgement for judgement in self.judgements() if judgement is not None]

    def _judgement(self, turn: RecordTurn) -> JudgedTurn | None:
        analysis, after = self._analyses.get(turn.ply), self.value(turn.ply + len(turn.actions))
        if analysis is None or after is None:
            return None
        best = tuple(turns_of(self._states[turn.ply], analysis.best.actions)[0][1])
        return JudgedTurn(turn, analysis.best, best, after if turn.player == 0 else -after)


if __name__ == "__main__":
    answer_jobs()
