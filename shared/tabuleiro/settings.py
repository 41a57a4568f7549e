"""Settings of rooms: their values, and the table of their descriptors."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Annotated, Final, Literal

import msgspec
from msgspec.structs import replace

from tabuleiro.clock import NO_CLOCK, TIME_CONTROL_FORMS, TimeControl, format_time_control, parse_time_control
from tabuleiro.descriptors import (
    LEVEL_MAX_CHARS,
    NONE,
    Descriptor,
    DurationSetting,
    LevelSetting,
    YesNoSetting,
    read_duration_ms,
    read_level,
)
from tabuleiro.errors import NotationError
from tabuleiro.ids import DAY_MS, MINUTE_MS, SECOND_MS
from tabuleiro.text import format_duration, one_of

AWAY_MIN_MS: Final = 5 * SECOND_MS
AWAY_MAX_MS: Final = 14 * DAY_MS

Level = Annotated[str, msgspec.Meta(min_length=1, max_length=LEVEL_MAX_CHARS)]
AwayMs = Annotated[int, msgspec.Meta(ge=AWAY_MIN_MS, le=AWAY_MAX_MS)]


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
    ``first``: ``seated`` (seat 0 begins, or the side to move of an option ``position``) or ``draw`` (the seats are
    drawn when the match starts).
    ``may_undo``: own actions of a turn that is not complete may be undone.
    ``late_bot``: see :class:`LateBot`; ``None``: the room waits for people.
    ``stand_in_level``: a bot of this level plays for an absent player; ``None``: the match waits.
    ``away_after_ms``: after so long without a connection a player is absent: the win may be claimed, or, if the
    room has a stand-in, that one takes over instead.
    ``hides_watcher_chat``: players don't see the chat of watchers while the match runs.
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
    ``idle_match_ms``: a match without a clock and without any event is aborted; one that no person has moved in
    after ``waiting_ms``.
    ``finished_ms``: a finished room is closed.
    ``first_turn_ms``: a match on a clock under an hour is aborted whose player to move has not made a first turn;
    the clock starts when both have. ``long_first_turn_ms`` is the same for longer clocks. With 0 the clock runs
    from the beginning, as in rooms of older servers.
    """

    empty_seat_ms: int = 10 * MINUTE_MS
    waiting_ms: int = DAY_MS
    idle_match_ms: int = 60 * DAY_MS
    finished_ms: int = 2 * DAY_MS
    first_turn_ms: int = 0
    long_first_turn_ms: int = 0


@dataclass(frozen=True, slots=True, kw_only=True)
class ClockSetting(Descriptor):
    """A time control."""

    kind: str = field(default="clock", init=False)

    @property
    def expected(self) -> str:
        return TIME_CONTROL_FORMS

    def format(self, value: TimeControl) -> str:
        return format_time_control(value)

    def _read(self, text: str) -> TimeControl:
        return parse_time_control(text)


@dataclass(frozen=True, slots=True, kw_only=True)
class LateBotSetting(Descriptor):
    """A :class:`LateBot`, ``None`` for no bot; typed as level and time, e.g. ``easy:60``."""

    kind: str = field(default="late-bot", init=False)

    @property
    def expected(self) -> str:
        return f"LEVEL:TIME, e.g. easy:60 or easy:5m, at most 1d; or {NONE}"

    def format(self, value: LateBot | None) -> str:
        return NONE if value is None else f"{value.level}:{format_duration(value.after_ms)}"

    def _read(self, text: str) -> LateBot | None:
        if text.lower() == NONE:
            return None
        level, _, after = text.rpartition(":")
        return LateBot(read_level(level), read_duration_ms(after, 0, DAY_MS))


RoomSetting = YesNoSetting | ClockSetting | DurationSetting | LevelSetting | LateBotSetting
"""A descriptor of a setting of rooms."""

ROOM_SETTINGS: Final[tuple[RoomSetting, ...]] = (
    ClockSetting("time", "the clock of each match", "time control", "time_control"),
    YesNoSetting("private", "not listed, needs an invitation", target="is_private", is_promise=True),
    YesNoSetting("casual", "bots let you take turns back", target="is_casual"),
    YesNoSetting("hints", "players may ask for a turn; all see it", target="hints", needs="casual"),
    YesNoSetting("draw-first", "choose the first player at random", target="first", values=("seated", "draw")),
    YesNoSetting("undo", "undo within an unfinished turn", target="may_undo"),
    LateBotSetting("late-bot", "a bot takes the seat if nobody does", target="late_bot"),
    LevelSetting("stand-in", "a bot plays for an absent player", "stand-in", "stand_in_level"),
    DurationSetting(
        "away",
        "absent after so long offline, e.g. 2m",
        "away after",
        "away_after_ms",
        low_ms=AWAY_MIN_MS,
        high_ms=AWAY_MAX_MS,
    ),
    YesNoSetting("hide-watcher-chat", "players don't see watchers' chat", target="hides_watcher_chat"),
    YesNoSetting(
        "count-downtime", "clocks run while the server is down", target="counts_downtime", is_promise=True
    ),
)
"""The settings of rooms, in the order in which people are asked for them."""

_BY_KEY: Final = {setting.key: setting for setting in ROOM_SETTINGS}


def room_setting(key: str) -> RoomSetting:
    """Return the descriptor of a setting of rooms. Raises: KeyError."""
    return _BY_KEY[key]


def format_setting(settings: RoomSettings, setting: RoomSetting) -> str:
    """Write the value of one setting as a person types it.

    >>> format_setting(RoomSettings(), room_setting("away"))
    '2m'
    """
    value = getattr(settings, setting.target)
    return setting.format(value)


def change_setting(settings: RoomSettings, text: str) -> RoomSettings:
    """Return settings with one change, typed as key and value.

    Raises:
        NotationError: The text names no setting that can be changed, or no possible value of it.

    >>> change_setting(RoomSettings(), "undo no").may_undo
    False
    >>> change_setting(RoomSettings(), "late-bot random:60").late_bot
    LateBot(level='random', after_ms=60000)
    """
    key, _, value = text.strip().partition(" ")
    setting = _BY_KEY.get(key.lower())
    if setting is None or setting.is_promise or not value.strip():
        known = one_of([each.key for each in ROOM_SETTINGS if not each.is_promise])
        raise NotationError(text, f"{known}, and its value: e.g. time 5+3, or undo no")
    return replace(settings, **{setting.target: setting.parse(value)})
