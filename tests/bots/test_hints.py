"""Hints by real workers: a good turn with its evaluation; none when the bots are busy or fail."""

from __future__ import annotations

import sys
from pathlib import Path

import pytest
from msgspec.structs import replace

from tabuleiro.clock import NO_CLOCK, new_clock
from tabuleiro.errors import BotError, CommandError
from tabuleiro.ids import AccountId, Player, RoomCode, Seq, TimestampMs
from tabuleiro.protocol.events import SeatInfo
from tabuleiro.protocol.messages import Explanation, HintGiven
from tabuleiro.rules import registry
from tabuleiro.settings import RoomLimits, RoomSettings
from tabuleiro_server.bots import seats
from tabuleiro_server.bots.pool import BotPool
from tabuleiro_server.bots.seats import advise
from tabuleiro_server.room.commands import Explain, TakeHint
from tabuleiro_server.room.state import Match, RoomState
from tabuleiro_server.rooms.subscribers import Subscribers

NOW_MS = TimestampMs(1_000_000)
SEATS = (SeatInfo("person", AccountId("a"), "ana"), SeatInfo("person", AccountId("r"), "rui"))


def room(actions: tuple[str, ...]) -> RoomState:
    """Return a room in which ``actions`` of a small Minefield were played."""
    game = registry.load("minefield", {"size": 5, "rules": "beginner"})
    state = game.initial_state()
    for text in actions:
        state = state.apply(state.string_to_action(text))
    movers: tuple[Player, ...] = (0, 1) * (len(actions) // 2)
    match = Match(
        number=1,
        players=SEATS,
        state=state,
        time_control=NO_CLOCK,
        clock=new_clock(NO_CLOCK),
        started_at_ms=NOW_MS,
        actions=actions,
        movers=movers,
    )
    return RoomState(
        code=RoomCode("ABCDE"),
        seq=Seq(9),
        phase="playing",
        game=game,
        maker=AccountId("a"),
        host=AccountId("a"),
        host_name="ana",
        created_at_ms=NOW_MS,
        updated_at_ms=NOW_MS,
        seats=SEATS,
        settings=RoomSettings(hints=True),
        limits=RoomLimits(),
        secrets=None,
        away_since_ms=(None, None),
        seated_at_ms=NOW_MS,
        match=match,
    )


class Loaded:
    """The part of a room in memory that a suggestion is for."""

    def __init__(self, state: RoomState) -> None:
        self.state = state
        self.subscribers = Subscribers(state.code)


ANA = AccountId("a")
HINT = TakeHint(ANA, 1, 8)
WON = Loaded(room(("c1", "a1", "c2", "a2", "c3", "a3", "c4", "a4")))


async def test_a_worker_suggests_the_winning_turn() -> None:
    pool = BotPool(1, 30_000)
    await pool.start()
    try:
        hint = await advise(pool, WON, HINT)
    finally:
        await pool.stop()
    assert isinstance(hint, HintGiven)
    assert (hint.actions, hint.value, hint.is_proven, hint.turns_to_end) == (("c5",), 1.0, True, 1)


async def test_a_worker_explains_a_position_by_the_level_that_was_asked() -> None:
    pool = BotPool(1, 30_000)
    await pool.start()
    try:
        found = await advise(pool, WON, Explain(ANA, 1, 6, level="minimax-1", count=3))
        default = await advise(pool, WON, Explain(ANA, 1, 8))
    finally:
        await pool.stop()
    assert isinstance(found, Explanation)
    assert isinstance(default, Explanation)
    assert (found.level, found.turn_count, len(found.turns)) == ("minimax-1", 19, 3)
    assert (found.turns[0].actions, found.turns[0].value) == (("c4",), 4)
    assert (default.level, default.turns[0].actions) == ("greedy", ("c5",))


async def test_what_is_wrong_with_a_value_function_is_told_with_its_explanation(tmp_path: Path) -> None:
    (tmp_path / "mine.py").write_text("def value(state, player): return 1 / 0")
    pool = BotPool(1, 30_000)
    await pool.start()
    try:
        with pytest.raises(CommandError, match="value failed: ZeroDivisionError"):
            await advise(pool, WON, Explain(ANA, 1, 8, level=f"minimax-1 eval={tmp_path / 'mine.py'}"))
    finally:
        await pool.stop()


async def test_workers_that_only_crash_give_no_hint(tmp_path: Path) -> None:
    pool = BotPool(1, 30_000, command=(sys.executable, "-c", "raise SystemExit(1)"))
    await pool.start()
    try:
        with pytest.raises(BotError, match="no answer"):
            await advise(pool, WON, HINT)
    finally:
        await pool.stop()


async def test_no_hint_is_thought_about_while_too_many_people_wait(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(seats, "WAITING_MAX_COUNT", -1)
    with pytest.raises(BotError, match="too many people wait"):
        await advise(BotPool(1, 30_000), WON, HINT)


async def test_without_a_match_there_is_nothing_to_suggest() -> None:
    with pytest.raises(BotError, match="no match"):
        await advise(BotPool(1, 30_000), Loaded(replace(WON.state, match=None)), HINT)
