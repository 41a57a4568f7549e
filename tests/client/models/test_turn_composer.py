"""Turns in the making: collected, undone, complete; ships picked, landed, boosted, reprogrammed."""

from __future__ import annotations

import pytest

from tabuleiro.errors import NotationError
from tabuleiro.rules import State, registry
from tabuleiro_client.models.ships import ShipChoice
from tabuleiro_client.models.timeline import Timeline
from tabuleiro_client.models.turn_composer import (
    BOOST,
    PASS,
    REPROGRAM,
    SEND,
    SEND_TURN,
    UNDO,
    ShipComposer,
    TurnComposer,
    composer_for,
    forced_action,
)

SHIPS = "123123/000000/000000/000000/000000/231231 0"
BOOSTABLE = "130000/200000/000000/000000/003311/223210 0"


def start(game: str, **options: int | str) -> State:
    return registry.load(game, options).initial_state()


def cell(composer: TurnComposer, name: str) -> int:
    return next(each.index for each in composer.view.cells if each.name == name)


def choose(composer: TurnComposer, *names: str) -> list[bool]:
    return [composer.choose(cell(composer, name)) for name in names]


def test_a_turn_of_several_actions_is_collected_until_it_is_complete():
    composer = composer_for(start("virus-wars", rows=4, cols=4, steps=2))
    assert choose(composer, "b4") == [True]
    assert not composer.is_complete
    assert list(composer.choices()) == [SEND, UNDO]
    assert choose(composer, "c3") == [True]
    assert composer.is_complete
    assert composer.texts() == ["b4", "c3"]
    assert composer.targets() == frozenset()
    assert composer.picked() == {cell(composer, "b4"), cell(composer, "c3")}
    assert list(composer.choices()) == [SEND_TURN, UNDO]
    assert composer.prompt() == "Turn complete: b4 c3. Enter sends it, Backspace undoes"
    assert choose(composer, "d4") == [False]
    assert composer.message == "the turn is complete: send it, or undo"


def test_undoing_goes_back_one_action_at_a_time():
    composer = composer_for(start("virus-wars", rows=4, cols=4, steps=2))
    choose(composer, "b4", "c3")
    assert composer.step_back()
    assert composer.texts() == ["b4"]
    assert composer.step_back()
    assert composer.state == composer.base
    assert not composer.step_back()


def test_an_illegal_choice_says_why_and_changes_nothing():
    composer = composer_for(start("virus-wars", rows=4, cols=4, steps=2))
    assert choose(composer, "c1") == [False]
    assert composer.message == "c1: you have no virus or awake zombie next to it"
    assert composer.actions == []


def test_typed_actions_are_taken_all_or_none():
    composer = composer_for(start("virus-wars", rows=4, cols=4, steps=2))
    assert not composer.add_turn("b4 c1")
    assert composer.actions == []
    assert "c1" in composer.message
    assert composer.add_turn("b4 c3")
    assert composer.is_complete


def test_another_position_drops_what_was_composed_and_the_same_one_does_not():
    base = start("virus-wars", rows=4, cols=4, steps=2)
    composer = composer_for(base)
    choose(composer, "b4")
    assert not composer.rebase(base)
    assert composer.texts() == ["b4"]
    assert composer.rebase(base.apply(base.string_to_action("a3")))
    assert composer.actions == []


def test_a_single_action_needs_no_composing_and_a_pass_is_offered_where_it_is_legal():
    assert composer_for(start("minefield")).is_single
    opening = composer_for(start("iris"))
    assert opening.is_single
    assert not opening.can_pass()
    later = composer_for(opening.base.apply(opening.base.string_to_action("f6")))
    assert not later.is_single
    assert list(later.choices()) == [PASS]
    choose(later, "a1")
    assert not later.can_pass()
    assert later.opposite_of(cell(later, "a1")) == cell(later, "k6")


def test_ships_are_placed_by_value_until_none_of_it_is_left():
    composer = composer_for(start("xero-g"))
    assert isinstance(composer, ShipComposer)
    assert composer.next_value() == 1
    assert composer.set_value(3)
    choose(composer, "c1", "d1")
    assert composer.texts() == ["3@c1", "3@d1"]
    assert composer.next_value() == 1
    assert not composer.set_value(3)
    assert composer.message == "no ship of value 3 is left to be placed"
    choose(composer, "a1", "b1", "e1", "f1")
    assert composer.is_complete


