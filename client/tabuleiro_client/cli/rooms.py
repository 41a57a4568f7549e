"""``tabuleiro rooms``: what is going on on a server."""

from __future__ import annotations

import asyncio
from enum import StrEnum
from typing import Annotated

import typer

from tabuleiro.ids import Phase
from tabuleiro.rules import registry
from tabuleiro_client.cli import completion
from tabuleiro_client.cli.options import ServerOption
from tabuleiro_client.line import launch
from tabuleiro_client.line.client import LineClient
from tabuleiro_client.net.addresses import chosen_server
from tabuleiro_client.text.standard_output import while_output_is_taken


class RoomState(StrEnum):
    """The states of a listed room."""

    WAITING = "waiting"
    PLAYING = "playing"
    FINISHED = "finished"


def rooms(
    server: ServerOption = None,
    game: Annotated[
        str | None,
        typer.Option("--game", metavar="GAME", help="Only rooms of this game.", autocompletion=completion.games),
    ] = None,
    state: Annotated[
        list[RoomState] | None,
        typer.Option(
            "--state",
            metavar="STATE",
            help="Only waiting, playing or finished rooms; may be repeated. Else all that are unfinished.",
        ),
    ] = None,
    follow: Annotated[bool, typer.Option("--follow", "-f", help="Go on telling what changes.")] = False,
) -> None:
    """List the rooms of a server, and with --follow what changes in the list."""
    if game is not None:
        registry.game_type(game)
    phases: tuple[Phase, ...] | None = tuple(each.value for each in state) if state else None
    listing = _rooms(chosen_server(server), launch.RoomFilter(game, phases), is_following=follow)
    asyncio.run(while_output_is_taken(listing))


async def _rooms(server: str, wanted: launch.RoomFilter, *, is_following: bool) -> None:
    client = LineClient.of_this_process(is_ascii=False, name=None)
    if is_following:
        await launch.follow_rooms(client, server, wanted)
    else:
        await launch.list_rooms(client, server, wanted)
