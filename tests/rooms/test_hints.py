"""Hints of a server: thought out beside everything else, told to the room, ended when nobody needs them."""

from __future__ import annotations

import asyncio
from typing import Any

import pytest
from structlog.testing import capture_logs

from tabuleiro.errors import BotError
from tabuleiro.protocol import messages
from tabuleiro.protocol.events import HintTaken
from tabuleiro.protocol.messages import Error, HintGiven, Ok, Update
from tabuleiro.settings import RoomSettings
from tests.patience import LIMIT_S

HINT = HintGiven(("a3", "a2"), 0.5)


@pytest.fixture
async def hinting(stage: Any) -> Any:
    """Ana, to move, and rui in a room that gives hints."""
    ana, rui = stage.client("ana"), stage.client("rui")
    code = (await ana.create(settings=RoomSettings(hints=True))).head.room
    await rui.join(code)
    return stage, ana, rui, code


async def wish(client: Any, code: str, ply: int = 0, revision: int = 0) -> int:
    """Ask for a hint without waiting for it; the id of the request."""
    client._next_id += 1
    message = messages.TakeHint(id=client._next_id, room=code, match=1, ply=ply, revision=revision)
    answering = client.session.receive(client.codec.encode(message))
    assert answering is not None
    await answering
    return int(message.id)


def is_news_of_hint(said: Any) -> bool:
    return isinstance(said, Update) and any(isinstance(event.event, HintTaken) for event in said.events)


async def answer_to(client: Any, request_id: int) -> Any:
    return await client.hear(lambda said: isinstance(said, Ok | Error) and said.id == request_id)


async def test_a_hint_is_told_to_its_player_and_noted_for_everybody(hinting: Any) -> None:
    stage, ana, rui, code = hinting
    stage.suggested.put_nowait(HINT)
    assert await ana.ask(messages.TakeHint, room=code, match=1, ply=0) == HINT
    assert await rui.hear_event(HintTaken) == HintTaken(1, 0, 0)
    await ana.hear_event(HintTaken)
    answers = [place for place, said in enumerate(ana.heard) if isinstance(said, Ok) and said.result == HINT]
    news = [place for place, said in enumerate(ana.heard) if is_news_of_hint(said)]
    assert answers < news, "first the answer, then the news"


async def test_the_player_may_talk_and_others_play_while_it_is_thought_out(hinting: Any) -> None:
    stage, ana, _, code = hinting
    asked = await wish(ana, code)
    assert await ana.ask(messages.Say, room=code, text="hm") is None
    stage.suggested.put_nowait(HINT)
    assert (await answer_to(ana, asked)).result == HINT


async def test_a_second_wish_is_refused_while_the_first_is_thought_out(hinting: Any) -> None:
    stage, ana, _, code = hinting
    asked = await wish(ana, code)
    assert (await ana.ask(messages.TakeHint, room=code, match=1, ply=0)).code == "busy"
    stage.suggested.put_nowait(HINT)
    assert (await answer_to(ana, asked)).result == HINT
    assert (await ana.ask(messages.TakeHint, room=code, match=1, ply=0)).code == "limit-reached"


async def test_a_hint_ends_when_the_position_moves_on(hinting: Any) -> None:
    stage, ana, rui, code = hinting
    asked = await wish(ana, code)
    assert await ana.play(code, 0, "a3") is None
    assert (await answer_to(ana, asked)).code == "stale-ply"
    stage.suggested.put_nowait(HINT)
    assert (await ana.ask(messages.TakeHint, room=code, match=1, ply=1)) == HINT
    assert await rui.hear_event(HintTaken) == HintTaken(1, 1, 0)


async def test_a_hint_ends_with_the_match(hinting: Any) -> None:
    _, ana, rui, code = hinting
    asked = await wish(ana, code)
    assert await rui.ask(messages.Resign, room=code, match=1) is None
    assert (await answer_to(ana, asked)).code == "stale-ply"


@pytest.mark.parametrize("failure", [BotError("all workers are dead"), TimeoutError()], ids=repr)
async def test_bots_without_an_answer_are_busy_and_no_hint_was_taken(hinting: Any, failure: Exception) -> None:
    stage, ana, _, code = hinting
    stage.suggested.put_nowait(failure)
    refused = await ana.ask(messages.TakeHint, room=code, match=1, ply=0)
    assert (refused.code, refused.message) == ("busy", "all bots are busy; try again in a moment")
    assert (await stage.room(code)).state.match.hinted_at_ms == (None, None)


async def test_who_may_have_no_hint_does_not_wait_for_one(hinting: Any) -> None:
    _, _, rui, code = hinting
    assert (await rui.ask(messages.TakeHint, room=code, match=1, ply=0)).code == "not-your-turn"


