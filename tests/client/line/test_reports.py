from __future__ import annotations

import msgspec
import pytest

from tabuleiro.protocol.messages import RoomEntered, Snapshot
from tabuleiro.rules import registry
from tabuleiro_client.line.reports import MatchReport, RoomAnswers
from tabuleiro_client.line.terminal import Screen
from tabuleiro_client.net.mirror import Mirror
from tabuleiro_client.net.server import Signposts
from tabuleiro_client.text.board import TextStyle

HARD_CORNER = "...../..b../.b.../...../....w 1"


@pytest.fixture
def ask(one_room, make_paper):
    """Answers about a running match of any game, as its first player reads them."""
    head = one_room().head()

    def of(game, **options):
        loaded = registry.load(game, options)
        state = loaded.initial_state()
        match = msgspec.structs.replace(head.match, to_move=state.to_move, digest=state.digest())
        shown = msgspec.structs.replace(head, game=game, options=dict(loaded.options), match=match)
        mirror = Mirror("a1", RoomEntered(shown, 0, Snapshot(())))
        paper = make_paper()
        screen = Screen(paper, TextStyle(color=False, ascii=True), has_prompt=False)
        report = MatchReport(mirror, screen, Signposts("JOIN", "WATCH", "BACK"), is_watching=False)
        return RoomAnswers(mirror, screen, report), paper

    return of


def test_why_names_the_pattern_that_forbids_a_cell_of_minefield(ask):
    answers, paper = ask("minefield", size=5, position=HARD_CORNER)
    answers.show_choices()
    assert "- is a cell the rules forbid; why CELL explains it" in paper.getvalue()
    answers.show_why("B2")
    assert paper.getvalue().endswith(
        "White may not take b2: it would make a hard corner with black c2 and black b3.\n"
    )


@pytest.mark.parametrize(
    ("text", "answer"),
    [("c3", "White may not take c3"), ("c2", "c2: "), ("e1", "e1 may be played now"), ("z9", "cannot read 'z9'")],
)
def test_why_answers_for_every_cell(ask, text, answer):
    answers, paper = ask("minefield", size=5, position=HARD_CORNER)
    answers.show_why(text)
    assert answer in paper.getvalue()


@pytest.mark.parametrize("game", registry.names())
def test_a_question_mark_shows_choices_in_every_game(ask, game):
    answers, paper = ask(game)
    answers.show_choices()
    text = paper.getvalue()
    assert "your turn" in text
    assert "possible:" in text or "+ is an empty cell" in text or "> stands before" in text


def test_what_is_possible_beside_cells_is_listed(ask):
    answers, paper = ask("xero-g")
    answers.show_choices()
    assert "1@a1  2@a1  3@a1" in paper.getvalue()
