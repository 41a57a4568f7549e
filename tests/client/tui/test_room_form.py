"""The form for a new match: what it asks for, what it finds wrong, and what it asks the server for."""

from __future__ import annotations

import pytest

from tabuleiro.clock import Fischer
from tabuleiro.protocol.messages import CreateRoom, QuickPlay, SeatRequest
from tabuleiro.rules import registry
from tabuleiro.settings import LateBot, RoomSettings
from tabuleiro_client.tui.room_form import OPTION, OWN, USUAL, RoomForm

LEVELS = dict.fromkeys(registry.names(), ("random", "clever"))


def form(opponent: str = "person", *, is_local: bool = False, is_quick: bool = False) -> RoomForm:
    made = RoomForm(opponent, is_local=is_local, is_quick=is_quick)  # type: ignore[arg-type]
    made.know_levels(LEVELS)
    made.set("more", "yes")
    return made


def names(of: RoomForm) -> list[str]:
    return [field.name for field in of.fields()]


def created(of: RoomForm) -> CreateRoom:
    request = of.request()
    assert isinstance(request, CreateRoom)
    return request


@pytest.mark.parametrize("game", registry.names())
def test_every_option_of_every_game_has_a_field_and_the_defaults_make_the_usual_game(game):
    filled = form()
    filled.set("game", game)
    specs = registry.game_type(game).option_specs
    assert {OPTION + spec.key for spec in specs} <= set(names(filled))
    assert filled.errors() == {}
    request = created(filled)
    assert registry.load(game, request.options) == registry.load(game)


@pytest.mark.parametrize(
    ("game", "preset"),
    [(game, preset) for game in registry.names() for preset in registry.game_type(game).presets],
)
def test_a_preset_fills_the_options_in(game, preset):
    filled = form()
    filled.set("game", game)
    filled.set("preset", preset)
    assert registry.load(game, created(filled).options) == registry.load(game, registry.preset(game, preset))


def test_options_filled_in_by_hand_show_as_the_preset_they_make_or_as_an_own_choice():
    filled = form()
    filled.set("game", "minefield")
    filled.set("option:size", "10")
    assert filled.values["preset"] == "feup-10"
    filled.set("option:size", "7")
    assert filled.values["preset"] == OWN
    filled.set("preset", USUAL)
    assert filled.values["option:size"] == "13"


def test_a_value_out_of_range_is_wrong_at_its_field():
    filled = form()
    filled.set("option:rows", "99")
    assert filled.errors() == {"option:rows": "expected a whole number from 4 to 30"}
    assert filled.preview() is None


def test_options_that_do_not_fit_each_other_are_wrong_at_the_one_the_rules_name():
    filled = form()
    filled.set("option:cols", "4")
    filled.set("option:opening", "edges")
    assert list(filled.errors()) == ["option:steps"]


def test_a_position_that_is_none_is_wrong_at_its_field():
    filled = form()
    filled.set("option:position", "x/o")
    assert list(filled.errors()) == ["option:position"]


@pytest.mark.parametrize("text", ["5+", "5+x", "0/turn"])
def test_a_time_control_is_checked(text):
    filled = form()
    filled.set("time", text)
    assert filled.errors()["time"].startswith("expected ")


@pytest.mark.parametrize(
    ("text", "is_right"), [("5s", True), ("14d", True), ("4s", False), ("15d", False), ("2", False)]
)
def test_the_time_until_somebody_is_away_is_checked(text, is_right):
    filled = form()
    filled.set("away", text)
    assert ("away" in filled.errors()) != is_right


def test_without_bots_a_match_against_one_cannot_be_asked_for():
    filled = RoomForm("bot", is_local=True)
    assert "level" in filled.errors()
    assert "opponent" in RoomForm("bot", is_local=False).errors()
    filled.know_levels(LEVELS)
    assert filled.errors() == {}


