"""One setting of a room as its host types it, in the words of the command line: e.g. ``time 5+3``."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any, Final

from msgspec.structs import replace

from tabuleiro.clock import parse_time_control
from tabuleiro.errors import NotationError
from tabuleiro.ids import SECOND_MS
from tabuleiro.settings import LateBot, RoomSettings
from tabuleiro_client.line.settings_menu import read_away_s, read_late_s, read_yes

NONE: Final = "none"


def changed_settings(settings: RoomSettings, text: str) -> RoomSettings:
    """The settings with the change that ``text`` asks for. Raises: NotationError.

    >>> changed_settings(RoomSettings(), "undo no").may_undo
    False
    >>> changed_settings(RoomSettings(), "late-bot random:60").late_bot
    LateBot(level='random', after_ms=60000)
    """
    word, _, value = text.strip().partition(" ")
    read = _WORDS.get(word.lower())
    if read is None or not value.strip():
        raise NotationError(text, f"one of {', '.join(_WORDS)}, and its value: e.g. time 5+3, or undo no")
    return replace(settings, **read(value.strip()))


def _read_late_bot(text: str) -> LateBot | None:
    if text.lower() == NONE:
        return None
    level, _, seconds = text.rpartition(":")
    if not level:
        raise NotationError(text, "LEVEL:SECONDS, e.g. random:60, or none")
    return LateBot(level, read_late_s(seconds) * SECOND_MS)


_WORDS: Final[Mapping[str, Callable[[str], dict[str, Any]]]] = {
    "time": lambda text: {"time_control": parse_time_control(text)},
    "casual": lambda text: {"is_casual": read_yes(text)},
    "hints": lambda text: {"hints": read_yes(text)},
    "draw-first": lambda text: {"first": "draw" if read_yes(text) else "seated"},
    "undo": lambda text: {"may_undo": read_yes(text)},
    "late-bot": lambda text: {"late_bot": _read_late_bot(text)},
    "stand-in": lambda text: {"stand_in_level": None if text.lower() == NONE else text},
    "away": lambda text: {"away_after_ms": read_away_s(text) * SECOND_MS},
    "hide-watcher-chat": lambda text: {"hides_watcher_chat": read_yes(text)},
}
