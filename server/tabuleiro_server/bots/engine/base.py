"""The common ground of all searches: their interface, limits of time, whole turns, and forced ends."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import Final, Generic, Protocol, Self, TypeVar

from tabuleiro.errors import BotError
from tabuleiro.ids import Player
from tabuleiro.rules import State
from tabuleiro.rules.analysis import Analysis


@dataclass(frozen=True, slots=True)
class SearchResult:
    """A chosen turn and its reasons.

    ``actions`` are the actions of the turn, one at least. ``value`` is the expectation of the player to move, from
    -1 (lost) to 1 (won); it is exactly -1, 0 or 1 when ``is_proven``. ``nodes`` counts the positions or playouts
    searched, in the unit of ``max_nodes``. ``lines`` are the best continuations as actions from
    the searched position on, best first; the first of them begins with ``actions``.
    """

    actions: tuple[int, ...]
    value: float
    is_proven: bool
    nodes: int
    lines: tuple[tuple[int, ...], ...]


class Searcher(Protocol):
    """A search for one game with its options.

    ``cores`` is the most cores to think on while only a clock ends the search; most searches know one alone.
    """

    cores: int

    def choose_turn(
        self, state: State, *, max_nodes: int | None, deadline_s: float | None, seed: int
    ) -> SearchResult:
        """Choose the actions that complete the turn of the player to move in ``state``, which is not over.

        The search ends after ``max_nodes`` nodes, or at ``deadline_s`` on the clock of ``time.monotonic``, or when
        the result is proven; ``None`` means no such limit, and one of the two must be given. Without a deadline
        the same state, node limit and seed give the same result.

        Raises: BotError when the game is over or both limits are ``None``.
        """
        ...

    def analyse(
        self, state: State, *, candidate_count: int, max_nodes: int | None, deadline_s: float | None, seed: int
    ) -> Iterator[Analysis]:
        """Yield better and better analyses of ``state``, which is not over; the last is the result.

        Each has up to ``candidate_count`` candidates. The limits are those of :meth:`choose_turn`; one analysis is
        yielded in any case.

        Raises: BotError when the game is over or both limits are ``None``.
        """
        ...


def check_task(state: State, max_nodes: int | None, deadline_s: float | None) -> Player:
    """Check that there is a turn to choose and a limit to the search; return the player to move.

    Raises: BotError when the game is over or both limits are ``None``.
    """
    if state.to_move is None:
        raise BotError(f"nothing to think about, the game is over (position {state.to_position()})")
    if max_nodes is None and deadline_s is None:
        raise BotError("a search needs a limit: a number of nodes or a deadline")
    return state.to_move


class ThinkingTime:
    """A deadline for a turn on the monotonic clock; an infinite limit never ends."""

    def __init__(self, limit_ms: float) -> None:
        self._end_s = time.monotonic() + limit_ms / 1000

    @property
    def left_ms(self) -> float:
        """The milliseconds left; 0 when time is over."""
        return max(0.0, (self._end_s - time.monotonic()) * 1000)

    def is_over(self) -> bool:
        """Return True if the deadline has passed."""
        return time.monotonic() >= self._end_s

    def share(self, part_count: int) -> Self:
        """Return the time for the next of ``part_count`` (1 or more) equal parts of the time left."""
        return type(self)(self.left_ms / part_count)


END_LIMIT_S: Final = 0.01
"""The longest wait for the searches on other cores once the time is over."""

S = TypeVar("S", bound=State)


def is_same_turn(start: State, later: State) -> bool:
    """Return True if the turn of ``start`` is still being played in ``later``."""
    return not later.is_terminal and (start.to_move, start.turn_number) == (later.to_move, later.turn_number)


def complete_turn(state: S, choose_action: Callable[[S], int]) -> tuple[int, ...]:
    """Choose one action after the other until the turn of the player to move is over."""
    actions: list[int] = []
    later = state
    while is_same_turn(state, later):
        action = choose_action(later)
        actions.append(action)
        later = later.child(action)
    return tuple(actions)


def after(state: S, actions: Iterable[int]) -> S:
    """Return the state after legal ``actions``, played one after the other."""
    for action in actions:
        state = state.child(action)
    return state


def first_turn(state: State, line: Sequence[int]) -> tuple[int, ...]:
    """Return the actions of ``line``, legal from ``state`` on, that belong to the turn of the player to move."""
    later = state
    for count, action in enumerate(line, start=1):
        later = later.child(action)
        if not is_same_turn(state, later):
            return tuple(line[:count])
    return tuple(line)


def turns_of_player(state: State, line: Sequence[int], player: Player) -> int:
    """Return the number of turns of ``player`` in ``line``, legal from ``state`` on; the rest of a turn counts."""
    count = 0
    while line:
        turn = first_turn(state, line)
        count += state.to_move == player
        state, line = after(state, turn), line[len(turn) :]
    return count


Node = TypeVar("Node")

NODE_LIMIT: Final = 50_000
"""Nodes visited in the search for a forced end; a longer search is given up."""

_Length = tuple[int, int]


class ProvenTree(Protocol[Node]):
    """A search tree with proofs."""

    def children(self, node: Node) -> Sequence[Node]:
        """Return the children of ``node``; none at an end."""
        ...

    def winner(self, node: Node) -> Player | None:
        """Return the proven winner from ``node`` on; ``None`` if nothing is proven, or a draw."""
        ...

    def mover(self, node: Node) -> Player:
        """Return the player to move at ``node``, which has children."""
        ...


class ForcedEnds(Generic[Node]):
    """The shortest wins against the longest resistance, by turns and then by actions."""

    def __init__(self, tree: ProvenTree[Node]) -> None:
        self._tree = tree
        self._lines: dict[Node, tuple[_Length, tuple[Node, ...]]] = {}
        self._left_count = NODE_LIMIT

    def line_from(self, node: Node) -> tuple[Node, ...] | None:
        """Return the nodes from ``node``, a proven win, to the end; ``None`` if that takes too long to find."""
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
