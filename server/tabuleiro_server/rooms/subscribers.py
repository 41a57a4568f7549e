"""The connections in a room, and the notifications to them, encoded once for each codec and kind of viewer."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Protocol

import msgspec

from tabuleiro.ids import AccountId, RoomCode
from tabuleiro.protocol.codec import Codec
from tabuleiro.protocol.events import SequencedEvent
from tabuleiro.protocol.messages import RoomGone, RoomHead, Update
from tabuleiro_server.room.state import RoomState, Seats
from tabuleiro_server.room.views import Viewer, board_in, event_for, is_chooser, viewer_of


class Subscriber(Protocol):
    """A connection that can enter rooms."""

    account_id: AccountId
    address: str
    codec: Codec

    def send_frame(self, frame: bytes) -> None:
        """Queue an encoded message; never waits."""
        ...

    def forget_room(self, code: RoomCode) -> None:
        """Take note that the room is gone."""
        ...


class Subscribers:
    """The connections in one room."""

    def __init__(self, code: RoomCode) -> None:
        self._code = code
        self._subscribers: dict[Subscriber, None] = {}
        self._accounts: frozenset[AccountId] | None = frozenset()
        self._entering: AccountId | None = None
        self._groups: dict[tuple[str, Viewer], list[Subscriber]] | None = None
        self._grouped_for: tuple[Seats, bool] | None = None
        self._counted: tuple[frozenset[AccountId], Seats] | None = None
        self._watchers_count = 0
        self._with_boards: set[Subscriber] = set()
        self._shown: tuple[object, ...] = ()

    def __len__(self) -> int:
        return len(self._subscribers)

    def add(self, subscriber: Subscriber) -> None:
        """Add a connection; nothing happens if it is present."""
        self._subscribers[subscriber] = None
        self._accounts = self._groups = None

    def show_boards(self, subscriber: Subscriber, room: RoomState, *, wanted: bool) -> None:
        """Send boards to a connection with every new position, or no more; it has that of ``room``."""
        if wanted:
            self._with_boards.add(subscriber)
        else:
            self._with_boards.discard(subscriber)
        self._groups = None
        self._shown = _place(room)

    def remove(self, subscriber: Subscriber) -> bool:
        """Remove a connection; return True if it was present."""
        was_here = subscriber in self._subscribers
        self._subscribers.pop(subscriber, None)
        self._with_boards.discard(subscriber)
        self._accounts = self._groups = None
        return was_here

    @contextmanager
    def entering(self, account: AccountId) -> Iterator[None]:
        """Count an account as present while it enters, before it gets notifications."""
        self._entering, self._accounts = account, None
        try:
            yield
        finally:
            self._entering, self._accounts = None, None

    def accounts(self) -> frozenset[AccountId]:
        """Return the accounts with a connection in the room."""
        if self._accounts is None:
            here = {subscriber.account_id for subscriber in self._subscribers}
            self._accounts = frozenset(here if self._entering is None else here | {self._entering})
        return self._accounts

    def address_of(self, account: AccountId) -> str:
        """Return the address of a connection of ``account``, empty if there is none."""
        return next((other.address for other in self._subscribers if other.account_id == account), "")

    def accounts_gone(self, room: RoomState) -> set[AccountId]:
        """Return the accounts that hold a seat, have no connection, and are not noted as gone."""
        connected = self.accounts()
        return {
            seat.account
            for seat, since_ms in zip(room.seats, room.away_since_ms, strict=True)
            if seat.kind == "person" and seat.account and seat.account not in connected and since_ms is None
        }

    def accounts_back(self, room: RoomState) -> set[AccountId]:
        """Return the accounts that hold a seat and have a connection, but are noted as gone."""
        connected = self.accounts()
        return {
            seat.account
            for seat, since_ms in zip(room.seats, room.away_since_ms, strict=True)
            if seat.account and seat.account in connected and since_ms is not None
        }

    def count_watchers(self, seats: Seats) -> int:
        """Return the number of accounts in the room that hold none of its ``seats``."""
        accounts = self.accounts()
        if self._counted is None or self._counted[0] is not accounts or self._counted[1] is not seats:
            self._watchers_count = len(accounts - {seat.account for seat in seats})
            self._counted = (accounts, seats)
        return self._watchers_count

    def publish(self, room: RoomState, head: RoomHead, events: tuple[SequencedEvent, ...]) -> None:
        """Notify every connection of the events, as far as its viewer may see them."""
        for (_, viewer), subscribers in self._grouped(room).items():
            seen = tuple([event_for(event, viewer) for event in events])
            frame = subscribers[0].codec.encode(Update(head, seen))
            for subscriber in subscribers:
                subscriber.send_frame(frame)
        if self._with_boards:
            self._publish_with_boards(room, head, events)

    def _publish_with_boards(self, room: RoomState, head: RoomHead, events: tuple[SequencedEvent, ...]) -> None:
        """Notify the connections that want boards; the board of a new position is encoded once for each group."""
        is_new = _place(room) != self._shown
        self._shown = _place(room)
        frames: dict[tuple[str, bool, bool], bytes] = {}
        for subscriber in self._with_boards:
            viewer = viewer_of(room, subscriber.account_id)
            is_choosing = is_new and is_chooser(room, subscriber.account_id)
            key = (subscriber.codec.subprotocol, viewer is Viewer.PLAYER, is_choosing)
            if key not in frames:
                seen = tuple([event_for(event, viewer) for event in events])
                board = board_in(room, with_choices=is_choosing) if is_new else msgspec.UNSET
                frames[key] = subscriber.codec.encode(Update(head, seen, board))
            subscriber.send_frame(frames[key])

    def _grouped(self, room: RoomState) -> dict[tuple[str, Viewer], list[Subscriber]]:
        """Return the connections by codec and kind of viewer; kept until somebody enters, leaves or sits down."""
        seats, is_playing = room.seats, room.phase == "playing"
        last = self._grouped_for
        if self._groups is None or last is None or last[0] is not seats or last[1] is not is_playing:
            self._groups, self._grouped_for = {}, (seats, is_playing)
            for subscriber in self._subscribers:
                if subscriber in self._with_boards:
                    continue
                key = (subscriber.codec.subprotocol, viewer_of(room, subscriber.account_id))
                self._groups.setdefault(key, []).append(subscriber)
        return self._groups

    def dismiss_all(self, reason: str, node_url: str | None = None) -> None:
        """Notify every connection that the room is gone, or at ``node_url`` now, and remove it."""
        for subscriber in tuple(self._subscribers):
            subscriber.send_frame(subscriber.codec.encode(RoomGone(self._code, reason, node_url)))
            subscriber.forget_room(self._code)
        self._subscribers.clear()
        self._with_boards.clear()
        self._accounts = self._groups = None


def _place(room: RoomState) -> tuple[object, ...]:
    """Return a value that is another one for each position that a room comes to show."""
    match = room.match
    return () if match is None else (match.number, len(match.actions), match.revision, match.termination)
