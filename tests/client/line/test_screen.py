from __future__ import annotations

import io

import pytest

from tabuleiro.rules import registry
from tabuleiro_client.line.terminal import Screen
from tabuleiro_client.text.board import TextStyle


@pytest.fixture
def paper():
    return io.StringIO()


def screen(paper, *, ascii_only=False, has_prompt=True, width=None):
    return Screen(paper, TextStyle(color=False, ascii=ascii_only), has_prompt=has_prompt, width=width)


def test_what_others_wrote_cannot_steer_the_terminal(paper):
    screen(paper).say("eva: \x1b[2J\x1b]0;a title\x07\u202eolleh\r\nwinner: eva")
    assert paper.getvalue().count("\n") == 1
    assert paper.getvalue().removesuffix("\n").isprintable()


def test_the_spaces_of_a_table_stay(paper):
    screen(paper).say("ROOM   GAME", "  1  go")
    assert paper.getvalue() == "ROOM   GAME\n  1  go\n"


def test_nothing_beyond_ascii_where_it_is_not_wanted(paper):
    screen(paper, ascii_only=True).say("joão joined")
    assert paper.getvalue() == "jo?o joined\n"


def test_long_sentences_are_wrapped_between_words_and_commands_never(paper):
    narrow = screen(paper, width=20)
    narrow.say("a sentence that is longer than that", "short")
    narrow.say_command("tabuleiro play --server ws://127.0.0.1:8765 --room K7MQ4")
    assert paper.getvalue().splitlines() == [
        "a sentence that is",
        "longer than that",
        "short",
        "  tabuleiro play --server ws://127.0.0.1:8765 --room K7MQ4",
    ]


def test_news_begin_a_line_of_their_own_after_a_prompt_and_after_enter_none_is_lost(paper):
    shown = screen(paper)
    shown.prompt()
    shown.prompt()
    shown.say("news")
    shown.prompt()
    shown.line_was_typed()
    shown.say("answer")
    assert paper.getvalue() == "> \nnews\n> answer\n"


def test_a_pipe_gets_no_prompt(paper):
    piped = screen(paper, has_prompt=False)
    piped.prompt()
    piped.close_prompt()
    assert paper.getvalue() == ""


def test_a_board_stands_between_blank_lines_with_its_legend_when_asked(paper):
    view = registry.load("virus-wars", {"rows": 4, "cols": 4}).initial_state().view()
    screen(paper, ascii_only=True).show_board(view, show_legal=True, show_legend=True)
    lines = paper.getvalue().split("\n")
    assert lines[:2] == ["", "4 x + . ."]
    assert lines[-3].startswith("x blue virus")
    assert lines[-2:] == ["", ""]
