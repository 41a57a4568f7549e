"""The files in deploy/cluster/: settings that `serve` takes, paths to the right node, a standby that follows."""

from __future__ import annotations

import asyncio
import ipaddress
import itertools
import os
import re
import shutil
import subprocess
import time
from collections.abc import AsyncIterator, Iterator
from contextlib import AsyncExitStack, asynccontextmanager
from pathlib import Path
from typing import Any

import pytest
import yaml

from tabuleiro.protocol.messages import CreateRoom, ListRooms, RoomEntered, RoomList
from tabuleiro_server.config import Config, load_config
from tests.e2e.server_process import ServerProcess, free_port
from tests.net.wire_client import wire
from tests.patience import LIMIT_S
from tests.postgres import (
    Cluster,
    binaries,
    cluster,
    folder_of_its_user,
    reason_to_skip,
    unprivileged_user,
)

FOLDER = Path(__file__).parents[2] / "deploy" / "cluster"
NODES = ("a", "b", "c")
SECRETS = {"POSTGRES_PASSWORD": "secret"}
NUMBERS = itertools.count()
"""For the names of guests: each is somebody new."""


@pytest.fixture(scope="module")
def composition() -> dict[str, Any]:
    """The composition with its variables filled in as by Compose."""
    text = (FOLDER / "compose.yaml").read_text(encoding="utf-8")
    filled = re.sub(r"\$\{(\w+)(?::-(.*?))?\}", lambda found: SECRETS.get(found[1], found[2] or ""), text)
    composition: dict[str, Any] = yaml.safe_load(filled)
    return composition


@pytest.fixture
def caddyfile() -> str:
    return (FOLDER / "Caddyfile").read_text(encoding="utf-8")


def node_config(composition: dict[str, Any], node: str) -> Config:
    return load_config(None, environment=composition["services"][node]["environment"])


def test_three_nodes_differ_in_their_names_and_addresses_alone(
    composition: dict[str, Any], caddyfile: str
) -> None:
    (name,) = re.findall(r"^(\S+) \{$", caddyfile, re.MULTILINE)
    own = {"TABULEIRO_NODE", "TABULEIRO_NODE_URL"}
    shared = []
    for node in NODES:
        service = composition["services"][node]
        config = node_config(composition, node)
        assert (config.node, config.node_url) == (node, f"wss://{name}/node/{node}")
        assert config.public_url == f"wss://{name}"
        assert config.db == "postgresql://tabuleiro:secret@postgres/games"
        assert int(service["stop_grace_period"].removesuffix("s")) * 1000 > config.shutdown_limit_ms
        # Or the file that the image names would be used.
        assert "--db" not in service["command"]
        environment = {key: value for key, value in service["environment"].items() if key not in own}
        shared.append({**service, "environment": environment})
    assert shared[0] == shared[1] == shared[2]
    build = shared[0]["build"]
    assert (FOLDER / build["context"] / build["dockerfile"]).is_file()


def test_word_of_caddy_and_of_nobody_else_is_taken_for_where_connections_come_from(
    composition: dict[str, Any],
) -> None:
    proxy = composition["services"]["caddy"]["networks"]["tabuleiro"]["ipv4_address"]
    assert node_config(composition, "a").trusted_proxies == (proxy,)
    subnet = composition["networks"]["tabuleiro"]["ipam"]["config"][0]["subnet"]
    assert ipaddress.ip_address(proxy) in ipaddress.ip_network(subnet)


def test_database_is_the_one_that_nodes_connect_to(composition: dict[str, Any]) -> None:
    environment = composition["services"]["postgres"]["environment"]
    user, password, name = (environment[f"POSTGRES_{key}"] for key in ("USER", "PASSWORD", "DB"))
    assert node_config(composition, "a").db == f"postgresql://{user}:{password}@postgres/{name}"
    used = {
        volume.split(":")[0]
        for service in composition["services"].values()
        for volume in service.get("volumes", ())
    }
    assert {name for name in used if not name.startswith(".")} == set(composition["volumes"])
    assert all((FOLDER / name).is_file() for name in used if name.startswith("."))


@pytest.mark.parametrize("name", sorted(path.name for path in FOLDER.iterdir() if path.name != "README.md"))
def test_readme_tells_of_every_file(name: str) -> None:
    assert name in (FOLDER / "README.md").read_text(encoding="utf-8")


# Caddy


