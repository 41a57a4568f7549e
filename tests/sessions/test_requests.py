"""What requests do beyond the room core: hello, entering, leaving, secrets, and who is told what."""

from __future__ import annotations

from pathlib import Path
from typing import Any
from unittest.mock import AsyncMock

import pytest
from structlog.testing import capture_logs

from tabuleiro.errors import StorageUnavailableError
from tabuleiro.ids import RoomCode
from tabuleiro.protocol import messages
from tabuleiro.protocol.events import ActionsPlayed, RoomClosed, SeatDisconnected, Withheld
from tabuleiro.protocol.messages import Ok, RoomEntered, SeatRequest, Update
from tabuleiro.settings import LateBot, RoomSettings
from tabuleiro_server.rooms.refusals import elsewhere

IN_A_ROOM: tuple[tuple[Any, dict[str, Any]], ...] = (
    (messages.Play, {"match": 1, "ply": 0, "actions": ("a3",)}),
    (messages.Undo, {"match": 1, "ply": 0}),
    (messages.TakeHint, {"match": 1, "ply": 0}),
    (messages.Resign, {"match": 1}),
    (messages.Abort, {"match": 1}),
    (messages.ClaimWin, {"match": 1}),
    (messages.Offer, {"kind": "draw"}),
    (messages.Answer, {"kind": "draw", "accept": True}),
    (messages.SeatBot, {"seat": 1, "level": "random"}),
    (messages.SwapSeats, {}),
    (messages.ChangeSettings, {"settings": RoomSettings()}),
    (messages.Say, {"text": "hello"}),
    (messages.Mute, {"name": "rui"}),
)
entered_only = pytest.mark.parametrize(
    ("make", "fields"), IN_A_ROOM, ids=lambda value: getattr(value, "__name__", "")
)


@entered_only
async def test_whoever_acts_in_a_room_has_entered_it(match_of: Any, make: Any, fields: Any) -> None:
    """Else somebody could play, and count as away all the same."""
    stage, _, _, code = match_of
    desk = stage.client("ana")
    seq = (await stage.room(code)).state.seq
    assert (await desk.ask(make, room=code, **fields)).code == "not-watching"
    assert (await stage.room(code)).state.seq == seq


@entered_only
async def test_requests_for_no_room_are_refused(stage: Any, make: Any, fields: Any) -> None:
    assert (await stage.client("ana").ask(make, room="ABCDE", **fields)).code == "no-such-room"


@pytest.mark.parametrize("make", [messages.JoinRoom, messages.WatchRoom, messages.Consider])
async def test_whoever_asks_for_a_room_of_another_node_is_told_its_address(
    stage: Any, monkeypatch: pytest.MonkeyPatch, make: Any
) -> None:
    refused = elsewhere(RoomCode("K7MQ4"), "wss://play.example.org/node/b", follow=True)
    monkeypatch.setattr(stage.directory, "find", AsyncMock(side_effect=refused))
    fields = {"match": 1, "ply": 0} if make is messages.Consider else {}
    error = await stage.client("ana").ask(make, room="k7mq4", **fields)
    assert (error.code, error.node_url, error.room, error.follow) == (
        "elsewhere",
        "wss://play.example.org/node/b",
        "K7MQ4",
        True,
    )


