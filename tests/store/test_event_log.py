"""Events that were altered in the file: their rooms are named, and no other room is kept from its own."""

from __future__ import annotations

import sqlite3
from contextlib import closing
from pathlib import Path
from typing import Any

import pytest

from tabuleiro.errors import DamagedRoomError
from tabuleiro.ids import RoomCode, Seq
from tabuleiro_server.store.port import Rows

ROOM = RoomCode("K7MQ4")
OTHER = RoomCode("W2XYZ")


@pytest.mark.parametrize(
    ("damage", "seq"),
    [
        ("UPDATE events SET payload = x'00' WHERE seq = 2", 2),
        ("UPDATE events SET payload = 'text' WHERE seq = 2", 2),
        ("UPDATE events SET at_ms = 0 WHERE seq = 3", 3),
        ("DELETE FROM events WHERE seq = 1", 1),
        ("DELETE FROM events WHERE seq = 2", 2),
        ("UPDATE events SET room = 'K7MQ4', seq = 4 WHERE room = 'W2XYZ'", 4),
    ],
)
async def test_altered_log_is_not_loaded_and_other_rooms_are(
    open_store: Any, make: Any, database_path: Path, damage: str, seq: int
) -> None:
    async with open_store() as store:
        await store.append(ROOM, Seq(0), make.events(1, 3), make.rows(ROOM))
        await store.append(OTHER, Seq(0), make.events(1, 1), make.rows(OTHER))
        await store.append(RoomCode("CCCCC"), Seq(0), make.events(1, 3), make.rows("CCCCC"))
    alter(database_path, damage.replace("WHERE seq", "WHERE room = 'K7MQ4' AND seq"))
    async with open_store() as store:
        with pytest.raises(DamagedRoomError) as caught:
            await store.load(ROOM)
        assert (caught.value.room, caught.value.seq) == (ROOM, seq)
        assert await store.load(RoomCode("CCCCC")) == make.events(1, 3)


def alter(path: Path, statement: str) -> None:
    """Change the file behind the store's back."""
    with closing(sqlite3.connect(path)) as connection:
        assert connection.execute(statement).rowcount == 1
        connection.commit()


async def test_rooms_without_a_maker_whose_first_event_was_altered_are_left_out(
    open_store: Any, make: Any, database_path: Path
) -> None:
    async with open_store() as store:
        for room in (ROOM, OTHER):
            await store.append(room, Seq(0), make.events(1, 2), Rows(make.room(room, maker="")))
    alter(database_path, f"UPDATE events SET payload = x'00' WHERE room = '{OTHER}' AND seq = 1")
    async with open_store() as store:
        assert await store.rooms_without_maker() == {ROOM: make.events(1, 1)[0]}
