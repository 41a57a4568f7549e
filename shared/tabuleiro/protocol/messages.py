"""The closed unions of all messages that clients and servers send.

Requests carry an ``id`` that the client chooses; the answer is ``ok`` or ``error`` with the same id. Messages
without an ``id`` are notifications. Nothing here encodes or decodes: see :mod:`tabuleiro.protocol.codec`.

Longer than other modules: it is one list of declarations, and a closed union is best read in one place.
"""

from __future__ import annotations

from typing import Annotated, Final, Literal

import msgspec

from tabuleiro.clock import ClockState
from tabuleiro.ids import AccountId, Phase, Player, Ply, RoomCode, Seq, TimestampMs
from tabuleiro.protocol.boards import Board, BoardLayout, GameForm, OptionForm
from tabuleiro.protocol.events import OfferKind, OfferView, RoomSecrets, SeatInfo, SequencedEvent
from tabuleiro.settings import Level, RoomSettings

CHAT_MAX_CHARS: Final = 300
"""Longest line of chat, in characters."""

RequestId = Annotated[int, msgspec.Meta(ge=0, le=2**53 - 1)]
ShortText = Annotated[str, msgspec.Meta(max_length=100)]
RoomText = Annotated[str, msgspec.Meta(max_length=20)]
ActionText = Annotated[str, msgspec.Meta(min_length=1, max_length=40)]
OptionTexts = Annotated[
    dict[ShortText, int | Annotated[str, msgspec.Meta(max_length=1000)]], msgspec.Meta(max_length=30)
]
Counter = Annotated[int, msgspec.Meta(ge=0, le=2**31 - 1)]
MatchNumber = Annotated[int, msgspec.Meta(ge=1, le=2**31 - 1)]
WantsBoards = bool | msgspec.UnsetType
"""Unset unless wanted: older servers know no such field."""

BOARDS_MAX_COUNT: Final = 50
"""Most boards in one answer."""

ChatText = Annotated[str, msgspec.Meta(min_length=1, max_length=CHAT_MAX_CHARS)]


class SeatRequest(msgspec.Struct, frozen=True, omit_defaults=True, forbid_unknown_fields=True):
    """A seat of a new room: left open, taken by the maker of the room, or given to a bot.

    ``level`` names the bot's level and is ``None`` for the other kinds.
    """

    kind: Literal["open", "me", "bot"] = "open"
    level: Level | None = None


ME: Final = SeatRequest("me")
OPEN: Final = SeatRequest("open")


class Request(msgspec.Struct, frozen=True, tag_field="type", forbid_unknown_fields=True, kw_only=True, gc=False):
    """Base of all client messages."""

    id: RequestId


class Hello(Request, frozen=True, tag="hello"):
    """The first message: the identity of the guest. Answered by ``ok`` with a ``welcome``.

    Without ``token`` a new guest called ``name`` is made; with one, ``name`` may be left out.
    """

    name: ShortText | None = None
    token: ShortText | None = None
    client: ShortText = ""


class CreateRoom(Request, frozen=True, tag="create-room"):
    """Make a room and enter it. Answered by ``ok`` with a ``room``."""

    game: ShortText
    options: OptionTexts = {}
    seats: tuple[SeatRequest, SeatRequest] = (ME, OPEN)
    settings: RoomSettings = RoomSettings()
    boards: WantsBoards = msgspec.UNSET


class QuickPlay(Request, frozen=True, tag="quick-play"):
    """Sit down in the oldest open room of this game, options and time control, or make one. As ``join-room``."""

    game: ShortText
    options: OptionTexts = {}
    settings: RoomSettings = RoomSettings()
    boards: WantsBoards = msgspec.UNSET


class ListGames(Request, frozen=True, tag="list-games"):
    """Ask for the games, their options, presets and rules, and the settings of rooms: all that forms need."""


