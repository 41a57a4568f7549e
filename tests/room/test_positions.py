"""Earlier positions of a match: the same as by playing it again from the start, and cheap however long it is."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from random import Random
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tabuleiro.errors import CommandError
from tabuleiro.ids import Ply, Seq, TimestampMs
from tabuleiro.protocol.events import ActionsPlayed, ActionsUndone, Event, SequencedEvent, TurnTakenBack
from tabuleiro.rules.base import State
from tabuleiro_server.room import state
from tabuleiro_server.room.commands import MakeOffer, Play
from tabuleiro_server.room.decide import decide, open_room
from tabuleiro_server.room.evolve import evolve, replay
from tabuleiro_server.room.offers import last_turn_start
from tabuleiro_server.room.playing import RESENT_MAX_PLIES
from tabuleiro_server.room.state import CHECKPOINT_EVERY_COUNT, CHECKPOINTS_COUNT, RoomState, state_after
from tests.room.story import ANA, ME, RUI, STILL, Story, opening

GAMES: dict[str, dict[str, int | str]] = {
    "virus-wars": {"rows": 9, "cols": 9, "steps": 5, "first_turn_steps": 2},
    "xero-g": {"setup": "random", "seed": 3},
    "iris": {"side": 6},
    "minefield": {"size": 9},
}

PLIES_COUNT = 2 * CHECKPOINT_EVERY_COUNT * CHECKPOINTS_COUNT


def one_person_plays(game: str) -> RoomState:
    """A match in which ana holds both seats."""
    events = open_room(opening((ME, ME), GAMES[game], game))
    return replay([SequencedEvent(Seq(n), TimestampMs(n), event) for n, event in enumerate(events, start=1)])


def after(room: RoomState, event: Event) -> RoomState:
    return evolve(room, SequencedEvent(Seq(room.seq + 1), TimestampMs(room.seq + 1), event))


def played(room: RoomState, rng: Random, actions_count: int) -> RoomState:
    """The room after random actions that do not end the match, fewer when there are none."""
    for _ in range(actions_count):
        match = room.match
        assert match is not None
        tried = [(action, match.state.child(action)) for action in shuffled(match.state, rng)[:3]]
        lasting = [action for action, child in tried if not child.is_terminal]
        if not lasting:
            break
        text = match.state.action_to_string(lasting[0])
        player = match.state.to_move
        assert player is not None
        room = after(room, ActionsPlayed(1, Ply(len(match.actions)), player, (text,)))
    return room


def shuffled(state: State, rng: Random) -> list[int]:
    actions = list(state.legal_actions())
    rng.shuffle(actions)
    return actions


def all_positions(room: RoomState) -> list[State]:
    """The position after each number of actions, by playing from the start."""
    assert room.match is not None
    found = [room.game.initial_state()]
    for text in room.match.actions:
        found.append(found[-1].child(found[-1].string_to_action(text)))
    return found


def plain_last_turn_start(room: RoomState, player: int) -> int | None:
    assert room.match is not None
    found, start = None, 0
    for ply, (before, later) in enumerate(zip(*(all_positions(room)[n:] for n in (0, 1)), strict=False)):
        start = ply if before.actions_in_turn == 0 else start
        if later.actions_in_turn == 0 and room.match.movers[ply] == player:
            found = start
    return found


def check(room: RoomState) -> None:
    match = room.match
    assert match is not None
    wanted = all_positions(room)
    assert match.state == wanted[-1]
    assert [state_after(match, room, ply) for ply in range(len(wanted))] == wanted
    assert len(match.checkpoints) <= CHECKPOINTS_COUNT
    assert all(known.state == wanted[known.ply] for known in match.checkpoints)
    for player in (0, 1):
        try:
            found: int | None = last_turn_start(room, match, player)
        except CommandError:
            found = None
        assert found == plain_last_turn_start(room, player)


@pytest.mark.parametrize("game", GAMES)
@settings(max_examples=8)
@given(seed=st.integers(0, 2**32), cuts=st.lists(st.integers(0, 200), max_size=3))
def test_earlier_positions_are_those_of_playing_again(game: str, seed: int, cuts: list[int]) -> None:
    rng = Random(seed)
    room = played(one_person_plays(game), rng, 120)
    check(room)
    for cut in cuts:
        assert room.match is not None
        ply = Ply(cut % (len(room.match.actions) + 1))
        kind: type[Any] = rng.choice([ActionsUndone, TurnTakenBack])
        room = after(room, kind(1, ply, 0))
        check(room)
        room = played(room, rng, rng.randrange(60))
        check(room)


def test_earlier_positions_are_right_when_many_checkpoints_were_dropped(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(state, "CHECKPOINT_EVERY_COUNT", 3)
    monkeypatch.setattr(state, "CHECKPOINTS_COUNT", 4)
    check(played(one_person_plays("xero-g"), Random(5), 200))


@contextmanager
def counting_actions(room: RoomState) -> Iterator[list[int]]:
    """How many actions of the game are played inside."""
    kind, counts = type(room.game.initial_state()), [0]
    child = kind.child

    def counted(state: State, action: int) -> State:
        counts[0] += 1
        return child(state, action)

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(kind, "child", counted)
        yield counts


@pytest.fixture(scope="module")
def long_match() -> RoomState:
    """So many moves of Xero-G that checkpoints were dropped."""
    room = played(one_person_plays("xero-g"), Random(1), PLIES_COUNT)
    assert room.match is not None
    assert len(room.match.actions) == PLIES_COUNT
    return room


def test_a_takeback_in_a_long_match_plays_a_few_actions_again(long_match: RoomState) -> None:
    """Symptom: whoever took back in a match of thousands of moves held up all rooms for half a second."""
    room = long_match
    for _ in range(20):
        with counting_actions(room) as counts:
            events = decide(room, MakeOffer(ANA, "takeback", STILL), 0)
            for event in events:
                room = after(room, event)
        assert isinstance(events[-1], TurnTakenBack)
        assert counts[0] <= 6 * CHECKPOINT_EVERY_COUNT


def test_what_is_resent_in_a_long_match_is_known_without_playing_it_again(long_match: RoomState) -> None:
    match = long_match.match
    assert match is not None
    with counting_actions(long_match) as counts:
        for ply in (0, PLIES_COUNT // 2, PLIES_COUNT - 1):
            assert decide(long_match, Play(ANA, 1, ply, (match.actions[ply],), 0, 0), 0) == ()
    assert counts[0] == 0


def test_what_is_resent_in_other_words_is_known_near_the_end(long_match: RoomState) -> None:
    match = long_match.match
    assert match is not None
    with counting_actions(long_match) as counts:
        ply = PLIES_COUNT - RESENT_MAX_PLIES
        assert decide(long_match, Play(ANA, 1, ply, (match.actions[ply].upper(),), 0, 0), 0) == ()
        with pytest.raises(CommandError, check=lambda error: error.code == "stale-ply"):
            decide(long_match, Play(ANA, 1, ply - 1, (match.actions[ply - 1].upper(),), 0, 0), 0)
    assert counts[0] <= CHECKPOINT_EVERY_COUNT


def test_a_match_that_begins_in_mid_turn_is_taken_back_to_its_start() -> None:
    story = Story()
    options: dict[str, Any] = {"rows": 4, "cols": 4, "steps": 3, "position": "x.../..../..../...o 0 1"}
    story.open(options=options)
    story.join(RUI)
    story.play(ANA, "a2")
    story.offer(ANA, "takeback")
    assert story.answer(RUI, "takeback", accept=True) == (TurnTakenBack(1, Ply(0), 0),)
