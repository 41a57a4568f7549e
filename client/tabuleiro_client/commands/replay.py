"""``tabuleiro replay``: step through a record in any terminal, or through a pipe."""

from __future__ import annotations

import asyncio
import os
import sys
from typing import Annotated

import typer

from tabuleiro_client.commands.export import MatchOption, SourceArgument, find_record
from tabuleiro_client.commands.play import NameOption, PlainOption, SecretOption, ServerOption
from tabuleiro_client.record_browser import RecordBrowser
from tabuleiro_client.terminal import can_draw, detect_style


def replay(
    source: SourceArgument,
    match: MatchOption = None,
    server: ServerOption = None,
    secret: SecretOption = None,
    name: NameOption = None,
    plain_only: PlainOption = False,
    ascii_only: Annotated[bool, typer.Option("--ascii", help="Use nothing beyond ASCII.")] = False,
) -> None:
    """Step through a match of a room, or through the record of one in a file."""
    record = find_record(source, match, server, secret, name).record
    if not plain_only and can_draw(sys.stdin, sys.stdout, os.environ):
        from tabuleiro_client.tui import launch

        raise typer.Exit(asyncio.run(launch.replay_record(record, is_ascii=ascii_only)))
    browser = RecordBrowser(record, detect_style(sys.stdout, os.environ, force_ascii=ascii_only))
    typer.echo("\n".join(browser.introduction() + browser.position_lines()))
    is_asking = sys.stdin.isatty()
    try:
        _obey_lines(browser, is_asking=is_asking)
    except KeyboardInterrupt:
        if is_asking:
            typer.echo()  # after the mark of Ctrl-C
        raise


def _obey_lines(browser: RecordBrowser, *, is_asking: bool) -> None:
    """Do what is typed until that is to leave, or the end of the input."""
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
