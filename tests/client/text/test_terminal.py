"""What is written depends on the stream, the environment and what was asked for."""

from __future__ import annotations

import io

import pytest

from tabuleiro_client.text.board import TextStyle
from tabuleiro_client.text.terminal import can_draw, detect_style


class Stream(io.TextIOWrapper):
    """A text stream that may claim to be a terminal."""

    def __init__(self, encoding: str, is_terminal: bool) -> None:
        super().__init__(io.BytesIO(), encoding=encoding)
        self.is_terminal = is_terminal

    def isatty(self) -> bool:
        return self.is_terminal


@pytest.mark.parametrize(
    ("encoding", "is_terminal", "environ", "force_ascii", "expected"),
    [
        ("utf-8", True, {"TERM": "xterm-256color"}, False, TextStyle(color=True, ascii=False)),
        ("utf-8", True, {}, False, TextStyle(color=True, ascii=False)),
        ("utf-8", False, {"TERM": "xterm"}, False, TextStyle(color=False, ascii=False)),
        ("utf-8", True, {"TERM": "xterm", "NO_COLOR": "1"}, False, TextStyle(color=False, ascii=False)),
        ("utf-8", True, {"TERM": "xterm", "NO_COLOR": ""}, False, TextStyle(color=True, ascii=False)),
        ("utf-8", True, {"TERM": "dumb"}, False, TextStyle(color=False, ascii=False)),
        ("utf-8", True, {"TERM": "xterm"}, True, TextStyle(color=True, ascii=True)),
        ("latin-1", True, {"TERM": "xterm"}, False, TextStyle(color=True, ascii=True)),
        ("ascii", False, {"TERM": "xterm"}, False, TextStyle(color=False, ascii=True)),
        ("UTF-16", False, {}, False, TextStyle(color=False, ascii=False)),
    ],
)
def test_style_fits_the_stream(
    encoding: str, is_terminal: bool, environ: dict[str, str], force_ascii: bool, expected: TextStyle
) -> None:
    assert detect_style(Stream(encoding, is_terminal), environ, force_ascii=force_ascii) == expected


def test_a_stream_in_memory_has_no_encoding_and_gets_ascii() -> None:
    assert detect_style(io.StringIO(), {}) == TextStyle(color=False, ascii=True)


@pytest.mark.parametrize(
    ("has_input", "has_output", "environ", "expected"),
    [
        (True, True, {"TERM": "xterm"}, True),
        (True, True, {"TERM": "dumb"}, False),
        (True, True, {}, False),
        (False, True, {"TERM": "xterm"}, False),
        (True, False, {"TERM": "xterm"}, False),
    ],
)
def test_screens_are_drawn_only_on_a_real_terminal_at_both_ends(has_input, has_output, environ, expected) -> None:
    assert can_draw(Stream("utf-8", has_input), Stream("utf-8", has_output), environ) is expected
    assert not can_draw(None, Stream("utf-8", has_output), environ)