class ListRooms(Request, frozen=True, tag="list-rooms"):
    """Ask for the listed rooms, newest first. ``None`` stands for every game, and for unfinished rooms."""

    game: ShortText | None = None
    phases: tuple[Phase, ...] | None = None


class GetRecord(Request, frozen=True, tag="get-record"):
    """Ask for a match of a room, running, finished or long gone. ``match`` ``None``: the last one.

    ``secret`` is the invite or the watch secret of a private room, ``None`` otherwise.
    """

    room: RoomText
    match: MatchNumber | None = None
    secret: ShortText | None = None


class GetBoards(Request, frozen=True, tag="get-boards"):
    """Ask for past positions of a match: after ``ply`` actions, and up to ``count`` in a row.

    ``match`` and ``secret`` as in ``get-record``.
    """

    room: RoomText
    match: MatchNumber | None = None
    secret: ShortText | None = None
    ply: Counter = 0
    count: Annotated[int, msgspec.Meta(ge=1, le=BOARDS_MAX_COUNT)] = 1


class SubscribeLobby(Request, frozen=True, tag="subscribe-lobby"):
    """Ask as ``list-rooms``, and get changes by ``lobby-update`` until ``unsubscribe-lobby``."""

    game: ShortText | None = None
    phases: tuple[Phase, ...] | None = None


class SayInLobby(Request, frozen=True, tag="say-in-lobby"):
    """Send a line of chat to everybody who follows the lobby, as the sender does."""

    text: ChatText


class UnsubscribeLobby(Request, frozen=True, tag="unsubscribe-lobby"):
    """Get no more changes of the list of rooms."""


class JoinRoom(Request, frozen=True, tag="join-room"):
    """Sit down and enter. ``seat`` ``None``: any open one. The holder of a seat gets the same seat back.

    ``secret`` is the invite of a private room, ``None`` otherwise.
    """

    room: RoomText
    seat: Player | None = None
    secret: ShortText | None = None
    boards: WantsBoards = msgspec.UNSET


class WatchRoom(Request, frozen=True, tag="watch-room", omit_defaults=True):
    """Enter a room without asking for a seat; a held seat stays held.

    ``since`` is the last ``seq`` the client has: then only the events after it are sent. ``None`` asks for a
    snapshot. ``secret`` is the invite or the watch secret of a private room, ``None`` otherwise. With ``follow``
    the room is only watched, on this node, also if another node has it.
    """

    room: RoomText
    since: Counter | None = None
    secret: ShortText | None = None
    boards: WantsBoards = msgspec.UNSET
    follow: bool = False


class LeaveRoom(Request, frozen=True, tag="leave-room"):
    """Leave the room; a held seat is given up if the match has not begun, and kept otherwise."""

    room: RoomText


class Play(Request, frozen=True, tag="play"):
    """Make one or more actions of your turn: all of them or none.

    ``ply`` is the number of actions played before these, ``revision`` the number of times that actions of this
    match were undone or taken back. Sent again after a lost connection, it is recognised and not played twice.
    """

    room: RoomText
    match: MatchNumber
    ply: Counter
    actions: Annotated[tuple[ActionText, ...], msgspec.Meta(min_length=1, max_length=20)]
    revision: Counter = 0


class Explain(Request, frozen=True, tag="explain", omit_defaults=True):
    """Ask what a bot of ``level`` thinks of the turns of a position. Answered with an ``explanation``.

    ``ply`` and ``revision`` as in ``play``; after the end of the match any ply. ``None`` for ``level``: that of
    the bot that plays here, or the first of the game that values positions. ``count`` turns are told at most.
    """

    room: RoomText
    match: MatchNumber
    ply: Counter
    revision: Counter = 0
    level: Level | None = None
    count: Annotated[int, msgspec.Meta(ge=1, le=50)] = 10


