"""The promises of a store, whatever keeps it, and the values that go into it and come out.

A store keeps the events of every room, the rows that follow from them, and the accounts of guests. It does not
know what a room is: events and summaries are bytes to it. ``sqlite`` is an adapter of this port; the tests in
``tests/store/test_port.py`` hold for every adapter.
"""

from __future__ import annotations

import asyncio
from collections.abc import AsyncGenerator, Callable, Collection, Mapping, Sequence
from contextlib import AbstractAsyncContextManager
from typing import Final, NamedTuple, NewType, Protocol

import msgspec

from tabuleiro.ids import AccountId, DurationMs, RoomCode, Seq, TimestampMs
from tabuleiro_server.metrics import CommitMetrics

BEFORE_FIRST: Final = Seq(0)
"""The place before a room's first event."""

Incarnation = NewType("Incarnation", int)
"""A number that grows with every takeover of a room: an owner writes only while it is the room's last one."""

FIRST_INCARNATION: Final = Incarnation(0)
"""That of a new room, for whoever made it."""

STOP_LIMIT_MS: Final = DurationMs(5_000)

NodeId = NewType("NodeId", int)
"""A run of a server, of several that share a store."""


class NodeRow(msgspec.Struct, frozen=True, gc=False):
    """A node that is alive. ``url`` is where clients reach it; ``rooms_count`` are those that it has in memory.

    One that does not take rooms begins just now, or is about to end.
    """

    id: NodeId
    name: str
    url: str
    rooms_count: int
    takes_rooms: bool


class Ownership(msgspec.Struct, frozen=True, gc=False):
    """A room that was taken over.

    When its owner before died, ``silent_ms`` is the time since that one's last sign of life, and ``free_ms`` the
    time for which the room could have been taken over already; otherwise both are 0.
    """

    incarnation: Incarnation
    silent_ms: DurationMs = DurationMs(0)
    free_ms: DurationMs = DurationMs(0)


class StoredEvent(msgspec.Struct, frozen=True, gc=False):
    """An event of a room. ``version`` is the version of the payload's format; ``payload`` is opaque here."""

    seq: Seq
    at_ms: TimestampMs
    version: int
    payload: bytes


class RoomRow(msgspec.Struct, frozen=True, gc=False):
    """The facts about a room that lists and the restart need without loading it.

    ``phase`` is a word that the room chooses; ``next_deadline_ms`` is the moment at which the room must be woken,
    ``None`` when nothing is awaited; ``summary`` is opaque here. ``maker`` has made the room; in rows of an older
    version it is empty until :meth:`Store.note_makers`.
    """

    code: RoomCode
    phase: str
    is_listed: bool
    created_at_ms: TimestampMs
    updated_at_ms: TimestampMs
    next_deadline_ms: TimestampMs | None
    summary: bytes
    maker: AccountId


class PlayerRow(msgspec.Struct, frozen=True, gc=False):
    """The holder of a seat in a match. ``account`` is ``None`` for bots, ``bot_level`` is ``None`` for people."""

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


class Rows(msgspec.Struct, frozen=True, gc=False):
    """The rows that follow from the events of a room; of its matches those that have changed."""

    room: RoomRow
    matches: Sequence[MatchRow] = ()


Replay = Callable[[RoomCode, Sequence[StoredEvent]], Rows]
"""Works out the rows of a room, of all its matches, from all its events.

Raises a TabuleiroError for events that cannot be; runs in another thread."""


class Account(msgspec.Struct, frozen=True, gc=False):
    """A guest. The hash of the token stays in the store."""

    id: AccountId
    name: str
    created_at_ms: TimestampMs
    last_seen_ms: TimestampMs


class AccountEntry(msgspec.Struct, frozen=True, gc=False):
    """All that is kept of a guest, for a copy elsewhere."""

    account: Account
    token_hash: bytes


class Accounts(Protocol):
    """The guests: a name, a hashed token, and when they were last seen.

    Making ids, tokens and hashes, and checking names, is up to the caller. A name is unique here, whatever its
    case or its Unicode form, and a new one does not look like one that is there.
    """

    async def create(self, id: AccountId, name: str, token_hash: bytes, now_ms: TimestampMs) -> Account:
        """Store a new guest, seen now.

        Raises: NameTakenError; StoreError when the id or the hash is in use; StorageUnavailableError.
        """

    async def entries(self) -> list[AccountEntry]:
        """Return all guests, by id. Raises: StorageUnavailableError."""

    async def add(self, entries: Sequence[AccountEntry]) -> None:
        """Store guests as they were elsewhere, all or none; those who look alike there do here.

        Raises: StoreError when an id, a name or a token is in use; StorageUnavailableError.
        """

    async def find_by_token_hash(self, token_hash: bytes) -> Account | None:
        """Return the guest with this token, ``None`` when there is none. Raises: StorageUnavailableError."""

    async def find_by_name(self, name: str) -> Account | None:
        """Return the guest with this name, ``None`` when there is none. Raises: StorageUnavailableError."""

    async def seen_last(self) -> Account | None:
        """Return the guest who was here last, ``None`` when there was none. Raises: StorageUnavailableError."""

    async def touch(self, id: AccountId, now_ms: TimestampMs) -> None:
        """Note that the guest is here now. Raises: StoreError for an unknown guest; StorageUnavailableError."""

    async def touch_all(self, ids: Collection[AccountId], now_ms: TimestampMs) -> None:
        """Note that these guests are here now; unknown ones don't matter. Raises: StorageUnavailableError."""

    async def free_unused(self, before_ms: TimestampMs) -> int:
        """Remove the guests who never played a match and were last seen before ``before_ms``; return the count.

        Their names are free again. A guest who only sits in a room where no match has begun has never played.
        Raises: StorageUnavailableError.
        """


