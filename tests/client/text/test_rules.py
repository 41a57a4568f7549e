"""Rules pages: their parts, and how they are printed."""

from __future__ import annotations

import pytest

from tabuleiro.rules import registry
from tabuleiro.rules.page import parts_of
from tabuleiro_client.text.board import TextStyle
from tabuleiro_client.text.rules import page_lines

UNICODE = TextStyle(color=True, ascii=False)
ASCII = TextStyle(color=False, ascii=True)


@pytest.mark.parametrize("game", registry.names())
def test_a_page_begins_with_the_aim_and_ends_with_its_stories(game):
    headings = [part.text for part in parts_of(registry.game_type(game).rules_page) if part.kind == "heading"]
    assert headings[:2] == [registry.game_type(game).title.upper(), "AIM"]
    assert headings[-4:] == ["EXAMPLE", "THE END", "DID YOU KNOW", "HISTORY"]


@pytest.mark.parametrize("game", registry.names())
def test_no_word_of_a_page_is_lost_in_its_parts_and_none_is_written_as_an_option(game):
    page = registry.game_type(game).rules_page
    words = [word.strip("[]") for word in page.split() if word != "-"]
    assert " ".join(part.text for part in parts_of(page)).split() == words
    assert not any("=" in word for word in words)


@pytest.mark.parametrize("game", registry.names())
def test_the_move_of_the_example_is_named_in_the_text(game):
    page = registry.game_type(game).rules_page
    assert registry.game_type(game).diagrams["example"].turn in page.partition("EXAMPLE")[2]


def test_a_printed_page_has_its_diagrams_with_their_captions_beside_them():
    lines = page_lines(registry.game_type("virus-wars"), ASCII)
    at = lines.index("    4 + + + . .   From the virus on b3 blue reaches the eight cells around it")
    assert lines[at + 1 : at + 4] == ["    3 + x + . .   (+).", "    2 + + + . .", "    1 . . . . o"]
    assert "[spread]" not in "".join(lines)


@pytest.mark.parametrize("game", registry.names())
def test_a_page_that_is_listened_to_has_words_alone(game):
    spoken = "\n".join(page_lines(registry.game_type(game), TextStyle(False, True, is_spoken=True)))
    assert all(diagram.caption in spoken for diagram in registry.game_type(game).diagrams.values())
    assert " . ." not in spoken


def test_pieces_are_named_as_they_are_drawn_unless_nothing_is():
    lines = page_lines(registry.game_type("virus-wars"), UNICODE)
    assert " ".join(lines[-2:]) == (
        "Pieces: x blue virus, \N{SQUARED TIMES} blue zombie (\N{WHITE SQUARE WITH ROUNDED CORNERS} asleep), "
        "o red virus, \N{FISHEYE} red zombie (\N{DOTTED CIRCLE} asleep)"
    )
    assert (
        "zombie (" not in page_lines(registry.game_type("virus-wars"), TextStyle(False, True, is_spoken=True))[-1]
    )
