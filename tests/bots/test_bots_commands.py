"""``tabuleiro bots warm``: afterwards the search of every game is there at once."""

from __future__ import annotations

import pytest
from typer.testing import CliRunner

from tabuleiro.rules import registry

pytest.importorskip("numba", reason="the extra `bots` is not installed, so there is nothing to compile")

from tabuleiro_server.bots.engine.compiled import CACHE_FOLDER
from tabuleiro_server.bots.engine.readiness import KERNELS
from tabuleiro_server.bots_commands import app


def test_warm_gets_the_search_of_every_game_ready_and_keeps_it_on_disk() -> None:
    ended = CliRunner().invoke(app, ["warm"])
    assert ended.exit_code == 0
    assert str(CACHE_FOLDER) in ended.output.replace("\n", "")
    assert all(KERNELS.searcher(registry.load(name), patience_s=0) for name in registry.names())
    assert any(CACHE_FOLDER.rglob("*.nbi"))
