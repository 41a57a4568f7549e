"""The rules page of Xero-G."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final

from tabuleiro.rules.page import Diagram

PAGE: Final = """\
XERO-G

AIM
South sits below row 1 and wins by moving a ship into the base above row 6.
North sits above row 6 and wins by moving a ship into the base below row 1.
Whoever has no move loses. The same position, with the same player to move,
for the third time is a draw.

THE SHIPS
The twelve ships have the values 1, 2 and 3. They belong to nobody: both
players move the same ships.

THE START
South puts two ships of each value on row 1, one after the other; 3@c1 puts a
3 on c1. Then north does the same on row 6. In matches with a random start
both rows are shuffled for you.

[start]

A TURN
Move a ship of your home row: the row nearest to you that has a ship. It goes
exactly as many steps as its value, up, down or sideways, and may turn at each
step. The squares it passes must be empty, and it may not cross the line
between two squares twice in a turn. It may end in three ways:
- On an empty square, also the one that it left: a1-b3
- In the base, straight from the last row: c6-base
- On another ship. Then you choose between a boost and a new place for it.

[run] [home]

A SHIP ON A SHIP
- Rocket Boost: your ship runs on by the value of the ship below it, which
  stays. Boosts chain. Only the last square is written down: a1-d5
- Reprogram Coordinates: your ship stays there, and the ship that it met goes
  to any empty square: a1xb3@c4. In the variant gyges that square may not be
  beyond the home row of the opponent.

[reprogram]

EXAMPLE
South moves the 3 on a1, in the home row, and plays a1-b5. In three steps it
gets to a4, where it meets a 2. The boost takes it two steps on, to b4 and b5.

[example]

THE END
The match ends at once when a ship enters a base.

[end]

DID YOU KNOW
The bot greedy gives each row a weight, from row 1 up to the far base 1, 5, 6,
8, 10, 12 and 20 for south, and the other way round for north. A position is
worth the sum of row weight times ship value, and greedy plays the action with
the best sum. It never looks ahead, so two of them go in circles: from 60
random starts 57 matches were draws by repetition, after 7 to 71 actions.

HISTORY
Xero-G is a game by Kat Costa (2019) after Gyges by Claude Leroy, who invented
it in 1984; it came out in 1985. Gyges was a king of Lydia who owned, in a
tale of Plato, a ring that made its bearer invisible; the pieces of Gyges are
rings. Its rules: https://jpneto.github.io/world_abstract_games/gyges.htm
"""

_MIDDLE: Final = "320211/000000/000000/203000/000000/310213 0"

DIAGRAMS: Final[Mapping[str, Diagram]] = {
    "start": Diagram(
        "A start: both players have put two ships of each value on their row.",
        {"setup": "random", "seed": 42},
    ),
    "run": Diagram(
        "Row 1 is the home row of south (<). The 2 on b1 makes two steps, for example to a2, b3 or c2 (+). "
        "It cannot end on c3 (-), which is three steps away.",
        {"position": _MIDDLE},
        allowed="b1-a2 b1-b3 b1-c2",
        refused="b1-c3",
    ),
    "home": Diagram(
        "Rows 1 and 2 are empty, so the home row of south is row 3. Its 1 may go to b4 (+). The ships further up "
        "may not move yet, for example to a5 or c5 (-).",
        {"position": "000000/000000/010032/202130/000000/310213 0"},
        allowed="b3-b4",
        refused="a4-a5 c4-c5",
    ),
    "reprogram": Diagram(
        "South plays f1xe1@c4: the 1 on f1 goes to e1, and the 2 that was there is put on c4.",
        {"position": "100021/000000/033000/300000/000120/123200 0"},
        turn="f1xe1@c4",
        shows_both=True,
    ),
    "example": Diagram(
        "Before and after a1-b5.",
        {"position": _MIDDLE},
        turn="a1-b5",
        shows_both=True,
    ),
    "end": Diagram(
        "South plays a1-base and wins: the 3 runs to the 2 on a4, by the boost to the 3 on c4, and by another one "
        "straight into the base.",
        {"position": _MIDDLE},
        turn="a1-base",
        winner=0,
    ),
}
