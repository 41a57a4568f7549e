"""What clients were told by a server, and whether its file says the same. It knows no network.

Facts carry the time at which the server made them, so a fact that was told, lost and made anew after a restart
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
from tabuleiro.protocol.events import ActionsPlayed, MatchEnded, MatchStarted, RoomOpened, Said, SequencedEvent
from tabuleiro.rules import Game, State, registry
from tabuleiro_server.runtime.journal import read_events, rows_of
from tabuleiro_server.store.consistency import verify
from tabuleiro_server.store.log_tables import select_events

MatchKey = tuple[RoomCode, int]


@dataclass(frozen=True, slots=True)
class Move:
    """Actions that a client sent for a ply of a match."""

    room: RoomCode
    match: int
    ply: int
    actions: tuple[str, ...]


class StoredRooms:
    """The rooms in a copy of a file, replayed by the rules with every action checked."""

    def __init__(self) -> None:
        self.events: dict[RoomCode, Sequence[SequencedEvent]] = {}
        self.states: dict[MatchKey, list[State]] = {}
        self.actions: dict[MatchKey, list[int]] = {}
        self.ended: set[MatchKey] = set()
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
        for event in (sequenced.event for sequenced in events):
            match event:
                case RoomOpened():
                    game = registry.load(event.game, event.options)
                case MatchStarted():
                    assert game is not None
                    if event.seed is not None:
                        game = registry.load(game.name, {**game.options, "seed": event.seed})
                    self.states[code, event.match] = [game.initial_state()]
                    self.actions[code, event.match] = []
                case ActionsPlayed():
                    states = self.states[code, event.match]
                    assert event.ply == len(states) - 1, f"room {code}: {event} is the second of its ply"
                    for text in event.actions:
                        assert event.player == states[-1].to_move, f"room {code}: {event} is not the mover's"
                        action = states[-1].string_to_action(text)
                        states.append(states[-1].apply(action))
                        self.actions[code, event.match].append(action)
                case MatchEnded():
                    key = (code, event.match)
                    assert key not in self.ended, f"room {code}: match {event.match} ended twice"
                    self.ended.add(key)
                case Said():
                    self.sayings[event.text] += 1

    def holds(self, move: Move) -> bool:
        """Whether exactly these actions were played from this ply on.

        The actions are compared and not the positions: one that is not legal can lead to the position that a legal
        one led to.
        """
        key = (move.room, move.match)
        span = slice(move.ply, move.ply + len(move.actions))
        states, played = self.states.get(key, [])[span], self.actions.get(key, [])[span]
        if len(played) < len(move.actions):
            return False
        return played == [state.string_to_action(text) for state, text in zip(states, move.actions, strict=True)]


class Ledger:
    """Everything that was told to any client."""

    def __init__(self) -> None:
        self.announced: dict[RoomCode, dict[Seq, SequencedEvent]] = defaultdict(dict)
        self.digests: dict[MatchKey, dict[int, str]] = defaultdict(dict)
        self.acknowledged: list[Move] = []
        self.refused: list[Move] = []
        self.said: list[tuple[RoomCode, str]] = []
        self.unsaid: list[str] = []
        self._settled: set[RoomCode] = set()

    def announce(self, room: RoomCode, event: SequencedEvent) -> None:
        """A client was told of an event; all clients must be told the same."""
        known = self.announced[room].setdefault(event.seq, event)
        assert known == event, f"room {room}: told {known} and then {event}"

    def position(self, room: RoomCode, match: int, ply: int, state: State) -> None:
        """A client holds this position after ``ply`` actions."""
        digest = state.digest()
        known = self.digests[room, match].setdefault(ply, digest)
        assert known == digest, f"room {room}, match {match}, ply {ply}: clients hold different positions"

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
            report = await verify(copy, lambda code, events: rows_of(read_events(code, events)))
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
        for key, digests in self.digests.items():
            if key[0] in passed_over:
                continue
            states = stored.states[key]
            for ply, digest in digests.items():
                assert ply < len(states), f"{key}: a client is at ply {ply}, which is lost"
                assert states[ply].digest() == digest, f"{key}: a client holds another position at ply {ply}"
