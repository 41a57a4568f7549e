"""``tabuleiro identity``: take your names with you to another computer."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Annotated

import typer

from tabuleiro.errors import ClientError, NotationError
from tabuleiro.protocol.addresses import parse_server_url
from tabuleiro_client.cli.options import ServerOption
from tabuleiro_client.net.files import STANDARD_INPUT, config_folder, read_bytes, replacement
from tabuleiro_client.net.identity import (
    IDENTITY_PREFIX,
    Identity,
    IdentityFolder,
    identities_in,
    identity_text,
)

TEXT_MAX_BYTES = 1024 * 1024

app = typer.Typer(no_args_is_help=True, help="Take your names with you to another computer.")


@app.callback()
def identity() -> None:
    """Take your names with you to another computer."""


@app.command("export")
def export_identities(
    server: ServerOption = None,
    name: Annotated[
        str | None, typer.Option("--name", "-n", metavar="NAME", help="Only this name; else all of them.")
    ] = None,
    output: Annotated[
        Path | None, typer.Option("--output", metavar="FILE", help="Write a file that only you can read.")
    ] = None,
) -> None:
    """Write the names that you have on servers as a text for `tabuleiro identity import`; keep it secret."""
    folder = IdentityFolder(config_folder())
    url = None if server is None else parse_server_url(server)
    found = folder.players(url, name)
    _tell_notices(folder)
    if not found:
        where = "any server" if url is None else url
        raise ClientError(
            f"you have no name{'' if name is None else f' {name}'} on {where} that this machine knows"
        )
    text = "".join(f"{identity_text(identity)}\n" for identity in found)
    if output is None:
        typer.echo(text, nl=False)
    else:
        try:
            with replacement(output, text.encode()):
                pass
        except OSError as error:
            raise ClientError(f"cannot write {output}: {error.strerror}") from error
    for identity in found:
        typer.echo(f"{identity.name} on {identity.server}", err=True)
    typer.echo("Keep this text secret, like a password: whoever has it can play in your name.", err=True)


@app.command("import")
def import_identities(
    text: Annotated[
        str | None,
        typer.Argument(
            metavar="FILE", help="The file that was written; without it, paste the text or pipe it in."
        ),
    ] = None,
) -> None:
    """Take over names from another computer: run `tabuleiro identity export` there, and this here."""
    if text is not None and text.startswith(IDENTITY_PREFIX):
        written = text
    elif text is None and sys.stdin.isatty():
        typer.echo(f"Paste the text that begins with {IDENTITY_PREFIX}, and press Enter:", err=True)
        written = sys.stdin.readline()
    else:
        written = read_bytes(text or STANDARD_INPUT, TEXT_MAX_BYTES).decode("utf-8", "replace")
    try:
        found = identities_in(written)
    except NotationError as error:
        raise ClientError(f"this is no identity: expected {error.expected}") from error
    folder = IdentityFolder(config_folder())
    for identity in found:
        _take_over(folder, identity)
    _tell_notices(folder)


def _take_over(folder: IdentityFolder, identity: Identity) -> None:
    known = folder.find(identity.server, identity.name)
    folder.save(identity if known is None else known.renewed(identity.token))
    typer.echo(f"You are {identity.name} on {identity.server}: tabuleiro play --server {identity.server}")


def _tell_notices(folder: IdentityFolder) -> None:
    for notice in folder.notices:
        typer.echo(str(notice), err=True)
