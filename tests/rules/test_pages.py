"""The rules pages: what their diagrams and stories claim is checked by the rules."""

from __future__ import annotations

import random
from collections.abc import Iterator

import pytest

from tabuleiro.rules import State, registry
from tabuleiro.rules.base import Termination
from tabuleiro.rules.page import ALL, Diagram, diagrams_in, words_of
from tabuleiro.rules.view import Mark

every_game = pytest.mark.parametrize("name", registry.names())


def all_diagrams() -> Iterator[tuple[str, str]]:
    for name in registry.names():
        for diagram in registry.game_type(name).diagrams:
            yield name, diagram


every_diagram = pytest.mark.parametrize(("name", "which"), all_diagrams())


def end_of(name: str, diagram: Diagram) -> State:
    state = registry.load(name, diagram.options).initial_state()
    for text in diagram.turn.split():
        state = state.apply(state.string_to_action(text))
    return state


def random_end(name: str, options: dict[str, int | str], seed: int) -> State:
    chance, state = random.Random(seed), registry.load(name, options).initial_state()
    while not state.is_terminal:
        actions = [action for action in state.legal_actions() if state.action_to_string(action) != "pass"]
        state = state.child(chance.choice(actions))
    return state


@every_game
def test_every_diagram_has_its_place_on_the_page_and_the_page_names_no_other(name: str) -> None:
    game = registry.game_type(name)
    placed = [found for line in game.rules_page.splitlines() for found in diagrams_in(line)]
    assert placed == list(game.diagrams)
    assert all(diagram.caption.isascii() for diagram in game.diagrams.values())


@every_diagram
def test_what_a_diagram_claims_is_so(name: str, which: str) -> None:
    diagram = registry.game_type(name).diagrams[which]
    state = end_of(name, diagram)
    for text in diagram.allowed.split():
        assert text == ALL or state.is_legal(state.string_to_action(text)), text
    for text in diagram.refused.split():
        assert not state.is_legal(state.string_to_action(text)), text
    assert (state.outcome.winner if state.outcome else None) == diagram.winner


@every_diagram
def test_a_diagram_marks_what_it_tells_of_and_nothing_else(name: str, which: str) -> None:
    game = registry.game_type(name)
    diagram = game.diagrams[which]
    *before, end = game.stages(which)
    assert len(before) == diagram.shows_both
    for mark, texts in ((Mark.LEGAL, diagram.allowed), (Mark.FORBIDDEN, diagram.refused)):
        count = sum(mark in cell.marks for cell in end.view.cells)
        assert count == len(end_of(name, diagram).legal_actions() if texts == ALL else texts.split())
        assert not any(mark in cell.marks for stage in before for cell in stage.view.cells)


@every_diagram
def test_a_caption_explains_each_sign_that_is_drawn(name: str, which: str) -> None:
    diagram = registry.game_type(name).diagrams[which]
    assert ("(-)" in diagram.caption) == bool(diagram.refused)
    assert ("(+)" in diagram.caption or "(*)" in diagram.caption) == bool(diagram.allowed)


@every_game
def test_clients_that_draw_nothing_read_the_captions_in_the_places_of_the_diagrams(name: str) -> None:
    game = registry.game_type(name)
    text = words_of(game.rules_page, game.diagrams)
    assert not any(diagrams_in(line) for line in text.splitlines())
    assert all(diagram.caption in text for diagram in game.diagrams.values())


def test_the_ends_that_the_pages_show_are_those_of_the_rules() -> None:
    def termination(name: str, which: str) -> Termination:
        outcome = end_of(name, registry.game_type(name).diagrams[which]).outcome
        assert outcome is not None
        return outcome.termination

    assert termination("virus-wars", "end") == Termination.BLOCKED
    assert termination("xero-g", "end") == Termination.BASE
    assert termination("iris", "passes") == termination("iris", "full") == Termination.SCORE
    assert termination("minefield", "end") == Termination.CONNECTION
    assert termination("minefield", "draw") == Termination.DEADLOCK


def test_the_scores_in_the_captions_of_iris_are_those_on_the_board() -> None:
    diagrams = registry.game_type("iris").diagrams
    assert end_of("iris", diagrams["example"]).view().scores == ((2, 2), (3, 3))
    assert end_of("iris", diagrams["passes"]).view().scores == ((3, 3), (1, 1))
    assert end_of("iris", diagrams["full"]).view().scores == ((8, 1, 1), (6, 4, 3, 1))


def test_on_full_boards_of_iris_an_odd_number_of_groups_scores() -> None:
    for seed in range(25):
        scores = random_end("iris", {"side": 5}, seed).view().scores
        assert scores is not None
        assert (len(scores[0]) + len(scores[1])) % 2 == 1, seed


def test_random_matches_of_minefield_are_drawn_only_without_the_mines() -> None:
    def draws(rules: str) -> int:
        outcomes = [random_end("minefield", {"size": 7, "rules": rules}, seed).outcome for seed in range(30)]
        return sum(outcome is not None and outcome.winner is None for outcome in outcomes)

    assert draws("beginner") > 10
    assert draws("standard") == 0
