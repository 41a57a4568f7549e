"""``tabuleiro export``: a match as a record that people read, or as JSON for other programs."""

from __future__ import annotations

import asyncio
from typing import Annotated

import typer

from tabuleiro.notation.formats import RecordFormat, write_record
from tabuleiro_client.cli.options import MatchOption, NameOption, SecretOption, ServerOption, SourceArgument
from tabuleiro_client.models.records import FoundRecord, RoomSource, is_file, record_in_file, record_of_room
from tabuleiro_client.net.addresses import chosen_server


def export(
    source: SourceArgument,
    format: Annotated[RecordFormat, typer.Option("--format", help="How to write it.")] = RecordFormat.RECORD,
    match: MatchOption = None,
    server: ServerOption = None,
    secret: SecretOption = None,
    name: NameOption = None,
) -> None:
    """Write a match of a room, or a record from a file, as a record or as JSON."""
    found = find_record(source, match, server, secret, name)
    typer.echo(write_record(found.record, format, game_id=found.game_id), nl=False)


def find_record(
    source: str, match: int | None, server: str | None, secret: str | None, name: str | None
) -> FoundRecord:
    """Return the record of a file if there is one of that name, else of a room.

    Raises: ClientError, CommandError, ConfigError.
    """
    if is_file(source):
        return record_in_file(source, match)
    return asyncio.run(record_of_room(source, match, RoomSource(chosen_server(server), secret, name)))
