"""Xero-G, case by case. Source: RULES.md, "Xero-G"."""

from __future__ import annotations

import pytest

from tabuleiro.errors import GameOptionError, IllegalActionError, NotationError
from tabuleiro.rules import State, Termination, registry
from tabuleiro.rules.board import COLUMN_LETTERS
from tabuleiro.rules.games.xero_g import XeroG, XeroGState


def fleet(*rows: str, mover: int = 0) -> str:
    """Return a position with these rows from row 1 up, and the ships still missing on row 6, then on row 5."""
    missing = list("111122223333")
    for digit in "".join(rows).replace("0", ""):
        missing.remove(digit)
    row_6, row_5 = "".join(missing[:6]).ljust(6, "0"), "".join(missing[6:]).ljust(6, "0")
    between = ["000000"] * (4 - len(rows))
    return f"{'/'.join([*rows, *between, row_5, row_6])} {mover}"


LOOP = fleet("100000", "300000")
TURN_BACK = fleet("100000", "100000")
FIFTH_ROW = "100000/100000/000000/222230/113330/000000 0"
"""Row 5 is the home row of player 1 and has a hole."""
NEAR_BASE = "000000/000000/000000/300003/011112/022233 0"
NULL_MOVES = "100000/300000/001223/001223/300000/100000 0"
"""Both players can go round in a circle."""
BLOCKED = "333322/221111/000000/000000/000000/000000"
SOUTH_ROW = ("1@a1", "1@b1", "2@c1", "2@d1", "3@e1", "3@f1")
NORTH_ROW = ("1@a6", "1@b6", "2@c6", "2@d6", "3@e6", "3@f6")


def start(**options: int | str) -> XeroGState:
    state = registry.load("xero-g", options).initial_state()
    assert isinstance(state, XeroGState)
    return state


def play(state: XeroGState, *texts: str) -> XeroGState:
    for text in texts:
        state = state.apply(state.string_to_action(text))
    return state


def legal(state: State, beginning: str = "") -> list[str]:
    texts = [state.action_to_string(action) for action in state.legal_actions()]
    return [text for text in texts if text.startswith(beginning)]


def square(name: str) -> int:
    return (int(name[1]) - 1) * 6 + COLUMN_LETTERS.index(name[0])


def ends(state: XeroGState, ship: str) -> set[str]:
    """Return the names of the places where the ship can land."""
    return {landing.name for landing in state.landings_of(square(ship))}


def mirrored(position: str) -> str:
    rows, mover = position.split()
    return f"{'/'.join(reversed(rows.split('/')))} {1 - int(mover)}"


def test_setup_starts_with_every_value_on_every_square_of_row_1() -> None:
    assert legal(start()) == [f"{value}@{column}1" for column in "abcdef" for value in (1, 2, 3)]


def test_setup_is_one_turn_of_six_actions_each() -> None:
    state = start()
    for count, text in enumerate(SOUTH_ROW):
        assert (state.to_move, state.turn_number, state.actions_in_turn) == (0, 1, count)
        state = play(state, text)
    for count, text in enumerate(NORTH_ROW):
        assert (state.to_move, state.turn_number, state.actions_in_turn) == (1, 2, count)
        state = play(state, text)
    assert (state.to_move, state.turn_number, state.actions_in_turn) == (0, 3, 0)
    assert state.to_position() == "112233/000000/000000/000000/000000/112233 0"
    assert state.earlier == ()


def test_a_value_placed_twice_is_used_up() -> None:
    state = play(start(), "3@c1", "3@a1")
    assert legal(state) == [f"{value}@{column}1" for column in "bdef" for value in (1, 2)]


@pytest.mark.parametrize(
    ("text", "reason"),
    [
        ("3@b1", "all your ships of value 3 are placed"),
        ("1@c1", "c1 is taken"),
        ("1@c2", "your ships go on row 1"),
        ("c1-c2", "still being placed"),
    ],
)
def test_an_illegal_setup_action_is_refused_with_its_reason(text: str, reason: str) -> None:
    with pytest.raises(IllegalActionError, match=reason):
        play(start(), "3@c1", "3@a1", text)


def test_the_second_player_sets_up_on_row_6() -> None:
    with pytest.raises(IllegalActionError, match="row 6"):
        play(start(), *SOUTH_ROW, "1@a2")


def test_random_setup_puts_two_ships_of_each_value_on_both_rows() -> None:
    positions = set()
    for seed in range(30):
        state = start(setup="random", seed=seed)
        rows, mover = state.to_position().split()
        row_1, *between, row_6 = rows.split("/")
        assert sorted(row_1) == sorted(row_6) == list("112233")
        assert set(between) == {"000000"}
        assert (mover, state.turn_number, state.is_setup) == ("0", 1, False)
        positions.add(rows)
    assert len(positions) > 20


