"""The engine in Prolog of server/BOTS.md plays as the report's player does."""

from __future__ import annotations

import asyncio
import shutil
from pathlib import Path

import pytest

from tabuleiro.rules import registry
from tabuleiro.rules.games.virus_wars import VirusWarsState
from tabuleiro_server.arena.play import play_game
from tabuleiro_server.arena.schedule import Entrant, Pairing, Terms
from tabuleiro_server.bots.look_ahead import UNLIMITED
from tabuleiro_server.bots.minimax import best_actions
from tests.net.bots_page import block
from tests.patience import LIMIT_S

pytestmark = pytest.mark.skipif(
    shutil.which("swipl") is None, reason="SWI-Prolog is not installed (Debian: swi-prolog-nox)"
)


@pytest.mark.parametrize(("opening", "cols"), [("corners", 6), ("edges", 6), ("edges", 28)])
async def test_it_takes_the_actions_of_the_highest_mobility(tmp_path: Path, opening: str, cols: int) -> None:
    (tmp_path / "mobility.pl").write_text(block("prolog"), encoding="utf-8")
    prolog = Entrant("prolog", command=("swipl", str(tmp_path / "mobility.pl")))
    options: dict[str, int | str] = {
        "first_turn_steps": 1,
        "rows": 5,
        "cols": cols,
        "steps": 2,
        "opening": opening,
    }
    terms = Terms("virus-wars", options, (Entrant("random", level="random"), prolog), 1, 1, max_plies=40)
    async with asyncio.timeout(LIMIT_S):
        result = await play_game(terms, Pairing(1, 1, (0, 1), options, (3, 4)))
    assert result.fault is None
    state = registry.load("virus-wars", options).initial_state()
    for text in result.actions:
        assert isinstance(state, VirusWarsState)
        action = state.string_to_action(text)
        if state.to_move == 1:
            assert action in (best_actions(state, 1, UNLIMITED) or ())
        state = state.apply(action)
    assert state.is_terminal or len(result.actions) >= 40
