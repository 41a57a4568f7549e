"""The greedy players of the reports: the action or turn with the highest value at once.

Ends are worth no more than their boards; by the reports' rule a greedy player may miss a win.
Source: RULES.md, "Computer players of the reports".
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from itertools import zip_longest
from typing import Final, TypeVar

from tabuleiro.ids import Player, opponent
from tabuleiro.rules import State
from tabuleiro.rules.games.iris import IrisState
from tabuleiro.rules.games.minefield import MinefieldState
from tabuleiro.rules.games.minefield.connection import connection_distance
from tabuleiro.rules.games.xero_g import XeroGState
from tabuleiro.rules.games.xero_g.moves import SIDE
from tabuleiro_server.bots.engine.base import is_same_turn

S = TypeVar("S", bound=State)

Lead = tuple[int, ...]
"""The scores of one player less those of the other, group by group, best groups first, one for each rim cell.

The first difference decides, so leads compare as tuples do.
"""

ROW_WEIGHTS: Final = (1, 5, 6, 8, 10, 12)
"""The worth of a ship of value 1 on each row, from the nearest to the farthest."""

BASE_WEIGHT: Final = 20
"""Its worth in the far base."""


def best_actions(state: S, value: Callable[[S, Player], int]) -> tuple[int, ...]:
    """Return all actions that lead to a state of the highest ``value`` for the mover, ascending."""
    mover = state.to_move
    if mover is None:
        return ()
    values = {action: value(state.child(action), mover) for action in state.legal_actions()}
    highest = max(values.values())
    return tuple(action for action, value_of_action in values.items() if value_of_action == highest)


def ship_progress(state: XeroGState, player: Player) -> int:
    """Return the value of a Xero-G state to ``player``, who has just moved: ships weighted by their rows."""
    near_to_far = ROW_WEIGHTS if player == 0 else ROW_WEIGHTS[::-1]
    rows = (state.ships[start : start + SIDE] for start in range(0, len(state.ships), SIDE))
    return sum(weight * sum(row) for weight, row in zip(near_to_far, rows, strict=True)) + (
        BASE_WEIGHT * state.base_ship
    )


def connection_lead(state: MinefieldState, player: Player) -> int:
    """Return the value of a Minefield state to ``player``: their lead in stones needed to connect.

    A player who is cut off counts as needing more stones than there are cells.
    """
    cut_off = state.game.board.cell_count + 1
    own, other = (connection_distance(state.game.board, state.stones, who) for who in (player, opponent(player)))
    return (cut_off if other is None else other) - (cut_off if own is None else own)


def best_iris_turns(state: IrisState) -> tuple[tuple[int, ...], ...]:
    """Return all ways to complete the turn that give the mover the highest lead, ascending.

    A pass gains nothing, so it is only chosen where it ends the game with a lead, which wins.
    """
    mover, pass_action = state.mover, state.game.pass_action
    leads = _Leads(state, mover)
    if state.passes and leads.after(()) > leads.even:
        return ((pass_action,),)
    best: list[tuple[int, ...]] = []
    highest: Lead = ()
    for turn in _stone_turns(state):
        lead = leads.after(turn)
        if lead > highest:
            best, highest = [turn], lead
        elif lead == highest:
            best.append(turn)
    return tuple(best)


def ranked_iris_turns(state: IrisState) -> list[tuple[int, ...]]:
    """Return all ways to complete the turn with stones, those of the highest lead first, equal ones ascending."""
    leads = _Leads(state, state.mover)
    return sorted(_stone_turns(state), key=leads.after, reverse=True)


def _stone_turns(state: IrisState) -> Iterator[tuple[int, ...]]:
    """Yield all ways to complete the turn with stones."""
    for first in state.legal_actions():
        if first == state.game.pass_action:
            continue
        later = state.child(first)
        if is_same_turn(state, later):
            for second in later.legal_actions():
                yield first, second
        else:
            yield (first,)


class _Leads:
    """The leads of ``player`` after more own stones, none of which touch each other.

    A stone joins the own groups around it; nothing else on the board matters, so stones beside the same groups are
    worth the same and are counted once.
    """

    def __init__(self, state: IrisState, player: Player) -> None:
        board = state.game.board
        self._board = board
        self._groups = board.components(state.stones[player])
        self._group_scores = [(group & board.rim).bit_count() for group in self._groups]
        self._other_scores = state.scores()[opponent(player)]
        self._effects: dict[int, tuple[int, int]] = {}
        self._leads: dict[tuple[tuple[int, int], ...], Lead] = {}

    @property
    def even(self) -> Lead:
        """The lead when no score differs."""
        return (0,) * self._board.rim.bit_count()

    def after(self, stones: tuple[int, ...]) -> Lead:
        """Return the lead after one own stone on each of the cells ``stones``."""
        effects = tuple(sorted(self._effect(cell) for cell in stones))
        lead = self._leads.get(effects)
        if lead is None:
            lead = self._leads[effects] = self._lead_after(effects)
        return lead

    def _effect(self, cell: int) -> tuple[int, int]:
        """Return the own groups beside ``cell`` as a bit set of their numbers, and the score of the cell."""
        effect = self._effects.get(cell)
        if effect is None:
            around = self._board.neighbours[cell]
            beside = sum(1 << number for number, group in enumerate(self._groups) if group & around)
            effect = self._effects[cell] = (beside, self._board.rim >> cell & 1)
        return effect

    def _lead_after(self, effects: tuple[tuple[int, int], ...]) -> Lead:
        clusters = [(1 << number, score) for number, score in enumerate(self._group_scores)]
        for beside, score in effects:
            joined = [cluster for cluster in clusters if cluster[0] & beside]
            clusters = [cluster for cluster in clusters if not cluster[0] & beside]
            numbers = sum(cluster[0] for cluster in joined)
            clusters.append((numbers, score + sum(cluster[1] for cluster in joined)))
        own_scores = sorted((score for _, score in clusters if score), reverse=True)
        lead = tuple(own - other for own, other in zip_longest(own_scores, self._other_scores, fillvalue=0))
        return lead + self.even[len(lead) :]
