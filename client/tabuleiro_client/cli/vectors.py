"""``tabuleiro check-vectors``: compare the rules with games that another program played."""

from __future__ import annotations

from typing import Annotated

import typer

from tabuleiro.errors import ClientError, RecordError, VectorError
from tabuleiro.notation.formats import decode_text
from tabuleiro.notation.vectors import check_vectors as check_lines
from tabuleiro_client.net.files import read_bytes


def check_vectors(
    file: Annotated[str, typer.Argument(metavar="FILE", help="A file with one JSON object a line, or - .")],
) -> None:
    """Replay the games of a vector file through the rules."""
    try:
        count = check_lines(decode_text(read_bytes(file)).split("\n"))
    except RecordError as error:
        raise ClientError(f"{file}: {error}") from error
    except VectorError as error:
        if error.ply is None:
            raise ClientError(f"{file}: {error}") from error
        typer.echo(f"{file}: {error}")
        raise typer.Exit(1) from error
    if not count.games:
        raise ClientError(f"{file}: there are no games in it")
    typer.echo(f"{count.games} games, {count.plies} plies checked: no difference")
