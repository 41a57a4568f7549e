"""What clients were told by servers, and whether their database says the same. It knows no network.

Facts carry the time at which the server made them, so a fact that was told, lost and made again after a restart
is a difference, even if it says the same.
"""

from __future__ import annotations

import contextlib
import shutil
import sqlite3
from collections import Counter, defaultdict
from collections.abc import Collection, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Final

import asyncpg

from tabuleiro.ids import RoomCode, Seq
from tabuleiro.protocol.events import (
    ActionsPlayed,
    ActionsUndone,
    MatchEnded,
    MatchStarted,
    RoomOpened,
    Said,
    SequencedEvent,
    TurnTakenBack,
    Withheld,
)
from tabuleiro.rules import Game, State, registry
from tabuleiro_server.rooms.journal import read_events, rows_of
from tabuleiro_server.store.postgres.admin import on_database
from tabuleiro_server.store.postgres.admin import verify as verify_database
from tabuleiro_server.store.postgres.queries import select_events as select_postgres_events
from tabuleiro_server.store.sqlite.queries import select_events
from tabuleiro_server.store.sqlite.repair import verify

MatchKey = tuple[RoomCode, int]

ROOMS_AT_ONCE_COUNT: Final = 200
"""Rooms that are read and replayed before the next are: all positions of all rooms would fill the memory."""


@dataclass(frozen=True, slots=True)
class Move:
    """Actions that a client sent for a ply of a match, after so many undos and takebacks as ``revision``."""

    room: RoomCode
    match: int
    ply: int
    actions: tuple[str, ...]
    revision: int = 0


class StoredRooms:
    """The rooms in a database, replayed by the rules with every action checked.

    ``positions`` are those after each event; ``lines`` has, for each match, the positions it went through, a new
    line from the start for every undo and takeback, and ``played`` the actions of each line.
    """

    def __init__(self) -> None:
        self.events: dict[RoomCode, Sequence[SequencedEvent]] = {}
        self.positions: dict[RoomCode, dict[Seq, State]] = defaultdict(dict)
        self.lines: dict[MatchKey, list[list[State]]] = {}
        self.played: dict[MatchKey, list[list[int]]] = {}
        self.ended: dict[MatchKey, MatchEnded] = {}
        self.sayings: Counter[str] = Counter()

    @classmethod
    def read(cls, path: Path, passed_over: Collection[RoomCode] = ()) -> StoredRooms:
        """Read and replay all rooms but those ``passed_over``."""
        stored = cls()
        with contextlib.closing(sqlite3.connect(path)) as connection:
            for (code,) in connection.execute("SELECT DISTINCT room FROM events").fetchall():
                if code not in passed_over:
                    stored.replay(code, read_events(code, select_events(connection, code, Seq(0))))
        return stored

    @classmethod
    async def read_database(cls, url: str, rooms: Collection[RoomCode]) -> StoredRooms:
        """Read and replay rooms in a PostgreSQL database."""
        stored = cls()

        async def read(connection: asyncpg.Connection) -> None:
            for code in rooms:
                stored.replay(code, read_events(code, await select_postgres_events(connection, code, Seq(0))))

        await on_database(url, read)
        return stored

    def replay(self, code: RoomCode, events: Sequence[SequencedEvent]) -> None:
        """Take a room in. Raises: AssertionError, or the rules' errors, for events that cannot be."""
        self.events[code] = events
        game: Game | None = None
        line: list[State] = []
        played: list[int] = []
        times_ms = [sequenced.at_ms for sequenced in events]
        assert times_ms == sorted(times_ms), f"room {code}: events go back in time"
        for seq, event in ((sequenced.seq, sequenced.event) for sequenced in events):
            match event:
                case RoomOpened():
                    game = registry.load(event.game, event.options)
                    line = [game.initial_state()]
                case MatchStarted():
                    assert game is not None
                    if event.seed is not None:
                        game = registry.load(game.name, {**game.options, "seed": event.seed})
                    line, played = [game.initial_state()], []
                    self.lines[code, event.match], self.played[code, event.match] = [line], [played]
                case ActionsPlayed():
                    assert event.ply == len(line) - 1, f"room {code}: {event} is the second of its ply"
                    for text in event.actions:
                        assert event.player == line[-1].to_move, f"room {code}: {event} is not the mover's"
                        played.append(line[-1].string_to_action(text))
                        line.append(line[-1].apply(played[-1]))
                case ActionsUndone() | TurnTakenBack():
                    line, played = line[: event.ply + 1], played[: event.ply]
                    self.lines[code, event.match].append(line)
                    self.played[code, event.match].append(played)
                case MatchEnded():
                    key = (code, event.match)
                    assert key not in self.ended, f"room {code}: match {event.match} ended twice"
                    self.ended[key] = event
                case Said():
                    self.sayings[event.text] += 1
            self.positions[code][seq] = line[-1]

    def holds(self, move: Move) -> bool:
        """Whether exactly these actions were played from this ply on.

        The actions are compared and not the positions: one that is not legal can lead to the position that a legal
        one led to.
        """
        key = (move.room, move.match)
        if move.revision >= len(self.lines.get(key, [])):
            return False
        span = slice(move.ply, move.ply + len(move.actions))
        states, played = self.lines[key][move.revision][span], self.played[key][move.revision][span]
        if len(played) < len(move.actions):
            return False
        return played == [state.string_to_action(text) for state, text in zip(states, move.actions, strict=True)]


@dataclass(frozen=True, slots=True)
class Mark:
    """How much had been told at a moment: the last event of each room, and what was acknowledged."""

    told: dict[RoomCode, Seq]
    acknowledged_count: int
    said_count: int


