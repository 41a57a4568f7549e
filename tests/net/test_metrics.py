"""What /metrics and /health tell, and to whom."""

from __future__ import annotations

import asyncio

import pytest
from prometheus_client.parser import text_string_to_metric_families

from tabuleiro.protocol.messages import CreateRoom, JoinRoom
from tabuleiro_server.memory import Memory, Usage
from tabuleiro_server.metrics import LoopLagProbe
from tabuleiro_server.wiring import RunningServer
from tests.net.wire_client import LIMIT_S, SMALL, MatchOnTheWire, StartServer, raw_request, wire

Labels = tuple[tuple[str, str], ...]


async def samples_of(server: RunningServer) -> dict[tuple[str, Labels], float]:
    head, body = await raw_request(server.port, ["GET /metrics HTTP/1.1"])
    assert head.startswith("HTTP/1.1 200 ")
    assert "Content-Type: text/plain; version=0.0.4; charset=utf-8" in head
    families = text_string_to_metric_families(body)
    return {
        (sample.name, tuple(sorted(sample.labels.items()))): sample.value
        for family in families
        for sample in family.samples
    }


async def test_the_metrics_are_those_of_what_happened(server: RunningServer) -> None:
    async with wire(server.url) as ana, wire(server.url) as rui:
        await ana.hello("ana")
        await rui.hello("rui")
        match = await MatchOnTheWire.begin(ana, rui)
        for _ in range(3):
            await match.play_one()
        await rui.refused(JoinRoom, room="K7MQ4")
        await rui.refused(CreateRoom, game="chess", options=SMALL)
        await rui.send_frame(b"\x01")
        await rui.receive()
        samples = await samples_of(server)

        def value(name: str, **labels: str) -> float:
            return samples[f"tabuleiro_{name}", tuple(sorted(labels.items()))]

        assert value("connections") == 2
        assert value("connections_admitted_total") == 2
        assert value("rooms_in_memory") == 1
        assert value("requests_total", type="hello", result="ok") == 2
        assert value("requests_total", type="play", result="ok") == 3
        assert value("requests_total", type="join-room", result="ok") == 1
        assert value("requests_total", type="join-room", result="no-such-room") == 1
        assert value("requests_total", type="create-room", result="bad-option") == 1
        assert value("requests_total", type="unread", result="bad-message") == 1
        assert value("frames_received_total") == 10
        commits = value("commits_total")
        assert commits >= 3
        assert value("commit_group_size_count") == value("commit_duration_seconds_count") == commits
        assert value("commit_group_size_bucket", le="+Inf") == commits
        assert value("commit_group_size_sum") >= commits
        assert value("events_stored_total") >= 5
        assert value("bots_thinking") == value("bot_failures_total") == 0
        assert ("tabuleiro_event_loop_lag_seconds_sum", ()) in samples
    async with wire(server.url) as client:
        await client.connection.send("text", text=True)
        await client.closing()
        assert (await samples_of(server))["tabuleiro_connections_closed_total", (("code", "1003"),)] == 1


