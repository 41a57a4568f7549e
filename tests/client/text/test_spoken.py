"""Positions and turns in words, for who listens: each game, each kind of change, nothing that has to be seen."""

from __future__ import annotations

import asyncio
import os
import random
import sys

import pytest

from tabuleiro.rules import State, registry
from tabuleiro_client.text.spoken import change_text, choices_text, place_text, position_lines, score_lines


def state_of(game: str, **options: int | str) -> State:
    return registry.load(game, options).initial_state()


def after(state: State, *texts: str) -> State:
    for text in texts:
        state = state.apply(state.string_to_action(text))
    return state


def change(state: State, *texts: str) -> str:
    return change_text(state.view(), after(state, *texts).view())


VIRUS_WARS = state_of("virus-wars", rows=4, cols=5, steps=3, position="x.X.o/xXX.O/.o..O/O...x 0 3")


def test_a_virus_is_put_down_and_one_taken_over_and_who_falls_asleep_by_it_is_told():
    told = "blue virus on b1; blue zombie in place of red virus on b3; red zombie asleep on a4"
    assert change(VIRUS_WARS, "b3", "b1") == told


def test_a_zombie_that_is_joined_again_is_told_to_be_awake():
    state = state_of("virus-wars", rows=4, cols=4, steps=2, position="X.../..x./..../o... 0 2")
    assert place_text(state.view(), "a1") == "a1: blue zombie asleep; around it: empty b1, a2, b2"
    assert change(state, "b1") == "blue zombie awake again on a1; blue virus on b1"


def test_a_ship_that_moves_and_one_that_is_put_elsewhere():
    state = state_of("xero-g", position="000000/010300/000000/002000/123120/033210 0")
    assert change(state, "b2-b3") == "empty now b2; ship of value 1 on b3"
    told = "ship of value 2 on a1; empty now d2; ship of value 3 in place of ship of value 2 on c4"
    assert change(state, "d2xc4@a1") == told


def test_a_stone_on_the_rim_is_told_with_its_colour():
    state = state_of("iris", side=5)
    state = after(state, "c3")
    assert change(state, "a1", "i5") == "white stone on a1 red, i5 red"
    assert score_lines(after(state, "a1", "i5").view(), ("black", "white")) == ["groups score: black 0, white 1 1"]


def test_what_may_be_chosen_is_listed_or_the_rest_where_most_may():
    assert choices_text(VIRUS_WARS.view()).startswith("you may choose: ")
    assert "red virus on b3" in choices_text(VIRUS_WARS.view())
    free = state_of("minefield", size=5)
    assert choices_text(free.view()) == "you may choose: any empty cell"
    banned = state_of("minefield", size=5, position="b.bbw/.wb../w..../..w.b/..... 1")
    forbidden = choices_text(banned.view()).removeprefix("you may choose: any empty cell but ").split(", ")
    assert forbidden
    assert all(not banned.is_legal(banned.string_to_action(name)) for name in forbidden)


def test_a_position_is_told_by_pieces_edges_and_home_rows():
    state = state_of("xero-g", position="000000/010300/000000/002000/123120/033210 0")
    lines = position_lines(state.view(), ("south", "north"))
    assert lines[0].startswith("ship of value 1: b2, ")
    assert lines[-4:] == [
        "empty cells: 24 of 36",
        "top: base that south enters",
        "bottom: base that north enters",
        "home row: 2",
    ]
    empty = position_lines(state_of("minefield", size=5).view(), ("black", "white"))
    assert empty == [
        "no piece on the board",
        "empty cells: 25 of 25",
        "black joins top and bottom",
        "white joins left and right",
    ]


@pytest.mark.parametrize(
    ("game", "place", "told"),
    [
        ("iris", "a1", "a1 red: empty; around it: empty a2 orange, b1 blue, b2"),
        ("iris", "c3", "c3: empty; around it: empty b2, b3, c2, c4, d3, d4"),
        ("minefield", "B2", "b2: empty; around it: empty a1, b1, c1, a2, c2, a3, b3, c3"),
        ("xero-g", "6", "row 6: empty a6, b6, c6, d6, e6, f6"),
        ("xero-g", "z9", ""),
    ],
)
def test_a_place_is_told_with_what_is_around_it(game, place, told):
    assert place_text(state_of(game).view(), place) == told


@pytest.mark.parametrize("game", registry.names())
def test_every_action_of_a_random_match_is_told_on_one_line_of_ascii_that_names_its_cells(game):
    chance = random.Random(7)
    state = registry.load(game, {}).initial_state()
    for _ in range(60):
        if state.is_terminal:
            break
        action = chance.choice(state.legal_actions())
        child = state.child(action)
        text = change_text(state.view(), child.view())
        assert text.isascii()
        assert "\n" not in text
        named = {cell.name for cell in state.view().cells} & {state.action_to_string(action)}
        assert all(name in text for name in named)
        assert bool(text) == ([c.piece for c in state.view().cells] != [c.piece for c in child.view().cells])
        state = child


async def test_a_match_is_spoken_line_by_line_without_boards_and_signs(tmp_path):
    options = [word for option in ("rows=4", "cols=4", "steps=5") for word in ("--option", option)]
    process = await asyncio.create_subprocess_exec(
        *(sys.executable, "-m", "tabuleiro_client", "play", "--spoken", "--game", "virus-wars", *options),
        stdin=asyncio.subprocess.PIPE,
        stdout=asyncio.subprocess.PIPE,
        env={**os.environ, "TABULEIRO_CONFIG_DIR": str(tmp_path), "TABULEIRO_DATA_DIR": str(tmp_path / "data")},
    )
    output, _ = await process.communicate(b"b4 c4 d4 a3 b3\nlook a4\n?\nboard\nresign green\nresign blue\nyes\n")
    assert process.returncode == 0
    lines = output.decode().splitlines()
    assert "blue played: blue virus on a3, b3, b4, c4, d4" in lines
    assert "a4: blue virus; around it: blue virus a3, b3, b4" in lines
    assert "you may choose: empty c1, c2, d2" in lines
    assert "blue virus: a3, b3, a4, b4, c4, d4" in lines
    assert "'green' is not your side" in lines
    assert "does blue resign this match? type yes to resign, anything else to continue" in lines
    assert "red wins: blue resigned" in lines
    assert not any(". ." in line or "(blue, x)" in line for line in lines)
