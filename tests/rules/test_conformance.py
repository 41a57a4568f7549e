"""One suite over every registered game: the invariants written in `tabuleiro.rules.base`."""

from __future__ import annotations

import itertools
from functools import cache
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tabuleiro.descriptors import ChoiceSetting, NumberSetting
from tabuleiro.errors import GameOptionError, IllegalActionError, MatchOverError, NotationError
from tabuleiro.rules import Game, State, registry
from tabuleiro.rules.base import RULE_TERMINATIONS
from tabuleiro.rules.perft import perft

MAX_ACTIONS_COUNT = 400


@st.composite
def games(draw: st.DrawFn, name: str) -> Game:
    """Draw any game that the option specs allow; combinations a game refuses are drawn again."""
    game_type = registry.game_type(name)
    options: dict[str, Any] = {}
    for spec in game_type.option_specs:
        if not draw(st.booleans()):
            continue
        if isinstance(spec, NumberSetting):
            options[spec.key] = draw(st.integers(spec.low, spec.high))
        elif isinstance(spec, ChoiceSetting):
            options[spec.key] = draw(st.sampled_from(spec.choices))
    try:
        return registry.load(name, options)
    except GameOptionError:
        return registry.load(name)


@st.composite
def playouts(draw: st.DrawFn, name: str) -> tuple[Game, list[State], list[int]]:
    """Draw a game, and states and actions of a random playout from its start."""
    game = draw(games(name))
    random = draw(st.randoms(use_true_random=False))
    length = draw(st.integers(0, MAX_ACTIONS_COUNT))
    states, actions = [game.initial_state()], []
    while len(actions) < length and not states[-1].is_terminal:
        action = random.choice(states[-1].legal_actions())
        actions.append(action)
        states.append(states[-1].child(action))
    return game, states, actions


@cache
def start_of(name: str) -> State:
    """Return the start of a game with its default options."""
    return registry.load(name).initial_state()


every_game = pytest.mark.parametrize("name", registry.names())


@every_game
@settings(max_examples=25)
@given(data=st.data())
def test_every_state_of_a_match_keeps_the_promises_of_the_base(name: str, data: st.DataObject) -> None:
    game, states, actions = data.draw(playouts(name))
    for state in states:
        check_legal_actions_are_ascending_and_empty_only_at_the_end(state)
    check_equal_histories_give_equal_states(game, states, actions)
    check_turns_count_the_runs_of_one_player(states)
    check_key_holds_the_side_to_move(states)


@every_game
@settings(max_examples=25)
@given(data=st.data())
def test_any_state_reads_writes_and_shows_itself(name: str, data: st.DataObject) -> None:
    game, states, _ = data.draw(playouts(name))
    state = data.draw(st.sampled_from(states))
    check_apply_refuses_everything_that_is_not_legal(state)
    check_action_text_round_trips(state)
    check_choices_name_their_actions_and_no_two_are_alike(state)
    check_a_written_position_starts_the_same_play(game, state)
    for shown in (states[0], state, states[-1]):
        check_view_shows_every_cell_once_and_the_last_action(shown, is_first=shown is states[0])


def check_choices_name_their_actions_and_no_two_are_alike(state: State) -> None:
    choices = [state.choice(action) for action in state.legal_actions()]
    assert [state.string_to_action(choice.text) for choice in choices] == list(state.legal_actions())
    assert len({(choice.targets, choice.word) for choice in choices}) == len(choices)
    cell_count = len(state.view().cells)
    for choice in choices:
        assert choice.targets or choice.word
        assert all(0 <= target < cell_count for target in choice.targets if isinstance(target, int))


def check_legal_actions_are_ascending_and_empty_only_at_the_end(state: State) -> None:
    legal = state.legal_actions()
    assert list(legal) == sorted(set(legal))
    assert len(legal) == state.legal_count()
    assert bool(legal) != state.is_terminal
    assert (state.to_move is None) == state.is_terminal
    assert all(state.is_legal(action) for action in legal)
    if state.outcome is not None:
        assert state.outcome.winner in ((0, 1, None) if state.game.has_draws else (0, 1))
        assert state.outcome.termination in RULE_TERMINATIONS


def check_equal_histories_give_equal_states(game: Game, states: list[State], actions: list[int]) -> None:
    again = registry.load(game.name, game.options)
    assert again == game
    assert hash(again) == hash(game)
    state = again.initial_state()
    for action, expected in zip(actions, states[1:], strict=True):
        state = state.apply(action)
        assert state == expected
        assert hash(state) == hash(expected)
        assert state.key() == expected.key()
        assert (state.turn_number, state.actions_in_turn) == (expected.turn_number, expected.actions_in_turn)


def check_turns_count_the_runs_of_one_player(states: list[State]) -> None:
    assert (states[0].turn_number, states[0].actions_in_turn) == (1, 0)
    for before, after in itertools.pairwise(states):
        if after.is_terminal:
            continue
        if after.turn_number == before.turn_number:
            assert after.to_move == before.to_move
            assert after.actions_in_turn == before.actions_in_turn + 1
        else:
            assert after.turn_number == before.turn_number + 1
            assert after.actions_in_turn == 0