@asynccontextmanager
async def proxied(caddyfile: str, ports: dict[str, int], folder: Path) -> AsyncIterator[int]:
    """Run Caddy with the file, for nodes at ports of this machine; yield its own port."""
    port = free_port()
    text = re.sub(r"^play\.example\.org \{", f"http://127.0.0.1:{port} {{", caddyfile, flags=re.MULTILINE)
    text = re.sub(r"\b([abc]):8765\b", lambda found: f"127.0.0.1:{ports[found[1]]}", text)
    (folder / "Caddyfile").write_text("{\n\tadmin off\n}\n" + text, encoding="utf-8")
    process = await asyncio.create_subprocess_exec(
        *("caddy", "run", "--config", str(folder / "Caddyfile")),
        stderr=asyncio.subprocess.PIPE,
        env={**os.environ, "HOME": str(folder)},
    )
    assert process.stderr is not None
    try:
        async with asyncio.timeout(LIMIT_S):
            async for line in process.stderr:
                if b"serving initial configuration" in line:
                    break
                assert b'"error"' not in line, line
        yield port
    finally:
        if process.returncode is None:
            process.kill()
        await process.communicate()


@pytest.mark.slow
@pytest.mark.skipif(shutil.which("caddy") is None, reason="Caddy is not installed (Debian: apt install caddy)")
async def test_paths_lead_to_their_nodes_and_everything_else_to_one_that_lives(
    caddyfile: str, tmp_path: Path
) -> None:
    async with asyncio.timeout(6 * LIMIT_S), AsyncExitStack() as stack:
        # Three servers apart from each other: whose rooms are listed tells which one it is.
        servers = {node: await ServerProcess.start(tmp_path / f"{node}.db") for node in NODES}
        for server in servers.values():
            stack.push_async_callback(server.kill)
        ports = {node: int(server.url.rpartition(":")[2]) for node, server in servers.items()}
        port = await stack.enter_async_context(proxied(caddyfile, ports, tmp_path))
        url = f"ws://127.0.0.1:{port}"
        codes = {}
        for node, server in servers.items():
            host = await stack.enter_async_context(wire(server.url))
            await host.hello("ana")
            entered: RoomEntered = await host.do(CreateRoom, game="iris")
            codes[node] = entered.head.room
        for node, code in codes.items():
            for path in (f"/node/{node}", f"/node/{node}/"):
                assert await rooms_at(url + path) == {code}
            assert await status_of(port, f"/node/{node}/health") == 200
            assert await status_of(port, f"/node/{node}/metrics") == 403
        assert await status_of(port, "/metrics") == 403
        await servers["a"].kill()
        await servers["c"].kill()
        for _ in NODES:
            assert await rooms_at(url) == {codes["b"]}


async def rooms_at(url: str) -> set[str]:
    """The codes of the rooms that the server at this address lists."""
    async with wire(url) as client:
        await client.hello(f"rui-{next(NUMBERS)}")
        listed: RoomList = await client.do(ListRooms)
        return {room.room for room in listed.rooms}


async def status_of(port: int, path: str) -> int:
    """The status of the answer to a request by HTTP."""
    reader, writer = await asyncio.open_connection("127.0.0.1", port)
    writer.write(f"GET {path} HTTP/1.1\r\nHost: 127.0.0.1:{port}\r\nConnection: close\r\n\r\n".encode())
    try:
        return int((await reader.readline()).split()[1])
    finally:
        writer.close()


# The standby


@pytest.fixture
def primary() -> Iterator[Cluster]:
    if reason := reason_to_skip():
        pytest.skip(reason)
    with cluster() as running:
        yield running


@pytest.mark.slow
def test_script_of_the_standby_makes_one_that_every_commit_can_wait_for(primary: Cluster) -> None:
    programs = binaries()
    assert programs is not None
    with folder_of_its_user("standby") as folder:
        process = subprocess.Popen(
            ["bash", FOLDER / "start-standby.sh"],
            env={
                "PATH": f"{programs}:{os.environ['PATH']}",
                "PGDATA": str(folder / "data"),
                "PGPORT": "5433",
                "PRIMARY": f"{primary.folder} port=5432",
                "POSTGRES_USER": "tabuleiro",
                "POSTGRES_PASSWORD": "secret",
            },
            cwd=folder,
            user=unprivileged_user(),
            extra_groups=[] if unprivileged_user() else None,
        )
        try:
            wait_for(
                primary, "SELECT application_name FROM pg_stat_replication WHERE state = 'streaming'", "standby"
            )
            primary.set("synchronous_standby_names", "standby")
            wait_for(primary, "SELECT sync_state FROM pg_stat_replication", "sync")
            primary.sql("CREATE DATABASE games")
        finally:
            process.terminate()
            process.wait(LIMIT_S)


def wait_for(primary: Cluster, query: str, wanted: str) -> None:
    """Ask the database until it gives the wanted answer."""
    limit_s = time.monotonic() + LIMIT_S
    while (found := primary.sql(query)) != wanted:
        assert time.monotonic() < limit_s, f"{query}: {found}"
