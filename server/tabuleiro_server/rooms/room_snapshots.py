"""Rooms as bytes that save replaying their events, and back. The events stay the truth.

Rules objects are not written: the game is its name and options, the positions are what the match's actions lead
to, so that what a position remembers of earlier ones is there again. When a snapshot is saved and what is done
about one that cannot be used is up to `journal` and `room_task`.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Final

import msgspec
from msgspec.structs import fields, replace

from tabuleiro.errors import DamagedRoomError, GameOptionError, NotationError
from tabuleiro.ids import RoomCode
from tabuleiro.rules import registry
from tabuleiro.rules.base import Game, State
from tabuleiro_server.room.state import Checkpoint, RoomState
from tabuleiro_server.store.rows import Snapshot

SNAPSHOT_VERSION: Final = 2
"""Grows with every change of what a room remembers or of what its events make of it, a field with a default too:
a snapshot of before lacks what a replay would put there. Other versions than this one are not read."""


class _Stored(msgspec.Struct):
    """``room`` is a `RoomState` with nothing in the places of rules objects."""

    game: str
    options: dict[str, int | str]
    room: msgspec.Raw


def _without_rules(rules_object: object) -> None:
    if not isinstance(rules_object, Game | State):
        raise NotImplementedError(f"a room holds {type(rules_object).__name__}, which snapshots do not know")


_ENCODER: Final = msgspec.msgpack.Encoder(enc_hook=_without_rules)
_DECODER: Final = msgspec.msgpack.Decoder(_Stored)


def snapshot_of(room: RoomState) -> Snapshot:
    """The room as it is, to be stored."""
    stored = _Stored(room.game.name, dict(room.game.options), msgspec.Raw(_ENCODER.encode(room)))
    return Snapshot(room.seq, SNAPSHOT_VERSION, _ENCODER.encode(stored))


class SnapshotReader:
    """A room that is being read from its snapshot: the actions of its match are played again, in pieces.

    ``actions`` is what :meth:`take` has to be given, in order; then :meth:`result` is the room as it was.
    """

    def __init__(self, code: RoomCode, snapshot: Snapshot) -> None:
        """Raises: DamagedRoomError when the snapshot is of another version or cannot be read."""
        self._code = code
        self._seq = snapshot.seq
        if snapshot.version != SNAPSHOT_VERSION:
            raise self._damage(f"unknown version {snapshot.version} of a snapshot")
        try:
            self._room, self._state = _decoded(_DECODER.decode(snapshot.payload))
        except (msgspec.DecodeError, GameOptionError) as error:
            raise self._damage(f"its snapshot cannot be read: {error}") from error
        if (self._room.code, self._room.seq) != (code, snapshot.seq):
            raise self._damage(f"its snapshot is of room {self._room.code} after event {self._room.seq}")
        match = self._room.match
        self.actions = () if match is None else match.actions
        self._wanted_plies = frozenset(() if match is None else [known.ply for known in match.checkpoints])
        self._checkpoints: list[Checkpoint] = []
        self._ply = 0

    def take(self, actions: Sequence[str]) -> None:
        """Play the next actions. Raises: DamagedRoomError when they cannot be."""
        try:
            for text in actions:
                self._state = self._state.child(self._state.string_to_action(text))
                self._ply += 1
                if self._ply in self._wanted_plies:
                    self._checkpoints.append(Checkpoint(self._ply, self._state))
        except NotationError as error:
            raise self._damage(f"its snapshot cannot be read: {error}") from error

    def result(self) -> RoomState:
        """The room, after all actions have been taken."""
        match = self._room.match
        if match is None:
            return self._room
        checkpoints = tuple(self._checkpoints)
        return replace(self._room, match=replace(match, state=self._state, checkpoints=checkpoints))

    def _damage(self, reason: str) -> DamagedRoomError:
        return DamagedRoomError(self._code, self._seq, reason)


def read_snapshot(code: RoomCode, snapshot: Snapshot) -> RoomState:
    """The room as it was. Raises: DamagedRoomError when the snapshot is of another version or cannot be read."""
    reader = SnapshotReader(code, snapshot)
    reader.take(reader.actions)
    return reader.result()


def differences(snapshot: RoomState, replayed: RoomState) -> dict[str, tuple[object, object]]:
    """What a room from a snapshot and the same room from its events have different, by field.

    Of the secrets only is told that they differ: who looks after the file is not invited to every private room.
    """
    found: dict[str, tuple[object, object]] = {}
    for field in fields(RoomState):
        pair = getattr(snapshot, field.name), getattr(replayed, field.name)
        if pair[0] != pair[1]:
            found[field.name] = ("some", "others") if field.name == "secrets" else pair
    return found


def _decoded(stored: _Stored) -> tuple[RoomState, State]:
    """The room with the start of its game in the place of all positions, and that start."""
    game = registry.load(stored.game, stored.options)
    start = game.initial_state()

    def with_rules(wanted: type, _: object) -> Any:
        return game if wanted is Game else start

    return msgspec.msgpack.decode(stored.room, type=RoomState, dec_hook=with_rules), start
