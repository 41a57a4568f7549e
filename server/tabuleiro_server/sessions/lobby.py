"""The list of rooms, the chat of the people who look at it, and the subscriptions to both.

The rooms keep their lines up to date. Changes within a moment are sent together, so that a busy server does not
flood its lobby.
"""

from __future__ import annotations

import asyncio
from collections import Counter, deque
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from heapq import nsmallest
from sys import intern
from typing import Final

import msgspec
from msgspec.structs import replace

from tabuleiro.errors import CommandError
from tabuleiro.ids import AccountId, Phase, RoomCode, TimestampMs
from tabuleiro.notation.plain_text import strip_controls
from tabuleiro.protocol.codes import ErrorCode
from tabuleiro.protocol.messages import CHAT_MAX_CHARS, ChatLine, LobbyUpdate, RoomList, RoomSummary
from tabuleiro_server.room.chat import FLOOD_LINES_COUNT, FLOOD_WINDOW_MS
from tabuleiro_server.rooms.live_room import LiveRoom
from tabuleiro_server.sessions.session import Session

LISTED_PHASES: Final[tuple[Phase, ...]] = ("waiting", "playing")
"""Phases that are listed unless the client names others."""

LISTED_ROOMS_COUNT: Final = 200
LISTED_PEOPLE_COUNT: Final = 50
LOBBY_LINES_COUNT: Final = 100
LOBBY_FLOOD_LINES_COUNT: Final = 20
"""All together may write as many lines in the time in which one person may write five: each goes to everybody."""

UPDATE_DELAY_S: Final = 0.25

STALE_LINES_COUNT: Final = 256
"""Changed rooms whose lines wait to be made; the rooms stay in memory for them."""


@dataclass(frozen=True, slots=True)
class RoomFilter:
    """A filter for rooms. ``None`` stands for every game, and for unfinished rooms."""

    game: str | None = None
    phases: tuple[Phase, ...] | None = None

    def matches(self, room: RoomSummary | _Line) -> bool:
        """Return True if the room passes the filter."""
        phases = LISTED_PHASES if self.phases is None else self.phases
        return room.phase in phases and self.game in (None, room.game)


_ENCODER: Final = msgspec.msgpack.Encoder()
_DECODER: Final = msgspec.msgpack.Decoder(RoomSummary)


class _Line(msgspec.Struct, frozen=True, gc=False):
    """The summary of a room as bytes, with what it is found by: there are many, and most are seldom asked for.

    As structs they take ten times as much memory, in pieces among all that comes and goes.
    """

    phase: Phase
    game: str
    has_open_seat: bool
    packed: bytes

    @classmethod
    def of(cls, summary: RoomSummary) -> _Line:
        has_open_seat = any(seat.kind == "open" for seat in summary.seats)
        return cls(summary.phase, intern(summary.game), has_open_seat, _ENCODER.encode(summary))

    @property
    def summary(self) -> RoomSummary:
        return _DECODER.decode(self.packed)


def _ignore() -> None:
    """Do nothing: nobody wants to know."""


class LobbyChat:
    """The last lines of chat, ``count`` counts all that were ever written."""

    def __init__(self) -> None:
        self.count = 0
        self._lines: deque[ChatLine] = deque(maxlen=LOBBY_LINES_COUNT)

    def line(self, account: AccountId, name: str, text: str, now_ms: TimestampMs) -> ChatLine:
        """Return a line to be added.

        Raises:
            CommandError: bad-text, or limit-reached by this account or by everybody together.
        """
        shown = strip_controls(text)
        if not shown:
            message = f"nothing to say: expected 1 to {CHAT_MAX_CHARS} characters that can be seen"
            raise CommandError(ErrorCode.BAD_TEXT, message)
        recent = [line.account for line in self._lines if now_ms - FLOOD_WINDOW_MS < line.at_ms <= now_ms]
        seconds = FLOOD_WINDOW_MS // 1000
        if recent.count(account) >= FLOOD_LINES_COUNT:
            message = f"at most {FLOOD_LINES_COUNT} lines in {seconds} seconds; wait a little"
            raise CommandError(ErrorCode.LIMIT_REACHED, message)
        if len(recent) >= LOBBY_FLOOD_LINES_COUNT:
            message = f"at most {LOBBY_FLOOD_LINES_COUNT} lines of all in {seconds} seconds; wait a little"
            raise CommandError(ErrorCode.LIMIT_REACHED, message)
        return ChatLine(now_ms, account, name, shown, is_player=False)

    def add(self, line: ChatLine) -> None:
        """Add a line."""
        self._lines.append(line)
        self.count += 1

    def since(self, count: int) -> tuple[ChatLine, ...]:
        """Return the lines after the first ``count`` of all, as far as they are kept."""
        lines = tuple(self._lines)
        return lines[max(len(lines) - (self.count - count), 0) :]


