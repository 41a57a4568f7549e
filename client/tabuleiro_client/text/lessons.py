"""The tutorial: for each game positions with a task, from the first step to a small combination."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Final, Literal

from tabuleiro.rules.options import Options

Aim = Literal["win", "stop", "force", "take", "absorb", "wake", "lull", "score"]
"""What a task asks for; :mod:`tabuleiro_client.models.tutorial` judges it by the rules."""


@dataclass(frozen=True, slots=True)
class Lesson:
    """A position in which a turn with an ``aim`` is to be found.

    ``cells`` are those to take, ``count`` is how many viruses or points are asked for. ``answer`` is a right turn,
    shown to those who ask for it, ``slip`` a likely wrong one. ``insight`` is said once the task is done.
    """

    title: str
    task: str
    options: Options
    aim: Aim
    answer: str
    slip: str
    insight: str
    cells: tuple[str, ...] = ()
    count: int = 0


def _viruses(steps: int, position: str) -> Options:
    return {"rows": 4, "cols": 5, "steps": steps, "position": f"{position} {steps}"}


def _iris(position: str) -> Options:
    return {"side": 5, "position": position}


LESSONS: Final[Mapping[str, Sequence[Lesson]]] = {
    "virus-wars": (
        Lesson(
            "Spread",
            "Blue has two actions. Reach the cell c3 with them.",
            _viruses(2, "x..../...../...../....o 0"),
            "take",
            "b2 c3",
            "a2 a3",
            "A new virus counts at once: from b2 you reach c3 in the same turn. Diagonal neighbours count too.",
            cells=("c3",),
        ),
        Lesson(
            "Take a virus",
            "Blue has one action. Turn a red virus into a zombie of yours.",
            _viruses(1, "x..../.x.../..o../...oo 0"),
            "absorb",
            "c3",
            "c2",
            "The virus on c3 is a neighbour of b2. As a zombie it is yours for ever.",
            count=1,
        ),
        Lesson(
            "On through a zombie",
            "Blue has two actions. Take two red viruses.",
            _viruses(2, "x..../.x.../..o../...o. 0"),
            "absorb",
            "c3 d4",
            "c3 c2",
            "The new zombie touches your virus on b2. So it is awake, and you reach its neighbours.",
            count=2,
        ),
        Lesson(
            "Wake a chain",
            "Your two zombies are asleep: they touch no virus of yours. Wake them with one action.",
            _viruses(1, "x..../.x.../...X./..X.o 0"),
            "wake",
            "c2",
            "a2",
            "A virus next to one zombie of a chain wakes all of them.",
        ),
        Lesson(
            "Put a chain to sleep",
            "Red's zombies hang on one red virus. Put them to sleep with one action.",
            _viruses(1, "x...o/.xo../..OO./..... 0"),
            "lull",
            "c2",
            "a2",
            "Without the virus on c2 the zombies touch no virus of red, and red reaches nothing from them.",
        ),
        Lesson(
            "The last virus",
            "Blue has one action. Win.",
            _viruses(1, "x..../.xX../..XX./..xo. 0"),
            "win",
            "d4",
            "a2",
            "Red has no virus any more, so red reaches no cell: whoever cannot move loses.",
        ),
    ),
    "xero-g": (
        Lesson(
            "Count the steps",
            "Bring a ship of row 1 to c3. It goes exactly as many steps as its value, and may turn.",
            {"position": "321312/000000/000000/200000/000000/133021 0"},
            "take",
            "d1-c3",
            "b1-c3",
            "The 3 on d1 goes up twice and then left. The squares that a ship passes must be empty.",
            cells=("c3",),
        ),
        Lesson(
            "Into the base",
            "Row 4 is your home row here. Bring a ship into the base above row 6.",
            {"position": "000000/000000/000000/103020/120301/230312 0"},
            "win",
            "c4-base",
            "a4-b4",
            "The 3 runs straight up: c5, c6, base. Entering the base is the last step of a run.",
        ),
        Lesson(
            "A boost",
            "South wins with one ship. Land on another ship first, and run on.",
            {"position": "232301/000000/000000/000301/000000/011232 0"},
            "win",
            "d1-base",
            "d1-c3",
            "The 3 on d1 meets the 3 on d4 after three steps, and runs three more by the boost.",
        ),
        Lesson(
            "Two boosts",
            "South wins again, with two boosts in one turn.",
            {"position": "320211/000000/000000/203000/000000/310213 0"},
            "win",
            "a1-base",
            "a1-b3",
            "The 3 meets the 2 on a4, runs two steps to the 3 on c4, and three more into the base.",
        ),
        Lesson(
            "Stop north",
            "North would win with the next turn. Find a turn after which north cannot.",
            {"position": "330100/102021/000000/000200/100000/203003 0"},
            "stop",
            "d1-c1",
            "d1-d2",
            "Look at north's home row and at the ships that would boost it: take one away, or stand in the way.",
        ),
        Lesson(
            "A new place",
            "North would win with the next turn. Land on a ship and put it where it is in the way.",
            {"position": "100021/000000/033000/300000/000120/123200 0"},
            "stop",
            "f1xe1@c4",
            "f1xe1@a2",
            "The 2 that you land on leaves its square and closes c4. This is the only turn that stops north.",
        ),
    ),
    "iris": (
        Lesson(
            "The first stone",
            "The first turn of a match is one stone on a neutral cell. Take the centre, e5.",
            {"side": 5},
            "take",
            "e5",
            "a1",
            "The cells of the rim are coloured; the first stone may go on none of them.",
            cells=("e5",),
        ),
        Lesson(
            "Opposite cells",
            "Black puts two stones. Take a1 and the cell that then must follow.",
            _iris("...../....../......./......../....b..../......../......./....../..... 0 - 0"),
            "take",
            "a1 i5",
            "a1 e6",
            "After a stone on a coloured cell the second goes on the opposite cell, which has the same colour.",
            cells=("a1", "i5"),
        ),
        Lesson(
            "Join two groups",
            "Black's stones on a1 and a3 score 1 each. Make a group of them that scores 3.",
            _iris("b.b.w/....../......./...w..../....b..../......../..w..../....../w.b.b 0 - 0"),
            "score",
            "a2 i4",
            "a4 i2",
            "A group scores its coloured cells. The stone on a2 joins a1 and a3; i4, opposite, joins i3 and i5.",
            count=3,
        ),
        Lesson(
            "Two holes",
            "Join the middle row into one group that scores 2. Neutral stones of one turn may not touch.",
            _iris("..w../....../......./...w..../b.bb.bbbb/......../..w..../....../..w.. 0 - 0"),
            "score",
            "e2 e5",
            "e2 c3",
            "The cells e2 and e5 are not next to each other, so both fit into one turn.",
            count=2,
        ),
        Lesson(
            "When to pass",
            "White has just passed. End the match now, and win it.",
            _iris("bbb.w/....../......./...w..../....b..../......../..w..../....../w.bbb 0 - 1"),
            "win",
            "pass",
            "a4 i2",
            "Two passes in a row end the match. Black's best groups score 3, white's score 1.",
        ),
    ),
    "minefield": (
        Lesson(
            "Join your edges",
            "Black joins top and bottom. Win with one stone.",
            {"size": 5, "position": "w.b.w/..b../...../..b../..b.w 0"},
            "win",
            "c3",
            "b3",
            "The chain from c1 to c5 joins the two edges. Stones connect along rows and columns.",
        ),
        Lesson(
            "The other edges",
            "White joins left and right. Win with one stone.",
            {"size": 5, "position": "b..b./..b../ww.ww/.b.../b.... 1"},
            "win",
            "c3",
            "c5",
            "White's chain runs along row 3 from the left edge to the right one.",
        ),
        Lesson(
            "Stop white",
            "White would win with the next stone. Stop that.",
            {"size": 6, "position": "b...b./.b..../b.w.ww/www.../.bb..w/...b.. 0"},
            "stop",
            "d3",
            "d2",
            "On d3 white would have joined its left part to the stones on e3 and f3.",
        ),
        Lesson(
            "A hard corner",
            "Black wants to get from b2 to c3, but may not take c3 now. Take the cell that leads there.",
            {"size": 5, "position": "...../.b.../.w.../...../..... 0"},
            "take",
            "c2",
            "c3",
            "With b2, b3 and an empty c2 a stone on c3 would be a hard corner. With c2 taken it is none.",
            cells=("c2",),
        ),
        Lesson(
            "A switch",
            "A stone on d3 would make a switch with a2, a3 and d2. Take b2, between them, instead.",
            {"size": 5, "position": "...../b..w./w..../...../..... 0"},
            "take",
            "b2",
            "d3",
            "A switch has nothing between its corners: with a stone on b2, d3 is allowed.",
            cells=("b2",),
        ),
        Lesson(
            "Two threats",
            "Black cannot win at once, but one stone threatens to win in two ways. Find it.",
            {"size": 6, "position": ".b.w.w/wbb.../w...../..bb../w...b./.wb.w. 0"},
            "force",
            "c3",
            "d3",
            "White can close one way to the top edge, not both.",
        ),
    ),
}
