"""Texts of turns: parted, read, played and written back."""

from __future__ import annotations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tabuleiro.errors import IllegalActionError, TurnError
from tabuleiro.notation.actions import format_turn, parse_turn, split_actions
from tabuleiro.rules import State, registry


def virus_wars(**options: int | str) -> State:
    return registry.load("virus-wars", {"rows": 5, "cols": 5, "steps": 3, **options}).initial_state()


@pytest.mark.parametrize(
    ("text", "parts"),
    [
        ("", []),
        (" ,, \t ", []),
        ("c3", [("c3", 1)]),
        ("c3 d4,e5", [("c3", 1), ("d4", 4), ("e5", 7)]),
        (" (3,4), [3, 4] 3-4", [("(3,4)", 2), ("[3, 4]", 9), ("3-4", 16)]),
        ("(3,4)(5,6)", [("(3,4)(5,6)", 1)]),
        ("3 - 4 5 -6", [("3 - 4", 1), ("5 -6", 7)]),
        ("3@c1 a1xb3@c4 c6-base", [("3@c1", 1), ("a1xb3@c4", 6), ("c6-base", 15)]),
        ("(1,1)-(2,3), pass", [("(1,1)-(2,3)", 1), ("pass", 14)]),
        ("(3,4", [("(3", 1), ("4", 4)]),
        ("[3, 4)", [("[3", 1), ("4)", 5)]),
        ("c3 -", [("c3", 1), ("-", 4)]),
        ("--- c3", [("---", 1), ("c3", 5)]),
    ],
)
def test_brackets_keep_their_commas_and_spaces(text: str, parts: list[tuple[str, int]]) -> None:
    assert [(part.text, part.column) for part in split_actions(text)] == parts


def test_parting_a_hostile_line_takes_no_time() -> None:
    for unit in ("(", "[ ", "- ", "-(", "(-", "a -", "(a", " "):
        assert split_actions(unit * 20_000) or unit == " "


def test_a_turn_in_any_form_is_the_same_turn() -> None:
    state = virus_wars()
    expected = tuple(state.string_to_action(text) for text in ("b4", "c3", "d2"))
    for text in (
        "b4 c3 d2",
        "B4,C3,D2",
        "(4,2) [3, 3] 2-4",
        " 4 - 2, c3 ,[2,4] ",
        "b 4 c 3 d 2",
        "4,2 3,3 2,4.",
        "b4. C 3, 2-4.",
    ):
        assert parse_turn(state, text) == expected
    assert format_turn(state, expected) == "b4 c3 d2"


def test_a_turn_may_be_left_unfinished() -> None:
    state = virus_wars()
    assert parse_turn(state, " ") == ()
    assert len(parse_turn(state, "b4 c3")) == 2


@pytest.mark.parametrize(
    ("text", "column", "message"),
    [
        ("b4 zz", 4, "'zz': expected a cell from a1 to e5"),
        ("b4, a5", 5, "'a5': your own virus is there"),
        ("b4 b4", 4, "'b4': your own virus is there"),
        ("e3", 1, "'e3': you have no virus or awake zombie next to it"),
        ("b4 c3 d2 d1", 10, "'d1': the turn has ended before this action"),
        ("\x1b[31m", 1, "'\\x1b[31m': expected a cell from a1 to e5"),
        ("b4 (3,9)", 4, "'(3,9)': column 9 does not exist: columns are 1 to 5"),
    ],
)
def test_errors_name_the_place_in_the_text(text: str, column: int, message: str) -> None:
    with pytest.raises(TurnError) as caught:
        parse_turn(virus_wars(), text)
    assert caught.value.column == column
    assert str(caught.value) == message


def test_nothing_follows_the_end_of_the_game() -> None:
    state = virus_wars(position="xO.../OO.../...../...../....o 1 1")
    state = state.apply(state.string_to_action("d5"))
    assert state.is_terminal
    with pytest.raises(TurnError, match="'d1': the game is over"):
        parse_turn(state, " d1")


def test_writing_an_illegal_action_is_refused() -> None:
    with pytest.raises(IllegalActionError, match="e3"):
        format_turn(virus_wars(), [virus_wars().string_to_action("e3")])


@pytest.mark.parametrize("name", registry.names())
@settings(max_examples=25)
@given(data=st.data())
def test_what_is_written_is_read_back_in_every_game(name: str, data: st.DataObject) -> None:
    state = registry.load(name).initial_state()
    for _ in range(data.draw(st.integers(0, 15))):
        actions, after = [], state
        while after.turn_number == state.turn_number and not after.is_terminal:
            actions.append(data.draw(st.sampled_from(after.legal_actions())))
            after = after.child(actions[-1])
        text = format_turn(state, actions)
        assert parse_turn(state, text) == tuple(actions)
        assert parse_turn(state, text.upper().replace(" ", " , ")) == tuple(actions)
        if after.is_terminal:
            break
        state = after


def turn_error(state: State, text: str) -> TurnError | None:
    try:
        parse_turn(state, text)
    except TurnError as error:
        return error
    return None


@given(text=st.text(st.sampled_from("()[]-,@x 0123456789abpsz\x1b\n"), max_size=30))
def test_any_text_is_a_turn_or_a_turn_error(text: str) -> None:
    error = turn_error(virus_wars(), text)
    assert error is None or text[error.column - 1 :].startswith(error.text)