def test_a_seed_gives_the_same_setup_for_ever() -> None:
    assert start(setup="random", seed=2019).to_position() == "231231/000000/000000/000000/000000/132132 0"
    assert start(setup="random").to_position() == start(setup="random", seed=0).to_position()


def test_a_seed_is_asked_for_only_when_one_is_missing() -> None:
    assert XeroG.needs_seed({"setup": "random"})
    assert not XeroG.needs_seed({"setup": "random", "seed": 0})
    assert not XeroG.needs_seed({"setup": "random", "position": LOOP})
    assert not XeroG.needs_seed({"setup": "manual"})
    assert not XeroG.needs_seed({})
    assert registry.load("xero-g", {"setup": "random"}).options["seed"] == 0
    assert "seed" not in registry.load("xero-g").options


def test_only_ships_of_the_home_row_move() -> None:
    state = start(position=fleet("000000", "010200", "200003"))
    assert {text[:2] for text in legal(state)} == {"b2", "d2"}
    with pytest.raises(IllegalActionError, match="only ships of your home row move, and that is row 2"):
        play(state, "a3-a4")
    north = start(position=fleet("000000", "010200", "200003", mover=1))
    assert {text[1] for text in legal(north)} == {"6"}


def test_a_ship_goes_exactly_its_value_and_may_turn() -> None:
    assert ends(start(position=fleet("100000")), "a1") == {"a2", "b1"}
    assert ends(start(position=fleet("200000")), "a1") == {"a3", "b2", "c1"}
    assert ends(start(position=fleet("300000")), "a1") == {"a4", "b3", "c2", "d1", "a2", "b1"}


def test_passed_squares_must_be_empty() -> None:
    assert ends(start(position=fleet("200000", "300000")), "a1") == {"c1", "b2"}


def test_the_start_square_is_empty_for_the_run() -> None:
    state = start(position=LOOP)
    assert "a1-a1" in legal(state)
    after = play(state, "a1-a1")
    assert after.to_position() == LOOP[:-1] + "1"
    assert after.turn_number == 2


def test_no_edge_is_crossed_twice_even_after_a_boost() -> None:
    state = start(position=TURN_BACK)
    assert ends(state, "a1") == {"b1", "a2", "a3", "b2"}
    with pytest.raises(IllegalActionError, match="a1 could reach a1 only by crossing an edge twice"):
        play(state, "a1-a1")


def test_a_boost_runs_on_by_the_value_of_the_ship_underneath_which_stays() -> None:
    state = start(position=LOOP)
    assert {"b1", "a2", "d2"} <= ends(state, "a1")
    assert "c2" not in ends(state, "a1")
    assert play(state, "a1-d2").to_position() == LOOP.replace("100000/300000", "000000/300100")[:-1] + "1"


def test_boosts_chain_into_the_base() -> None:
    state = start(position="000000/000000/000000/200003/011112/022333 0")
    route = state.route(state.string_to_action("a4-base"))
    assert len(route) - 1 == 2 + 1 + 2
    assert (route[0], route[2], route[3], route[-1]) == ("a4", "b5", "b6", "base")


def test_reprogramming_puts_the_ship_underneath_on_any_empty_square() -> None:
    state = start(position=LOOP)
    after = {"a1xa2@c4": "000000/100000/000000/003000", "a1xa2@a1": "300000/100000/000000/000000"}
    for text, rows in after.items():
        assert play(state, text).to_position() == LOOP.replace("100000/300000/000000/000000", rows)[:-1] + "1"
    drops = {text[-2:] for text in legal(state, "a1xa2@")}
    digits = LOOP[:-2].replace("/", "")
    empty = {
        f"{column}{row}" for row in range(1, 7) for column in "abcdef" if digits[square(f"{column}{row}")] == "0"
    }
    assert drops == empty | {"a1"}


def test_gyges_puts_no_ship_beyond_the_home_row_of_the_opponent() -> None:
    assert "a1xa2@a6" in legal(start(position=FIFTH_ROW))
    gyges = start(variant="gyges", position=FIFTH_ROW)
    assert {text[-1] for text in legal(gyges, "a1xa2@")} == set("12345")
    with pytest.raises(IllegalActionError, match="a6 is beyond your opponent's home row, row 5"):
        play(gyges, "a1xa2@a6")
    north = start(variant="gyges", position=mirrored(FIFTH_ROW))
    assert {text[-1] for text in legal(north, "a6xa5@")} == set("23456")
    with pytest.raises(IllegalActionError, match="a1 is beyond your opponent's home row, row 2"):
        play(north, "a6xa5@a1")