class Consider(Request, frozen=True, tag="consider"):
    """Ask for the board after unplayed ``actions`` of your turn, with the choices there; nothing is played.

    ``ply`` and ``revision`` as in ``play``.
    """

    room: RoomText
    match: MatchNumber
    ply: Counter
    actions: Annotated[tuple[ActionText, ...], msgspec.Meta(max_length=20)] = ()
    revision: Counter = 0


class Undo(Request, frozen=True, tag="undo"):
    """Undo your actions of the turn in progress, so that ``ply`` actions of the match are left."""

    room: RoomText
    match: MatchNumber
    ply: Counter


class TakeHint(Request, frozen=True, tag="take-hint"):
    """Ask for a turn to play, as the player to move, in a casual room with hints. Answered with a ``hint``.

    ``ply`` and ``revision`` as in ``play``. The answer takes a few seconds; other requests are answered meanwhile.
    """

    room: RoomText
    match: MatchNumber
    ply: Counter
    revision: Counter = 0


class Resign(Request, frozen=True, tag="resign", omit_defaults=True):
    """Resign the match.

    ``seat`` is for somebody who plays both sides: the side that resigns. ``None``: your side, of both the one to
    move.
    """

    room: RoomText
    match: MatchNumber
    seat: Player | None = None


class Abort(Request, frozen=True, tag="abort"):
    """End the match without a result; possible until both players have made an action."""

    room: RoomText
    match: MatchNumber


class ClaimWin(Request, frozen=True, tag="claim-win"):
    """Claim the win because the opponent has been away for long. A match hardly begun is aborted instead."""

    room: RoomText
    match: MatchNumber


class Offer(Request, frozen=True, tag="offer"):
    """Offer a draw or a rematch, or ask to take your last turn back.

    Answering the offer of a draw or a rematch with one's own accepts it. Two requests to take back stay two: each
    waits for its own ``answer``.
    """

    room: RoomText
    kind: OfferKind


class Answer(Request, frozen=True, tag="answer"):
    """Accept or decline the other player's offer, or withdraw your own by declining it."""

    room: RoomText
    kind: OfferKind
    accept: bool


class SeatBot(Request, frozen=True, tag="seat-bot"):
    """Put a bot of ``level`` on an open seat, or with ``level`` ``None`` take the bot off, as the host."""

    room: RoomText
    seat: Player
    level: Level | None


class SwapSeats(Request, frozen=True, tag="swap-seats"):
    """Let the holders of the two seats change places, as the host; not while a match runs."""

    room: RoomText


class ChangeSettings(Request, frozen=True, tag="change-settings"):
    """Change the settings for the matches to come, as the host; not while one runs.

    ``settings`` are all of them. ``is_private`` and ``counts_downtime`` stay as they were when the room was made.
    """

    room: RoomText
    settings: RoomSettings


class Say(Request, frozen=True, tag="say"):
    """Send a line of chat to the room."""

    room: RoomText
    text: ChatText


class Mute(Request, frozen=True, tag="mute"):
    """Mute somebody in this room by name, or let them chat again, as the host."""

    room: RoomText
    name: ShortText
    is_muted: bool = True


ClientMessage = (
    Hello
    | CreateRoom
    | QuickPlay
    | ListGames
    | ListRooms
    | GetRecord
    | GetBoards
    | SubscribeLobby
    | SayInLobby
    | UnsubscribeLobby
    | JoinRoom
    | WatchRoom
    | LeaveRoom
    | Play
    | Consider
    | Undo
    | TakeHint
    | Explain
    | Resign
    | Abort
    | ClaimWin
    | Offer
    | Answer
    | SeatBot
    | SwapSeats
    | ChangeSettings
    | Say
    | Mute
)


class SeatView(msgspec.Struct, frozen=True, omit_defaults=True, gc=False):
    """A seat as everybody sees it.

    ``is_connected`` is always true for bots, false for open seats. ``away_since_ms`` is the moment at
    which the person's last connection went, ``None`` while there is one; a person who comes and goes all the time
    keeps ``None`` at first.
    """

    holder: SeatInfo
    is_connected: bool = False
    away_since_ms: TimestampMs | None = None


