"""The conversion of a match as the server sends it into the record that people keep."""

from __future__ import annotations

from tabuleiro.notation.record import MatchRecord, RecordPlayer
from tabuleiro.protocol.events import SeatInfo
from tabuleiro.protocol.messages import RecordPlayed
from tabuleiro.rules.base import Outcome, Termination


def record_of(played: RecordPlayed) -> MatchRecord:
    """Return the match as a record.

    Raises:
        ValueError: This program does not know the termination.
    """
    outcome = None
    if played.termination is not None:
        outcome = Outcome(played.winner, Termination(played.termination))
    return MatchRecord(
        game=played.game,
        options=played.options,
        players=(_player(played.players[0]), _player(played.players[1])),
        actions=played.actions,
        outcome=outcome,
        started_at_ms=played.started_at_ms,
        ended_at_ms=played.ended_at_ms,
        time_control=played.time_control,
    )


def _player(seat: SeatInfo) -> RecordPlayer:
    return RecordPlayer(seat.name or "nobody", seat.level)
