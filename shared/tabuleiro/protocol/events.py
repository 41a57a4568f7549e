"""Events of a room, as stored by the server and as sent to everybody in the room.

Every event of a room has the next ``seq``, from 1 without gaps. Events only ever grow: a new field has a
default, so that every stored event can be read for ever.

Here and in other values that a server makes many of, ``gc=False`` has the garbage collector pass them over: they
are made of values only, so none can be part of a cycle.
"""

from __future__ import annotations

from typing import Literal

import msgspec

from tabuleiro.ids import AccountId, Player, Ply, RoomCode, Seq, TimestampMs
from tabuleiro.settings import RoomLimits, RoomSettings

SeatKind = Literal["open", "person", "bot"]
OfferKind = Literal["draw", "takeback", "rematch"]
OfferEnd = Literal["declined", "withdrawn", "void"]


class SeatInfo(msgspec.Struct, frozen=True, omit_defaults=True, gc=False):
    """The holder of a seat. Seat 0 moves first.

    ``account`` and ``name`` are ``None`` for an open seat. ``level`` is the bot's level, ``None`` for people;
    ``stand_in`` is the level of the bot that plays for an absent person, else ``None``.
    """

    kind: SeatKind = "open"
    account: AccountId | None = None
    name: str | None = None
    level: str | None = None
    stand_in: str | None = None


class RoomSecrets(msgspec.Struct, frozen=True):
    """The secret parts of a private room: ``invite`` lets people join and watch, ``watch`` only watch."""

    invite: str
    watch: str


class BaseEvent(msgspec.Struct, frozen=True, tag_field="type", gc=False):
    """Base of all events."""


class RoomOpened(BaseEvent, frozen=True, tag="room-opened"):
    """The room was made. ``options`` are complete. ``secrets`` is ``None`` unless private, and never sent."""

    room: RoomCode
    game: str
    options: dict[str, int | str]
    host: AccountId
    host_name: str
    seats: tuple[SeatInfo, SeatInfo]
    settings: RoomSettings = RoomSettings()
    limits: RoomLimits = RoomLimits()
    secrets: RoomSecrets | None = None


class SeatTaken(BaseEvent, frozen=True, tag="seat-taken"):
    """A person sat down."""

    seat: Player
    account: AccountId
    name: str


class BotSeated(BaseEvent, frozen=True, tag="bot-seated"):
    """A bot was put on the seat."""

    seat: Player
    level: str


class SeatFreed(BaseEvent, frozen=True, tag="seat-freed"):
    """The seat is open again."""

    seat: Player


class SeatsSwapped(BaseEvent, frozen=True, tag="seats-swapped"):
    """The holders of the two seats changed places."""


class SettingsChanged(BaseEvent, frozen=True, tag="settings-changed"):
    """The host changed the settings; they hold for the matches to come."""

    settings: RoomSettings


class SeatConnected(BaseEvent, frozen=True, tag="seat-connected"):
    """The person on the seat has a connection in the room again; a stand-in goes."""

    seat: Player


class SeatDisconnected(BaseEvent, frozen=True, tag="seat-disconnected"):
    """The person on the seat has no connection in the room any more.

    Sent at most once in half a minute for a person who comes and goes; ``is_connected`` in the head changes at
    once. ``since_ms`` is the time when the connection was lost, ``None`` for the time of the event.
    """

    seat: Player
    since_ms: TimestampMs | None = None


class StandInSeated(BaseEvent, frozen=True, tag="stand-in-seated"):
    """A bot plays for the person on the seat until they come back."""

    seat: Player
    level: str


class RoomResumed(BaseEvent, frozen=True, tag="room-resumed"):
    """The server is back. It was down from ``down_since_ms`` (at the latest) to ``up_since_ms``.

    Nobody is connected yet. A room that nobody touched for a while may record this later; ``None`` for
    ``up_since_ms`` stands for the time of the event. ``is_standstill`` is true if the server did not restart, but
    stood still or slept with its machine: who was connected is so still.
    """

    down_since_ms: TimestampMs
    up_since_ms: TimestampMs | None = None
    is_standstill: bool = False


