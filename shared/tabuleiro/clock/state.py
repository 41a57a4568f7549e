"""The clock of a match: the time left to each player, the running player, the fall of the flag.

All functions are total and pure: they take the time control, a clock and the moment of an event, and give a new
clock. A moment before the running turn began (the machine's clock was set back) charges nothing. The time
of a player grows only by the increment at the end of a turn, and by the reset of a period or a fixed turn.

The room refuses a turn by a player whose flag has fallen; here a clock that has run out stays at 0.
"""

from __future__ import annotations

from typing import Annotated, Final, assert_never

import msgspec
from msgspec.structs import replace

from tabuleiro.clock.controls import ByoYomi, Correspondence, Fischer, FixedTurn, NoClock, TimeControl
from tabuleiro.ids import Player

NotNegative = Annotated[int, msgspec.Meta(ge=0)]

LAG_CAP_PER_TURN_MS: Final = 500
"""The most that a single turn is compensated for lag, in milliseconds."""

LAG_QUOTA_MAX_MS: Final = 10_000
"""The most that a player is compensated for lag in a whole match, in milliseconds."""

_LAG_QUOTA_TURNS: Final = 40
_LAG_QUOTA_DIVISOR: Final = 20


class PlayerClock(msgspec.Struct, frozen=True, gc=False):
    """The time left to one player.

    ``stage_ms`` is the time left in the stage the player is in: the main time, the current period, or the turn;
    0 once the flag has fallen (and always under :class:`NoClock`). ``periods_left`` counts the byo-yomi
    periods not yet begun, 0 for other time controls. ``lag_quota_ms`` is the lag that can still be compensated.
    ``prepaid_turns`` counts turns that were taken back after their increment was paid: as many coming turns
    earn none.
    """

    stage_ms: NotNegative
    periods_left: NotNegative = 0
    lag_quota_ms: NotNegative = 0
    prepaid_turns: NotNegative = 0


class ClockState(msgspec.Struct, frozen=True, gc=False):
    """The clock of a match at its last change.

    ``players`` holds the time of player 0 and player 1 at ``since_ms``. ``running`` is the player whose turn
    is timed, ``None`` before, between and after turns. ``since_ms`` is the moment (milliseconds since 1970-01-01
    UTC by the server's clock) from which the running player's time counts, ``None`` while the clock is paused or
    nothing runs.
    """

    players: tuple[PlayerClock, PlayerClock]
    running: Player | None = None
    since_ms: int | None = None


def new_clock(control: TimeControl) -> ClockState:
    """Make the clock of a match that has not begun: both players have everything, nothing runs.

    >>> new_clock(ByoYomi(main_ms=600_000, period_ms=30_000, periods=5)).players[0]
    PlayerClock(stage_ms=600000, periods_left=5, lag_quota_ms=10000, prepaid_turns=0)
    """
    stage_ms, periods = _whole_time(control)
    player = PlayerClock(stage_ms, periods, lag_quota_ms(control))
    return ClockState((player, player))


def begin_turn(control: TimeControl, clock: ClockState, player: Player, now_ms: int) -> ClockState:
    """Start ``player``'s time at ``now_ms``.

    If somebody's time still runs, it is charged first without an increment or a reset; that turn doesn't count
    as played.

    >>> control = Fischer(initial_ms=60_000, increment_ms=2_000)
    >>> clock = begin_turn(control, new_clock(control), 0, now_ms=1_000)
    >>> clock.running, clock.since_ms
    (0, 1000)
    """
    return ClockState(_settled(control, clock, now_ms), player, now_ms)


def end_turn(control: TimeControl, clock: ClockState, now_ms: int, lag_ms: int = 0) -> ClockState:
    """Charge the running player for the turn as a whole, give what a played turn earns, and let nothing run.

    ``lag_ms`` is the time that the player's messages spend on the way, as the server measured it; so much of
    ``compensation_ms`` as the turn really lasted (since its last resumption) is not charged. Then a Fischer clock
    gets its increment, a period begun or a fixed turn is whole again. A player who has run out gets nothing of it.
    Without a running player the clock is returned as it is.

    >>> control = Fischer(initial_ms=60_000, increment_ms=2_000)
    >>> clock = begin_turn(control, new_clock(control), 0, now_ms=1_000)
    >>> end_turn(control, clock, now_ms=11_000).players[0].stage_ms
    52000
    >>> end_turn(control, clock, now_ms=11_000, lag_ms=120).players[0].stage_ms
    52120
    """
    if clock.running is None:
        return clock
    if isinstance(control, NoClock):
        return ClockState(clock.players)
    elapsed_ms = _elapsed_ms(clock, now_ms)
    spared_ms = min(elapsed_ms, compensation_ms(clock, lag_ms))
    before = clock.players[clock.running]
    charged = _charged(control, before, elapsed_ms - spared_ms)
    charged = replace(charged, lag_quota_ms=before.lag_quota_ms - spared_ms)
    earned = _reset(control, _paid(control, charged))
    return ClockState(_with_player(clock.players, clock.running, earned))


