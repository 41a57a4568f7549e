"""Reading candidates out of a tree that was searched: lines, values, and how long proven ends take.

How the tree is grown is left to the searcher.
"""

from __future__ import annotations

from collections.abc import Sequence

from tabuleiro.ids import Player
from tabuleiro_server.bots.engine.mcts import DRAWN, UNPROVEN, Tree


class ProvenNodes:
    """The tree of a search as a :class:`~tabuleiro_server.bots.engine.proven_lines.ProvenTree`."""

    def __init__(self, tree: Tree) -> None:
        self._tree = tree

    def children(self, node: int) -> Sequence[int]:
        """The children of ``node``."""
        first = int(self._tree.first_child[node])
        return range(first, first + int(self._tree.child_count[node]))

    def winner(self, node: int) -> Player | None:
        """Who wins by proof."""
        proof = int(self._tree.proof[node])
        return None if proof in (UNPROVEN, DRAWN) else 0 if proof == 1 else 1

    def mover(self, node: int) -> Player:
        """Who moves."""
        return 0 if self._tree.mover[node] == 0 else 1
