"""Refusals for rooms on other nodes; and what the log says of a disk that refuses: enough, and not too much."""

from __future__ import annotations

from structlog.testing import capture_logs

from tabuleiro.ids import RoomCode
from tabuleiro_server.rooms.refusals import COMPLAINT_EVERY_S, StorageComplaints, elsewhere


def test_the_same_reason_is_told_once_in_a_while_with_how_often_it_was_not() -> None:
    """Symptom: with a full disk the log grew by a line for each room and second."""
    now_s = 0.0
    complaints = StorageComplaints(lambda: now_s)
    with capture_logs() as lines:
        for _ in range(1_000):
            complaints.note("full")
        now_s = COMPLAINT_EVERY_S
        complaints.note("full")
        complaints.note("full")
    assert [(line["reason"], line["untold_count"]) for line in lines] == [("full", 0), ("full", 999)]


def test_another_reason_is_told_at_once() -> None:
    complaints = StorageComplaints(lambda: 0.0)
    with capture_logs() as lines:
        for reason in ("full", "full", "locked", "full"):
            complaints.note(reason)
    assert [line["reason"] for line in lines] == ["full", "locked", "full"]


def test_the_refusal_for_a_room_on_another_node_tells_people_and_programs_where_it_is() -> None:
    error = elsewhere(RoomCode("K7MQ4"), "wss://play.example.org/node/b")
    assert (error.code, error.node_url, error.room, error.follow) == (
        "elsewhere",
        "wss://play.example.org/node/b",
        "K7MQ4",
        False,
    )
    assert str(error) == (
        "room K7MQ4 is at wss://play.example.org/node/b now; newer versions of this client go there by themselves"
    )
