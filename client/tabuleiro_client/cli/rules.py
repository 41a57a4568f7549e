"""``tabuleiro rules``: the short rules page of a game with its options and presets."""

from __future__ import annotations

import textwrap
from typing import Annotated, Final

import typer

from tabuleiro.rules import Game, registry
from tabuleiro_client.cli import completion

PAGE_COLUMNS: Final = 78
"""What the rules of the games are written for, and the narrowest usual terminal holds."""


def rules(
    game: Annotated[
        str | None,
        typer.Argument(metavar="GAME", help="The game, e.g. virus-wars.", autocompletion=completion.games),
    ] = None,
) -> None:
    """Print the rules of a game, or the list of games."""
    if game is None:
        width = max(map(len, registry.names()))
        for name in registry.names():
            typer.echo(f"{name:{width}}  {registry.game_type(name).title}")
    else:
        typer.echo("\n".join(rules_lines(registry.game_type(game))))


def rules_lines(game_type: type[Game]) -> list[str]:
    """Return the rules page of a game, followed by its options and presets, as lines."""
    lines = [*game_type.rules_page.rstrip().splitlines(), "", "Options:"]
    for spec in game_type.option_specs:
        default = "" if spec.default is None else f", default {spec.default}"
        lines += _entry(f"{spec.key}: {spec.help} ({spec.expected}{default})")
    if game_type.presets:
        lines += ["", "Presets:"]
    for name, options in game_type.presets.items():
        lines += _entry(f"{name}: " + ", ".join(f"{key}={value}" for key, value in options.items()))
    return lines


def _entry(text: str) -> list[str]:
    return textwrap.wrap(text, PAGE_COLUMNS, initial_indent="  ", subsequent_indent="      ")