@dataclass(slots=True)
class _Subscription:
    """The filter of a subscriber, and its state: the rooms in its list, and the people and lines it knows of."""

    wanted: RoomFilter
    known: set[RoomCode]
    lines_count: int
    people: tuple[tuple[str, ...], int] | None = None


class Lobby:
    """Summaries of the listed rooms that are not closed, the names of the connected guests, and their chat.

    ``on_watched`` is called when somebody subscribes or no longer does.
    """

    def __init__(self, summaries: Iterable[RoomSummary] = ()) -> None:
        self.on_watched: Callable[[], None] = _ignore
        by_age = sorted(summaries, key=lambda summary: summary.created_at_ms)
        self._chat = LobbyChat()
        self._lines = {summary.room: _Line.of(summary) for summary in by_age}
        self._people: Counter[str] = Counter()
        self._others: frozenset[str] = frozenset()
        self._further_watchers: Mapping[RoomCode, int] = {}
        self._shown_people: tuple[tuple[str, ...], int] | None = None
        self._subscriptions: dict[Session, _Subscription] = {}
        self._stale: dict[RoomCode, Callable[[], RoomSummary]] = {}
        self._changed: dict[RoomCode, None] = {}
        self._timer: asyncio.TimerHandle | None = None

    def note(self, room: LiveRoom) -> None:
        """Note that a room has changed; its line is made when somebody asks for it or is notified."""
        self._stale[room.state.code] = room.summary
        if len(self._stale) >= STALE_LINES_COUNT:
            self._freshen()
        self._notify_soon()

    def settle(self, code: RoomCode) -> None:
        """Make the line of a room that leaves memory, if it has changed."""
        summarize = self._stale.pop(code, None)
        if summarize is not None:
            self.update(summarize())

    def _freshen(self) -> None:
        stale, self._stale = self._stale, {}
        for summarize in stale.values():
            self.update(summarize())

    def update(self, summary: RoomSummary) -> None:
        """Take in the line of a room; a closed or private room is not listed."""
        code = summary.room
        old = self._lines.get(code)
        if summary.phase == "closed" or summary.settings.is_private:
            self._lines.pop(code, None)
        else:
            self._lines[code] = _Line.of(summary)
        if self._subscriptions and old != self._lines.get(code):
            self._changed[code] = None
            self._notify_soon()

    def rooms(self, wanted: RoomFilter) -> tuple[tuple[RoomSummary, ...], bool]:
        """Return the newest rooms that pass a filter, and True if there are more than are listed."""
        self._freshen()
        found: list[RoomSummary] = []
        for line in reversed(self._lines.values()):
            if wanted.matches(line):
                if len(found) == LISTED_ROOMS_COUNT:
                    return tuple(found), True
                found.append(self._summary(line))
        return tuple(found), False

    def listed_room(self, code: str) -> RoomSummary | None:
        """Return the line of a room, ``None`` if it is not listed."""
        self._freshen()
        line = self._lines.get(RoomCode(code))
        return None if line is None else line.summary

    def open_rooms(self, game: str) -> list[RoomSummary]:
        """Return the rooms of ``game`` with a free seat, oldest first."""
        self._freshen()
        wanted = RoomFilter(game, ("waiting",))
        return [line.summary for line in self._lines.values() if line.has_open_seat and wanted.matches(line)]

    def arrive(self, name: str) -> None:
        """Count one connection more under this name."""
        self._people[name] += 1
        self._people_changed()

    def depart(self, name: str) -> None:
        """Count one connection less under this name."""
        self._people[name] -= 1
        if not self._people[name]:
            del self._people[name]
        self._people_changed()

    @property
    def people(self) -> frozenset[str]:
        """The names of those who are connected to this server."""
        return frozenset(self._people)

    def is_connected(self, name: str) -> bool:
        """Return True if somebody of this name is connected, to any server."""
        return name in self._people or name in self._others

    def note_others(self, names: frozenset[str], watchers: Mapping[RoomCode, int]) -> None:
        """Take in the names of those who are connected to other servers, and the numbers of further watchers."""
        if names != self._others:
            self._others, self._shown_people = names, None
            self._notify_soon()
        before, self._further_watchers = self._further_watchers, watchers
        for code in before.keys() | watchers.keys():
            if before.get(code) != watchers.get(code) and code in self._lines and self._subscriptions:
                self._changed[code] = None
                self._notify_soon()

    def _summary(self, line: _Line) -> RoomSummary:
        summary = line.summary
        further_count = self._further_watchers.get(summary.room, 0)
        return replace(summary, watchers=summary.watchers + further_count) if further_count else summary

    def _people_changed(self) -> None:
        self._shown_people = None
        self._notify_soon()

    def line(self, subscriber: Session, text: str, now_ms: TimestampMs) -> ChatLine:
        """Return a line of chat to be added, whose author is a subscriber.

        Raises:
            CommandError: not-watching; as :meth:`LobbyChat.line`.
        """
        if subscriber not in self._subscriptions:
            raise CommandError(ErrorCode.NOT_WATCHING, "follow the lobby first: subscribe-lobby")
        return self._chat.line(subscriber.account_id, subscriber.name, text, now_ms)

    def add_line(self, line: ChatLine) -> None:
        """Add a line of chat for all subscribers."""
        self._chat.add(line)
        self._notify_soon()

    def subscribe(self, subscriber: Session, wanted: RoomFilter) -> RoomList:
        """Notify ``subscriber`` of changes from now on; this replaces its last subscription.

        Returns:
            The list that will change, as :meth:`rooms`, and the last lines of chat.
        """
        listed, is_cut = self.rooms(wanted)
        known = {summary.room for summary in listed}
        self._subscriptions[subscriber] = _Subscription(wanted, known, self._chat.count)
        self.on_watched()
        self._notify_soon()
        return RoomList(listed, is_cut, self._chat.since(0))

    def unsubscribe(self, subscriber: Session) -> None:
        """Send it no more notifications."""
        self._subscriptions.pop(subscriber, None)
        self.on_watched()

    @property
    def is_watched(self) -> bool:
        """True while somebody is to be notified."""
        return bool(self._subscriptions)

    def stop(self) -> None:
        """Send no more notifications."""
        self._subscriptions.clear()
        if self._timer is not None:
            self._timer.cancel()

    def _notify_soon(self) -> None:
        if self._subscriptions and self._timer is None:
            self._timer = asyncio.get_running_loop().call_later(UPDATE_DELAY_S, self._notify)

    def _notify(self) -> None:
        self._timer = None
        self._freshen()
        changed = tuple(self._changed)
        self._changed.clear()
        people = self._shown_people
        if people is None:
            names = self._others.union(self._people)
            people = (tuple(nsmallest(LISTED_PEOPLE_COUNT, names, key=str.casefold)), len(names))
            self._shown_people = people
        lines = {code: self._summary(line) for code in changed if (line := self._lines.get(code)) is not None}
        for subscriber, subscription in self._subscriptions.items():
            wanted, known = subscription.wanted, subscription.known
            rooms = tuple(line for line in lines.values() if wanted.matches(line))
            listed = {line.room for line in rooms}
            gone = tuple(code for code in changed if code in known and code not in listed)
            known |= listed
            known.difference_update(gone)
            said = self._chat.since(subscription.lines_count)
            if rooms or gone or said or subscription.people != people:
                subscription.people, subscription.lines_count = people, self._chat.count
                subscriber.send(LobbyUpdate(rooms, gone, *people, said))
