"""A match as a value: what was played, by whom, and how it ended; replayed and parted into turns on demand.

How a record is written is left to :mod:`tabuleiro.notation.record` (text) and
:mod:`tabuleiro.notation.record_json` (JSON).
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Final

from tabuleiro.ids import Player, TimestampMs
from tabuleiro.rules import State, registry
from tabuleiro.rules.base import RULE_TERMINATIONS, Outcome, Termination
from tabuleiro.rules.options import Options

UNFINISHED: Final = "unfinished"
"""The termination of a match that goes on, or whose end nobody recorded."""
NO_RESULT: Final = "*"
WINS: Final = ("1-0", "0-1")
DRAW: Final = "1/2-1/2"
WITHOUT_RESULT: Final = frozenset({Termination.ABORTED, Termination.ABANDONED})
"""Terminations that leave no result when nobody won by them."""


@dataclass(frozen=True, slots=True)
class RecordPlayer:
    """Who played a side; ``bot`` is the level of a computer player, ``None`` for a person."""

    name: str
    bot: str | None = None


@dataclass(frozen=True, slots=True)
class MatchRecord:
    """One match, finished or not.

    ``actions`` are canonical texts since the start, ``options`` may leave out defaults. ``outcome`` is ``None``
    for a match that goes on; times are ``None`` when not known. ``time_control`` is a text that
    :func:`tabuleiro.clock.texts.parse_time_control` reads.
    """

    game: str
    options: Options
    players: tuple[RecordPlayer, RecordPlayer]
    actions: tuple[str, ...] = ()
    outcome: Outcome | None = None
    started_at_ms: TimestampMs | None = None
    ended_at_ms: TimestampMs | None = None
    time_control: str = "none"

    @property
    def result(self) -> str:
        """``1-0``, ``0-1``, ``1/2-1/2``, or ``*`` for a match without a result."""
        return result_of(self.outcome)

    @property
    def termination(self) -> str:
        """What ended the match, ``unfinished`` when nothing did."""
        return UNFINISHED if self.outcome is None else self.outcome.termination.value


@dataclass(frozen=True, slots=True)
class RecordTurn:
    """The actions that ``player`` made in one turn; ``ply`` counts the actions of the match before them."""

    number: int
    player: Player
    ply: int
    actions: tuple[str, ...] = ()


def replay(record: MatchRecord) -> tuple[State, ...]:
    """All states of a match: the start, and the state after each action.

    Raises: GameOptionError, NotationError or IllegalActionError for a record that the rules refuse.
    """
    state = registry.load(record.game, record.options).initial_state()
    states = [state]
    for text in record.actions:
        state = state.apply(state.string_to_action(text))
        states.append(state)
    return tuple(states)


def turns(record: MatchRecord, states: Sequence[State]) -> tuple[RecordTurn, ...]:
    """The actions of a match by turns, in canonical texts; ``states`` are what :func:`replay` returned for it."""
    found: list[RecordTurn] = []
    for ply, (text, state) in enumerate(zip(record.actions, states[:-1], strict=True)):
        canonical = state.action_to_string(state.string_to_action(text))
        if found and found[-1].number == state.turn_number:
            found[-1] = replace(found[-1], actions=(*found[-1].actions, canonical))
        elif state.to_move is not None:
            found.append(RecordTurn(state.turn_number, state.to_move, ply, (canonical,)))
    return tuple(found)


def result_of(outcome: Outcome | None) -> str:
    """``1-0``, ``0-1``, ``1/2-1/2``, or ``*`` for no result; ``None`` is a match that goes on.

    >>> result_of(Outcome(0, Termination.RESIGNATION)), result_of(Outcome(None, Termination.ABORTED))
    ('1-0', '*')
    """
    if outcome is None:
        return NO_RESULT
    if outcome.winner is not None:
        return WINS[outcome.winner]
    return NO_RESULT if outcome.termination in WITHOUT_RESULT else DRAW


def outcome_problem(state: State, outcome: Outcome | None) -> str | None:
    """Why a match whose last state is ``state`` cannot have ended with ``outcome``; ``None`` when it can."""
    by_rules = state.outcome
    if by_rules is not None and outcome != by_rules:
        winner = "nobody" if by_rules.winner is None else f"player {by_rules.winner}"
        return f"by the rules the game ends here: {winner} wins by {by_rules.termination}"
    if by_rules is None and outcome is not None and outcome.termination in RULE_TERMINATIONS:
        return "by the rules the game does not end here"
    if outcome is not None and outcome.termination is Termination.ABORTED and outcome.winner is not None:
        return "nobody wins an aborted match"
    return None
