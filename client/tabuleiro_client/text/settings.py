"""The settings of a room in words: what is not as usual."""

from __future__ import annotations

from tabuleiro.clock import NoClock, describe_time_control
from tabuleiro.settings import RoomSettings
from tabuleiro.text import spell_duration

_USUAL = RoomSettings()


def settings_text(settings: RoomSettings) -> str:
    """Everything about the room that is not as usual, parted by semicolons; empty when all is.

    >>> settings_text(RoomSettings(is_private=True, may_undo=False))
    'private; no undoing within a turn'
    """
    parts = []
    if not isinstance(settings.time_control, NoClock):
        parts.append(describe_time_control(settings.time_control))
    parts += ["private"] if settings.is_private else []
    parts += [] if settings.is_casual else ["not casual"]
    parts += ["hints are given"] if settings.hints else []
    parts += ["who begins is drawn"] if settings.first == "draw" else []
    parts += [] if settings.may_undo else ["no undoing within a turn"]
    if settings.late_bot is not None:
        after = spell_duration(settings.late_bot.after_ms)
        parts.append(f"a bot ({settings.late_bot.level}) takes the free seat after {after}")
    if settings.stand_in_level is not None:
        after = spell_duration(settings.away_after_ms)
        parts.append(f"a bot ({settings.stand_in_level}) plays for who is away for {after}")
    elif settings.away_after_ms != _USUAL.away_after_ms:
        parts.append(f"the win may be claimed over who is away for {spell_duration(settings.away_after_ms)}")
    parts += ["players don't see what watchers say"] if settings.hides_watcher_chat else []
    parts += ["clocks run on while the server is down"] if settings.counts_downtime else []
    return "; ".join(parts)
