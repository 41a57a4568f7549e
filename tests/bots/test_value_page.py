"""The value function that server/BOTS.md shows plays."""

from __future__ import annotations

from pathlib import Path

from tabuleiro.rules import registry
from tabuleiro_server.bots.levels import choose
from tests.net.bots_page import block


def test_the_value_function_of_the_page_chooses_an_action(tmp_path: Path) -> None:
    (tmp_path / "mine.py").write_text(block("python value"), encoding="utf-8")
    state = registry.load("minefield", {"size": 5}).initial_state()
    choice = choose(state, f"alpha-beta depth=1 eval={tmp_path / 'mine.py'}", 1)
    # A stone in the middle has four free neighbours, one at the rim fewer.
    assert "1" not in state.action_to_string(choice.actions[0])
