"""Files of a database that belongs to another user: what root makes beside them, and what others are told."""

from __future__ import annotations

import asyncio
import os
import re
import shutil
import stat
import subprocess
import sys
import tempfile
from collections.abc import Iterator, Sequence
from contextlib import closing
from pathlib import Path

import pytest

from tabuleiro.errors import StorageUnavailableError
from tabuleiro.ids import RoomCode, Seq
from tabuleiro_server.store.port import Rows, StoredEvent
from tabuleiro_server.store.sqlite.admin import back_up, read_stats, serving_nobody, vacuum
from tabuleiro_server.store.sqlite.connection import ConnectionSettings
from tabuleiro_server.store.sqlite.owners import create_beside, owner_hint
from tabuleiro_server.store.sqlite.repair import rebuild, verify
from tabuleiro_server.store.sqlite.store import SqliteStore
from tests.patience import LIMIT_S
from tests.store.conftest import Make
from tests.store.damage import spoil

UID = GID = 54_321
"""Nobody's on most machines; root may use it all the same."""

pytestmark = pytest.mark.skipif(
    sys.platform == "win32" or os.geteuid() != 0, reason="only root can make files of somebody else"
)


@pytest.fixture
def folder() -> Iterator[Path]:
    """A folder of the service's user, which that user can reach."""
    place = Path(tempfile.mkdtemp(prefix="tabuleiro-owners-"))
    os.chown(place, UID, GID)
    yield place
    shutil.rmtree(place)


def replay(room: RoomCode, events: Sequence[StoredEvent]) -> Rows:
    return Rows(Make.room(room))


async def fill(database: Path) -> None:
    store = await SqliteStore.open(database, replay)
    await store.append(RoomCode("AAAAA"), Seq(0), Make.events(1, 3), Make.rows("AAAAA"))
    await store.close()


@pytest.fixture
def path(folder: Path) -> Path:
    """A database of the service's user that nobody serves, as it was left without any file beside."""
    database = folder / "rooms.db"
    asyncio.run(fill(database))
    for file in folder.iterdir():
        if file != database:
            file.unlink()
    os.chown(database, UID, GID)
    os.chmod(database, 0o640)
    return database


def owners_in(folder: Path) -> set[tuple[int, int, int]]:
    return {
        (file.stat().st_uid, file.stat().st_gid, stat.S_IMODE(file.stat().st_mode)) for file in folder.iterdir()
    }


def test_whatever_root_makes_beside_a_database_belongs_to_its_owner(folder: Path, path: Path) -> None:
    """Symptom: after a `vacuum` by root the service could not open its lock file."""
    asyncio.run(vacuum(path))
    asyncio.run(rebuild(path, replay))
    asyncio.run(verify(path, replay))
    asyncio.run(read_stats(path))
    asyncio.run(back_up(path, folder / "copy.db"))
    assert {file.name for file in folder.iterdir()} >= {"rooms.db", "rooms.db.lock", "copy.db"}
    assert owners_in(folder) == {(UID, GID, 0o640)}


def test_a_log_that_root_begins_belongs_to_the_owner_of_the_database(folder: Path, path: Path) -> None:
    with serving_nobody(path), closing(ConnectionSettings(path).connect()) as connection:
        connection.execute("CREATE TABLE note (text TEXT)")
        assert {file.name for file in folder.iterdir()} >= {"rooms.db-wal", "rooms.db-shm", "rooms.db.lock"}
        assert owners_in(folder) == {(UID, GID, 0o640)}


def test_the_copy_of_a_damaged_file_belongs_to_its_owner(folder: Path, path: Path) -> None:
    spoil(path, "rooms", "root")
    report = asyncio.run(rebuild(path, replay))
    assert report.kept is not None
    assert owners_in(folder) == {(UID, GID, 0o640)}


