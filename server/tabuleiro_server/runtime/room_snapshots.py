"""Rooms as bytes that save replaying their events, and back. The events stay the truth.

Rules objects are not written: the game is its name and options, the position what the match's actions lead to, so
that what a position remembers of earlier ones is there again. When a snapshot is saved and what is done about one
that cannot be used is up to `journal` and `room_task`.
"""

from __future__ import annotations

from typing import Any, Final

import msgspec
from msgspec.structs import fields, replace

from tabuleiro.errors import DamagedRoomError, GameOptionError, NotationError
from tabuleiro.ids import RoomCode
from tabuleiro.rules import registry
from tabuleiro.rules.base import Game, State
from tabuleiro_server.room.playing import state_after
from tabuleiro_server.room.state import RoomState
from tabuleiro_server.store.rows import Snapshot

SNAPSHOT_VERSION: Final = 1
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


def read_snapshot(code: RoomCode, snapshot: Snapshot) -> RoomState:
    """The room as it was. Raises: DamagedRoomError when the snapshot is of another version or cannot be read."""
    if snapshot.version != SNAPSHOT_VERSION:
        raise DamagedRoomError(code, snapshot.seq, f"unknown version {snapshot.version} of a snapshot")
    try:
        room = _decoded(_DECODER.decode(snapshot.payload))
    except (msgspec.DecodeError, GameOptionError, NotationError) as error:
        raise DamagedRoomError(code, snapshot.seq, f"its snapshot cannot be read: {error}") from error
    if (room.code, room.seq) != (code, snapshot.seq):
        raise DamagedRoomError(code, snapshot.seq, f"its snapshot is of room {room.code} after event {room.seq}")
    return room


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


def _decoded(stored: _Stored) -> RoomState:
    game = registry.load(stored.game, stored.options)
    start = game.initial_state()

    def with_rules(wanted: type, _: object) -> Any:
        return game if wanted is Game else start

    room = msgspec.msgpack.decode(stored.room, type=RoomState, dec_hook=with_rules)
    if room.match is None:
        return room
    state = state_after(room.match, room, len(room.match.actions))
    return replace(room, match=replace(room.match, state=state))
