"""What bots play is shown action by action, and anybody can have it shown at once."""

from __future__ import annotations

from typing import Any

import msgspec
import pytest

from tabuleiro.ids import AccountId
from tabuleiro.protocol.events import MatchStarted, SeatInfo, SequencedEvent
from tabuleiro.protocol.messages import Update
from tabuleiro_client.net.mirror import Mirror
from tabuleiro_client.net.room import Happened
from tabuleiro_client.text.board import TextStyle
from tabuleiro_client.tui.match_model import ACTION_PAUSE_MS, SPEEDS, TURN_PAUSE_MS, MatchModel
from tests.client.tui.frozen import frozen_app

BOT = SeatInfo("bot", None, "easy-bot", "easy")


def model_of(room: Any) -> MatchModel:
    return MatchModel(Mirror(AccountId("a1"), room.entered()), TextStyle(color=False, ascii=True))


def take(model: MatchModel, room: Any, event: SequencedEvent, *bots: int) -> None:
    """Have the model take in what happened in a room where bots sit on some seats."""
    head = room.head()
    seats = tuple(
        msgspec.structs.replace(seat, holder=BOT) if number in bots else seat
        for number, seat in enumerate(head.seats)
    )
    head = msgspec.structs.replace(head, seats=seats)
    for step in model.mirror.update(Update(head, (event,))):
        model.take(Happened(step, head))


def any_turn(room: Any) -> SequencedEvent:
    """Play a turn of two actions."""
    state, texts = room.state, []
    for _ in range(2):
        action = state.legal_actions()[0]
        texts.append(state.action_to_string(action))
        state = state.apply(action)
    return room.play(len(room.actions), *texts)


def test_a_turn_of_a_bot_is_shown_action_by_action_and_one_of_a_person_at_once(one_room):
    room = one_room()
    model = model_of(room)
    take(model, room, any_turn(room), 1)
    assert (model.is_behind, model.ply) == (False, 2)
    take(model, room, any_turn(room), 1)
    seen = []
    while model.is_behind:
        assert model.state == model.timeline.states[model.ply]
        assert model.prompt() == ""
        assert len(model.turns_shown()) == (1 if model.ply == 2 else 2)
        seen.append((model.ply, model.pause_ms()))
        model.show_next()
    assert seen == [(2, ACTION_PAUSE_MS), (3, ACTION_PAUSE_MS)]
    assert (model.ply, model.state) == (4, room.state)
    assert model.prompt()


def test_between_turns_of_two_bots_there_is_a_longer_pause_by_the_speed_chosen(one_room):
    room = one_room()
    model = model_of(room)
    for _ in range(2):
        take(model, room, any_turn(room), 0, 1)
    pauses = []
    while model.is_behind:
        pauses.append(model.pause_ms())
        model.show_next()
    assert pauses == [ACTION_PAUSE_MS, ACTION_PAUSE_MS, TURN_PAUSE_MS, ACTION_PAUSE_MS]
    take(model, room, any_turn(room), 0, 1)
    model.change_speed(1)
    assert (model.pause_ms(), model.message) == (
        TURN_PAUSE_MS // 2,
        "the bots are shown at 2 times the usual speed",
    )
    for _ in SPEEDS:
        model.change_speed(-1)
    assert model.pause_ms() == TURN_PAUSE_MS / SPEEDS[0]


@pytest.mark.parametrize("way", ["choose", "type", "look", "rematch"])
def test_whoever_goes_on_sees_the_rest_at_once(one_room, way):
    room = one_room()
    model = model_of(room)
    take(model, room, any_turn(room), 1)
    take(model, room, any_turn(room), 1)
    assert model.is_behind
    if way == "choose":
        target = model.mirror.state.legal_actions()[0]
        assert not model.choose(target)  # only shows the rest: nobody could see what was chosen
        assert not model.composer.actions
    elif way == "type":
        state = model.mirror.state
        assert model.type_actions(state.action_to_string(state.legal_actions()[0]))
    elif way == "look":
        model.look(model.timeline.last_ply)
    else:
        take(model, room, room.add(MatchStarted(1)), 1)
    assert not model.is_behind


def test_the_end_is_told_when_the_last_action_is_shown(one_room):
    room = one_room()
    model = model_of(room)
    take(model, room, any_turn(room), 0, 1)
    finished = msgspec.structs.replace(model.mirror.head.match, winner=1, termination="resignation")
    model.mirror.head = msgspec.structs.replace(model.mirror.head, match=finished)
    assert model.ending_lines() == []
    model.show_rest()
    assert model.ending_lines()


async def test_the_screen_goes_on_by_itself_until_all_is_shown():
    app = frozen_app("virus-wars", ["b10", "c10", "d10"])
    async with app.run_test() as pilot:
        screen = app.screen
        await pilot.pause()
        screen.model.reached_ply = 1
        screen.show_all()
        assert screen.board._view == screen.model.timeline.states[1].view()
        while screen.model.is_behind:
            await pilot.pause(0.01)
        await pilot.pause()
        assert screen.board._view == screen.model.view
