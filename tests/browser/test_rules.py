"""The rules of the games in a real browser."""

from __future__ import annotations

from typing import Any

import pytest

from tabuleiro.rules import registry
from tests.browser.play import SMALL, reported

pytestmark = pytest.mark.browser


@pytest.mark.parametrize("game", SMALL)
def test_the_rules_have_each_diagram_with_its_caption_and_links_to_the_sources(visit: Any, game: str) -> None:
    diagrams = registry.game_type(game).diagrams.values()
    page = visit(f"/rules/{game}")
    with reported(page):
        page.wait_for_selector("figure figcaption")
        boards = page.eval_on_selector_all(
            "figure", "all => all.map((each) => each.querySelectorAll('svg').length)"
        )
        assert boards == [1 + diagram.shows_both for diagram in diagrams]
        dots = page.eval_on_selector_all(
            "figure", "all => all.map((each) => each.querySelectorAll('.next').length)"
        )
        assert [count > 0 for count in dots] == [bool(diagram.allowed) for diagram in diagrams]
        links = page.eval_on_selector_all("article p a[href^=http]", "all => all.map((each) => each.href)")
        assert links
        assert not page.locator("article [role=grid]").count()
