"""Minefield, case by case. Source: RULES.md, "Minefield"."""

from __future__ import annotations

import itertools
from random import Random

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tabuleiro.errors import GameOptionError, IllegalActionError
from tabuleiro.rules import State, Termination, registry
from tabuleiro.rules.board import bit_indexes
from tabuleiro.rules.games.minefield import MinefieldState
from tabuleiro.rules.games.minefield.areas import areas_of
from tests.bench.naive_minefield import NaiveMinefield

EMPTY_ROWS = "/....." * 3
"""Rows 3 to 5 of an otherwise empty board of size 5."""
CROSSED_PATH = "wbbww/wwbbw/wbbww/wwbbw/wbbww"
"""Black's column c is joined, but without any one of its stones there was a hard corner."""
TWO_COLUMNS = "bw.bw/bw.bw/bw.bw/bw.bw/bw.b."
"""Black's edges are joined twice over."""


def start(**options: int | str) -> MinefieldState:
    state = registry.load("minefield", {"size": 5, **options}).initial_state()
    assert isinstance(state, MinefieldState)
    return state


def play(state: State, *texts: str) -> State:
    for text in texts:
        state = state.apply(state.string_to_action(text))
    return state


def banned(state: MinefieldState, player: int) -> list[str]:
    return [state.game.board.names[cell] for cell in bit_indexes(state.banned[player])]


def winner_and_termination(state: State) -> tuple[int | None, Termination]:
    assert state.outcome is not None
    return state.outcome.winner, state.outcome.termination


def playout(random: Random, **options: int | str) -> list[MinefieldState]:
    states = [start(**options)]
    while not states[-1].is_terminal:
        states.append(states[-1].child(random.choice(states[-1].legal_actions())))
    return states


def test_black_starts_on_an_empty_board_and_may_take_every_cell() -> None:
    state = start()
    assert state.to_position() == "...../...../...../...../..... 0"
    assert (state.to_move, state.turn_number, state.actions_in_turn) == (0, 1, 0)
    assert state.legal_actions() == tuple(range(25))


def test_players_put_one_stone_each_in_turn() -> None:
    state = play(start(), "a1", "e5")
    assert state.to_position() == "b..../...../...../...../....w 0"
    assert (state.turn_number, state.actions_in_turn) == (3, 0)


@pytest.mark.parametrize(
    ("rows", "to_black", "to_white"),
    [
        # Two stones side by side: each player may not put a second one across the other colour.
        ("...../.bw..", ["c1", "c3"], ["b1", "b3"]),
        ("...../.wb..", ["b1", "b3"], ["c1", "c3"]),
        # Two of one colour on opposite corners: the enemy may not take a third corner.
        (".b.../..b..", [], ["c1", "b2"]),
        ("..b../.b...", [], ["b1", "c2"]),
        # Two colours on opposite corners, or one colour side by side, ban nothing.
        (".b.../..w..", [], []),
        (".bb../.....", [], []),
        # A full area is no hard corner any more: b1 was the fourth cell.
        (".bb../.bw..", ["d2", "c3"], ["d1", "b3"]),
    ],
)
def test_a_hard_corner_is_banned(rows: str, to_black: list[str], to_white: list[str]) -> None:
    state = start(position=f"{rows}{EMPTY_ROWS} 0")
    assert [banned(state, 0), banned(state, 1)] == [to_black, to_white]


@pytest.mark.parametrize(
    ("rows", "cell", "stones"),
    [
        ("b.w../w..../...../...../.....", "c2", "black a1, white c1 and white a2"),
        ("b..w./w..../...../...../.....", "d2", "black a1, white d1 and white a2"),
        ("bw.../...../w..../...../.....", "b3", "black a1, white b1 and white a3"),
        ("bw.../...../...../w..../.....", "b4", "black a1, white b1 and white a4"),
        ("...../...../...../.w..b/....w", "b5", "white b4, black e4 and white e5"),
    ],
)
def test_a_switch_is_banned(rows: str, cell: str, stones: str) -> None:
    state = start(position=f"{rows} 0")
    assert cell in banned(state, 0)
    assert cell not in banned(state, 1)
    with pytest.raises(IllegalActionError, match=f"'{cell}': it would make a switch with {stones} "):
        play(state, cell)
    assert cell in [state.action_to_string(action) for action in start(position=f"{rows} 1").legal_actions()]


def test_a_stone_between_the_corners_makes_it_no_switch() -> None:
    assert "d2" in banned(start(position=f"b..w./w....{EMPTY_ROWS} 0"), 0)
    assert "d2" not in banned(start(position=f"bb.w./w....{EMPTY_ROWS} 0"), 0)


