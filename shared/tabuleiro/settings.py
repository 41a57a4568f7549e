"""The settings of a room, beside its game and the options of the game."""

from __future__ import annotations

from typing import Annotated, Literal

import msgspec

from tabuleiro.clock import NO_CLOCK, TimeControl
from tabuleiro.ids import DAY_MS, MINUTE_MS

Level = Annotated[str, msgspec.Meta(min_length=1, max_length=30)]
AwayMs = Annotated[int, msgspec.Meta(ge=5_000, le=14 * DAY_MS)]


class LateBot(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """A bot of ``level`` takes the open seat when nobody has.

    It comes ``after_ms`` after somebody began to wait on the other seat, and not while that one has no connection.
    """

    level: Level
    after_ms: Annotated[int, msgspec.Meta(ge=0, le=DAY_MS)]


class RoomSettings(msgspec.Struct, frozen=True, omit_defaults=True, forbid_unknown_fields=True):
    """The settings of a room; the defaults suit two friends.

    ``time_control``: the clock of each match.
    ``is_private``: unlisted, entered by code plus a secret part.
    ``is_casual``: bots agree to take turns back, and hints are possible.
    ``hints``: players may ask the server for a turn to play, and everybody is told; in casual rooms only.
    ``first``: ``seated`` (seat 0 begins) or ``draw`` (the seats are drawn when the match starts).
    ``may_undo``: own actions of a turn that is not complete may be undone.
    ``late_bot``: see :class:`LateBot`; ``None``: the room waits for people.
    ``stand_in_level``: a bot of this level plays for who stays away; ``None``: the match waits.
    ``away_after_ms``: after so long without a connection a player is away: the win may be claimed, or, if the
    room has a stand-in, that one takes over instead.
    ``hides_watcher_chat``: players don't see what watchers say while the match runs.
    ``counts_downtime``: clocks run on while the server is down.
    """

    time_control: TimeControl = NO_CLOCK
    is_private: bool = False
    is_casual: bool = True
    first: Literal["seated", "draw"] = "seated"
    may_undo: bool = True
    late_bot: LateBot | None = None
    stand_in_level: Level | None = None
    away_after_ms: AwayMs = 2 * MINUTE_MS
    hides_watcher_chat: bool = False
    counts_downtime: bool = False
    hints: bool = False


class RoomLimits(msgspec.Struct, frozen=True):
    """Idle timeouts, in milliseconds; from the server's config.

    ``empty_seat_ms``: a seat whose person has no connection while the room waits is freed.
    ``waiting_ms``: a waiting room without any event is closed.
    ``idle_match_ms``: a match without a clock and without any event is aborted.
    ``finished_ms``: a finished room is closed.
    """

    empty_seat_ms: int = 10 * MINUTE_MS
    waiting_ms: int = DAY_MS
    idle_match_ms: int = 60 * DAY_MS
    finished_ms: int = 2 * DAY_MS
