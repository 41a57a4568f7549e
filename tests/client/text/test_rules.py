"""Rules pages: their parts, and the move worked through on each of them."""

from __future__ import annotations

import pytest

from tabuleiro.rules import registry
from tabuleiro_client.text.board import TextStyle
from tabuleiro_client.text.rules import EXAMPLES, page_lines, parts_of

UNICODE = TextStyle(color=True, ascii=False)


@pytest.mark.parametrize("game", registry.names())
def test_a_page_begins_with_the_aim_and_ends_with_an_example(game):
    headings = [part.text for part in parts_of(registry.game_type(game).rules_page) if part.kind == "heading"]
    assert headings[:2] == [registry.game_type(game).title.upper(), "AIM"]
    assert headings[-1] == "EXAMPLE"


@pytest.mark.parametrize("game", registry.names())
def test_no_word_of_a_page_is_lost_in_its_parts_and_none_is_written_as_an_option(game):
    page = registry.game_type(game).rules_page
    words = [word for word in page.split() if word != "-"]
    assert " ".join(part.text for part in parts_of(page)).split() == words
    assert not any("=" in word for word in words)


@pytest.mark.parametrize("game", registry.names())
def test_the_move_of_the_example_is_legal_and_named_in_the_text(game):
    example = EXAMPLES[game]
    before, after = example.views(game)
    assert before != after
    *_, text = (part.text for part in parts_of(registry.game_type(game).rules_page))
    assert example.turn in text


def test_what_the_example_of_minefield_says_to_win_wins():
    before = registry.load("minefield", EXAMPLES["minefield"].options).initial_state()
    assert before.apply(before.string_to_action(EXAMPLES["minefield"].turn)).outcome.winner == 0


def test_what_the_example_of_iris_says_of_the_scores_is_so():
    assert EXAMPLES["iris"].views("iris")[1].scores == ((2, 2), (3, 3))


def test_pieces_are_named_as_they_are_drawn_unless_nothing_is():
    lines = page_lines(registry.game_type("virus-wars"), UNICODE)
    assert lines[-1] == (
        "Pieces: x blue virus, \N{SQUARED TIMES} blue zombie (\N{WHITE SQUARE WITH ROUNDED CORNERS} asleep), "
        "o red virus, \N{FISHEYE} red zombie (\N{DOTTED CIRCLE} asleep)"
    )
    assert (
        "zombie (" not in page_lines(registry.game_type("virus-wars"), TextStyle(False, True, is_spoken=True))[-1]
    )