def test_a_ship_is_picked_shows_its_route_and_lands():
    composer = composer_for(start("xero-g", position=SHIPS))
    assert choose(composer, "a3") == [False]
    assert choose(composer, "b1") == [True]
    assert cell(composer, "b3") in (composer.targets() or ())
    assert composer.route_to(cell(composer, "b3")) == (cell(composer, "b2"), cell(composer, "b3"))
    assert choose(composer, "b3") == [True]
    assert composer.texts() == ["b1-b3"]
    assert composer.is_complete


def test_another_ship_takes_the_place_of_the_one_picked_and_a_step_back_puts_it_down():
    composer = composer_for(start("xero-g", position=SHIPS))
    assert isinstance(composer, ShipComposer)
    choose(composer, "b1")
    choose(composer, "c1")
    assert composer.ship == ShipChoice(composer.position, cell(composer, "c1"))
    assert composer.step_back()
    assert composer.ship is None
    assert not composer.can_step_back


def test_landing_on_a_ship_asks_whether_to_boost_or_to_reprogram():
    composer = composer_for(start("xero-g", position=BOOSTABLE))
    assert isinstance(composer, ShipComposer)
    choose(composer, "a1", "a2")
    assert list(composer.choices()) == [BOOST, REPROGRAM, UNDO]
    assert composer.targets() == frozenset()
    assert composer.boost()
    boosted = composer.base.boost_targets(cell(composer, "a1"), cell(composer, "a2"))
    assert composer.targets() == frozenset(boosted)
    assert composer.step_back()
    assert composer.reprogram()
    assert cell(composer, "f4") in (composer.targets() or ())
    assert cell(composer, "b1") not in (composer.targets() or ())
    assert choose(composer, "b1") == [False]
    assert choose(composer, "f4") == [True]
    assert composer.texts() == ["a1xa2@f4"]


@pytest.mark.parametrize("text", ["a1xa2", "a1-a2", "A1 x A2", "a1 a2"])
def test_a_typed_landing_that_leaves_something_open_asks_as_a_click_does(text):
    composer = composer_for(start("xero-g", position=BOOSTABLE))
    assert isinstance(composer, ShipComposer)
    assert composer.add_turn(text)
    assert composer.is_asking
    assert composer.reprogram()
    assert composer.add_turn("f4")
    assert composer.texts() == ["a1xa2@f4"]


def test_a_typed_cell_is_chosen_and_a_wrong_one_says_why():
    composer = composer_for(start("xero-g", position=BOOSTABLE))
    assert isinstance(composer, ShipComposer)
    assert composer.add_turn("a1")
    assert composer.ship is not None
    assert not composer.add_turn("f6")
    assert composer.message == "no run of this ship ends there"
    assert composer.ship is not None
    assert not composer.add_turn("a1xf6")
    assert composer.ship is None


def test_ships_are_placed_by_typing_with_or_without_a_value():
    composer = composer_for(start("xero-g"))
    assert isinstance(composer, ShipComposer)
    assert composer.add_turn("3")
    assert composer.next_value() == 3
    assert composer.add_turn("a1")
    assert composer.add_turn("2b1 1@c1")
    assert composer.texts() == ["3@a1", "2@b1", "1@c1"]


def test_a_boosted_run_ends_on_an_empty_square():
    composer = composer_for(start("xero-g", position=BOOSTABLE))
    assert isinstance(composer, ShipComposer)
    choose(composer, "a1", "a2")
    composer.boost()
    assert choose(composer, "a4") == [True]
    assert composer.texts() == ["a1-a4"]
    assert composer.is_complete


def test_the_base_is_entered_by_its_edge():
    composer = composer_for(start("xero-g", position="000000/000000/000000/300003/012123/031212 0"))
    assert not composer.choose("top")
    choose(composer, "a4")
    assert "top" in (composer.targets() or ())
    assert composer.choose("top")
    assert composer.texts() == ["a4-base"]


def test_a_circle_back_to_the_own_square_is_played_only_when_asked_twice():
    composer = composer_for(start("xero-g", position="200000/020000/000000/000000/113311/220330 0"))
    assert choose(composer, "a1", "a1") == [True, True]
    assert composer.prompt() == "2 on a1: choose a1 again to run a circle and end there"
    assert composer.actions == []
    assert choose(composer, "a1") == [True]
    assert composer.texts() == ["a1-a1"]


