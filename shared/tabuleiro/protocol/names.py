"""Names of guests. Other text that people write is cleaned by :mod:`tabuleiro.notation.plain_text`.

A name that exists stays valid, whatever rule comes later: :func:`parse_name` reads it. :func:`check_new_name` and
:func:`looks_of` are for new ones, so that nobody can be taken for somebody else.
Source: Unicode TR 39, sections 4 (confusables) and 5.1 (one script).
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterable
from typing import Final

from tabuleiro.errors import NotationError, shown
from tabuleiro.notation.plain_text import strip_controls
from tabuleiro.protocol.confusables import PROTOTYPES

NAME_MIN_CHARS: Final = 2
NAME_MAX_CHARS: Final = 20
NAME_RULE: Final = f"{NAME_MIN_CHARS} to {NAME_MAX_CHARS} letters, digits, '-' or '_'"


def bot_name(level: str, opposite: str | None) -> str:
    """Return the name of a bot of a level, another one than that of the player opposite.

    >>> bot_name("easy", "ana"), bot_name("easy", "easy-bot")
    ('easy-bot', 'easy-bot-2')
    """
    name = f"{level}-bot"
    return f"{name}-2" if opposite == name else name


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


_KEPT: Final = (
    *("admin", "administrator", "host", "moderator", "operator", "root", "server", "staff", "support", "system"),
    *("anonymous", "computer", "everybody", "everyone", "nobody", "none", "null", "spectator", "spectators"),
    *("tabuleiro", "undefined", "unknown", "you"),
)
"""Names that would speak for the server, for nobody or for everybody, also with a number behind them."""

_BOT: Final = re.compile(r"(.*[-_])?bots?|.+[-_]bots?[-_]?[0-9lo]{1,5}")
"""The names that the server gives to bots, and what looks like them."""

_WRITTEN_TOGETHER: Final[tuple[frozenset[str], ...]] = (
    frozenset({"CJK", "IDEOGRAPHIC", "HIRAGANA", "KATAKANA", "KATAKANA-HIRAGANA"}),
    frozenset({"CJK", "IDEOGRAPHIC", "HANGUL"}),
    frozenset({"CJK", "IDEOGRAPHIC", "BOPOMOFO"}),
)
"""Scripts that Japanese, Korean and Chinese use in one word, by the first words of the names of their letters."""


def check_new_name(name: str, levels: Iterable[str] = ()) -> None:
    """Check what :func:`parse_name` returned for a guest who is new; ``levels`` are the bots' names.

    Raises:
        NotationError: It mixes scripts, is written in letters that stand for others, or is kept for the server and
            its bots.

    >>> check_new_name("admin")
    Traceback (most recent call last):
    ...
    tabuleiro.errors.NotationError: cannot read 'admin': expected a name that is not kept for server and bots
    """
    plain = unicodedata.normalize("NFKC", name)
    if plain != name:
        raise NotationError(name, f"plain letters, as in {shown(plain)}")
    scripts = {_script(letter) for letter in name if letter.isalpha()}
    if len(scripts) > 1 and not any(scripts <= together for together in _WRITTEN_TOGETHER):
        words = " and ".join(sorted(script.capitalize() for script in scripts))
        raise NotationError(name, f"letters of one script, not {words} ones")
    if "MODIFIER" in scripts:
        raise NotationError(name, "letters that stand for themselves")
    if _is_kept(name, levels):
        raise NotationError(name, "a name that is not kept for server and bots")


def _is_kept(name: str, levels: Iterable[str]) -> bool:
    key = name_key(name)
    looks = looks_of(name) | {key}
    without_number = looks_of(key.strip("-_0123456789"))
    without_two_digits = looks_of(re.sub(r"[-_]?[0-9]{1,2}$", "", key))
    return (
        any(_BOT.fullmatch(look) for look in looks)
        or any(looks_of(word) & (looks | without_number) for word in _KEPT)
        or any(looks_of(level) & (looks | without_two_digits) for level in levels)
    )


def _script(letter: str) -> str:
    return unicodedata.name(letter, "?").partition(" ")[0]


def looks_of(name: str) -> frozenset[str]:
    """Return what a name can be taken for, in an alphabet of its own: names that share one look alike.

    >>> looks_of("Iris") & looks_of("1r\N{CYRILLIC SMALL LETTER BYELORUSSIAN-UKRAINIAN I}s")
    frozenset({'lris'})
    """
    plain = unicodedata.normalize("NFKC", name)
    writings = {plain, plain.casefold()}
    if not plain.isascii():
        writings.add(
            plain.upper()
        )  # the capitals of Cyrillic and Greek are more like Latin ones than the small letters
    return frozenset(map(_look, writings))


def _look(writing: str) -> str:
    apart = unicodedata.normalize("NFD", writing)
    alike = "".join(PROTOTYPES.get(letter, letter) for letter in apart)
    return unicodedata.normalize("NFC", unicodedata.normalize("NFD", alike).casefold())
