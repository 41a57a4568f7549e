"""``tabuleiro export``: a match as a record that people read, or as JSON for other programs."""

from __future__ import annotations

import asyncio
from pathlib import Path
from typing import Annotated

import typer

from tabuleiro.errors import ClientError, ConfigError
from tabuleiro.notation.formats import RecordFormat, write_record
from tabuleiro.rules import Game
from tabuleiro_client.cli.options import (
    GameOptions,
    ListedGameOption,
    MatchOption,
    NameOption,
    PresetOption,
    SecretOption,
    ServerOption,
    SourceArgument,
    listed_game,
)
from tabuleiro_client.models.records import FileMatches, FoundRecord, RoomSource, is_file, record_of_room
from tabuleiro_client.net.addresses import chosen_server
from tabuleiro_client.text.standard_output import write_data


def export(
    source: SourceArgument,
    format: Annotated[RecordFormat, typer.Option("--format", help="How to write it.")] = RecordFormat.RECORD,
    output: Annotated[
        Path | None, typer.Option("--output", metavar="FILE", help="Write it there, not to standard output.")
    ] = None,
    match: MatchOption = None,
    game: ListedGameOption = None,
    preset: PresetOption = None,
    option: GameOptions = None,
    server: ServerOption = None,
    secret: SecretOption = None,
    name: NameOption = None,
) -> None:
    """Write a match of a room, or a record from a file, as a record or as JSON, in UTF-8."""
    found = find_record(source, match, listed_game(game, preset, option), server, secret, name)
    text = write_record(found.record, format, game_id=found.game_id)
    if output is None:
        write_data(text)
        return
    write_file(output, text)


def write_file(output: Path, text: str) -> None:
    """Write a file in UTF-8. Raises: ClientError."""
    try:
        output.write_bytes(text.encode())
    except OSError as error:
        raise ClientError(f"cannot write {output}: {error.strerror or error}") from error


def find_record(
    source: str, match: int | None, game: Game | None, server: str | None, secret: str | None, name: str | None
) -> FoundRecord:
    """Return the record of a file if there is one of that name, else of a room.

    ``game`` is that of a list of moves in a file. A file with several matches is told on standard error.

    Raises: ClientError, CommandError, ConfigError.
    """
    if is_file(source):
        matches = FileMatches(source, game)
        if match is None and matches.last > 1:
            told = (
                f"{matches.place} holds {matches.last} matches, and this is the last one; --match N takes another"
            )
            typer.echo(told, err=True)
        return FoundRecord(matches.read(match).record)
    refuse_game(game)
    return asyncio.run(record_of_room(source, match, RoomSource(server and chosen_server(server), secret, name)))


def refuse_game(game: Game | None) -> None:
    """Refuse a game that is named beside the code of a room. Raises: ConfigError."""
    if game is not None:
        raise ConfigError("--game", game.name, "a file beside it; a room knows its game")
