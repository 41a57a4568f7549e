"""Iris, case by case. Source: RULES.md, "Iris".

The picture and random play have files of their own beside this one.
"""

from __future__ import annotations

import pytest

from tabuleiro.errors import GameOptionError, IllegalActionError, MatchOverError, NotationError
from tabuleiro.rules import Outcome, State, Termination, registry
from tabuleiro.rules.games.iris import IrisState
from tabuleiro.rules.games.iris.board import hex_board
from tabuleiro.rules.view import Mark

SIDE = 5
NEUTRAL = [name for index, name in enumerate(hex_board(SIDE).names) if not hex_board(SIDE).rim >> index & 1]
RIM = [hex_board(SIDE).names[index] for index in hex_board(SIDE).perimeter]


def start(**options: int | str) -> IrisState:
    state = registry.load("iris", {"side": SIDE, **options}).initial_state()
    assert isinstance(state, IrisState)
    return state


def position(black: str, white: str, rest: str = "0 - 0", side: int = SIDE) -> str:
    """Return the position text with these stones, given as cell names parted by spaces."""
    board, owners = hex_board(side), dict.fromkeys(black.split(), "b") | dict.fromkeys(white.split(), "w")
    assert owners.keys() <= set(board.names)
    rows: list[str] = ["" for _ in board.row_lengths]
    for name, row in zip(board.names, board.ys, strict=True):
        rows[row] += owners.get(name, ".")
    return f"{'/'.join(rows)} {rest}"


def neutral_full_but(*free: str) -> str:
    """Return all neutral cells except ``free``, parted by spaces."""
    return " ".join(name for name in NEUTRAL if name not in free)


def play(state: State, *texts: str) -> IrisState:
    for text in texts:
        state = state.apply(state.string_to_action(text))
    assert isinstance(state, IrisState)
    return state


def legal(state: State) -> list[str]:
    return [state.action_to_string(action) for action in state.legal_actions()]


def marked(state: State, mark: Mark) -> set[str]:
    return {cell.name for cell in state.view().cells if mark in cell.marks}


def refusal(state: State, text: str) -> str:
    with pytest.raises(IllegalActionError) as caught:
        play(state, text)
    return caught.value.reason


# ---- the first turn


def test_the_first_turn_is_one_stone_on_a_neutral_cell() -> None:
    state = start()
    assert legal(state) == NEUTRAL
    assert (state.to_move, state.turn_number, state.view().actions_left) == (0, 1, 1)
    assert refusal(state, "a1") == "the first turn is one stone on a neutral cell"
    state = play(state, "e5")
    assert (state.to_move, state.turn_number, state.actions_in_turn, state.view().actions_left) == (1, 2, 0, 2)


def test_the_first_turn_may_not_be_passed_and_the_second_may() -> None:
    assert refusal(start(), "pass") == "the first turn is one stone on a neutral cell, not a pass"
    state = play(start(), "e5")
    assert legal(state)[-1] == "pass"
    assert len(legal(state)) == 60 + 1


# ---- turns of two stones


def test_after_a_coloured_cell_the_second_stone_goes_on_the_opposite_one() -> None:
    state = play(start(), "e5", "a1")
    assert (state.to_move, state.turn_number, state.actions_in_turn) == (1, 2, 1)
    assert legal(state) == ["i5"]
    assert refusal(state, "c3") == "the second stone must go on i5, opposite a1"
    assert refusal(state, "a2") == "the second stone must go on i5, opposite a1"
    state = play(state, "i5")
    assert (state.to_move, state.turn_number, state.actions_in_turn) == (0, 3, 0)


def test_after_a_neutral_cell_the_second_stone_goes_on_a_neutral_cell_not_next_to_it() -> None:
    state = play(start(), "e5", "d4")
    assert set(legal(state)) == set(NEUTRAL) - {"e5", "d4", "c3", "c4", "d3", "d5", "e4"}
    assert refusal(state, "c3") == "the second stone may not be next to the first, on d4"
    assert refusal(state, "a1") == "the second stone must go on a neutral cell, as d4 is neutral"
    assert refusal(state, "e5") == "a stone is there already"
    assert refusal(state, "d4") == "a stone is there already"
    assert refusal(state, "pass") == "the turn has begun, its second stone must be placed"
    assert play(state, "d6").to_move == 0


