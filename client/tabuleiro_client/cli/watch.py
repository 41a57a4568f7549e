"""``tabuleiro watch``: a running match as a spectator sees it."""

from __future__ import annotations

import asyncio
import os
import sys
from typing import Annotated

import typer

from tabuleiro_client.cli.options import (
    AsciiOption,
    NameOption,
    PlainOption,
    SecretOption,
    ServerOption,
    SpokenOption,
)
from tabuleiro_client.net.addresses import chosen_server
from tabuleiro_client.text.standard_output import while_output_is_taken
from tabuleiro_client.text.terminal import can_draw


def watch(
    room: Annotated[
        str, typer.Argument(metavar="CODE", help="The code of the room; CODE-SECRET for a private one.")
    ],
    server: ServerOption = None,
    secret: SecretOption = None,
    name: NameOption = None,
    plain_only: PlainOption = False,
    is_spoken: SpokenOption = False,
    ascii_only: AsciiOption = False,
) -> None:
    """Watch the matches of a room."""
    url = chosen_server(server)
    if not (plain_only or is_spoken) and can_draw(sys.stdin, sys.stdout, os.environ):
        from tabuleiro_client.tui import launch

        watching = launch.watch_in_room(url, room, name=name, is_ascii=ascii_only, secret=secret)
        raise typer.Exit(asyncio.run(watching))
    asyncio.run(while_output_is_taken(_watch(room, url, secret, name, ascii_only, is_spoken)))


async def _watch(
    room: str, server: str, secret: str | None, name: str | None, is_ascii: bool, is_spoken: bool
) -> None:
    # Loaded for those who want lines only: the screens start quicker without.
    from tabuleiro_client.line import launch
    from tabuleiro_client.line.client import LineClient

    client = LineClient.of_this_process(is_ascii=is_ascii, name=name, is_spoken=is_spoken)
    await launch.watch(client, room, server, secret)
