"""Frames that wait for a slow reader: in order, bounded in number and bytes, and never holding anybody else up."""

from __future__ import annotations

import pytest

from tabuleiro_server.sessions.session import Outbox


class Reader:
    """The other end of an outbox: it takes ``room`` frames and then no more."""

    def __init__(self, room: int = 0) -> None:
        self.room = room
        self.taken: list[bytes] = []
        self.overflows_count = 0

    def send_now(self, frame: bytes) -> bool:
        if len(self.taken) >= self.room:
            return False
        self.taken.append(frame)
        return True

    def overflow(self) -> None:
        self.overflows_count += 1


def outbox_of(reader: Reader, limit_count: int = 3, limit_bytes: int = 100) -> Outbox:
    return Outbox(limit_count, limit_bytes, reader.send_now, reader.overflow)


def test_frames_go_straight_to_a_reader_that_keeps_up() -> None:
    reader = Reader(room=10)
    outbox = outbox_of(reader)
    for frame in (b"1", b"2", b"3", b"4"):
        outbox.put(frame)
    assert reader.taken == [b"1", b"2", b"3", b"4"]
    assert outbox.is_empty


def test_frames_that_wait_are_never_overtaken() -> None:
    reader = Reader(room=1)
    outbox = outbox_of(reader)
    outbox.put(b"1")
    outbox.put(b"2")
    reader.room = 10
    outbox.put(b"3")
    assert reader.taken == [b"1"]
    outbox.send_waiting()
    assert reader.taken == [b"1", b"2", b"3"]
    outbox.put(b"4")
    assert reader.taken == [b"1", b"2", b"3", b"4"]


def test_as_much_is_sent_as_the_reader_takes() -> None:
    reader = Reader()
    outbox = outbox_of(reader)
    for frame in (b"1", b"2", b"3"):
        outbox.put(frame)
    reader.room = 2
    outbox.send_waiting()
    assert reader.taken == [b"1", b"2"]
    assert not outbox.is_empty


@pytest.mark.parametrize(
    ("limit_count", "limit_bytes", "frame"), [(3, 1_000_000, b"x"), (1_000_000, 30, b"0123456789")]
)
def test_the_first_frame_too_many_ends_it_once(limit_count: int, limit_bytes: int, frame: bytes) -> None:
    reader = Reader()
    outbox = outbox_of(reader, limit_count, limit_bytes)
    for _ in range(3):
        outbox.put(frame)
    reader.room = 3
    outbox.send_waiting()
    for _ in range(3):
        outbox.put(frame)
    assert reader.overflows_count == 0
    outbox.put(frame)
    outbox.put(frame)
    assert reader.overflows_count == 1
    reader.room = 10
    outbox.send_waiting()
    outbox.put(frame)
    assert reader.taken == [frame] * 3


def test_a_single_frame_may_be_longer_than_all_that_may_wait() -> None:
    reader = Reader()
    outbox = outbox_of(reader, limit_bytes=5)
    outbox.put(b"a long snapshot")
    assert reader.overflows_count == 0
    outbox.put(b"")
    assert reader.overflows_count == 1


def test_the_limit_can_be_raised() -> None:
    reader = Reader()
    outbox = outbox_of(reader, limit_bytes=5)
    outbox.put(b"four")
    outbox.limit_bytes = 10
    outbox.put(b"five")
    assert reader.overflows_count == 0


def test_a_closed_one_lets_go_of_what_it_has_and_takes_nothing_more() -> None:
    reader = Reader()
    outbox = outbox_of(reader)
    outbox.put(b"last")
    outbox.close()
    outbox.put(b"too late")
    reader.room = 10
    outbox.send_waiting()
    outbox.put(b"too late")
    assert reader.taken == [b"last"]
    assert outbox.is_empty
