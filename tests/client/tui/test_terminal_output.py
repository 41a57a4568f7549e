"""A terminal that is slow, takes nothing or is gone holds nobody up, and what it shows in the end is right."""

from __future__ import annotations

import os
import pty
import select
import threading
from collections.abc import Iterator

import pytest

from tabuleiro_client.tui.terminal import PIECE_BYTES, WAITING_MAX_CHARS, TerminalOutput
from tests.patience import LIMIT_S

PICTURE = "\x1b[1;1H" + "#" * (WAITING_MAX_CHARS // 10)
TITLE = "\x1b]2;your turn\x07"


class Reader:
    """The other side of a terminal: takes nothing until it is asked to."""

    def __init__(self) -> None:
        self.descriptor, self.terminal = pty.openpty()
        self.taken = b""
        self.caught_up = threading.Event()
        self.output = TerminalOutput(self.terminal, on_caught_up=self.caught_up.set)

    def take_until(self, end: bytes) -> None:
        while not self.taken.endswith(end):
            ready, _, _ = select.select([self.descriptor], [], [], LIMIT_S)
            assert ready, f"{end!r} did not come after {self.taken[-100:]!r}"
            self.taken += os.read(self.descriptor, 65536)

    def fall_behind(self) -> None:
        """Write more than can wait, while nothing is taken."""
        for _ in range(30):
            self.output.write(PICTURE)


@pytest.fixture
def reader() -> Iterator[Reader]:
    reader = Reader()
    yield reader
    os.close(reader.descriptor)
    os.close(reader.terminal)


def test_what_is_written_comes_in_its_order(reader: Reader) -> None:
    texts = [f"<{number}>" for number in range(2000)]
    for text in texts:
        reader.output.write(text)
    reader.take_until(b"<1999>")
    assert reader.taken == "".join(texts).encode()
    assert reader.output.close()
    assert not reader.caught_up.is_set()


def test_what_the_encoding_does_not_have_is_a_question_mark(reader: Reader) -> None:
    output = TerminalOutput(reader.terminal, "latin-1")
    output.write("\xe9\u25cf.")
    reader.take_until(b".")
    assert reader.taken == b"\xe9?."


def test_a_terminal_that_takes_nothing_is_not_waited_for_and_what_waits_is_bounded(reader: Reader) -> None:
    reader.fall_behind()
    for _ in range(20_000):
        reader.output.write(TITLE)
    assert reader.output.waiting_chars <= WAITING_MAX_CHARS
    assert not reader.output.close()


def test_a_terminal_that_goes_on_gets_what_nobody_writes_again_and_then_a_new_picture(reader: Reader) -> None:
    reader.fall_behind()
    reader.output.write(TITLE)
    reader.output.write("\x1b[?2026h")
    reader.output.write(PICTURE)
    reader.output.write("\x1b[?2026l")
    reader.take_until(TITLE.encode())
    assert reader.caught_up.wait(LIMIT_S)
    assert reader.taken.count(b"\x1b[1;1H") < 30
    assert b"\x1b[?2026" not in reader.taken
    reader.output.write("anew")
    reader.take_until(b"anew")
    assert reader.output.close()


def test_what_is_seen_last_is_the_newest_however_much_was_left_out(
    reader: Reader, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("tabuleiro_client.tui.terminal.WAITING_MAX_CHARS", 10)
    newest = "\x1b[1;1H<0>"
    output = TerminalOutput(reader.terminal, on_caught_up=lambda: output.write(newest))
    for number in range(1, 3000):
        newest = f"\x1b[1;1H<{number}>"
        output.write(newest)
        if select.select([reader.descriptor], [], [], 0)[0]:
            reader.taken += os.read(reader.descriptor, 65536)
    reader.take_until(b"<2999>")
    assert output.close()


def test_a_picture_bigger_than_what_may_wait_is_written_whole(reader: Reader) -> None:
    picture = "#" * (3 * WAITING_MAX_CHARS) + "."
    reader.output.write(picture)
    reader.take_until(b".")
    assert reader.taken == picture.encode()
    assert not reader.caught_up.is_set()


def test_a_terminal_that_was_left_not_to_be_waited_for_is_written_whole(reader: Reader) -> None:
    os.set_blocking(reader.terminal, False)
    for _ in range(5):
        reader.output.write(PICTURE)
    reader.output.write("\x07")
    reader.take_until(b"\x07")
    assert reader.taken == (PICTURE * 5 + "\x07").encode()


def test_leaving_cuts_the_picture_under_way_and_takes_the_modes_back(reader: Reader) -> None:
    reader.output.write("#" * (PIECE_BYTES * 6))
    select.select([reader.descriptor], [], [], LIMIT_S)  # the first of it has come: it is under way
    reader.output.write(PICTURE)
    reader.output.leave_out_pictures()
    reader.output.write("\x1b[?1049l")
    reader.take_until(b"\x1b[?1049l")
    assert reader.taken == b"#" * reader.taken.count(b"#") + b"\x18\x1b[?1049l"
    assert reader.taken.count(b"#") <= 2 * PIECE_BYTES
    assert reader.output.close()


def test_a_terminal_that_is_closed_swallows_what_is_written() -> None:
    reader, terminal = pty.openpty()
    output = TerminalOutput(terminal)
    output.write("there")
    assert os.read(reader, 100) == b"there"
    os.close(reader)
    for _ in range(30):
        output.write(PICTURE)
    assert output.close()
    output.write(PICTURE)
    assert output.waiting_chars == 0
    os.close(terminal)
