"""Budgets over time: a class may begin at once, and whoever goes on and on is told what was too much."""

from __future__ import annotations

from typing import Any

import pytest

from tabuleiro.errors import CommandError
from tabuleiro.ids import AccountId
from tabuleiro.protocol import messages
from tabuleiro.protocol.messages import SeatRequest
from tabuleiro_server.config import Config
from tabuleiro_server.sessions import budgets as budgets_module
from tabuleiro_server.sessions import guests as guests_module
from tabuleiro_server.sessions.budgets import Budget, Budgets

ANA = AccountId("ana")
HOME = "192.0.2.7"
MALLORY = "6.6.6.6"


class Clock:
    def __init__(self) -> None:
        self.now_s = 1_000.0

    def __call__(self) -> float:
        return self.now_s


@pytest.fixture
def clock() -> Clock:
    return Clock()


def budgets_of(clock: Clock, **settings: Any) -> Budgets:
    return Budgets(Config(**settings), clock)


def make_guest(budgets: Budgets, address: str) -> None:
    with budgets.guest(address):
        pass


def make_room(budgets: Budgets, account: str, address: str) -> None:
    with budgets.room(AccountId(account), address):
        pass


def test_tokens_come_back_one_by_one(clock: Clock) -> None:
    budget = Budget(3_600, 2, clock)
    for _ in range(2):
        assert budget.wait_s("ana") == 0
        budget.spend("ana")
    assert (budget.wait_s("ana"), budget.wait_s("rui")) == (1.0, 0.0)
    clock.now_s += 1
    assert budget.wait_s("ana") == 0
    budget.spend("ana")
    clock.now_s += 3_600
    budget.spend("ana", 2)
    assert budget.wait_s("ana") == 1


def test_what_is_owed_has_an_end(clock: Clock) -> None:
    budget = Budget(3_600, 10, clock)
    budget.spend("mallory", 1_000_000)
    assert budget.wait_s("mallory") == 11


