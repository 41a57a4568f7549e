"""Virus Wars, case by case. Source: RULES.md, "Virus Wars"."""

from __future__ import annotations

from random import Random

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tabuleiro.errors import GameOptionError, IllegalActionError
from tabuleiro.rules import State, Termination, registry
from tabuleiro.rules.games.virus_wars import VirusWarsState
from tabuleiro.rules.view import Mark

SMALL = {"rows": 4, "cols": 4, "steps": 2}


def start(**options: int | str) -> VirusWarsState:
    state = registry.load("virus-wars", {**SMALL, **options}).initial_state()
    assert isinstance(state, VirusWarsState)
    return state


def play(state: State, *texts: str) -> State:
    for text in texts:
        state = state.apply(state.string_to_action(text))
    return state


def legal(state: State) -> list[str]:
    return [state.action_to_string(action) for action in state.legal_actions()]


def test_corners_opening_puts_one_virus_in_each_corner() -> None:
    assert start().to_position() == "...o/..../..../x... 0 2"
    assert legal(start()) == ["a3", "b3", "b4"]


def test_edges_opening_starts_on_the_edge_of_the_player() -> None:
    state = start(opening="edges")
    assert legal(state) == ["a1", "a2", "a3", "a4"]
    state = play(state, "a2", "b2")
    assert legal(state) == ["d1", "d2", "d3", "d4"]
    with pytest.raises(IllegalActionError, match="right column"):
        play(state, "c2")


def test_a_free_first_virus_leaves_all_actions_of_the_turn_to_both_players() -> None:
    state = start(steps=3, opening="edges", first_virus="free")
    assert state.view().actions_left == 3
    assert [edge.text for edge in state.view().edges] == ["blue starts for free", "red starts for free"]
    after = play(state, "a2")
    assert (after.to_move, after.turn_number, after.actions_in_turn) == (0, 1, 1)
    assert after.to_position() == "..../x.../..../.... 0 3"
    after = play(after, "b2", "b3", "c3")
    assert after.to_position() == "..../xx../.xx./.... 1 3"
    assert legal(after) == ["d1", "d2", "d3", "d4"]
    after = play(after, "d4", "c3", "c4")
    assert after.to_move == 1
    after = play(after, "c2")
    assert after.to_position() == "..../xxo./.xO./..oo 0 3"
    assert (after.turn_number, after.view().edges) == (3, ())


def test_the_worked_example_of_report_a_has_three_cells_for_each_and_four_pieces_after_a_turn() -> None:
    """[VW-A]: 4 x 4, three actions. Both reach three cells; its figures show four blue pieces after turn 1."""
    corners = start(steps=3)
    assert [corners.accessible_to(player).bit_count() for player in (0, 1)] == [3, 3]
    preset = {**registry.preset("virus-wars", "feup-a"), "rows": 4, "cols": 4}
    state: State = registry.load("virus-wars", preset).initial_state()
    for texts, piece in ((("a1", "a2", "b1", "b2"), "x"), (("d4", "c4", "d3", "c3"), "o")):
        state = play(state, *texts)
        assert [cell.piece for cell in state.view().cells].count(piece) == 4
    assert (state.to_move, state.turn_number) == (0, 3)


def test_a_player_who_enters_a_full_column_but_one_cell_is_not_blocked() -> None:
    state = play(start(steps=3, opening="edges", first_virus="free"), "a4", "b4", "c4", "d4")
    assert legal(state) == ["d1", "d2", "d3"]


def test_a_first_virus_that_counts_is_no_option_of_the_game() -> None:
    counts = registry.load("virus-wars", {"opening": "edges", "first_virus": "counts"})
    assert counts == registry.load("virus-wars", {"opening": "edges"})
    assert "first_virus" not in counts.options


def test_first_turn_may_be_shorter() -> None:
    state = play(start(first_turn_steps=1), "a3")
    assert (state.to_move, state.turn_number, state.actions_in_turn) == (1, 2, 0)
    state = play(state, "c1", "b1")
    assert (state.to_move, state.turn_number) == (0, 3)


def test_absorbing_turns_a_virus_into_a_zombie_of_the_mover() -> None:
    state = play(start(position="..../.xo./..../.... 0 2"), "c2")
    assert state.to_position() == "..../.xX./..../.... 0 1" or state.is_terminal