async def test_a_hint_for_somebody_who_has_gone_is_not_noted(hinting: Any) -> None:
    stage, ana, _, code = hinting
    await wish(ana, code)
    ana.session.close()
    seq = (await stage.room(code)).state.seq
    stage.suggested.put_nowait(HINT)
    async with asyncio.timeout(LIMIT_S):
        while stage.hints._pending:
            await asyncio.wait([pending.task for pending in stage.hints._pending.values()])
            await asyncio.sleep(0)
    assert (await stage.room(code)).state.seq == seq


async def test_whoever_leaves_the_room_is_told_that_there_is_no_hint(hinting: Any) -> None:
    """Symptom: nobody wanted the hint any more, and so the request was never answered."""
    stage, ana, _, code = hinting
    asked = await wish(ana, code)
    assert await ana.ask(messages.LeaveRoom, room=code) is None
    assert (await answer_to(ana, asked)).code == "not-watching"
    await ana.watch(code)
    stage.suggested.put_nowait(HINT)
    assert await ana.ask(messages.TakeHint, room=code, match=1, ply=0) == HINT


async def test_a_hint_that_is_found_while_its_player_leaves_is_refused(hinting: Any) -> None:
    stage, ana, _, code = hinting
    asked = await wish(ana, code)
    assert await ana.ask(messages.LeaveRoom, room=code) is None
    stage.suggested.put_nowait(HINT)
    assert (await answer_to(ana, asked)).code == "not-watching"
    assert (await stage.room(code)).state.match.hinted_at_ms == (None, None)


async def test_a_hint_that_is_being_stored_is_given_whatever_follows(hinting: Any) -> None:
    stage, ana, _, code = hinting
    asked = await wish(ana, code)
    stage.store.gate.clear()
    stage.suggested.put_nowait(HINT)
    await stage.store.reached()
    leaving = asyncio.create_task(ana.ask(messages.LeaveRoom, room=code))
    stopping = asyncio.create_task(stage.hints.stop())
    await asyncio.sleep(0)
    stage.store.gate.set()
    assert await leaving is None
    await stopping
    assert (await answer_to(ana, asked)).result == HINT


async def test_a_fault_in_finding_a_hint_is_logged_and_answered(hinting: Any) -> None:
    stage, ana, _, code = hinting
    stage.suggested.put_nowait(ZeroDivisionError())
    with capture_logs() as entries:
        assert (await ana.ask(messages.TakeHint, room=code, match=1, ply=0)).code == "busy"
    assert [entry["event"] for entry in entries if entry["log_level"] == "error"] == ["hint failed"]


async def test_hints_end_with_the_server(hinting: Any) -> None:
    stage, ana, _, code = hinting
    asked = await wish(ana, code)
    await stage.hints.stop()
    assert (await answer_to(ana, asked)).code == "shutting-down"
    assert (await ana.ask(messages.TakeHint, room=code, match=1, ply=0)).code == "shutting-down"


EXPLANATION = messages.Explanation("random", "x... 0 2", 0, "chance", (messages.ExplainedTurn(("a3",), 0.5),), 2)


async def test_an_explanation_waits_and_counts_as_a_hint_where_two_people_play(hinting: Any) -> None:
    stage, ana, rui, code = hinting
    stage.suggested.put_nowait(EXPLANATION)
    assert await ana.ask(messages.Explain, room=code, match=1, ply=0, level="Level 1") == EXPLANATION
    assert await rui.hear_event(HintTaken) == HintTaken(1, 0, 0)
    assert (await ana.ask(messages.TakeHint, room=code, match=1, ply=0)).code == "limit-reached"


async def test_explanations_that_no_room_notes_have_a_pause_too(stage: Any) -> None:
    ana = stage.client("ana")
    seats = (messages.SeatRequest("me"), messages.SeatRequest("me"))
    code = (await ana.create(seats=seats)).head.room
    for expected in (EXPLANATION, "limit-reached", EXPLANATION):
        stage.suggested.put_nowait(EXPLANATION)
        answer = await ana.ask(messages.Explain, room=code, match=1, ply=0)
        assert expected in (answer, getattr(answer, "code", None))
        stage.now_ms += 2_500
    assert not [said for said in ana.heard if is_news_of_hint(said)]


async def test_unknown_levels_are_refused_at_once(hinting: Any) -> None:
    _, ana, _, code = hinting
    refusal = await ana.ask(messages.Explain, room=code, match=1, ply=0, level="alpha-beta depth=2")
    assert refusal.code == "unknown-level"
    assert "own machine" in refusal.message


async def test_whoever_runs_the_server_for_themselves_need_not_pause(stage: Any) -> None:
    ana = stage.client("ana")
    token = await stage.guests.vouch_for("ana", "ana")
    ana.session.account_id = (await stage.guests.identify(None, token, "")).account.id
    code = (await ana.create(seats=(messages.SeatRequest("me"), messages.SeatRequest("me")))).head.room
    for _ in range(2):
        stage.suggested.put_nowait(EXPLANATION)
        answer = await ana.ask(messages.Explain, room=code, match=1, ply=0, level="minimax depth=2")
        assert answer == EXPLANATION
