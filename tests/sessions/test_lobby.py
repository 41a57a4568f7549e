"""The list of rooms: what is listed to whom, and what subscribers are told."""

from __future__ import annotations

import asyncio
from typing import Any

from tabuleiro.clock import Fischer
from tabuleiro.protocol import messages
from tabuleiro.protocol.events import SeatInfo
from tabuleiro.protocol.messages import LobbyUpdate, RoomEntered, RoomSummary, SeatRequest
from tabuleiro.settings import RoomSettings
from tabuleiro_server.room.chat import FLOOD_LINES_COUNT, FLOOD_WINDOW_MS
from tabuleiro_server.sessions.lobby import (
    LISTED_ROOMS_COUNT,
    LOBBY_FLOOD_LINES_COUNT,
    LOBBY_LINES_COUNT,
    Lobby,
    RoomFilter,
)


def codes(rooms: Any) -> list[str]:
    return [summary.room for summary in rooms]


def update_with(code: str, phase: str) -> Any:
    """Whether a message is a lobby update in which the room stands with this phase."""
    return lambda said: (
        isinstance(said, LobbyUpdate) and (code, phase) in [(line.room, line.phase) for line in said.rooms]
    )


def update_without(code: str) -> Any:
    return lambda said: isinstance(said, LobbyUpdate) and code in said.gone


async def test_rooms_are_listed_newest_first_by_game_and_phase(stage: Any) -> None:
    ana, rui = stage.client("ana"), stage.client("rui")
    first = (await ana.create()).head.room
    second = (await ana.create(game="iris", options={"side": 5})).head.room
    await rui.join(first)
    await stage.until(lambda: stage.lobby.rooms(RoomFilter(phases=("playing",)))[0] != ())
    assert codes((await rui.ask(messages.ListRooms)).rooms) == [second, first]
    assert codes((await rui.ask(messages.ListRooms, game="iris")).rooms) == [second]
    assert codes((await rui.ask(messages.ListRooms, phases=("playing",))).rooms) == [first]
    assert codes((await rui.ask(messages.ListRooms, phases=("finished",))).rooms) == []


async def test_a_line_tells_who_sits_plays_and_watches(stage: Any) -> None:
    ana, rui, eva = stage.client("ana"), stage.client("rui"), stage.client("eva")
    code = (await ana.create()).head.room
    await rui.join(code)
    await eva.watch(code)
    await stage.until(lambda: stage.lobby.rooms(RoomFilter())[0][0].watchers == 1)
    (line,) = (await eva.ask(messages.ListRooms)).rooms
    assert [seat.name for seat in line.seats] == ["ana", "rui"]
    assert (line.phase, line.players) == ("playing", ("ana", "rui"))


async def test_private_rooms_are_never_listed_nor_told(stage: Any) -> None:
    ana, eva = stage.client("ana"), stage.client("eva")
    await eva.ask(messages.SubscribeLobby)
    private = (await ana.create(settings=RoomSettings(is_private=True))).head.room
    listed = (await ana.create()).head.room
    update = await eva.hear(update_with(listed, "waiting"))
    assert private not in codes(update.rooms)
    assert private not in update.gone
    assert codes((await eva.ask(messages.ListRooms)).rooms) == [listed]


async def test_a_subscriber_is_told_of_new_changed_and_gone_rooms_of_its_filter(stage: Any) -> None:
    ana, rui, eva = stage.client("ana"), stage.client("rui"), stage.client("eva")
    assert (await eva.ask(messages.SubscribeLobby, game="virus-wars", phases=("waiting",))).rooms == ()
    code = (await ana.create()).head.room
    await ana.create(game="iris", options={"side": 5})
    await eva.hear(update_with(code, "waiting"))
    await rui.join(code)
    await eva.hear(update_without(code))
    told = [said for said in eva.heard if isinstance(said, LobbyUpdate)]
    assert {line.room for said in told for line in said.rooms} == {code}
    # Symptom: rooms of other games, which had never been in the list, were told as gone from it.
    assert {gone for said in told for gone in said.gone} == {code}


async def test_a_room_of_the_first_list_is_told_gone_however_soon_it_goes(stage: Any) -> None:
    ana, rui, eva = stage.client("ana"), stage.client("rui"), stage.client("eva")
    await rui.ask(messages.SubscribeLobby)
    code = (await ana.create()).head.room
    assert codes((await eva.ask(messages.SubscribeLobby, phases=("waiting",))).rooms) == [code]
    await rui.join(code)
    await eva.hear(update_without(code))


async def test_people_are_told_by_name_once_however_many_connections_they_have(stage: Any) -> None:
    eva = stage.client("eva")
    await eva.ask(messages.SubscribeLobby)
    rui, phone = stage.client("rui"), stage.client("rui")
    update = await eva.hear(lambda said: isinstance(said, LobbyUpdate) and said.people_count == 2)
    assert update.people == ("eva", "rui")
    rui.session.close()
    phone.session.close()
    await eva.hear(lambda said: isinstance(said, LobbyUpdate) and said.people == ("eva",))


