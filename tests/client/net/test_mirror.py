from __future__ import annotations

import msgspec
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tabuleiro.errors import ClientError
from tabuleiro.ids import AccountId
from tabuleiro.protocol import events
from tabuleiro.protocol.messages import Update
from tabuleiro_client.net.mirror import Mirror


@pytest.fixture
def room(server):
    return server.room


@pytest.fixture
def mirror(room):
    return Mirror(AccountId("a1"), room.entered())


def played(room, *actions: str) -> Update:
    event = room.play(len(room.actions), *actions)
    return Update(room.head(), (event,))


async def test_the_own_seat_and_turn_follow_the_head(room, mirror):
    assert (mirror.own_seats, mirror.to_move, mirror.is_my_turn) == ((0,), 0, True)
    mirror.update(played(room, "b3", "c2"))
    assert (mirror.to_move, mirror.is_my_turn) == (1, False)
    assert Mirror(AccountId("a2"), room.entered()).is_my_turn
    assert Mirror(AccountId("a9"), room.entered()).own_seats == ()


async def test_an_update_gives_steps_with_the_positions_around_each_event(room, mirror):
    before = mirror.state
    (step,) = mirror.update(played(room, "b3", "c2"))
    assert (step.before, step.after, step.ply) == (before, room.state, 2)
    assert mirror.since == room.head().seq
    assert not mirror.is_stale


async def test_an_update_seen_before_changes_nothing(room, mirror):
    update = played(room, "b3", "c2")
    mirror.update(update)
    assert mirror.update(update) == ()
    assert mirror.actions == ["b3", "c2"]
    assert not mirror.is_stale


async def test_a_gap_makes_the_mirror_stale_and_a_snapshot_mends_it(room, mirror):
    played(room, "b3", "c2")
    assert mirror.update(played(room, "c1", "c2")) == ()
    assert mirror.is_stale
    mirror.enter(room.entered())
    assert not mirror.is_stale
    assert mirror.state == room.state


async def test_missing_events_are_taken_in_where_the_mirror_stands(room, mirror):
    mirror.update(played(room, "b3", "c2"))
    played(room, "c1", "c2")
    steps = mirror.enter(room.entered(mirror.since))
    assert [step.event.seq for step in steps] == [3]
    assert mirror.state == room.state


async def test_another_digest_makes_the_mirror_stale(server, room, mirror):
    mirror.update(server.with_other_digest(played(room, "b3", "c2")))
    assert mirror.is_stale


async def test_an_action_that_the_rules_refuse_makes_the_mirror_stale(room, mirror):
    update = played(room, "b3", "c2")
    (event,) = update.events
    wrong = msgspec.structs.replace(event, event=msgspec.structs.replace(event.event, actions=("d4", "zz")))
    mirror.update(Update(update.head, (wrong,)))
    assert mirror.is_stale


async def test_a_server_that_lost_events_makes_the_mirror_stale(room, mirror):
    mirror.update(played(room, "b3", "c2"))
    older = msgspec.structs.replace(
        room.entered(), head=msgspec.structs.replace(room.head(), seq=1), snapshot=None
    )
    mirror.enter(older)
    assert mirror.is_stale


async def test_a_game_of_a_newer_version_is_a_clear_error(room):
    entered = room.entered()
    newer = msgspec.structs.replace(entered, head=msgspec.structs.replace(entered.head, game="go"))
    with pytest.raises(ClientError, match=r"cannot show the room: there is no game 'go'"):
        Mirror(AccountId("a1"), newer)


@settings(max_examples=30)
@given(cuts=st.lists(st.sampled_from(["update", "missed", "again"]), min_size=1, max_size=12), data=st.data())
def test_however_updates_get_lost_the_mirror_is_right_or_knows_that_it_is_not(cuts, data, one_room):
    room = one_room()
    mirror = Mirror(AccountId("a1"), room.entered())
    for fate in cuts:
        legal = room.state.legal_actions()
        if not legal:
            break
        action = room.state.action_to_string(data.draw(st.sampled_from(legal)))
        update = played(room, action)
        if fate != "missed":
            mirror.update(update)
        if fate == "again":
            mirror.update(update)
        assert mirror.is_stale or (mirror.state == room.state) == (mirror.since == room.head().seq)
    mirror.enter(room.entered(None if mirror.is_stale else mirror.since))
    assert not mirror.is_stale
    assert (mirror.state, mirror.actions) == (room.state, room.actions)


ANA = events.SeatInfo("person", AccountId("a1"), "ana")
RUI = events.SeatInfo("person", AccountId("a2"), "rui")
FREE = events.SeatInfo()


@pytest.mark.parametrize(
    ("happened", "seats"),
    [
        (events.SeatFreed(1), (ANA, FREE)),
        (events.SeatsSwapped(), (RUI, ANA)),
        (events.BotSeated(0, "random"), (events.SeatInfo("bot", None, "random-bot", "random"), RUI)),
        (events.StandInSeated(1, "random"), (ANA, msgspec.structs.replace(RUI, stand_in="random"))),
        (events.MatchStarted(2), (ANA, RUI)),
    ],
)
async def test_a_step_names_the_holders_of_the_seats_as_they_were_then(room, mirror, happened, seats):
    """The head of an update knows who holds them after its last event only."""
    first = room.add(happened)
    last = room.add(events.Said(AccountId("a1"), "ana", "hi", True))
    steps = mirror.update(Update(room.head(), (first, last)))
    assert [step.seats for step in steps] == [seats, (ANA, RUI)]


async def test_seats_follow_event_after_event_until_the_head_is_reached(room, mirror):
    changes = (
        events.SeatFreed(1),
        events.SeatTaken(1, AccountId("a9"), "zoe"),
        events.StandInSeated(1, "random"),
        events.SeatConnected(1),
        events.SeatsSwapped(),
        events.Said(AccountId("a1"), "ana", "hi", True),
    )
    zoe = events.SeatInfo("person", AccountId("a9"), "zoe")
    steps = mirror.update(Update(head := room.head(), tuple(room.add(change) for change in changes)))
    assert head.seq == 1
    away = msgspec.structs.replace(zoe, stand_in="random")
    assert [step.seats for step in steps] == [
        (ANA, FREE),
        (ANA, zoe),
        (ANA, away),
        (ANA, zoe),
        (zoe, ANA),
        (zoe, ANA),
    ]


async def test_bots_of_one_level_have_the_names_that_the_server_gives_them(room, mirror):
    facts = (
        *(events.SeatFreed(seat) for seat in (0, 1)),
        *(events.BotSeated(seat, "easy") for seat in (0, 1)),
        events.SeatsSwapped(),
    )
    happened = tuple(map(room.add, facts))
    steps = mirror.update(Update(room.head(), happened))
    assert [seat.name for seat in steps[3].seats] == ["easy-bot", "easy-bot-2"]
