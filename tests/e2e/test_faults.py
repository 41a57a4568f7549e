"""The whole server on a disk that fails: refused, unchanged, and well again by itself when the disk is."""

from __future__ import annotations

import asyncio
import contextlib
import os
import sqlite3
import subprocess
import sys
from collections.abc import AsyncIterator, Callable, Iterator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

import pytest

from tabuleiro.clock import Fischer
from tabuleiro.errors import CommandError
from tabuleiro.ids import RoomCode
from tabuleiro.protocol.codes import ErrorCode
from tabuleiro.protocol.messages import CreateRoom, JoinRoom, RoomEntered, RoomSummary, SeatRequest, WatchRoom
from tabuleiro.settings import RoomSettings
from tabuleiro_client.net.link import Link, result_of
from tabuleiro_client.net.room import EnteredRoom, enter
from tabuleiro_server.config import Config
from tabuleiro_server.rooms.journal import rows_of
from tabuleiro_server.store.port import Store
from tabuleiro_server.store.sqlite.store import SqliteStore
from tabuleiro_server.wiring import open_database, running_server
from tests.e2e.ledger import Ledger, Move
from tests.e2e.server_process import LIMIT_S, ServerProcess, serving

ME, OPEN, BOT = SeatRequest("me"), SeatRequest(), SeatRequest("bot", "random")
GAME = {"rows": 4, "cols": 4, "steps": 2}
LOCKED_ELSEWHERE = """
import sqlite3, sys
connection = sqlite3.connect(sys.argv[1], isolation_level=None)
connection.execute("BEGIN IMMEDIATE")
print("locked", flush=True)
sys.stdin.read()
"""


class FailingDisk:
    """Makes connections whose statements that begin with ``start`` fail while ``fault`` is there."""

    def __init__(self) -> None:
        self.fault: tuple[str, int, str] | None = None
        disk = self

        class Connection(sqlite3.Connection):
            def execute(self, sql: str, parameters: Any = ()) -> sqlite3.Cursor:
                if disk.fault is not None and sql.startswith(disk.fault[0]):
                    error = sqlite3.OperationalError(disk.fault[2])
                    error.sqlite_errorcode = disk.fault[1]
                    raise error
                return super().execute(sql, parameters)

        self._connection_class = Connection

    async def open_store(self, config: Config) -> Store:
        """Open the database that the settings name on this disk."""
        return await SqliteStore.open(Path(config.db), rows_of, connection_class=self._connection_class)


class Trouble:
    """Two people in a room of a server whose disk fails and recovers; everything told goes to the ledger."""

    def __init__(
        self, url: str, db: Path, rooms: tuple[EnteredRoom, EnteredRoom], links: tuple[Link, Link]
    ) -> None:
        self.url = url
        self.db = db
        self.rooms = rooms
        self.links = links
        self.ledger = Ledger()

    @property
    def mover(self) -> EnteredRoom:
        return next(room for room in self.rooms if room.mirror.is_my_turn)

    async def play(self) -> None:
        """Play one action and wait until the other has it as well."""
        room = self.mover
        state, match, ply = room.mirror.state, room.mirror.match, len(room.mirror.actions)
        assert match is not None
        action = state.action_to_string(state.legal_actions()[0])
        await room.play([action])
        self.ledger.acknowledged.append(Move(room.code, match.number, ply, (action,)))
        for each in self.rooms:
            while len(each.mirror.actions) <= ply:
                await each.next_change()
            self.ledger.position(room.code, each.mirror.since, each.mirror.state)

    async def play_on(self) -> None:
        """Play until an action is refused."""
        while True:
            await self.play()

    async def assert_refused(self) -> None:
        """Everything that would have to be stored is refused, and the room stays where it was."""
        before = [(room.mirror.since, room.mirror.state) for room in self.rooms]
        room, link = self.mover, self.links[0]
        action = room.mirror.state.action_to_string(room.mirror.state.legal_actions()[-1])
        wishes: list[Callable[[], Any]] = [
            lambda: room.play([action]),
            lambda: room.say("lost words"),
            lambda: link.request(CreateRoom(id=0, game="iris")),
            lambda: room.resign(),
            lambda: Link(self.url, name="eva").__aenter__(),
        ]
        for wish in wishes:
            with pytest.raises(CommandError) as caught:
                await wish()
            assert caught.value.code == ErrorCode.STORAGE_UNAVAILABLE
        self.ledger.unsaid.append("lost words")
        assert [(room.mirror.since, room.mirror.state) for room in self.rooms] == before
        entered = result_of(await link.request(WatchRoom(id=0, room=room.code)), RoomEntered)
        assert entered.head.seq == before[0][0]
        assert len((await link.list_rooms()).rooms) == 1

    async def check(self, scratch: Path) -> None:
        """Compare what was told with the file."""
        await self.ledger.check(self.db, scratch, is_thorough=True)