def test_a_ship_enters_the_base_straight_from_the_last_row_and_wins() -> None:
    state = start(position=NEAR_BASE)
    won = play(state, "a4-base")
    assert won.outcome is not None
    assert (won.outcome.winner, won.outcome.termination) == (0, Termination.BASE)
    assert (won.to_move, won.legal_actions(), won.legal_count()) == (None, (), 0)
    assert won.to_position() == "000000/000000/000000/000003/011112/022233 1 3"
    assert start(position=won.to_position()).outcome == won.outcome
    north = play(start(position=mirrored(NEAR_BASE)), "a3-base")
    assert north.outcome is not None
    assert (north.outcome.winner, north.outcome.termination) == (1, Termination.BASE)


def test_nobody_enters_their_own_base() -> None:
    for ship in "abcdef":
        state = start(position="112233/000000/000000/000000/000000/112233 0")
        assert "base" not in ends(state, f"{ship}1")


def test_no_legal_action_loses() -> None:
    state = start(position=f"{BLOCKED} 0")
    assert state.outcome is not None
    assert (state.outcome.winner, state.outcome.termination) == (1, Termination.BLOCKED)
    assert state.to_move is None
    assert start(position=f"{BLOCKED} 1").outcome is None


def test_the_third_time_is_a_draw() -> None:
    state = play(start(position=NULL_MOVES), "a1-a1", "a6-a6", "a1-a1")
    assert state.outcome is None
    state = play(state, "a6-a6")
    assert state.outcome is not None
    assert (state.outcome.winner, state.outcome.termination) == (None, Termination.REPETITION)
    assert (state.to_move, state.legal_actions(), state.legal_count()) == (None, (), 0)
    again = state.string_to_action("a1-a1")
    assert not state.is_legal(again)
    assert state.illegal_reason(again) == "the game is over"


def test_the_same_ships_with_the_other_player_to_move_are_another_position() -> None:
    state = play(start(position=NULL_MOVES), "a1-a1", "a6-a6")
    assert state.earlier == (state.ships, state.ships)
    assert state.outcome is None


def test_states_that_differ_in_what_came_before_are_not_equal() -> None:
    state = start(position=NULL_MOVES)
    once = play(state, "a1-a1", "a6-a6")
    assert once.key() == state.key()
    assert once != state
    assert once == play(state, "a1-a1", "a6-a6")


@pytest.mark.parametrize(
    ("text", "reason"),
    [
        ("3@c1", "the setup is over"),
        ("b1-b2", "b1 is empty"),
        ("a2-a3", "row 1"),
        ("a1-f3", "no run of the ship on a1, boosted or not, ends on f3"),
        ("a1-base", "no run of the ship on a1, boosted or not, ends on the base"),
        ("a1-a2", "a ship is on a2: boost on and name the last square, or reprogram it with a1xa2@SQUARE"),
        ("a1xb1@c4", "b1 is empty: there is nothing to reprogram"),
        ("a1xa2@a6", "a6 is not empty"),
        ("a1xa2@a2", "a2 is not empty"),
    ],
)
def test_an_illegal_move_is_refused_with_its_reason(text: str, reason: str) -> None:
    with pytest.raises(IllegalActionError, match=reason):
        play(start(position=TURN_BACK), text)


@pytest.mark.parametrize(
    ("text", "canonical"),
    [
        (" 3@C1 ", "3@c1"),
        ("3 @ (1, 3)", "3@c1"),
        ("A1-B3", "a1-b3"),
        ("(1,3)-(3,2)", "c1-b3"),
        ("[1, 3]-[3, 2]", "c1-b3"),
        ("1-3 - 3-2", "c1-b3"),
        ("1-3-3-2", "c1-b3"),
        ("a1 x b3 @ c4", "a1xb3@c4"),
        ("(1,1)x(3,2)@(4,3)", "a1xb3@c4"),
        ("[6,3] - BASE", "c6-base"),
        ("6-3-base", "c6-base"),
        ("c6-g", "c6-base"),
        ("C6 - Goal", "c6-base"),
        ("a1xb3(c4)", "a1xb3@c4"),
        ("a1-b3@c4", "a1xb3@c4"),
        ("a1 x b3 - c4", "a1xb3@c4"),
        ("0|14", "a1-c3"),
        ("0|1|9", "a1xb1@d2"),
    ],
)
def test_actions_are_read_in_all_forms(text: str, canonical: str) -> None:
    state = start()
    assert state.action_to_string(state.string_to_action(text)) == canonical


