"""``tabuleiro replay``: step through a record in any terminal, or through a pipe."""

from __future__ import annotations

import asyncio
import os
import sys
from typing import Annotated

import typer

from tabuleiro.errors import ClientError, RecordError
from tabuleiro.notation.record import parse_record
from tabuleiro_client.commands.play import PlainOption
from tabuleiro_client.input_file import read_text
from tabuleiro_client.record_browser import RecordBrowser
from tabuleiro_client.terminal import can_draw, detect_style


def replay(
    file: Annotated[str, typer.Argument(metavar="FILE", help="A record, as `tabuleiro export` writes it, or - .")],
    plain_only: PlainOption = False,
    ascii_only: Annotated[bool, typer.Option("--ascii", help="Use nothing beyond ASCII.")] = False,
) -> None:
    """Step through the record of a match."""
    try:
        record = parse_record(read_text(file))
    except RecordError as error:
        raise ClientError(f"{file}: {error}") from error
    if not plain_only and can_draw(sys.stdin, sys.stdout, os.environ):
        from tabuleiro_client.tui import launch

        raise typer.Exit(asyncio.run(launch.replay_record(record, is_ascii=ascii_only)))
    browser = RecordBrowser(record, detect_style(sys.stdout, os.environ, force_ascii=ascii_only))
    typer.echo("\n".join(browser.introduction() + browser.position_lines()))
    is_asking = sys.stdin.isatty()
    while not browser.is_done:
        if is_asking:
            typer.echo("replay> ", nl=False)
        typed = sys.stdin.readline()
        if not typed:
            if is_asking:
                typer.echo()
            return
        for line in browser.obey(typed):
            typer.echo(line)
