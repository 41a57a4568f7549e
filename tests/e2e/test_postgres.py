"""A server on PostgreSQL that is killed, and whose database is killed, while two people play."""

from __future__ import annotations

import asyncio
import signal
import subprocess
import sys
from collections.abc import Iterator

import pytest

from tabuleiro.errors import CommandError
from tabuleiro.ids import RoomCode
from tabuleiro.protocol.codes import ErrorCode
from tabuleiro.protocol.messages import CreateRoom, JoinRoom
from tabuleiro_client.net.link import Backoff, Link, LinkSettings
from tabuleiro_client.net.room import enter
from tests.e2e.players import Players
from tests.e2e.server_process import LIMIT_S, serving
from tests.postgres import Cluster, cluster_with_games

QUICKLY = LinkSettings(backoff=Backoff(first_s=0.02, limit_s=0.2))
COMMANDS_LIMIT_S = 6 * LIMIT_S
"""A dozen programs are started one after the other."""
OPTIONS: dict[str, int | str] = {"rows": 12, "cols": 12}

pytestmark = pytest.mark.slow


@pytest.fixture
def postgres() -> Iterator[Cluster]:
    """A PostgreSQL that keeps what it has acknowledged."""
    with cluster_with_games(is_quick=False) as running:
        yield running


def tabuleiro(*arguments: str) -> tuple[int, str]:
    """Run a command; return its exit status and what it says."""
    command = [sys.executable, "-m", "tabuleiro_client", *arguments]
    done = subprocess.run(command, capture_output=True, text=True, timeout=COMMANDS_LIMIT_S, check=False)
    return done.returncode, done.stdout + done.stderr


@pytest.mark.skipif(sys.platform == "win32", reason="no SIGKILL there")
async def test_match_survives_kills_of_the_server_and_of_its_database(postgres: Cluster, tmp_path: str) -> None:
    url = postgres.url("games")
    message = CreateRoom(id=0, game="virus-wars", options=OPTIONS)
    async with (
        asyncio.timeout(COMMANDS_LIMIT_S),
        serving(url) as server,
        Link(server.url, name="ana", settings=QUICKLY) as ana,
        Link(server.url, name="rui", settings=QUICKLY) as rui,
        await enter(ana, message) as first,
        await enter(rui, JoinRoom(id=0, room=first.code)) as second,
    ):
        players = Players(first, second)
        await players.play(7)
        await server.kill()
        async with serving(url) as next_server:
            ana.url = rui.url = next_server.url
            await players.play(7)
            postgres.kill()
            await asyncio.gather(asyncio.to_thread(postgres.start), _play_on(players))
            await next_server.logged("storage unavailable")
            refused = tabuleiro("serve", "--db", url, "--port", "0")
            in_use = "another server is using this database; stop it; "
            in_use += "servers that share a database each need an address of their own (node_url)"
            assert refused == (1, f"tabuleiro: {url}: {in_use}\n")
            await players.play(7)
            check(url, first.code, players.acknowledged)
            next_server.signal(signal.SIGTERM)
            assert await next_server.wait() == 0
    check(url, first.code, players.acknowledged)
    file = f"{tmp_path}/copy.db"
    status, told = tabuleiro("db", "copy", url, file)
    assert (status, told.partition(",")[0]) == (0, "1 rooms"), told
    check(file, first.code, players.acknowledged)
    postgres.sql("CREATE DATABASE other")
    assert tabuleiro("db", "copy", file, postgres.url("other")) == (0, told)
    check(postgres.url("other"), first.code, players.acknowledged)


async def _play_on(players: Players) -> None:
    """Play on until the database is there again, however often it refuses."""
    wanted_count = len(players.acknowledged) + 5
    while len(players.acknowledged) < wanted_count:
        try:
            await players.play(1)
        except CommandError as error:
            if error.code != ErrorCode.STORAGE_UNAVAILABLE:
                raise
            await asyncio.sleep(0)


def check(db: str, code: RoomCode, acknowledged: list[str]) -> None:
    """Every acknowledged action is there once, in order, and the tables fit the events."""
    status, told = tabuleiro("db", "verify", "--db", db)
    assert status == 0, told
    assert told.endswith("all well\n")
    status, record = tabuleiro("db", "export", code, "--db", db)
    assert status == 0, record
    stored = [word for line in record.splitlines() if line[:1].isdigit() for word in line.split()[1:]]
    assert stored == acknowledged
    status, told = tabuleiro("db", "stats", "--db", db)
    assert status == 0
    assert "rooms       1 (1 playing)" in told


def test_own_tools_of_postgresql_are_named_without_the_password() -> None:
    url = "postgresql://ana:secret@db.example.org/games"
    status, told = tabuleiro("db", "backup", "copy.dump", "--db", url)
    command = "pg_dump --format=custom --schema=tabuleiro --file=copy.dump postgresql://ana@db.example.org/games"
    assert (status, told) == (1, f"tabuleiro: PostgreSQL has a tool of its own for this: {command}\n")
    status, told = tabuleiro("db", "vacuum", "--db", url)
    assert status == 1
    assert "vacuumdb --full --analyze --schema=tabuleiro postgresql://ana@db.example.org/games" in told
