"""A database of the first schema, as a server left it that was killed: opened, played on, and found sound.

It holds a room of 213 events in its fifth match, with a snapshot of event 200 and a row that is behind, a closed
room, and a private one that waits. Ana and Ben sit in the first, Eva in the last.
"""

from __future__ import annotations

import gzip
import sqlite3
from contextlib import closing
from pathlib import Path
from typing import Final

import pytest

from tabuleiro.errors import DatabaseFormatError
from tabuleiro.ids import TimestampMs
from tabuleiro.protocol.messages import CreateRoom, GetRecord, Hello, ListRooms, Play, WatchRoom
from tabuleiro.rules import registry
from tabuleiro_server import wiring
from tabuleiro_server.config import Config
from tabuleiro_server.rooms.journal import rows_of
from tabuleiro_server.run_clock import RunClock
from tabuleiro_server.store.sqlite.admin import read_stats
from tabuleiro_server.store.sqlite.repair import rebuild, verify
from tabuleiro_server.store.sqlite.store import SqliteStore
from tabuleiro_server.wiring import running_server
from tests.net.wire_client import wire
from tests.store.damage import spoil

DATABASE: Final = Path(__file__).parents[1] / "data" / "schema-1.db.gz"
KILLED_AT_MS: Final = TimestampMs(1_795_898_779_226)
"""The time of the last event: the server comes back a minute later."""
ROOM: Final = "K4J6V"
CLOSED: Final = "J33NA"
OPTIONS: Final[dict[str, int | str]] = {"rows": 5, "cols": 5, "steps": 3}
ACTIONS: Final = ("b5", "b4", "a4", "e2", "e3", "e4", "b3", "c4", "d5", "d4", "d3", "d1", "d4", "e5", "d3", "d5")
TOKENS: Final = {
    "Ana": "80Kx5s-mYe9Lhe4b-3m4wbxXUnd9-YHb",
    "Ben": "8cNjZ2nxq5soZNXc2Fo-36dI2KdCqrSb",
    "Eva": "Wg6Ut_YYhgFl19JkziS7aqEOW7F7ny5L",
}


@pytest.fixture
def path(tmp_path: Path) -> Path:
    """The database, in a file of its own."""
    path = tmp_path / "rooms.db"
    path.write_bytes(gzip.decompress(DATABASE.read_bytes()))
    return path


@pytest.fixture(autouse=True)
def a_minute_later(monkeypatch: pytest.MonkeyPatch) -> None:
    """A minute after the kill, whatever the time of the test."""
    monkeypatch.setattr(wiring, "RunClock", lambda: RunClock(lambda: KILLED_AT_MS + 60_000))


async def test_a_database_of_the_first_schema_is_played_on(path: Path) -> None:
    state = registry.load("virus-wars", OPTIONS).initial_state()
    for text in ACTIONS:
        state = state.child(state.string_to_action(text))
    config = Config(db=str(path), port=0, bot_workers=1)
    async with running_server(config) as server, wire(server.url) as ana, wire(server.url) as ben:
        assert (await ana.do(Hello, token=TOKENS["Ana"])).name == "Ana"
        await ben.do(Hello, token=TOKENS["Ben"])
        listed = (await ana.do(ListRooms)).rooms
        assert [(line.room, line.phase) for line in listed] == [(ROOM, "playing")]
        players = (ana, ben)
        for player in players:
            entered = await player.do(WatchRoom, room=ROOM)
            assert (entered.head.match.number, entered.snapshot.actions) == (5, ACTIONS)
        for ply in range(len(ACTIONS), len(ACTIONS) + 4):
            assert state.to_move is not None
            action = state.legal_actions()[0]
            text = state.action_to_string(action)
            await players[state.to_move].do(Play, room=ROOM, match=5, ply=ply, actions=(text,))
            state = state.child(action)
        record = await ana.do(GetRecord, room=CLOSED)
        assert (record.termination, len(record.actions)) == ("resignation", 14)
    report = await verify(path, rows_of)
    assert report.is_sound, [*report.file_findings, *report.damaged, *report.differences]
    assert (report.room_count, report.match_count) == (3, 6)
    assert (await read_stats(path)).account_count == len(TOKENS)


async def test_rooms_made_before_makers_were_kept_count_for_them(path: Path) -> None:
    config = Config(db=str(path), port=0, bot_workers=1, rooms_per_account_count=1)
    async with running_server(config) as server, wire(server.url) as eva, wire(server.url) as ben:
        for client, name in ((eva, "Eva"), (ben, "Ben")):
            await client.do(Hello, token=TOKENS[name])
        await ben.do(CreateRoom, game="virus-wars")
        refusal = await eva.refused(CreateRoom, game="virus-wars")
        assert refusal.message.startswith("rooms_per_account_count")
    with closing(sqlite3.connect(path)) as connection:
        assert connection.execute("SELECT count(*) FROM rooms WHERE maker = ''").fetchone() == (0,)


@pytest.mark.parametrize("name", ["rooms", "matches"])
async def test_damaged_tables_of_the_first_schema_are_made_again(path: Path, name: str) -> None:
    spoil(path, name, "root")
    async with running_server(Config(db=str(path), port=0, bot_workers=1)) as server, wire(server.url) as ana:
        await ana.do(Hello, token=TOKENS["Ana"])
        assert [line.room for line in (await ana.do(ListRooms)).rooms] == [ROOM]
    assert (await verify(path, rows_of)).is_sound
    assert path.with_name("rooms.db.damaged-1").exists()


async def test_damaged_snapshots_are_left_behind_by_rebuilding(path: Path) -> None:
    spoil(path, "snapshots", "root")
    with pytest.raises(DatabaseFormatError, match="run `tabuleiro db rebuild"):
        await SqliteStore.open(path, rows_of)
    assert (await rebuild(path, rows_of)).rebuilt_count == 3
    assert (await verify(path, rows_of)).is_sound


async def test_what_the_first_schema_was_is_kept_beside(path: Path) -> None:
    async with running_server(Config(db=str(path), port=0, bot_workers=1)):
        pass
    with closing(sqlite3.connect(path.with_name("rooms.db.schema-1.backup"))) as connection:
        assert connection.execute("SELECT room, seq FROM snapshots").fetchall() == [(ROOM, 200)]
    with closing(sqlite3.connect(path)) as connection:
        assert connection.execute("SELECT count(*) FROM sqlite_master WHERE name = 'snapshots'").fetchone() == (0,)