async def test_requests_reach_the_room(match_of: Any) -> None:
    stage, ana, rui, code = match_of
    room = await stage.room(code)
    requests: tuple[tuple[Any, Any, dict[str, Any]], ...] = (
        (ana, messages.Play, {"match": 1, "ply": 0, "actions": ("a3",)}),
        (ana, messages.Undo, {"match": 1, "ply": 0}),
        (ana, messages.Play, {"match": 1, "ply": 0, "actions": ("a3", "a2"), "revision": 1}),
        (ana, messages.Offer, {"kind": "takeback"}),
        (rui, messages.Answer, {"kind": "takeback", "accept": True}),
        (rui, messages.Say, {"text": "hello"}),
        (ana, messages.Mute, {"name": "rui"}),
        (rui, messages.Abort, {"match": 1}),
        (ana, messages.SwapSeats, {}),
        (ana, messages.ChangeSettings, {"settings": RoomSettings(late_bot=LateBot("random", 0))}),
        (rui, messages.LeaveRoom, {}),
        (ana, messages.SeatBot, {"seat": 0, "level": "random"}),
        (ana, messages.Offer, {"kind": "rematch"}),
        (ana, messages.Resign, {"match": 2}),
    )
    for client, make, fields in requests:
        assert await client.ask(make, room=code, **fields) is None
    assert (room.state.match.number, room.state.match.termination) == (2, "resignation")
    assert (await ana.ask(messages.ClaimWin, room=code, match=2)).code == "wrong-phase"


async def test_nothing_is_answered_before_hello_and_hello_only_once(stage: Any) -> None:
    ana = stage.client("ana")
    assert (await ana.ask(messages.Hello, name="ana")).code == "hello-first"
    ana.session.account_id = ""
    assert (await ana.ask(messages.ListRooms)).code == "hello-first"
    welcome = await ana.ask(messages.Hello, name="Ana")
    assert (welcome.name, bool(welcome.token)) == ("Ana", True)


async def test_a_guest_comes_back_with_the_token_and_a_wrong_one_disturbs_nobody(stage: Any) -> None:
    def stranger() -> Any:
        client = stage.client("nobody")
        client.session.account_id = ""
        return client

    first, second, third = stranger(), stranger(), stranger()
    welcome = await first.ask(messages.Hello, name="Ana")
    code = (await first.create()).head.room
    seq = (await stage.room(code)).state.seq
    assert (await second.ask(messages.Hello, token="wrong")).code == "bad-token"
    assert (await second.ask(messages.Hello, name="ANA")).code == "name-taken"
    assert (await second.ask(messages.Hello, name="a")).code == "bad-name"
    assert (await second.ask(messages.Hello)).code == "bad-name"
    assert (await stage.room(code)).state.seq == seq
    again = await third.ask(messages.Hello, token=welcome.token)
    assert (again.account, again.token) == (welcome.account, None)
    assert (await third.watch(code)).seat == 0


