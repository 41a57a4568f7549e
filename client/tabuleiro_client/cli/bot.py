"""``tabuleiro bot``: a program that speaks the engine protocol (server/BOTS.md) plays on a server."""

from __future__ import annotations

import asyncio
import shlex
import shutil
from typing import Annotated

import typer

from tabuleiro.errors import ConfigError, shown
from tabuleiro.rules import registry
from tabuleiro_client.cli.engine_player import EngineWishes, play_matches
from tabuleiro_client.cli.game_choice import GameOptions, PresetOption, chosen_options
from tabuleiro_client.cli.play import NameOption, ServerOption
from tabuleiro_client.net.addresses import chosen_server


def bot(
    engine: Annotated[str, typer.Option("--engine", metavar="CMD", help="The command that runs the program.")],
    server: ServerOption = None,
    room: Annotated[str | None, typer.Option("--room", metavar="CODE", help="Play in this room.")] = None,
    quick: Annotated[
        str | None, typer.Option("--quick", metavar="GAME", help="Play this game with whoever waits for it.")
    ] = None,
    preset: PresetOption = None,
    option: GameOptions = None,
    name: NameOption = None,
    games: Annotated[
        int, typer.Option(min=1, metavar="N", help="How many; in a room, rematches are offered.")
    ] = 1,
    move_time: Annotated[int, typer.Option(min=1, metavar="MS", help="Milliseconds for a turn.")] = 10_000,
) -> None:
    """Let a program of your own play on a server."""
    if (room is None) == (quick is None):
        raise ConfigError("bot", "--room or --quick", "one of the two")
    if quick is None and (preset or option):
        raise ConfigError("bot", "--preset and --option", "--quick beside them; a room has its options")
    options = {} if quick is None else chosen_options(quick, preset, option)
    if quick is not None:
        registry.load(quick, options)
    wishes = EngineWishes(
        _command(engine), chosen_server(server), room, quick or "", options, name, games, move_time
    )
    asyncio.run(play_matches(wishes, typer.echo))


def _command(text: str) -> tuple[str, ...]:
    try:
        command = tuple(shlex.split(text))
    except ValueError as error:
        raise ConfigError("bot", f"--engine {shown(text)}", f"a command ({error})") from error
    if not command or shutil.which(command[0]) is None:
        raise ConfigError("bot", f"--engine {shown(text)}", "a program that can be run")
    return command
