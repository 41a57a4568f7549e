"""``tabuleiro watch``: a running match as a spectator sees it."""

from __future__ import annotations

import asyncio
import os
import sys
from typing import Annotated

import typer

from tabuleiro_client.cli.options import (
    AsciiOption,
    CoordinatesOption,
    NameOption,
    PlainOption,
    SecretOption,
    ServerOption,
    SpokenOption,
    has_report_cells,
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
    coordinates: CoordinatesOption = None,
) -> None:
    """Watch the matches of a room."""
    url = chosen_server(server)
    if not (plain_only or is_spoken) and can_draw(sys.stdin, sys.stdout, os.environ):
        from tabuleiro_client.tui import launch

        watching = launch.watch_in_room(
            url, room, name=name, is_ascii=ascii_only, secret=secret, coordinates=coordinates
        )
        raise typer.Exit(asyncio.run(watching))
    # Loaded for those who want lines only: the screens start quicker without.
    from tabuleiro_client.line import launch as line_launch
    from tabuleiro_client.line.client import LineClient

    async def follow() -> None:
        is_report = has_report_cells(coordinates)
        client = LineClient.of_this_process(
            is_ascii=ascii_only, name=name, is_spoken=is_spoken, has_report_cells=is_report
        )
        await line_launch.watch(client, room, url, secret)

    asyncio.run(while_output_is_taken(follow()))
