"""Options of games: what each may be, and the checking of what was given.

A game lists its options as specs; forms, command lines and the server read the same list.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

from tabuleiro.errors import GameOptionError

OptionValue = int | str
Options = Mapping[str, OptionValue]


@dataclass(frozen=True, slots=True)
class IntOption:
    """A whole number from ``low`` to ``high``; a ``default`` of ``None`` is worked out by the game."""

    name: str
    low: int
    high: int
    default: int | None
    help: str

    @property
    def expected(self) -> str:
        """What a value may be, for messages and forms."""
        return f"a whole number from {self.low} to {self.high}"

    def check(self, value: object) -> OptionValue:
        """Return ``value``. Raises: GameOptionError when it is no whole number in the range."""
        if isinstance(value, bool) or not isinstance(value, int) or not self.low <= value <= self.high:
            raise GameOptionError(self.name, value, self.expected)
        return value

    def from_text(self, text: str) -> OptionValue:
        """Read what a person typed. Raises: GameOptionError."""
        digits = text.strip()
        if not (digits.isascii() and digits.isdigit() and len(digits) <= 12):
            raise GameOptionError(self.name, text, self.expected)
        return self.check(int(digits))


@dataclass(frozen=True, slots=True)
class ChoiceOption:
    """One of the words in ``choices``."""

    name: str
    choices: tuple[str, ...]
    default: str
    help: str

    @property
    def expected(self) -> str:
        """What a value may be, for messages and forms."""
        return "one of " + ", ".join(self.choices)

    def check(self, value: object) -> OptionValue:
        """Return ``value``. Raises: GameOptionError when it is none of the choices."""
        if not isinstance(value, str) or value not in self.choices:
            raise GameOptionError(self.name, value, self.expected)
        return value

    def from_text(self, text: str) -> OptionValue:
        """Read what a person typed. Raises: GameOptionError."""
        return self.check(text.strip().lower())


@dataclass(frozen=True, slots=True)
class PositionOption:
    """A position text (RULES.md, "Words") that the match starts from; absent by default.

    Its content depends on the other options, so the game reads it after all of them are known.
    """

    help: str
    name: str = "position"
    default: None = None
    max_chars: int = 600

    @property
    def expected(self) -> str:
        """What a value may be, for messages and forms."""
        return f"a position text of at most {self.max_chars} characters"

    def check(self, value: object) -> OptionValue:
        """Return ``value``. Raises: GameOptionError when it is no text or far too long."""
        if not isinstance(value, str) or len(value) > self.max_chars:
            raise GameOptionError(self.name, value, self.expected)
        return value

    def from_text(self, text: str) -> OptionValue:
        """Read what a person typed. Raises: GameOptionError."""
        return self.check(text.strip())


OptionSpec = IntOption | ChoiceOption | PositionOption


def check_options(specs: Sequence[OptionSpec], given: Options) -> dict[str, OptionValue]:
    """Return ``given`` checked and completed with the defaults, in the order of the specs.

    Options whose default is ``None`` are left out when not given.

    Raises: GameOptionError for an unknown name or a value out of range.
    """
    by_name = {spec.name: spec for spec in specs}
    for name, value in given.items():
        if name not in by_name:
            raise GameOptionError(name, value, "one of the options " + ", ".join(by_name))
    checked: dict[str, OptionValue] = {}
    for spec in specs:
        if spec.name in given:
            checked[spec.name] = spec.check(given[spec.name])
        elif spec.default is not None:
            checked[spec.name] = spec.default
    return checked


def parse_options(specs: Sequence[OptionSpec], texts: Iterable[str]) -> dict[str, OptionValue]:
    """Read ``name=value`` texts as given on a command line; nothing is completed.

    Raises: GameOptionError naming the option, the value and what it may be.
    """
    by_name = {spec.name: spec for spec in specs}
    parsed: dict[str, OptionValue] = {}
    for text in texts:
        name, separator, value = text.partition("=")
        name = name.strip().lower()
        if not separator:
            raise GameOptionError(name or "?", text, "the form name=value")
        if name not in by_name:
            raise GameOptionError(name, value, "one of the options " + ", ".join(by_name))
        parsed[name] = by_name[name].from_text(value)
    return parsed