def stop(control: TimeControl, clock: ClockState, now_ms: int) -> ClockState:
    """Freeze the clock at the end of a match: charge what ran, earn nothing, let nothing run.

    >>> control = FixedTurn(60_000)
    >>> stopped = stop(control, begin_turn(control, new_clock(control), 0, now_ms=0), now_ms=15_000)
    >>> stopped.running, [player.stage_ms for player in stopped.players]
    (None, [45000, 60000])
    """
    return ClockState(_settled(control, clock, now_ms))


def pause(control: TimeControl, clock: ClockState, now_ms: int) -> ClockState:
    """Let no time count from ``now_ms`` until ``resume``; it stays the same player's turn.

    After a crash, ``now_ms`` is the last moment at which the server is known to have been up. Nothing changes
    when nothing runs or the clock is already paused.

    >>> control = FixedTurn(60_000)
    >>> clock = begin_turn(control, new_clock(control), 0, now_ms=0)
    >>> clock = resume(control, pause(control, clock, now_ms=10_000), now_ms=900_000)
    >>> remaining_ms(control, clock, 0, now_ms=905_000)
    45000
    """
    return ClockState(_settled(control, clock, now_ms), clock.running)


def resume(control: TimeControl, clock: ClockState, now_ms: int) -> ClockState:
    """Let the paused turn go on at ``now_ms``. A clock that is not paused is returned as it is."""
    return replace(clock, since_ms=now_ms) if is_paused(clock) else clock


def take_back(
    control: TimeControl, clock: ClockState, player: Player, now_ms: int, undone_turns: tuple[int, int]
) -> ClockState:
    """Start ``player``'s time again after whole turns were taken back.

    ``undone_turns`` counts the finished turns that player 0 and player 1 lose by it; the turn in progress is
    not one of them.

    The policy: time used stays used, also that of the turn now broken off; otherwise a player could think for free
    and take the turn back. A paid increment stays too, because taking it away could drop a flag, but the turn
    played instead earns none: taking back and playing again never gains time. The turn broken off leaves its
    period or its fixed turn whole, as a finished one does, because the player will begin a new one. Used periods
    stay used.

    >>> control = Fischer(initial_ms=60_000, increment_ms=2_000)
    >>> clock = end_turn(control, begin_turn(control, new_clock(control), 0, now_ms=0), now_ms=5_000)
    >>> clock = begin_turn(control, clock, 1, now_ms=5_000)
    >>> clock = take_back(control, clock, 0, now_ms=8_000, undone_turns=(1, 0))
    >>> clock.running, [player.stage_ms for player in clock.players]
    (0, [57000, 57000])
    >>> end_turn(control, clock, now_ms=9_000).players[0].stage_ms
    56000
    """
    players = _settled(control, clock, now_ms)
    if clock.running is not None:
        players = _with_player(players, clock.running, _reset(control, players[clock.running]))
    first, second = players
    first = _with_undone(control, first, undone_turns[0])
    second = _with_undone(control, second, undone_turns[1])
    return ClockState((first, second), player, now_ms)


def player_clock_at(control: TimeControl, clock: ClockState, player: Player, now_ms: int) -> PlayerClock:
    """Return the time left to ``player`` at ``now_ms``, lag not compensated."""
    if clock.running != player:
        return clock.players[player]
    return _charged(control, clock.players[player], _elapsed_ms(clock, now_ms))


