"""Rooms are loaded by replaying their events, in chunks between which all other rooms have their turn."""

from __future__ import annotations

import asyncio
from random import Random
from typing import Any

import pytest

from tabuleiro.ids import AccountId, Ply, RoomCode, Seq, TimestampMs
from tabuleiro.protocol.events import ActionsPlayed, Event, MatchStarted, RoomOpened, SeatInfo, SequencedEvent
from tabuleiro.rules import registry
from tabuleiro_server.room.state import RoomState
from tabuleiro_server.rooms import journal as journal_module
from tabuleiro_server.rooms.journal import CHUNK_COUNT
from tabuleiro_server.store.port import FIRST_INCARNATION

PLIES_COUNT = 300


def long_match() -> list[SequencedEvent]:
    """Return the events of a room with a long match that goes on."""
    seat, rng = SeatInfo("person", AccountId("ana-id"), "ana"), Random(1)
    options: dict[str, int | str] = {"rows": 19, "cols": 19}
    events: list[Event] = [
        RoomOpened(RoomCode("K7MQ4"), "virus-wars", options, AccountId("ana-id"), "ana", (seat, seat)),
        MatchStarted(1),
    ]
    state = registry.load("virus-wars", options).initial_state()
    for ply in range(PLIES_COUNT):
        action, mover = rng.choice(state.legal_actions()), state.to_move
        assert mover is not None
        events.append(ActionsPlayed(1, Ply(ply), mover, (state.action_to_string(action),)))
        state = state.child(action)
    return [SequencedEvent(Seq(seq), TimestampMs(seq), event) for seq, event in enumerate(events, start=1)]


@pytest.fixture
async def stored(stage: Any) -> RoomState:
    """The room of that match, on disk only."""
    appended = stage.journal.append(None, long_match(), FIRST_INCARNATION)
    await appended.stored
    return appended.room


async def test_many_events_are_replayed_in_chunks(
    stage: Any, stored: RoomState, monkeypatch: pytest.MonkeyPatch
) -> None:
    chunks: list[list[Seq]] = []
    replay = journal_module.replay

    def noted(events: Any, room: RoomState | None = None) -> RoomState:
        events = list(events)
        chunks.append([event.seq for event in events])
        return replay(events, room)

    monkeypatch.setattr(journal_module, "replay", noted)
    assert await stage.journal.load(stored.code) == stored
    assert max(map(len, chunks)) == CHUNK_COUNT
    assert [seq for chunk in chunks for seq in chunk] == list(range(1, stored.seq + 1))


async def test_others_have_their_turn_while_a_long_match_is_loaded(
    stage: Any, stored: RoomState, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Symptom: all rooms waited while the match of one was replayed in one go."""
    monkeypatch.setattr(journal_module, "CHUNK_NS", 0)
    loading = asyncio.create_task(stage.journal.load(stored.code))
    turns_count = 0
    while not loading.done():
        turns_count += 1
        await asyncio.sleep(0)
    assert await loading == stored
    assert turns_count > PLIES_COUNT // CHUNK_COUNT


async def test_a_client_resumes_from_events_of_long_ago(stage: Any, stored: RoomState) -> None:
    entered = await stage.client("eva").watch(stored.code, since=2)
    assert entered.snapshot is None
    # The room is resumed after the stop of the server, which is one event more.
    assert [event.seq for event in entered.events] == list(range(3, stored.seq + 2))
