"""Where the plain client writes: whole lines of clean text, boards, and a prompt on a terminal."""

from __future__ import annotations

import textwrap
from typing import TextIO

from tabuleiro.notation.plain_text import strip_controls
from tabuleiro.rules.view import BoardView
from tabuleiro_client.text.board import TextStyle, board_lines, legend


class Screen:
    """Writes to ``stream`` line by line and at once.

    ``has_prompt``: somebody types at the same terminal. ``width`` is the columns after which sentences go on in
    the next line, ``None`` for never.
    """

    def __init__(self, stream: TextIO, style: TextStyle, *, has_prompt: bool, width: int | None = None) -> None:
        self.style = style
        self._stream = stream
        self._has_prompt = has_prompt
        self._width = width
        self._is_prompt_open = False

    def say(self, *texts: str) -> None:
        """Write each text as a line of its own, free of controls; an empty one leaves a blank line."""
        self._write("".join(f"{line}\n" for text in texts for line in self._wrapped(self._clean(text))))

    def say_command(self, command: str) -> None:
        """Write a command to be copied: indented, on one line however long it is."""
        self._write(f"  {self._clean(command)}\n")

    def show_board(self, view: BoardView, *, show_legal: bool = False, show_legend: bool = False) -> None:
        """Draw a position, with ``show_legal`` with the cells that may be chosen marked."""
        lines = board_lines(view, self.style, show_legal=show_legal, show_forbidden=show_legal)
        explained = legend(view, self.style) if show_legend else ""
        self._write("\n".join(["", *lines, *([explained] if explained else []), ""]) + "\n")

    def prompt(self, text: str = "> ") -> None:
        """Ask for a line, unless nobody sees it or it is being asked for already."""
        if self._has_prompt and not self._is_prompt_open:
            self._write(self._clean(text))
            self._is_prompt_open = True

    def line_was_typed(self) -> None:
        """Take note that a line was entered: the terminal has begun a new one itself."""
        self._is_prompt_open = False

    def close_prompt(self) -> None:
        """End the line of an open prompt, before something else writes to the terminal."""
        self._write("")

    def break_line(self) -> None:
        """Begin a new line after what the terminal itself wrote, e.g. the mark of Ctrl-C."""
        self._is_prompt_open = False
        if self._has_prompt:
            self._write("\n")

    def _wrapped(self, text: str) -> list[str]:
        if self._width is None or len(text) <= self._width:
            return [text]
        return textwrap.wrap(text, self._width, break_long_words=False, break_on_hyphens=False)

    def _clean(self, text: str) -> str:
        # Word by word: the spaces between them are the layout of our own lines and tables.
        clean = " ".join(map(strip_controls, text.split(" ")))
        return clean.encode("ascii", "replace").decode() if self.style.ascii else clean

    def _write(self, text: str) -> None:
        if self._is_prompt_open:
            text = f"\n{text}"
            self._is_prompt_open = False
        self._stream.write(text)
        self._stream.flush()