@pytest.mark.parametrize(
    ("text", "ply"),
    [("2", 4), ("02", 4), ("3", 5), ("a3", 3), ("A0", 0), ("action 5", 5), ("start", 0), (" End ", 5)],
)
def test_a_place_in_a_timeline_is_named_by_its_turn_or_its_action(text, ply):
    game = registry.load("virus-wars", {"rows": 4, "cols": 4, "steps": 2})
    assert Timeline(game, ["b4", "c3", "c1", "c2", "a3"]).ply_of(text) == ply


@pytest.mark.parametrize("text", ["", "4", "0", "-1", "a6", "x", "\u0662", "1e3", "a"])
def test_a_place_that_is_none_is_answered_with_those_there_are(text):
    game = registry.load("virus-wars", {"rows": 4, "cols": 4, "steps": 2})
    with pytest.raises(NotationError, match="expected a turn from 1 to 3, an action from a0 to a5, start or end"):
        Timeline(game, ["b4", "c3", "c1", "c2", "a3"]).ply_of(text)
    with pytest.raises(NotationError, match="expected an action from a0 to a0, start or end"):
        Timeline(game).ply_of("1")


def test_a_timeline_follows_undone_actions_and_knows_its_turns():
    game = registry.load("virus-wars", {"rows": 4, "cols": 4, "steps": 2})
    line = Timeline(game, ["b4", "c3", "c1", "c2", "a3"])
    assert [(turn.number, turn.player, turn.actions) for turn in line.turns()] == [
        (1, 0, ("b4", "c3")),
        (2, 1, ("c1", "c2")),
        (3, 0, ("a3",)),
    ]
    names = [each.name for each in line.states[0].view().cells]
    assert {names[index] for index in line.changed_by_last_turn(4)} == {"c1", "c2"}
    assert line.changed_by_last_turn(0) == frozenset()
    assert (line.turn_start(4), line.turn_start(5), line.next_turn_start(0), line.next_turn_start(4)) == (
        2,
        4,
        2,
        5,
    )
    line.follow(game, ["b4", "c3", "c1"])
    assert line.last_ply == 3
    assert line.states[-1].to_position() == Timeline(game, ["b4", "c3", "c1"]).states[-1].to_position()


def iris_composer() -> TurnComposer:
    state = start("iris", side=5)
    composer = composer_for(state.apply(state.string_to_action("e5")))
    composer.lays_forced = True
    return composer


def test_the_second_stone_of_iris_is_laid_where_the_rules_leave_one_cell():
    composer = iris_composer()
    assert choose(composer, "a1") == [True]
    assert composer.texts() == ["a1", "i5"]
    assert composer.is_complete
    assert composer.prompt() == (
        "i5 is laid too: the rules leave no other cell. Enter sends a1 i5, Backspace undoes"
    )
    assert composer.add_turn("i5"), "typed all the same, it is there already"
    assert composer.texts() == ["a1", "i5"]
    assert composer.step_back(), "both stones, or the second would come back at once"
    assert (composer.texts(), composer.has_laid) == ([], False)
    assert composer.add_turn("a2")
    assert composer.texts() == ["a2", "i4"]


def test_a_second_stone_with_a_choice_is_left_to_the_player_and_so_is_every_one_without_the_setting():
    composer = iris_composer()
    choose(composer, "c3")
    assert composer.texts() == ["c3"]
    composer.drop()
    composer.lays_forced = False
    choose(composer, "a1")
    assert composer.texts() == ["a1"]


def test_nothing_is_laid_for_a_turn_that_was_begun_before_or_in_other_games():
    state = start(
        "iris", side=5, position="b..../....../......./......../....b..../......../......./....../..... 0 a1 0"
    )
    composer = composer_for(state)
    composer.lays_forced = True
    assert not composer.actions
    assert forced_action(start("virus-wars", rows=4, cols=4, steps=2)) is None
    assert forced_action(state) == cell(composer, "i5")


def test_a_typed_reprogram_takes_the_place_of_a_boost_and_back():
    composer = composer_for(start("xero-g", position=BOOSTABLE))
    assert composer.add_turn("a1 a2")
    assert composer.add_turn("boost")
    assert composer.ship.way == "boost"
    assert composer.add_turn("reprogram")
    assert composer.ship.way == "reprogram"
    assert composer.add_turn("B")
    assert composer.ship.way == "boost"
