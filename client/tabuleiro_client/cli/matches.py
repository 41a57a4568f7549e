"""``tabuleiro matches``: the list of one's own matches."""

from __future__ import annotations

import os
import sys
from typing import Annotated

import typer

from tabuleiro_client.models.saved_matches import SavedMatches, fits, row_of
from tabuleiro_client.net.files import config_folder
from tabuleiro_client.text.matches import HEADINGS
from tabuleiro_client.text.terminal import detect_style, in_columns, showable


def matches(
    words: Annotated[
        list[str] | None,
        typer.Argument(
            metavar="[WORD]...", help="A game, a name, a result, a date: only matches that have all of them."
        ),
    ] = None,
) -> None:
    """List your own matches, the last ones first: played here, on servers, by two bots, or imported.

    `replay`, `analyse` and `export` take the code of a match from the first column. The word `unfinished` finds
    those that can be continued in `tabuleiro play`.
    """
    rows = [row_of(match) for match in SavedMatches(config_folder()).played()]
    fitting = [row for row in rows if fits(row, " ".join(words or ()))]
    if not fitting:
        typer.echo("no match has all of that" if rows else "no matches yet", err=True)
        raise typer.Exit(1)
    style = detect_style(sys.stdout, os.environ)
    shown = [[showable(text, style) for text in row] for row in fitting]
    for line in in_columns([[heading.upper() for heading in HEADINGS], *shown]):
        typer.echo(line)
