"""The rules page of Iris."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final

from tabuleiro.rules.page import Diagram

PAGE: Final = """\
IRIS

AIM
Have the best groups at the end. Stones of one colour that touch each other
are a group, and a group scores one point for each coloured cell in it. The
best groups of both players are compared first, then the second best, and so
on: 9 7 4 beats 9 7 3 3. A missing group counts 0. The first difference
decides; no difference at all is a draw.

THE BOARD
The cells of the rim are coloured, all others are neutral. Cells opposite each
other through the centre have the same colour. Rows have letters from the top,
the cells of a row have numbers from the left: a1 is the top left corner.

A TURN
The first turn is one black stone on a neutral cell. Every later turn is two
stones, one after the other:
- If the first goes on a coloured cell, the second must go on the opposite
  coloured cell.
- If the first goes on a neutral cell, the second must go on an empty neutral
  cell that is not next to it. If there is none, the turn ends with one stone.
Instead of any turn but the first you may pass.

[first] [opposite] [apart]

EXAMPLE
White plays a2 i4. The cell a2 is coloured, so the second stone must go on the
opposite cell i4. White now has two groups on three coloured cells each, and
scores 3 3. Black's groups score 2 2: white is ahead.

[example]

THE END
The match ends when the board is full, or when both players pass one after the
other.

[passes] [full]

DID YOU KNOW
A full board is never a draw. Opposite cells of the rim always have stones of
one colour. So on the way round half of the rim the colour of the stones
changes an even number of times, and the whole rim is parted into an even
number of black stretches and as many white ones. A group that joins stretches
of one colour keeps those of the other apart: with n stretches of each colour
there are always n + 1 groups that score. That is an odd number, and equal
scores would need an even one.

HISTORY
Craig Duncan designed Iris in 2019. In English, about the game and how bots
play it: http://mrraow.com/uploads/AiAiReports/Iris.html
"""


def _board(position: str) -> dict[str, int | str]:
    return {"side": 5, "position": position}


_EARLY: Final = _board("...../....../......./......../....b..../......../......./....../..... 1 - 0")

DIAGRAMS: Final[Mapping[str, Diagram]] = {
    "first": Diagram(
        "Black's first stone goes on a neutral cell such as e5 (+), and on no coloured one such as a1 (-).",
        {"side": 5},
        allowed="e5",
        refused="a1",
    ),
    "opposite": Diagram(
        "White has put a stone on a2, which is coloured. The second one must go on i4, the opposite cell (*), "
        "and on no other such as e7 or i5 (-).",
        _EARLY,
        turn="a2",
        allowed="i4",
        refused="e7 i5",
    ),
    "apart": Diagram(
        "White has put a stone on d3, which is neutral. The second one may not go on a neighbour (-), nor on the "
        "rim, but for example on f6 (+).",
        _EARLY,
        turn="d3",
        allowed="f6",
        refused="c2 c3 d2 d4 e3 e4",
    ),
    "example": Diagram(
        "After a2 i4.",
        _board("w.w.b/.....b/......./......../....b..../......../......./b...../b.w.w 1 - 0"),
        turn="a2 i4",
    ),
    "passes": Diagram(
        "White has passed, and black passes too: the match is over. Black's best groups score 3, white's 1.",
        _board("bbb.w/....../......./...w..../....b..../......../..w..../....../w.bbb 0 - 1"),
        turn="pass",
        winner=0,
    ),
    "full": Diagram(
        "A full board: black's groups score 8 1 1, white's 6 4 3 1. The best groups are compared, and black wins.",
        _board("wwbww/wbwwww/bbwbwwb/bwb.wbbw/bbwwb.bbb/wwbwbwbb/bbbwwbb/wbwbbw/wwbww 0 - 0"),
        turn="e6 d4",
        winner=0,
    ),
}
