from __future__ import annotations

from pathlib import Path

from tabuleiro_server.arena.strength import strength


def test_the_page_holds_the_table_and_the_command_that_makes_it(tmp_path: Path) -> None:
    page = tmp_path / "STRENGTH.md"
    strength(page, games=1, game=["xero-g"], move_time=500)
    text = page.read_text()
    assert "    make strength GAMES=1 MOVE_TIME=500 ONLY='xero-g'\n" in text
    assert "## Xero-G\n\n```\nXero-G: 1 rounds, all games played" in text
    assert "greedy - random" in text or "random - greedy" in text
