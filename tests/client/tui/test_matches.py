"""Whole matches against a person at the other end of a real server, by mouse alone and by keyboard alone."""

from __future__ import annotations

import asyncio

import pytest
from textual.pilot import Pilot

from tabuleiro.rules import State
from tabuleiro.rules.games.xero_g.actions import NO_DROP, Placement, action_of
from tabuleiro.rules.games.xero_g.moves import BASE
from tabuleiro.rules.games.xero_g.state import XeroGState
from tabuleiro.rules.view import Target
from tests.client.tui.tables import Policy, Table, any_action, table, until
from tests.patience import PATIENCE

SHORT_GAMES: list[tuple[str, dict[str, int | str]]] = [
    ("virus-wars", {"rows": 4, "cols": 4, "steps": 2}),
    ("xero-g", {"position": "123123/000000/000000/000000/000000/231231 0"}),
    (
        "iris",
        {"position": "bw.../....../.w...../....b.../.......b./......../......./....../...wb 0 - 0", "side": 5},
    ),
    ("minefield", {"size": 5}),
]


def quickly(seed: int) -> Policy:
    """Any action, but one that ends the game where there is one; in Iris, pass as soon as it may be."""
    chance = any_action(seed)

    def choose(state: State) -> int:
        actions = state.legal_actions()
        ends = [action for action in actions if state.child(action).is_terminal]
        passes = [action for action in actions if state.action_to_string(action) == "pass"]
        forward = [action for action in actions if isinstance(state, XeroGState) and _goes_forward(state, action)]
        return (ends or passes or forward or [chance(state)])[0]

    return choose


def _goes_forward(state: XeroGState, action: int) -> bool:
    move = action_of(action)
    return not isinstance(move, Placement) and (move.target - move.start) * (-1 if state.mover else 1) >= 12


def targets_of(state: State, action: int) -> list[Target | str]:
    """What a person points at for an action, in turn; a text is the key that chooses between them."""
    if not isinstance(state, XeroGState):
        text = state.action_to_string(action)
        return ["F6"] if text == "pass" else [next(c.index for c in state.view().cells if c.name == text)]
    move = action_of(action)
    assert not isinstance(move, Placement)
    if move.target == BASE:
        return [move.start, "bottom" if state.mover else "top"]
    if move.drop == NO_DROP:
        return [move.start, move.target, move.target] if move.target == move.start else [move.start, move.target]
    can_boost = bool(state.boost_targets(move.start, move.target))
    return [move.start, move.target, *(["r"] if can_boost else []), move.drop]


async def click(at: Table, pilot: Pilot[int], target: Target) -> None:
    place = at.screen.board.place_of(target)
    assert place is not None
    assert await pilot.click(at.screen.board, offset=place)


async def walk(at: Table, pilot: Pilot[int], target: Target) -> None:
    """Move the cursor to ``target`` with the keys of the board, and choose it."""
    board, cells = at.screen.board, at.screen.current_view().cells
    if not isinstance(target, int):
        await pilot.press(*(["up"] * 6 if target == "top" else ["down"] * 6))
    else:
        there = cells[target]
        while not isinstance(board.cursor, int) or cells[board.cursor].y != there.y:
            here_y = (
                cells[board.cursor].y if isinstance(board.cursor, int) else -1 if board.cursor == "top" else 99
            )
            await pilot.press("down" if here_y < there.y else "up")
        while board.cursor != target:
            await pilot.press("right" if cells[board.cursor].x < there.x else "left")
    await pilot.press("enter")


async def play_out(at: Table, pilot: Pilot[int], policy: Policy, *, by_mouse: bool) -> None:
    """Play the own turns through the screen until the match is over."""
    model = at.screen.model
    choose = click if by_mouse else walk
    while model.mirror.head.phase == "playing":
        if not model.can_act:
            await pilot.pause(0.005)
            continue
        PATIENCE.renew()
        if model.composer.is_complete:
            await (pilot.click("#choices", offset=(2, 0)) if by_mouse else pilot.press("enter"))
            continue
        state = model.composer.state
        for target in targets_of(state, policy(state)):
            if isinstance(target, str) and target not in ("top", "bottom"):
                await press_choice(at, pilot, target, by_mouse=by_mouse)
                if target == "F6":
                    await pilot.press("y")
            else:
                await choose(at, pilot, target)


async def press_choice(at: Table, pilot: Pilot[int], key: str, *, by_mouse: bool) -> None:
    """Press what stands beside the board: by its key, or by a click on its words."""
    if not by_mouse:
        await pilot.press(key.lower())
        return
    column = 1
    for choice in at.screen.model.composer.choices():
        if choice.key == key:
            await pilot.click("#choices", offset=(column + 1, 0))
            return
        column += len(choice.key) + len(choice.label) + 5
    raise AssertionError(f"{key} is not offered")


QUICK = {("iris", "keyboard"), ("minefield", "mouse")}
"""What is played in the default run; the other matches have more turns."""
MATCHES = [
    pytest.param(game, options, hand, marks=() if (game, hand) in QUICK else pytest.mark.slow, id=f"{game}-{hand}")
    for game, options in SHORT_GAMES
    for hand in ("mouse", "keyboard")
]


@pytest.mark.parametrize(("game", "options", "hand"), MATCHES)
async def test_a_whole_match_is_played_with_one_hand_and_both_ends_agree(real_server, game, options, hand):
    async with table(real_server, game, options) as at, at.app.run_test(size=(80, 24)) as pilot:
        await until(pilot, lambda: at.screen.is_whole)
        playing = asyncio.create_task(at.opponent.play_on(quickly(2)))
        await play_out(at, pilot, quickly(1), by_mouse=hand == "mouse")
        await playing
        await until(pilot, lambda: at.screen.model.mirror.head.phase == "finished")
        mirror = at.screen.model.mirror
        assert mirror.actions == at.opponent.room.mirror.actions
        assert mirror.match.winner == at.opponent.room.mirror.match.winner
        assert mirror.match.termination == mirror.state.outcome.termination
        await until(pilot, lambda: at.screen.query_one("#end").has_class("open"))