class Ledger:
    """Everything that was told to any client."""

    def __init__(self) -> None:
        self.announced: dict[RoomCode, dict[Seq, SequencedEvent]] = defaultdict(dict)
        self.digests: dict[RoomCode, dict[Seq, str]] = defaultdict(dict)
        self.withheld: dict[RoomCode, set[Seq]] = defaultdict(set)
        self.acknowledged: list[Move] = []
        self.refused: list[Move] = []
        self.said: list[tuple[RoomCode, str]] = []
        self.unsaid: list[str] = []
        self._settled: set[RoomCode] = set()

    def announce(self, room: RoomCode, event: SequencedEvent) -> None:
        """A client was told of an event; all clients must be told the same, unless it is withheld from some."""
        if isinstance(event.event, Withheld):
            self.withheld[room].add(event.seq)
            return
        known = self.announced[room].setdefault(event.seq, event)
        assert known == event, f"room {room}: told {known} and then {event}"

    def position(self, room: RoomCode, seq: Seq, state: State) -> None:
        """A client holds this position after the event ``seq``."""
        digest = state.digest()
        known = self.digests[room].setdefault(seq, digest)
        assert known == digest, f"room {room}, event {seq}: clients hold different positions"

    async def check(self, db: Path, scratch: Path, *, is_thorough: bool) -> StoredRooms:
        """Compare with what ``db`` holds. It is copied to the folder ``scratch`` first and stays as it is.

        Only a thorough check looks again at rooms whose matches had ended at the check before, and at the tables.

        Raises: AssertionError naming what is missing, doubled or different.
        """
        copy = scratch / "copy.db"
        for suffix in ("", "-wal"):
            target = copy.with_name(copy.name + suffix)
            target.unlink(missing_ok=True)
            with contextlib.suppress(FileNotFoundError):
                shutil.copyfile(db.with_name(db.name + suffix), target)
        passed_over = frozenset() if is_thorough else frozenset(self._settled)
        stored = StoredRooms.read(copy, passed_over)
        self._compare(stored, self.mark(), self._rooms() - passed_over)
        if is_thorough:
            report = await verify(copy, rows_of)
            assert report.is_sound, f"{report.file_findings} {report.damaged} {report.differences}"
        self._settled |= {room for room, _ in stored.ended}
        return stored

    async def check_database(self, url: str, *, is_thorough: bool) -> dict[MatchKey, MatchEnded]:
        """Compare with what a PostgreSQL database holds, as :meth:`check`; return the matches that have ended.

        Servers may be at work on it: what clients are told meanwhile is left for the next time.
        """
        mark = self.mark()
        rooms = sorted(self._rooms() - (set() if is_thorough else self._settled))
        ended: dict[MatchKey, MatchEnded] = {}
        for first in range(0, len(rooms), ROOMS_AT_ONCE_COUNT):
            some = rooms[first : first + ROOMS_AT_ONCE_COUNT]
            stored = await StoredRooms.read_database(url, some)
            self._compare(stored, mark, set(some))
            ended |= stored.ended
        if is_thorough:
            report = await verify_database(url, rows_of)
            assert report.is_sound, f"{report.file_findings} {report.damaged} {report.differences}"
        self._settled |= {room for room, _ in ended}
        return ended

    def mark(self) -> Mark:
        """Note how much has been told by now."""
        told: dict[RoomCode, Seq] = {}
        for seqs in (self.announced, self.digests, self.withheld):
            for room, numbers in seqs.items():
                told[room] = max(told.get(room, Seq(0)), *numbers)
        return Mark(told, len(self.acknowledged), len(self.said))

    def _rooms(self) -> set[RoomCode]:
        told = {*self.announced, *self.digests, *self.withheld}
        return told | {move.room for move in self.acknowledged} | {room for room, _ in self.said}

    def _compare(self, stored: StoredRooms, mark: Mark, rooms: Collection[RoomCode]) -> None:
        """Compare what was told up to ``mark`` in some rooms, which were read after it."""
        self._compare_events(stored, mark, rooms)
        for move in self.acknowledged[: mark.acknowledged_count]:
            assert move.room not in rooms or stored.holds(move), f"acknowledged and lost: {move}"
        for move in self.refused:
            assert not stored.holds(move), f"refused and played: {move}"
        for room, text in self.said[: mark.said_count]:
            count = stored.sayings[text]
            assert room not in rooms or count == 1, f"acknowledged, and there {count} times: {text}"
        for text in self.unsaid:
            assert stored.sayings[text] == 0, f"refused and said: {text}"
        assert not stored.sayings or max(stored.sayings.values()) == 1, "something was said twice"

    def _compare_events(self, stored: StoredRooms, mark: Mark, rooms: Collection[RoomCode]) -> None:
        for room in rooms:
            by_seq = {event.seq: event for event in stored.events.get(room, ())}
            last = mark.told.get(room, Seq(0))
            for seq, event in self.announced.get(room, {}).items():
                assert seq > last or by_seq.get(seq) == event, f"room {room}: told {event}, not {by_seq.get(seq)}"
            for seq in self.withheld.get(room, ()):
                if seq <= last:
                    hidden = by_seq[seq].event
                    assert isinstance(hidden, Said), f"room {room}: withheld {hidden}"
                    assert hidden.is_hidden, f"room {room}: withheld {hidden}"
            for seq, digest in self.digests.get(room, {}).items():
                if seq <= last:
                    position = stored.positions[room].get(seq)
                    assert position is not None, f"room {room}: a client is at event {seq}, which is lost"
                    assert position.digest() == digest, f"room {room}: a client holds another position at {seq}"
