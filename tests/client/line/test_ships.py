from __future__ import annotations

import pytest

from tabuleiro.errors import IllegalActionError, NotationError
from tabuleiro.rules import registry
from tabuleiro.rules.view import Mark
from tabuleiro_client.line.ships import answered, open_move, overview, question_lines, route_lines, sight_of

NEAR_BASE = "000000/000000/000000/000000/132321/123123 0"
START = "132321/000000/000000/000000/000000/123123 0"


@pytest.fixture
def state():
    return registry.load("xero-g", {"position": START}).initial_state()


def test_naming_a_ship_marks_where_it_can_go_and_nothing_else(state):
    sight = sight_of(state, "C1")
    marked = {cell.name for cell in sight.view.cells if Mark.LEGAL in cell.marks}
    assert marked == {landing.name for landing in state.landings_of(2)} == {"b2", "d2", "c3"}
    assert sight.lines == ("the 2 on c1 can end on b2 d2 c3: type e.g. c1-b2",)


def test_a_ship_that_can_land_on_another_is_told_to_boost_or_reprogram(state):
    lines = sight_of(state, "(1,1)").lines
    assert lines[1] == (
        "it can land on the 3 on b1: boost on to a1 c1(2) d2 a3 c3 b4, or reprogram that one; type a1xb1"
    )
    assert lines[2] == "it can land on the 2 on c1: reprogram that one; type a1xc1"


def test_a_ship_that_cannot_move_is_told_with_the_home_row(state):
    assert sight_of(state, "a6").lines == ("the 1 on a6 cannot move now", "home row of south: row 1")


@pytest.mark.parametrize("text", ["c3", "z9", "a1-b3", "hello", "base"])
def test_what_names_no_ship_shows_nothing(state, text):
    assert sight_of(state, text) is None


def test_a_ship_that_can_enter_the_base_is_told_so_and_the_base_is_marked():
    state = registry.load("xero-g", {"position": NEAR_BASE}).initial_state()
    targets = {}
    for name in ("a5", "c5"):
        sight = sight_of(state, name)
        targets[name] = [edge.is_target for edge in sight.view.edges if edge.owner == 0], " base" in sight.lines[0]
    assert targets == {"a5": ([True], True), "c5": ([False], False)}


@pytest.mark.parametrize("text", ["a1-b1", "a1xb1", "A1 x B1", "(1,1)-(1,2)"])
def test_a_move_onto_a_ship_leaves_open_what_becomes_of_it(state, text):
    question = open_move(state, text)
    assert question.position == state
    assert question_lines(question)[:2] == (
        "your 1 on a1 lands on the 3 on b1; type",
        "  boost SQUARE      to run on from b1, to a1 c1(2) d2 a3 c3 b4",
    )


@pytest.mark.parametrize("text", ["a1-b4", "a1xb1@c4", "hello", "", "a1", "3@c1"])
def test_what_is_a_whole_action_or_none_leaves_nothing_open(state, text):
    assert open_move(state, text) is None


@pytest.mark.parametrize(
    ("text", "reason"),
    [
        ("a1xf1", "no run of the ship on a1, boosted or not, ends on f1"),
        ("a1-f1", "no run of the ship on a1, boosted or not, ends on f1"),
        ("a1xa2", "a2 is empty: there is nothing to reprogram"),
        ("a6xb6", "only ships of your home row move"),
    ],
)
def test_a_move_that_no_answer_makes_legal_is_refused_with_the_reason(state, text, reason):
    with pytest.raises(IllegalActionError, match=reason):
        open_move(state, text)


@pytest.mark.parametrize(
    ("answers", "action"),
    [
        (["boost d2"], "a1-d2"),
        (["b", "B4"], "a1-b4"),
        (["reprogram c4"], "a1xb1@c4"),
        (["R", "(4,3)"], "a1xb1@c4"),
        (["boost", "reprogram c4"], "a1xb1@c4"),
        (["reprogram", "boost", "d2"], "a1-d2"),
        (["boost c1", "a1"], "a1xc1@a1"),
    ],
)
def test_answers_in_one_or_more_steps_make_a_legal_action(state, answers, action):
    decided = open_move(state, "a1xb1")
    for answer in answers:
        assert not isinstance(decided, str)
        decided = answered(decided, answer)
    assert decided == action
    state.apply(state.string_to_action(action))


@pytest.mark.parametrize(
    ("answers", "expected"),
    [
        (["what?"], "boost SQUARE, reprogram SQUARE, or no"),
        (["boost f6"], "one of a1 c1 d2 a3 c3 b4, boost, reprogram or no"),
        (["boost", "base"], "one of a1 c1"),
        (["reprogram a6"], "one of a1 a2 b2"),
    ],
)
def test_what_is_no_answer_is_told_with_what_would_be(state, answers, expected):
    decided = open_move(state, "a1xb1")
    for answer in answers[:-1]:
        decided = answered(decided, answer)
    with pytest.raises(NotationError, match=expected):
        answered(decided, answers[-1])


def test_where_no_run_goes_on_only_the_square_for_the_other_ship_is_asked(state):
    (line,) = question_lines(open_move(state, "a1-c1"))
    assert line.startswith("where shall the 2 on c1 be put? a1 a2 b2 ")


def test_a_shortest_route_is_told_with_the_ships_that_boost(state):
    assert route_lines(state, ["a1-b4"]) == ("its route: a1 b1 (boost) b2 b3 b4",)
    assert route_lines(state, ["d1-e3"]) == ("its route: d1 d2 e2 e3",)


def test_placing_a_ship_has_no_route_and_every_choice_is_listed():
    state = registry.load("xero-g").initial_state()
    assert route_lines(state, ["3@c1"]) == ()
    assert sight_of(state, "c1") is None
    assert overview(state) == ""


@pytest.mark.parametrize("name", ["virus-wars", "iris", "minefield"])
def test_actions_of_other_games_are_typed_as_they_are(name):
    state = registry.load(name).initial_state()
    assert (sight_of(state, "a1"), open_move(state, "a1"), route_lines(state, ["a1"])) == (None, None, ())
    assert overview(state) == ""