class LobbyLine(msgspec.Struct, frozen=True, gc=False):
    """A line of the chat of the lobby."""

    at_ms: TimestampMs
    account: AccountId
    name: str
    text: str


class Mark(NamedTuple):
    """How far a server has read what others do, as the adapter counts it."""

    change: int
    line: int


class News(msgspec.Struct, frozen=True, gc=False):
    """What servers have done up to ``mark``: rooms that were changed, lines that were written, who is there."""

    mark: Mark
    rooms: Sequence[RoomRow]
    lines: Sequence[LobbyLine]
    people: frozenset[str]
    """Names of people who are connected to other servers."""
    watchers: Mapping[RoomCode, int]
    """Numbers of watchers of rooms on other servers, all of them together."""


class Peers(Protocol):
    """What the servers on one store know of each other. Nothing is done while nobody asks."""

    async def news(self, mark: Mark | None) -> News:
        """Return what has happened since ``mark``, whatever was told of changes.

        ``None``: all rooms that are not closed, and the last lines. Rooms and lines of this server may be among
        them, and rooms may come again.

        Raises: StorageUnavailableError.
        """

    async def events_after(self, places: Mapping[RoomCode, Seq]) -> dict[RoomCode, list[StoredEvent]]:
        """Return the events of each room behind the number that is its place, in order; without any, no entry.

        Raises: DamagedRoomError for a gap or an altered event; StorageUnavailableError.
        """

    async def watchers(self) -> Mapping[RoomCode, int]:
        """Return the numbers of watchers of rooms on other servers, all of them together.

        Raises: StorageUnavailableError.
        """

    async def note_people(self, names: Collection[str], watchers: Mapping[RoomCode, int]) -> None:
        """Let others know who is connected to this server, and how many watch each room on it.

        They forget it when it ends or dies.

        Raises: StorageUnavailableError.
        """

    async def say(self, line: LobbyLine, keep_count: int) -> None:
        """Add a line to the lobby's chat, of which the last ``keep_count`` are kept.

        Raises: StorageUnavailableError; StoreError for a line that cannot be stored.
        """

    def alone(self, key: str) -> AbstractAsyncContextManager[None]:
        """Return a context that one server at a time is in, of those who name the same ``key``; keep it short.

        Another one may follow when a server in it does not come on for five seconds, or loses the storage.

        Raises, when it is entered: StorageUnavailableError.
        """

    def changes(self) -> AsyncGenerator[Mapping[RoomCode, Seq]]:
        """Yield batches of rooms that other servers have changed, with their last events.

        The first batch is empty and comes at once. Whatever is changed behind it is in a later one, within a
        second and mostly within a quarter of that, the shortest time between two. A room of this server may come
        too, and any may come twice. While the storage is away nothing comes, and afterwards what was missed. One
        caller at a time has this, and closes it.
        """


