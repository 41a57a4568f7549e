"""The result of a search as values: candidate turns, their worth, and the length of a proven end.

The server's bots search; the client puts the result into words.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass

from tabuleiro.rules.base import Game, State


@dataclass(frozen=True, slots=True)
class Candidate:
    """A turn that may be played, and its worth to the player to move.

    ``line`` is the best continuation known, as actions from the analysed position on; it begins with ``actions``,
    which complete the turn. ``value`` is from -1 (lost) to 1 (won), exactly -1, 0 or 1 when ``is_proven``.
    ``turns_to_end`` counts the turns that the winner still has to make; ``None`` when the winner or the number is
    not known. ``nodes`` counts the positions or playouts looked at for it; ``None`` where the
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
    """The knowledge of a position so far: ``candidates``, best first, one at least.

    ``nodes`` counts the positions or playouts looked at. ``depth`` is the number of turns looked ahead; ``None``
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
"""Analyse a state that is not over for a number of seconds, above 0, and find a number of candidates.

It yields better and better results, one at least; the last one is final. Raises: BotError when the game is over.
"""