def check_key_holds_the_side_to_move(states: list[State]) -> None:
    movers: dict[object, object] = {}
    for state in states:
        if not state.is_terminal:
            assert movers.setdefault(state.key(), state.to_move) == state.to_move


def check_apply_refuses_everything_that_is_not_legal(state: State) -> None:
    before = (state.to_position(), state.legal_actions())
    legal = set(state.legal_actions())
    highest = max(legal, default=0)
    candidates = [*range(-2, min(highest + 3, 300)), highest + 1, 10**9, -(10**9)]
    for action in candidates:
        if action in legal:
            assert state.apply(action) == state.child(action)
        elif state.is_terminal:
            with pytest.raises(MatchOverError):
                state.apply(action)
        else:
            with pytest.raises(IllegalActionError) as caught:
                state.apply(action)
            assert state.to_position() in str(caught.value)
    assert (state.to_position(), state.legal_actions()) == before


def check_action_text_round_trips(state: State) -> None:
    texts = [state.action_to_string(action) for action in state.legal_actions()]
    assert len(set(texts)) == len(texts)
    for action, text in zip(state.legal_actions(), texts, strict=True):
        assert text == text.lower().strip()
        assert " " not in text
        assert state.string_to_action(text) == action
        assert state.string_to_action(f"  {text.upper()} ") == action


def check_a_written_position_starts_the_same_play(game: Game, state: State) -> None:
    try:
        reread = registry.load(game.name, {**game.options, "position": state.to_position()}).initial_state()
    except GameOptionError:
        assert game.name == "xero-g", "only Xero-G has positions that cannot be written: its setup"
        assert state.turn_number <= 12
        return
    assert reread.to_position() == state.to_position()
    if state.outcome is None or state.outcome.termination != "repetition":
        assert reread.legal_actions() == state.legal_actions()
        assert reread.to_move == state.to_move


def check_view_shows_every_cell_once_and_the_last_action(state: State, *, is_first: bool) -> None:
    view = state.view()
    assert len({(cell.x, cell.y) for cell in view.cells}) == len(view.cells)
    assert len({cell.name for cell in view.cells}) == len(view.cells)
    assert max(cell.y for cell in view.cells) == len(view.row_labels) - 1
    assert view.to_move == state.to_move
    if is_first:
        assert not any("last" in cell.marks for cell in view.cells)
    if state.is_terminal:
        assert not any("legal" in cell.marks for cell in view.cells)
    assert set(view.piece_names) >= {cell.piece for cell in view.cells} - {"."}


@every_game
@settings(max_examples=200)
@given(text=st.one_of(st.text(max_size=30), st.from_regex(r"[a-z(\[]?[0-9]{0,3}[-,x@]?[a-z0-9)\]]{0,6}")))
def test_any_text_is_an_action_or_a_notation_error(name: str, text: str) -> None:
    state = start_of(name)
    try:
        action = state.string_to_action(text)
    except NotationError:
        return
    assert state.string_to_action(state.action_to_string(action)) == action


@every_game
def test_presets_load_and_defaults_are_complete(name: str) -> None:
    game_type = registry.game_type(name)
    for preset_name, options in game_type.presets.items():
        game = registry.load(name, options)
        assert options.items() <= game.options.items(), preset_name
    names = {spec.key for spec in game_type.option_specs if spec.key not in ("position", "seed", "first_virus")}
    assert names <= set(registry.load(name).options)


@every_game
def test_unknown_and_out_of_range_options_are_named(name: str) -> None:
    with pytest.raises(GameOptionError, match="colour"):
        registry.load(name, {"colour": "mauve"})
    for spec in registry.game_type(name).option_specs:
        for wrong in (None, True, 1.5, "nonsense", -1, 10**12, []):
            with pytest.raises(GameOptionError) as caught:
                registry.load(name, {spec.key: wrong})  # type: ignore[dict-item]
            assert caught.value.option == spec.key
            assert "expected" in str(caught.value)


@every_game
def test_rules_page_fits_a_terminal(name: str) -> None:
    page = registry.game_type(name).rules_page
    assert len(page.splitlines()) > 5
    assert max(len(line) for line in page.splitlines()) <= 78
    assert page.isascii()


@every_game
def test_perft_counts_the_start(name: str) -> None:
    state = registry.load(name).initial_state()
    assert perft(state, 0) == 1
    assert perft(state, 1) == len(state.legal_actions())
    with pytest.raises(ValueError, match="negative"):
        perft(state, -1)


def test_unknown_game_lists_the_known_ones() -> None:
    with pytest.raises(GameOptionError, match="virus-wars"):
        registry.load("chess")
    with pytest.raises(GameOptionError, match="feup-a"):
        registry.preset("virus-wars", "feup-z")