class BotThought(msgspec.Struct, frozen=True, gc=False):
    """A bot thinks for ``player`` since ``since_ms``."""

    player: Player
    since_ms: TimestampMs


class FirstTurn(msgspec.Struct, frozen=True, gc=False):
    """The time for a first turn: at ``until_ms`` the match is aborted; it was ``limit_ms`` at the beginning."""

    until_ms: TimestampMs
    limit_ms: int


class MatchView(msgspec.Struct, frozen=True, omit_defaults=True, gc=False):
    """The running or last match of a room.

    ``to_move`` is ``None`` when it is over; ``digest`` is :meth:`tabuleiro.rules.base.State.digest`;
    ``winner`` is ``None`` for a draw and while ``termination`` is ``None``: the match goes on. ``revision`` counts
    the times that actions were undone or taken back. ``can_abort`` is true until both have made an action.
    """

    number: int
    ply: Ply
    to_move: Player | None
    digest: str
    started_at_ms: TimestampMs
    ended_at_ms: TimestampMs | None = None
    winner: Player | None = None
    termination: str | None = None
    clock: ClockState | None = None
    """``None`` without a clock, and for a match that was played with another one than the room has now; moments in
    it are by the server's clock, see ``now_ms`` of the head."""
    revision: int = 0
    can_abort: bool = False
    players: tuple[str, str] | None = None
    """The names of the players, by seat; after the end the seats may have changed hands. ``None`` from an older
    server."""
    first_turn: FirstTurn | None = None
    """That of the player to move, while the clock has not started; ``None`` once it has, and without a clock."""


class RoomHead(msgspec.Struct, frozen=True, omit_defaults=True, gc=False):
    """All of a room that is not a list: sent whole with every update, so that a client computes nothing.

    ``seq`` is the last event it holds. ``match`` is ``None`` before the first. ``now_ms`` is the server's time
    when this was made; clocks are read by it. ``thinking`` is ``None`` when no bot thinks.
    """

    room: RoomCode
    seq: Seq
    phase: Phase
    game: str
    options: dict[str, int | str]
    host_name: str
    created_at_ms: TimestampMs
    seats: tuple[SeatView, SeatView]
    now_ms: TimestampMs
    settings: RoomSettings = RoomSettings()
    watchers: int = 0
    match: MatchView | None = None
    offers: tuple[OfferView, ...] = ()
    thinking: BotThought | None = None


class ChatLine(msgspec.Struct, frozen=True):
    """A line of chat; ``account`` tells apart people who had the same name one after the other.

    ``is_player`` is false in the lobby.
    """

    at_ms: TimestampMs
    account: AccountId
    name: str
    text: str
    is_player: bool


class Snapshot(msgspec.Struct, frozen=True, omit_defaults=True):
    """The lists of a room: the actions of its running or last match, and the last lines of chat."""

    actions: tuple[str, ...]
    chat: tuple[ChatLine, ...] = ()


class RoomSummary(msgspec.Struct, frozen=True, omit_defaults=True, gc=False):
    """A line of the list of rooms."""

    room: RoomCode
    phase: Phase
    game: str
    options: dict[str, int | str]
    seats: tuple[SeatInfo, SeatInfo]
    created_at_ms: TimestampMs
    settings: RoomSettings = RoomSettings()
    watchers: int = 0
    plies: int = 0
    winner: Player | None = None
    termination: str | None = None
    players: tuple[str, str] | None = None
    """The names of the players of the running or last match; ``None`` before the first."""


class Result(msgspec.Struct, frozen=True, tag_field="type", gc=False):
    """Base of the results that an ``ok`` can carry."""


