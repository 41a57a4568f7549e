"""``tabuleiro play``: menus, or at once what the options say."""

from __future__ import annotations

import asyncio
import os
import sys
from typing import Annotated

import typer

from tabuleiro.errors import ConfigError, GameOptionError, shown
from tabuleiro.rules import registry
from tabuleiro.rules.outcome import Player
from tabuleiro_client import plain
from tabuleiro_client.game_choice import GameOptions, PresetOption, chosen_options
from tabuleiro_client.plain_client import PlainClient
from tabuleiro_client.server_address import parse_server_url
from tabuleiro_client.terminal import can_draw

ServerOption = Annotated[
    str | None,
    typer.Option("--server", "-s", metavar="URL", help="The server, e.g. ws://HOST:8765."),
]
NameOption = Annotated[str | None, typer.Option("--name", "-n", metavar="NAME", help="Who you are on the server.")]
PlainOption = Annotated[bool, typer.Option("--plain", help="Line by line, for screen readers and scripts.")]
AsciiOption = Annotated[bool, typer.Option("--ascii", help="Write nothing beyond ASCII.")]


def play(
    server: ServerOption = None,
    room: Annotated[str | None, typer.Option("--room", metavar="CODE", help="Join this room.")] = None,
    game: Annotated[str | None, typer.Option("--game", metavar="GAME", help="Play this game.")] = None,
    preset: PresetOption = None,
    option: GameOptions = None,
    bot: Annotated[
        str | None, typer.Option("--bot", metavar="LEVEL", help="Play against the computer, e.g. minimax-1.")
    ] = None,
    seat: Annotated[
        str | None, typer.Option("--seat", metavar="SEAT", help="Your seat: first, second, or the side's name.")
    ] = None,
    name: NameOption = None,
    plain_only: PlainOption = False,
    ascii_only: AsciiOption = False,
) -> None:
    """Play a game: over a network, against the computer, or two at one keyboard."""
    if room is not None and (game or preset or option or bot):
        raise ConfigError("--room", shown(room), "no --game, --preset, --option or --bot beside it")
    chosen_game = game
    if game is None and (preset or option):
        chosen_game = registry.names()[0]
    wishes = plain.PlayWishes(
        server=None if server is None else parse_server_url(server),
        room=room,
        game=chosen_game,
        options={} if chosen_game is None else _checked_options(chosen_game, preset, option),
        level=bot,
        seat=None if seat is None else parse_seat(seat, chosen_game),
    )
    if not plain_only and can_draw(sys.stdin, sys.stdout, os.environ):
        from tabuleiro_client.tui import launch

        raise typer.Exit(asyncio.run(launch.play(wishes, name=name, is_ascii=ascii_only)))
    asyncio.run(_play(wishes, name, ascii_only))


async def _play(wishes: plain.PlayWishes, name: str | None, is_ascii: bool) -> None:
    await plain.play(PlainClient.of_this_process(is_ascii=is_ascii, name=name), wishes)


def _checked_options(game: str, preset: str | None, option: list[str] | None) -> dict[str, int | str]:
    options = chosen_options(game, preset, option)
    registry.load(game, options)
    return options


def parse_seat(text: str, game: str | None) -> Player:
    """Read a seat: ``first``, ``second``, or what the side is called in ``game`` (``None``: in any game).

    Raises: GameOptionError.

    >>> parse_seat("second", None), parse_seat("Blue", "virus-wars")
    (1, 0)
    """
    word = text.strip().lower()
    names = registry.names() if game is None else (game,)
    sides = [registry.game_type(name).sides for name in names]
    if word == "first" or word in {first for first, _ in sides}:
        return 0
    if word == "second" or word in {second for _, second in sides}:
        return 1
    known = dict.fromkeys(side for both in sides for side in both)
    raise GameOptionError("seat", text, f"first, second, or one of {', '.join(known)}")
