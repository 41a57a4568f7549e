"""Facts about a room, as stored by the server and as told to whoever is in the room.

Every event of a room has the next ``seq``, from 1 without gaps. Events are only ever added to: a field that is
new has a default, so that what was stored once can be read for ever.
"""

from __future__ import annotations

from typing import Literal

import msgspec

from tabuleiro.ids import AccountId, Ply, RoomCode, Seq, TimestampMs
from tabuleiro.rules.outcome import Player

SeatKind = Literal["open", "person", "bot"]


class SeatInfo(msgspec.Struct, frozen=True, omit_defaults=True):
    """Who holds a seat. Seat 0 moves first.

    ``account`` and ``name`` are ``None`` for an open seat; ``level`` is the bot's level, else ``None``.
    """

    kind: SeatKind = "open"
    account: AccountId | None = None
    name: str | None = None
    level: str | None = None


class Fact(msgspec.Struct, frozen=True, tag_field="type"):
    """Base of all events."""


class RoomOpened(Fact, frozen=True, tag="room-opened"):
    """The room was made. ``options`` are complete."""

    room: RoomCode
    game: str
    options: dict[str, int | str]
    host: AccountId
    host_name: str
    seats: tuple[SeatInfo, SeatInfo]


class SeatTaken(Fact, frozen=True, tag="seat-taken"):
    """A person sat down."""

    seat: Player
    account: AccountId
    name: str


class SeatFreed(Fact, frozen=True, tag="seat-freed"):
    """Whoever held the seat left before the match began."""

    seat: Player


class MatchStarted(Fact, frozen=True, tag="match-started"):
    """Both seats are held and play begins. ``match`` counts the matches of the room from 1."""

    match: int


class ActionsPlayed(Fact, frozen=True, tag="actions-played"):
    """One player made one or more actions of their turn. ``ply`` is the ply of the first of them."""

    match: int
    ply: Ply
    player: Player
    actions: tuple[str, ...]


class MatchEnded(Fact, frozen=True, tag="match-ended"):
    """The match is over. ``winner`` is ``None`` for a draw or an aborted match."""

    match: int
    winner: Player | None
    termination: str


class RoomClosed(Fact, frozen=True, tag="room-closed"):
    """Nothing more will happen here."""

    reason: str


Event = RoomOpened | SeatTaken | SeatFreed | MatchStarted | ActionsPlayed | MatchEnded | RoomClosed


class SequencedEvent(msgspec.Struct, frozen=True):
    """An event with its number and its time."""

    seq: Seq
    at_ms: TimestampMs
    event: Event
