"""The games: an explicit list, by name."""

from __future__ import annotations

from collections.abc import Iterable, Mapping

from tabuleiro.errors import GameOptionError, UnknownGameError
from tabuleiro.rules.base import Game
from tabuleiro.rules.games.iris import Iris
from tabuleiro.rules.games.minefield import Minefield
from tabuleiro.rules.games.virus_wars import VirusWars
from tabuleiro.rules.games.xero_g import XeroG
from tabuleiro.rules.options import Options, OptionValue, parse_options
from tabuleiro.text import one_of

GAMES: Mapping[str, type[Game]] = {game.name: game for game in (VirusWars, XeroG, Iris, Minefield)}


def names() -> tuple[str, ...]:
    """Return the registered names, in the order in which menus show them."""
    return tuple(GAMES)


def game_type(name: str) -> type[Game]:
    """Return the class of the game called ``name``.

    Raises:
        GameOptionError: The name is unknown.
    """
    try:
        return GAMES[name]
    except KeyError:
        raise UnknownGameError(name, names()) from None


def load(name: str, options: Options | None = None) -> Game:
    """Return the game ``name`` with ``options``; what is not given takes its default.

    Raises:
        GameOptionError: A name is unknown or a value out of range.
    """
    return game_type(name).from_options(options or {})


def preset(name: str, preset_name: str) -> Options:
    """Return the options of a preset.

    Raises:
        GameOptionError: The game or the preset is unknown.
    """
    presets = game_type(name).presets
    try:
        return presets[preset_name]
    except KeyError:
        known = one_of([*presets]) if presets else f"no preset, since {name} has none"
        raise GameOptionError("preset", preset_name, known) from None


def read_options(name: str, texts: Iterable[str], preset_name: str | None = None) -> dict[str, OptionValue]:
    """Return the options of a preset and of ``name=value`` texts together; the texts win. Nothing is completed.

    Raises:
        GameOptionError: A game, preset or option is unknown, or a value out of its range.

    >>> read_options("minefield", ["size=7"])
    {'size': 7}
    """
    given = {} if preset_name is None else preset(name, preset_name)
    return {**given, **parse_options(game_type(name).option_specs, texts)}
