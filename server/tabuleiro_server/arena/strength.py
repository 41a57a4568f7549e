"""``make strength``: how strong the built-in levels are, by an arena over all of them, as a page of tables."""

from __future__ import annotations

import os
from collections.abc import Sequence
from contextlib import closing
from pathlib import Path
from typing import Annotated, Final

import typer

from tabuleiro.rules import registry
from tabuleiro_server.arena.entrants import parse_entrants
from tabuleiro_server.arena.schedule import Terms
from tabuleiro_server.arena.tables import format_results
from tabuleiro_server.arena.workers import play_all
from tabuleiro_server.bots.levels import level_names

MOVE_TIME_MS: Final = 2_000
SEED: Final = 1


def strength(
    page: Annotated[Path, typer.Argument(metavar="FILE", help="The page to write.")],
    games: Annotated[int, typer.Option(min=1, help="Games of every pair of levels.")],
    game: Annotated[list[str] | None, typer.Option(help="Only this game; may be repeated.")] = None,
    move_time: Annotated[int, typer.Option(min=1, metavar="MS", help="Milliseconds for a turn.")] = MOVE_TIME_MS,
) -> None:
    """Play all levels of all games against each other, and write the page."""
    names = tuple(game or registry.names())
    sections = [_section(name, games, move_time) for name in names]
    page.write_text("\n".join([*_head(names, games, move_time), *sections]), encoding="utf-8")


def _head(names: Sequence[str], games: int, move_time_ms: int) -> list[str]:
    command = f"make strength GAMES={games}"
    if move_time_ms != MOVE_TIME_MS:
        command += f" MOVE_TIME={move_time_ms}"
    if tuple(names) != registry.names():
        command += f" ONLY='{' '.join(names)}'"
    return [
        "# How strong the levels are",
        "",
        "Every level against every other, sides swapped, with the default options of each game. Made by",
        "",
        f"    {command}",
        "",
    ]


def _section(name: str, games: int, move_time_ms: int) -> str:
    terms = Terms(name, {}, parse_entrants(name, level_names(name)), games, SEED, move_time_ms)
    with closing(play_all(terms, max(1, (os.cpu_count() or 1) - 1))) as playing:
        results = sorted(playing, key=lambda result: result.pairing.number)
    table = "\n".join(format_results(terms, results))
    return f"## {registry.game_type(name).title}\n\n```\n{table}\n```\n"


if __name__ == "__main__":
    typer.run(strength)
