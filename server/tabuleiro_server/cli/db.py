"""``tabuleiro db``: maintain a database file, with or without a server running on it."""

from __future__ import annotations

import asyncio
from contextlib import suppress
from pathlib import Path
from typing import Annotated

import typer

from tabuleiro.errors import ClientError, StoreError
from tabuleiro.ids import RoomCode
from tabuleiro.notation.formats import RecordFormat, write_record
from tabuleiro.protocol.messages import RecordPlayed
from tabuleiro.protocol.records import record_of
from tabuleiro.protocol.room_codes import parse_room_code
from tabuleiro_server.rooms.archive import records_of
from tabuleiro_server.rooms.journal import read_events, rows_of
from tabuleiro_server.store.sqlite import admin, repair
from tabuleiro_server.store.sqlite.owners import owner_hint

app = typer.Typer(no_args_is_help=True, help="Maintain a database file.")

DatabasePath = Annotated[Path, typer.Option("--db", metavar="FILE", help="The SQLite file.")]
DEFAULT_PATH = Path("tabuleiro.db")
KIBIBYTE = 1024


@app.command()
def backup(
    target: Annotated[Path, typer.Argument(metavar="FILE", help="The new file.")], db: DatabasePath = DEFAULT_PATH
) -> None:
    """Copy the database as it is at one moment; a running server is not disturbed."""
    size_bytes = asyncio.run(admin.back_up(_existing(db), target))
    typer.echo(f"{target}: {size_bytes // KIBIBYTE} KiB")


@app.command()
def verify(db: DatabasePath = DEFAULT_PATH) -> None:
    """Replay every match and compare it with the tables; exit status 1 if something differs."""
    report = asyncio.run(repair.verify(_existing(db), rows_of))
    for finding in report.file_findings:
        typer.echo(f"file: {finding}")
    for damage in report.damaged:
        typer.echo(str(damage))
    for difference in report.differences:
        typer.echo(str(difference))
    counts = f"{report.room_count} rooms, {report.match_count} matches, {report.event_count} events"
    typer.echo(f"{counts}: {'all well' if report.is_sound else 'not well; see what `tabuleiro db rebuild` mends'}")
    if not report.is_sound:
        raise typer.Exit(1)


@app.command()
def rebuild(db: DatabasePath = DEFAULT_PATH) -> None:
    """Rebuild the tables of rooms and matches from the events.

    A damaged file is repaired, for which no server may be running on it; a copy of the damaged file is kept.
    """
    report = asyncio.run(repair.rebuild(_existing(db), rows_of))
    for damage in report.damaged:
        typer.echo(str(damage))
    if report.kept is not None:
        typer.echo(f"the file was damaged and is whole again; as it was it is kept in {report.kept}")
    typer.echo(f"rebuilt {report.rebuilt_count} rooms, removed {len(report.removed)} without events")
    if report.damaged:
        raise typer.Exit(1)


@app.command()
def vacuum(db: DatabasePath = DEFAULT_PATH) -> None:
    """Give free space back to the file system; no server may be running on the file."""
    before_bytes, after_bytes = asyncio.run(admin.vacuum(_existing(db)))
    typer.echo(f"{db}: {before_bytes // KIBIBYTE} KiB before, {after_bytes // KIBIBYTE} KiB after")


@app.command()
def stats(db: DatabasePath = DEFAULT_PATH) -> None:
    """Count what the database holds."""
    found = asyncio.run(admin.read_stats(_existing(db)))
    phases = ", ".join(f"{count} {phase}" for phase, count in sorted(found.room_counts.items()))
    typer.echo(f"schema      {found.schema_version}")
    typer.echo(f"size        {found.file_bytes // KIBIBYTE} KiB, of which {found.free_bytes // KIBIBYTE} KiB free")
    typer.echo(f"log         {found.wal_bytes // KIBIBYTE} KiB")
    typer.echo(f"rooms       {sum(found.room_counts.values())} ({phases or 'none'})")
    typer.echo(f"matches     {found.match_count}, of which {found.ended_match_count} have ended")
    typer.echo(f"events      {found.event_count}")
    typer.echo(f"guests      {found.account_count}")


@app.command()
def export(
    code: Annotated[str, typer.Argument(metavar="CODE", help="The room's code.")],
    db: DatabasePath = DEFAULT_PATH,
    match: Annotated[
        int | None, typer.Option(min=1, metavar="N", help="Which match of the room; the last one if left out.")
    ] = None,
    format: Annotated[
        RecordFormat, typer.Option(metavar="record|json", help="How to write it.")
    ] = RecordFormat.RECORD,
) -> None:
    """Write a match of a room as a record or as JSON, straight from the file."""
    room = parse_room_code(code)
    played = asyncio.run(matches_of(_existing(db), room))
    if played is None:
        raise ClientError(f"there is no room {code!a} in {db}")
    wanted = [record for record in played if match in (None, record.match)]
    if not wanted:
        raise ClientError(f"room {room} has no such match; it has {len(played)}")
    name = f"{room}-{wanted[-1].match}"
    # Bytes: a record is data, in UTF-8 whatever the encoding of the terminal.
    typer.echo(write_record(record_of(wanted[-1]), format, game_id=name).encode(), nl=False)


async def matches_of(db: Path, room: RoomCode) -> tuple[RecordPlayed, ...] | None:
    """Return the matches of a room in a file, beside a server that may have it; ``None`` without such a room.

    Raises: StoreError.
    """
    stored = await admin.read_events(db, room)
    return tuple(records_of(read_events(room, stored))[1]) if stored else None


def _existing(path: Path) -> Path:
    with suppress(OSError):
        if path.is_file():
            return path
        raise StoreError(f"{path}: there is no such file; name the database with --db")
    raise StoreError(f"{path}: this file cannot be reached{owner_hint(path)}")
