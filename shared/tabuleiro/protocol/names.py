"""Names of guests. Other text that people write is cleaned by :mod:`tabuleiro.notation.plain_text`."""

from __future__ import annotations

import unicodedata
from typing import Final

from tabuleiro.errors import NotationError
from tabuleiro.notation.plain_text import strip_controls

NAME_MIN_CHARS: Final = 2
NAME_MAX_CHARS: Final = 20
NAME_RULE: Final = f"{NAME_MIN_CHARS} to {NAME_MAX_CHARS} letters, digits, '-' or '_'"


def parse_name(text: str) -> str:
    """Return the name in the form in which it is stored (Unicode NFC).

    Raises:
        NotationError: The text is no name.

    >>> parse_name("João_2")
    'João_2'
    """
    name = unicodedata.normalize("NFC", text.strip())
    if not NAME_MIN_CHARS <= len(name) <= NAME_MAX_CHARS:
        raise NotationError(text, f"a name of {NAME_RULE}")
    is_spelled_right = all(character.isalpha() or character in "0123456789-_" for character in name)
    # Some letters show nothing: without them the name could be that of somebody else.
    if not is_spelled_right or strip_controls(name) != name:
        raise NotationError(text, f"a name of {NAME_RULE}")
    return name


def name_key(name: str) -> str:
    """Return the form of a name that must be unique: equal for names that differ only in case or Unicode form.

    >>> name_key("ANA") == name_key("ana")
    True
    """
    return unicodedata.normalize("NFKC", unicodedata.normalize("NFKC", name).casefold())
