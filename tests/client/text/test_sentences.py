from __future__ import annotations

import pytest

from tabuleiro.ids import AccountId, Ply, TimestampMs
from tabuleiro.protocol import events
from tabuleiro.protocol.messages import RoomSummary
from tabuleiro.rules import registry
from tabuleiro.rules.base import Termination
from tabuleiro.settings import RoomSettings
from tabuleiro_client.text.board import TextStyle
from tabuleiro_client.text.rooms import brief_options_text, options_text, room_lines
from tabuleiro_client.text.sentences import Cast, side_glyphs

PLAIN = TextStyle(color=False, ascii=True)
ANA = events.SeatInfo("person", AccountId("a1"), "ana")
RUI = events.SeatInfo("person", AccountId("a2"), "rui")
FREE = events.SeatInfo()
BOT = events.SeatInfo("bot", AccountId("bot/1"), "random-bot", "random")


@pytest.fixture
def cast(one_room):
    """The cast of the test's room, as the holder of ``seats`` sees it."""
    room = one_room()

    def of(*seats, first=ANA, second=RUI):
        return Cast(room.game, (first, second), seats, PLAIN)

    return of


def test_people_are_told_apart_by_name_side_and_shape(cast):
    assert (cast(0).title(0), cast(0).title(1)) == ("ana (blue, x)", "rui (red, o)")
    assert (cast(0).actor(0), cast(0).actor(1), cast().actor(0)) == ("you", "rui", "ana")


def test_two_people_at_one_keyboard_are_told_apart_by_their_sides(cast):
    both = cast(0, 1, second=ANA)
    assert (both.title(0), both.title(1), both.actor(1)) == ("blue (x)", "red (o)", "red")


def test_an_open_seat_has_no_name(cast):
    assert cast(0, second=FREE).title(1) == "red (o)"


def test_the_one_who_begins_by_the_position_is_named_first():
    options = {"rows": 4, "cols": 4, "steps": 2, "position": "...o/..../..../x... 1 2"}
    cast = Cast(registry.load("virus-wars", options), (ANA, RUI), (0,), PLAIN)
    begun = "the match begins: rui (red, o) against ana (blue, x); red begins"
    assert cast.sentence(events.MatchStarted(1)) == begun


def test_the_turn_is_told_to_each_in_their_own_words(cast):
    state = registry.load("virus-wars", {"rows": 4, "cols": 4, "steps": 2}).initial_state()
    assert cast(0).turn(state) == "your turn (blue, x), 2 actions left"
    assert cast(1).turn(state) == "ana (blue, x) to move, 2 actions left"
    after = state.apply(state.legal_actions()[0])
    assert cast(0, 1, second=ANA).turn(after) == "blue (x) to move, 1 action left"


def test_steps_are_counted_only_in_turns_of_several_actions(cast):
    single = registry.load("virus-wars", {"rows": 4, "cols": 4, "steps": 1}).initial_state()
    ships = registry.load("xero-g", {"setup": "random", "seed": 1}).initial_state()
    for state in (single, ships, registry.load("iris").initial_state()):
        assert cast(0).turn(state) == "your turn (blue, x)"
    assert cast(0).turn(registry.load("xero-g").initial_state()).endswith("6 actions left")


@pytest.mark.parametrize("name", registry.names())
def test_every_game_has_a_first_turn_and_names_its_sides(name, cast):
    game = registry.load(name)
    glyphs = side_glyphs(game, PLAIN)
    assert len(set(glyphs)) == 2 or glyphs == ("", "")
    assert options_text(type(game), game.options)