async def test_nobody_is_told_that_nothing_has_changed(stage: Any) -> None:
    """Symptom: whenever a phone came beside a desk, or a room noted nothing new, everybody had an update."""
    ana, eva = stage.client("ana"), stage.client("eva")
    await eva.ask(messages.SubscribeLobby)
    await eva.hear(lambda said: isinstance(said, LobbyUpdate) and said.people_count == 2)
    told_count = len(eva.heard)
    stage.client("ana").session.close()
    stage.lobby.subscribe(other := Listener(), RoomFilter())
    await other.told.wait()
    assert len(eva.heard) == told_count
    code = (await ana.create()).head.room
    await eva.hear(update_with(code, "waiting"))


def line_with(text: str) -> Any:
    """Whether a message brings a line of chat with this text."""
    return lambda said: isinstance(said, LobbyUpdate) and text in [line.text for line in said.chat]


async def test_people_in_the_lobby_write_to_each_other_players_watchers_and_others_alike(stage: Any) -> None:
    ana, rui, eva = stage.client("ana"), stage.client("rui"), stage.client("eva")
    code = (await ana.create()).head.room
    await rui.watch(code)
    for client in (ana, rui, eva):
        await client.ask(messages.SubscribeLobby)
    for number, client in enumerate((ana, rui, eva)):
        assert await client.ask(messages.SayInLobby, text=f"line\n {number}\x1b[31m") is None
    for client in (ana, rui, eva):
        await client.hear(line_with("line 2"))
        lines = [line for said in client.heard if isinstance(said, LobbyUpdate) for line in said.chat]
        assert [(line.name, line.text) for line in lines] == [
            ("ana", "line 0"),
            ("rui", "line 1"),
            ("eva", "line 2"),
        ]
        assert lines[0].account == ana.account


async def test_who_comes_later_gets_the_last_lines_and_none_of_them_twice(stage: Any) -> None:
    ana, eva = stage.client("ana"), stage.client("eva")
    await ana.ask(messages.SubscribeLobby)
    for number in range(LOBBY_LINES_COUNT + 2):
        stage.now_ms += FLOOD_WINDOW_MS
        assert await ana.ask(messages.SayInLobby, text=f"line {number}") is None
    listed = await eva.ask(messages.SubscribeLobby)
    assert [line.text for line in listed.chat] == [f"line {number}" for number in range(2, LOBBY_LINES_COUNT + 2)]
    assert (await eva.ask(messages.ListRooms)).chat == ()
    stage.now_ms += FLOOD_WINDOW_MS
    await ana.ask(messages.SayInLobby, text="new")
    await eva.hear(line_with("new"))
    assert [line.text for said in eva.heard if isinstance(said, LobbyUpdate) for line in said.chat] == ["new"]


async def test_a_line_is_refused_from_outside_without_letters_and_beyond_the_limits(stage: Any) -> None:
    ana = stage.client("ana")
    assert (await ana.ask(messages.SayInLobby, text="hello")).code == "not-watching"
    await ana.ask(messages.SubscribeLobby)
    assert (await ana.ask(messages.SayInLobby, text="\u200b ")).code == "bad-text"
    for _ in range(FLOOD_LINES_COUNT):
        assert await ana.ask(messages.SayInLobby, text="hello") is None
    # Another connection does not help, and time does.
    phone = stage.client("ana")
    await phone.ask(messages.SubscribeLobby)
    assert (await phone.ask(messages.SayInLobby, text="hello")).code == "limit-reached"
    stage.now_ms += FLOOD_WINDOW_MS
    assert await phone.ask(messages.SayInLobby, text="hello") is None


async def test_all_together_write_no_more_than_everybody_can_read(stage: Any) -> None:
    clients = [stage.client(f"guest-{number}") for number in range(LOBBY_FLOOD_LINES_COUNT + 1)]
    for client in clients:
        await client.ask(messages.SubscribeLobby)
    answers = [await client.ask(messages.SayInLobby, text="hello") for client in clients]
    assert answers[:-1] == [None] * LOBBY_FLOOD_LINES_COUNT
    assert "at most 20 lines of all in 10 seconds" in answers[-1].message


async def test_lines_cost_their_author_as_other_events_do(open_stage: Any) -> None:
    async with open_stage(account_events_burst_count=1, account_events_per_hour_count=1) as stage:
        ana = stage.client("ana")
        await ana.ask(messages.SubscribeLobby)
        assert await ana.ask(messages.SayInLobby, text="hello") is None
        assert "account_events_per_hour_count" in (await ana.ask(messages.SayInLobby, text="hello")).message


