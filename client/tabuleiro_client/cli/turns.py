"""``tabuleiro turns``: the matches that wait for one's own turn."""

from __future__ import annotations

import asyncio
import os
import sys
from typing import Annotated

import typer

from tabuleiro_client.models.saved_matches import SavedMatches
from tabuleiro_client.models.turns import ANSWER_LIMIT_S, find_turns
from tabuleiro_client.net.files import config_folder
from tabuleiro_client.net.identity import IdentityFolder
from tabuleiro_client.text.rooms import turn_text
from tabuleiro_client.text.terminal import detect_style, showable

NO_TURN_STATUS = 1


def turns(
    timeout: Annotated[
        float, typer.Option("--timeout", metavar="SECONDS", min=0.1, help="How long each server may take.")
    ] = ANSWER_LIMIT_S,
) -> None:
    """List the matches on all your servers in which it is your turn, one a line.

    The exit status is 0 if there is one, and 1 if there is none: for the prompt of a shell, or mail from cron. A
    server that does not answer in time is named on standard error.
    """
    folder = config_folder()
    found = asyncio.run(find_turns(SavedMatches(folder).all(), IdentityFolder(folder), timeout))
    style = detect_style(sys.stdout, os.environ)
    for turn in found.waiting:
        match = turn.match
        text = turn_text(match.game, turn.opponent, match.room, match.server, turn.left)
        typer.echo(showable(text, style))
    for server in found.silent:
        typer.echo(f"tabuleiro: no answer from {server}", err=True)
    if not found.waiting:
        raise typer.Exit(NO_TURN_STATUS)