def remaining_ms(control: TimeControl, clock: ClockState, player: Player, now_ms: int) -> int | None:
    """Return the milliseconds left in the player's main time, period or turn; ``None`` without a clock.

    Never negative, and 0 only when the flag has fallen; under byo-yomi ``periods_left`` belongs to it.
    A client passes its own time plus ``offset_bound_ms`` and so never shows more than the server has.

    >>> control = ByoYomi(main_ms=10_000, period_ms=30_000, periods=5)
    >>> clock = begin_turn(control, new_clock(control), 0, now_ms=0)
    >>> [(remaining_ms(control, clock, 0, t), periods_left(control, clock, 0, t)) for t in (9_000, 15_000, 45_000)]
    [(1000, 5), (25000, 4), (25000, 3)]
    """
    if isinstance(control, NoClock):
        return None
    return player_clock_at(control, clock, player, now_ms).stage_ms


def periods_left(control: TimeControl, clock: ClockState, player: Player, now_ms: int) -> int:
    """Return the number of byo-yomi periods not begun at ``now_ms``; 0 for other time controls."""
    return player_clock_at(control, clock, player, now_ms).periods_left


def total_remaining_ms(control: TimeControl, clock: ClockState, player: Player, now_ms: int) -> int | None:
    """Return the milliseconds until the player's flag would fall, all periods included; ``None`` without a clock.

    >>> control = ByoYomi(main_ms=10_000, period_ms=30_000, periods=5)
    >>> total_remaining_ms(control, new_clock(control), 0, now_ms=0)
    160000
    """
    if isinstance(control, NoClock):
        return None
    return _total_ms(control, player_clock_at(control, clock, player, now_ms))


def flag_deadline_ms(control: TimeControl, clock: ClockState, lag_ms: int = 0) -> int | None:
    """Return the first moment at which the running player's flag has fallen, ``None`` when none can fall.

    All periods are counted. ``lag_ms`` is the lag of the running player that ``end_turn`` would be told: a turn
    sent in time may arrive that much later, so far as the compensation goes. A timer set for this moment with the
    player's lag cuts off no such turn. It is ``since_ms`` when the flag had fallen before.

    >>> control = FixedTurn(60_000)
    >>> clock = begin_turn(control, new_clock(control), 0, now_ms=5_000)
    >>> flag_deadline_ms(control, clock), flag_deadline_ms(control, clock, lag_ms=80)
    (65000, 65080)
    """
    if isinstance(control, NoClock) or clock.running is None or clock.since_ms is None:
        return None
    total_ms = _total_ms(control, clock.players[clock.running])
    # A flag that had fallen before is not lifted by lag.
    return clock.since_ms + total_ms + (compensation_ms(clock, lag_ms) if total_ms else 0)


def has_flagged(control: TimeControl, clock: ClockState, now_ms: int, lag_ms: int = 0) -> bool:
    """Return True if the running player is out of time at ``now_ms``; never while paused or when nothing runs.

    ``lag_ms`` as for ``flag_deadline_ms``. A flag that had fallen before the turn was last begun or resumed is
    down at every moment.
    """
    deadline_ms = flag_deadline_ms(control, clock, lag_ms)
    return deadline_ms is not None and (now_ms >= deadline_ms or deadline_ms == clock.since_ms)


def is_paused(clock: ClockState) -> bool:
    """Return True if a turn is in progress and its time does not count now."""
    return clock.running is not None and clock.since_ms is None


def offset_bound_ms(asked_ms: int, server_ms: int) -> int:
    """Return the most that the server's clock can be ahead of the client's, from one question and its answer.

    ``asked_ms`` is the client's time when it sent the question, ``server_ms`` the server's when it answered.
    The answer was written after the question was sent, so the client's time plus this is never before the
    server's; the smallest of several bounds is the closest one.

    >>> offset_bound_ms(asked_ms=1_000, server_ms=5_040)
    4040
    """
    return server_ms - asked_ms


