"""One game of an arena, from the first action to its result."""

from __future__ import annotations

from collections.abc import AsyncIterator, Awaitable, Callable, Sequence
from contextlib import AsyncExitStack, asynccontextmanager
from dataclasses import dataclass, field
from time import monotonic
from typing import Final

from tabuleiro.engine_process import EngineProcess, running_engine
from tabuleiro.errors import BotError
from tabuleiro.ids import Player, opponent
from tabuleiro.notation.engine_lines import START_LIMIT_MS
from tabuleiro.rules import Game, State, registry
from tabuleiro_server.arena.schedule import Entrant, Pairing, Terms
from tabuleiro_server.bots.algorithms import Choice
from tabuleiro_server.bots.levels import choose

FAULT: Final = "fault"
PLY_LIMIT: Final = "ply-limit"

Chooser = Callable[[State, Sequence[str]], Awaitable[Choice]]
"""Choose one action or more of the turn of the player to move. Raises: BotError."""


@dataclass(frozen=True, slots=True)
class Effort:
    """The work of a player in a game: turns begun, milliseconds, and positions looked at.

    ``nodes`` is ``None`` for a program, which does not tell, and for a level that looks at none.
    """

    turns: int = 0
    thought_ms: float = 0.0
    nodes: int | None = None

    def plus(self, choice: Choice, thought_ms: float, *, begins_turn: bool) -> Effort:
        """Return the effort with that of one choice added."""
        nodes = self.nodes if choice.nodes is None else (self.nodes or 0) + choice.nodes
        return Effort(self.turns + begins_turn, self.thought_ms + thought_ms, nodes)


@dataclass(frozen=True, slots=True)
class GameResult:
    """A game that was played. ``winner`` is the side that won, ``None`` for a draw.

    ``termination`` is that of the rules, :data:`PLY_LIMIT`, or :data:`FAULT`: then ``fault`` is the fault of the
    loser, and ``None`` otherwise. ``actions`` are canonical texts. ``efforts`` are those of player 0 and player 1.
    """

    pairing: Pairing
    winner: Player | None
    termination: str
    fault: str | None
    actions: tuple[str, ...]
    efforts: tuple[Effort, Effort] = field(default=(Effort(), Effort()), compare=False)


async def play_game(terms: Terms, pairing: Pairing) -> GameResult:
    """Play a game; an engine that cannot be started, or gives no legal answer in time, loses it."""
    game = registry.load(terms.game, pairing.options)
    state, played = game.initial_state(), list[str]()
    sides: tuple[Player, Player] = (0, 1)
    efforts = [Effort(), Effort()]
    mover: Player = 0
    try:
        async with AsyncExitStack() as stack:
            choosers = []
            for mover in sides:
                entrant, seed = terms.entrants[pairing.sides[mover]], pairing.seeds[mover]
                choosers.append(await stack.enter_async_context(_seated(terms, entrant, game, seed)))
            while state.to_move is not None and len(played) < terms.max_plies:
                mover = state.to_move
                started_s = monotonic()
                choice = await choosers[mover](state, played)
                thought_ms = (monotonic() - started_s) * 1000
                begins_turn = state.actions_in_turn == 0
                efforts[mover] = efforts[mover].plus(choice, thought_ms, begins_turn=begins_turn)
                for action in choice.actions:
                    played.append(state.action_to_string(action))
                    state = state.apply(action)
    except BotError as error:
        return GameResult(pairing, opponent(mover), FAULT, str(error), tuple(played), (efforts[0], efforts[1]))
    outcome = state.outcome
    winner = None if outcome is None else outcome.winner
    termination = PLY_LIMIT if outcome is None else outcome.termination.value
    return GameResult(pairing, winner, termination, None, tuple(played), (efforts[0], efforts[1]))


@asynccontextmanager
async def _seated(terms: Terms, entrant: Entrant, game: Game, seed: int) -> AsyncIterator[Chooser]:
    if not entrant.command:

        async def think(state: State, played: Sequence[str]) -> Choice:
            return choose(state, entrant.level, seed, terms.limit_ms, terms.max_nodes)

        yield think
        return
    async with running_engine(entrant.command, keeps_errors=True) as engine:
        await engine.greet()
        await engine.begin(game, seed, max(terms.limit_ms, START_LIMIT_MS))
        yield _TimedTurns(engine, terms.limit_ms).choose


class _TimedTurns:
    """An engine with one limit for all parts of a turn."""

    def __init__(self, engine: EngineProcess, limit_ms: int) -> None:
        self._engine = engine
        self._limit_ms = self._left_ms = limit_ms

    async def choose(self, state: State, played: Sequence[str]) -> Choice:
        if state.actions_in_turn == 0:
            self._left_ms = self._limit_ms
        asked_s = monotonic()
        actions = await self._engine.choose(state, played, max(self._left_ms, 1))
        self._left_ms -= round((monotonic() - asked_s) * 1000)
        return Choice(actions)
