"""``make strength``: the strength of the built-in levels by games between them, as a page of tables.

The levels have limits of nodes and not of time. Games are kept in a file, and a later run continues there.
"""

from __future__ import annotations

import os
from collections.abc import Iterator, Mapping, Sequence
from contextlib import closing
from pathlib import Path
from typing import Annotated, Final

import typer

from tabuleiro.errors import ConfigError
from tabuleiro.rules import registry
from tabuleiro_server.arena.schedule import Terms, iter_pairings, parse_entrants
from tabuleiro_server.arena.workers import Job, play_jobs
from tools.strength.games import NODE_CAPS, LevelPair, PairGames, level_pairs
from tools.strength.page import format_page

SEED: Final = 2

STRETCH: Final = 10
"""The games of a pair before the next pair plays: all pairs always have about the same number."""


def strength(
    page: Annotated[Path, typer.Argument(metavar="FILE", help="The page to write.")],
    results: Annotated[Path, typer.Option(metavar="FILE", help="The file of games; a later run continues there.")],
    games: Annotated[int, typer.Option(min=1, help="Games of every pair of levels.")] = 200,
    game: Annotated[list[str] | None, typer.Option(help="Only this game; may be repeated.")] = None,
    max_nodes: Annotated[
        list[str] | None,
        typer.Option(metavar="GAME=N", help="The most nodes a turn of any level; may be repeated."),
    ] = None,
    jobs: Annotated[int | None, typer.Option(min=1, help="Games at a time; cores - 1 if left out.")] = None,
) -> None:
    """Play each level against the one below and the best one against the report's, and write the page."""
    names = tuple(game or registry.names())
    caps = {**NODE_CAPS, **dict(_parse_cap(text) for text in max_nodes or ())}
    pairs = [pair for name in names for pair in level_pairs(name, caps[name])]
    kept = PairGames(results, SEED)
    command = _command(names, games, caps)
    of_levels = {(pair.game, pair.weaker, pair.stronger): pair for pair in pairs}
    waiting = _iter_jobs(pairs, games, kept)
    with closing(play_jobs(waiting, jobs or max(1, (os.cpu_count() or 1) - 1))) as playing:
        _write(page, pairs, games, kept, command)
        for count, ((terms, _), result) in enumerate(playing, 1):
            weaker, stronger = (entrant.level for entrant in terms.entrants)
            kept.add(of_levels[terms.game, weaker, stronger], result)
            if count % STRETCH == 0:
                _write(page, pairs, games, kept, command)
    _write(page, pairs, games, kept, command)


def _iter_jobs(pairs: Sequence[LevelPair], games: int, kept: PairGames) -> Iterator[Job]:
    """Yield the games that are not yet played, some of every pair before more of any."""
    for first in range(1, games + 1, STRETCH):
        for pair in pairs:
            entrants = parse_entrants(pair.game, (pair.weaker, pair.stronger))
            terms = Terms(pair.game, {}, entrants, games, SEED, max_nodes=pair.budgets[0])
            played = kept.rounds_played(pair)
            for pairing in iter_pairings(terms):
                if first <= pairing.round < first + STRETCH and pairing.round not in played:
                    yield terms, pairing


def _write(page: Path, pairs: Sequence[LevelPair], games: int, kept: PairGames, command: str) -> None:
    tallies = {pair: kept.tally(pair, games) for pair in pairs}
    page.write_text(format_page(tallies, games, command), encoding="utf-8")


def _parse_cap(text: str) -> tuple[str, int]:
    """Read ``GAME=N``. Raises: ConfigError."""
    name, _, number = text.partition("=")
    if name not in NODE_CAPS or not number.isascii() or not number.isdigit() or int(number) < 1:
        raise ConfigError("strength", "--max-nodes", f"GAME=N with one of {', '.join(NODE_CAPS)} and a number")
    return name, int(number)


def _command(names: Sequence[str], games: int, caps: Mapping[str, int]) -> str:
    command = f"make strength GAMES={games}"
    if changed := [f"{name}={caps[name]}" for name in names if caps[name] != NODE_CAPS[name]]:
        command += f" NODES='{' '.join(changed)}'"
    if tuple(names) != registry.names():
        command += f" ONLY='{' '.join(names)}'"
    return command


if __name__ == "__main__":
    typer.run(strength)
