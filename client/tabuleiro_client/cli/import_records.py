"""``tabuleiro import``: matches that others recorded, among those of this machine."""

from __future__ import annotations

import os
import sys
import time
from typing import Annotated

import typer

from tabuleiro.ids import TimestampMs
from tabuleiro.notation.record import NO_RESULT, MatchRecord
from tabuleiro.notation.record_text import format_record
from tabuleiro.rules import registry
from tabuleiro_client.cli.options import GameOptions, ListedGameOption, PresetOption, listed_game
from tabuleiro_client.models.records import FileMatches
from tabuleiro_client.models.saved_matches import ImportedRecord, SavedMatches
from tabuleiro_client.net.files import config_folder
from tabuleiro_client.text.rooms import brief_options_text
from tabuleiro_client.text.terminal import detect_style, showable


def import_records(
    file: Annotated[str, typer.Argument(metavar="FILE", help="A file with records, or - .")],
    match: Annotated[
        int | None, typer.Option("--match", metavar="N", min=1, help="Which match of the file; else all of them.")
    ] = None,
    game: ListedGameOption = None,
    preset: PresetOption = None,
    option: GameOptions = None,
) -> None:
    """Put the matches of a file among your own, to be found in the replays of `tabuleiro play`."""
    matches = FileMatches(file, listed_game(game, preset, option))
    numbers = range(1, matches.last + 1) if match is None else (match,)
    now_ms = time.time_ns() // 1_000_000
    # All are checked before the first is kept; the first of the file comes first in a list of the last ones.
    imported = [
        _imported(matches.read(number).record, TimestampMs(now_ms - place)) for place, number in enumerate(numbers)
    ]
    saved, style = SavedMatches(config_folder()), detect_style(sys.stdout, os.environ)
    for record in imported:
        told = "imported" if saved.import_record(record) else "there already"
        typer.echo(showable(f"{told}: {record.game}, {record.board}, {record.players}, {record.result}", style))


def _imported(record: MatchRecord, now_ms: TimestampMs) -> ImportedRecord:
    first, second = (player.name for player in record.players)
    return ImportedRecord(
        game=registry.game_type(record.game).title,
        board=brief_options_text(registry.game_type(record.game), record.options),
        players=f"{first} - {second}",
        result=record.termination if record.result == NO_RESULT else f"{record.result} {record.termination}",
        imported_at_ms=now_ms,
        text=format_record(record),
    )
