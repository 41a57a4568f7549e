"""``tabuleiro bots``: prepare the bots of this machine."""

from __future__ import annotations

import time

import typer

from tabuleiro.rules.games.iris import Iris
from tabuleiro.rules.games.minefield import Minefield
from tabuleiro.rules.games.virus_wars import VirusWars
from tabuleiro.rules.games.xero_g import XeroG
from tabuleiro_server.bots import engine
from tabuleiro_server.bots.engine.readiness import KERNELS, MASTER_KERNELS, mark_compiled
from tabuleiro_server.bots.engine.weights import weights_hash

app = typer.Typer(no_args_is_help=True, help="Prepare the bots of this machine.")


@app.callback()
def bots() -> None:
    """Prepare the bots of this machine."""


@app.command()
def warm() -> None:
    """Compile the search of every game now, so that no bot waits for it; a minute or two the first time."""
    started_s = time.monotonic()
    # Imported first for the message about the extra, should it be missing.
    from tabuleiro_server.bots.engine.kernels import CACHE_FOLDER, IS_KEPT

    if not IS_KEPT:
        message = (
            f"{CACHE_FOLDER} cannot be written; set NUMBA_CACHE_DIR to a folder that can, here and for the server"
        )
        typer.echo(f"tabuleiro: {message}", err=True)
        raise typer.Exit(1)
    from tabuleiro_server.bots.engine.iris import master as iris
    from tabuleiro_server.bots.engine.minefield import master as minefield
    from tabuleiro_server.bots.engine.virus_wars import master as virus_wars
    from tabuleiro_server.bots.engine.xero_g import master as xero_g

    if KERNELS.finish() and MASTER_KERNELS.finish():
        for name in engine.SEARCHED_GAMES:
            mark_compiled(name)
    typer.echo(f"the bots are ready after {time.monotonic() - started_s:.1f} s, kept in {CACHE_FOLDER}")
    typer.echo(
        f"master of {VirusWars.title} leads its tree by the weights {weights_hash(virus_wars.WEIGHTS_FILE)}"
    )
    typer.echo(f"master of {XeroG.title} estimates by the weights {weights_hash(xero_g.WEIGHTS_FILE)}")
    typer.echo(f"master of {Iris.title} guesses by the weights {weights_hash(iris.WEIGHTS_FILE)}")
    typer.echo(f"master of {Minefield.title} guesses by the weights {weights_hash(minefield.WEIGHTS_FILE)}")
