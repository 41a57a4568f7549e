"""Candidates of Virus Wars: the best turn, then the best without its first action, and so on.

The actions of a turn commute, so whatever begins with another action may be the same turn: an action that an
earlier candidate begins with sleeps in the search for the next.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator

import numpy as np

from tabuleiro_server.bots.engine.alpha_beta import INFINITY, new_transpositions
from tabuleiro_server.bots.engine.alpha_beta_analysis import TurnSizes, ValuedLine
from tabuleiro_server.bots.engine.compiled import Array
from tabuleiro_server.bots.engine.effort import IS_OVER, Effort
from tabuleiro_server.bots.engine.virus_wars_board import LEFT, ONE, SET_WORDS, VirusWarsTables
from tabuleiro_server.bots.engine.virus_wars_search import Memory, search


class VirusWarsRoot:
    """A :class:`~tabuleiro_server.bots.engine.alpha_beta_analysis.StagedRoot` of Virus Wars.

    ``memory`` holds the position; ``iter_widths`` yields the widths of each stage.
    """

    def __init__(
        self, tables: VirusWarsTables, memory: Memory, steps: int, iter_widths: Callable[[], Iterator[Array]]
    ) -> None:
        self.sizes = TurnSizes(int(memory.boards[0, LEFT]), steps)
        self._tables = tables
        self._memory = memory
        self._table = new_transpositions()
        self._iter_widths = iter_widths

    def depths(self) -> Iterator[int]:
        """How many turns each stage looks ahead."""
        for stage, widths in enumerate(self._iter_widths()):
            self._memory.stage[0] = stage
            self._memory = self._memory._replace(widths=widths)
            yield len(widths)

    def candidates(self, count: int, effort: Effort) -> list[ValuedLine]:
        """The best ``count`` turns, no two of which begin with the same action."""
        memory, found = self._memory, list[ValuedLine]()
        asleep = np.zeros(SET_WORDS, dtype=np.uint64)
        while len(found) < count:
            memory.sleeping[0] = asleep
            value = search(self._tables, memory, self._table, effort, 0, 0, -INFINITY, INFINITY)
            length = memory.lines[0, 0]
            if length == 0 or effort[IS_OVER]:
                break
            places = memory.lines[0, 1 : length + 1]
            found.append(ValuedLine(tuple(int(self._tables.actions[place]) for place in places), int(value)))
            first = int(places[0])
            asleep[first >> 6] |= ONE << np.uint64(first & 63)
        return sorted(found, key=lambda each: -each.value)