class Welcome(Result, frozen=True, tag="welcome", omit_defaults=True):
    """Your identity. ``token`` is sent once, when the guest is made: keep it, the server can't show it again.

    ``levels`` lists the bots' levels of each game, weakest first. ``node_urls`` are the addresses of all nodes,
    that of the one which says so first; there are none where the server is one process.
    """

    account: AccountId
    name: str
    server: str
    now_ms: TimestampMs
    levels: dict[str, tuple[str, ...]]
    token: str | None = None
    public_url: str | None = None
    """The address by which others reach this server, for invitations; ``None``: the one you have used, as far as
    the server knows."""
    has_page: bool = False
    node_urls: tuple[str, ...] = ()


class RoomEntered(Result, frozen=True, tag="room", omit_defaults=True):
    """The room just entered. ``seat`` is yours, ``None`` for a watcher.

    Either ``snapshot`` is there, or ``events`` holds exactly the events after the ``since`` of the
    request. ``secrets`` is sent to the host of a private room only. ``layout`` and ``board`` are there if the
    request wanted ``boards``; before the first match they show the start position.
    """

    head: RoomHead
    seat: Player | None = None
    snapshot: Snapshot | None = None
    events: tuple[SequencedEvent, ...] = ()
    secrets: RoomSecrets | None = None
    layout: BoardLayout | None = None
    board: Board | None = None


class RoomList(Result, frozen=True, tag="rooms", omit_defaults=True):
    """The rooms asked for. ``is_cut`` is true if there are more.

    ``chat`` are the last lines of the lobby's chat, for those who follow it.
    """

    rooms: tuple[RoomSummary, ...]
    is_cut: bool = False
    chat: tuple[ChatLine, ...] = ()


class RecordPlayed(Result, frozen=True, tag="record", omit_defaults=True):
    """A match as it was played, for writing a record.

    ``time_control`` is in the form that people type. ``ended_at_ms`` and ``termination`` are ``None`` while the
    match goes on; ``winner`` is ``None`` then and for a draw.
    """

    room: RoomCode
    match: int
    game: str
    options: dict[str, int | str]
    players: tuple[SeatInfo, SeatInfo]
    actions: tuple[str, ...]
    started_at_ms: TimestampMs
    time_control: str
    ended_at_ms: TimestampMs | None = None
    winner: Player | None = None
    termination: str | None = None


class BoardsShown(Result, frozen=True, tag="boards", omit_defaults=True):
    """Positions of a match in order, and their layout; ``actions_count`` is the length of the match."""

    layout: BoardLayout
    boards: tuple[Board, ...]
    actions_count: int


class Considered(Result, frozen=True, tag="considered", omit_defaults=True):
    """The board after the actions considered; with ``choices`` while the turn goes on.

    ``actions`` are their canonical texts; ``route`` names the cells on the way of the last one, in games that have
    ways.
    """

    board: Board
    actions: tuple[str, ...] = ()
    route: tuple[str, ...] = ()


class ExplainedTerm(msgspec.Struct, frozen=True):
    """A term of a position: what was measured, and what it counts for in the value."""

    name: str
    measure: float
    weight: float


class ExplainedTurn(msgspec.Struct, frozen=True, omit_defaults=True):
    """A turn, or its next action, with its ``value`` to the player to move.

    ``line`` is how the level expects the match to continue, ``actions`` included; ``terms`` are those of the
    position at its end. ``is_proven`` tells that the end is forced; ``turns_to_end`` counts the turns of the
    winner until then. ``nodes`` counts the positions looked at for it.
    """

    actions: tuple[str, ...]
    value: float
    terms: tuple[ExplainedTerm, ...] = ()
    line: tuple[str, ...] = ()
    is_proven: bool = False
    turns_to_end: int | None = None
    nodes: int | None = None