@asynccontextmanager
async def trouble(db: Path, disk: FailingDisk | None = None) -> AsyncIterator[Trouble]:
    """A server with a running match in which one action has been played."""
    config = Config(db=str(db), port=0, storage_retry_ms=20, lobby_wake_ms=20)
    open_store = open_database if disk is None else disk.open_store
    async with (
        asyncio.timeout(LIMIT_S),
        running_server(config, open_store=open_store) as server,
        Link(server.url, name="ana") as ana,
        Link(server.url, name="rui") as rui,
        await enter(ana, CreateRoom(id=0, game="virus-wars", options=GAME)) as first,
        await enter(rui, JoinRoom(id=0, room=first.code)) as second,
    ):
        while first.mirror.to_move is None:
            await first.next_change()
        all_in = Trouble(server.url, db, (first, second), (ana, rui))
        await all_in.play()
        yield all_in


@pytest.mark.parametrize(
    ("start", "code", "text"),
    [
        ("COMMIT", sqlite3.SQLITE_FULL, "database or disk is full"),
        ("COMMIT", sqlite3.SQLITE_IOERR_FSYNC, "disk I/O error"),
        ("BEGIN", sqlite3.SQLITE_READONLY, "attempt to write a readonly database"),
        ("BEGIN", sqlite3.SQLITE_BUSY, "database is locked"),
    ],
)
async def test_failing_disk(tmp_path: Path, start: str, code: int, text: str) -> None:
    disk = FailingDisk()
    async with trouble(tmp_path / "rooms.db", disk) as room:
        disk.fault = (start, code, text)
        await room.assert_refused()
        disk.fault = None
        for _ in range(3):
            await room.play()
        await room.check(tmp_path)


@pytest.fixture
def small_disk(tmp_path: Path) -> Iterator[Path]:
    """A file system of one megabyte."""
    folder = tmp_path / "small"
    folder.mkdir()
    command = ["mount", "-t", "tmpfs", "-o", "size=1m", "tmpfs", str(folder)]
    mounted = subprocess.run(command, capture_output=True, text=True, check=False)
    if mounted.returncode != 0:
        pytest.skip(f"mounting a small file system needs more rights: {mounted.stderr.strip()}")
    try:
        yield folder
    finally:
        subprocess.run(["umount", str(folder)], check=True)


@pytest.mark.skipif(sys.platform != "linux", reason="mounts a tmpfs")
async def test_full_disk(small_disk: Path, tmp_path: Path) -> None:
    async with trouble(small_disk / "rooms.db") as room:
        filler = small_disk / "filler"
        with filler.open("wb", buffering=0) as file, contextlib.suppress(OSError):
            while file.write(bytes(4096)):
                pass
        # What was reserved for the log may still take a few commits, and so it may after one that was refused.
        with pytest.raises(CommandError, check=lambda error: error.code == "storage-unavailable"):
            await room.play_on()
        os.unlink(filler)
        for _ in range(3):
            await room.play()
        await room.check(tmp_path)


@pytest.mark.slow
async def test_database_locked_by_another_process(tmp_path: Path) -> None:
    db = tmp_path / "rooms.db"
    async with trouble(db) as room:
        holder = await asyncio.create_subprocess_exec(
            *(sys.executable, "-c", LOCKED_ELSEWHERE, str(db)),
            stdin=asyncio.subprocess.PIPE,
            stdout=asyncio.subprocess.PIPE,
        )
        assert holder.stdout is not None
        assert await holder.stdout.readline() == b"locked\n"
        before = room.rooms[0].mirror.since
        with pytest.raises(CommandError, check=lambda error: error.code == "storage-unavailable"):
            await room.play()
        link = room.links[0]
        entered = result_of(await link.request(WatchRoom(id=0, room=room.rooms[0].code)), RoomEntered)
        assert entered.head.seq == before
        await holder.communicate(b"")
        for _ in range(3):
            await room.play()
        await room.check(tmp_path)


async def test_bot_moves_by_itself_once_the_disk_is_well(tmp_path: Path) -> None:
    disk = FailingDisk()
    config = Config(db=str(tmp_path / "rooms.db"), port=0, storage_retry_ms=20, lobby_wake_ms=20, bot_workers=1)
    async with (
        asyncio.timeout(LIMIT_S),
        running_server(config, open_store=disk.open_store) as server,
        Link(server.url, name="ana") as link,
        await enter(link, CreateRoom(id=0, game="minefield", options={"size": 5}, seats=(ME, BOT))) as room,
    ):
        await room.play([room.mirror.state.action_to_string(room.mirror.state.legal_actions()[0])])
        disk.fault = ("COMMIT", sqlite3.SQLITE_FULL, "database or disk is full")
        while room.mirror.head.thinking is None and not room.mirror.is_my_turn:
            await room.next_change()
        disk.fault = None
        while not room.mirror.is_my_turn:
            await room.next_change()
        assert len(room.mirror.actions) == 2


