"""``tabuleiro db``: the host's work on a database: a SQLite file, or the address of a PostgreSQL database."""

from __future__ import annotations

import asyncio
import shlex
from contextlib import AsyncExitStack, suppress
from pathlib import Path
from typing import Annotated

import typer

from tabuleiro.errors import ClientError, StoreError
from tabuleiro.ids import RoomCode
from tabuleiro.notation.formats import RecordFormat, write_record
from tabuleiro.protocol.messages import RecordPlayed
from tabuleiro.protocol.records import record_of
from tabuleiro.protocol.room_codes import parse_room_code
from tabuleiro_server.config import Config, names_postgres, shown_database
from tabuleiro_server.rooms.archive import records_of
from tabuleiro_server.rooms.journal import read_events, rows_of
from tabuleiro_server.store.copying import CopyReport, copy_all
from tabuleiro_server.store.reports import RebuildReport, Stats, VerifyReport
from tabuleiro_server.store.sqlite import admin, repair
from tabuleiro_server.store.sqlite.owners import owner_hint
from tabuleiro_server.wiring import needing_cluster, open_database

app = typer.Typer(no_args_is_help=True, help="Maintain a database.")

Database = Annotated[
    str, typer.Option("--db", metavar="FILE|URL", help="The SQLite file, or an address postgresql://...")
]
DEFAULT = Config().db
KIBIBYTE = 1024


@app.command()
def backup(
    target: Annotated[Path, typer.Argument(metavar="FILE", help="The new file.")], db: Database = DEFAULT
) -> None:
    """Copy a SQLite file as it is at one moment; a running server is not disturbed."""
    if names_postgres(db):
        raise _own_tool("pg_dump --format=custom --schema=tabuleiro --file={file} {db}", db, file=target)
    size_bytes = asyncio.run(admin.back_up(_existing(db), target))
    typer.echo(f"{target}: {size_bytes // KIBIBYTE} KiB")


@app.command()
def verify(db: Database = DEFAULT) -> None:
    """Replay every match and compare it with the tables; exit status 1 if something differs."""
    report = asyncio.run(_verify(db))
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
def rebuild(db: Database = DEFAULT) -> None:
    """Rebuild the tables of rooms and matches from the events.

    A damaged file is repaired, for which no server may be running on it; a copy of the damaged file is kept. The
    tables of a PostgreSQL database are rebuilt beside its servers, room by room.
    """
    report = asyncio.run(_rebuild(db))
    for damage in report.damaged:
        typer.echo(str(damage))
    if report.kept is not None:
        typer.echo(f"the file was damaged and is whole again; as it was it is kept in {report.kept}")
    typer.echo(f"rebuilt {report.rebuilt_count} rooms, removed {len(report.removed)} without events")
    if report.damaged:
        raise typer.Exit(1)


@app.command()
def vacuum(db: Database = DEFAULT) -> None:
    """Give free space of a SQLite file back to the file system; no server may be running on it."""
    if names_postgres(db):
        raise _own_tool("vacuumdb --full --analyze --schema=tabuleiro {db}", db)
    before_bytes, after_bytes = asyncio.run(admin.vacuum(_existing(db)))
    typer.echo(f"{db}: {before_bytes // KIBIBYTE} KiB before, {after_bytes // KIBIBYTE} KiB after")


@app.command()
def stats(db: Database = DEFAULT) -> None:
    """Count what the database holds."""
    found = asyncio.run(_stats(db))
    phases = ", ".join(f"{count} {phase}" for phase, count in sorted(found.room_counts.items()))
    typer.echo(f"schema      {found.schema_version}")
    free = "" if found.free_bytes is None else f", of which {found.free_bytes // KIBIBYTE} KiB free"
    typer.echo(f"size        {found.size_bytes // KIBIBYTE} KiB{free}")
    if found.wal_bytes is not None:
        typer.echo(f"log         {found.wal_bytes // KIBIBYTE} KiB")
    typer.echo(f"rooms       {sum(found.room_counts.values())} ({phases or 'none'})")
    typer.echo(f"matches     {found.match_count}, of which {found.ended_match_count} have ended")
    typer.echo(f"events      {found.event_count}")
    typer.echo(f"guests      {found.account_count}")