class Explanation(Result, frozen=True, tag="explanation", omit_defaults=True):
    """The candidates of a position with their values, as the bot of ``level`` sees them, best first.

    ``unit`` is that of the values: an ``evaluation`` (a sum of terms), an ``expectation`` from -1 (lost) to 1
    (won) or the ``chance`` to be chosen. ``turn_count`` counts all candidates, ``terms`` are those of the position
    itself. ``depth`` and ``nodes`` tell how far the level looked and at how many positions or playouts, in
    ``thought_ms``; ``depth`` counts actions for an evaluation and turns otherwise.
    """

    level: str
    position: str
    player: Player
    unit: Literal["evaluation", "expectation", "chance"]
    turns: tuple[ExplainedTurn, ...]
    turn_count: int
    terms: tuple[ExplainedTerm, ...] = ()
    depth: int | None = None
    nodes: int | None = None
    thought_ms: int = 0


class GameList(Result, frozen=True, tag="games"):
    """The games of the server, and the settings of rooms."""

    games: tuple[GameForm, ...]
    settings: tuple[OptionForm, ...]


class HintGiven(Result, frozen=True, tag="hint", omit_defaults=True):
    """A turn that may be played. ``actions`` complete it.

    ``value`` is the worth to the player to move, from -1 (lost) to 1 (won); it is certain if ``is_proven``.
    ``turns_to_end`` counts the turns that the winner still has to make; ``None`` when that is not known.
    """

    actions: tuple[str, ...]
    value: float
    is_proven: bool = False
    turns_to_end: int | None = None


class BaseServerMessage(msgspec.Struct, frozen=True, tag_field="type", gc=False):
    """Base of all server messages."""


class Ok(BaseServerMessage, frozen=True, tag="ok", omit_defaults=True):
    """The request was done, and its changes are on disk.

    ``seq`` is the last event of the room in which something was done: a client that has it has the change, too.
    """

    id: int
    result: (
        Welcome
        | RoomEntered
        | RoomList
        | RecordPlayed
        | BoardsShown
        | Considered
        | GameList
        | HintGiven
        | Explanation
        | None
    ) = None
    seq: Seq | None = None


class Error(BaseServerMessage, frozen=True, tag="error", omit_defaults=True):
    """The request was refused and changed nothing. ``id`` is ``None`` when it could not be read.

    ``node_url``, ``room`` and ``follow`` come with ``elsewhere``: the address of the node to ask in its place, the
    room (``None`` for a new one), and whether to ask there with ``follow``.
    """

    id: int | None
    code: str
    message: str
    node_url: str | None = None
    room: RoomCode | None = None
    follow: bool = False


class Update(BaseServerMessage, frozen=True, tag="update"):
    """Events in a room that this connection has entered; they are on disk.

    ``events`` is empty when only connections or watchers changed. ``board`` is the new position, for connections
    that wanted ``boards``; it is left out while the position is the same.
    """

    head: RoomHead
    events: tuple[SequencedEvent, ...] = ()
    board: Board | msgspec.UnsetType = msgspec.UNSET


class RoomGone(BaseServerMessage, frozen=True, tag="room-gone", omit_defaults=True):
    """This connection is no longer in the room; ``reason`` is for people.

    ``node_url`` is the address of the node that has the room now, ``None`` if there is none or it is not known.
    """

    room: RoomCode
    reason: str
    node_url: str | None = None


class LobbyUpdate(BaseServerMessage, frozen=True, tag="lobby-update", omit_defaults=True):
    """Rooms of the subscribed list that are new or have changed, and those that are no longer in it.

    ``people`` are the names of connected guests, the first in alphabetical order; ``people_count`` is the number
    of all. ``chat`` are the lines of chat that are new.
    """

    rooms: tuple[RoomSummary, ...]
    gone: tuple[RoomCode, ...]
    people: tuple[str, ...]
    people_count: int
    chat: tuple[ChatLine, ...] = ()


class Announcement(BaseServerMessage, frozen=True, tag="announcement", omit_defaults=True):
    """A message from the server to everybody. ``restart_in_ms`` is ``None`` unless it is about to restart."""

    text: str
    restart_in_ms: int | None = None


ServerMessage = Ok | Error | Update | RoomGone | LobbyUpdate | Announcement