def test_zombie_chain_without_virus_is_asleep() -> None:
    state = start(position="xX../..../..XX/...o 0 2")
    view = state.view()
    marks = {cell.name: cell.marks for cell in view.cells}
    assert Mark.AWAKE in marks["b1"]
    assert Mark.ASLEEP in marks["c3"]
    assert Mark.ASLEEP in marks["d3"]
    assert "c2" in legal(state)
    assert "b4" not in legal(state)
    assert "d4" not in legal(state)
    kinds = sorted((note.kind, len(note.cells)) for note in view.notes)
    assert kinds == [("zombies-asleep", 2), ("zombies-awake", 1)]


def test_sleeping_zombies_wake_when_joined_in_the_same_turn() -> None:
    state = play(start(position="xX../..../..XX/...o 0 2"), "c2")
    assert "d4" in legal(state)
    assert Mark.AWAKE in {cell.name: cell.marks for cell in state.view().cells}["d3"]


def test_no_legal_action_loses_even_in_mid_turn() -> None:
    state = start(position="x.OO/OOOO/OOOO/OOOo 0 2")
    state = play(state, "b1")
    assert state.actions_in_turn == 1
    assert state.is_terminal
    assert state.to_move is None
    assert state.outcome is not None
    assert (state.outcome.winner, state.outcome.termination) == (1, Termination.BLOCKED)
    assert state.view().actions_left is None


@pytest.mark.parametrize(
    ("text", "reason"),
    [
        ("a4", "your own virus"),
        ("d1", "no virus or awake zombie next to it"),
        ("b1", "zombies never change"),
    ],
)
def test_an_illegal_cell_is_refused_with_its_reason(text: str, reason: str) -> None:
    with pytest.raises(IllegalActionError, match=reason):
        play(start(position=".O.o/..../..../x... 0 2"), text)


@pytest.mark.parametrize("text", ["a3", " A3 ", "(3,1)", "3-1", "[3, 1]"])
def test_report_forms_name_row_and_column(text: str) -> None:
    state = start()
    assert state.action_to_string(state.string_to_action(text)) == "a3"


def test_a_position_of_the_largest_board_is_written_and_read_back() -> None:
    state, chance = start(rows=30, cols=30, steps=9), Random(1)
    for _ in range(700):
        state = state.child(chance.choice(state.legal_actions()))
    again = start(rows=30, cols=30, steps=9, position=state.to_position())
    assert again.to_position() == state.to_position()
    assert legal(again) == legal(state)


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"rows": 3}, "rows: 3 .* from 4 to 30"),
        ({"steps": 3, "first_turn_steps": 4}, "first_turn_steps: 4 .* 1 to steps"),
        ({"steps": 4, "opening": "edges"}, "fewer steps than columns"),
        ({"opening": "middle"}, "corners, edges"),
        ({"first_virus": "free"}, "first_virus: .* counts, unless the opening is edges"),
        ({"opening": "edges", "first_virus": "dear"}, "counts, free"),
        ({"position": "nonsense"}, "3 parts"),
        ({"position": "..../..../.... 0 1"}, "4 rows"),
        ({"position": "..../..../..../... 0 1"}, "4 cells in row 4"),
        ({"position": "..../..../..../..?. 0 1"}, "only '.xoXO'"),
        ({"position": "..../..../..../x..o 2 1"}, "0 or 1 as the player to move"),
        ({"position": "..../..../..../x..o 0 3"}, "1 to 2 actions left"),
        ({"position": "..../..../..../x..o 0 0011111"}, "1 to 2 actions left"),
        ({"position": "..../..../..../x..o 0 \u0662"}, "1 to 2 actions left"),
        ({"position": "..../..../..../...o 0 2"}, "a virus of player 0"),
    ],
)
def test_impossible_options_are_refused_with_the_reason(options: dict[str, int | str], message: str) -> None:
    with pytest.raises(GameOptionError, match=message):
        start(**options)


@settings(max_examples=30)
@given(random=st.randoms(use_true_random=False), opening=st.sampled_from(["corners", "edges"]))
def test_zombies_never_change(random: object, opening: str) -> None:
    state: State = registry.load(
        "virus-wars", {"rows": 6, "cols": 6, "steps": 3, "opening": opening}
    ).initial_state()
    zombies: dict[int, str] = {}
    while not state.is_terminal:
        state = state.child(random.choice(state.legal_actions()))  # type: ignore[attr-defined]
        pieces = {cell.index: cell.piece for cell in state.view().cells if cell.piece in "XO"}
        assert zombies.items() <= pieces.items()
        zombies = pieces
