"""``tabuleiro rooms``: what is going on on a server."""

from __future__ import annotations

import asyncio
from typing import Annotated

import typer

from tabuleiro.rules import registry
from tabuleiro_client import plain
from tabuleiro_client.commands.play import ServerOption
from tabuleiro_client.plain_client import PlainClient
from tabuleiro_client.server_address import chosen_server


def rooms(
    server: ServerOption = None,
    game: Annotated[str | None, typer.Option("--game", metavar="GAME", help="Only rooms of this game.")] = None,
) -> None:
    """List the rooms of a server that wait for players or are being played in."""
    if game is not None:
        registry.game_type(game)
    asyncio.run(_rooms(chosen_server(server), game))


async def _rooms(server: str, game: str | None) -> None:
    await plain.list_rooms(PlainClient.of_this_process(is_ascii=False, name=None), server, game)