async def test_flag_that_could_not_be_stored_falls_once_the_disk_is_well(tmp_path: Path) -> None:
    disk = FailingDisk()
    failed = asyncio.Event()
    config = Config(db=str(tmp_path / "rooms.db"), port=0, storage_retry_ms=20, first_turn_ms=0)
    settings = RoomSettings(time_control=Fischer(initial_ms=1_000, increment_ms=0))
    message = CreateRoom(id=0, game="minefield", options={"size": 5}, seats=(ME, ME), settings=settings)
    async with (
        asyncio.timeout(LIMIT_S),
        running_server(config, open_store=disk.open_store) as server,
        Link(server.url, name="ana") as link,
        await enter(link, message) as room,
    ):
        disk.fault = ("COMMIT", sqlite3.SQLITE_IOERR_WRITE, "disk I/O error")
        loop = asyncio.get_running_loop()
        loop.call_later(1.5, failed.set)
        await failed.wait()
        assert room.mirror.head.phase == "playing"
        disk.fault = None
        while room.mirror.head.phase == "playing":
            await room.next_change()
        assert room.mirror.match is not None
        assert room.mirror.match.termination == "timeout"


@pytest.mark.slow
async def test_second_server_on_the_same_file_is_refused(tmp_path: Path) -> None:
    db = tmp_path / "rooms.db"
    async with serving(db) as first:
        second = await ServerProcess.launch(db)
        assert await second.wait() == 1
        (line,) = second.log
        assert str(db) in line
        assert str(first.pid) in line
        async with Link(first.url, name="ana") as link:
            assert (await link.list_rooms()).rooms == ()


@pytest.mark.slow
@pytest.mark.parametrize("spoiled", ["CAST(x'c0' || substr(payload, 2) AS BLOB)", "CAST(x'c0c0' AS TEXT)"])
async def test_damaged_room_is_put_in_quarantine_and_the_others_play_on(tmp_path: Path, spoiled: str) -> None:
    db = tmp_path / "rooms.db"
    message = CreateRoom(id=0, game="minefield", options={"size": 5}, seats=(ME, ME))
    async with serving(db, shutdown_notice_ms=0) as server, Link(server.url, name="ana") as link:
        codes = [(await enter(link, message)).code for _ in range(3)]
        token = link.welcome.token
        await server.stop()
    with contextlib.closing(sqlite3.connect(db)) as connection, connection:
        update = f"UPDATE events SET payload = {spoiled} WHERE room = ? AND seq = 2"
        assert connection.execute(update, (codes[1],)).rowcount == 1
    async with asyncio.timeout(LIMIT_S), serving(db) as server, Link(server.url, token=token) as link:
        for _ in range(2):
            with pytest.raises(CommandError) as caught:
                await enter(link, WatchRoom(id=0, room=codes[1]))
            assert caught.value.code == ErrorCode.ROOM_DAMAGED
        for code in (codes[0], codes[2]):
            async with await enter(link, JoinRoom(id=0, room=code)) as room:
                await room.play([room.mirror.state.action_to_string(room.mirror.state.legal_actions()[0])])
        line = await server.logged("room damaged")
        assert codes[1] in line
        assert listed((await link.list_rooms()).rooms) == set(codes)


@pytest.mark.slow
async def test_damaged_table_of_rooms_is_rebuilt_and_all_play_on(tmp_path: Path) -> None:
    """Symptom: the server did not start any more."""
    db = tmp_path / "rooms.db"
    message = CreateRoom(id=0, game="minefield", options={"size": 5}, seats=(ME, ME))
    async with serving(db, shutdown_notice_ms=0) as server, Link(server.url, name="ana") as link:
        codes = [(await enter(link, message)).code for _ in range(2)]
        token = link.welcome.token
        await server.stop()
    with contextlib.closing(sqlite3.connect(db)) as connection:
        (root,) = connection.execute("SELECT rootpage FROM sqlite_master WHERE name = 'rooms'").fetchone()
        (page_bytes,) = connection.execute("PRAGMA page_size").fetchone()
    with db.open("r+b") as file:
        file.seek((root - 1) * page_bytes)
        file.write(bytes(page_bytes))
    async with asyncio.timeout(LIMIT_S), serving(db) as server, Link(server.url, token=token) as link:
        assert listed((await link.list_rooms()).rooms) == set(codes)
        for code in codes:
            async with await enter(link, JoinRoom(id=0, room=code)) as room:
                await room.play([room.mirror.state.action_to_string(room.mirror.state.legal_actions()[0])])
        assert f"damaged_file={db}.damaged-1" in await server.logged("query tables rebuilt")


def listed(rooms: tuple[RoomSummary, ...]) -> set[RoomCode]:
    """The codes in a list of rooms."""
    return {summary.room for summary in rooms}
