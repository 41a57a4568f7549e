"""``tabuleiro watch``: a running match as a spectator sees it."""

from __future__ import annotations

import asyncio
from typing import Annotated

import typer

from tabuleiro_client import plain
from tabuleiro_client.commands.play import AsciiOption, NameOption, ServerOption
from tabuleiro_client.server_address import parse_server_url


def watch(
    room: Annotated[str, typer.Argument(metavar="CODE", help="The code of the room.")],
    server: ServerOption = None,
    name: NameOption = None,
    ascii_only: AsciiOption = False,
) -> None:
    """Watch a room until its match is over."""
    url = None if server is None else parse_server_url(server)
    asyncio.run(plain.watch(room, url, name=name, is_ascii=ascii_only))
