"""``make train``: weights for the level ``master``, learnt from games of bots.

The same seed, number of games and versions give the same weights again.
"""

from __future__ import annotations

import os
from collections.abc import Mapping
from pathlib import Path
from typing import Annotated, Final

# Before numpy is imported: sums in another order would give other weights.
os.environ["OPENBLAS_NUM_THREADS"] = "1"

import typer

from tabuleiro.errors import ConfigError
from tabuleiro.rules.games.iris import Iris
from tabuleiro.rules.games.minefield import Minefield
from tabuleiro.rules.games.virus_wars import VirusWars
from tabuleiro.rules.games.xero_g import XeroG
from tabuleiro_server.bots.engine.iris import master as iris_master
from tabuleiro_server.bots.engine.minefield import master as minefield_master
from tabuleiro_server.bots.engine.virus_wars import master as virus_wars_master
from tabuleiro_server.bots.engine.weights import weights_hash
from tabuleiro_server.bots.engine.xero_g import master as xero_g_master
from tools.train import iris, minefield, virus_wars, xero_g
from tools.train.games import Train

_TRAINERS: Final[Mapping[str, tuple[Train, Path, int]]] = {
    VirusWars.name: (virus_wars.train, virus_wars_master.WEIGHTS_FILE, 480),
    XeroG.name: (xero_g.train, xero_g_master.WEIGHTS_FILE, 600),
    Iris.name: (iris.train, iris_master.WEIGHTS_FILE, 120),
    Minefield.name: (minefield.train, minefield_master.WEIGHTS_FILE, 100),
}
"""What learns, where the weights go, and the number of games if none is given."""


def train(
    game: Annotated[str, typer.Argument(help="The game.")],
    games: Annotated[int | None, typer.Option(min=14, help="The games to learn from.")] = None,
    seed: Annotated[int, typer.Option(min=0, help="The seed of all chance.")] = 1,
    jobs: Annotated[int | None, typer.Option(min=1, help="Games at a time; cores - 1 if left out.")] = None,
) -> None:
    """Play games, learn weights from them, and write these where ``master`` reads them."""
    if game not in _TRAINERS:
        raise ConfigError("train", "GAME", f"one of {', '.join(_TRAINERS)}")
    trainer, file, usual_games = _TRAINERS[game]
    file.write_bytes(trainer(games or usual_games, seed, jobs or max(1, (os.cpu_count() or 1) - 1), typer.echo))
    typer.echo(f"{file}: {weights_hash(file)}")


if __name__ == "__main__":
    typer.run(train)