def test_against_a_bot_the_level_and_who_begins_decide_the_seats():
    filled = form("bot")
    filled.set("level", "clever")
    assert created(filled).seats == (SeatRequest("me"), SeatRequest("bot", "clever"))
    filled.set("begins", "other")
    assert created(filled).seats == (SeatRequest("bot", "clever"), SeatRequest("me"))
    filled.set("begins", "draw")
    assert created(filled).settings.first == "draw"


def test_who_begins_is_the_one_who_moves_in_the_position_filled_in():
    filled = form("bot")
    filled.set("option:rows", "4")
    filled.set("option:cols", "4")
    filled.set("option:position", "...o/..../..../x... 1 5")
    assert next(each.help for each in filled.fields() if each.name == "begins") == "red begins"
    assert [seat.kind for seat in created(filled).seats] == ["bot", "me"]
    filled.set("begins", "other")
    assert [seat.kind for seat in created(filled).seats] == ["me", "bot"]
    filled.set("option:position", "nonsense")
    assert next(each.help for each in filled.fields() if each.name == "begins") == "blue begins"


def test_two_at_one_keyboard_and_two_bots():
    assert created(form("both", is_local=True)).seats == (SeatRequest("me"), SeatRequest("me"))
    bots = form("bots", is_local=True)
    bots.set("level-2", "clever")
    assert created(bots).seats == (SeatRequest("bot", "random"), SeatRequest("bot", "clever"))


@pytest.mark.parametrize(
    ("opponent", "is_local", "is_quick", "few"),
    [
        ("bot", True, False, ["game", "level"]),
        ("bots", True, False, ["game", "level", "level-2"]),
        ("both", True, False, ["game"]),
        ("person", False, True, ["game"]),
        ("person", False, False, ["game", "opponent", "time"]),
    ],
)
def test_a_first_match_needs_few_fields_and_the_others_wait_behind_one(opponent, is_local, is_quick, few):
    filled = form(opponent, is_local=is_local, is_quick=is_quick)
    everything = names(filled)
    filled.set("more", "no")
    assert names(filled) == [*few, "more"]
    assert filled.fields()[0].help.endswith(".")  # what the game is about
    assert [name for name in few if filled.is_last_of_few(name)] == few[-1:]
    assert everything[: len(few) + 1] == [*few, "more"]
    assert len(everything) > len(few) + 3
    filled.set("more", "yes")
    assert not filled.is_last_of_few(few[-1])


def test_all_settings_of_a_room_are_asked_for_online():
    filled = form()
    filled.set("late-bot", "clever")
    for name, text in {
        "time": "5+3",
        "casual": "no",
        "undo": "no",
        "private": "yes",
        "late-bot-after": "1m",
        "stand-in": "random",
        "away": "10m",
        "hide-watcher-chat": "yes",
        "count-downtime": "yes",
        "begins": "draw",
    }.items():
        assert name in names(filled)
        filled.set(name, text)
    assert filled.errors() == {}
    assert created(filled).settings == RoomSettings(
        time_control=Fischer(300_000, 3_000),
        is_private=True,
        is_casual=False,
        first="draw",
        may_undo=False,
        late_bot=LateBot("clever", 60_000),
        stand_in_level="random",
        away_after_ms=600_000,
        hides_watcher_chat=True,
        counts_downtime=True,
    )


def test_on_this_machine_nothing_is_asked_that_is_about_other_people():
    assert not {"private", "late-bot", "stand-in", "away", "hide-watcher-chat", "count-downtime"} & set(
        names(form("bot", is_local=True))
    )


def test_quick_play_asks_for_game_and_clock_only():
    filled = form(is_quick=True)
    filled.set("time", "5+3")
    assert not {"opponent", "private", "late-bot"} & set(names(filled))
    request = filled.request()
    assert isinstance(request, QuickPlay)
    assert request.settings.time_control == Fischer(300_000, 3_000)


def test_a_level_another_game_has_not_is_not_kept():
    filled = RoomForm("bot", is_local=True)
    filled.know_levels({"virus-wars": ("random", "minimax-1"), "iris": ("random", "greedy")})
    filled.set("level", "minimax-1")
    filled.set("game", "iris")
    assert filled.values["level"] == "random"
