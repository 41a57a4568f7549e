"""Rules pages: their parts, and the diagrams in them, which are positions that the rules can check."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Final, Literal

from tabuleiro.ids import Player
from tabuleiro.rules.options import Options
from tabuleiro.rules.view import BoardView

PartKind = Literal["heading", "paragraph", "item", "diagrams"]

ALL: Final = "all"
"""Instead of actions: every legal one."""

_NAME: Final = re.compile(r"\[([a-z0-9-]+)\]")


@dataclass(frozen=True, slots=True)
class Part:
    """A part of a page: a heading, a paragraph, an item of a list, or the names of diagrams side by side."""

    kind: PartKind
    text: str


@dataclass(frozen=True, slots=True)
class Diagram:
    """A position on a rules page, and what is claimed of it.

    ``turn`` is played from the position; what is shown is the end of it, and before that the position itself if
    it ``shows_both``. At the end the actions of ``allowed`` are legal, or :data:`ALL` are to be marked, those of
    ``refused`` are not, and ``winner`` has won.
    """

    caption: str
    options: Options
    turn: str = ""
    shows_both: bool = False
    allowed: str = ""
    refused: str = ""
    shows_edges: bool = True
    winner: Player | None = None


@dataclass(frozen=True, slots=True)
class Stage:
    """A position of a diagram, and the cells on the way of the action that is about to be made."""

    view: BoardView
    route: tuple[int, ...] = ()


def diagrams_in(line: str) -> list[str]:
    """Return the names of the diagrams on a line of a page; empty for a line of text."""
    return _NAME.findall(line) if line.startswith("[") else []


def parts_of(page: str) -> Iterator[Part]:
    r"""Yield the parts of a rules page, from its title on.

    A heading is in capitals, an item begins with a hyphen, names in brackets are diagrams.

    >>> [part.text for part in parts_of("AIM\nGet\nthere.\n- By\n  bus.\n\n[bus] [stop-2]\n")]
    ['AIM', 'Get there.', 'By bus.', 'bus stop-2']
    """
    kind: PartKind = "paragraph"
    held: list[str] = []
    for line in [*page.splitlines(), ""]:
        is_heading = line.isupper() and not line.startswith((" ", "["))
        names = diagrams_in(line)
        ends = kind == "item" and not line.startswith("  ")
        if held and (ends or is_heading or names or line.startswith("- ") or not line):
            yield Part(kind, " ".join(held))
            held = []
        if is_heading:
            yield Part("heading", line)
        elif names:
            yield Part("diagrams", " ".join(names))
        elif line:
            if not held:
                kind = "item" if line.startswith("- ") else "paragraph"
            held.append(line.removeprefix("- ").strip())


def words_of(page: str, diagrams: Mapping[str, Diagram]) -> str:
    """Return a page for clients that draw nothing: the captions in the places of the diagrams."""
    lines = []
    for line in page.splitlines():
        names = diagrams_in(line)
        lines += [diagrams[name].caption for name in names] or [line]
    return "\n".join(lines) + "\n"
