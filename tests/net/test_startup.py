"""A server that cannot start says why, and leaves nothing behind; stopping tells the clients."""

from __future__ import annotations

import asyncio
import os
import signal
import threading
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path
from typing import Any

import pytest

from tabuleiro.errors import ConfigError, DatabaseFormatError, DatabaseLockedError, StorageUnavailableError
from tabuleiro.protocol.messages import Announcement
from tabuleiro_server.cli import serve
from tabuleiro_server.config import Config
from tabuleiro_server.net import server as server_module
from tabuleiro_server.run_clock import RunClock
from tabuleiro_server.sessions.lifecycle import Lifecycle
from tabuleiro_server.wiring import RunningServer, running_server
from tests.net.wire_client import LIMIT_S, StartServer, wire


async def failure_of(**settings: Any) -> Exception:
    tasks_before = asyncio.all_tasks()
    with pytest.raises((ConfigError, DatabaseLockedError, DatabaseFormatError, StorageUnavailableError)) as caught:
        async with running_server(Config(**settings)):
            pytest.fail("it started")
    assert asyncio.all_tasks() == tasks_before
    return caught.value


async def test_a_taken_port_is_named(server: RunningServer, tmp_path: Path) -> None:
    error = await failure_of(port=server.port, db=str(tmp_path / "other.db"))
    assert str(error).startswith(
        f"127.0.0.1:{server.port}: host and port: expected a free address of this machine: the port is in use"
    )


@pytest.mark.parametrize(
    ("host", "reason"),
    [
        ("192.0.2.1", "this machine does not have it"),
        ("no such host", "there is no such host"),
        (f"{'a' * 70}.example.org", "there is no such host"),
    ],
)
async def test_an_address_of_somebody_else_is_named(tmp_path: Path, host: str, reason: str) -> None:
    error = await failure_of(host=host, port=0, db=str(tmp_path / "rooms.db"))
    assert str(error).startswith(f"{host}:0: host and port: expected a free address of this machine: {reason}")


async def test_a_start_that_is_given_up_leaves_no_socket(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    loop = asyncio.get_running_loop()
    made: list[asyncio.Server] = []
    asked, answered = asyncio.Event(), threading.Event()
    create_server = loop.create_server

    async def create_and_note(*arguments: Any, **settings: Any) -> asyncio.Server:
        made.append(await create_server(*arguments, **settings))
        return made[-1]

    def ask_for_the_name(_: str) -> list[str]:
        loop.call_soon_threadsafe(asked.set)
        answered.wait(LIMIT_S)
        return []

    monkeypatch.setattr(loop, "create_server", create_and_note)
    monkeypatch.setattr(server_module, "own_addresses", ask_for_the_name)
    starting = asyncio.create_task(running_server(Config(port=0, db=str(tmp_path / "rooms.db"))).__aenter__())
    async with asyncio.timeout(LIMIT_S):
        await asked.wait()
        assert made[0].sockets
        starting.cancel()
        answered.set()
        with pytest.raises(asyncio.CancelledError):
            await starting
    assert not made[0].sockets


async def test_a_database_in_use_is_named(server: RunningServer, tmp_path: Path) -> None:
    error = await failure_of(port=0, db=str(tmp_path / "server.db"))
    assert isinstance(error, DatabaseLockedError)
    assert "stop it or choose another file" in str(error)


async def test_a_database_that_cannot_be_is_named(tmp_path: Path) -> None:
    letter = tmp_path / "letter.txt"
    letter.write_text("Dear database, " * 100, encoding="utf-8")
    for path, kind in (
        (tmp_path / "nowhere" / "rooms.db", StorageUnavailableError),
        (tmp_path, StorageUnavailableError),
        (letter, DatabaseFormatError),
    ):
        error = await failure_of(port=0, db=str(path))
        assert isinstance(error, kind)
        assert path.name in str(error)
    assert letter.read_text(encoding="utf-8").startswith("Dear database")


@pytest.mark.parametrize("path", [".", "..", "/", ""])
async def test_a_folder_in_place_of_a_database_is_named_and_nothing_is_left_there(
    path: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    error = await failure_of(port=0, db=path)
    assert str(error).endswith("it is a folder, expected a file")
    assert os.listdir(tmp_path) == []


async def test_stopping_tells_every_client_to_come_back(start_server: StartServer) -> None:
    async with asyncio.timeout(LIMIT_S):
        async with start_server(shutdown_notice_ms=0) as server:
            client_context = wire(server.url)
            client = await client_context.__aenter__()
            await client.hello("ana")
            await server.wind_down()
        told = await client.receive()
        assert isinstance(told, Announcement)
        assert told.restart_in_ms == 0
        assert await client.closing() == (1012, "the server restarts; connect again and resume")
        await client_context.__aexit__(None, None, None)


async def test_stopping_does_not_wait_for_who_says_nothing(start_server: StartServer) -> None:
    async with asyncio.timeout(LIMIT_S):
        async with start_server(handshake_timeout_ms=86_400_000, shutdown_limit_ms=86_400_000) as server:
            reader, writer = await asyncio.open_connection("127.0.0.1", server.port)
            async with wire(server.url) as client:
                await client.hello("ana")
        with suppress(ConnectionResetError):
            assert await reader.read() == b""
        writer.close()


async def test_a_loop_without_signal_handlers_is_told_to_stop_all_the_same(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """As on Windows, where the loop raises NotImplementedError."""
    handlers: dict[int, Callable[..., object]] = {}

    def refuse(*_: object) -> None:
        raise NotImplementedError

    monkeypatch.setattr(type(asyncio.get_running_loop()), "add_signal_handler", refuse)
    monkeypatch.setattr(signal, "signal", lambda number, handler: handlers.setdefault(number, handler))
    lifecycle = Lifecycle(Config(), RunClock().now_ms)
    serve._stop_on_signals(lifecycle)
    assert {signal.SIGINT, signal.SIGTERM} <= set(handlers)
    handlers[signal.SIGTERM](signal.SIGTERM, None)
    async with asyncio.timeout(LIMIT_S):
        await lifecycle.stop_requested()