def test_links_are_not_followed_to_files_of_others(folder: Path, path: Path) -> None:
    """A service whose user was taken over could let root write to any file otherwise, or give it away."""
    precious = folder / "precious"
    precious.write_text("of root")
    for name in ("rooms.db.lock", "copy.db.unfinished"):
        (folder / name).symlink_to(precious)
    with pytest.raises(StorageUnavailableError, match=r"rooms\.db\.lock"):
        asyncio.run(vacuum(path))
    asyncio.run(back_up(path, folder / "copy.db"))
    with pytest.raises(FileExistsError):
        create_beside(precious, path)
    assert (precious.read_text(), precious.stat().st_uid) == ("of root", 0)


OPEN_AS_SERVICE = """
import asyncio, os, pwd, sys, tempfile
from pathlib import Path
from tabuleiro.errors import StoreError
from tabuleiro_server.rooms.journal import rows_of
from tabuleiro_server.store.sqlite.admin import read_stats
from tabuleiro_server.store.sqlite.store import SqliteStore

async def main(path):
    store = await SqliteStore.open(path, rows_of)
    await store.stop()
    await store.close()
    return (await read_stats(path)).event_count

with tempfile.TemporaryDirectory() as folder:
    asyncio.run(main(Path(folder, "any.db")))
os.setgroups([])
os.setgid(int(sys.argv[2]))
os.setuid(int(sys.argv[2]))
try:
    print(asyncio.run(main(Path(sys.argv[1]))), "events")
except StoreError as error:
    print(error)
"""
"""Serves a file and reads it as another user, who may have no right to load Python: all is loaded before."""


def opened_as_service(path: Path) -> str:
    """Have the service's user serve the file, and return what that says."""
    command = [sys.executable, "-c", OPEN_AS_SERVICE, str(path), str(UID)]
    return subprocess.run(command, stdout=subprocess.PIPE, text=True, timeout=LIMIT_S, check=True).stdout.strip()


def test_whoever_may_not_open_a_file_is_told_whose_it_is(folder: Path, path: Path) -> None:
    os.chown(path, 0, 0)
    os.chmod(path, 0o600)
    whose = f"belongs to root (mode 0600), and this program runs as user {UID}"
    told = "storage unavailable: cannot open"
    assert opened_as_service(path) == f"{told} {path}: Permission denied; {path} {whose}"
    os.chown(path, UID, GID)
    lock = folder / "rooms.db.lock"
    os.chown(lock, 0, 0)
    os.chmod(lock, 0o600)
    assert opened_as_service(path) == f"{told} {lock}: Permission denied; {lock} {whose}"


WAY_BACK = re.compile(r"^To go back to a backup.+?\n\n((?:    [^\n]+\n)+)", re.MULTILINE | re.DOTALL)


@pytest.mark.parametrize("is_lost", [False, True], ids=["another file in its place", "file lost"])
def test_the_documented_way_back_to_a_backup_works_with_the_user_of_the_service(
    folder: Path, path: Path, is_lost: bool
) -> None:
    """The administrator types it as root."""
    readme = (Path(__file__).parents[2] / "deploy" / "README.md").read_text(encoding="utf-8")
    found = WAY_BACK.search(readme)
    assert found is not None
    commands = [line.strip() for line in found[1].splitlines()]
    assert commands[0] == "systemctl stop tabuleiro"
    assert commands[-1] == "systemctl start tabuleiro"
    stale = [folder / f"tabuleiro.db{ending}" for ending in ("", "-wal", "-shm")]
    os.rename(path, folder / "backed-up.db")
    asyncio.run(back_up(folder / "backed-up.db", folder / "copy.db"))
    for file in stale[1:] if is_lost else stale:
        file.write_bytes(b"of another file")
        os.chown(file, UID, GID)
    script = "\n".join(commands[1:-1]).replace("/var/lib/tabuleiro", str(folder))
    subprocess.run(["bash", "-euc", script], check=True, timeout=LIMIT_S)
    assert opened_as_service(folder / "tabuleiro.db") == "3 events"


def test_of_an_own_file_nothing_is_said(path: Path) -> None:
    assert owner_hint(path) == ""
