"""A disk that fails to flush: what was refused for it stays refused, also when the process is killed right after.

SQLite has written the whole group to its log by then, and takes it for committed when it next opens the file.
"""

from __future__ import annotations

import os
import shutil
import signal
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from tabuleiro.ids import RoomCode

FAILING_FLUSH = """
#define _GNU_SOURCE
#include <dlfcn.h>
#include <errno.h>
#include <stdlib.h>
#include <unistd.h>

static int flush(const char *name, int descriptor) {
    if (access(getenv("FLUSH_FAILS"), F_OK) == 0) {
        errno = EIO;
        return -1;
    }
    int (*real)(int) = (int (*)(int))dlsym(RTLD_NEXT, name);
    return real(descriptor);
}

int fsync(int descriptor) { return flush("fsync", descriptor); }
int fdatasync(int descriptor) { return flush("fdatasync", descriptor); }
"""

APPEND = """
import asyncio, os, signal, sys
from pathlib import Path
from tabuleiro.errors import StorageUnavailableError
from tabuleiro.ids import AccountId, RoomCode, Seq, TimestampMs
from tabuleiro_server.rooms.journal import rows_of
from tabuleiro_server.store.port import RoomRow, Rows, StoredEvent
from tabuleiro_server.store.sqlite.store import SqliteStore

def append(store, room, seq, payload):
    row = RoomRow(room, "playing", True, TimestampMs(0), TimestampMs(0), None, b"", AccountId("ana"))
    event = StoredEvent(Seq(seq), TimestampMs(0), 1, payload)
    return store.append(room, Seq(seq - 1), [event], Rows(row))

async def append_and_die(path, flag, then):
    store = await SqliteStore.open(path, rows_of)
    rooms = [RoomCode(f"R{number:04}") for number in range(40)]
    await asyncio.gather(*(append(store, room, 1, b"kept") for room in rooms))
    flag.touch()
    refused = (append(store, room, 2, b"refused" * 1000) for room in rooms)
    for result in await asyncio.gather(*refused, return_exceptions=True):
        assert isinstance(result, StorageUnavailableError), result
    if then == "recover":
        flag.unlink()
        await append(store, rooms[0], 2, b"second")
    os.kill(os.getpid(), signal.SIGKILL)

asyncio.run(append_and_die(Path(sys.argv[1]), Path(sys.argv[2]), sys.argv[3]))
"""


@pytest.fixture
def failing_flush(tmp_path: Path) -> Path:
    """A library that makes fsync fail while the file named by FLUSH_FAILS exists."""
    compiler = shutil.which("cc")
    if sys.platform != "linux" or compiler is None:
        pytest.skip("needs Linux and a C compiler to put a failing fsync under SQLite")
    source, library = tmp_path / "flush.c", tmp_path / "flush.so"
    source.write_text(FAILING_FLUSH)
    subprocess.run([compiler, "-shared", "-fPIC", "-o", library, source, "-ldl"], check=True)
    return library


@pytest.mark.parametrize(("then", "second"), [("die", []), ("recover", [b"second"])])
async def test_group_refused_for_a_failing_flush_does_not_come_back_after_a_kill(
    failing_flush: Path, open_store: Any, database_path: Path, then: str, second: list[bytes]
) -> None:
    flag = database_path.with_name("flush-fails")
    died = subprocess.run(  # noqa: ASYNC221
        [sys.executable, "-c", APPEND, str(database_path), str(flag), then],
        env={**os.environ, "LD_PRELOAD": str(failing_flush), "FLUSH_FAILS": str(flag)},
        check=False,
    )
    assert died.returncode == -signal.SIGKILL
    async with open_store() as store:
        for number in range(40):
            events = await store.load(RoomCode(f"R{number:04}"))
            assert [event.payload for event in events] == [b"kept", *(second if number == 0 else [])]
