"""``tabuleiro watch``: a running match as a spectator sees it."""

from __future__ import annotations

import asyncio
from typing import Annotated

import typer

from tabuleiro_client import plain
from tabuleiro_client.commands.play import AsciiOption, NameOption, ServerOption
from tabuleiro_client.plain_client import PlainClient
from tabuleiro_client.server_address import chosen_server


def watch(
    room: Annotated[str, typer.Argument(metavar="CODE", help="The code of the room.")],
    server: ServerOption = None,
    name: NameOption = None,
    ascii_only: AsciiOption = False,
) -> None:
    """Watch a room until its match is over."""
    asyncio.run(_watch(room, chosen_server(server), name, ascii_only))


async def _watch(room: str, server: str, name: str | None, is_ascii: bool) -> None:
    await plain.watch(PlainClient.of_this_process(is_ascii=is_ascii, name=name), room, server)
