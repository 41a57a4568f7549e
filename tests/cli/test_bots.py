"""``tabuleiro bots warm``: afterwards the search of every game is there at once."""

from __future__ import annotations

import os
import subprocess
import sys

import pytest
from typer.testing import CliRunner

from tabuleiro.rules import registry

pytest.importorskip("numba", reason="the extra `bots` is not installed, so there is nothing to compile")

from tabuleiro_server.bots.engine.iris import master as iris
from tabuleiro_server.bots.engine.kernels import CACHE_FOLDER
from tabuleiro_server.bots.engine.minefield import master as minefield
from tabuleiro_server.bots.engine.readiness import KERNELS
from tabuleiro_server.bots.engine.virus_wars import master as virus_wars
from tabuleiro_server.bots.engine.weights import weights_hash
from tabuleiro_server.bots.engine.xero_g import master as xero_g
from tabuleiro_server.cli.bots import app
from tests.patience import LIMIT_S


@pytest.mark.slow
def test_warm_gets_the_search_of_every_game_ready_and_keeps_it_on_disk() -> None:
    ended = CliRunner().invoke(app, ["warm"])
    assert ended.exit_code == 0
    assert str(CACHE_FOLDER) in ended.output.replace("\n", "")
    assert all(weights_hash(each.WEIGHTS_FILE) in ended.output for each in (virus_wars, xero_g, iris, minefield))
    assert all(KERNELS.searcher(registry.load(name), patience_s=0) for name in registry.names())
    assert any(CACHE_FOLDER.rglob("*.nbi"))


NOWHERE = "/dev/null/kernels"


def run_without_a_place(*arguments: str) -> subprocess.CompletedProcess[str]:
    """Run Python where machine code cannot be kept."""
    environment = os.environ | {"NUMBA_CACHE_DIR": NOWHERE}
    return subprocess.run(
        [sys.executable, *arguments], env=environment, capture_output=True, text=True, timeout=LIMIT_S, check=False
    )


@pytest.mark.slow
def test_warm_says_where_nothing_can_be_kept() -> None:
    ended = run_without_a_place("-m", "tabuleiro_client", "bots", "warm")
    assert (ended.returncode, ended.stdout) == (1, "")
    assert NOWHERE in ended.stderr
    assert "set NUMBA_CACHE_DIR to a folder that can" in ended.stderr


@pytest.mark.slow
def test_kernels_are_compiled_also_where_nothing_can_be_kept() -> None:
    lines = (
        "from tabuleiro_server.bots.engine.kernels import IS_KEPT, kernel",
        "print(IS_KEPT, kernel(lambda number: number + 1)(41))",
    )
    ended = run_without_a_place("-c", "\n".join(lines))
    assert (ended.stdout, ended.returncode) == ("False 42\n", 0), ended.stderr
