"""Analysis by the alpha-beta searches: their stages again, for the best few candidates instead of the best one.

How a game finds its candidates with its kernel is left to the module of its searcher.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from typing import Protocol

from tabuleiro.rules.analysis import Analysis, Candidate
from tabuleiro_server.bots.engine.alpha_beta import PROVEN, WIN, unit_value
from tabuleiro_server.bots.engine.effort import IS_OVER, NODES, Effort, limited_effort, unlimited_effort


@dataclass(frozen=True, slots=True)
class ValuedLine:
    """A line from the root on, one action at least, and its value there."""

    line: tuple[int, ...]
    value: int

    @property
    def is_proven(self) -> bool:
        """Whether the value is a forced result."""
        return abs(self.value) >= PROVEN


@dataclass(frozen=True, slots=True)
class TurnSizes:
    """How many actions the turn of the root still has, and how many every later one."""

    first: int
    later: int

    def winner_turns(self, value: int) -> int:
        """The turns that the winner of a proven ``value`` has until the end."""
        left, turns = WIN - abs(value) - self.first, 1
        while left > 0:
            left -= self.later
            turns += 1
        return (turns + 1) // 2 if value > 0 else turns // 2


class StagedRoot(Protocol):
    """A position to be analysed, with the memory of its search."""

    sizes: TurnSizes

    def depths(self) -> Iterable[int]:
        """How many turns each stage looks ahead; asking for the next one makes it the current stage."""
        ...

    def candidates(self, count: int, effort: Effort) -> list[ValuedLine]:
        """The best ``count`` lines of the current stage, best first; of no use once the effort is over."""
        ...


def iter_analyses(
    root: StagedRoot, count: int, max_nodes: int | None, deadline_s: float | None
) -> Iterator[Analysis]:
    """Yield the candidates of each stage that was finished within the limits; the first always is."""
    effort = unlimited_effort()
    with limited_effort(max_nodes, deadline_s) as limits:
        for depth in root.depths():
            found = root.candidates(count, effort)
            if effort[IS_OVER]:
                return
            candidates = tuple(_candidate(root.sizes, each) for each in found)
            yield Analysis(candidates, int(effort[NODES]), depth)
            # A win is as good as it gets, and if the best of the actions loses, all do.
            if found[0].is_proven:
                return
            limits[NODES], effort = effort[NODES], limits


def _candidate(sizes: TurnSizes, found: ValuedLine) -> Candidate:
    is_decided = found.is_proven
    return Candidate(
        actions=found.line[: sizes.first],
        line=found.line,
        value=unit_value(found.value),
        is_proven=is_decided,
        turns_to_end=sizes.winner_turns(found.value) if is_decided else None,
    )
