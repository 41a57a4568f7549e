"""The values that go into the tables and come out of them. No SQL, no behaviour."""

from __future__ import annotations

import msgspec

from tabuleiro.ids import AccountId, RoomCode, Seq, TimestampMs


class StoredEvent(msgspec.Struct, frozen=True, gc=False):
    """One fact of a room. ``version`` is the version of the payload's format; ``payload`` is opaque here."""

    seq: Seq
    at_ms: TimestampMs
    version: int
    payload: bytes


class RoomRow(msgspec.Struct, frozen=True, gc=False):
    """What lists and the restart need to know of a room without loading it.

    ``phase`` is a word that the room chooses; ``next_deadline_ms`` is the moment at which the room must be woken,
    ``None`` when nothing is awaited; ``summary`` is opaque here.
    """

    code: RoomCode
    phase: str
    is_listed: bool
    created_at_ms: TimestampMs
    updated_at_ms: TimestampMs
    next_deadline_ms: TimestampMs | None
    summary: bytes


class PlayerRow(msgspec.Struct, frozen=True, gc=False):
    """Who played a seat of a match. ``account`` is ``None`` for bots, ``bot_level`` is ``None`` for people."""

    account: AccountId | None
    name: str
    bot_level: str | None = None


class MatchRow(msgspec.Struct, frozen=True, gc=False):
    """One match of a room, ``number`` counted from 1 in the room; ``players`` in the order of the seats.

    ``ended_at_ms`` and ``termination`` are ``None`` while the match goes on; ``winner`` is ``None`` then and for a
    draw. ``action_count`` is the number of actions played.
    """

    room: RoomCode
    number: int
    game: str
    options_json: str
    players: tuple[PlayerRow, PlayerRow]
    started_at_ms: TimestampMs
    ended_at_ms: TimestampMs | None
    winner: int | None
    termination: str | None
    action_count: int
