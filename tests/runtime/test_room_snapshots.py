"""Snapshots of rooms: saved as the story grows, used when a room is loaded, never trusted more than its events."""

from __future__ import annotations

import asyncio
import sqlite3
from collections.abc import Callable
from contextlib import closing
from pathlib import Path
from random import Random
from typing import Any

import pytest
from msgspec.structs import fields, replace
from structlog.testing import capture_logs

from tabuleiro.errors import DamagedRoomError, StorageUnavailableError
from tabuleiro.ids import AccountId, Ply, RoomCode, Seq, TimestampMs
from tabuleiro.protocol import messages
from tabuleiro.protocol.events import (
    ActionsPlayed,
    Event,
    MatchStarted,
    OfferView,
    RoomOpened,
    RoomSecrets,
    Said,
    SeatInfo,
    SequencedEvent,
)
from tabuleiro.protocol.messages import RoomEntered
from tabuleiro.rules import registry
from tabuleiro_server.room.state import Checkpoint, Line, Match, MutedPerson, RoomState
from tabuleiro_server.rooms import journal as journal_module
from tabuleiro_server.rooms import pieces as pieces_module
from tabuleiro_server.rooms import snapshot_keeper
from tabuleiro_server.rooms.journal import NO_SNAPSHOT, read_events, rows_of, snapshot_differences
from tabuleiro_server.rooms.pieces import AT_ONCE_COUNT
from tabuleiro_server.rooms.room_snapshots import SNAPSHOT_VERSION, differences, read_snapshot, snapshot_of
from tabuleiro_server.rooms.snapshot_keeper import SNAPSHOT_EVERY_COUNT
from tabuleiro_server.store.consistency import verify
from tabuleiro_server.store.rows import Snapshot

LIMIT_S = 30.0
"""How long anything is waited for before a test counts as failed."""


async def talk(stage: Any, code: str, lines_count: int = SNAPSHOT_EVERY_COUNT) -> RoomState:
    """Say much in a room that is not in memory, and return it."""
    before = (await stage.journal.load(RoomCode(code))).room
    line = Said(AccountId("eva-id"), "eva", "hello", False)
    at_ms = TimestampMs(before.updated_at_ms)
    events = [SequencedEvent(Seq(before.seq + n), at_ms, line) for n in range(1, lines_count + 1)]
    appended = stage.journal.append(before, events)
    await appended.stored
    return appended.room


async def visit(stage: Any, code: str) -> RoomState:
    """Have a room come into memory and leave it again."""
    room = await stage.room(code)
    await stage.unloaded(code)
    return room.state


@pytest.fixture
async def empty_room(match_of: Any) -> tuple[Any, RoomCode]:
    """The stage and the code of a room with a match in it that has left memory."""
    stage, ana, rui, code = match_of
    await ana.play(code, 0, "a3", "a2")
    for client in (ana, rui):
        client.session.close()
    await stage.unloaded(code)
    return stage, RoomCode(code)


@pytest.fixture
async def saved(empty_room: Any) -> tuple[Any, RoomCode, RoomState]:
    """The stage, the code of a room whose snapshot is on disk, and the room as it was then."""
    stage, code = empty_room
    await talk(stage, code)
    return stage, code, await visit(stage, code)


@pytest.fixture
def pieces(monkeypatch: pytest.MonkeyPatch) -> list[list[Seq]]:
    """The numbers of the events that are replayed from here on, by what is replayed at once."""
    seen: list[list[Seq]] = []
    replay = journal_module.replay

    def noted(events: Any, room: RoomState | None = None) -> RoomState:
        events = list(events)
        seen.append([event.seq for event in events])
        return replay(events, room)

    monkeypatch.setattr(journal_module, "replay", noted)
    return seen


async def test_only_what_came_after_the_snapshot_is_replayed(saved: Any, pieces: list[list[Seq]]) -> None:
    stage, code, before = saved
    assert (await stage.journal.load(code)).room == before
    assert pieces == []
    after = await talk(stage, code, 3)
    pieces.clear()
    assert (await stage.journal.load(code))[:2] == (after, before.seq)
    assert pieces == [[before.seq + 1, before.seq + 2, before.seq + 3]]


async def test_many_events_are_replayed_in_pieces(empty_room: Any, pieces: list[list[Seq]]) -> None:
    stage, code = empty_room
    room = await talk(stage, code, 3 * AT_ONCE_COUNT)
    pieces.clear()
    assert (await stage.journal.load(code))[:2] == (room, NO_SNAPSHOT)
    assert max(map(len, pieces)) == AT_ONCE_COUNT
    assert [seq for piece in pieces for seq in piece] == list(range(1, room.seq + 1))


