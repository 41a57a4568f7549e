"""What the log says of a disk that refuses: enough, and not so much that it fills another one."""

from __future__ import annotations

from structlog.testing import capture_logs

from tabuleiro_server.rooms.refusals import COMPLAINT_EVERY_S, StorageComplaints


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
