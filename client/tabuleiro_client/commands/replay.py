"""``tabuleiro replay``: step through a record in any terminal, or through a pipe."""

from __future__ import annotations

import os
import sys
from typing import Annotated

import typer

from tabuleiro_client.commands.export import MatchOption, SourceArgument, find_record
from tabuleiro_client.commands.play import NameOption, SecretOption, ServerOption
from tabuleiro_client.record_browser import RecordBrowser
from tabuleiro_client.terminal import detect_style


def replay(
    source: SourceArgument,
    match: MatchOption = None,
    server: ServerOption = None,
    secret: SecretOption = None,
    name: NameOption = None,
    ascii_only: Annotated[bool, typer.Option("--ascii", help="Use nothing beyond ASCII.")] = False,
) -> None:
    """Step through a match of a room, or through the record of one in a file."""
    record = find_record(source, match, server, secret, name).record
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
