"""A match as a value, :class:`MatchRecord`: every format is read into it and written from it.

Our own text is :mod:`tabuleiro.notation.record_text`'s, other formats are :mod:`tabuleiro.notation.formats`'.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from datetime import UTC, datetime, timedelta
from typing import Final

from tabuleiro.errors import NotationError
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
    """The player of a side; ``bot`` is the level of a bot, ``None`` for a person."""

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
        """The cause of the end, ``unfinished`` when the match goes on."""
        return UNFINISHED if self.outcome is None else self.outcome.termination.value


@dataclass(frozen=True, slots=True)
class RecordTurn:
    """The actions that ``player`` made in one turn; ``ply`` counts the actions of the match before them."""

    number: int
    player: Player
    ply: int
    actions: tuple[str, ...] = ()


def replay(record: MatchRecord) -> tuple[State, ...]:
    """Return all states of a match: the start, and the state after each action.

    Raises:
        GameOptionError, NotationError, IllegalActionError: The rules refuse the record.
    """
    state = registry.load(record.game, record.options).initial_state()
    states = [state]
    for text in record.actions:
        state = state.apply(state.string_to_action(text))
        states.append(state)
    return tuple(states)


def turns(record: MatchRecord, states: Sequence[State]) -> tuple[RecordTurn, ...]:
    """Return the actions of a match by turns, in canonical texts; ``states`` is the result of :func:`replay`."""
    played = zip(record.actions, states[:-1], strict=True)
    return parted_turns([state.action_to_string(state.string_to_action(text)) for text, state in played], states)


def parted_turns(actions: Sequence[str], states: Sequence[State]) -> tuple[RecordTurn, ...]:
    """Return ``actions`` by turns; ``states`` holds the position before each of them, and the last one."""
    found: list[RecordTurn] = []
    for ply, (text, state) in enumerate(zip(actions, states[:-1], strict=True)):
        if found and found[-1].number == state.turn_number:
            found[-1] = replace(found[-1], actions=(*found[-1].actions, text))
        elif state.to_move is not None:
            found.append(RecordTurn(state.turn_number, state.to_move, ply, (text,)))
    return tuple(found)


def result_of(outcome: Outcome | None) -> str:
    """Return ``1-0``, ``0-1``, ``1/2-1/2``, or ``*`` for no result; ``None`` is a match that goes on.

    >>> result_of(Outcome(0, Termination.RESIGNATION)), result_of(Outcome(None, Termination.ABORTED))
    ('1-0', '*')
    """
    if outcome is None:
        return NO_RESULT
    if outcome.winner is not None:
        return WINS[outcome.winner]
    return NO_RESULT if outcome.termination in WITHOUT_RESULT else DRAW


def outcome_problem(state: State, outcome: Outcome | None) -> str | None:
    """Return the reason why a match with the last state ``state`` cannot have this outcome; ``None`` if it can."""
    by_rules = state.outcome
    if by_rules is not None and outcome != by_rules:
        winner = "nobody" if by_rules.winner is None else f"player {by_rules.winner}"
        return f"by the rules the game ends here: {winner} wins by {by_rules.termination}"
    if by_rules is None and outcome is not None and outcome.termination in RULE_TERMINATIONS:
        return "by the rules the game does not end here"
    if outcome is not None and outcome.termination is Termination.ABORTED and outcome.winner is not None:
        return "nobody wins an aborted match"
    return None


def assumed_outcome(state: State, winner: Player | None, *, is_draw: bool) -> Outcome | None:
    """Return the end of a match of which only the result is known.

    It is that of the rules if they end the game; otherwise the loser resigned, and a draw was agreed.
    """
    if winner is None and not is_draw:
        return None
    if state.outcome is not None and state.outcome.winner == winner:
        return state.outcome
    return Outcome(winner, Termination.AGREEMENT if winner is None else Termination.RESIGNATION)


UNKNOWN: Final = "?"
"""A name or a moment that is not known."""

_EPOCH: Final = datetime(1970, 1, 1, tzinfo=UTC)


def format_timestamp(moment_ms: TimestampMs | None) -> str:
    """Write a moment in ISO 8601, to the millisecond, in UTC; ``None`` is ``?``.

    Raises:
        OverflowError: The moment is outside the years 1 to 9999.

    >>> format_timestamp(TimestampMs(1))
    '1970-01-01T00:00:00.001Z'
    """
    if moment_ms is None:
        return UNKNOWN
    moment = _EPOCH + timedelta(milliseconds=moment_ms)
    return moment.isoformat(timespec="milliseconds").removesuffix("+00:00") + "Z"


def parse_timestamp(text: str) -> TimestampMs | None:
    """Read an ISO 8601 date, with a time or without; without a time zone it is UTC. ``?`` is ``None``.

    Raises:
        NotationError: The text is no such date.
    """
    if text == UNKNOWN:
        return None
    try:
        moment = datetime.fromisoformat(text)
        if moment.tzinfo is None:
            moment = moment.replace(tzinfo=UTC)
        return TimestampMs((moment - _EPOCH) // timedelta(milliseconds=1))
    except (ValueError, OverflowError):
        raise NotationError(text, "an ISO 8601 date and time, e.g. 2026-11-27T20:15:00.000Z, or ?") from None
