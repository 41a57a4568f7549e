from __future__ import annotations

import pytest

from tabuleiro.ids import AccountId
from tabuleiro.protocol import events
from tabuleiro_client.text.told_seats import seats_after, seats_of, with_seats

ANA = events.SeatInfo("person", AccountId("a1"), "ana")
RUI = events.SeatInfo("person", AccountId("a2"), "rui")
FREE = events.SeatInfo()


@pytest.mark.parametrize(
    ("before", "event", "after"),
    [
        ((ANA, FREE), events.SeatTaken(1, AccountId("a2"), "rui"), (ANA, RUI)),
        ((FREE, RUI), events.BotSeated(0, "random"), (events.SeatInfo("bot", None, "random-bot", "random"), RUI)),
        ((ANA, RUI), events.SeatFreed(0), (FREE, RUI)),
        ((ANA, RUI), events.SeatsSwapped(), (RUI, ANA)),
        (
            (ANA, RUI),
            events.StandInSeated(1, "random"),
            (ANA, events.SeatInfo("person", AccountId("a2"), "rui", stand_in="random")),
        ),
        ((ANA, RUI), events.MatchStarted(1), (ANA, RUI)),
    ],
)
def test_seats_follow_the_events(before, event, after):
    assert seats_after(before, event) == after


def test_who_comes_back_plays_again():
    away = events.SeatInfo("person", AccountId("a2"), "rui", stand_in="random")
    assert seats_after((ANA, away), events.SeatConnected(1)) == (ANA, RUI)


def test_a_head_takes_other_holders(one_room):
    head = one_room().head()
    assert seats_of(with_seats(head, (RUI, ANA))) == (RUI, ANA)
    assert with_seats(head, seats_of(head)) == head