def test_a_stone_lifts_the_bans_that_it_stands_between() -> None:
    state = start(position=f"b..w./w....{EMPTY_ROWS} 0")
    after = play(state, "b1")
    assert isinstance(after, MinefieldState)
    assert "d2" not in banned(after, 0)
    assert play(after, "e5", "d2").to_position() == f"bb.w./w..b.{EMPTY_ROWS[:-1]}w 1"


def test_corners_five_apart_are_no_switch() -> None:
    assert "e2" not in banned(start(position=f"b...w/w....{EMPTY_ROWS} 0"), 0)


def test_beginners_rules_ban_nothing() -> None:
    state = start(rules="beginner", position=f"b.w../w...b{EMPTY_ROWS} 0")
    assert state.legal_count() == 21
    assert play(state, "c2", "b2", "b1").legal_count() == 18


@pytest.mark.parametrize(
    ("position", "text", "reason"),
    [
        (f"...../.bw..{EMPTY_ROWS} 0", "b2", "a black stone is there"),
        (f"...../.bw..{EMPTY_ROWS} 0", "c2", "a white stone is there"),
        (f"...../.bw..{EMPTY_ROWS} 0", "c3", "it would make a hard corner with black b2 and white c2"),
        (f".b.../..b..{EMPTY_ROWS} 1", "b2", "it would make a hard corner with black b1 and black c2"),
    ],
)
def test_an_illegal_cell_is_refused_with_its_reason(position: str, text: str, reason: str) -> None:
    with pytest.raises(IllegalActionError, match=reason):
        play(start(position=position), text)


def test_a_number_that_is_no_cell_is_refused() -> None:
    with pytest.raises(IllegalActionError, match="'25': there is no such cell"):
        start().apply(25)


def test_black_wins_by_joining_top_and_bottom() -> None:
    state = play(start(position="b.w../b.w../b.w../b.w../..... 0"), "a5")
    assert winner_and_termination(state) == (0, Termination.CONNECTION)
    assert (state.to_move, state.turn_number, state.actions_in_turn) == (None, 1, 1)
    assert state.legal_actions() == ()
    assert state.to_position().endswith(" 1")


def test_white_wins_by_joining_left_and_right() -> None:
    state = play(start(position="bbbb./wwww./...../...../..... 1"), "e2")
    assert winner_and_termination(state) == (1, Termination.CONNECTION)
    assert state.to_position().endswith(" 0")


def test_a_stone_in_the_middle_may_join_both_edges() -> None:
    state = play(start(position="b.w../b.w../..w../b.w../bb... 0"), "a3")
    assert winner_and_termination(state) == (0, Termination.CONNECTION)


def test_joining_the_edges_of_the_other_wins_nothing() -> None:
    state = play(start(position="bbbb./wwww./...../...../..... 0"), "e1")
    assert not state.is_terminal


def test_diagonal_contact_joins_nothing() -> None:
    state = start(rules="beginner", position="b.w../b.w../.bw../.bw../..... 0")
    assert not play(state, "b5").is_terminal


def test_a_player_without_a_legal_cell_is_skipped_and_the_turn_goes_on() -> None:
    before = start(position="bbbww/wb.ww/.b.ww/b..b./wwb.b 0")
    state = play(before, "c2")
    assert isinstance(state, MinefieldState)
    assert banned(state, 1) == ["a3", "c3", "b4", "c4", "e4", "d5"]
    assert (state.to_move, state.skipped, state.turn_number, state.actions_in_turn) == (0, 1, 1, 1)
    freed = play(state, "d5")
    assert isinstance(freed, MinefieldState)
    assert (freed.to_move, freed.skipped, freed.turn_number, freed.actions_in_turn) == (1, None, 2, 0)


def test_a_position_skips_a_player_who_has_no_legal_cell() -> None:
    state = start(position="bbbww/wbbww/.b.ww/b..b./wwb.b 1")
    assert (state.to_move, state.skipped, state.turn_number) == (0, 1, 1)
    assert state.to_position().endswith(" 0")


def test_a_full_board_without_a_joined_edge_is_a_draw() -> None:
    state = play(start(rules="beginner", position="bwbwb/wbwbw/bwbwb/wbwbw/bwbw. 0"), "e5")
    assert winner_and_termination(state) == (None, Termination.DEADLOCK)
    assert (state.to_move, state.turn_number, state.actions_in_turn) == (None, 1, 1)
    assert start(rules="beginner", position=state.to_position()).outcome == state.outcome


@pytest.mark.parametrize("text", ["c4", " C4 ", "(4,3)", "4-3", "[4, 3]"])
def test_report_forms_name_row_and_column(text: str) -> None:
    state = start()
    assert state.action_to_string(state.string_to_action(text)) == "c4"


@pytest.mark.parametrize("size", [10, 13, 16])
def test_presets_are_the_boards_of_the_report(size: int) -> None:
    game = registry.load("minefield", registry.preset("minefield", f"feup-{size}"))
    assert game.options == {"size": size, "rules": "standard"}
    assert game.initial_state().legal_count() == size * size


