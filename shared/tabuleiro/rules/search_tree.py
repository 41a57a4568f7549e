"""The tree of a search as values: positions with what they are worth, passed up from the leaves, and what was cut.

The server's bots grow it; the client puts it into words and pictures.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Literal

from tabuleiro.ids import Player
from tabuleiro.rules.base import State


@dataclass(frozen=True, slots=True)
class TreeNode:
    """A position in the tree, reached by the action ``text``, which is empty at the root.

    ``value`` is that for the player to move at the root; ``None`` if the search did not look at it. It is a
    ``bound`` where branches were cut. ``is_cut`` tells what alpha-beta leaves out, ``is_best`` that the value of
    the position before comes from here.
    ``children`` are those to be shown, in the order of the search; ``hidden_count`` counts the others, and
    ``hidden_positions_count`` all positions behind these that were looked at.
    """

    text: str
    to_move: Player | None
    value: float | None
    bound: Literal["", "at least", "at most"] = ""
    is_cut: bool = False
    is_best: bool = False
    children: tuple[TreeNode, ...] = ()
    hidden_count: int = 0
    hidden_positions_count: int = 0


@dataclass(frozen=True, slots=True)
class SearchTree:
    """A tree of ``depth`` actions by the engine called ``engine``, for ``player``, who is to move at the root.

    ``looked_at_count`` counts the positions that were looked at, ``pruned_count`` those that alpha-beta looks at,
    ``all_count`` all of them, each without the root; there are more unless ``is_all_counted``.
    """

    root: TreeNode
    engine: str
    player: Player
    depth: int
    looked_at_count: int
    pruned_count: int
    all_count: int
    is_all_counted: bool = True


TreeGrower = Callable[[State, str, int | None, int], SearchTree]
"""Grow the tree of a state that is not over, by an engine, a depth (``None``: the engine's) and a width to show.

Raises: BotError for an engine without such a tree, for too many positions, and when the game is over.
"""
