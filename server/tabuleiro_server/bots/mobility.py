"""The value of Virus Wars positions to the minimax players: how many actions a player has.

:func:`mobility` says what is meant. :func:`highest_after` and :func:`lowest_after` give the extreme of it over all
next actions without making the states: they rest on what a single action can change, and leave every case
in which more could change to :func:`mobility`.
"""

from __future__ import annotations

from functools import cache
from typing import Final

from tabuleiro.ids import Player, opponent
from tabuleiro.rules.board import SquareBoard, iter_bits
from tabuleiro.rules.games.virus_wars import VirusWarsState

END_VALUE: Final = 100
"""What a won end counts; a lost one counts its negative. Source: RULES.md, "Computer players of the reports"."""


def mobility(state: VirusWarsState, player: Player) -> int:
    """The value of a state to ``player``: the number of cells they could choose; an end counts -100 or +100.

    Source: RULES.md, "Computer players of the reports".
    """
    if not state.accessible():
        return -END_VALUE if state.mover == player else END_VALUE
    return state.accessible_to(player).bit_count()


def highest_after(state: VirusWarsState) -> int:
    """The highest :func:`mobility` for the mover after one more action; ``state`` must not be terminal."""
    player = state.mover
    if _has_player_to_enter(state):
        return max(mobility(state.child(action), player) for action in state.legal_actions())
    board, open_cells = state.game.board, state.accessible()
    # Only the neighbours of the chosen cell can become accessible, unless sleeping zombies wake there. The
    # opponent's cells stay as they are (a new virus can be absorbed) unless one of their viruses is absorbed.
    asleep = state.zombies[player] ^ state.awake_zombies(player)
    unclear = open_cells & board.spread8(asleep)
    ends_turn = state.actions_left == 1
    if ends_turn:
        unclear |= open_cells & state.viruses[1 - player]
    values = [mobility(state.child(action), player) for action in iter_bits(unclear)]
    if clear := open_cells ^ unclear:
        new_cells = _choosable(state, player) & ~open_cells
        neighbours = _neighbours(board)
        gain = max((neighbours[action] & new_cells).bit_count() for action in iter_bits(clear))
        values.append(open_cells.bit_count() - 1 + gain)
        if ends_turn:
            if not state.accessible_to(opponent(player)):
                values[-1] = END_VALUE
        elif values[-1] == 0:
            values[-1] = -END_VALUE
    return max(values)


def lowest_after(state: VirusWarsState) -> int:
    """The lowest :func:`mobility` for the player not on move after one more action of the mover.

    ``state`` must not be terminal.
    """
    player, open_cells = opponent(state.mover), state.accessible()
    if _has_player_to_enter(state) or open_cells.bit_count() == 1:
        return min(mobility(state.child(action), player) for action in state.legal_actions())
    # A virus put on an empty cell takes nothing from the other side, who may absorb it; only an absorption does.
    absorbable = open_cells & state.viruses[player]
    values = [mobility(state.child(action), player) for action in iter_bits(absorbable)]
    if open_cells ^ absorbable:
        count = state.accessible_to(player).bit_count()
        values.append(-END_VALUE if count == 0 and state.actions_left == 1 else count)
    return min(values)


def _has_player_to_enter(state: VirusWarsState) -> bool:
    """Whether a player owns no piece yet, so that other cells than the neighbours of pieces are accessible."""
    return state.game.has_edge_opening and not all(
        viruses | zombies for viruses, zombies in zip(state.viruses, state.zombies, strict=True)
    )


def _choosable(state: VirusWarsState, player: Player) -> int:
    """The cells that hold nothing or a virus of the opponent of ``player``, as a bit set."""
    return state.game.board.full ^ (state.viruses[player] | state.zombies[0] | state.zombies[1])


@cache
def _neighbours(board: SquareBoard) -> tuple[int, ...]:
    """For each cell the set of its neighbours and itself."""
    return tuple(board.spread8(1 << index) for index in range(board.cell_count))
