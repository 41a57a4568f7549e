"""What a search says of a position, as values: candidates, what they are worth, and how long a proven end takes.

Who searches is left to the server's bots; how it is told to people, to the client.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass

from tabuleiro.rules.base import Game, State


@dataclass(frozen=True, slots=True)
class Candidate:
    """A turn that may be played, and what it is worth to the player to move.

    ``line`` is the best continuation known, as actions from the analysed position on; it begins with ``actions``,
    which complete the turn. ``value`` is from -1 (lost) to 1 (won), exactly -1, 0 or 1 when ``is_proven``.
    ``turns_to_end`` counts the turns that whoever wins still has to make; ``None`` when nobody is known to win, or
    in how many turns is not known. ``nodes`` counts the positions or playouts looked at for it; ``None`` where the
    search doesn't count them apart.
    """

    actions: tuple[int, ...]
    line: tuple[int, ...]
    value: float
    is_proven: bool = False
    turns_to_end: int | None = None
    nodes: int | None = None


@dataclass(frozen=True, slots=True)
class Analysis:
    """What is known of a position so far: ``candidates``, best first, one at least.

    ``nodes`` counts the positions or playouts looked at. ``depth`` is how far was looked ahead, in turns; ``None``
    for a search that has no such number. ``is_compiled`` tells a search by kernels from one in plain Python.
    """

    candidates: tuple[Candidate, ...]
    nodes: int
    depth: int | None = None
    is_compiled: bool = True

    @property
    def best(self) -> Candidate:
        """The first candidate."""
        return self.candidates[0]


Analyser = Callable[[Game, State, float, int], Iterator[Analysis]]
"""Analyses a state of a game that is not over for a number of seconds, above 0, and looks for so many candidates.

It yields what is known ever better, once at least; the last is the result. Raises: BotError when it is over.
"""
