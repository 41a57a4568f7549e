"""Earlier positions of a match, without playing all of it again.

A match keeps a position every few actions, close together near its end and further apart before, so that going
back a turn costs a handful of actions however long the match is, and what is kept stays small.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final

from tabuleiro.ids import Player
from tabuleiro.rules.base import State
from tabuleiro_server.room.state import Checkpoint, Match, RoomState

CHECKPOINT_EVERY_COUNT: Final = 16
"""Actions from one checkpoint to the next: to play them again takes half a millisecond at most."""

CHECKPOINTS_COUNT: Final = 32
"""Checkpoints of a match: when there would be more, every other one is dropped."""


def with_checkpoint(checkpoints: tuple[Checkpoint, ...], ply: int, state: State) -> tuple[Checkpoint, ...]:
    """The checkpoints of a match that has come to ``state`` with its action number ``ply``."""
    last_ply = checkpoints[-1].ply if checkpoints else 0
    if ply - last_ply < CHECKPOINT_EVERY_COUNT:
        return checkpoints
    kept = checkpoints[1::2] if len(checkpoints) == CHECKPOINTS_COUNT else checkpoints
    return (*kept, Checkpoint(ply, state))


def cut_checkpoints(checkpoints: tuple[Checkpoint, ...], ply: int) -> tuple[Checkpoint, ...]:
    """The checkpoints of a match of which only the first ``ply`` actions are left."""
    return tuple(checkpoint for checkpoint in checkpoints if checkpoint.ply <= ply)


def state_after(match: Match, room: RoomState, ply: int) -> State:
    """The position of the match after its first ``ply`` actions."""
    start = next((known for known in reversed(match.checkpoints) if known.ply <= ply), None)
    start = start or Checkpoint(0, room.game.initial_state())
    state = start.state
    for text in match.actions[start.ply : ply]:
        state = state.child(state.string_to_action(text))
    return state


def last_turn_start_of(match: Match, room: RoomState, player: Player) -> int | None:
    """The ply at which the last finished turn of ``player`` began; ``None`` when there is none."""
    for start, end_ply in _iter_stretches_backwards(match, room):
        found: int | None = None
        state = start.state
        for ply in range(start.ply, end_ply):
            text, actions_before_count = match.actions[ply], state.actions_in_turn
            state = state.child(state.string_to_action(text))
            if state.actions_in_turn == 0 and match.movers[ply] == player:
                # A match may begin in mid-turn, from a position.
                found = max(ply - actions_before_count, 0)
        if found is not None:
            return found
    return None


def _iter_stretches_backwards(match: Match, room: RoomState) -> Iterator[tuple[Checkpoint, int]]:
    """Each checkpoint, the latest first, with the ply where the stretch behind it ends."""
    end_ply = len(match.actions)
    for checkpoint in reversed(match.checkpoints):
        yield checkpoint, end_ply
        end_ply = checkpoint.ply
    yield Checkpoint(0, room.game.initial_state()), end_ply
