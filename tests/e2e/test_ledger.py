"""The ledger of the kill harness: what counts as played."""

from __future__ import annotations

from tabuleiro.ids import AccountId, Ply, RoomCode, Seq, TimestampMs
from tabuleiro.protocol.events import ActionsPlayed, MatchStarted, RoomOpened, SeatInfo, SequencedEvent
from tests.e2e.ledger import Move, StoredRooms

CODE = RoomCode("AAAAA")
ANA = SeatInfo("person", AccountId("ana"), "ana")


def test_an_illegal_action_that_leads_where_a_legal_one_led_was_not_played() -> None:
    """A run of `make torture` took a refused ``d1xc1@d3`` for played: an equal ship had gone from d1 to d3."""
    options: dict[str, int | str] = {"position": "112233/000000/000000/000000/000000/112233 0"}
    events = (
        RoomOpened(CODE, "xero-g", options, AccountId("ana"), "ana", (ANA, ANA)),
        MatchStarted(1),
        ActionsPlayed(1, Ply(0), 0, ("d1-d3",)),
    )
    stored = StoredRooms()
    stored.replay(CODE, [SequencedEvent(Seq(n), TimestampMs(0), event) for n, event in enumerate(events, start=1)])
    before, after = stored.lines[CODE, 1][0]
    assert before.child(before.string_to_action("d1xc1@d3")) == after
    assert stored.holds(Move(CODE, 1, 0, ("d1-d3",)))
    assert not stored.holds(Move(CODE, 1, 0, ("d1xc1@d3",)))
    assert not stored.holds(Move(CODE, 1, 1, ("d1-d3",)))
