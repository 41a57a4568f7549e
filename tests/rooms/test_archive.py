"""Matches read back from disk, beside everything else that the server does."""

from __future__ import annotations

import asyncio
from typing import Any

import pytest

from tabuleiro.errors import CommandError, DamagedRoomError
from tabuleiro.ids import AccountId, RoomCode, Seq, TimestampMs
from tabuleiro.protocol.events import Event, MatchStarted, RoomOpened, Said, SeatInfo, SequencedEvent
from tabuleiro_server.room.commands import Watch
from tabuleiro_server.rooms import journal
from tabuleiro_server.rooms.archive import Archive
from tabuleiro_server.rooms.journal import CHUNK_COUNT
from tests.patience import LIMIT_S

PIECES_COUNT = 20
CODE = RoomCode("K7MQ4")
ANA = AccountId("ana-id")


def long_story(options: dict[str, int | str]) -> list[SequencedEvent]:
    """A running match, and so much talk in its room that it takes many chunks to replay."""
    seat = SeatInfo("person", ANA, "ana")
    talk = [Said(ANA, "ana", "hello", True)] * (PIECES_COUNT * CHUNK_COUNT)
    events: list[Event] = [
        RoomOpened(CODE, "minefield", options, ANA, "ana", (seat, seat)),
        MatchStarted(1),
        *talk,
    ]
    return [SequencedEvent(Seq(seq), TimestampMs(seq), event) for seq, event in enumerate(events, start=1)]


class Shelf:
    """A journal that hands out its one room, and counts how often; ``fault``: an error, or options of the room."""

    def __init__(self, fault: DamagedRoomError | dict[str, int | str] | None = None) -> None:
        self.error = fault if isinstance(fault, DamagedRoomError) else None
        self.story = long_story(fault if isinstance(fault, dict) else {})
        self.asked_count = 0

    async def events_after(self, code: RoomCode, seq: Seq) -> list[SequencedEvent]:
        self.asked_count += 1
        if self.error is not None:
            raise self.error
        return self.story


async def test_others_have_their_turn_while_a_long_match_is_replayed(monkeypatch: pytest.MonkeyPatch) -> None:
    """Symptom: who asked for a match of thousands of actions, again and again, held everybody up."""
    monkeypatch.setattr(journal, "CHUNK_NS", 0)
    shelf: Any = Shelf()
    archive, turns_count = Archive(shelf), 0
    asking = asyncio.create_task(archive.find(CODE, None, Watch(ANA)))
    while not asking.done():
        turns_count += 1
        await asyncio.sleep(0)
    assert (await asking).match == 1
    assert turns_count > PIECES_COUNT


@pytest.mark.parametrize(
    "fault",
    [DamagedRoomError(CODE, Seq(7), "its checksum does not fit"), {"size": 99}],
    ids=["unreadable", "impossible"],
)
async def test_what_cannot_be_replayed_is_called_damaged_and_not_to_be_tried_again(fault: Any) -> None:
    shelf: Any = Shelf(fault)
    with pytest.raises(CommandError, check=lambda error: error.code == "room-damaged"):
        await Archive(shelf).find(CODE, None, Watch(ANA))


async def test_matches_are_replayed_for_one_after_the_other(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(journal, "CHUNK_NS", 0)
    shelf: Any = Shelf()
    archive = Archive(shelf)
    asking = [asyncio.create_task(archive.find(CODE, None, Watch(ANA))) for _ in range(3)]
    async with asyncio.timeout(LIMIT_S):
        for done_count, each in enumerate(asking, start=1):
            await each
            assert shelf.asked_count <= done_count + 1