async def test_a_room_goes_on_from_its_snapshot(saved: Any) -> None:
    stage, code, _ = saved
    rui = stage.client("rui")
    await rui.watch(code)
    await rui.play(code, 2, "d2", "d3")
    assert (await stage.room(code)).state.match.actions == ("a3", "a2", "d2", "d3")


async def test_a_client_resumes_with_events_from_before_the_snapshot(saved: Any) -> None:
    stage, code, before = saved
    entered = await stage.client("eva").watch(code, since=2)
    assert entered.snapshot is None
    assert [event.seq for event in entered.events] == list(range(3, before.seq + 1))


async def test_a_snapshot_waits_until_enough_has_happened(empty_room: Any) -> None:
    stage, code = empty_room
    assert await stage.log.load_snapshot(code) is None
    room = await talk(stage, code)
    await visit(stage, code)
    assert (await stage.log.load_snapshot(code)).seq == room.seq
    await talk(stage, code, SNAPSHOT_EVERY_COUNT - 1)
    await visit(stage, code)
    assert (await stage.log.load_snapshot(code)).seq == room.seq
    room = await talk(stage, code, 1)
    await visit(stage, code)
    assert (await stage.log.load_snapshot(code)).seq == room.seq


async def test_a_server_that_stops_saves_none(match_of: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    stage, ana, _, code = match_of
    room = await stage.room(code)
    due_seq = room.state.seq + 1
    monkeypatch.setattr(snapshot_keeper, "SNAPSHOT_EVERY_COUNT", due_seq)
    stage.log.gate.clear()
    talking = asyncio.create_task(say(stage, ana, code, 1))
    await stage.log.reached()
    stopping = asyncio.create_task(stage.directory.stop())
    await asyncio.sleep(0)
    stage.log.gate.set()
    await asyncio.gather(talking, stopping)
    assert room.state.seq == due_seq
    assert await stage.log.load_snapshot(code) is None


def altered(snapshot: Snapshot) -> str:
    return "UPDATE snapshots SET payload = substr(payload, 1, 20) || x'00' || substr(payload, 22)"


def of_no_event(snapshot: Snapshot) -> str:
    return f"DELETE FROM events WHERE seq > {snapshot.seq - 1}"


@pytest.mark.parametrize("change", [altered, of_no_event])
async def test_a_snapshot_that_does_not_fit_is_not_used(
    saved: Any, tmp_path: Path, change: Callable[[Snapshot], str]
) -> None:
    stage, code, before = saved
    statement = change(await stage.log.load_snapshot(code))
    with closing(sqlite3.connect(tmp_path / "rooms.db")) as connection:
        assert connection.execute(statement).rowcount > 0
        connection.commit()
    with capture_logs() as lines:
        loaded = await stage.journal.load(code)
    assert [(line["event"], line["log_level"]) for line in lines] == [("snapshot not used", "info")]
    events = read_events(code, await stage.log.load(code))
    assert loaded[:2] == (journal_module.replay(events), NO_SNAPSHOT)
    assert loaded.room.match == before.match


def of_another_version(snapshot: Snapshot, room: RoomState) -> Snapshot:
    return replace(snapshot, version=SNAPSHOT_VERSION + 1)


def of_nonsense(snapshot: Snapshot, room: RoomState) -> Snapshot:
    return replace(snapshot, payload=b"\xc1")


def of_another_room(snapshot: Snapshot, room: RoomState) -> Snapshot:
    return snapshot_of(replace(room, code=RoomCode("K7MQ4")))


def of_another_time(snapshot: Snapshot, room: RoomState) -> Snapshot:
    return snapshot_of(replace(room, updated_at_ms=TimestampMs(room.updated_at_ms + 1)))


def of_no_game(snapshot: Snapshot, room: RoomState) -> Snapshot:
    return replace(snapshot, payload=snapshot.payload.replace(b"virus-wars", b"virus-love"))


def of_the_future(snapshot: Snapshot, room: RoomState) -> Snapshot:
    return snapshot_of(replace(room, seq=Seq(room.seq + 1)))


@pytest.mark.parametrize(
    "change", [of_another_version, of_nonsense, of_another_room, of_another_time, of_no_game, of_the_future]
)
async def test_in_doubt_all_events_are_replayed_and_the_snapshot_is_replaced(
    saved: Any, change: Callable[[Snapshot, RoomState], Snapshot]
) -> None:
    stage, code, room = saved
    right = await stage.log.load_snapshot(code)
    wrong = change(right, room)
    assert wrong != right
    await stage.log.save_snapshot(code, wrong.seq, wrong.version, wrong.payload)
    assert (await stage.journal.load(code))[:2] == (room, NO_SNAPSHOT)
    await visit(stage, code)
    assert await stage.log.load_snapshot(code) == right


async def test_a_snapshot_that_cannot_be_saved_harms_nothing(
    empty_room: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    stage, code = empty_room

    async def refuse(*_: Any) -> None:
        raise StorageUnavailableError("the disk is full")

    room = await talk(stage, code)
    monkeypatch.setattr(stage.log, "save_snapshot", refuse)
    with capture_logs() as lines:
        await visit(stage, code)
    assert [(line["event"], line["log_level"]) for line in lines] == [("snapshot not saved", "info")]
    assert (await stage.journal.load(code))[:2] == (room, NO_SNAPSHOT)


@pytest.fixture
async def lively(match_of: Any, monkeypatch: pytest.MonkeyPatch) -> tuple[Any, Any, RoomCode]:
    """The stage, ana, who says things, and the code of her room, which gets a snapshot every five events."""
    monkeypatch.setattr(snapshot_keeper, "SNAPSHOT_EVERY_COUNT", 5)
    stage, ana, _, code = match_of
    return stage, ana, RoomCode(code)


@pytest.fixture
def saved_seqs(stage: Any, monkeypatch: pytest.MonkeyPatch) -> asyncio.Queue[Seq]:
    """After which events snapshots were taken, each told when it is on disk."""
    seqs: asyncio.Queue[Seq] = asyncio.Queue()
    save = stage.log.save_snapshot

    async def noted(code: RoomCode, seq: Seq, *values: Any) -> None:
        await save(code, seq, *values)
        seqs.put_nowait(seq)

    monkeypatch.setattr(stage.log, "save_snapshot", noted)
    return seqs


async def say(stage: Any, ana: Any, code: str, lines_count: int) -> None:
    for _ in range(lines_count):
        stage.now_ms += 2_500  # nobody may talk faster
        assert await ana.ask(messages.Say, room=code, text="hello") is None


async def test_a_room_that_never_leaves_memory_gets_snapshots(
    saved_seqs: asyncio.Queue[Seq], lively: Any, pieces: list[list[Seq]]
) -> None:
    """Symptom: a room that was never empty was replayed from its first event, however long ago that was."""
    stage, ana, code = lively
    room = await stage.room(code)
    async with asyncio.timeout(LIMIT_S):
        for _ in range(4):
            await say(stage, ana, code, 5)
            seq = await saved_seqs.get()
    assert room.state.seq > 20
    assert room.state.seq - seq < 10
    pieces.clear()
    loaded = await stage.journal.load(code)
    assert loaded.room == room.state
    assert loaded.snapshot_seq >= seq
    assert sum(map(len, pieces)) == room.state.seq - loaded.snapshot_seq


async def test_who_plays_while_a_snapshot_is_saved_does_not_wait_for_it(
    lively: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    stage, ana, code = lively
    is_saving, may_save = asyncio.Event(), asyncio.Event()
    save = stage.log.save_snapshot

    async def save_slowly(*values: Any) -> None:
        is_saving.set()
        await may_save.wait()
        await save(*values)

    monkeypatch.setattr(stage.log, "save_snapshot", save_slowly)
    await say(stage, ana, code, 5)
    await is_saving.wait()
    assert await ana.play(code, 0, "a3", "a2") is None
    watching = asyncio.create_task(stage.client("eva").watch(code))
    may_save.set()
    assert isinstance(await watching, RoomEntered)
    loaded = await stage.journal.load(code)
    assert loaded.room == (await stage.room(code)).state
    assert NO_SNAPSHOT < loaded.snapshot_seq < loaded.room.seq


@pytest.mark.parametrize(
    ("failure", "line"),
    [
        (StorageUnavailableError("the disk is full"), ("snapshot not saved", "info")),
        (ZeroDivisionError("a bug"), ("snapshot not made", "error")),
    ],
)
async def test_a_snapshot_that_fails_hurts_nobody_and_is_tried_after_as_many_events_again(
    saved_seqs: asyncio.Queue[Seq],
    lively: Any,
    monkeypatch: pytest.MonkeyPatch,
    failure: Exception,
    line: tuple[str, str],
) -> None:
    stage, ana, code = lively
    tries: asyncio.Queue[Seq] = asyncio.Queue()

    async def refuse(_: RoomCode, seq: Seq, *__: Any) -> None:
        tries.put_nowait(seq)
        raise failure

    async with asyncio.timeout(LIMIT_S):
        with monkeypatch.context() as faulty, capture_logs() as lines:
            faulty.setattr(stage.log, "save_snapshot", refuse)
            await say(stage, ana, code, 15)
            first, second = await tries.get(), await tries.get()
        assert second - first >= 5
        assert {(line["event"], line["log_level"]) for line in lines} == {line}
        await say(stage, ana, code, 10)
        assert await saved_seqs.get() > second


def long_match() -> list[SequencedEvent]:
    """A room with a match of 300 actions."""
    seat, rng = SeatInfo("person", AccountId("ana-id"), "ana"), Random(1)
    options: dict[str, int | str] = {"rows": 19, "cols": 19}
    events: list[Event] = [
        RoomOpened(RoomCode("K7MQ4"), "virus-wars", options, AccountId("ana-id"), "ana", (seat, seat)),
        MatchStarted(1),
    ]
    state = registry.load("virus-wars", options).initial_state()
    for ply in range(300):
        action, mover = rng.choice(state.legal_actions()), state.to_move
        assert mover is not None
        events.append(ActionsPlayed(1, Ply(ply), mover, (state.action_to_string(action),)))
        state = state.child(action)
    return [SequencedEvent(Seq(seq), TimestampMs(seq), event) for seq, event in enumerate(events, start=1)]


async def test_others_have_their_turn_while_a_long_match_comes_from_a_snapshot(
    stage: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Symptom: all rooms waited while the match of one was played again, from its first action, in one go."""
    monkeypatch.setattr(pieces_module, "PIECE_NS", 0)
    appended = stage.journal.append(None, long_match())
    await appended.stored
    before = appended.room
    snapshot = snapshot_of(before)
    assert read_snapshot(before.code, snapshot) == before
    await stage.journal.save_snapshot(before)
    loading = asyncio.create_task(stage.journal.load(before.code))
    turns_count = 0
    while not loading.done():
        turns_count += 1
        await asyncio.sleep(0)
    assert (await loading)[:2] == (before, before.seq)
    assert turns_count > 300 // AT_ONCE_COUNT


async def test_verify_finds_a_snapshot_that_says_something_else(saved: Any, tmp_path: Path) -> None:
    stage, code, room = saved

    async def found() -> list[str]:
        path = tmp_path / "rooms.db"
        report = await verify(
            path, lambda code, events, row: rows_of(read_events(code, events), row), snapshot_differences
        )
        assert report.damaged == []
        return [str(difference) for difference in report.differences]

    assert await found() == []
    await talk(stage, code, 3)
    assert await found() == []
    wrong = snapshot_of(replace(room, host_name="eve"))
    await stage.log.save_snapshot(code, wrong.seq, wrong.version, wrong.payload)
    assert await found() == [f"room {code}, snapshot, host_name: stored 'eve', the events say 'ana'"]
    await stage.log.save_snapshot(code, wrong.seq, SNAPSHOT_VERSION + 1, wrong.payload)
    assert await found() == []


async def test_secrets_that_differ_are_not_told(saved: Any) -> None:
    _, _, room = saved
    found = differences(replace(room, secrets=RoomSecrets("invite-1", "watch-1")), room)
    assert list(found) == ["secrets"]
    assert "-1" not in str(found)


async def test_a_snapshot_of_another_version_says_so(saved: Any) -> None:
    _, code, room = saved
    snapshot = replace(snapshot_of(room), version=9)
    with pytest.raises(DamagedRoomError, match="unknown version 9 of a snapshot"):
        read_snapshot(code, snapshot)


def test_what_a_room_remembers_is_that_of_the_version() -> None:
    """Who adds a field raises ``SNAPSHOT_VERSION``, or a snapshot of before is read without what it would hold."""
    structs = (RoomState, Match, Checkpoint, OfferView, Line, MutedPerson)
    names = {struct.__name__: " ".join(field.name for field in fields(struct)) for struct in structs}
    assert (SNAPSHOT_VERSION, names) == (
        2,
        {
            "RoomState": "code seq phase game host host_name created_at_ms updated_at_ms seats settings limits"
            " secrets away_since_ms seated_at_ms match offers chat muted",
            "Match": "number players state clock started_at_ms time_control actions movers checkpoints revision"
            " lags_ms hinted_at_ms ended_at_ms winner termination",
            "Checkpoint": "ply state",
            "OfferView": "kind player",
            "Line": "at_ms account name text is_player is_hidden",
            "MutedPerson": "account name",
        },
    )