def test_default_is_thirteen_with_standard_rules() -> None:
    assert registry.load("minefield").options == {"size": 13, "rules": "standard"}


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"size": 4}, "size: 4 .* from 5 to 19"),
        ({"size": 20}, "size: 20 .* from 5 to 19"),
        ({"rules": "expert"}, "standard, beginner"),
        ({"position": "....."}, "2 parts"),
        ({"position": f"...../.....{EMPTY_ROWS} 0 1"}, "2 parts"),
        ({"position": "...../...../...../..... 0"}, "5 rows"),
        ({"position": f"..../.....{EMPTY_ROWS} 0"}, "5 cells in row 1"),
        ({"position": f"...../..x..{EMPTY_ROWS} 0"}, "only '.bw' in row 2"),
        ({"position": f"b..../.....{EMPTY_ROWS} 2"}, "0 or 1 as the player to move"),
        ({"position": f"...../.....{EMPTY_ROWS} 1"}, "a black stone, because player 0 moves first"),
        ({"position": f"w..../.....{EMPTY_ROWS} 0"}, "a black stone, because player 0 moves first"),
        ({"position": f"bw.../.b...{EMPTY_ROWS} 1"}, "no hard corner .*, got black a1, white b1 and black b2"),
        (
            {"position": f"b.w../w.b..{EMPTY_ROWS} 0"},
            "no switch .*, got black a1, white c1, white a2 and black c2",
        ),
        (
            {"position": f"bw.../wb...{EMPTY_ROWS} 0"},
            "no crosscut .*, got black a1, white b1, white a2 and black b2",
        ),
        ({"position": "b..../b..../b..../b..../b.... 0"}, "player 1 to move: player 0 has joined"),
        ({"position": f"wwwww/bbbb.{EMPTY_ROWS} 1"}, "player 0 to move: player 1 has joined"),
        ({"position": f"{TWO_COLUMNS} 1"}, "player 0 not joined before their last stone"),
        ({"position": f"{CROSSED_PATH} 1"}, "player 0 not joined before their last stone"),
        ({"position": f"{TWO_COLUMNS} 1", "rules": "beginner"}, "player 0 not joined before their last stone"),
        ({"position": f"bb.../.....{EMPTY_ROWS} 1", "rules": "beginner"}, "one black stone more .*, got 2 and 0"),
        ({"position": f"b..../.....{EMPTY_ROWS} 0", "rules": "beginner"}, "as many black .*, got 1 and 0"),
    ],
)
def test_impossible_options_are_refused_with_the_reason(options: dict[str, int | str], message: str) -> None:
    with pytest.raises(GameOptionError, match=message):
        start(**options)


def test_a_crossed_path_is_possible_where_nothing_is_banned() -> None:
    state = start(rules="beginner", position=".bbw./wwbb./wbbw./wwbb./wbbw. 1")
    assert winner_and_termination(state) == (0, Termination.CONNECTION)


def test_standard_rules_leave_the_numbers_of_stones_free() -> None:
    state = start(position=f"bb.../.....{EMPTY_ROWS} 0")
    assert state.to_move == 0


@pytest.mark.parametrize("size", range(5, 20))
def test_bans_kept_up_to_date_equal_bans_computed_from_nothing(size: int) -> None:
    areas = areas_of(size)
    for state in playout(Random(size), size=size):
        assert state.banned == areas.banned_cells(state.stones)


@settings(max_examples=30)
@given(random=st.randoms(use_true_random=False), size=st.integers(5, 8))
def test_bans_stay_up_to_date_whatever_is_played(random: Random, size: int) -> None:
    areas = areas_of(size)
    for state in playout(random, size=size):
        assert state.banned == areas.banned_cells(state.stones)


@settings(max_examples=20)
@given(random=st.randoms(use_true_random=False), size=st.integers(5, 9))
def test_legal_play_makes_no_hard_corner_and_no_switch(random: Random, size: int) -> None:
    for state in playout(random, size=size):
        stones = {
            divmod(cell, size)[::-1]: player for player in (0, 1) for cell in bit_indexes(state.stones[player])
        }
        assert NaiveMinefield(size, stones=stones).patterns() == set()
        assert areas_of(size).find_impossible(state.stones) is None


@settings(max_examples=20)
@given(random=st.randoms(use_true_random=False), size=st.integers(5, 13))
def test_only_cells_near_the_stone_change(random: Random, size: int) -> None:
    states = playout(random, size=size)
    for before, after in itertools.pairwise(states):
        assert after.last_action is not None
        row, col = divmod(after.last_action, size)
        for player in (0, 1):
            for cell in bit_indexes(before.banned[player] ^ after.banned[player]):
                away = sorted((abs(cell // size - row), abs(cell % size - col)))
                assert away[0] <= 1
                assert away[1] <= 3
