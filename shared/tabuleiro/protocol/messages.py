"""The closed unions of all messages that clients and servers send.

Requests carry an ``id`` that the client chooses; the answer is ``ok`` or ``error`` with the same id. Messages
without an ``id`` are told unasked. Nothing here encodes or decodes: see :mod:`tabuleiro.protocol.codec`.
"""

from __future__ import annotations

from typing import Annotated, Literal

import msgspec

from tabuleiro.ids import AccountId, Ply, RoomCode, Seq, TimestampMs
from tabuleiro.protocol.events import SeatInfo, SequencedEvent
from tabuleiro.rules.outcome import Player

RequestId = Annotated[int, msgspec.Meta(ge=0, le=2**53 - 1)]
ShortText = Annotated[str, msgspec.Meta(max_length=100)]
RoomText = Annotated[str, msgspec.Meta(max_length=20)]
ActionText = Annotated[str, msgspec.Meta(min_length=1, max_length=40)]
OptionTexts = Annotated[
    dict[ShortText, int | Annotated[str, msgspec.Meta(max_length=1000)]], msgspec.Meta(max_length=30)
]
Phase = Literal["waiting", "playing", "finished", "closed"]
Counter = Annotated[int, msgspec.Meta(ge=0, le=2**31 - 1)]
MatchNumber = Annotated[int, msgspec.Meta(ge=1, le=2**31 - 1)]
Level = Annotated[str, msgspec.Meta(min_length=1, max_length=30)]


class SeatRequest(msgspec.Struct, frozen=True, omit_defaults=True, forbid_unknown_fields=True):
    """What a new room's seat shall be: left open, taken by the one who makes the room, or given to a bot.

    ``level`` names the bot's level and is ``None`` for the other kinds.
    """

    kind: Literal["open", "me", "bot"] = "open"
    level: Level | None = None


class Request(msgspec.Struct, frozen=True, tag_field="type", forbid_unknown_fields=True, kw_only=True):
    """Base of all client messages."""

    id: RequestId


class Hello(Request, frozen=True, tag="hello"):
    """The first message: who I am. Answered by ``ok`` with a ``welcome``.

    Without ``token`` a new guest called ``name`` is made; with one, ``name`` may be left out.
    """

    name: ShortText | None = None
    token: ShortText | None = None
    client: ShortText = ""


class CreateRoom(Request, frozen=True, tag="create-room"):
    """Make a room and enter it. Answered by ``ok`` with a ``room``."""

    game: ShortText
    options: OptionTexts = {}
    seats: tuple[SeatRequest, SeatRequest] = (SeatRequest("me"), SeatRequest())


class ListRooms(Request, frozen=True, tag="list-rooms"):
    """Ask for the listed rooms, newest first. ``None`` stands for every game, and for unfinished rooms."""

    game: ShortText | None = None
    phases: tuple[Phase, ...] | None = None


class JoinRoom(Request, frozen=True, tag="join-room"):
    """Sit down and enter. ``seat`` ``None``: any open one. Who holds a seat gets the same seat back."""

    room: RoomText
    seat: Player | None = None


class WatchRoom(Request, frozen=True, tag="watch-room"):
    """Enter a room without asking for a seat; who holds one still does.

    ``since`` is the last ``seq`` the client has: then only the events after it are sent. ``None`` asks for a
    snapshot.
    """

    room: RoomText
    since: Counter | None = None


class LeaveRoom(Request, frozen=True, tag="leave-room"):
    """Stop watching; an own seat is given up if the match has not begun, and kept otherwise."""

    room: RoomText


class Play(Request, frozen=True, tag="play"):
    """Make one or more actions of the own turn: all of them or none.

    ``ply`` is the number of actions played before these. Sent again after a lost connection, it is recognised
    and not played twice.
    """

    room: RoomText
    match: MatchNumber
    ply: Counter
    actions: Annotated[tuple[ActionText, ...], msgspec.Meta(min_length=1, max_length=20)]


class Resign(Request, frozen=True, tag="resign"):
    """Give the match up."""

    room: RoomText
    match: MatchNumber


ClientMessage = Hello | CreateRoom | ListRooms | JoinRoom | WatchRoom | LeaveRoom | Play | Resign


