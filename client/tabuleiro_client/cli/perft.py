"""``tabuleiro perft``: count action sequences, to compare this rules program with another."""

from __future__ import annotations

from typing import Annotated

import typer

from tabuleiro.rules import perft as count_sequences
from tabuleiro_client.cli.options import GameOptions, PresetOption, chosen_game


def perft(
    game: Annotated[str, typer.Argument(metavar="GAME", help="The game, e.g. virus-wars.")],
    depth: Annotated[int, typer.Option("--depth", "-d", metavar="N", min=0, help="Actions in a sequence.")],
    preset: PresetOption = None,
    option: GameOptions = None,
) -> None:
    """Count the action sequences of a given length from the start of a game."""
    typer.echo(count_sequences(chosen_game(game, preset, option).initial_state(), depth))