async def test_a_limit_of_memory_is_shown_with_what_is_used(
    start_server: StartServer, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(Memory, "tightest", Usage("memory.max", 300, 1_000))
    async with start_server() as server:
        samples = await samples_of(server)
    labels = (("limit", "memory.max"),)
    assert samples["tabuleiro_memory_used_bytes", labels] == 300
    assert samples["tabuleiro_memory_limit_bytes", labels] == 1_000


async def test_refused_connections_are_counted_by_their_limit(start_server: StartServer) -> None:
    async with start_server(connections_count=1) as server, wire(server.url):
        async with wire(server.url) as refused:
            await refused.closing()
        samples = await samples_of(server)
        assert samples["tabuleiro_connections_refused_total", (("limit", "connections_count"),)] == 1


@pytest.mark.parametrize(
    ("who_may", "header", "status"),
    [
        ("off", "Accept: text/plain", "404"),
        ("local", "Accept: text/plain", "200"),
        ("local", "X-Forwarded-For: 127.0.0.1", "404"),
        ("local", "Via: 1.1 proxy", "404"),
        ("local", "X-Forwarded-Host: play.example.org", "404"),
        ("all", "X-Forwarded-For: 192.0.2.1", "200"),
    ],
)
async def test_metrics_are_for_whom_the_config_says(
    start_server: StartServer, who_may: str, header: str, status: str
) -> None:
    async with start_server(metrics=who_may) as server:
        head, _ = await raw_request(server.port, ["GET /metrics HTTP/1.1", header])
        assert head.split()[1] == status
        health, body = await raw_request(server.port, ["GET /health HTTP/1.1", header])
        assert (health.split()[1], body) == ("200", "ok\n")


LOCAL = ["localhost", "LOCALHOST:1", "localhost.", "pages.localhost", "127.0.0.1", "127.8.9.1:80", "[::1]:8765"]
ELSEWHERE = [
    "evil.example",
    "evil.example:8765",
    "evil.example.",
    "localhost.evil.example",
    "127.0.0.1.evil.example",
    "evil.example#localhost",
    "localhost@evil.example",
    "evil.example, localhost",
    "evil-localhost",
    "192.0.2.7",
    "0.0.0.0",
    "[2001:db8::1]",
    "[127.0.0.1]",
    "[::1%evil]",
    "[::1",
    "::1",
    "localhost:port",
    "localhost..",
    "",
]


def asked(target: str, *hosts: str) -> bytes:
    lines = [f"GET {target} HTTP/1.1", *(f"Host: {host}" for host in hosts), "", ""]
    return "\r\n".join(lines).encode()


async def status_of(port: int, request: bytes) -> str:
    async with asyncio.timeout(LIMIT_S):
        reader, writer = await asyncio.open_connection("127.0.0.1", port)
        writer.write(request)
        answer = await reader.read()
        writer.close()
    return answer.decode().split()[1]


async def test_a_local_page_answers_to_local_names_alone(start_server: StartServer) -> None:
    """Symptom: a web page whose name was made to point to this machine could read the metrics."""
    async with start_server() as server:
        found = {host: await status_of(server.port, asked("/metrics", host)) for host in [*LOCAL, *ELSEWHERE]}
        assert found == dict.fromkeys(LOCAL, "200") | dict.fromkeys(ELSEWHERE, "421")
        for hosts in ([], ["localhost", "evil.example"], ["evil.example", "localhost"]):
            assert await status_of(server.port, asked("/metrics", *hosts)) == "421", hosts
        for host in ELSEWHERE:
            assert await status_of(server.port, asked("/health", host)) == "200"
    async with start_server(metrics="all") as server:
        assert await status_of(server.port, asked("/metrics", "play.example.org")) == "200"


async def test_a_target_in_absolute_form_names_the_host_too(server: RunningServer) -> None:
    targets = {
        "http://localhost:8765/metrics": "200",
        "HTTP://localhost/metrics?x=1": "200",
        "http://evil.example/metrics": "421",
        "http://evil.example?/metrics": "421",
        "http:///metrics": "421",
        "http://localhost/health": "200",
        "ftp://localhost/metrics": "404",
    }
    for target, status in targets.items():
        assert await status_of(server.port, asked(target, "localhost")) == status, target
    assert await status_of(server.port, asked("http://localhost/metrics", "evil.example")) == "421"


async def test_the_lag_of_the_loop_is_observed_until_told_to_stop() -> None:
    probe = LoopLagProbe(0.0)
    probe.start()
    for _ in range(100):
        await asyncio.sleep(0)
    probe.stop()
    seen = probe.lags_us.observed_count
    assert seen > 1
    for _ in range(5):
        await asyncio.sleep(0)
    assert probe.lags_us.observed_count == seen