@pytest.mark.parametrize(
    "text",
    [
        "",
        "a1",
        "a1-",
        "4@c1",
        "0@c1",
        "a1-g1",
        "a7-a1",
        "a1xb3",
        "a1xbase@c4",
        "base-a1",
        "(1,7)-(1,1)",
        "a1-g-b1",
        "a1-b1xg@c1",
        "a1@c4",
        "a1xb1-c1-d1",
        "a1-b9-c1",
        "0|",
        "0|1|2|3",
        "36|0",
        "0|36",
        "0|1|37",
        "|",
    ],
)
def test_text_that_names_no_action_is_refused(text: str) -> None:
    with pytest.raises(NotationError):
        start().string_to_action(text)


SOUTH_STOPS = fleet("300000", "002100", "000100")
NORTH_STOPS = "100000/000000/000000/300000/033111/222302 1"


@pytest.mark.parametrize(
    ("position", "text", "canonical"),
    [
        (SOUTH_STOPS, "a1-c2-c4", "a1-c4"),
        (SOUTH_STOPS, "A1 - C2 - C4", "a1-c4"),
        (SOUTH_STOPS, "a1-c2-d3-d4", "a1-d4"),
        (SOUTH_STOPS, "a1-c2xd3@f4", "a1xd3@f4"),
        (NORTH_STOPS, "a6-a4-a1-g", "a6-base"),
        (NORTH_STOPS, "a6-a4-a1-goal", "a6-base"),
        (NORTH_STOPS, "a6-a4-a1-b1", "a6-b1"),
        (NORTH_STOPS, "a6-a4xa1@c3", "a6xa1@c3"),
        (NORTH_STOPS, "a6-a4-a1(c3)", "a6xa1@c3"),
        (NORTH_STOPS, "a6-a4xa1-c3", "a6xa1@c3"),
        (NORTH_STOPS, "30|36", "a6-base"),
        (NORTH_STOPS, "30|0|14", "a6xa1@c3"),
    ],
)
def test_a_move_is_read_with_every_stop_of_its_route(position: str, text: str, canonical: str) -> None:
    state = start(variant="gyges", position=position)
    action = state.string_to_action(text)
    assert state.action_to_string(action) == canonical
    assert state.is_legal(action)


@pytest.mark.parametrize(
    ("position", "text", "message"),
    [
        (SOUTH_STOPS, "a1-c3-c4", "none goes on from a1 to c3"),
        (SOUTH_STOPS, "a1-b3-c4", "none goes on from b3 to c4"),
        (SOUTH_STOPS, "a1-c2-a3-c4", "none goes on from c2 to a3"),
        (NORTH_STOPS, "a6-a4-g", "none goes on from a4 to base"),
        (NORTH_STOPS, "30|37", "36 for the base"),
        (SOUTH_STOPS, "35|36", "37 for the base"),
    ],
)
def test_a_route_that_the_ships_cannot_run_is_not_read_as_another_move(
    position: str, text: str, message: str
) -> None:
    with pytest.raises(NotationError, match=message):
        start(variant="gyges", position=position).string_to_action(text)


def test_a_route_to_where_no_move_ends_is_refused_as_that_move_is() -> None:
    with pytest.raises(IllegalActionError, match="no run of the ship on a1, boosted or not, ends on f6"):
        play(start(position=TURN_BACK), "a1-a2-f6")


def test_a_position_without_the_player_to_move_is_player_0s() -> None:
    assert start(position=LOOP.removesuffix(" 0")).to_position() == LOOP


@pytest.mark.parametrize(
    ("position", "message"),
    [
        ("nonsense", "2 parts"),
        ("112233/000000/000000/000000/112233 0", "6 rows"),
        ("112233/000000/000000/000000/112233", "6 rows"),
        ("112233/000000/000000/000000/000000/112234 0", "only '0123' in row 6"),
        ("112233/000000/000000/000000/000000/112233 2", "0 or 1"),
        ("112233/000000/000000/000000/000000/112230 0", "12 ships, as there are after the setup, got 11"),
        ("112233/100000/000000/000000/000000/112233 0", "12 ships, as there are after the setup, got 13"),
        ("112233/000000/000000/000000/000000/112333 0", "4 ships of value 2, got 3"),
        ("112233/000000/000000/000000/000000/112230 0 2", "4 ships of value 2, got 5"),
        ("112233/000000/000000/000000/000000/112230 0 4", "value of the ship in the base"),
        ("112233/000000/000000/000000/000000/112233 0 3", "got 13"),
        ("112233/000000/000000/000000/000000/112230 0 3 3", "3 parts"),
    ],
)
def test_impossible_positions_are_refused_with_the_reason(position: str, message: str) -> None:
    with pytest.raises(GameOptionError, match=message) as caught:
        start(position=position)
    assert caught.value.option == "position"


def test_a_position_goes_before_the_random_setup() -> None:
    assert start(setup="random", seed=4, position=LOOP).to_position() == LOOP
