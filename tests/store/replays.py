"""Replays for stores whose events are no rooms."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NoReturn

from tabuleiro.ids import RoomCode
from tabuleiro_server.store.port import StoredEvent


def no_replay(room: RoomCode, events: Sequence[StoredEvent]) -> NoReturn:
    """Fail: nothing has to be replayed in a sound file."""
    raise AssertionError(f"room {room} was replayed")
