"""Rooms that never saw a match leave nothing on the disk, and rooms that nobody is in leave memory."""

from __future__ import annotations

from typing import Any

import pytest

from tabuleiro.errors import CommandError, StorageUnavailableError, StoreError
from tabuleiro.ids import RoomCode
from tabuleiro.protocol import messages
from tabuleiro.protocol.events import MatchEnded
from tabuleiro.protocol.messages import SeatRequest
from tabuleiro_server.rooms import directory as directory_module

BOTH = (SeatRequest("me"), SeatRequest("me"))


async def left(stage: Any, client: Any, **fields: Any) -> str:
    """Make a room and leave it; return its code."""
    code: str = (await client.create(**fields)).head.room
    assert await client.ask(messages.LeaveRoom, room=code) is None
    await stage.unloaded(code)
    return code


async def test_a_room_that_everybody_left_without_a_match_is_removed_from_the_disk(stage: Any) -> None:
    """Symptom: making and leaving rooms let the file grow by 0.67 MB a second, for ever."""
    ana = stage.client("ana")
    code = await left(stage, ana)
    assert await stage.stored(code) != []
    await stage.directory.remove_unplayed()
    assert await stage.stored(code) == []
    assert not await stage.journal.exists(RoomCode(code))
    assert (await ana.ask(messages.GetRecord, room=code)).code == "no-such-room"


async def test_a_room_whose_only_match_was_aborted_before_the_first_move_is_removed(stage: Any) -> None:
    ana = stage.client("ana")
    code = (await ana.create(seats=BOTH)).head.room
    assert await ana.ask(messages.Abort, room=code, match=1) is None
    assert await ana.ask(messages.LeaveRoom, room=code) is None
    await stage.unloaded(code)
    await stage.directory.remove_unplayed()
    assert await stage.stored(code) == []


async def test_a_room_in_which_something_was_played_stays(stage: Any) -> None:
    ana = stage.client("ana")
    code = (await ana.create(seats=BOTH)).head.room
    assert await ana.play(code, 0, "a3", "a2") is None
    assert await ana.ask(messages.Abort, room=code, match=1) is None
    assert await ana.ask(messages.LeaveRoom, room=code) is None
    await stage.unloaded(code)
    await stage.directory.remove_unplayed()
    assert (await ana.ask(messages.GetRecord, room=code)).actions == ("a3", "a2")


async def test_what_the_disk_refuses_to_remove_is_removed_later(
    stage: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    async def refuse(codes: object) -> None:
        raise StorageUnavailableError("database is locked")

    codes = [await left(stage, stage.client("ana")) for _ in range(3)]
    with monkeypatch.context() as patch:
        patch.setattr(stage.store, "remove", refuse)
        with pytest.raises(StoreError):
            await stage.directory.remove_unplayed()
    monkeypatch.setattr(directory_module, "REMOVED_COUNT", 2)
    await stage.directory.remove_unplayed()
    assert [await stage.stored(code) == [] for code in codes].count(True) == 2
    await stage.directory.remove_unplayed()
    assert [await stage.stored(code) for code in codes] == [[], [], []]


async def test_a_room_leaves_memory_one_interval_after_anybody_wanted_anything(
    open_stage: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Symptom: unloading took two minutes, not one."""
    delays_s: list[float] = []
    async with open_stage(idle_room_unload_ms=300) as stage:
        ana = stage.client("ana")
        code = (await ana.create()).head.room
        room = await stage.room(code)
        set_timer = room._timer.set

        def noted(delay_s: float) -> None:
            delays_s.append(delay_s)
            set_timer(delay_s)

        monkeypatch.setattr(room._timer, "set", noted)
        ana.session.close()
        await stage.unloaded(code)
    # The first look comes 300 ms after the room was made, and the second one 300 ms after its host had left.
    assert all(delay_s < 0.3 for delay_s in delays_s[1:])


@pytest.mark.parametrize("is_loaded", [True, False])
async def test_a_room_that_is_deleted_is_gone_whatever_happens_in_it(stage: Any, is_loaded: bool) -> None:
    ana = stage.client("ana")
    code = (await ana.create(seats=BOTH)).head.room
    assert await ana.play(code, 0, "a3", "a2") is None
    if not is_loaded:
        await (await stage.room(code)).stop()
    await stage.directory.remove(RoomCode(code))
    assert await stage.stored(code) == []
    assert stage.lobby.listed_room(code) is None
    assert (await ana.ask(messages.GetRecord, room=code)).code == "no-such-room"
    await stage.directory.remove(RoomCode(code))  # what is gone is gone


async def test_whoever_is_in_a_room_that_is_deleted_is_told_how_the_match_ended(stage: Any) -> None:
    ana = stage.client("ana")
    code = (await ana.create(seats=BOTH)).head.room
    await stage.directory.remove(RoomCode(code))
    assert (await ana.hear_event(MatchEnded)).termination == "aborted"
    await ana.hear_gone()


async def test_a_room_that_the_disk_refuses_to_delete_is_told(stage: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    async def refuse(codes: object) -> None:
        raise StorageUnavailableError("database is locked")

    code = await left(stage, stage.client("ana"))
    monkeypatch.setattr(stage.store, "remove", refuse)
    with pytest.raises(CommandError, match="cannot store this now"):
        await stage.directory.remove(RoomCode(code))
