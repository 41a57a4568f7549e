"""``tabuleiro arena``: arguments in, table out."""

from __future__ import annotations

import json
import os
import sys
from contextlib import closing
from pathlib import Path
from typing import Annotated

import typer

from tabuleiro.errors import ConfigError
from tabuleiro.rules import registry
from tabuleiro_server.arena.play import GameResult
from tabuleiro_server.arena.schedule import Terms, parse_entrants
from tabuleiro_server.arena.standings import format_progress, format_results, report
from tabuleiro_server.arena.workers import play_all


def arena(
    engines: Annotated[
        list[str],
        typer.Argument(
            metavar="ENGINE",
            help="Levels, algorithms ('minimax depth=2') or commands; LABEL=ENGINE names one.",
        ),
    ],
    game: Annotated[str, typer.Option("--game", metavar="GAME", help="The game, e.g. minefield.")],
    preset: Annotated[str | None, typer.Option(metavar="NAME", help="Start from the options of a preset.")] = None,
    option: Annotated[
        list[str] | None,
        typer.Option("--option", "-o", metavar="NAME=VALUE", help="Set an option of the game; may be repeated."),
    ] = None,
    rounds: Annotated[
        int, typer.Option(min=1, metavar="N", help="Games of every pair; sides change after each.")
    ] = 10,
    jobs: Annotated[
        int | None, typer.Option(min=1, metavar="N", help="Games at a time; cores - 1 if left out.")
    ] = None,
    seed: Annotated[int, typer.Option(min=0, metavar="N", help="The seed of all chance.")] = 1,
    move_time: Annotated[int, typer.Option(min=1, metavar="MS", help="Milliseconds for a turn.")] = 5_000,
    max_plies: Annotated[
        int, typer.Option(min=1, metavar="N", help="A game of so many actions is a draw.")
    ] = 1_000,
    json_file: Annotated[
        Path | None, typer.Option("--json", metavar="FILE", help="Write all results here.")
    ] = None,
) -> None:
    """Let engines and built-in levels play each other, and print a table."""
    options = registry.read_options(game, option or (), preset)
    registry.load(game, options)
    entrants = parse_entrants(game, engines)
    terms = Terms(game, options, entrants, rounds, seed, move_time, max_plies)
    _check_writable(json_file)
    results: list[GameResult] = []
    try:
        with closing(play_all(terms, jobs or max(1, (os.cpu_count() or 1) - 1))) as playing:
            for result in playing:
                results.append(result)
                _show_progress(terms, results)
    finally:
        # The games played so far are reported in any case.
        _report(terms, results, json_file)


def _show_progress(terms: Terms, results: list[GameResult]) -> None:
    if sys.stderr.isatty():
        end = "\n" if len(results) == terms.game_count else ""
        typer.echo(f"\r\x1b[K{format_progress(terms, results)}{end}", err=True, nl=False)


def _report(terms: Terms, results: list[GameResult], json_file: Path | None) -> None:
    if sys.stderr.isatty() and len(results) < terms.game_count:
        typer.echo(err=True)
    typer.echo("\n".join(format_results(terms, results)))
    if json_file is not None:
        try:
            json_file.write_text(json.dumps(report(terms, results), indent=1) + "\n", encoding="utf-8")
        except OSError as error:
            raise ConfigError("arena", "--json", f"a file that can be written ({error})") from error


def _check_writable(path: Path | None) -> None:
    """Check the file before hours of playing. Raises: ConfigError."""
    if path is not None:
        try:
            path.touch()
        except OSError as error:
            raise ConfigError("arena", "--json", f"a file that can be written ({error})") from error
