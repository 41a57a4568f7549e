"""Descriptors of settings and options: plain data about the values that people may choose.

A descriptor has a key, a label and a help text for people, the kind of its values and their range. Command lines,
``set KEY VALUE``, menus and forms are built from descriptors, so that a setting has one name, one range and one
help text everywhere. Games list their options in their own modules, :mod:`tabuleiro.settings` those of rooms.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any, Final

from tabuleiro.errors import NotationError
from tabuleiro.text import format_duration, one_of, parse_duration_ms

YES: Final = "yes"
NO: Final = "no"
NONE: Final = "none"
"""The text of a setting without a value: no clock, no bot."""

LEVEL_MAX_CHARS: Final = 300


@dataclass(frozen=True, slots=True)
class Descriptor:
    """Describe a setting of a room or an option of a game.

    ``key`` names it on command lines and in texts. ``target`` is the field of the room's settings that it sets,
    empty for an option of a game. ``needs`` is the key of a yes-or-no setting without which this one has no
    effect. A setting that ``is_promise`` is fixed when the room is made.
    """

    key: str
    help: str
    label: str = ""
    target: str = ""
    needs: str = ""
    is_promise: bool = False

    def __post_init__(self) -> None:
        if not self.label:
            object.__setattr__(self, "label", self.key.replace("_", " ").replace("-", " "))

    @property
    def expected(self) -> str:
        """The possible values in words, for messages and forms."""
        raise NotImplementedError

    def parse(self, text: str) -> Any:
        """Read a value as a person types it.

        Raises:
            NotationError: The text is no possible value.
        """
        try:
            return self._read(text.strip())
        except ValueError:
            raise NotationError(text, self.expected) from None

    def format(self, value: Any) -> str:
        """Write a value as a person types it."""
        return str(value)

    def _read(self, text: str) -> Any:
        """Read a value. Raises: ValueError, NotationError."""
        raise NotImplementedError


@dataclass(frozen=True, slots=True, kw_only=True)
class NumberSetting(Descriptor):
    """A whole number from ``low`` to ``high``; a ``default`` of ``None`` is computed by the game."""

    kind: str = field(default="number", init=False)

    low: int
    high: int
    default: int | None = None

    @property
    def expected(self) -> str:
        return f"a whole number from {self.low} to {self.high}"

    def is_valid(self, value: object) -> bool:
        """Return True if ``value`` is a possible value."""
        return isinstance(value, int) and not isinstance(value, bool) and self.low <= value <= self.high

    def _read(self, text: str) -> int:
        if not (text.isascii() and text.isdigit() and len(text) <= 12 and self.is_valid(int(text))):
            raise ValueError
        return int(text)


@dataclass(frozen=True, slots=True, kw_only=True)
class ChoiceSetting(Descriptor):
    """One of the words in ``choices``."""

    kind: str = field(default="choice", init=False)

    choices: tuple[str, ...]
    default: str

    @property
    def expected(self) -> str:
        return one_of(self.choices)

    def is_valid(self, value: object) -> bool:
        """Return True if ``value`` is a possible value."""
        return isinstance(value, str) and value in self.choices

    def _read(self, text: str) -> str:
        if text.lower() not in self.choices:
            raise ValueError
        return text.lower()


@dataclass(frozen=True, slots=True, kw_only=True)
class PositionSetting(Descriptor):
    """A position text that a match starts from; absent by default. Source: RULES.md, "Words".

    Its content depends on the other options, so the game reads it after all of them are known.
    """

    kind: str = field(default="position", init=False)

    default: None = None
    max_chars: int = 600

    @property
    def expected(self) -> str:
        return f"a position text of at most {self.max_chars} characters"

    def is_valid(self, value: object) -> bool:
        """Return True if ``value`` may be a position text; the game reads it."""
        return isinstance(value, str) and len(value) <= self.max_chars

    def _read(self, text: str) -> str:
        if not self.is_valid(text):
            raise ValueError
        return text


@dataclass(frozen=True, slots=True, kw_only=True)
class YesNoSetting(Descriptor):
    """Yes or no. ``values`` are the two values of the field, that of no first."""

    kind: str = field(default="yes-no", init=False)

    values: tuple[bool | str, bool | str] = (False, True)

    @property
    def expected(self) -> str:
        return "yes or no"

    def format(self, value: bool | str) -> str:
        return YES if value == self.values[1] else NO

    def _read(self, text: str) -> bool | str:
        match text.lower():
            case "yes" | "y":
                return self.values[1]
            case "no" | "n":
                return self.values[0]
        raise ValueError


@dataclass(frozen=True, slots=True, kw_only=True)
class DurationSetting(Descriptor):
    """A length of time from ``low_ms`` to ``high_ms``, in milliseconds; a bare number counts seconds."""

    kind: str = field(default="duration", init=False)

    low_ms: int
    high_ms: int

    @property
    def expected(self) -> str:
        return f"{format_duration(self.low_ms)} to {format_duration(self.high_ms)}, e.g. 30s, 2m or 1d"

    def format(self, value: int) -> str:
        return format_duration(value)

    def _read(self, text: str) -> int:
        return read_duration_ms(text, self.low_ms, self.high_ms)


@dataclass(frozen=True, slots=True, kw_only=True)
class LevelSetting(Descriptor):
    """The level of a bot, ``None`` for no bot. The known levels depend on the server and the game."""

    kind: str = field(default="level", init=False)

    @property
    def expected(self) -> str:
        return f"the level of a bot, or {NONE}"

    def format(self, value: str | None) -> str:
        return value or NONE

    def _read(self, text: str) -> str | None:
        return None if text.lower() == NONE else read_level(text)


def read_level(text: str) -> str:
    """Return the text of a level. Raises: ValueError."""
    if not 1 <= len(text) <= LEVEL_MAX_CHARS:
        raise ValueError
    return text


def read_duration_ms(text: str, low_ms: int, high_ms: int) -> int:
    """Read a length of time within a range. Raises: ValueError."""
    try:
        duration_ms = parse_duration_ms(text)
    except NotationError:
        raise ValueError from None
    if not low_ms <= duration_ms <= high_ms:
        raise ValueError
    return duration_ms


GameOption = NumberSetting | ChoiceSetting | PositionSetting
"""A descriptor of an option of games."""
