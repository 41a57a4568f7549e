from __future__ import annotations

import asyncio
import os
import pty

import pytest

from tabuleiro_client.line.terminal import LINE_MAX_BYTES, Line, LineReader


@pytest.fixture
def pipe():
    """A reader's end and a function that writes to the other; ``None`` closes it."""
    reading, writing = os.pipe()
    is_open = [True]

    def write(data: bytes | None) -> None:
        if data is None:
            os.close(writing)
            is_open[0] = False
        else:
            os.write(writing, data)

    yield reading, write
    if is_open[0]:
        os.close(writing)


async def all_lines(reader: LineReader) -> list[Line]:
    lines = []
    while (line := await reader.next_line()) is not None:
        lines.append(line)
    return lines


async def test_lines_come_one_by_one_however_the_bytes_arrive(pipe):
    descriptor, write = pipe
    reader = LineReader(descriptor)
    write(b"c3 d4\nboa")
    assert await reader.next_line() == Line("c3 d4")
    write("rd\r\njoão".encode())
    assert await reader.next_line() == Line("board")
    write(None)
    assert await all_lines(reader) == [Line("joão")]
    assert await reader.next_line() is None


@pytest.mark.parametrize(
    ("typed", "problem"),
    [
        (b"\xff\xfe\n", "not UTF-8"),
        (b"\x1b[A\x1b[A\n", "control characters"),
        (b"a\x00b\n", "control characters"),
        ("a\u202eb\n".encode(), "control characters"),
        (b"x" * (LINE_MAX_BYTES + 1) + b"\n", "too long"),
        (b"x" * 20 * LINE_MAX_BYTES, "too long"),
    ],
)
async def test_a_line_that_cannot_be_used_says_why_and_the_next_is_fine(pipe, typed, problem):
    descriptor, write = pipe
    reader = LineReader(descriptor)
    writing = asyncio.create_task(asyncio.to_thread(write, typed))
    if not typed.endswith(b"\n"):
        writing.add_done_callback(lambda _: write(b"\n"))
    line = await reader.next_line()
    assert line is not None
    assert line.text == ""
    assert problem in line.problem
    await writing
    write(b"board\n")
    assert await reader.next_line() == Line("board")


async def test_too_long_a_line_at_the_end_of_the_input_is_told_too(pipe):
    descriptor, write = pipe
    reader = LineReader(descriptor)
    write(b"x" * 3 * LINE_MAX_BYTES)
    write(None)
    (line,) = await all_lines(reader)
    assert "too long" in line.problem


async def test_spaces_and_tabs_are_one_space_and_a_byte_order_mark_is_nothing(pipe):
    descriptor, write = pipe
    reader = LineReader(descriptor)
    write(b"\xef\xbb\xbf  c3\t d4  \n")
    assert await reader.next_line() == Line("c3 d4")


async def test_giving_up_the_waiting_loses_no_line(pipe):
    descriptor, write = pipe
    reader = LineReader(descriptor)
    waiting = asyncio.create_task(reader.next_line())
    await asyncio.sleep(0)
    waiting.cancel()
    await asyncio.wait([waiting])
    assert waiting.cancelled()
    write(b"one\ntwo\n")
    assert [await reader.next_line() for _ in range(2)] == [Line("one"), Line("two")]


async def test_nothing_is_read_ahead_of_what_is_wanted(pipe):
    descriptor, write = pipe
    reader = LineReader(descriptor)
    write(b"one\n")
    assert await reader.next_line() == Line("one")
    write(b"two\n")
    assert os.read(descriptor, 10) == b"two\n"
    assert await asyncio.wait_for(_next_after(reader, write), 10) == Line("three")


async def _next_after(reader: LineReader, write) -> Line | None:
    write(b"three\n")
    return await reader.next_line()


async def test_a_terminal_is_known_and_read_and_its_going_is_the_end():
    controlling, terminal = pty.openpty()
    reader = LineReader(terminal)
    assert reader.is_terminal
    os.write(controlling, b"c3\n")
    assert await reader.next_line() == Line("c3")
    os.close(controlling)
    assert await reader.next_line() is None
    os.close(terminal)


async def test_no_input_at_all_is_the_end():
    reader = LineReader(-1)
    assert not reader.is_terminal
    assert await reader.next_line() is None
