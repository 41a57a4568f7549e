"""Whose connection it is, whether there is a place for it, and how much it may say."""

from __future__ import annotations

from contextlib import ExitStack

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tabuleiro.errors import CommandError, RemoteProtocolError
from tabuleiro.ids import AccountId, RoomCode
from tabuleiro_server.config import Config
from tabuleiro_server.net.addresses import Proxies, household, is_loopback
from tabuleiro_server.net.admission import Admission, Door
from tabuleiro_server.net.credits import Credits, Spending
from tabuleiro_server.net.figures import NetFigures
from tabuleiro_server.net.peer import one_way_ms
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


def test_one_household_is_one_address() -> None:
    assert household("2001:db8:0:1::1") == household("2001:db8:0:1:ffff::2") != household("2001:db8:0:2::1")
    assert household("192.0.2.1") != household("192.0.2.2")
    assert household("fe80::1%eth0") == "fe80::/64"


def test_loopback_is_this_machine() -> None:
    assert [is_loopback(text) for text in ("127.0.0.1", "::1", "::ffff:127.0.0.1", "192.0.2.1", "")] == [
        True,
        True,
        True,
        False,
        False,
    ]


def test_places_are_limited_in_all_and_by_address() -> None:
    figures = NetFigures()
    admission = Admission(Config(connections_count=3, connections_per_address_count=2), figures)
    with ExitStack() as inside:
        inside.enter_context(admission.place("192.0.2.1"))
        inside.enter_context(admission.place("192.0.2.1"))
        with (
            pytest.raises(RemoteProtocolError, match=r"^connections_per_address_count: at most 2 ") as caught,
            admission.place("192.0.2.1"),
        ):
            pytest.fail("a place too many")
        assert caught.value.close_code == 4004
        inside.enter_context(admission.place("192.0.2.2"))
        with (
            pytest.raises(RemoteProtocolError, match=r"^connections_count: at most 3 connections") as caught,
            admission.place("192.0.2.3"),
        ):
            pytest.fail("a place too many")
        assert caught.value.close_code == 4004
        assert figures.open_count == 3
    assert figures.open_count == 0
    assert figures.admitted_count == 3
    assert dict(figures.refused_counts) == {"connections_per_address_count": 1, "connections_count": 1}
    with admission.place("192.0.2.1"), admission.place("192.0.2.1"):
        assert figures.open_count == 2


class Knocker:
    def cut(self) -> None:
        raise AssertionError("nobody is cut in these tests")


def test_the_door_holds_so_many_in_all_and_of_one_address() -> None:
    config = Config(handshakes_count=3, connections_per_address_count=2)
    door = Door(config, Proxies(["10.0.0.1"]), NetFigures())
    knockers = [Knocker() for _ in range(4)]
    assert [door.arrive(knocker, "192.0.2.1") for knocker in knockers[:3]] == [True, True, False]
    assert door.arrive(knockers[2], "192.0.2.2")
    assert not door.arrive(knockers[3], "192.0.2.3")
    for knocker in knockers:
        door.leave(knocker)
    assert door.waiting == ()
    assert [door.arrive(knocker, "10.0.0.1") for knocker in knockers] == [True, True, True, False]


def test_credits_grow_with_time_up_to_the_burst() -> None:
    purse = Credits(per_second_count=2, burst_count=3, now_s=0.0)
    granted, refused, flood = Spending.GRANTED, Spending.REFUSED, Spending.FLOOD
    assert [purse.spend(0.0) for _ in range(7)] == [granted] * 3 + [refused] * 3 + [flood]
    assert purse.spend(2.5) is granted
    purse = Credits(per_second_count=2, burst_count=3, now_s=0.0)
    assert [purse.spend(1000.0) for _ in range(4)] == [granted] * 3 + [refused]


@settings(max_examples=50, deadline=None)
@given(
    rate=st.integers(1, 50),
    burst=st.integers(1, 50),
    waits_ms=st.lists(st.integers(0, 400), min_size=1, max_size=200),
)
def test_no_more_is_granted_than_was_earned(rate: int, burst: int, waits_ms: list[int]) -> None:
    purse = Credits(rate, burst, 0.0)
    now_ms, granted = 0, 0
    for wait_ms in waits_ms:
        now_ms += wait_ms
        granted += purse.spend(now_ms / 1000) is Spending.GRANTED
        assert granted <= burst + rate * now_ms / 1000


def test_who_keeps_to_the_rate_is_never_refused() -> None:
    purse = Credits(per_second_count=4, burst_count=1, now_s=0.0)
    assert {purse.spend(number / 4) for number in range(1, 1000)} == {Spending.GRANTED}


def test_lag_is_half_of_a_round_trip() -> None:
    assert [one_way_ms(0.0), one_way_ms(0.0831), one_way_ms(2.0)] == [0, 41, 1000]


def test_rooms_being_made_count_for_the_quota_too() -> None:
    ana = AccountId("ana")
    quota = RoomQuota(2, {RoomCode("AAAAA"): ana})
    with (
        quota.one_more(ana),
        pytest.raises(CommandError, match=r"rooms_per_account_count: at most 2 unfinished rooms") as caught,
        quota.one_more(ana),
    ):
        pytest.fail("a room too many")
    assert caught.value.code == "limit-reached"
    with quota.one_more(ana), quota.one_more(AccountId("rui")):
        pass