class SeatView(msgspec.Struct, frozen=True, omit_defaults=True):
    """A seat as everybody sees it. ``is_connected`` is always true for bots, false for open seats."""

    holder: SeatInfo
    is_connected: bool = False


class MatchView(msgspec.Struct, frozen=True, omit_defaults=True):
    """The running or last match of a room.

    ``to_move`` is ``None`` when it is over; ``digest`` is :meth:`tabuleiro.rules.base.State.digest`;
    ``winner`` is ``None`` for a draw and while ``termination`` is ``None``: the match goes on.
    """

    number: int
    ply: Ply
    to_move: Player | None
    digest: str
    started_at_ms: TimestampMs
    ended_at_ms: TimestampMs | None = None
    winner: Player | None = None
    termination: str | None = None


class RoomHead(msgspec.Struct, frozen=True, omit_defaults=True):
    """All of a room that is not a list: sent whole with every update, so that nothing has to be worked out.

    ``seq`` is the last event it holds. ``match`` is ``None`` before the first.
    """

    room: RoomCode
    seq: Seq
    phase: Phase
    game: str
    options: dict[str, int | str]
    host_name: str
    created_at_ms: TimestampMs
    seats: tuple[SeatView, SeatView]
    watchers: int = 0
    match: MatchView | None = None


class Snapshot(msgspec.Struct, frozen=True):
    """The lists of a room: the actions of its running or last match."""

    actions: tuple[str, ...]


class RoomSummary(msgspec.Struct, frozen=True, omit_defaults=True):
    """A line of the list of rooms."""

    room: RoomCode
    phase: Phase
    game: str
    options: dict[str, int | str]
    seats: tuple[SeatInfo, SeatInfo]
    created_at_ms: TimestampMs
    watchers: int = 0
    plies: int = 0
    winner: Player | None = None
    termination: str | None = None


class Result(msgspec.Struct, frozen=True, tag_field="type"):
    """Base of what an ``ok`` can carry."""


class Welcome(Result, frozen=True, tag="welcome", omit_defaults=True):
    """Who you are. ``token`` is sent once, when the guest is made: keep it, the server can't show it again.

    ``levels`` lists the bots' levels of each game, weakest first.
    """

    account: AccountId
    name: str
    server: str
    now_ms: TimestampMs
    levels: dict[str, tuple[str, ...]]
    token: str | None = None


class RoomEntered(Result, frozen=True, tag="room", omit_defaults=True):
    """The room just entered. ``seat`` is the own one, ``None`` for a watcher.

    Either ``snapshot`` is there, or ``events`` holds exactly what came after the ``since`` of the request.
    """

    head: RoomHead
    seat: Player | None = None
    snapshot: Snapshot | None = None
    events: tuple[SequencedEvent, ...] = ()


class RoomList(Result, frozen=True, tag="rooms"):
    """The rooms asked for. ``is_cut`` tells that there are more than are listed."""

    rooms: tuple[RoomSummary, ...]
    is_cut: bool = False


class ServerSaying(msgspec.Struct, frozen=True, tag_field="type"):
    """Base of all server messages."""


class Ok(ServerSaying, frozen=True, tag="ok", omit_defaults=True):
    """The request was done; what it changed is on disk."""

    id: int
    result: Welcome | RoomEntered | RoomList | None = None


class Error(ServerSaying, frozen=True, tag="error"):
    """The request was refused and changed nothing. ``id`` is ``None`` when it could not be read."""

    id: int | None
    code: str
    message: str


class Update(ServerSaying, frozen=True, tag="update"):
    """What happened in a room that this connection has entered; it is on disk.

    ``events`` is empty when only connections or watchers changed.
    """

    head: RoomHead
    events: tuple[SequencedEvent, ...] = ()


class RoomGone(ServerSaying, frozen=True, tag="room-gone"):
    """This connection is no longer in the room; ``reason`` is for people."""

    room: RoomCode
    reason: str


class Announcement(ServerSaying, frozen=True, tag="announcement"):
    """A word from the server to everybody, e.g. that it restarts."""

    text: str


ServerMessage = Ok | Error | Update | RoomGone | Announcement