def test_a_number_beyond_the_board_is_refused() -> None:
    with pytest.raises(IllegalActionError, match="there is no such cell"):
        start().apply(62)
    with pytest.raises(ValueError, match="neither a cell of this board nor a pass"):
        start().action_to_string(62)


# ---- forfeits


@pytest.mark.parametrize("free", [("e5",), ("e5", "e6"), ("e5", "d4", "f4")])
def test_a_second_stone_without_a_cell_is_forfeited(free: tuple[str, ...]) -> None:
    state = start(position=position(neutral_full_but("e4", *free), "e4"))
    assert state.view().actions_left == 2
    state = play(state, "e5")
    assert (state.to_move, state.turn_number, state.actions_in_turn) == (1, 2, 0)
    assert set(legal(state)) == {*RIM, *free[1:], "pass"}
    assert state.view().notices == ("black forfeits the second stone: no empty neutral cell away from e5",)
    assert marked(state, Mark.LAST) == {"e5"}
    assert play(state, "a1").view().notices == ()


def test_a_neutral_cell_out_of_reach_of_the_first_saves_the_second_stone() -> None:
    state = play(start(position=position(neutral_full_but("e4", "e5", "e7"), "e4")), "e5")
    assert legal(state) == ["e7"]
    assert state.view().notices == ()
    assert marked(state, Mark.REQUIRED) == set()


def test_coloured_cells_are_still_taken_in_pairs_after_a_forfeit() -> None:
    state = play(start(position=position(neutral_full_but("e5"), "")), "e5", "b1")
    assert legal(state) == ["h6"]
    assert (state.to_move, state.actions_in_turn) == (1, 1)


def test_a_single_stone_that_fills_the_board_ends_the_game_without_a_forfeit() -> None:
    rim_pairs = " ".join(RIM)
    state = start(position=position(neutral_full_but("e5"), rim_pairs))
    assert legal(state) == ["e5", "pass"]
    assert state.view().actions_left == 1
    state = play(state, "e5")
    assert state.is_terminal
    assert state.view().notices == (
        "the board is full",
        "white wins 24-0 on the largest group",
    )
    assert (state.turn_number, state.actions_in_turn) == (1, 1)


# ---- passes and the end


def test_two_passes_in_succession_end_the_game() -> None:
    state = play(start(), "e5", "pass")
    assert (state.to_move, state.turn_number, state.passes) == (0, 3, 1)
    assert state.view().notices == ("white passed",)
    assert marked(state, Mark.LAST) == set()
    state = play(state, "pass")
    assert state.is_terminal
    assert state.to_move is None
    assert state.legal_actions() == ()
    assert (state.turn_number, state.actions_in_turn) == (3, 1)
    with pytest.raises(MatchOverError):
        play(state, "a1")


def test_two_early_passes_without_a_score_are_a_draw() -> None:
    state = play(start(), "e5", "pass", "pass")
    assert state.outcome == Outcome(None, Termination.SCORE)
    view = state.view()
    assert view.scores == ((), ())
    assert view.notices == ("both players passed in succession", "all group scores are equal: a draw")
    assert view.actions_left is None
    assert marked(state, Mark.WINNING) == set()


def test_a_turn_between_two_passes_keeps_the_game_going() -> None:
    state = play(start(), "e5", "pass", "a1", "i5", "pass")
    assert not state.is_terminal
    assert (state.to_move, state.passes) == (0, 1)
    assert play(state, "a2").passes == 0


def test_the_last_empty_cell_may_be_left_by_passing_or_taken_after_a_pass() -> None:
    state = play(start(position=position(neutral_full_but("e5"), " ".join(RIM))), "pass")
    assert (state.to_move, legal(state)) == (1, ["e5", "pass"])
    taken = play(state, "e5")
    assert (taken.is_terminal, taken.passes) == (True, 0)
    left = play(state, "pass")
    assert left.is_terminal
    assert left.view().notices[0] == "both players passed in succession"


def test_a_full_board_ends_the_game_after_the_second_stone() -> None:
    rim_pairs = " ".join(name for name in RIM if name not in ("a1", "i5"))
    state = play(start(position=position(neutral_full_but(), rim_pairs, "1 - 0")), "i5")
    assert not state.is_terminal
    assert state.view().actions_left == 1
    state = play(state, "a1")
    assert state.is_terminal
    assert state.outcome == Outcome(1, Termination.SCORE)
    assert (state.turn_number, state.actions_in_turn) == (1, 2)


# ---- scores

