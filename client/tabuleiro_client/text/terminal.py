"""The abilities of the terminal, pipe or file that is written to."""

from __future__ import annotations

import codecs
from collections.abc import Mapping, Sequence
from typing import TextIO

from tabuleiro.notation.plain_text import strip_controls
from tabuleiro_client.text.board import TextStyle


def detect_style(stream: TextIO, environ: Mapping[str, str], *, force_ascii: bool = False) -> TextStyle:
    """Find out how to write to ``stream``.

    Colour needs a terminal that is not ``TERM=dumb``, and no variable ``NO_COLOR`` with a value
    (https://no-color.org). More than ASCII needs an encoding that has every character, and no ``force_ascii``.
    """
    return TextStyle(
        color=stream.isatty() and not environ.get("NO_COLOR") and environ.get("TERM") != "dumb",
        ascii=force_ascii or not is_unicode(stream.encoding),
    )


def is_unicode(encoding: str | None) -> bool:
    """Return whether an encoding has every character; ``None`` and unknown names have not.

    >>> is_unicode("UTF8"), is_unicode("latin-1"), is_unicode(None)
    (True, False, False)
    """
    try:
        return encoding is not None and codecs.lookup(encoding).name.startswith("utf-")
    except LookupError:
        return False


def is_east_asian(environ: Mapping[str, str]) -> bool:
    """Return whether characters of ambiguous width, such as lines and blocks, may take two columns here.

    >>> is_east_asian({"LANG": "pt_PT.UTF-8"}), is_east_asian({"LANG": "C", "LC_ALL": "ja_JP.UTF-8"})
    (False, True)
    """
    locale = environ.get("LC_ALL") or environ.get("LC_CTYPE") or environ.get("LANG") or ""
    return locale.startswith(("ja", "ko", "zh"))


def showable(text: str, style: TextStyle) -> str:
    r"""Return text from elsewhere (a name, a file) as one line that the terminal can show.

    >>> showable("Jos\u00e9\x1b[2J", TextStyle(color=False, ascii=True))
    'Jos?'
    """
    line = strip_controls(text)
    return line.encode("ascii", "replace").decode("ascii") if style.ascii else line


def can_draw(stdin: TextIO | None, stdout: TextIO | None, environ: Mapping[str, str]) -> bool:
    """Return whether there is a real terminal at both ends, and one that can be drawn on."""
    if stdin is None or stdout is None or not (stdin.isatty() and stdout.isatty()):
        return False
    return environ.get("TERM", "dumb") != "dumb"


def in_columns(rows: Sequence[Sequence[str]]) -> list[str]:
    """Return a line for each row, with the texts of all rows below each other.

    >>> in_columns([("ROOM", "GAME"), ("K7MQ4", "iris")])
    ['ROOM   GAME', 'K7MQ4  iris']
    """
    widths = [max(map(len, column)) for column in zip(*rows, strict=True)]
    return ["  ".join(text.ljust(width) for text, width in zip(row, widths, strict=True)).rstrip() for row in rows]
