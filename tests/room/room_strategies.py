"""What the state machine draws from, and the checks of a single event: of matches and of clocks."""

from __future__ import annotations

from typing import Any

from hypothesis import strategies as st

from tabuleiro.clock import (
    NO_CLOCK,
    ByoYomi,
    Correspondence,
    Fischer,
    FixedTurn,
    player_clock_at,
    total_remaining_ms,
)
from tabuleiro.ids import PLAYERS
from tabuleiro.protocol.events import ActionsPlayed, Event, MatchStarted, RoomResumed, TurnTakenBack
from tabuleiro.protocol.messages import SeatRequest
from tabuleiro.settings import LateBot, RoomLimits, RoomSettings
from tabuleiro_server.room.commands import Chance
from tabuleiro_server.room.state import RoomState, bot_account
from tests.room.story import ANA, DOM, EVA, LEVELS, RUI, SECRETS

GUESTS = (ANA, RUI, EVA, DOM)
GAMES: tuple[tuple[str, dict[str, Any]], ...] = (
    ("virus-wars", {"rows": 4, "cols": 4, "steps": 2}),
    ("virus-wars", {"rows": 4, "cols": 4, "steps": 3, "position": "x.../..../..../...o 0 1"}),
    ("virus-wars", {"rows": 4, "cols": 4, "steps": 2, "position": "x.OO/OOOO/OOOO/OOOo 0 2"}),
    ("virus-wars", {"rows": 4, "cols": 4, "steps": 2, "position": "OOOO/OOOO/OOOO/OOOo 0 2"}),
    ("minefield", {"size": 5}),
    ("iris", {"side": 5}),
    ("xero-g", {}),
    ("xero-g", {"setup": "random"}),
)
CONTROLS = (
    NO_CLOCK,
    Fischer(60_000, 2_000),
    Fischer(2_000, 0),
    ByoYomi(10_000, 5_000, 2),
    FixedTurn(30_000),
    Correspondence(1),
)
SOME_ACTIONS = ("a1", "b2", "c3", "a3", "1@a1", "pass", "nonsense", "\ud800")
SOME_NAMES = ("ana", "RUI", "eva", "random-bot", "nobody")
ME, OPEN, BOT = SeatRequest("me"), SeatRequest(), SeatRequest("bot", "random")
SEATS = (
    *((ME, OPEN), (ME, OPEN), (ME, OPEN), (OPEN, ME), (OPEN, ME), (OPEN, OPEN)),
    *((BOT, OPEN), (ME, BOT), (BOT, ME), (BOT, BOT), (ME, ME)),
)
LAG_MAX_MS = 500

times_ms = st.sampled_from((0, 1, 900, 900, 6_000, 6_000, 45_000, 150_000, 700_000, 90_000_000))
actors = st.sampled_from((0, 0, 1, 1, *GUESTS, bot_account(0), bot_account(1)))
"""Who acts: whoever holds seat 0 or 1, or somebody by name."""
guests = st.sampled_from(GUESTS)
match_offsets = st.sampled_from((0, 0, 0, 1))
players = st.sampled_from(PLAYERS)
chance = st.builds(Chance, st.integers(0, 3), st.booleans())
levels = st.sampled_from((*LEVELS, "genius", None))
secrets = st.sampled_from((SECRETS.invite, SECRETS.invite, SECRETS.watch, "wrong", None))
kinds = st.sampled_from(("draw", "takeback", "rematch"))
room_settings = st.builds(
    RoomSettings,
    time_control=st.sampled_from(CONTROLS),
    is_private=st.booleans(),
    is_casual=st.booleans(),
    first=st.sampled_from(("seated", "draw")),
    may_undo=st.sampled_from((True, True, False)),
    late_bot=st.sampled_from((None, LateBot("random", 0), LateBot("random", 60_000))),
    stand_in_level=st.sampled_from((None, None, "random")),
    away_after_ms=st.sampled_from((5_000, 120_000)),
    hides_watcher_chat=st.booleans(),
    counts_downtime=st.booleans(),
    hints=st.booleans(),
).filter(lambda chosen: chosen.is_casual or not chosen.hints)
openings = st.tuples(
    st.sampled_from(GAMES),
    room_settings,
    st.sampled_from(SEATS),
    st.sampled_from((True, True, True, False)),
    chance,
    st.sampled_from((RoomLimits(), RoomLimits(first_turn_ms=3_000, long_first_turn_ms=60_000))),
)
"""Game, settings, seats, whether rui joins at once, chance, limits."""


def check_matches(before: RoomState, after: RoomState, event: Event) -> None:
    """Only the events of a match change it."""
    if before.match is not None and before.match.termination is not None:
        assert after.match == before.match or isinstance(event, MatchStarted)
    if before.match is not None and after.match is not None and before.match.number == after.match.number:
        assert after.match.revision >= before.match.revision
        assert after.match.players == before.match.players


def check_clocks(before: RoomState, after: RoomState, event: Event, now_ms: int) -> None:
    """Nobody's time grows but by an increment, or to a whole period or turn."""
    old, new = before.match, after.match
    if old is None or new is None or old.number != new.number:
        return
    control = before.settings.time_control
    for player in PLAYERS:
        was = player_clock_at(control, old.clock, player, now_ms if old.clock.since_ms is not None else 0)
        before_total = total_remaining_ms(control, old.clock, player, now_ms)
        after_total = total_remaining_ms(control, new.clock, player, now_ms)
        if before_total is None or after_total is None:
            continue
        gain_ms = after_total - before_total
        allowed_ms = 0
        finished_turn = isinstance(event, ActionsPlayed) and event.player == player
        if finished_turn or (isinstance(event, TurnTakenBack) and old.clock.running == player):
            allowed_ms = turn_gain_ms(control, was.stage_ms)
        if finished_turn:
            allowed_ms += was.lag_quota_ms
        if isinstance(event, RoomResumed) and not before.settings.counts_downtime:
            allowed_ms = 10**9
        assert gain_ms <= allowed_ms, (event, player, gain_ms)


def turn_gain_ms(control: Any, stage_ms: int) -> int:
    """The most that the end of a turn can give."""
    match control:
        case Fischer(increment_ms=increment_ms):
            return increment_ms
        case ByoYomi(period_ms=period_ms):
            return max(period_ms - stage_ms, 0)
        case FixedTurn() | Correspondence():
            return control.turn_ms - stage_ms
        case _:
            return 0