class MatchStarted(BaseEvent, frozen=True, tag="match-started"):
    """Both seats are held and play begins. ``match`` counts the matches of the room from 1.

    ``seed`` replaces the game's option ``seed``; ``None`` leaves the options as they are.
    """

    match: int
    seed: int | None = None


class ActionsPlayed(BaseEvent, frozen=True, tag="actions-played"):
    """One player made one or more actions of their turn. ``ply`` is the ply of the first of them.

    ``lag_ms`` is the time that messages of this player spend on the way, as the server measured it.
    ``by_stand_in`` is true if a bot played for them. ``is_makeshift`` is true if a bot gave no answer, twice, and
    these actions were chosen at random.
    """

    match: int
    ply: Ply
    player: Player
    actions: tuple[str, ...]
    lag_ms: int = 0
    by_stand_in: bool = False
    is_makeshift: bool = False


class HintTaken(BaseEvent, frozen=True, tag="hint-taken"):
    """The player to move got a hint. ``ply`` is the number of actions before."""

    match: int
    ply: Ply
    player: Player


class ActionsUndone(BaseEvent, frozen=True, tag="actions-undone"):
    """The player to move undid actions of the turn in progress: ``ply`` actions are left."""

    match: int
    ply: Ply
    player: Player


class TurnTakenBack(BaseEvent, frozen=True, tag="turn-taken-back"):
    """The last turn of ``player`` and what came after it was taken back: ``ply`` actions are left."""

    match: int
    ply: Ply
    player: Player


class OfferMade(BaseEvent, frozen=True, tag="offer-made"):
    """``player`` offers a draw, a rematch, or asks to take their last turn back."""

    kind: OfferKind
    player: Player


class OfferView(msgspec.Struct, frozen=True, gc=False):
    """An offer that waits for the other player's answer."""

    kind: OfferKind
    player: Player


class OfferEnded(BaseEvent, frozen=True, tag="offer-ended"):
    """An offer ended without being accepted."""

    kind: OfferKind
    player: Player
    how: OfferEnd


class MatchEnded(BaseEvent, frozen=True, tag="match-ended"):
    """The match is over. ``winner`` is ``None`` for a draw or an aborted match.

    ``late_player`` is the one who made no first turn in time, for which the match was aborted.
    """

    match: int
    winner: Player | None
    termination: str
    late_player: Player | None = None


class Said(BaseEvent, frozen=True, tag="said"):
    """Somebody wrote a line of chat. ``is_hidden`` keeps it from the players while the match runs."""

    account: AccountId
    name: str
    text: str
    is_player: bool
    is_hidden: bool = False


class Muted(BaseEvent, frozen=True, tag="muted"):
    """The host muted somebody in this room, or let them chat again."""

    account: AccountId
    name: str
    is_muted: bool = True


class HostChanged(BaseEvent, frozen=True, tag="host-changed"):
    """The host gave up their seat; the other person with a seat is host now, and no longer muted."""

    account: AccountId
    name: str


class RoomClosed(BaseEvent, frozen=True, tag="room-closed"):
    """Nothing more will happen here."""

    reason: str


class Withheld(BaseEvent, frozen=True, tag="withheld"):
    """A placeholder for an event that this connection may not see. Never stored."""


Event = (
    RoomOpened
    | SeatTaken
    | BotSeated
    | SeatFreed
    | SeatsSwapped
    | SettingsChanged
    | SeatConnected
    | SeatDisconnected
    | StandInSeated
    | RoomResumed
    | MatchStarted
    | ActionsPlayed
    | HintTaken
    | ActionsUndone
    | TurnTakenBack
    | OfferMade
    | OfferEnded
    | MatchEnded
    | Said
    | Muted
    | HostChanged
    | RoomClosed
    | Withheld
)

Events = tuple[Event, ...]
"""Events of one room, in their order."""


class SequencedEvent(msgspec.Struct, frozen=True, gc=False):
    """An event with its number and its time."""

    seq: Seq
    at_ms: TimestampMs
    event: Event
