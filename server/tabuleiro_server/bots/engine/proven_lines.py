"""Shortest forced ends in a tree of positions that were proven: how long a proven win or loss takes.

How the tree is kept, in arrays or objects, is left to the searches.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final, Generic, Protocol, TypeVar

from tabuleiro.ids import Player

Node = TypeVar("Node")

NODE_LIMIT: Final = 50_000
"""Nodes that are looked at; what is longer to find out stays unknown."""

_Length = tuple[int, int]


class ProvenTree(Protocol[Node]):
    """A tree as its search keeps it."""

    def children(self, node: Node) -> Sequence[Node]:
        """The children of ``node``; none at an end."""
        ...

    def winner(self, node: Node) -> Player | None:
        """Who wins from ``node`` on by proof; ``None`` when that is unproven, or nobody does."""
        ...

    def mover(self, node: Node) -> Player:
        """Who moves at ``node``, which has children."""
        ...


class ForcedEnds(Generic[Node]):
    """The shortest win of whoever wins against the longest resistance, by turns and then by actions."""

    def __init__(self, tree: ProvenTree[Node]) -> None:
        self._tree = tree
        self._lines: dict[Node, tuple[_Length, tuple[Node, ...]]] = {}
        self._left_count = NODE_LIMIT

    def line_from(self, node: Node) -> tuple[Node, ...] | None:
        """The nodes from ``node``, which somebody wins, to the end; ``None`` when that takes too long to find."""
        found = self._best_from(node)
        return None if found is None else found[1]

    def _best_from(self, node: Node) -> tuple[_Length, tuple[Node, ...]] | None:
        if node in self._lines:
            return self._lines[node]
        self._left_count -= 1
        if self._left_count < 0:
            return None
        tree = self._tree
        winner = tree.winner(node)
        children = [child for child in tree.children(node) if tree.winner(child) == winner]
        best: tuple[_Length, tuple[Node, ...]] | None = None
        for child in children:
            found = self._best_from(child)
            if found is None:
                return None
            (turns, actions), line = found
            ends_turn = not tree.children(child) or tree.mover(child) != tree.mover(node)
            length = (turns + ends_turn, actions + 1)
            is_better = best is None or (length < best[0] if tree.mover(node) == winner else length > best[0])
            if is_better:
                best = (length, (node, *line))
        self._lines[node] = best if best is not None else ((0, 0), (node,))
        return self._lines[node]
