r"""How far the values of an analysis can be trusted, measured on games that levels play for it.

    python -m tools.strength.trust xero-g --option setup=random --games 100
    python -m tools.strength.trust xero-g --option setup=random --games 100 --python OLDER/.venv/bin/python

The second line measures the analysis of another checkout on the same games. A value is read as the chance of a
win, a draw for half of one. Positions with a proven result are left out: there is nothing to be estimated.
"""

from __future__ import annotations

import itertools
import json
import subprocess
import sys
from collections.abc import Iterable, Iterator, Sequence
from contextlib import closing
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated, Final

import numpy as np
import typer

from tabuleiro.errors import ConfigError
from tabuleiro.rules import registry
from tabuleiro_server.arena.play import GameResult
from tabuleiro_server.arena.schedule import Terms, parse_entrants
from tabuleiro_server.arena.workers import play_all
from tabuleiro_server.bots.analysis import Calibration

ENGINE: Final = Path(__file__).parent.parent / "value_engine.py"
BINS_COUNT: Final = 10
_CERTAIN: Final = 0.9999
_STEPS_COUNT: Final = 50
_DAMPING: Final = 1e-6

LEVEL: Final = "hard"
"""Both players of the games."""


@dataclass(frozen=True, slots=True)
class Estimate:
    """A position without a proven result: its game, turn and mover, its value for player 0, and what came of it.

    ``value`` is from -1 to 1; ``points`` are those of player 0: 1, 0.5 or 0.
    """

    game: int
    turn: int
    mover: int
    value: float
    points: float

    @property
    def chance(self) -> float:
        """The points that player 0 can expect."""
        return (1 + self.value) / 2


def flips(estimates: Sequence[Estimate]) -> tuple[int, int]:
    """Return how often the sign changes from one turn of a game to the next, and of how many such pairs."""
    pairs = [
        (one, other)
        for one, other in itertools.pairwise(estimates)
        if one.game == other.game and other.turn == one.turn + 1
    ]
    return sum(one.value * other.value < 0 for one, other in pairs), len(pairs)


def brier_score(estimates: Sequence[Estimate]) -> float:
    """Return the mean of the squared differences between chance and points: 0 is perfect, 0.25 knows nothing."""
    return sum((each.chance - each.points) ** 2 for each in estimates) / len(estimates)


def reliability(estimates: Iterable[Estimate]) -> Iterator[tuple[int, float, float]]:
    """Yield for each tenth of the chances that occurs: how many, the mean chance, and the mean points."""
    by_bin: dict[int, list[Estimate]] = {}
    for each in estimates:
        by_bin.setdefault(min(int(each.chance * BINS_COUNT), BINS_COUNT - 1), []).append(each)
    for _, those in sorted(by_bin.items()):
        chance = sum(each.chance for each in those) / len(those)
        yield len(those), chance, sum(each.points for each in those) / len(those)


def best_calibration(estimates: Sequence[Estimate]) -> Calibration:
    """Return the calibration that makes the outcomes of the games likeliest, by Newton's method.

    For values that are calibrated already, slope 1 and lead 0 mean that there is nothing to mend.
    """
    signs = np.array([-1.0 if each.mover else 1.0 for each in estimates])
    raw = np.clip([each.value for each in estimates], -_CERTAIN, _CERTAIN)
    points = np.array([each.points for each in estimates])
    features = np.column_stack((2 * np.arctanh(raw), signs))
    weights = np.zeros(2)
    for _ in range(_STEPS_COUNT):
        chances = 1 / (1 + np.exp(-features @ weights))
        curvature = features.T @ (features * (chances * (1 - chances))[:, None]) + _DAMPING * np.eye(2)
        weights += np.linalg.solve(curvature, features.T @ (points - chances))
    return Calibration(float(weights[0]), float(weights[1]))


app = typer.Typer()


@app.command()
def trust(
    game: Annotated[str, typer.Argument(metavar="GAME", help="The game.")],
    option: Annotated[list[str] | None, typer.Option(help="NAME=VALUE, an option of the game.")] = None,
    games: Annotated[int, typer.Option(min=1, help="The games to play and to judge.")] = 100,
    max_nodes: Annotated[
        int, typer.Option(min=1, help="Nodes for each position, and at most for a turn.")
    ] = 20_000,
    seed: Annotated[int, typer.Option(min=0, help="The seed of the games.")] = 1,
    python: Annotated[
        Path, typer.Option(metavar="PROGRAM", help="The Python of the checkout whose analysis is measured.")
    ] = Path(sys.executable),
) -> None:
    """Play games between equals, analyse each position of them, and print what the values were worth."""
    options = registry.read_options(game, option or ())
    terms = Terms(game, options, parse_entrants(game, (LEVEL, LEVEL)), games, seed, max_nodes=max_nodes)
    with closing(play_all(terms, 1)) as playing:
        results = sorted(playing, key=lambda result: result.pairing.number)
    estimates = list(_iter_estimates(game, results, max_nodes, python))
    if not estimates:
        raise ConfigError("trust", "--max-nodes", "fewer: every position has a proven result")
    changed, pairs = flips(estimates)
    typer.echo(
        f"{game}: {games} games, {len(estimates)} positions without a proven result, {max_nodes} nodes each"
    )
    typer.echo(f"sign changed in {changed} of {pairs} successive turns: {changed / max(pairs, 1):.1%}")
    best = best_calibration(estimates)
    typer.echo(
        f"Brier score {brier_score(estimates):.4f}; best slope {best.slope:.2f}, best lead {best.lead:+.2f}"
    )
    typer.echo("positions  chance  points")
    for count, chance, points in reliability(estimates):
        typer.echo(f"{count:9}  {chance:6.1%}  {points:6.1%}")


def _iter_estimates(game: str, results: Sequence[GameResult], max_nodes: int, python: Path) -> Iterator[Estimate]:
    with subprocess.Popen([python, ENGINE], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True) as engine:
        assert engine.stdin is not None
        assert engine.stdout is not None
        for result in results:
            points = 0.5 if result.winner is None else float(result.winner == 0)
            order = (game, dict(result.pairing.options), result.actions, max_nodes)
            print(json.dumps(order), file=engine.stdin, flush=True)
            for turn, mover, value, is_proven in json.loads(engine.stdout.readline()):
                if not is_proven:
                    yield Estimate(result.pairing.number, turn, mover, -value if mover else value, points)


if __name__ == "__main__":
    app()
