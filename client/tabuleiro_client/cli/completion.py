"""The values of options that the Tab key offers in a shell. Modules are loaded when a value is asked for."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Final

import typer

LEVELS: Final = ("random", "easy", "medium", "hard", "expert", "master")
"""The levels of bots that every game has, weakest first; a server may have others."""

LEVELS_OF_SOME_GAMES: Final = ("minimax-1", "minimax-3", "greedy")


def games(incomplete: str) -> list[str]:
    """Return the games that begin like what was typed."""
    from tabuleiro.rules import registry

    return _beginning(incomplete, registry.names())


def presets(context: typer.Context, incomplete: str) -> list[str]:
    """Return the presets of the game chosen before, or of all games."""
    from tabuleiro.rules import registry

    return _beginning(
        incomplete, (preset for name in _games(context) for preset in registry.game_type(name).presets)
    )


def game_options(context: typer.Context, incomplete: str) -> list[str]:
    """Return the options of the game chosen before, or of all games, up to their values."""
    from tabuleiro.rules import registry

    keys = (f"{spec.key}=" for name in _games(context) for spec in registry.game_type(name).option_specs)
    return _beginning(incomplete, keys)


def levels(incomplete: str) -> list[str]:
    """Return the levels of bots."""
    return _beginning(incomplete, (*LEVELS, *LEVELS_OF_SOME_GAMES))


def servers(incomplete: str) -> list[str]:
    """Return the servers that this user has been on, the one used last first."""
    from tabuleiro_client.net.files import config_folder
    from tabuleiro_client.net.identity import IdentityFolder

    return _beginning(incomplete, (identity.server for identity in IdentityFolder(config_folder()).players()))


def _games(context: typer.Context) -> tuple[str, ...]:
    from tabuleiro.rules import registry

    chosen = context.params.get("game") or context.params.get("quick")
    return (chosen,) if chosen in registry.names() else tuple(registry.names())


def _beginning(incomplete: str, values: Iterable[str]) -> list[str]:
    return [value for value in dict.fromkeys(values) if value.startswith(incomplete)]
