"""What speaks for a turn, seen from the position before it and the one after it: threats, and reach won and taken.

These are facts of the rules, one turn ahead. Whether the turn is good is left to a search.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from enum import StrEnum

from tabuleiro.ids import Player, opponent
from tabuleiro.rules.base import State
from tabuleiro.rules.games.iris import IrisState
from tabuleiro.rules.games.minefield import MinefieldState
from tabuleiro.rules.games.minefield.connection import connection_distance
from tabuleiro.rules.games.virus_wars import VirusWarsState
from tabuleiro.rules.games.xero_g import XeroGState
from tabuleiro.rules.games.xero_g.moves import BASE_BIT


class ReasonKind(StrEnum):
    """The kinds of reasons, most important first."""

    SAVES = "saves"
    """The opponent could have won with their next action, and no longer can."""
    THREATENS = "threatens"
    """With one more action the player would win."""
    TAKES = "takes"
    """Viruses of the opponent are turned into zombies."""
    JOINS = "joins"
    """Own groups become one."""
    HINDERS = "hinders"
    """The opponent can reach so many cells less, in Minefield they need so many stones more to connect."""
    GAINS = "gains"
    """The player can reach so many cells more."""


@dataclass(frozen=True, slots=True)
class Reason:
    """Something that speaks for a turn; ``count`` is 0 where there is nothing to count."""

    kind: ReasonKind
    count: int = 0


def reasons_for(state: State, actions: Sequence[int]) -> tuple[Reason, ...]:
    """Return what speaks for the turn ``actions``, which are legal; nothing if it ends the game."""
    player, later = state.to_move, state
    for action in actions:
        later = later.child(action)
    if player is None or later.is_terminal:
        return ()
    if isinstance(state, VirusWarsState) and isinstance(later, VirusWarsState):
        return tuple(_in_virus_wars(state, later, player))
    if isinstance(state, XeroGState) and isinstance(later, XeroGState):
        return () if later.is_setup else tuple(_in_xero_g(state, later, player))
    if isinstance(state, IrisState) and isinstance(later, IrisState):
        return tuple(_joins(state, later, player))
    if isinstance(state, MinefieldState) and isinstance(later, MinefieldState):
        return tuple(_in_minefield(state, later, player))
    return ()


def _in_virus_wars(state: VirusWarsState, later: VirusWarsState, player: Player) -> Iterator[Reason]:
    other = opponent(player)
    yield from _counted(
        (ReasonKind.TAKES, state.viruses[other].bit_count() - later.viruses[other].bit_count()),
        (ReasonKind.HINDERS, state.accessible_to(other).bit_count() - later.accessible_to(other).bit_count()),
        (ReasonKind.GAINS, later.accessible_to(player).bit_count() - state.accessible_to(player).bit_count()),
    )


def _in_xero_g(state: XeroGState, later: XeroGState, player: Player) -> Iterator[Reason]:
    other = opponent(player)
    before, after = _targets(state, other), _targets(later, other)
    own_before, own_after = _targets(state, player), _targets(later, player)
    if before & BASE_BIT and not after & BASE_BIT:
        yield Reason(ReasonKind.SAVES)
    if own_after & BASE_BIT:
        yield Reason(ReasonKind.THREATENS)
    yield from _counted(
        (ReasonKind.HINDERS, (before & ~BASE_BIT).bit_count() - (after & ~BASE_BIT).bit_count()),
        (ReasonKind.GAINS, (own_after & ~BASE_BIT).bit_count() - (own_before & ~BASE_BIT).bit_count()),
    )


def _targets(state: XeroGState, player: Player) -> int:
    """Return the targets of all ships that ``player`` could move if it were their turn."""
    turned = XeroGState(
        state.game, player, state.ships, state.occupied, 0, state.turn_number, ((), None), state.last_action
    )
    found = 0
    for ship in turned.ship_moves():
        found |= ship.targets
    return found


def _in_minefield(state: MinefieldState, later: MinefieldState, player: Player) -> Iterator[Reason]:
    other, board = opponent(player), state.game.board
    if _could_connect(state, other) and not _could_connect(later, other):
        yield Reason(ReasonKind.SAVES)
    if _could_connect(later, player):
        yield Reason(ReasonKind.THREATENS)
    yield from _joins(state, later, player)
    before, after = (connection_distance(board, each.stones, other) for each in (state, later))
    if before is not None and after is not None:
        yield from _counted((ReasonKind.HINDERS, after - before))


def _could_connect(state: MinefieldState, player: Player) -> bool:
    """Return True if ``player`` would win by one stone if it were their turn."""
    if connection_distance(state.game.board, state.stones, player) != 1:
        return False
    turned = MinefieldState(state.game, state.stones, state.banned, player, None)
    if turned.to_move != player:
        return False
    ends = (turned.child(action).outcome for action in turned.legal_actions())
    return any(end is not None and end.winner == player for end in ends)


def _joins(
    state: IrisState | MinefieldState, later: IrisState | MinefieldState, player: Player
) -> Iterator[Reason]:
    before = _groups(state, player)
    joined = [sum(bool(part & group) for part in before) for group in _groups(later, player)]
    most = max(joined, default=0)
    if most > 1:
        yield Reason(ReasonKind.JOINS, most)


def _groups(state: IrisState | MinefieldState, player: Player) -> list[int]:
    """Return the groups of a player's stones, as bit sets."""
    stones = state.stones[player]
    if isinstance(state, IrisState):
        return state.game.board.components(stones)
    groups, spread = list[int](), state.game.board.spread4
    while stones:
        group, wider = 0, stones & -stones
        while group != wider:
            group = wider
            wider = (spread(group) | group) & stones
        groups.append(group)
        stones ^= group
    return groups


def _counted(*found: tuple[ReasonKind, int]) -> Iterator[Reason]:
    for kind, count in found:
        if count > 0:
            yield Reason(kind, count)
