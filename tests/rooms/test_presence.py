"""Whose going is stored now, and whose later: a connection that breaks all day makes few events."""

from __future__ import annotations

from tabuleiro.ids import AccountId, TimestampMs
from tabuleiro_server.rooms.live_room import DEPARTURE_INTERVAL_MS, Departures

ANA, RUI = AccountId("ana-id"), AccountId("rui-id")
DAY_MS = 86_400_000


def test_who_has_gone_is_stored_at_once() -> None:
    departures = Departures()
    assert departures.due((), TimestampMs(0)) == ([], None)
    assert departures.due((ANA, RUI), TimestampMs(0)) == ([ANA, RUI], None)


def test_who_goes_again_soon_is_stored_later_and_the_other_at_once() -> None:
    departures = Departures()
    departures.note(RUI, TimestampMs(1_000))
    assert departures.due((ANA, RUI), TimestampMs(3_000)) == ([ANA], DEPARTURE_INTERVAL_MS - 2_000)
    assert departures.due((RUI,), TimestampMs(999 + DEPARTURE_INTERVAL_MS)) == ([], 1)
    assert departures.due((RUI,), TimestampMs(1_000 + DEPARTURE_INTERVAL_MS)) == ([RUI], None)


def test_of_two_who_wait_the_first_says_when_to_ask_again() -> None:
    departures = Departures()
    departures.note(ANA, TimestampMs(0))
    departures.note(RUI, TimestampMs(500))
    assert departures.due((ANA, RUI), TimestampMs(1_000)) == ([], DEPARTURE_INTERVAL_MS - 1_000)


def test_a_day_of_coming_and_going_every_second_makes_few_events() -> None:
    departures, stored_count = Departures(), 0
    for now_ms in range(0, DAY_MS, 1_000):
        due, _ = departures.due((RUI,), TimestampMs(now_ms))
        for account in due:
            departures.note(account, TimestampMs(now_ms))
            stored_count += 1
    assert stored_count == DAY_MS // DEPARTURE_INTERVAL_MS