@pytest.mark.parametrize(
    ("event", "sentence"),
    [
        (events.SeatTaken(1, AccountId("a2"), "rui"), "rui sits down as red, o"),
        (events.BotSeated(1, "random"), "a bot (random) sits down as red, o"),
        (events.SeatFreed(1), "the seat of red is free again"),
        (events.SeatsSwapped(), "the players change seats: ana (blue, x), rui (red, o)"),
        (events.SettingsChanged(RoomSettings()), "the host has changed the settings: all standard"),
        (
            events.SettingsChanged(RoomSettings(is_casual=False, may_undo=False)),
            "the host has changed the settings: not casual; no undoing within a turn",
        ),
        (events.StandInSeated(1, "random"), "a bot (random) plays for rui until the return"),
        (events.MatchStarted(1), "the match begins: ana (blue, x) against rui (red, o); blue begins"),
        (events.ActionsPlayed(1, Ply(0), 1, ("c3", "d4")), "rui played c3 d4"),
        (events.ActionsPlayed(1, Ply(0), 1, ("c3",), by_stand_in=True), "the bot, for rui, played c3"),
        (
            events.ActionsPlayed(1, Ply(0), 1, ("c3",), is_makeshift=True),
            "rui played c3 (at random: the bot gave no answer in time)",
        ),
        (events.HintTaken(1, Ply(0), 0), "you take a hint"),
        (events.HintTaken(1, Ply(0), 1), "rui takes a hint"),
        (events.ActionsUndone(1, Ply(0), 0), "you took the last actions back"),
        (events.TurnTakenBack(1, Ply(0), 1), "rui took the last turn back"),
        (events.OfferMade("draw", 1), "rui offers a draw"),
        (events.OfferMade("rematch", 0), "you offer a rematch"),
        (events.OfferMade("takeback", 1), "rui asks to take the last turn back"),
        (events.OfferEnded("takeback", 0, "void"), "your takeback request has lapsed"),
        (events.OfferEnded("draw", 1, "declined"), "rui's draw offer was declined"),
        (events.MatchEnded(1, 0, "resignation"), "blue wins: red resigned"),
        (events.MatchEnded(1, None, "aborted"), "the match was aborted"),
        (events.MatchEnded(1, None, "aborted", 0), "the match was aborted: you made no first turn in time"),
        (events.MatchEnded(1, None, "aborted", 1), "the match was aborted: rui made no first turn in time"),
        (events.Said(AccountId("a2"), "rui", "hello", True), "rui: hello"),
        (events.Said(AccountId("a3"), "eva", "hello", False), "eva (watching): hello"),
        (events.Muted(AccountId("a3"), "eva"), "eva is muted"),
        (events.RoomResumed(TimestampMs(0)), "the server was down and is back"),
        (
            events.RoomResumed(TimestampMs(0), TimestampMs(6_000), is_standstill=True),
            "the server stood still for a while and goes on",
        ),
        (events.HostChanged(AccountId("a2"), "rui"), "rui is the host of this room now"),
        (events.RoomClosed("idle"), "the room is closed: idle"),
        (events.SeatConnected(0), ""),
        (events.Withheld(), ""),
    ],
)
def test_what_happened_is_one_sentence(cast, event, sentence):
    assert cast(0).sentence(event) == sentence


@pytest.mark.parametrize("termination", Termination)
@pytest.mark.parametrize("winner", [0, 1, None])
def test_every_ending_has_a_sentence_without_gaps(cast, termination, winner):
    sentence = cast(0).ending(winner, termination)
    assert sentence
    assert "{" not in sentence
    if winner is not None:
        assert sentence.startswith(("blue", "red")[winner])


def test_the_known_endings_are_told_by_their_reason(cast):
    assert cast(0).ending(1, "blocked") == "red wins: blue cannot move"
    assert cast(0).ending(None, "deadlock") == "a draw: neither side can move"
    assert cast(0).ending(1, "magic {x}") == "red wins: magic {x}"
    assert cast(0).winner(1) == "winner: rui (red, o)"
    assert cast(0).winner(None) == "winner: nobody"


@pytest.mark.parametrize(
    ("options", "text"),
    [
        ({}, "feup-b"),
        ({"rows": 5, "cols": 6, "steps": 3}, "rows=5 cols=6 steps=3"),
        ({"steps": 3, "first_turn_steps": 1}, "steps=3 first_turn_steps=1"),
    ],
)
def test_options_are_told_by_preset_or_by_what_is_needed_to_get_them(options, text):
    game = registry.load("virus-wars", options)
    assert options_text(type(game), game.options) == text


@pytest.mark.parametrize(("others", "text"), [({}, "own position"), ({"variant": "gyges"}, "gyges, own position")])
def test_of_a_position_lists_only_tell_that_there_is_one(others, text):
    """Symptom: a position filled the line of a match in the list of replays; who played stood out of sight."""
    position = "000000/000000/000000/003001/330311/220221 0"
    game = registry.load("xero-g", {"position": position, **others})
    assert brief_options_text(type(game), game.options) == text


def test_the_list_of_rooms_has_straight_columns_and_shows_games_it_does_not_know():
    def summary(**fields):
        defaults = {"room": "K7MQ4", "phase": "waiting", "game": "go", "options": {}, "seats": (ANA, FREE)}
        return RoomSummary(**{**defaults, **fields}, created_at_ms=TimestampMs(0))

    playing = summary(phase="playing", game="virus-wars", options={"rows": 4}, seats=(ANA, BOT), plies=3)
    assert room_lines([summary(), playing], 3_600_000) == [
        "ROOM   GAME        BOARD                      FIRST  SECOND            CLOCK  WATCHING  AGE  STATE",
        "K7MQ4  go          (unknown to this version)  ana    (free)            none   0         1h   waiting",
        "K7MQ4  virus-wars  rows=4                     ana    random-bot (bot)  none   0         1h   playing, 3 actions",  # noqa: E501
    ]
