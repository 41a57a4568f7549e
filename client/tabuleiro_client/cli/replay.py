"""``tabuleiro replay``: step through a record in any terminal, or through a pipe."""

from __future__ import annotations

import asyncio
import os
import sys
from contextlib import suppress
from dataclasses import replace

import typer

from tabuleiro.errors import CommandError, TabuleiroError
from tabuleiro_client.cli.export import refuse_game
from tabuleiro_client.cli.options import (
    AsciiOption,
    CoordinatesOption,
    GameOptions,
    ListedGameOption,
    MatchOption,
    NameOption,
    PlainOption,
    PresetOption,
    SecretOption,
    ServerOption,
    SourceArgument,
    has_report_cells,
    listed_game,
)
from tabuleiro_client.line.records import RecordBrowser
from tabuleiro_client.models.records import (
    FileMatches,
    Match,
    Matches,
    RoomMatches,
    RoomSource,
    is_file,
    matches_of_room,
    numbers_text,
)
from tabuleiro_client.net.addresses import chosen_server
from tabuleiro_client.text.terminal import can_draw, detect_style


def replay(
    source: SourceArgument,
    match: MatchOption = None,
    game: ListedGameOption = None,
    preset: PresetOption = None,
    option: GameOptions = None,
    server: ServerOption = None,
    secret: SecretOption = None,
    name: NameOption = None,
    plain_only: PlainOption = False,
    ascii_only: AsciiOption = False,
    coordinates: CoordinatesOption = None,
) -> None:
    """Step through the matches of a room, or through those in a file."""
    listed = listed_game(game, preset, option)
    matches: Matches | None
    found: Match | None
    if is_file(source):
        matches = FileMatches(source, listed)
        found = matches.read(match)
    else:
        refuse_game(listed)
        matches = matches_of_room(source, RoomSource(server and chosen_server(server), secret, name))
        found = asyncio.run(_first(matches, match))
    record = found.record
    if isinstance(matches, FileMatches) and matches.last == 1:
        matches = found = None  # a record of its own
    if not plain_only and can_draw(sys.stdin, sys.stdout, os.environ):
        from tabuleiro_client.tui import launch

        replaying = launch.replay_record(record, found, matches, is_ascii=ascii_only, coordinates=coordinates)
        raise typer.Exit(asyncio.run(replaying))
    style = replace(
        detect_style(sys.stdout, os.environ, force_ascii=ascii_only),
        has_report_cells=has_report_cells(coordinates),
    )
    if matches is None:
        _browse(RecordBrowser(record, style))
        return
    while found is not None:
        others = numbers_text(matches.last)
        typer.echo(f"match {found.number} of {matches.last} of {found.place}")
        found = _browse_match(RecordBrowser(found.record, style, others), matches)


async def _first(matches: RoomMatches, number: int | None) -> Match:
    """Return the match to begin with, once it is known which there are."""
    newest = await matches.newest()
    return newest if number in (None, newest.number) else await matches.get(number)


async def _get(matches: Matches, number: int) -> Match:
    return await matches.get(number)


def _browse_match(browser: RecordBrowser, matches: Matches) -> Match | None:
    """Step through a match until another one is wanted, and return that; ``None`` when none is."""
    _show(browser)
    while (number := _obey_on(browser)) is not None:
        try:
            return asyncio.run(_get(matches, number))
        except CommandError as error:
            typer.echo(error.message)
        except TabuleiroError as error:
            typer.echo(str(error))
    return None


def _browse(browser: RecordBrowser) -> None:
    _show(browser)
    _obey_on(browser)


def _show(browser: RecordBrowser) -> None:
    typer.echo("\n".join(browser.introduction() + browser.position_lines()))


def _obey_on(browser: RecordBrowser) -> int | None:
    """Obey what is typed until another match is wanted, and return its number; ``None`` at the end."""
    browser.wanted_match = None
    while not browser.is_done and browser.wanted_match is None:
        typed = _typed_line()
        if typed is None:
            return None
        for line in browser.obey(typed):
            typer.echo(line)
    return browser.wanted_match


def _typed_line() -> str | None:
    """Return the next line of a pipe or of a person, who can edit and recall lines; ``None`` at the end."""
    if not sys.stdin.isatty():
        return sys.stdin.readline() or None
    with suppress(ImportError):  # not every system has it; then lines are typed as they are
        import readline  # noqa: F401
    try:
        return input("replay> ")
    except EOFError:
        typer.echo()
        return None
    except KeyboardInterrupt:
        typer.echo()  # after the mark of Ctrl-C
        raise
