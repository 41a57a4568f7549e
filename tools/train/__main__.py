"""``make train``: weights for the estimates of the level ``master``, learnt from games of bots.

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
from tabuleiro.rules.games.xero_g import XeroG
from tabuleiro_server.bots.engine.xero_g import master
from tools.train import xero_g

_TRAINERS: Final[Mapping[str, tuple[xero_g.Train, Path]]] = {XeroG.name: (xero_g.train, master.WEIGHTS_FILE)}


def train(
    game: Annotated[str, typer.Argument(help="The game.")],
    games: Annotated[int, typer.Option(min=14, help="The games to learn from.")] = 600,
    seed: Annotated[int, typer.Option(min=0, help="The seed of all chance.")] = 1,
    jobs: Annotated[int | None, typer.Option(min=1, help="Games at a time; cores - 1 if left out.")] = None,
) -> None:
    """Play games, learn weights from them, and write these where ``master`` reads them."""
    if game not in _TRAINERS:
        raise ConfigError("train", "GAME", f"one of {', '.join(_TRAINERS)}")
    trainer, file = _TRAINERS[game]
    file.write_bytes(trainer(games, seed, jobs or max(1, (os.cpu_count() or 1) - 1), typer.echo))
    typer.echo(f"{file}: {master.weights_hash()}")


if __name__ == "__main__":
    typer.run(train)
