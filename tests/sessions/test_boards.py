"""Clients without rules: boards when entering and with every update, `consider`, `get-boards`, `list-games`."""

from __future__ import annotations

from typing import Any

import pytest

from tabuleiro.protocol import messages
from tabuleiro.protocol.boards import Board
from tabuleiro.protocol.events import ActionsPlayed, MatchEnded, SeatTaken
from tabuleiro.protocol.messages import Update
from tabuleiro.rules import registry


def boards_heard(client: Any) -> list[Board]:
    return [board for said in client.heard if (board := board_in(said)) is not None]


def board_in(said: Any) -> Board | None:
    return said.board if isinstance(said, Update) and isinstance(said.board, Board) else None


def texts(board: Board) -> list[str]:
    return [choice.text for choice in board.choices or ()]


async def drawn_match(stage: Any) -> tuple[Any, Any, Any, str]:
    """ana, to move, rui and a watcher, who all want boards."""
    ana, rui, eva = stage.client("ana"), stage.client("rui"), stage.client("eva")
    code = (await ana.create(boards=True)).head.room
    await eva.watch(code, boards=True)
    await rui.join(code, boards=True)
    await ana.hear_event(SeatTaken)
    return ana, rui, eva, code


async def test_a_client_that_wants_boards_gets_layout_and_start_position(stage: Any) -> None:
    entered = await stage.client("ana").create(boards=True)
    assert entered.layout.names[:2] == ("a1", "b1")
    assert len(entered.board.cells) == 16
    assert (entered.board.to_move, entered.board.choices) == (None, None)


async def test_a_client_that_does_not_want_boards_gets_none(match_of: Any) -> None:
    _, ana, rui, code = match_of
    assert (await rui.watch(code)).board is None
    await ana.play(code, 0, "a3")
    await rui.hear_event(ActionsPlayed)
    assert boards_heard(rui) == boards_heard(ana) == []


async def test_each_new_position_is_sent_with_choices_for_the_player_to_move_alone(stage: Any) -> None:
    ana, rui, eva, code = await drawn_match(stage)
    await ana.play(code, 0, "a3", "a2")
    for client in (ana, rui, eva):
        await client.hear_event(ActionsPlayed)
    assert [board.ply for board in boards_heard(eva)] == [0, 2]
    assert [texts(board) for board in boards_heard(eva)] == [[], []]
    assert [bool(texts(board)) for board in boards_heard(ana)] == [True, False]
    assert [bool(texts(board)) for board in boards_heard(rui)] == [True]


async def test_every_choice_is_played_as_it_is(stage: Any) -> None:
    ana, rui, _, code = await drawn_match(stage)
    state = registry.load("virus-wars", {"rows": 4, "cols": 4, "steps": 2}).initial_state()
    for ply in range(6):
        mover = ana if state.to_move == 0 else rui
        await mover.hear(lambda said, ply=ply: getattr(board_in(said), "ply", None) == ply)
        offered = texts(boards_heard(mover)[-1])
        assert offered == [state.action_to_string(action) for action in state.legal_actions()]
        assert await mover.play(code, ply, offered[-1]) is None
        state = state.apply(state.string_to_action(offered[-1]))


async def test_chat_brings_no_board(stage: Any) -> None:
    ana, rui, _, code = await drawn_match(stage)
    await ana.hear(board_in)
    count = len(boards_heard(ana))
    await rui.ask(messages.Say, room=code, text="hello")
    await ana.ask(messages.Say, room=code, text="hello")
    assert len(boards_heard(ana)) == count


async def test_the_end_of_a_match_takes_the_choices_away(stage: Any) -> None:
    ana, rui, _, code = await drawn_match(stage)
    await rui.ask(messages.Resign, room=code, match=1)
    await ana.hear_event(MatchEnded)
    last = boards_heard(ana)[-1]
    assert (last.to_move, last.choices) == (None, None)


async def test_entering_again_without_boards_ends_them(stage: Any) -> None:
    ana, rui, _, code = await drawn_match(stage)
    await rui.watch(code)
    count = len(boards_heard(rui))
    await ana.play(code, 0, "a3")
    await rui.hear_event(ActionsPlayed)
    assert len(boards_heard(rui)) == count


async def test_a_turn_is_composed_without_playing_it(stage: Any) -> None:
    ana, _, _, code = await drawn_match(stage)
    place = {"room": code, "match": 1, "ply": 0}
    first = await ana.ask(messages.Consider, **place, actions=("A3",))
    assert (first.actions, first.board.ply, first.board.actions_left) == (("a3",), 1, 1)
    assert texts(first.board)
    whole = await ana.ask(messages.Consider, **place, actions=("a3", "a2"))
    assert (whole.board.to_move, whole.board.choices) == (1, None)
    assert (await stage.room(code)).state.match.actions == ()
    assert await ana.play(code, 0, *whole.actions) is None


@pytest.mark.parametrize(
    ("fields", "code"),
    [
        ({"actions": ("a3", "a2", "a1")}, "not-your-turn"),
        ({"actions": ("c3",)}, "illegal-action"),
        ({"actions": ("z9",)}, "bad-notation"),
        ({"ply": 1}, "stale-ply"),
        ({"match": 2}, "stale-ply"),
    ],
)
async def test_actions_that_could_not_be_played_are_refused(stage: Any, fields: Any, code: str) -> None:
    ana, _, _, room = await drawn_match(stage)
    refused = await ana.ask(messages.Consider, **{"room": room, "match": 1, "ply": 0} | fields)
    assert refused.code == code


async def test_only_the_player_to_move_may_consider(stage: Any) -> None:
    _, rui, eva, code = await drawn_match(stage)
    assert (await rui.ask(messages.Consider, room=code, match=1, ply=0)).code == "not-your-turn"
    assert (await eva.ask(messages.Consider, room=code, match=1, ply=0)).code == "not-seated"


async def test_the_way_of_a_ship_is_told(stage: Any) -> None:
    ana = stage.client("ana")
    entered = await ana.create(game="xero-g", options={"setup": "random", "seed": 1}, boards=True)
    code = entered.head.room
    await stage.client("rui").join(code)
    update = await ana.hear(board_in)
    move = next(choice for choice in update.board.choices if len(choice.targets) == 2)
    found = await ana.ask(messages.Consider, room=code, match=1, ply=0, actions=(move.text,))
    names = entered.layout.names
    assert (found.route[0], found.route[-1]) == (names[move.targets[0]], names[move.targets[1]])


async def test_past_positions_are_told_in_ranges(stage: Any) -> None:
    ana, _, _, code = await drawn_match(stage)
    await ana.play(code, 0, "a3", "a2")
    reader = stage.client("tom")
    shown = await reader.ask(messages.GetBoards, room=code, ply=1, count=50)
    assert ([board.ply for board in shown.boards], shown.actions_count) == ([1, 2], 2)
    assert shown.boards[1].cells.count("x") == 3
    assert (await reader.ask(messages.GetBoards, room=code, ply=3)).code == "stale-ply"
    assert (await reader.ask(messages.GetBoards, room=code, match=2)).code == "wrong-phase"


async def test_all_that_forms_need_is_told(stage: Any) -> None:
    answer = await stage.client("ana").ask(messages.ListGames)
    assert [game.name for game in answer.games] == list(registry.names())
    for game in answer.games:
        registry.load(game.name, {option.key: option.default for option in game.options if option.default})
        for options in game.presets.values():
            registry.load(game.name, options)
    assert {setting.field for setting in answer.settings} == set(messages.RoomSettings.__struct_fields__)
