r"""A level against another player, by time on one core; games are kept, and a later run continues.

    python -m tools.strength.duel RESULTS.jsonl master Old="OLDER/.venv/bin/python tools/expert_engine.py" \
        --game xero-g --option setup=random --games 200 --move-time 300

Both players get the same time. They think one after the other, so that one core serves both.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import closing
from pathlib import Path
from typing import Annotated

import msgspec
import typer

from tabuleiro.errors import ConfigError
from tabuleiro.rules import registry
from tabuleiro_server.arena.schedule import Terms, iter_pairings, parse_entrants
from tabuleiro_server.arena.standings import Tally
from tabuleiro_server.arena.workers import Job, play_jobs


class DuelGame(msgspec.Struct, frozen=True):
    """One game: its number, the points of the first player (1, 0.5 or 0), and how it went.

    ``turn_ms`` are the mean times of a turn of the two players, in milliseconds.
    """

    number: int
    seat: int
    points: float
    termination: str
    fault: str | None
    plies: int
    turn_ms: tuple[float, float]


def duel(
    results: Annotated[Path, typer.Argument(metavar="FILE", help="The file of games; a later run continues.")],
    players: Annotated[list[str], typer.Argument(metavar="PLAYER...", help="Two, as in `tabuleiro arena`.")],
    game: Annotated[str, typer.Option(help="The game.")],
    option: Annotated[list[str] | None, typer.Option(help="NAME=VALUE, an option of the game.")] = None,
    games: Annotated[int, typer.Option(min=1, help="All games; sides change after each.")] = 200,
    move_time: Annotated[int, typer.Option(min=1, metavar="MS", help="Milliseconds for a turn.")] = 300,
    seed: Annotated[int, typer.Option(min=0, help="The seed of the openings.")] = 1,
) -> None:
    """Play the games that are not in the file yet, one at a time, and print the score after each."""
    if len(players) != 2:
        raise ConfigError("duel", "PLAYER", "two players")
    terms = Terms(
        game, registry.read_options(game, option or ()), parse_entrants(game, players), games, seed, move_time
    )
    results.touch()
    kept = {each.number: each for each in map(_read, results.read_bytes().splitlines())}
    with closing(play_jobs(_iter_jobs(terms, set(kept)), 1)) as playing:
        for _, result in playing:
            seat = result.pairing.sides.index(0)
            efforts = (result.efforts[seat], result.efforts[1 - seat])
            played = DuelGame(
                result.pairing.number,
                seat,
                0.5 if result.winner is None else float(result.winner == seat),
                result.termination,
                result.fault,
                len(result.actions),
                (
                    efforts[0].thought_ms / max(efforts[0].turns, 1),
                    efforts[1].thought_ms / max(efforts[1].turns, 1),
                ),
            )
            kept[played.number] = played
            with results.open("ab") as file:
                file.write(msgspec.json.encode(played) + b"\n")
            typer.echo(_score_line([each.points for each in kept.values()], games))
    typer.echo(_score_line([each.points for each in kept.values()], games))


def _read(line: bytes) -> DuelGame:
    return msgspec.json.decode(line, type=DuelGame)


def _iter_jobs(terms: Terms, played: set[int]) -> Iterator[Job]:
    for pairing in iter_pairings(terms):
        if pairing.number not in played:
            yield terms, pairing


def _score_line(points: list[float], games: int) -> str:
    tally = Tally(points.count(1.0), points.count(0.5), points.count(0.0))
    if tally.score is None or tally.interval is None:
        return "no games"
    low, high = tally.interval
    return (
        f"{len(points)} of {games} games: +{tally.wins} ={tally.draws} -{tally.losses}, "
        f"{tally.score:.1%}, 95 % {low:.1%}..{high:.1%}"
    )


if __name__ == "__main__":
    typer.run(duel)