async def test_the_host_of_a_server_can_turn_the_chat_off(open_stage: Any) -> None:
    async with open_stage(lobby_chat=False) as stage:
        ana = stage.client("ana")
        await ana.ask(messages.SubscribeLobby)
        assert (await ana.ask(messages.SayInLobby, text="hello")).code == "not-allowed"


class Listener:
    """Somebody in the lobby who only waits to be told something."""

    def __init__(self) -> None:
        self.told = asyncio.Event()

    def send(self, message: Any) -> None:
        self.told.set()


async def test_who_unsubscribes_or_goes_is_told_no_more(stage: Any) -> None:
    ana, eva, rui = stage.client("ana"), stage.client("eva"), stage.client("rui")
    for client in (ana, eva, rui):
        await client.ask(messages.SubscribeLobby)
    await eva.ask(messages.UnsubscribeLobby)
    rui.session.close()
    code = (await ana.create()).head.room
    await ana.hear(update_with(code, "waiting"))
    assert not [said for client in (eva, rui) for said in client.heard if update_with(code, "waiting")(said)]


async def test_a_late_subscriber_is_not_told_what_its_list_held_already(stage: Any) -> None:
    """Symptom: every room that ever changed was remembered, and told as gone to the first who subscribed."""
    ana, eva = stage.client("ana"), stage.client("eva")
    old = (await ana.create()).head.room
    assert codes((await eva.ask(messages.SubscribeLobby)).rooms) == [old]
    new = (await ana.create()).head.room
    update = await eva.hear(update_with(new, "waiting"))
    assert old not in [*codes(update.rooms), *update.gone]


def summary(number: int, created_at_ms: int = 0) -> RoomSummary:
    seats: Any = (SeatInfo(), SeatInfo())
    return RoomSummary(f"R{number}", "waiting", "iris", {}, seats, created_at_ms)


def test_a_long_list_is_cut_and_says_so() -> None:
    lobby = Lobby(summary(number) for number in range(LISTED_ROOMS_COUNT + 1))
    rooms, is_cut = lobby.rooms(RoomFilter())
    assert (len(rooms), is_cut, rooms[0].room) == (LISTED_ROOMS_COUNT, True, f"R{LISTED_ROOMS_COUNT}")
    assert Lobby(summary(number) for number in range(LISTED_ROOMS_COUNT)).rooms(RoomFilter())[1] is False


def test_rooms_from_disk_are_put_in_the_order_of_their_age() -> None:
    lobby = Lobby([summary(1, 30), summary(2, 10), summary(3, 20)])
    assert codes(lobby.open_rooms("iris")) == ["R2", "R3", "R1"]


async def quick(client: Any, **fields: Any) -> RoomEntered:
    request = {"game": "virus-wars", "options": {"rows": 4, "cols": 4, "steps": 2}} | fields
    entered = await client.ask(messages.QuickPlay, **request)
    assert isinstance(entered, RoomEntered), entered
    return entered


async def test_quick_play_joins_the_oldest_fitting_room(stage: Any) -> None:
    ana, rui, eva = stage.client("ana"), stage.client("rui"), stage.client("eva")
    await ana.create(options={"rows": 5})
    await ana.create(settings=RoomSettings(time_control=Fischer(60_000, 0)))
    await ana.create(settings=RoomSettings(is_private=True))
    oldest = (await ana.create()).head.room
    newer = (await rui.create()).head.room
    assert (await quick(eva)).head.room == oldest
    assert (await quick(stage.client("kim"))).head.room == newer


async def test_quick_play_opens_a_room_and_waits_in_it_however_often_it_is_asked(stage: Any) -> None:
    """Symptom: a request sent again after a lost answer left a second open room behind."""
    ana, rui = stage.client("ana"), stage.client("rui")
    entered = await quick(ana)
    assert (entered.seat, entered.head.phase) == (0, "waiting")
    assert (await quick(ana)).head.room == entered.head.room
    joined = await quick(rui)
    assert (joined.head.room, joined.seat, joined.head.phase) == (entered.head.room, 1, "playing")
    assert (await quick(rui)).head.room != entered.head.room


async def test_quick_play_passes_by_a_room_whose_player_is_out(stage: Any) -> None:
    ana, rui = stage.client("ana"), stage.client("rui")
    left = (await ana.create()).head.room
    ana.session.close()
    assert (await quick(rui)).head.room != left


async def test_quick_play_needs_a_game_that_can_be(stage: Any) -> None:
    answer = await stage.client("ana").ask(messages.QuickPlay, game="chess")
    assert answer.code == "bad-option"


async def test_quick_play_fits_rooms_with_a_drawn_seed(stage: Any) -> None:
    random: dict[str, Any] = {"game": "xero-g", "options": {"setup": "random"}}
    ana, rui = stage.client("ana"), stage.client("rui")
    code = (await ana.create(seats=(SeatRequest(), SeatRequest("me")), **random)).head.room
    joined = await quick(rui, **random)
    assert (joined.head.room, joined.seat) == (code, 0)
