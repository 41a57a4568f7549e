"""``tabuleiro rules``: the short rules page of a game with its options and presets."""

from __future__ import annotations

import os
import sys
import textwrap
from typing import Annotated

import typer

from tabuleiro.rules import Game, registry
from tabuleiro_client.cli import completion
from tabuleiro_client.cli.options import AsciiOption
from tabuleiro_client.text.board import TextStyle
from tabuleiro_client.text.rules import PAGE_COLUMNS, page_lines
from tabuleiro_client.text.terminal import detect_style


def rules(
    game: Annotated[
        str | None,
        typer.Argument(metavar="GAME", help="The game, e.g. virus-wars.", autocompletion=completion.games),
    ] = None,
    ascii_only: AsciiOption = False,
) -> None:
    """Print the rules of a game, or the list of games."""
    if game is None:
        width = max(map(len, registry.names()))
        for name in registry.names():
            typer.echo(f"{name:{width}}  {registry.game_type(name).title}")
    else:
        style = detect_style(sys.stdout, os.environ, force_ascii=ascii_only)
        typer.echo("\n".join(rules_lines(registry.game_type(game), style)))


def rules_lines(game_type: type[Game], style: TextStyle) -> list[str]:
    """Return the rules page of a game, followed by its options and presets, as lines."""
    lines = [*page_lines(game_type, style), "", "Options:"]
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
