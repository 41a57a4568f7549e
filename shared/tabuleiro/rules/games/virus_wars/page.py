"""The rules page of Virus Wars."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final

from tabuleiro.rules.page import ALL, Diagram

PAGE: Final = """\
VIRUS WARS

AIM
Leave the other player without a move. Whoever must act and reaches no cell
loses, also in the middle of a turn. Nobody passes, and there are no draws.

A TURN
Blue and red take turns; blue begins. A turn is several actions: five in the
usual match, and the count of those left is always shown. An action names a
cell that you can reach, for example c3:
- An empty cell gets one of your viruses.
- A virus of the enemy becomes a zombie of yours.
Zombies never change and never leave. Your own cells cannot be chosen.

[spread] [absorb]

WHAT YOU REACH
You reach the eight neighbours of each of your viruses. You reach the
neighbours of your zombies too, while these are awake. Zombies next to each
other form a chain: it is awake as long as one of them touches a virus of
yours, else it is asleep until it is joined again. What you placed earlier in
the same turn counts.

[asleep] [woken]

THE START
Blue has one virus in the top left corner, red one in the bottom right corner.
In matches that start from the edges the board is empty: your first virus goes
anywhere on your own edge, the left column for blue, the right one for red.
In some of these matches it costs no action, and the whole turn follows it.

[corners] [edges]

EXAMPLE
Blue has three actions and plays c3 d4 d3. The red virus on c3 becomes a
zombie of blue. It touches the virus on b3, so it is awake, and blue reaches
d4 and d3 from it.

[example]

THE END
The match ends as soon as a player who must act reaches no cell. Zombies do
not help without a living virus.

[end]

DID YOU KNOW
The number of cells that you reach is more than a good sign: it is the aim
itself, since whoever has none left loses. The first bots of this game count
it, and know nothing else. They are the levels minimax-1 and minimax-3.

HISTORY
Nobody knows who invented the game. In the 1980s it was played on paper at the
university of Saint Petersburg, in several variants. The rules here follow
igGameCenter, where it is played online:
https://iggamecenter.com/en/rules/viruswars
"""

_SMALL: Final = {"rows": 4, "cols": 5, "steps": 3}

DIAGRAMS: Final[Mapping[str, Diagram]] = {
    "spread": Diagram(
        "From the virus on b3 blue reaches the eight cells around it (+).",
        {**_SMALL, "position": "....o/...../.x.../..... 0 3"},
        allowed=ALL,
    ),
    "absorb": Diagram(
        "Blue plays c2, and the red virus there becomes a blue zombie.",
        {**_SMALL, "position": "....o/..o../.x.../..... 0 3"},
        turn="c2",
        shows_both=True,
    ),
    "asleep": Diagram(
        "The zombies on d2 and d3 touch no blue virus: they are asleep. Blue reaches the cells around a4 (+), and "
        "not e3 (-).",
        {**_SMALL, "position": "....o/...X./...X./x.... 0 2"},
        allowed=ALL,
        refused="e3",
    ),
    "woken": Diagram(
        "A virus on c3 touches the chain and wakes all of it: now blue reaches its neighbours too (+).",
        {**_SMALL, "position": "....o/...X./.x.X./x.... 0 2"},
        turn="c3",
        allowed=ALL,
    ),
    "corners": Diagram("The start from the corners.", _SMALL),
    "edges": Diagram(
        "The start from the edges: blue's first virus goes on the left column (+).",
        {**_SMALL, "opening": "edges"},
        allowed=ALL,
    ),
    "example": Diagram(
        "Before and after c3 d4 d3.",
        {**_SMALL, "position": "....o/..o../.xo../x.... 0 3"},
        turn="c3 d4 d3",
        shows_both=True,
    ),
    "end": Diagram(
        "Blue takes the last red virus on d4. Red has no virus any more, reaches no cell, and loses.",
        {"rows": 4, "cols": 5, "steps": 1, "position": "x..../.xX../.OXX./..xo. 0 1"},
        turn="d4",
        shows_both=True,
        winner=0,
    ),
}