CHAIN = "b2 c3 d4 e5 f5 g5 h5"
"""Neutral cells that join the corners a1 and i5."""


@pytest.mark.parametrize(
    ("black", "white", "scores", "winner"),
    [
        ("e5 a1 i5", "a2 i4", ((1, 1), (1, 1)), None),
        ("e5 a1 i5", "", ((1, 1), ()), 0),
        ("e5", "a1 i5", ((), (1, 1)), 1),
        (f"{CHAIN} a1 i5", "e1 e9 c1 g7", ((2,), (1, 1, 1, 1)), 0),
        ("e5 a1 i5 a2 i4", "e1 e9 d1 f8 c1 g7", ((2, 2), (3, 3)), 1),
        ("e5 a1 i5 a2 i4 a4 i2", "e1 e9 d1 f8", ((2, 2, 1, 1), (2, 2)), 0),
        ("e5 a1 i5 a2 i4", "e1 e9 d1 f8 b1 h6", ((2, 2), (2, 2, 1, 1)), 1),
    ],
)
def test_the_first_difference_between_the_sorted_scores_decides(
    black: str, white: str, scores: tuple[tuple[int, ...], tuple[int, ...]], winner: int | None
) -> None:
    state = start(position=position(black, white, "0 - 1"))
    assert state.scores() == state.view().scores == scores
    assert state.outcome is None
    end = play(state, "pass")
    assert end.outcome is not None
    assert (end.outcome.winner, end.outcome.termination) == (winner, Termination.SCORE)


def test_stones_of_the_other_colour_and_gaps_part_groups() -> None:
    joined = start(position=position("c3 b2 a1 i5 a2 i4", "e5"))
    assert joined.scores() == ((2, 2), ())
    parted = start(position=position("c3 a1 i5 a3 i3", "a2 i4 e5"))
    assert parted.scores() == ((1, 1, 1, 1), (1, 1))


def test_scoring_groups_are_hinted_with_their_score_best_first() -> None:
    notes = start(position=position(f"{CHAIN} a1 i5 a3 i3", "e1 e9 d6")).view().notes
    assert [(note.kind, note.owner, len(note.cells), note.text) for note in notes] == [
        ("group", 0, 9, "a group of 9 black stones scores 2"),
        ("group", 0, 1, "a group of 1 black stone scores 1"),
        ("group", 0, 1, "a group of 1 black stone scores 1"),
        ("group", 1, 1, "a group of 1 white stone scores 1"),
        ("group", 1, 1, "a group of 1 white stone scores 1"),
    ]


def test_the_group_that_decided_is_marked_where_there_is_just_one() -> None:
    state = start(position=position(f"{CHAIN} a1 i5", "e1 e9", "0 - 1"))
    assert marked(state, Mark.WINNING) == set()
    end = play(state, "pass")
    assert marked(end, Mark.WINNING) == {"a1", "i5", *CHAIN.split()}
    assert end.view().notices[1] == "black wins 2-1 on the largest group"
    twins = play(start(position=position("e5 a1 i5", "", "0 - 1")), "pass")
    assert marked(twins, Mark.WINNING) == set()


def test_the_deciding_group_may_be_a_later_one() -> None:
    black = "a1 a2 b2 c3 d4 e4 d3 c2 c1 i5 i4 g7"
    end = play(start(position=position(black, "e1 e9 d1 f8", "0 - 1")), "pass")
    assert end.scores() == ((3, 2, 1), (2, 2))
    assert marked(end, Mark.WINNING) == {"a1", "a2", "b2", "c3", "d4", "e4", "d3", "c2", "c1"}


# ---- texts


@pytest.mark.parametrize("text", ["c4", " C4 ", "(3,4)", "3-4", "[3, 4]"])
def test_report_forms_count_rows_from_the_top(text: str) -> None:
    state = start()
    assert state.action_to_string(state.string_to_action(text)) == "c4"


@pytest.mark.parametrize("text", ["pass", " PASS ", "Pass"])
def test_pass_is_the_number_after_the_last_cell(text: str) -> None:
    assert start().string_to_action(text) == 61
    assert start().action_to_string(61) == "pass"


@pytest.mark.parametrize("text", ["", "a6", "e10", "j1", "(10,1)", "passe", "p", "-"])
def test_text_that_is_no_action_says_what_would_be(text: str) -> None:
    with pytest.raises(NotationError) as caught:
        start().string_to_action(text)
    assert caught.value.expected == "a cell from a1 to i5 (row a has 5 cells, row e 9) or pass"


