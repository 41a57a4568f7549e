"""The list of rooms: kept up to date, filtered, and as rows of text."""

from __future__ import annotations

import msgspec
import pytest

from tabuleiro.clock import Fischer
from tabuleiro.ids import AccountId, RoomCode, TimestampMs
from tabuleiro.protocol.events import SeatInfo
from tabuleiro.protocol.messages import LobbyUpdate, RoomList, RoomSummary
from tabuleiro.rules import registry
from tabuleiro.settings import RoomSettings
from tabuleiro_client.text.board import TextStyle
from tabuleiro_client.tui.lobby_model import LobbyModel

ANA = SeatInfo("person", AccountId("a1"), "ana")
BOT = SeatInfo("bot", AccountId("bot"), "random-bot", "random")
WAITING = RoomSummary(
    RoomCode("AAAAA"),
    "waiting",
    "iris",
    dict(registry.load("iris").options),
    (ANA, SeatInfo()),
    TimestampMs(1000),
    RoomSettings(time_control=Fischer(300_000, 3_000)),
)
PLAYED = RoomSummary(
    RoomCode("BBBBB"),
    "playing",
    "minefield",
    {"size": 7, "rules": "standard"},
    (ANA, BOT),
    TimestampMs(2000),
    watchers=3,
    plies=12,
)


@pytest.fixture
def model() -> LobbyModel:
    made = LobbyModel(AccountId("a1"), TextStyle(color=False, ascii=True))
    made.start(RoomList((WAITING, PLAYED)))
    return made


def test_rooms_are_listed_newest_first_with_what_is_to_be_known(model):
    assert [row.texts for row in model.rows()] == [
        ("BBBBB", "Minefield", "size=7", "ana", "random-bot (bot)", "-", "playing, 12 actions, 3 watch"),
        ("AAAAA", "Iris", "default board", "ana", "(free)", "5+3", "waiting"),
    ]


def test_own_rooms_and_free_seats_are_known(model):
    assert [(row.is_own, row.has_free_seat) for row in model.rows()] == [(True, False), (True, True)]
    stranger = LobbyModel(AccountId("a9"), TextStyle(color=False, ascii=True))
    stranger.start(RoomList((PLAYED,)))
    assert not stranger.rows()[0].is_own


def test_updates_add_change_and_remove_rooms(model):
    model.show_only("finished")
    over = msgspec.structs.replace(PLAYED, phase="finished", winner=1, watchers=0)
    model.take(LobbyUpdate((over,), (RoomCode("AAAAA"),), ("ana", "rui"), 5))
    assert [(row.room, row.texts[-1]) for row in model.rows()] == [("BBBBB", "second wins")]
    assert model.people_text() == "5 here (t: chat): ana, rui and 3 more"


def test_a_game_this_version_does_not_know_is_listed_by_its_name(model):
    odd = msgspec.structs.replace(WAITING, game="go")
    model.start(RoomList((odd,)))
    assert model.rows()[0].texts[1:3] == ("go", "(unknown to this version)")


def test_names_with_controls_do_no_harm(model):
    nasty = msgspec.structs.replace(WAITING, seats=(SeatInfo("person", AccountId("a2"), "x\x1b[2J"), SeatInfo()))
    model.start(RoomList((nasty,)))
    assert "\x1b" not in "".join(model.rows()[0].texts)


def test_the_filters_go_round(model):
    games = []
    for _ in range(len(registry.names()) + 1):
        model.next_game()
        games.append(model.game)
    assert games == [*registry.names(), None]
    phases = []
    for _ in range(4):
        model.next_state()
        phases.append(model.phases)
    assert phases == [("waiting",), ("playing",), ("finished",), None]
    model.show_only("playing")
    assert model.phases == ("playing",)
    assert "being played" in model.filter_text()


@pytest.mark.parametrize(
    ("wanted", "found"),
    [
        ("", ["BBBBB", "AAAAA"]),
        ("bbb", ["BBBBB"]),
        ("IRIS", ["AAAAA"]),
        ("ana", ["BBBBB", "AAAAA"]),
        ("random", ["BBBBB"]),
        (" ana  mine ", ["BBBBB"]),
        ("ana rui", []),
    ],
)
def test_rooms_are_found_by_code_game_and_names_every_word_of_it(model, wanted, found):
    model.wanted = wanted
    assert [row.room for row in model.rows()] == found
    assert model.count_text(len(found)) == f"{len(found)} of 2 shown"


def test_what_is_typed_without_accents_finds_names_with_them(model):
    jose = SeatInfo("person", AccountId("a2"), "José")
    model.start(RoomList((msgspec.structs.replace(WAITING, seats=(jose, SeatInfo())), PLAYED)))
    for wanted in ("jose", "JOSÉ"):
        model.wanted = wanted
        assert [row.room for row in model.rows()] == ["AAAAA"]


def test_who_has_played_is_found_after_leaving_the_seat(model):
    over = msgspec.structs.replace(PLAYED, seats=(SeatInfo(), BOT), players=("bea", "random-bot"))
    model.start(RoomList((WAITING, over)))
    model.wanted = "bea"
    assert [row.room for row in model.rows()] == ["BBBBB"]


def test_what_is_looked_for_stays_while_the_list_changes(model):
    model.wanted = "rui"
    assert model.rows() == []
    joined = msgspec.structs.replace(WAITING, seats=(ANA, SeatInfo("person", AccountId("a2"), "rui")))
    model.take(LobbyUpdate((joined,), (), ("ana", "rui"), 2))
    assert [row.room for row in model.rows()] == ["AAAAA"]
    assert model.count_text(1) == "1 of 2 shown"
    model.take(LobbyUpdate((), (RoomCode("AAAAA"),), ("ana",), 1))
    assert model.rows() == []


def test_a_filter_holds_before_the_server_has_answered_with_its_list(model):
    model.game = "iris"
    assert [row.room for row in model.rows()] == ["AAAAA"]
    model.show_only("playing")
    assert model.rows() == []


def test_an_empty_list_says_why(model):
    def why() -> str:
        return " ".join(model.empty_lines())

    model.wanted = "nobody"
    assert why().startswith('Nothing has "nobody" in its code, its game or its names, of the 2 rooms')
    model.start(RoomList((WAITING,), is_cut=True))
    assert "of the one room" in why()
    assert model.count_text(0) == "0 of the newest 1 shown"
    model.start(RoomList(()))
    assert why().startswith("No room is open or being played now.")
    assert "g and f" not in why()
    model.game = "iris"
    model.show_only("playing")
    assert why().startswith("No room of Iris is being played now.")
    assert "g and f show others" in why()


def test_before_the_list_is_there_nothing_is_said_of_it():
    fresh = LobbyModel(AccountId("a1"), TextStyle(color=False, ascii=True))
    assert fresh.count_text(0) == ""
    assert fresh.empty_lines() == ["asking for the list of rooms ..."]
