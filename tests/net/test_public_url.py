"""The address that invitations show: what a client is told of it, and what the host is told at the start."""

from __future__ import annotations

import socket

import pytest

from tabuleiro.protocol.messages import Hello
from tabuleiro_server.cli.serve import database_line, invitation_lines
from tabuleiro_server.net.addresses import own_addresses
from tabuleiro_server.wiring import RunningServer
from tests.net.wire_client import StartServer, wire


async def told(server: RunningServer) -> str | None:
    async with wire(server.url) as client:
        url: str | None = (await client.do(Hello, name="ana")).public_url
        return url


async def test_the_address_that_the_host_has_set_is_told_to_everybody(start_server: StartServer) -> None:
    async with start_server(public_url="play.example.org") as server:
        assert await told(server) == "ws://play.example.org:8765"
        assert invitation_lines(server, is_guessed=False, has_page=False) == [
            "Your friends play with:",
            "  tabuleiro play --server ws://play.example.org:8765",
            "and find matches to watch with:",
            "  tabuleiro rooms --server ws://play.example.org:8765",
        ]
        assert invitation_lines(server, is_guessed=False, has_page=True)[:2] == [
            "Your friends play and watch in a browser at:",
            "  http://play.example.org:8765",
        ]


async def test_who_is_on_the_machine_of_a_server_for_others_is_told_its_address_in_the_network(
    start_server: StartServer, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("tabuleiro_server.net.server.own_addresses", lambda host: ["192.0.2.7", "10.0.0.7"])
    async with start_server(host="0.0.0.0") as server:
        assert server.url == f"ws://127.0.0.1:{server.port}"
        assert await told(server) == f"ws://192.0.2.7:{server.port}"
        lines = invitation_lines(server, is_guessed=True, has_page=True)
    assert f"  tabuleiro play --server ws://192.0.2.7:{server.port}" in lines
    assert any(line.endswith(f"ws://10.0.0.7:{server.port}") for line in lines)
    assert "0.0.0.0" not in " ".join(lines)


async def test_who_comes_from_elsewhere_is_told_nothing_that_is_only_guessed(
    start_server: StartServer, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("tabuleiro_server.net.server.own_addresses", lambda host: ["192.0.2.7"])
    async with start_server(host="0.0.0.0", trusted_proxies=("127.0.0.1",)) as server:
        async with wire(server.url, additional_headers={"X-Forwarded-For": "198.51.100.9"}) as client:
            assert (await client.do(Hello, name="rui")).public_url is None


async def test_a_server_of_one_machine_says_so(server: RunningServer) -> None:
    assert await told(server) is None
    first, page, command = invitation_lines(server, is_guessed=True, has_page=True)
    assert page == f"  http://127.0.0.1:{server.port} in a browser, or"
    assert first.startswith("Only this machine can connect")
    assert command == f"  tabuleiro play --server {server.url}"


def test_own_addresses_are_never_those_that_only_this_machine_reaches() -> None:
    assert own_addresses("192.0.2.9") == ["192.0.2.9"]
    assert own_addresses("127.0.0.1") == own_addresses("localhost") == own_addresses("::1") == []
    assert not {"0.0.0.0", "127.0.0.1", "127.0.1.1"}.intersection(own_addresses("0.0.0.0"))
    assert all(":" in address for address in own_addresses("::"))


def test_a_machine_without_a_network_has_no_addresses_for_others(monkeypatch: pytest.MonkeyPatch) -> None:
    def unreachable(*_: object) -> None:
        raise OSError("Network is unreachable")

    monkeypatch.setattr(socket.socket, "connect", unreachable)
    monkeypatch.setattr(socket, "getaddrinfo", lambda *_: [(2, 1, 6, "", ("127.0.1.1", 0))])
    assert own_addresses("0.0.0.0") == []


def test_the_database_is_told_with_its_whole_path_and_what_is_in_it(
    tmp_path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    whole = tmp_path / "club.db"
    rooms = {"waiting": 1, "playing": 2, "closed": 9}
    line = database_line("club.db", (140 * 1024, rooms))
    assert line == f"database: {whole} (140 KiB, 12 rooms, 3 of them unfinished)"
    assert database_line("club.db", (4096, {})) == f"database: {whole} (4 KiB, no rooms yet)"
    assert database_line("club.db", None) == f"database: {whole}"