class Store(Protocol):
    """The events of all rooms and what follows from them, with the guests."""

    @property
    def peers(self) -> Peers | None:
        """The other servers on the same data; ``None`` where there can be none."""

    @property
    def accounts(self) -> Accounts:
        """The guests."""

    @property
    def metrics(self) -> CommitMetrics:
        """Counts of commits, group sizes and durations."""

    @property
    def last_alive_ms(self) -> int | None:
        """The last sign of life of a server, in milliseconds since 1970 UTC; ``None`` for a new store."""

    @property
    def trouble(self) -> str:
        """Why nothing can be stored now, in one word; empty as long as all is well.

        ``database``: it is away. ``lease``: it was silent for so long that other nodes may take over the rooms of
        this one.
        """

    def beat(self, now_ms: TimestampMs, rooms_count: int = 0) -> None:
        """Note that the store is being served now, with ``rooms_count`` rooms in memory.

        It is cheap, and not on the way of any commit. Raises: OSError.
        """

    async def other_nodes(self, *, is_counting: bool = False) -> list[NodeRow]:
        """Return the other nodes that are alive, by id; none where one process has the store to itself.

        Their numbers of rooms are those that they have told last, some seconds ago. With ``is_counting`` they are
        those of the rooms that they own now, which takes longer.

        Raises: StorageUnavailableError.
        """

    async def take_rooms(self, *, wanted: bool) -> None:
        """Have other nodes know that this one takes rooms from them, or does not, as at first.

        Raises: StorageUnavailableError.
        """

    async def clock_ms(self) -> TimestampMs | None:
        """Return the time by the clock of all nodes; ``None`` where this machine's is the only one.

        Raises: StorageUnavailableError.
        """

    async def newest_ms(self) -> TimestampMs | None:
        """Return the time of the newest event of any room, ``None`` before the first.

        Raises: StorageUnavailableError.
        """

    async def take_over(self, room: RoomCode) -> Ownership:
        """Become the owner of a room, before reading its log: all earlier owners can add nothing any more.

        A room can be taken over that nobody owns, that this node owns already, or whose owner has ended, or died a
        while ago.

        Returns: also the incarnation to append with; the first one when there is no such room.

        Raises: ElsewhereError when another node has it; StorageUnavailableError.
        """

    def release(self, room: RoomCode, incarnation: Incarnation) -> None:
        """Own a room no more, soon and without a wait: any node may take it over then. Append to it no more."""

    async def hand_over(self, room: RoomCode, incarnation: Incarnation, node: NodeId) -> None:
        """Make another node the owner of a room. Its appends have to be done.

        Raises: TakenOverError when somebody else has taken it over meanwhile; NodeLeavesError when the other node
        takes no rooms, or is not there any more; StorageUnavailableError.
        """

    async def disown(self, room: RoomCode) -> None:
        """Let any node take a room over that was handed to this one, which has not taken it over.

        Raises: StorageUnavailableError.
        """

    def append(
        self,
        room: RoomCode,
        expected_seq: Seq,
        events: Sequence[StoredEvent],
        rows: Rows,
        incarnation: Incarnation = FIRST_INCARNATION,
    ) -> asyncio.Future[None]:
        """Add ``events`` behind ``expected_seq`` (0: a new room) and write ``rows``: done after the commit.

        All of it is stored or nothing. The events are numbered on from ``expected_seq`` without a gap. Appends to
        one room are stored in the order of the calls. When this is cancelled the events may be stored or not: load
        the room again. ``incarnation`` is what :meth:`take_over` has returned to the room's owner.

        Raises, here or when it is awaited: TakenOverError when the room has an owner of a later ``incarnation``;
        ConflictError when ``expected_seq`` is not the room's last event; StorageUnavailableError when the storage
        refuses (in these cases nothing of it is stored, and a later append may succeed); StoreError for values
        that cannot be stored; ValueError for events that are not numbered on.
        """

    async def remove(self, rooms: Collection[RoomCode]) -> None:
        """Remove rooms with their events and all rows; their codes are free again. Unknown ones don't matter.

        Nobody may append to one of them meanwhile. Raises: StorageUnavailableError.
        """

    async def load(self, room: RoomCode, after_seq: Seq = BEFORE_FIRST) -> list[StoredEvent]:
        """Return the room's events behind ``after_seq`` in order, none for an unknown room.

        Raises: DamagedRoomError for a gap or an altered event; StorageUnavailableError.
        """

    async def rooms_without_maker(self) -> dict[RoomCode, StoredEvent]:
        """Return the first event of every room whose row names no maker, damaged rooms left out.

        Raises: StorageUnavailableError.
        """

    async def note_makers(self, makers: Mapping[RoomCode, AccountId]) -> None:
        """Write into rows that name no maker who it is. Raises: StorageUnavailableError."""

    async def count_rooms(self, maker: AccountId, phases: Collection[str]) -> int:
        """Return the number of rooms in any of ``phases`` that an account has made.

        Raises: StorageUnavailableError.
        """

    async def rooms(self, phases: Collection[str] | None = None) -> list[RoomRow]:
        """Return the rows of the rooms in any of ``phases`` (``None``: of all rooms), by code.

        Raises: StorageUnavailableError.
        """

    async def room(self, code: RoomCode) -> RoomRow | None:
        """Return the room's row, ``None`` when there is none. Raises: StorageUnavailableError."""

    async def lost_rooms(self, rooms: Mapping[RoomCode, Incarnation]) -> dict[RoomCode, str | None]:
        """Return those of ``rooms`` that other nodes have taken over, with the addresses of those nodes.

        It looks only after a time in which this node could be taken for dead. Raises: StorageUnavailableError.
        """

    async def due_rooms(self, before_ms: TimestampMs) -> list[RoomCode]:
        """Return the rooms whose deadline is at ``before_ms`` or earlier, the earliest first.

        Rooms that other nodes have are left out.

        Raises: StorageUnavailableError.
        """

    async def matches(self, room: RoomCode) -> list[MatchRow]:
        """Return the room's matches by number. Raises: StorageUnavailableError."""

    async def stop(self, limit_ms: DurationMs = STOP_LIMIT_MS) -> None:
        """Refuse new writes and commit those that wait, for ``limit_ms`` at most. A second call does nothing."""

    async def close(self) -> None:
        """Give everything back that the store holds, its rooms too; stop it before. A second call does nothing."""
