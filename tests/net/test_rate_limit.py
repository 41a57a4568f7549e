"""Addresses behind proxies, and limits on connections, handshakes, messages and rooms."""

from __future__ import annotations

import asyncio
from collections import Counter
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tabuleiro.errors import CommandError, RemoteProtocolError
from tabuleiro.ids import AccountId
from tabuleiro_server.config import Config
from tabuleiro_server.memory import Memory
from tabuleiro_server.metrics import NetMetrics
from tabuleiro_server.net.addresses import Proxies, is_loopback, rate_limit_key
from tabuleiro_server.net.connection import one_way_ms
from tabuleiro_server.net.handler import RateLimiter, Verdict
from tabuleiro_server.net.rate_limit import ConnectionLimiter, HandshakeLimiter
from tabuleiro_server.sessions.guests import RoomQuota

PROXIES = Proxies(["127.0.0.1", "10.0.0.0/8", "fd00::/8"])


@pytest.mark.parametrize(
    ("peer", "headers", "client"),
    [
        ("192.0.2.1", [], "192.0.2.1"),
        ("192.0.2.1", ["6.6.6.6"], "192.0.2.1"),
        ("10.0.0.1", [], "10.0.0.1"),
        ("10.0.0.1", ["192.0.2.7"], "192.0.2.7"),
        ("10.0.0.1", ["6.6.6.6, 192.0.2.7"], "192.0.2.7"),
        ("10.0.0.1", ["6.6.6.6", "192.0.2.7"], "192.0.2.7"),
        ("10.0.0.1", ["6.6.6.6, 192.0.2.7, 10.9.9.9"], "192.0.2.7"),
        ("10.0.0.1", ["10.1.1.1, 10.2.2.2"], "10.1.1.1"),
        ("10.0.0.1", ["nonsense"], "10.0.0.1"),
        ("10.0.0.1", ["6.6.6.6, nonsense"], "10.0.0.1"),
        ("10.0.0.1", [",,"], "10.0.0.1"),
        ("::ffff:10.0.0.1", ["2001:db8::7"], "2001:db8::7"),
        ("fd00::1", ["192.0.2.7"], "192.0.2.7"),
        ("", ["192.0.2.7"], ""),
    ],
)
def test_only_trusted_proxies_are_believed(peer: str, headers: list[str], client: str) -> None:
    assert PROXIES.client_address(peer, headers) == client


def test_a_network_of_ipv6_is_one_address() -> None:
    assert (
        rate_limit_key("2001:db8:0:1::1")
        == rate_limit_key("2001:db8:0:1:ffff::2")
        != rate_limit_key("2001:db8:0:2::1")
    )
    assert rate_limit_key("192.0.2.1") != rate_limit_key("192.0.2.2")
    assert rate_limit_key("fe80::1%eth0") == "fe80::/64"


def test_loopback_is_this_machine() -> None:
    assert [is_loopback(text) for text in ("127.0.0.1", "::1", "::ffff:127.0.0.1", "192.0.2.1", "")] == [
        True,
        True,
        True,
        False,
        False,
    ]


def test_connections_are_limited_in_all_and_by_address() -> None:
    metrics = NetMetrics()
    limiter = ConnectionLimiter(
        Config(connections_count=3, connections_per_address_count=2), metrics, Memory(Path("/nowhere"))
    )
    limiter.admit("192.0.2.1")
    limiter.admit("192.0.2.1")
    with pytest.raises(RemoteProtocolError, match=r"^connections_per_address_count: at most 2 ") as caught:
        limiter.admit("192.0.2.1")
    assert caught.value.close_code == 4004
    limiter.admit("192.0.2.2")
    with pytest.raises(RemoteProtocolError, match=r"^connections_count: at most 3 connections") as caught:
        limiter.admit("192.0.2.3")
    assert caught.value.close_code == 4004
    assert metrics.open_count == 3
    limiter.release("192.0.2.1")
    limiter.release("192.0.2.1")
    limiter.release("192.0.2.2")
    assert metrics.open_count == 0
    assert metrics.admitted_count == 3
    assert dict(metrics.refused_counts) == {"connections_per_address_count": 1, "connections_count": 1}
    limiter.admit("192.0.2.1")
    limiter.admit("192.0.2.1")
    assert metrics.open_count == 2


class Handshake:
    """A connection in its handshake, by a name."""

    def __init__(self, name: str, cut: list[str]) -> None:
        self._name = name
        self._cut = cut

    def cut(self) -> None:
        self._cut.append(self._name)


class Handshakes:
    """Arrivals at a limiter; ``cut`` are the names of those that had to go."""

    def __init__(self, *, handshakes_count: int, connections_per_address_count: int) -> None:
        config = Config(
            handshakes_count=handshakes_count, connections_per_address_count=connections_per_address_count
        )
        self.limiter = HandshakeLimiter(config, Proxies(["10.0.0.1"]), NetMetrics())
        self.cut: list[str] = []

    def arrive(self, address: str, *names: str) -> list[Handshake]:
        arrived = [Handshake(name, self.cut) for name in names]
        for handshake in arrived:
            self.limiter.arrive(handshake, address)
        return arrived


