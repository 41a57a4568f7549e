"""The tree that minimax or alpha-beta searches, with values, cuts and counts: a TreeGrower of the client.

Minimax looks at every position here, and notes those that alpha-beta would leave out.
"""

from __future__ import annotations

import math
import re
from dataclasses import dataclass, replace
from typing import Final

from tabuleiro.errors import BotError, shown
from tabuleiro.rules import State
from tabuleiro.rules.search_tree import SearchTree, TreeNode
from tabuleiro_server.bots.algorithms import LookAheadLevel
from tabuleiro_server.bots.evaluation import Number
from tabuleiro_server.bots.levels import find_level
from tabuleiro_server.bots.look_ahead import UNLIMITED, LookAhead

DEPTH_DEFAULT: Final = 2

LOOKED_AT_MAX_COUNT: Final = 200_000
"""The most positions that are valued for a tree."""

MADE_MAX_COUNT: Final = 100_000
"""The most positions that are made to count all."""


def grow_tree(state: State, engine: str, depth: int | None, width: int) -> SearchTree:
    """Grow the tree of ``state``; see :data:`~tabuleiro.rules.search_tree.TreeGrower`."""
    if state.to_move is None:
        raise BotError(f"nothing to think about, the game is over (position {state.to_position()})")
    level = _level(state.game.name, engine, depth)
    counter = _Counter()
    all_count = counter.count(state, level.depth)
    prunes = level.name.startswith("alpha-beta")
    if not prunes and all_count > LOOKED_AT_MAX_COUNT:
        raise BotError(
            f"more than {LOOKED_AT_MAX_COUNT:,} positions for minimax: choose a smaller depth, or alpha-beta"
        )
    growing = _Growing(level.look_ahead(state, UNLIMITED), prunes, width)
    grown = growing.grow(state, "", level.depth, -math.inf, math.inf, is_cut=False)
    return SearchTree(
        root=grown.node,
        engine=level.name,
        player=state.to_move,
        depth=level.depth,
        looked_at_count=growing.looked_at_count - 1,
        pruned_count=growing.pruned_count - 1,
        all_count=all_count,
        is_all_counted=not counter.is_over,
    )


def _level(game: str, engine: str, depth: int | None) -> LookAheadLevel:
    """Return the level that ``engine`` and ``depth`` name together. Raises: BotError."""
    text = engine.strip()
    if re.fullmatch(r"minimax|alpha-beta|(minimax|alpha-beta) (?!.*\bdepth=).*", text, re.IGNORECASE):
        text = f"{text} depth={DEPTH_DEFAULT if depth is None else depth}"
    level = find_level(game, text)
    if not isinstance(level, LookAheadLevel):
        raise BotError(f"{shown(engine)} has no such tree, expected minimax, alpha-beta or a level that uses them")
    if depth not in (None, level.depth):
        raise BotError(f"{shown(engine)} looks {level.depth} actions ahead by itself: leave out the other depth")
    return level


class _Counter:
    """Counts positions, all of them or as many as can be made soon."""

    def __init__(self) -> None:
        self._left_count = MADE_MAX_COUNT
        self.is_over = False

    def count(self, state: State, depth: int) -> int:
        """Return the number of positions up to ``depth`` actions after ``state``."""
        found = state.legal_count()
        if depth > 1:
            for action in state.legal_actions():
                if self._left_count == 0:
                    self.is_over = True
                    break
                self._left_count -= 1
                found += self.count(state.child(action), depth - 1)
        return found


@dataclass(frozen=True, slots=True)
class _Grown:
    """A node with its value, and the number of positions in it that were looked at."""

    node: TreeNode
    value: Number
    positions_count: int


class _Growing:
    def __init__(self, search: LookAhead, prunes: bool, width: int) -> None:
        self._search = search
        self._prunes = prunes
        self._width = width
        self.looked_at_count = 0
        self.pruned_count = 0

    def grow(self, state: State, text: str, depth: int, alpha: Number, beta: Number, *, is_cut: bool) -> _Grown:
        """Grow the tree from ``state`` on; ``is_cut`` tells that alpha-beta does not come here."""
        self.looked_at_count += 1
        self.pruned_count += not is_cut
        if self.looked_at_count > LOOKED_AT_MAX_COUNT:
            raise BotError(f"more than {LOOKED_AT_MAX_COUNT:,} positions: choose a smaller depth")
        if depth == 0 or state.is_terminal:
            value = self._search.leaf_value(state)
            return _Grown(TreeNode(text, state.to_move, value, is_cut=is_cut), value, 1)
        is_own = state.to_move == self._search.player
        best: Number = -math.inf if is_own else math.inf
        best_place, positions_count, is_cut_now = 0, 1, is_cut
        grown: list[tuple[TreeNode, int]] = []
        for place, action in enumerate(state.legal_actions()):
            child, child_text = state.child(action), state.action_to_string(action)
            if is_cut_now and self._prunes:
                grown.append((TreeNode(child_text, child.to_move, None, is_cut=True), 0))
                continue
            # Behind a cut nothing is known of what alpha-beta would do: it does not come here.
            window = (-math.inf, math.inf) if is_cut_now else (alpha, beta)
            found = self.grow(child, child_text, depth - 1, *window, is_cut=is_cut_now)
            grown.append((found.node, found.positions_count))
            positions_count += found.positions_count
            if found.value > best if is_own else found.value < best:
                best, best_place = found.value, place
                if is_own:
                    alpha = max(alpha, best)
                else:
                    beta = min(beta, best)
                is_cut_now = is_cut_now or alpha >= beta
        node = TreeNode(text, state.to_move, best, is_cut=is_cut)
        if self._prunes and alpha >= beta:
            node = replace(node, bound="at least" if is_own else "at most")
        elif grown[best_place][0].bound:
            node = replace(node, bound=grown[best_place][0].bound)
        return _Grown(self._shown(node, grown, best_place), best, positions_count)

    def _shown(self, node: TreeNode, grown: list[tuple[TreeNode, int]], best: int) -> TreeNode:
        """Return ``node`` with as many children as are shown: the first ones and the best."""
        places = list(range(min(self._width, len(grown))))
        if best not in places:
            places[-1] = best
        hidden = [grown[place] for place in range(len(grown)) if place not in places]
        return replace(
            node,
            children=tuple(replace(grown[place][0], is_best=place == best) for place in places),
            hidden_count=len(hidden),
            hidden_positions_count=sum(count for _, count in hidden),
        )
