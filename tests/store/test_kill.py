"""SIGKILL at any moment: whatever was acknowledged is in the file, whole groups with their rows, nothing half."""

from __future__ import annotations

import asyncio
import random
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from tabuleiro.ids import RoomCode
from tabuleiro_server.store.sqlite.admin import read_stats

APPENDER = Path(__file__).with_name("appender.py")
ROOM_COUNT = 12


def run_and_kill(path: Path, line_count: int) -> dict[RoomCode, int]:
    """Kill the appender after ``line_count`` acknowledged appends; return each room's last acknowledged event."""
    acknowledged: dict[RoomCode, int] = {}
    command = [sys.executable, str(APPENDER), str(path), str(ROOM_COUNT)]
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True) as appender:
        assert appender.stdout is not None
        for number, line in enumerate(appender.stdout, start=1):
            room, _, seq = line.rstrip("\n").partition(" ")
            acknowledged[RoomCode(room)] = int(seq)
            if number == line_count:
                appender.kill()  # and read on: what it had printed before it died was acknowledged too
    assert appender.returncode != 0
    return acknowledged


async def stored(open_store: Any, path: Path) -> dict[RoomCode, int]:
    """Each room's last event in the file, after checking that the room is whole and that its row fits."""
    last_seqs: dict[RoomCode, int] = {}
    async with open_store(path) as store:
        for row in await store.rooms():
            events = await store.load(row.code)
            assert [event.payload for event in events] == [
                f"{row.code}/{seq}".encode() for seq in range(1, len(events) + 1)
            ]
            assert row.summary == b"after %d" % len(events)
            last_seqs[row.code] = len(events)
    return last_seqs


@pytest.mark.skipif(sys.platform == "win32", reason="no SIGKILL there")
def test_acknowledged_events_survive_kills(open_store: Any, database_path: Path) -> None:
    chance = random.Random(20240607)
    known: dict[RoomCode, int] = {}
    for _ in range(4):
        acknowledged = run_and_kill(database_path, chance.randint(1, 250))
        known |= acknowledged
        assert asyncio.run(read_stats(database_path)).event_count >= sum(known.values())
        found = asyncio.run(stored(open_store, database_path))
        lost = {room: (seq, found.get(room)) for room, seq in known.items() if found.get(room, 0) < seq}
        assert lost == {}
    assert len(known) == ROOM_COUNT