# ---- options and positions


@pytest.mark.parametrize("side", [5, 6, 7, 8])
def test_every_side_counts_its_neutral_cells(side: int) -> None:
    inner = side - 1
    assert start(side=side).legal_count() == 3 * inner * (inner - 1) + 1
    assert registry.load("iris").options == {"side": 6}


EMPTY = "...../....../......./......../........./......../......./....../....."


def test_an_empty_board_is_the_first_turn() -> None:
    assert start().to_position() == f"{EMPTY} 0 - 0"
    state = start(position=f"{EMPTY} 0 - 0")
    assert state.key() == start().key()
    assert legal(state) == NEUTRAL


def test_a_turn_begun_and_passes_are_written_and_read_back() -> None:
    begun = play(start(), "e5", "a1")
    assert begun.to_position() == "w..../....../......./......../....b..../......../......./....../..... 1 a1 0"
    reread = start(position=begun.to_position())
    assert (legal(reread), reread.actions_in_turn) == (["i5"], 1)
    assert marked(reread, Mark.LAST) == {"a1"}
    assert play(reread, "i5").to_position() == play(begun, "i5").to_position()
    passed = play(start(), "e5", "pass")
    assert passed.to_position().endswith(" 0 - 1")
    assert play(start(position=passed.to_position()), "pass").is_terminal


def test_ends_are_written_and_read_back() -> None:
    end = play(start(), "e5", "pass", "pass")
    assert end.to_position().endswith(" 1 - 2")
    reread = start(position=end.to_position())
    assert reread.is_terminal
    assert reread.outcome == end.outcome
    full = start(position=position(neutral_full_but(), " ".join(RIM)))
    assert full.outcome == Outcome(1, Termination.SCORE)


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"side": 4}, "side: 4 .* from 5 to 8"),
        ({"side": 9}, "side: 9 .* from 5 to 8"),
        ({"position": "nonsense"}, "4 parts .*first stone of a turn begun or -, passes just made"),
        ({"position": f"{EMPTY}/..... 0 - 0"}, "9 rows"),
        ({"position": f".{EMPTY} 0 - 0"}, "5 cells in row 1"),
        ({"position": f"x{EMPTY[1:]} 0 - 0"}, "only '.bw'"),
        ({"position": f"{EMPTY} 2 - 0"}, "0 or 1 as the player to move"),
        ({"position": f"{EMPTY} 0 - 3"}, "0, 1 or 2 passes"),
        ({"position": f"{EMPTY} 0 - -1"}, "0, 1 or 2 passes"),
        ({"position": f"{EMPTY} 0 z9 0"}, "the cell of the first stone or -"),
        ({"position": f"{EMPTY} 1 - 0"}, "on an empty board"),
        ({"position": f"{EMPTY} 0 - 1"}, "on an empty board"),
        ({"position": f"{EMPTY} 0 e5 0"}, "on an empty board"),
        ({"position": position("e5", "d4", "0 d4 0")}, "a stone of player 0 on d4"),
        ({"position": position("e5", "", "1 d4 0")}, "a stone of player 1 on d4"),
        ({"position": position("e5", "d4", "1 d4 1")}, "0 passes just made while a turn is begun"),
        ({"position": position("e5", "a1 i5", "1 a1 0")}, "an empty cell for the second stone after a1"),
        (
            {"position": position(neutral_full_but("e6"), "", "0 e5 0")},
            "an empty cell for the second stone after e5",
        ),
        ({"position": position("e5", "", "0 e5 0")}, "a black stone on a neutral cell"),
        ({"position": position("", "e5")}, "a black stone on a neutral cell"),
        ({"position": position("a1 i5", "e5")}, "a black stone on a neutral cell"),
        ({"position": position("e5", "a1")}, "the same on the opposite coloured cells a1 and i5"),
        ({"position": position("e5 a1", "i5")}, "the same on the opposite coloured cells a1 and i5"),
        ({"position": position("e5 i4", "a1", "1 a1 0")}, "the same on the opposite coloured cells a2 and i4"),
        ({"position": position(neutral_full_but(), " ".join(RIM), "1 - 1")}, "0 passes just made on a full board"),
    ],
)
def test_impossible_options_are_refused_with_the_reason(options: dict[str, int | str], message: str) -> None:
    with pytest.raises(GameOptionError, match=message):
        start(**options)
