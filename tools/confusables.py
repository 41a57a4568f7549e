"""Make the table of look-alike letters of names from Unicode's confusables.txt, and print it.

usage: python tools/confusables.py confusables.txt > shared/tabuleiro/protocol/confusables.py

Source: https://www.unicode.org/Public/security/latest/confusables.txt (Unicode TR 39).
"""

from __future__ import annotations

import re
import sys
import textwrap
import unicodedata
from pathlib import Path

SCRIPTS = ("LATIN ", "GREEK ", "CYRILLIC ")
"""What letters of all scripts are mistaken for, by the beginnings of the names of the letters."""

MODULE = '''\
"""Letters that look like others. Made by tools/confusables.py from Unicode's confusables.txt, {version}."""

from typing import Final

_ROWS: Final = """\\
{rows}"""

PROTOTYPES: Final = {{row[0]: row[1:] for row in _ROWS.split()}}
"""By a letter or digit: the text that it looks like."""
'''


def may_be_in_a_name(character: str) -> bool:
    """Return whether a name can hold the character when its letters are taken apart from their marks."""
    is_letter = character.isalpha() or character in "0123456789"
    return is_letter and unicodedata.normalize("NFKD", character) == character


def rows_of(text: str) -> list[str]:
    """Return the letters of interest in the text of the file, each with what it looks like behind it."""
    found = []
    for code, prototype in re.findall(r"^([0-9A-F]+) ;\s*([0-9A-F ]+?) ;\s*MA", text, re.MULTILINE):
        character, looks_like = chr(int(code, 16)), "".join(chr(int(part, 16)) for part in prototype.split())
        if may_be_in_a_name(character) and all(
            may_be_in_a_name(letter) and (letter.isascii() or unicodedata.name(letter).startswith(SCRIPTS))
            for letter in looks_like
        ):
            found.append(character + looks_like)
    return sorted(found)


def main() -> None:
    """Print the module."""
    text = Path(sys.argv[1]).read_text(encoding="utf-8-sig")
    version = re.search(r"Version: (\S+)", text)
    assert version is not None, "this is no confusables.txt"
    rows = (row.encode("ascii", "backslashreplace").decode() for row in rows_of(text))
    lines = textwrap.fill(" ".join(rows), 110, break_long_words=False, break_on_hyphens=False)
    print(MODULE.format(version=version[1], rows=lines), end="")


if __name__ == "__main__":
    main()
