"""A clock through whole matches of random events, against a plain account of every millisecond."""

from __future__ import annotations

from typing import Literal

from hypothesis import settings
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, initialize, invariant, precondition, rule

from tabuleiro.clock import (
    NO_CLOCK,
    ByoYomi,
    ClockState,
    Correspondence,
    Fischer,
    FixedTurn,
    TimeControl,
    begin_turn,
    compensation_ms,
    end_turn,
    flag_deadline_ms,
    has_flagged,
    is_paused,
    lag_quota_ms,
    new_clock,
    pause,
    player_clock_at,
    resume,
    stop,
    take_back,
    total_remaining_ms,
)

BOTH: tuple[Literal[0, 1], ...] = (0, 1)
CONTROLS: list[TimeControl] = [
    NO_CLOCK,
    Fischer(20_000, 0),
    Fischer(10_000, 2_000),
    ByoYomi(8_000, 4_000, 3),
    ByoYomi(0, 5_000, 4),
    FixedTurn(6_000),
    Correspondence(1),
]


class ClockMatch(RuleBasedStateMachine):
    """Two players, a server that goes down and whose time jumps, takebacks, and one flag at most."""

    def __init__(self) -> None:
        super().__init__()
        self.now_ms = 1_000_000
        self.spent_ms = [0, 0]
        self.turns = [0, 0]
        """Turns of each player that stand: finished and not taken back."""
        self.paid_turns = [0, 0]
        """The most turns that ever stood: so many increments were earned."""

    @initialize(control=st.sampled_from(CONTROLS))
    def start(self, control: TimeControl) -> None:
        self.control = control
        self.clock: ClockState = new_clock(control)
        self.lag_quotas_ms = [lag_quota_ms(control), lag_quota_ms(control)]

    def is_playable(self) -> bool:
        is_running = self.clock.running is not None and not is_paused(self.clock)
        return is_running and not has_flagged(self.control, self.clock, self.now_ms)

    def uncharged_ms(self) -> int:
        return max(self.now_ms - self.clock.since_ms, 0) if self.clock.since_ms is not None else 0

    def charge(self, spared_ms: int = 0) -> None:
        """Keep the account: the running player pays for the time since it was last counted."""
        if self.clock.running is not None:
            self.spent_ms[self.clock.running] += self.uncharged_ms() - spared_ms

    @rule(by_ms=st.one_of(st.integers(0, 3_000), st.integers(-3_000, 9_000)))
    def time_passes(self, by_ms: int) -> None:
        self.now_ms += by_ms

    @precondition(lambda self: self.clock.running is None)
    @rule(player=st.sampled_from(BOTH))
    def begin(self, player: Literal[0, 1]) -> None:
        self.clock = begin_turn(self.control, self.clock, player, self.now_ms)

    @precondition(lambda self: self.is_playable())
    @rule(lag_ms=st.integers(0, 700), goes_on=st.booleans())
    def end(self, lag_ms: int, goes_on: bool) -> None:
        mover = self.clock.running
        assert mover is not None
        spared_ms = min(self.uncharged_ms(), compensation_ms(self.clock, lag_ms))
        self.charge(spared_ms)
        self.turns[mover] += 1
        self.paid_turns[mover] = max(self.paid_turns[mover], self.turns[mover])
        self.clock = end_turn(self.control, self.clock, self.now_ms, lag_ms)
        if goes_on:
            self.clock = begin_turn(self.control, self.clock, 1 if mover == 0 else 0, self.now_ms)

    @precondition(lambda self: self.clock.running is not None)
    @rule()
    def server_goes_down(self) -> None:
        self.charge()
        self.clock = pause(self.control, self.clock, self.now_ms)

    @precondition(lambda self: is_paused(self.clock))
    @rule()
    def server_comes_back(self) -> None:
        self.clock = resume(self.control, self.clock, self.now_ms)

    @precondition(lambda self: self.is_playable())
    @rule(player=st.sampled_from(BOTH), data=st.data())
    def takeback(self, player: Literal[0, 1], data: st.DataObject) -> None:
        undone = (
            data.draw(st.integers(0, min(self.turns[0], 2))),
            data.draw(st.integers(0, min(self.turns[1], 2))),
        )
        self.charge()
        self.turns = [self.turns[0] - undone[0], self.turns[1] - undone[1]]
        self.clock = take_back(self.control, self.clock, player, self.now_ms, undone)

    @rule()
    def match_ends_and_stays_as_it_is(self) -> None:
        stopped = stop(self.control, self.clock, self.now_ms)
        assert flag_deadline_ms(self.control, stopped) is None
        for player in BOTH:
            at_end = player_clock_at(self.control, self.clock, player, self.now_ms)
            assert player_clock_at(self.control, stopped, player, self.now_ms + 10**9) == at_end

    @invariant()
    def fischer_time_is_what_was_given_less_what_was_spent(self) -> None:
        if not isinstance(self.control, Fischer):
            return
        for player in BOTH:
            running_ms = self.uncharged_ms() if self.clock.running == player else 0
            given_ms = self.control.initial_ms + self.paid_turns[player] * self.control.increment_ms
            left_ms = total_remaining_ms(self.control, self.clock, player, self.now_ms)
            assert left_ms == max(given_ms - self.spent_ms[player] - running_ms, 0)

    @invariant()
    def byo_yomi_time_never_exceeds_main_time_and_periods(self) -> None:
        if not isinstance(self.control, ByoYomi):
            return
        for player in BOTH:
            left = player_clock_at(self.control, self.clock, player, self.now_ms)
            in_main_time = left.periods_left == self.control.periods
            assert 0 <= left.stage_ms <= (self.control.main_ms if in_main_time else self.control.period_ms)
            if in_main_time:
                running_ms = self.uncharged_ms() if self.clock.running == player else 0
                assert left.stage_ms == self.control.main_ms - self.spent_ms[player] - running_ms

    @invariant()
    def fixed_turn_never_exceeds_itself_and_is_whole_while_it_waits(self) -> None:
        if not isinstance(self.control, FixedTurn | Correspondence):
            return
        for player in BOTH:
            left = player_clock_at(self.control, self.clock, player, self.now_ms)
            assert 0 <= left.stage_ms <= self.control.turn_ms
            assert self.clock.running == player or left.stage_ms == self.control.turn_ms

    @invariant()
    def lag_quota_only_shrinks_and_never_below_nothing(self) -> None:
        for player in BOTH:
            quota_ms = self.clock.players[player].lag_quota_ms
            assert 0 <= quota_ms <= self.lag_quotas_ms[player]
            self.lag_quotas_ms[player] = quota_ms

    @invariant()
    def flag_and_remaining_time_agree(self) -> None:
        if self.clock.running is not None and not is_paused(self.clock):
            left_ms = total_remaining_ms(self.control, self.clock, self.clock.running, self.now_ms)
            assert has_flagged(self.control, self.clock, self.now_ms) == (left_ms == 0)


ClockMatch.TestCase.settings = settings(max_examples=40, stateful_step_count=30)
TestClockMatch = ClockMatch.TestCase
