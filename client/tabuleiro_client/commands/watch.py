"""``tabuleiro watch``: a running match as a spectator sees it."""

from __future__ import annotations

import asyncio
import os
import sys
from typing import Annotated

import typer

from tabuleiro_client import plain
from tabuleiro_client.commands.play import AsciiOption, NameOption, PlainOption, ServerOption
from tabuleiro_client.server_address import default_server, parse_server_url
from tabuleiro_client.terminal import can_draw


def watch(
    room: Annotated[str, typer.Argument(metavar="CODE", help="The code of the room.")],
    server: ServerOption = None,
    name: NameOption = None,
    plain_only: PlainOption = False,
    ascii_only: AsciiOption = False,
) -> None:
    """Watch a room until its match is over."""
    url = None if server is None else parse_server_url(server)
    if not plain_only and can_draw(sys.stdin, sys.stdout, os.environ):
        from tabuleiro_client.tui import launch

        raise typer.Exit(
            asyncio.run(launch.watch_in_room(url or default_server(), room, name=name, is_ascii=ascii_only))
        )
    asyncio.run(plain.watch(room, url, name=name, is_ascii=ascii_only))