async def test_a_known_guest_comes_back_while_nothing_can_be_stored(
    stage: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Symptom: with a full disk nobody could even come in and look on."""
    first, second, third = stage.client("nobody"), stage.client("nobody"), stage.client("nobody")
    for client in (first, second, third):
        client.session.account_id = ""
    welcome = await first.ask(messages.Hello, name="Ana")
    code = (await first.create()).head.room

    async def refuse(*_: Any) -> Any:
        raise StorageUnavailableError("database or disk is full")

    monkeypatch.setattr(stage.store.writer, "call", refuse)
    assert (await second.ask(messages.Hello, token=welcome.token)).account == welcome.account
    assert (await second.watch(code)).seat == 0
    assert (await third.ask(messages.Hello, name="Eva")).code == "storage-unavailable"


async def test_a_guest_whom_the_disk_keeps_out_is_told_to_the_log(
    stage: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Symptom: with a damaged table of guests nobody came in, and the log had no word of it."""
    client = stage.client("nobody")
    client.session.account_id = ""
    refusal = StorageUnavailableError("the guests cannot be read")

    async def refuse(*_: Any) -> Any:
        raise refusal

    monkeypatch.setattr(stage.store.reader, "read", refuse)
    with capture_logs() as lines:
        assert (await client.ask(messages.Hello, token="any")).code == "storage-unavailable"
    assert [line["reason"] for line in lines] == [str(refusal)]


async def test_secrets_are_told_to_the_host_only(stage: Any) -> None:
    ana, rui, eva = stage.client("ana"), stage.client("rui"), stage.client("eva")
    entered = await ana.create(settings=RoomSettings(is_private=True))
    code, secrets = entered.head.room, entered.secrets
    assert secrets is not None
    assert (await rui.join(code)).code == (await eva.watch(code)).code == "bad-secret"
    assert (await eva.join(code, secret=secrets.watch)).code == "bad-secret"
    joined = await rui.join(code, secret=secrets.invite)
    watched = await eva.watch(code, secret=secrets.watch, since=0)
    assert joined.secrets is watched.secrets is None
    assert len(watched.events) == watched.head.seq
    for client in (rui, eva):
        assert secrets.invite not in repr(client.heard)
        assert secrets.watch not in repr(client.heard)
    assert (await stage.client("ana").watch(code)).secrets == secrets
    assert (await ana.create()).secrets is None


async def test_watchers_talk_is_hidden_from_players_in_updates_snapshots_and_on_resuming(stage: Any) -> None:
    ana, rui, eva = stage.client("ana"), stage.client("rui"), stage.client("eva")
    code = (await ana.create(settings=RoomSettings(hides_watcher_chat=True))).head.room
    await rui.join(code)
    since = (await eva.watch(code)).head.seq
    await eva.ask(messages.Say, room=code, text="b2 wins")
    await rui.hear_event(Withheld)
    resumed = await stage.client("ana").watch(code, since=since)
    fresh = await stage.client("ana").watch(code)
    assert "b2 wins" not in repr((ana.heard, rui.heard, resumed, fresh))
    assert [event.seq for event in resumed.events] == list(range(since + 1, resumed.head.seq + 1))
    assert "b2 wins" in repr((await stage.client("dom").watch(code)).snapshot)
    await rui.ask(messages.Resign, room=code, match=1)
    after = await stage.client("rui").watch(code)
    assert [line.text for line in after.snapshot.chat] == ["b2 wins"]


async def test_leaving_a_running_match_keeps_the_seat_and_counts_as_away(match_of: Any) -> None:
    _, ana, rui, code = match_of
    assert await rui.ask(messages.LeaveRoom, room=code) is None
    assert not rui.session.is_in(code)
    assert await ana.hear_event(SeatDisconnected) == SeatDisconnected(1)
    heard_count = len(rui.heard)
    await ana.play(code, 0, "a3", "a2")
    await ana.hear_event(ActionsPlayed)
    assert not [said for said in rui.heard[heard_count:] if isinstance(said, Update) and said.events]
    assert (await rui.join(code)).seat == 1


async def test_whoever_makes_a_room_without_sitting_down_watches_it(stage: Any) -> None:
    entered = await stage.client("ana").create(seats=(SeatRequest(), SeatRequest("bot", "random")))
    assert isinstance(entered, RoomEntered)
    assert (entered.seat, entered.head.phase) == (None, "waiting")


async def test_a_level_that_no_bot_of_the_game_has_is_refused(stage: Any) -> None:
    seats = (SeatRequest("me"), SeatRequest("bot", "genius"))
    answer = await stage.client("ana").ask(messages.CreateRoom, game="virus-wars", seats=seats)
    assert answer.code == "unknown-level"


async def test_the_log_tells_which_program_says_hello(stage: Any) -> None:
    newcomer = stage.client("ana")
    newcomer.session.account_id = ""
    with capture_logs() as entries:
        answer = await newcomer.ask(messages.Hello, name="ana", client="robo \x1b[31m1.0")
    told = [entry for entry in entries if entry["event"] == "hello"]
    assert [(entry["client"], entry["account"]) for entry in told] == [("robo 1.0", answer.account)]


async def test_the_last_person_to_leave_closes_the_room_for_watchers_too(stage: Any) -> None:
    ana, eva = stage.client("ana"), stage.client("eva")
    seats = (SeatRequest("me"), SeatRequest("open"))
    code = (await ana.create(seats=seats)).head.room
    await eva.watch(code)
    heard_count = len(ana.heard)
    assert await ana.ask(messages.LeaveRoom, room=code) is None
    assert await eva.hear_event(RoomClosed) == RoomClosed("everybody left")
    await eva.hear_gone()
    assert [type(said) for said in ana.heard[heard_count:]] == [Ok], "no room-gone for whoever left"
    for client in (ana, eva):
        assert (await client.ask(messages.LeaveRoom, room=code)).code == "no-such-room"


async def test_leaving_a_room_that_one_is_not_in_changes_nothing(match_of: Any) -> None:
    stage, _, _, code = match_of
    seq = (await stage.room(code)).state.seq
    assert await stage.client("eva").ask(messages.LeaveRoom, room=code) is None
    assert (await stage.room(code)).state.seq == seq


async def test_the_seat_told_on_entering_is_right_after_a_rematch(match_of: Any) -> None:
    _, ana, rui, code = match_of
    assert await rui.ask(messages.Resign, room=code, match=1) is None
    await ana.ask(messages.Offer, room=code, kind="rematch")
    await rui.ask(messages.Answer, room=code, kind="rematch", accept=True)
    for client, seat in ((ana, 1), (rui, 0)):
        entered = await client.watch(code)
        assert entered.seat == seat
        assert entered.head.seats[seat].holder.account == client.account


async def test_a_server_reads_the_names_of_the_reports_and_refuses_algorithms(stage: Any) -> None:
    ana = stage.client("ana")
    seats = (SeatRequest("me"), SeatRequest("bot", "Level 1"))
    entered = await ana.ask(messages.CreateRoom, game="virus-wars", seats=seats)
    assert entered.head.seats[1].holder.level == "random"
    for level, told in (
        ("alpha-beta depth=2", "plays on one's own machine only, expected one of random, "),
        ("mcts playouts=9 eval=/etc/passwd.py", "plays on one's own machine only"),
        (
            "genius",
            "level 'genius' is not possible, expected one of random, minimax-1, minimax-3, easy, ",
        ),
    ):
        late = RoomSettings(late_bot=LateBot(level, 60_000))
        for fields in ({"seats": (SeatRequest("me"), SeatRequest("bot", level))}, {"settings": late}):
            refusal = await ana.ask(messages.CreateRoom, game="virus-wars", **fields)
            assert (refusal.code, told in refusal.message) == ("unknown-level", True)
        room = (await ana.ask(messages.CreateRoom, game="virus-wars")).head.room
        for make, fields in (
            (messages.SeatBot, {"seat": 1, "level": level}),
            (messages.ChangeSettings, {"settings": late}),
        ):
            refusal = await ana.ask(make, room=room, **fields)
            assert (refusal.code, told in refusal.message) == ("unknown-level", True)


async def test_whoever_runs_the_server_for_themselves_may_choose_any_algorithm(stage: Any, tmp_path: Path) -> None:
    ana = stage.client("ana")
    token = await stage.guests.vouch_for("ana", "ana")
    owner = (await stage.guests.identify(None, token, "")).account
    ana.session.account_id = owner.id
    late = RoomSettings(late_bot=LateBot("Minimax depth=1", 60_000))
    seats = (SeatRequest("me"), SeatRequest("bot", "Alpha-Beta  depth=2 weights=1,-1"))
    entered = await ana.ask(messages.CreateRoom, game="virus-wars", seats=seats, settings=late)
    assert entered.head.seats[1].holder.level == "alpha-beta depth=2 weights=1,-1"
    assert entered.head.settings.late_bot == LateBot("minimax depth=1", 60_000)
    refusal = await ana.ask(
        messages.CreateRoom, game="virus-wars", seats=(SeatRequest("bot", "minimax"), SeatRequest())
    )
    assert (refusal.code, "depth= takes" in refusal.message) == ("unknown-level", True)
    (tmp_path / "mine.py").write_text("def value(state, player): return 1 / 0")
    seats = (SeatRequest("me"), SeatRequest("bot", f"minimax-1 eval={tmp_path / 'mine.py'}"))
    refusal = await ana.ask(messages.CreateRoom, game="virus-wars", seats=seats)
    assert (refusal.code, "value failed: ZeroDivisionError" in refusal.message) == ("unknown-level", True)
