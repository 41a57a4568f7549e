"""Replays for stores whose events are no rooms."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NoReturn

from tabuleiro.errors import NotationError
from tabuleiro.ids import AccountId, RoomCode, TimestampMs
from tabuleiro_server.store.port import MatchRow, PlayerRow, RoomRow, Rows, StoredEvent

ANA = AccountId("ana")


def no_replay(room: RoomCode, events: Sequence[StoredEvent]) -> NoReturn:
    """Fail: nothing has to be replayed in a sound file."""
    raise AssertionError(f"room {room} was replayed")


def counting(room: RoomCode, events: Sequence[StoredEvent]) -> Rows:
    """A game of counting: every third event ends a match and begins the next; ``bad`` cannot be replayed."""
    if any(event.payload == b"bad" for event in events):
        raise NotationError("bad", "a number")
    last = len(events)
    row = RoomRow(room, "playing", True, TimestampMs(0), events[-1].at_ms, None, b"after %d" % last, ANA)
    players = (PlayerRow(ANA, "Ana"), PlayerRow(None, "random", "random"))
    matches = []
    for number, start in enumerate(range(0, last, 3), start=1):
        count = min(3, last - start)
        ended_at_ms = events[start + 2].at_ms if count == 3 else None
        winner, termination = (number % 2, "counted") if count == 3 else (None, None)
        started_at_ms = events[start].at_ms
        matches.append(
            MatchRow(
                room, number, "counting", "{}", players, started_at_ms, ended_at_ms, winner, termination, count
            )
        )
    return Rows(row, tuple(matches))
