"""What a search is to everybody else: :class:`Searcher` chooses a whole turn, or tells the best few of them.

How a game is searched, compiled or in plain Python, is left to the module of that search.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Protocol

from tabuleiro.errors import BotError
from tabuleiro.ids import Player
from tabuleiro.rules import State
from tabuleiro.rules.analysis import Analysis


@dataclass(frozen=True, slots=True)
class SearchResult:
    """A chosen turn and its reasons.

    ``actions`` are the actions of the turn, one at least. ``value`` is what the player to move may expect, from
    -1 (lost) to 1 (won); it is exactly -1, 0 or 1 when ``is_proven``. ``nodes`` counts the positions or playouts
    looked at, in the unit of the search's ``max_nodes``. ``lines`` are the best continuations as actions from
    the searched position on, best first; the first of them begins with ``actions``.
    """

    actions: tuple[int, ...]
    value: float
    is_proven: bool
    nodes: int
    lines: tuple[tuple[int, ...], ...]


class Searcher(Protocol):
    """A search for one game with its options."""

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
        """Yield what is known of ``state``, which is not over, ever better; the last is the result.

        Up to ``candidate_count`` candidates are looked for. The limits are those of :meth:`choose_turn`; one
        analysis is yielded whatever they are.

        Raises: BotError when the game is over or both limits are ``None``.
        """
        ...


def check_task(state: State, max_nodes: int | None, deadline_s: float | None) -> Player:
    """Check that there is something to think about, and an end to it; return who is to move.

    Raises: BotError when the game is over or both limits are ``None``.
    """
    if state.to_move is None:
        raise BotError(f"nothing to think about, the game is over (position {state.to_position()})")
    if max_nodes is None and deadline_s is None:
        raise BotError("a search needs a limit: a number of nodes or a deadline")
    return state.to_move