def test_a_budget_remembers_only_so_many_and_those_who_owe_most(
    clock: Clock, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(budgets_module, "KEYS_MAX_COUNT", 100)
    budget = Budget(3_600, 10, clock)
    budget.spend("mallory", 10)
    for number in range(1_000):
        budget.spend(f"2001:db8:0:{number:x}::/64")
        assert len(budget) <= 100
    assert budget.wait_s("mallory") == 1
    clock.now_s += 3_600
    for number in range(101):
        budget.spend(f"later {number}")
    assert len(budget) <= 100
    assert budget.wait_s("mallory") == 0


def test_a_class_behind_one_address_begins_at_once(clock: Clock) -> None:
    budgets = budgets_of(clock)
    for number in range(40):
        make_guest(budgets, HOME)
        make_room(budgets, f"pupil-{number}", HOME)
        for _ in range(100):
            budgets.take_events(AccountId(f"pupil-{number}"), HOME, 1)


def test_guests_without_end_are_refused_and_those_of_another_address_are_not(clock: Clock) -> None:
    """Symptom: 459 new guests a second from one address."""
    budgets = budgets_of(clock, new_guests_per_hour_count=60, new_guests_burst_count=3)
    for _ in range(3):
        make_guest(budgets, MALLORY)
    with pytest.raises(CommandError) as refused:
        make_guest(budgets, MALLORY)
    assert refused.value.message == (
        "new_guests_per_hour_count: at most 60 new guests from one address in an hour, 3 at once;"
        " try again in 1 minute"
    )
    assert refused.value.code == "limit-reached"
    make_guest(budgets, HOME)
    clock.now_s += 60
    make_guest(budgets, MALLORY)


def test_rooms_are_counted_for_the_guest_and_for_the_address(clock: Clock) -> None:
    """Symptom: 23,420 rooms in 30 s by guests who came, made 20 each, and went."""
    budgets = budgets_of(clock, account_rooms_burst_count=2, address_rooms_burst_count=3)
    make_room(budgets, "mallory", MALLORY)
    make_room(budgets, "mallory", MALLORY)
    with pytest.raises(CommandError, match=r"account_rooms_per_hour_count: .* new rooms of one guest"):
        make_room(budgets, "mallory", MALLORY)
    with pytest.raises(CommandError, match="account_rooms_per_hour_count"):
        make_room(budgets, "mallory", HOME)
    make_room(budgets, "mallory-2", MALLORY)
    with pytest.raises(CommandError, match=r"address_rooms_per_hour_count: .* from one address"):
        make_room(budgets, "mallory-3", MALLORY)
    make_room(budgets, "ana", HOME)


def test_what_was_refused_for_another_reason_costs_nothing(clock: Clock) -> None:
    budgets = budgets_of(clock, new_guests_burst_count=1, account_rooms_burst_count=1)
    for _ in range(5):
        with pytest.raises(CommandError, check=lambda error: error.code == "name-taken"), budgets.guest(HOME):
            raise CommandError("name-taken", "that one is taken")
    make_guest(budgets, HOME)


def test_bots_among_themselves_are_held_to_the_budget_of_their_host(clock: Clock) -> None:
    budgets = budgets_of(clock, account_events_burst_count=2, account_events_per_hour_count=3_600)
    assert [budgets.bot_turn(ANA, HOME) for _ in range(4)] == [0, 0, 1, 2]
    with pytest.raises(CommandError, match="account_events_per_hour_count"):
        budgets.take_events(ANA, HOME, 1)
    assert budgets.bot_turn(AccountId("rui"), HOME) == 0
    budgets = budgets_of(clock, address_events_burst_count=1, address_events_per_hour_count=3_600)
    assert [budgets.bot_turn(AccountId(f"bot-host-{number}"), "") for number in range(4)] == [0, 0, 0, 0]
    assert [budgets.bot_turn(AccountId(f"bot-host-{number}"), HOME) for number in range(3)] == [0, 1, 2]


async def test_moves_without_end_are_refused_and_the_match_can_still_be_ended(open_stage: Any) -> None:
    """Symptom: playing and taking back for ever, 0.34 MB/s in the file."""
    async with open_stage(account_events_burst_count=2, account_events_per_hour_count=1) as stage:
        ana = stage.client("ana", HOME)
        code = (await ana.create(seats=(SeatRequest("me"), SeatRequest("me")))).head.room
        assert await ana.play(code, 0, "a3") is None
        assert await ana.ask(messages.Undo, room=code, match=1, ply=0) is None
        for refusal in (await ana.play(code, 0, "a3"), await ana.ask(messages.Say, room=code, text="more")):
            assert refusal.code == "limit-reached"
        assert refusal.message.startswith("account_events_per_hour_count: at most 1 moves and other events of one")
        assert await ana.ask(messages.Resign, room=code, match=1, seat=0) is None
        assert await ana.ask(messages.LeaveRoom, room=code) is None


async def test_rooms_of_one_guest_are_refused_with_the_time_to_try_again(open_stage: Any) -> None:
    async with open_stage(account_rooms_burst_count=2, account_rooms_per_hour_count=60) as stage:
        ana = stage.client("ana", HOME)
        for _ in range(3):
            assert (await ana.ask(messages.CreateRoom, game="chess", options={})).code == "bad-option"
        for _ in range(2):
            await ana.create()
        refusal = await ana.ask(messages.CreateRoom, game="virus-wars", options={})
        assert refusal.code == "limit-reached"
        assert refusal.message.endswith("; try again in 1 minute")


async def test_wrong_tokens_are_answered_slowly_and_a_right_one_is_not(
    open_stage: Any, monkeypatch: pytest.MonkeyPatch, clock: Clock
) -> None:
    """Symptom: 1,175 guesses a second."""
    waits_s: list[float] = []

    async def sleep(delay_s: float) -> None:
        waits_s.append(delay_s)

    async with open_stage() as stage:
        budgets = budgets_of(clock, wrong_tokens_per_hour_count=3_600, wrong_tokens_burst_count=3)
        guests = guests_module.Guests(stage.store.accounts, budgets, stage.clock)
        known = await guests.identify("ana", None, HOME)
        monkeypatch.setattr(guests_module.asyncio, "sleep", sleep)
        for number in range(10):
            with pytest.raises(CommandError, check=lambda error: error.code == "bad-token"):
                await guests.identify(None, f"guess {number}", HOME)
        assert waits_s == [0, 0, 1, 2, 3, 4, 4, 4, 4, 4]
        assert (await guests.identify(None, known.token, HOME)).account.name == "ana"
        with pytest.raises(CommandError, check=lambda error: error.code == "bad-token"):
            await guests.identify(None, "guess", MALLORY)
        assert (waits_s[10:], len(waits_s)) == ([0], 11)
        monkeypatch.undo()


def test_no_wrong_token_waits_for_longer_than_a_hello_may_take() -> None:
    config = Config()
    assert config.hello_timeout_ms > budgets_module.WRONG_TOKEN_WAIT_MAX_S * 1000