@app.command()
def export(
    code: Annotated[str, typer.Argument(metavar="CODE", help="The room's code.")],
    db: Database = DEFAULT,
    match: Annotated[
        int | None, typer.Option(min=1, metavar="N", help="Which match of the room; the last one if left out.")
    ] = None,
    format: Annotated[
        RecordFormat, typer.Option(metavar="record|json", help="How to write it.")
    ] = RecordFormat.RECORD,
) -> None:
    """Write a match of a room as a record or as JSON, straight from the database."""
    room = parse_room_code(code)
    played = asyncio.run(matches_of(db, room))
    if played is None:
        raise ClientError(f"there is no room {code!a} in {shown_database(db)}")
    wanted = [record for record in played if match in (None, record.match)]
    if not wanted:
        raise ClientError(f"room {room} has no such match; it has {len(played)}")
    name = f"{room}-{wanted[-1].match}"
    # Bytes: a record is data, in UTF-8 whatever the encoding of the terminal.
    typer.echo(write_record(record_of(wanted[-1]), format, game_id=name).encode(), nl=False)


@app.command()
def copy(
    source: Annotated[str, typer.Argument(metavar="FROM", help="A SQLite file, or an address postgresql://...")],
    target: Annotated[str, typer.Argument(metavar="TO", help="An empty database, or a new file.")],
) -> None:
    """Copy everything to another database, between SQLite and PostgreSQL too, and compare the two.

    No server may be running on either of them.
    """
    report = asyncio.run(_copy(source, target))
    counts = f"{report.room_count} rooms, {report.match_count} matches, {report.event_count} events"
    typer.echo(f"{counts}, {report.account_count} guests: copied, read back, and the same")


async def matches_of(db: str | Path, room: RoomCode) -> tuple[RecordPlayed, ...] | None:
    """Return the matches of a room, beside a server that may have the database; ``None`` without such a room.

    Raises: StoreError.
    """
    if isinstance(db, str) and names_postgres(db):
        with needing_cluster():
            from tabuleiro_server.store.postgres.admin import read_events as read_from_postgres
        stored = await read_from_postgres(db, room)
    else:
        stored = await admin.read_events(_existing(db), room)
    return tuple(records_of(read_events(room, stored))[1]) if stored else None


async def _verify(db: str) -> VerifyReport:
    if names_postgres(db):
        with needing_cluster():
            from tabuleiro_server.store.postgres.admin import verify as verify_postgres
        return await verify_postgres(db, rows_of)
    return await repair.verify(_existing(db), rows_of)


async def _rebuild(db: str) -> RebuildReport:
    if names_postgres(db):
        with needing_cluster():
            from tabuleiro_server.store.postgres.admin import rebuild as rebuild_postgres
        return await rebuild_postgres(db, rows_of)
    return await repair.rebuild(_existing(db), rows_of)


async def _stats(db: str) -> Stats:
    if names_postgres(db):
        with needing_cluster():
            from tabuleiro_server.store.postgres.admin import read_stats as read_postgres_stats
        return await read_postgres_stats(db)
    return await admin.read_stats(_existing(db))


async def _copy(source: str, target: str) -> CopyReport:
    if not names_postgres(source):
        _existing(source)
    async with AsyncExitStack() as stack:
        # Opened first: from now on no server can change anything.
        stores = []
        for db in (source, target):
            store = await open_database(Config(db=db))
            stack.push_async_callback(store.close)
            stores.append(store)
        if not (await _verify(source)).is_sound:
            raise StoreError(
                f"{shown_database(source)}: its tables do not fit its events; `tabuleiro db verify` tells,"
                " `tabuleiro db rebuild` mends it"
            )
        try:
            report = await copy_all(*stores)
        except StoreError as error:
            raise StoreError(f"not copied to {shown_database(target)}: {error}") from error
        if not (await _verify(target)).is_sound:
            raise StoreError(f"the copy in {shown_database(target)} is not sound; `tabuleiro db verify` tells")
    return report


def _own_tool(command: str, db: str, **names: Path) -> ClientError:
    """Return the error that names PostgreSQL's own tool."""
    names_quoted = {name: shlex.quote(str(path)) for name, path in names.items()}
    told = command.format(db=shlex.quote(shown_database(db)), **names_quoted)
    return ClientError(f"PostgreSQL has a tool of its own for this: {told}")


def _existing(db: str | Path) -> Path:
    path = Path(db)
    with suppress(OSError):
        if path.is_file():
            return path
        raise StoreError(f"{path}: there is no such file; name the database with --db")
    raise StoreError(f"{path}: this file cannot be reached{owner_hint(path)}")