def test_of_too_many_handshakes_from_one_address_the_oldest_go() -> None:
    handshakes = Handshakes(handshakes_count=10, connections_per_address_count=2)
    handshakes.arrive("192.0.2.1", "a", "b")
    assert handshakes.cut == []
    handshakes.arrive("192.0.2.1", "c", "d")
    assert handshakes.cut == ["a", "b"]


def test_where_there_are_too_many_handshakes_the_address_with_most_loses_its_oldest() -> None:
    handshakes = Handshakes(handshakes_count=6, connections_per_address_count=5)
    handshakes.arrive("192.0.2.1", "few")
    handshakes.arrive("192.0.2.2", *"abc")
    handshakes.arrive("192.0.2.3", *"xy")
    assert handshakes.cut == []
    handshakes.arrive("192.0.2.4", "honest")
    assert handshakes.cut == ["a"]
    handshakes.arrive("192.0.2.3", "z")
    assert handshakes.cut == ["a", "x"]


def test_a_handshake_that_is_over_leaves_its_place_to_others() -> None:
    handshakes = Handshakes(handshakes_count=2, connections_per_address_count=2)
    for handshake in handshakes.arrive("192.0.2.1", "a", "b"):
        handshakes.limiter.leave(handshake)
        handshakes.limiter.leave(handshake)
    assert handshakes.limiter.waiting == ()
    handshakes.arrive("192.0.2.1", "c", "d")
    assert handshakes.cut == []


def test_a_trusted_proxy_may_have_all_handshakes() -> None:
    handshakes = Handshakes(handshakes_count=3, connections_per_address_count=1)
    handshakes.arrive("10.0.0.1", "a", "b", "c")
    assert handshakes.cut == []
    handshakes.arrive("10.0.0.1", "d")
    assert handshakes.cut == ["a"]


def test_tokens_grow_with_time_up_to_the_burst() -> None:
    limiter = RateLimiter(per_second_count=2, burst_count=3, now_s=0.0)
    granted, refused, flood = Verdict.GRANTED, Verdict.REFUSED, Verdict.FLOOD
    assert [limiter.spend(0.0) for _ in range(7)] == [granted] * 3 + [refused] * 3 + [flood]
    assert limiter.spend(2.5) is granted
    limiter = RateLimiter(per_second_count=2, burst_count=3, now_s=0.0)
    assert [limiter.spend(1000.0) for _ in range(4)] == [granted] * 3 + [refused]


@settings(max_examples=50)
@given(
    rate=st.integers(1, 50),
    burst=st.integers(1, 50),
    waits_ms=st.lists(st.integers(0, 400), min_size=1, max_size=200),
)
def test_no_more_is_granted_than_was_earned(rate: int, burst: int, waits_ms: list[int]) -> None:
    limiter = RateLimiter(rate, burst, 0.0)
    now_ms, granted = 0, 0
    for wait_ms in waits_ms:
        now_ms += wait_ms
        granted += limiter.spend(now_ms / 1000) is Verdict.GRANTED
        assert granted <= burst + rate * now_ms / 1000


def test_a_client_that_keeps_to_the_rate_is_never_refused() -> None:
    limiter = RateLimiter(per_second_count=4, burst_count=1, now_s=0.0)
    assert {limiter.spend(number / 4) for number in range(1, 1000)} == {Verdict.GRANTED}


def test_lag_is_half_of_a_round_trip() -> None:
    assert [one_way_ms(0.0), one_way_ms(0.0831), one_way_ms(2.0)] == [0, 41, 1000]


async def test_rooms_of_an_account_that_are_made_at_one_moment_are_counted_one_after_the_other() -> None:
    ana, rooms = AccountId("ana"), Counter[AccountId]()
    made = asyncio.Event()

    async def count(account: AccountId) -> int:
        return rooms[account]

    quota = RoomQuota(2, count)

    async def make(account: AccountId) -> None:
        async with quota.one_more(account):
            await made.wait()
            rooms[account] += 1

    making = [asyncio.ensure_future(make(account)) for account in (ana, ana, ana, AccountId("rui"))]
    made.set()
    results = await asyncio.gather(*making, return_exceptions=True)
    assert [type(result) for result in results] == [type(None), type(None), CommandError, type(None)]
    assert rooms == {ana: 2, AccountId("rui"): 1}
    with pytest.raises(CommandError, match=r"rooms_per_account_count: at most 2 unfinished rooms") as caught:
        await make(ana)
    assert caught.value.code == "limit-reached"
    rooms[ana] -= 1
    await make(ana)
