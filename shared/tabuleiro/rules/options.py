"""Options of games: read from texts, checked, and completed with their defaults.

A game lists its options as descriptors of :mod:`tabuleiro.settings`; forms, command lines and the server read the
same list.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence

from tabuleiro.descriptors import GameOption
from tabuleiro.errors import GameOptionError, NotationError

OptionValue = int | str
Options = Mapping[str, OptionValue]


def check_options(specs: Sequence[GameOption], given: Options) -> dict[str, OptionValue]:
    """Return ``given`` checked and completed with the defaults, in the order of the specs.

    Options whose default is ``None`` are left out when not given.

    Raises:
        GameOptionError: A name is unknown or a value out of its range.
    """
    for name, value in given.items():
        spec = _find(specs, name, value)
        if not spec.is_valid(value):
            raise GameOptionError(name, value, spec.expected)
    defaults = {spec.key: spec.default for spec in specs if spec.default is not None}
    completed: dict[str, OptionValue] = {**defaults, **given}
    return {spec.key: completed[spec.key] for spec in specs if spec.key in completed}


def parse_options(specs: Sequence[GameOption], texts: Iterable[str]) -> dict[str, OptionValue]:
    """Read ``name=value`` texts as given on a command line; nothing is completed.

    Raises:
        GameOptionError: A text has another form, a name is unknown or a value out of its range.
    """
    parsed: dict[str, OptionValue] = {}
    for text in texts:
        name, separator, value = text.partition("=")
        name = name.strip().lower()
        if not separator:
            raise GameOptionError(name or "?", text, "the form name=value")
        parsed[name] = parse_option(_find(specs, name, value), value)
    return parsed


def parse_option(spec: GameOption, text: str) -> OptionValue:
    """Read the value of one option.

    Raises:
        GameOptionError: The text is no possible value.
    """
    try:
        value: OptionValue = spec.parse(text)
    except NotationError as error:
        raise GameOptionError(spec.key, text, error.expected) from None
    return value


def _find(specs: Sequence[GameOption], name: str, value: object) -> GameOption:
    """Return the descriptor of an option. Raises: GameOptionError."""
    for spec in specs:
        if spec.key == name:
            return spec
    raise GameOptionError(name, value, "one of the options " + ", ".join(spec.key for spec in specs))
