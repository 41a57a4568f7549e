"""The rules of the games as pages: the parts of a rules page, and the pictures that go with it."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Final, Literal

from tabuleiro.rules import Game, registry
from tabuleiro.rules.options import Options
from tabuleiro.rules.view import BoardView
from tabuleiro_client.text.board import TextStyle, legend


@dataclass(frozen=True, slots=True)
class Part:
    """A part of a page: a heading, a paragraph, an item of a list, or lines to be kept as they are."""

    kind: Literal["heading", "paragraph", "item", "lines"]
    text: str


def parts_of(page: str) -> Iterator[Part]:
    r"""Yield the parts of a rules page, from its title on.

    A heading is in capitals, an item begins with a hyphen, lines to be kept have four spaces before them.

    >>> [part.text for part in parts_of("AIM\nGet\nthere.\n- By\n  bus.\n\n    b .\n    w b\n")]
    ['AIM', 'Get there.', 'By bus.', 'b .\nw b']
    """
    kind: Literal["heading", "paragraph", "item", "lines"] = "paragraph"
    held: list[str] = []
    for line in [*page.splitlines(), ""]:
        is_heading = line.isupper() and not line.startswith(" ")
        is_kept = line.startswith("    ")
        ends = kind == "item" and not line.startswith("  ")
        if held and (ends or is_heading or line.startswith("- ") or not line or is_kept != (kind == "lines")):
            yield Part(kind, "\n".join(held) if kind == "lines" else " ".join(held))
            held = []
        if is_heading:
            yield Part("heading", line)
        elif line:
            if not held:
                kind = "item" if line.startswith("- ") else "lines" if is_kept else "paragraph"
            held.append(line.removeprefix("- ").strip() if not is_kept else line[4:])


@dataclass(frozen=True, slots=True)
class Example:
    """The worked move of a rules page: the position before it, and what is played."""

    options: Options
    turn: str

    def views(self, game: str) -> tuple[BoardView, BoardView]:
        """Return the pictures before and after the turn."""
        before = after = registry.load(game, self.options).initial_state()
        for text in self.turn.split():
            after = after.apply(after.string_to_action(text))
        return before.view(), after.view()


EXAMPLES: Final[Mapping[str, Example]] = {
    "virus-wars": Example(
        {"rows": 4, "cols": 5, "steps": 3, "position": "....o/..o../.xo../x.... 0 3"}, "c3 d4 d3"
    ),
    "xero-g": Example({"position": "320211/000000/000000/203000/000000/310213 0"}, "a1-b5"),
    "iris": Example(
        {
            "side": 5,
            "position": "w.w.b/.....b/......./......../....b..../......../......./b...../b.w.w 1 - 0",
        },
        "a2 i4",
    ),
    "minefield": Example({"size": 5, "position": "w.b.w/..b../...../..b../..b.w 0"}, "c3"),
}


def aim_of(game: type[Game]) -> str:
    """Return the aim of a game in a sentence: the first one of its rules.

    >>> aim_of(registry.game_type("virus-wars"))
    'Leave the other player without a move.'
    """
    _, _, aim, *_ = parts_of(game.rules_page)
    return f"{re.split('[.:]', aim.text)[0]}."


def pieces_line(game: Game | type[Game], style: TextStyle) -> str:
    """Return the pieces of a game as they are drawn, and their names."""
    loaded = registry.load(game.name) if isinstance(game, type) else game
    return f"Pieces: {legend(loaded.initial_state().view(), style)}"


def page_lines(game: Game | type[Game], style: TextStyle) -> Sequence[str]:
    """Return the rules of a game as lines, with the pieces as they are drawn, unless nothing is."""
    lines = game.rules_page.rstrip().splitlines()
    return lines if style.is_spoken else [*lines, "", pieces_line(game, style)]