def lag_quota_ms(control: TimeControl) -> int:
    """Return the lag in milliseconds that each player is compensated for in a match of this time control.

    A twentieth of the time of 40 turns, at most ``LAG_QUOTA_MAX_MS``; 0 without a clock and for days a turn.

    >>> lag_quota_ms(Fischer(60_000, 0)), lag_quota_ms(Fischer(300_000, 3_000))
    (3000, 10000)
    """
    match control:
        case NoClock() | Correspondence():
            return 0
        case Fischer(initial_ms=initial_ms, increment_ms=increment_ms):
            match_ms = initial_ms + _LAG_QUOTA_TURNS * increment_ms
        case ByoYomi(main_ms=main_ms, period_ms=period_ms):
            match_ms = main_ms + _LAG_QUOTA_TURNS * period_ms
        case FixedTurn(turn_ms=turn_ms):
            match_ms = _LAG_QUOTA_TURNS * turn_ms
        case _:
            assert_never(control)
    return min(match_ms // _LAG_QUOTA_DIVISOR, LAG_QUOTA_MAX_MS)


def compensation_ms(clock: ClockState, lag_ms: int) -> int:
    """Return the most that the running player's turn can be spared for ``lag_ms``; 0 when nothing runs.

    It is ``lag_ms`` (below 0 counts as 0), but no more than the player's quota and ``LAG_CAP_PER_TURN_MS``.
    """
    if clock.running is None:
        return 0
    return min(max(lag_ms, 0), clock.players[clock.running].lag_quota_ms, LAG_CAP_PER_TURN_MS)


def _whole_time(control: TimeControl) -> tuple[int, int]:
    """Return the first stage in milliseconds and the number of periods after it."""
    match control:
        case NoClock():
            return 0, 0
        case Fischer(initial_ms=initial_ms):
            return initial_ms, 0
        case ByoYomi(main_ms=0, period_ms=period_ms, periods=periods):
            return period_ms, periods - 1
        case ByoYomi(main_ms=main_ms, periods=periods):
            return main_ms, periods
        case FixedTurn() | Correspondence():
            return control.turn_ms, 0
        case _:
            assert_never(control)


def _elapsed_ms(clock: ClockState, now_ms: int) -> int:
    """Return the time of the running turn that is not charged yet."""
    return 0 if clock.since_ms is None else max(now_ms - clock.since_ms, 0)


def _charged(control: TimeControl, player: PlayerClock, spent_ms: int) -> PlayerClock:
    """Return ``player`` after ``spent_ms`` more; the next stage follows one that is used up."""
    if spent_ms < player.stage_ms:
        return replace(player, stage_ms=player.stage_ms - spent_ms)
    if isinstance(control, ByoYomi):
        used, into_ms = divmod(spent_ms - player.stage_ms, control.period_ms)
        if used < player.periods_left:
            return replace(
                player, stage_ms=control.period_ms - into_ms, periods_left=player.periods_left - used - 1
            )
    return replace(player, stage_ms=0, periods_left=0)


def _settled(control: TimeControl, clock: ClockState, now_ms: int) -> tuple[PlayerClock, PlayerClock]:
    """Return the players with the running turn charged up to ``now_ms``."""
    if clock.running is None:
        return clock.players
    return player_clock_at(control, clock, 0, now_ms), player_clock_at(control, clock, 1, now_ms)


def _paid(control: TimeControl, player: PlayerClock) -> PlayerClock:
    """Return ``player`` with the increment of a finished turn, unless paid before or out of time."""
    if not isinstance(control, Fischer) or not player.stage_ms:
        return player
    if player.prepaid_turns:
        return replace(player, prepaid_turns=player.prepaid_turns - 1)
    return replace(player, stage_ms=player.stage_ms + control.increment_ms)


def _reset(control: TimeControl, player: PlayerClock) -> PlayerClock:
    """Return ``player`` with the period begun or the fixed turn made whole, unless the flag has fallen."""
    if not player.stage_ms:
        return player
    match control:
        case ByoYomi(period_ms=period_ms, periods=periods) if player.periods_left < periods:
            return replace(player, stage_ms=period_ms)
        case FixedTurn() | Correspondence():
            return replace(player, stage_ms=control.turn_ms)
        case _:
            return player


def _total_ms(control: TimeControl, player: PlayerClock) -> int:
    """Return the time until the flag falls, from now on."""
    period_ms = control.period_ms if isinstance(control, ByoYomi) else 0
    return player.stage_ms + player.periods_left * period_ms


def _with_undone(control: TimeControl, player: PlayerClock, undone_turns: int) -> PlayerClock:
    """Return ``player`` whose next turns earn no increment, as those undone did."""
    if not isinstance(control, Fischer):
        return player
    return replace(player, prepaid_turns=player.prepaid_turns + undone_turns)


def _with_player(
    players: tuple[PlayerClock, PlayerClock], player: Player, value: PlayerClock
) -> tuple[PlayerClock, PlayerClock]:
    """Return ``players`` with ``value`` in the place of ``player``."""
    first, second = players
    return (value, second) if player == 0 else (first, value)
