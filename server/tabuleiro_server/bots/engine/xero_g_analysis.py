"""Candidates of Xero-G: every action from the root, looked at further the better it was in the stage before."""

from __future__ import annotations

from collections.abc import Iterator
from typing import cast

import numpy as np

from tabuleiro_server.bots.engine.alpha_beta import INFINITY, PROVEN, WIN, new_transpositions
from tabuleiro_server.bots.engine.alpha_beta_analysis import TurnSizes, ValuedLine
from tabuleiro_server.bots.engine.effort import IS_OVER, Effort
from tabuleiro_server.bots.engine.xero_g_board import HASH, WINNER, list_moves, play_move
from tabuleiro_server.bots.engine.xero_g_search import ALL_ACTIONS, Memory, search


class XeroGRoot:
    """A :class:`~tabuleiro_server.bots.engine.alpha_beta_analysis.StagedRoot` of Xero-G after the setup.

    ``memory`` holds the position; ``stages`` are depths and widths.
    """

    sizes = TurnSizes(1, 1)

    def __init__(self, memory: Memory, stages: tuple[tuple[int, int], ...]) -> None:
        self._memory = memory
        self._stages = stages
        self._table = new_transpositions()
        self._depth = 0
        self._lines: list[ValuedLine] = []
        """All actions, best first by what is known of them."""

    def depths(self) -> Iterator[int]:
        """How many turns each stage looks ahead."""
        for depth, width in self._stages:
            self._depth = depth
            self._memory.width[0] = width
            yield depth

    def candidates(self, count: int, effort: Effort) -> list[ValuedLine]:
        """The best ``count`` actions with their lines."""
        if not self._lines:
            self._lines = [ValuedLine((move,), 0) for move in self._legal_moves()]
        if self._memory.width[0] == ALL_ACTIONS:
            self._look_for_win(effort)
        else:
            self._look_at_all(count, effort)
        return self._lines[:count]

    def _legal_moves(self) -> list[int]:
        """The legal moves; of those that lead to the same position, only one."""
        memory = self._memory
        found = list_moves(memory.positions[0], memory.room, memory.moves[0])
        by_position: dict[int, int] = {}
        for move in map(int, memory.moves[0, :found]):
            self._play(move)
            by_position.setdefault(int(memory.positions[1, HASH]), move)
        return list(by_position.values())

    def _play(self, move: int) -> None:
        """Make the position after ``move`` that of ply 1."""
        self._memory.positions[1, :] = self._memory.positions[0]
        # Of the width that the kernels hand on to each other, or another version of this one would be compiled.
        play_move(self._memory.positions[1], cast(int, np.int32(move)))

    def _look_for_win(self, effort: Effort) -> None:
        value = search(self._memory, self._table, effort, 0, self._depth, PROVEN - 1, PROVEN)
        if value >= PROVEN and not effort[IS_OVER]:
            lines = self._memory.lines
            line = tuple(int(move) for move in lines[0, 1 : lines[0, 0] + 1])
            others = [each for each in self._lines if each.line[0] != line[0]]
            self._lines = [ValuedLine(line, int(value)), *others]

    def _look_at_all(self, count: int, effort: Effort) -> None:
        """Look at the most promising actions, and at all of them while those lose; only the best need be exact."""
        memory, looked = self._memory, list[ValuedLine]()
        memory.path[memory.played_count[0]] = memory.positions[0, HASH]
        width = 2 * int(memory.width[0]) if self._depth > 1 else len(self._lines)
        for place, known in enumerate(self._lines):
            best = sorted((each.value for each in looked), reverse=True)[:count]
            if place >= width and best[0] > -PROVEN:
                break
            alpha = best[-1] if len(best) == count else -INFINITY
            looked.append(self._value_of(known.line[0], alpha, effort))
            if effort[IS_OVER]:
                return
        looked.sort(key=lambda each: -each.value)
        self._lines = looked + self._lines[len(looked) :]

    def _value_of(self, move: int, alpha: int, effort: Effort) -> ValuedLine:
        memory = self._memory
        self._play(move)
        if memory.positions[1, WINNER] >= 0:
            return ValuedLine((move,), WIN - 1)
        value = -search(memory, self._table, effort, 1, self._depth - 1, -INFINITY, -alpha)
        line = memory.lines[1, 1 : memory.lines[1, 0] + 1]
        return ValuedLine((move, *map(int, line)), int(value))
