"""What clients were told by a server, and whether its file says the same. It knows no network.

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
from tabuleiro_server.store.sqlite.event_log import select_events
from tabuleiro_server.store.sqlite.repair import verify

MatchKey = tuple[RoomCode, int]


@dataclass(frozen=True, slots=True)
class Move:
    """Actions that a client sent for a ply of a match, after so many undos and takebacks as ``revision``."""

    room: RoomCode
    match: int
    ply: int
    actions: tuple[str, ...]
    revision: int = 0


class StoredRooms:
    """The rooms in a copy of a file, replayed by the rules with every action checked.

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
        self._check_events(stored, passed_over)
        for move in self.acknowledged:
            assert move.room in passed_over or stored.holds(move), f"acknowledged and lost: {move}"
        for move in self.refused:
            assert not stored.holds(move), f"refused and played: {move}"
        for room, text in self.said:
            count = stored.sayings[text]
            assert room in passed_over or count == 1, f"acknowledged, and there {count} times: {text}"
        for text in self.unsaid:
            assert stored.sayings[text] == 0, f"refused and said: {text}"
        assert not stored.sayings or max(stored.sayings.values()) == 1, "something was said twice"
        if is_thorough:
            report = await verify(copy, rows_of)
            assert report.is_sound, f"{report.file_findings} {report.damaged} {report.differences}"
        self._settled |= {room for room, _ in stored.ended}
        return stored

    def _check_events(self, stored: StoredRooms, passed_over: Collection[RoomCode]) -> None:
        for room, told in self.announced.items():
            if room in passed_over:
                continue
            by_seq = {event.seq: event for event in stored.events.get(room, ())}
            for seq, event in told.items():
                assert by_seq.get(seq) == event, f"room {room}: told {event}, stored is {by_seq.get(seq)}"
            for seq in self.withheld[room]:
                hidden = by_seq[seq].event
                assert isinstance(hidden, Said), f"room {room}: withheld {hidden}"
                assert hidden.is_hidden, f"room {room}: withheld {hidden}"
        for room, digests in self.digests.items():
            if room in passed_over:
                continue
            for seq, digest in digests.items():
                position = stored.positions[room].get(seq)
                assert position is not None, f"room {room}: a client is at event {seq}, which is lost"
                assert position.digest() == digest, f"room {room}: a client holds another position at {seq}"
