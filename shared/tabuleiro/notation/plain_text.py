"""Text from elsewhere, made harmless before it is stored, logged or shown on a terminal.

Lengths, and the letters of names, are checked elsewhere.
"""

from __future__ import annotations

import re
import unicodedata

MAX_COMBINING_RUN = 3
"""Combining marks kept on one letter; more of them climb into the lines above and below."""

_ESCAPE_SEQUENCES = re.compile(
    r"(?:\x1b\[|\x9b)[0-?]*[ -/]*[@-~]"  # CSI: colours, cursor movement
    r"|(?:\x1b[\]PX^_]|[\x9d\x90\x98\x9e\x9f])[^\x07\x1b\x9c]*(?:\x07|\x1b\\|\x9c|$)"  # OSC and other strings
    r"|\x1b[ -/]*[0-~]"  # two-character sequences
)
_BLANK_LETTERS = frozenset("\u115f\u1160\u17b4\u17b5\u2800\u3164\uffa0")
"""Characters that are no spaces but show nothing."""


def strip_controls(text: str) -> str:
    r"""Return ``text`` as one line of visible characters and plain spaces.

    Terminal escape sequences go as a whole; control characters, bidirectional overrides and other invisible
    formatting, surrogates, private and unassigned characters are dropped; every kind of white space becomes one
    space, none at the ends; letters keep at most :data:`MAX_COMBINING_RUN` combining marks. Doing it twice
    changes nothing.

    >>> strip_controls("\x1b[31mAda\x1b[0m\n\tLovelace\u202e ")
    'Ada Lovelace'
    """
    if text.isascii() and text.isprintable():  # most texts, and nothing in them to drop
        return " ".join(text.split())
    kept: list[str] = []
    combining_run = 0
    for character in _ESCAPE_SEQUENCES.sub("", text):
        if character.isspace():
            kept.append(" ")
            combining_run = 0
            continue
        category = unicodedata.category(character)
        if category.startswith("C") or character in _BLANK_LETTERS:
            continue
        combining_run = combining_run + 1 if category in ("Mn", "Me") else 0
        if combining_run <= MAX_COMBINING_RUN:
            kept.append(character)
    return " ".join("".join(kept).split())
