"""The rules page of Minefield."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final

from tabuleiro.rules.page import Diagram

PAGE: Final = """\
MINEFIELD

AIM
Join your two edges with a chain of your stones: black joins the top and the
bottom edge, white joins the left and the right one. Stones connect along rows
and columns, not diagonally. Whoever joins their two edges wins at once.

A TURN
Black begins. Put one stone of yours on an empty cell, for example c3. Nobody
may pass. A player without a legal cell is skipped: the other moves again.
When neither has one, the match is a draw.

MINES
Your stone may not make a hard corner or a switch, in whatever colours and
turned whichever way. In matches by the rules for beginners it may.
- A hard corner is a 2x2 area with two stones of one colour on opposite
  corners, a stone of the other colour on a third corner, and the fourth cell
  empty.
- A switch is a 2x3 or 2x4 area with two stones of each colour on its corners,
  equal colours opposite each other, and nothing between.

[hard-corner] [switch] [long-switch]

[filled] [between]

EXAMPLE
Black plays c3 and wins: the chain c1 c2 c3 c4 c5 joins the bottom edge to the
top edge.

[example]

THE END
The match ends with the first chain between two edges of one player. White's
runs from left to right.

[end]

DID YOU KNOW
The mines are there because of the draws. Without them both players can block
each other on the diagonals: of 300 random matches on a board of 7 x 7 cells
204 were draws by the rules for beginners, and none by the standard rules.

[draw]

HISTORY
Mark Steere designed Minefield in May 2024. He publishes the rules of his
games on https://www.marksteeregames.com
"""


def _board(position: str, rules: str = "standard") -> dict[str, int | str]:
    return {"size": 5, "rules": rules, "position": position}


DIAGRAMS: Final[Mapping[str, Diagram]] = {
    "hard-corner": Diagram(
        "Black may not play c3 (-): with b2, white's b3 and the empty c2 it would be a hard corner.",
        _board("...../.b.../.w.../...../..... 0"),
        refused="c3",
        shows_edges=False,
    ),
    "switch": Diagram(
        "Black may not play d3 (-): it would make a switch with b2, b3 and d2.",
        _board("...../.b.w./.w.../...../..... 0"),
        refused="d3",
        shows_edges=False,
    ),
    "long-switch": Diagram(
        "A switch may also be four cells long: black may not play d3 (-).",
        _board("...../b..w./w..../...../..... 0"),
        refused="d3",
        shows_edges=False,
    ),
    "filled": Diagram(
        "With a stone on the fourth cell, c2, it is no hard corner: black may play c3 (+).",
        _board("...../.bb../.w.../...../..... 0"),
        allowed="c3",
        shows_edges=False,
    ),
    "between": Diagram(
        "With a stone between, on b2, it is no switch: black may play d3 (+).",
        _board("...../bb.w./w..../...../..... 0"),
        allowed="d3",
        shows_edges=False,
    ),
    "example": Diagram(
        "Before and after c3.",
        _board("w.b.w/..b../...../..b../..b.w 0"),
        turn="c3",
        shows_both=True,
        winner=0,
    ),
    "end": Diagram(
        "White plays c3 and wins: a3 b3 c3 d3 e3 joins the left edge to the right one.",
        _board("b..b./..b../ww.ww/.b.../b.... 1"),
        turn="c3",
        shows_both=True,
        winner=1,
    ),
    "draw": Diagram(
        "A draw by the rules for beginners: the board is full, and no chain joins two edges of one colour.",
        _board("wbbww/wwbbw/.wbbw/bbwww/bbbbw 0", "beginner"),
        turn="a3",
    ),
}
