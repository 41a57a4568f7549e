"""Decisions about hints: who may be told what to play, and how often."""

from __future__ import annotations

from typing import Final

from tabuleiro.ids import Ply
from tabuleiro.protocol.codes import ErrorCode
from tabuleiro.protocol.events import Events, HintTaken
from tabuleiro_server.room import commands
from tabuleiro_server.room.permissions import held_seats, refuse, running_match
from tabuleiro_server.room.state import RoomState

HINT_PAUSE_MS: Final = 5_000
"""A player gets a hint this long after the last one, at the earliest."""


def decide_hint(room: RoomState, command: commands.TakeHint, now_ms: int) -> Events:
    """Be told what to play. What that is, is thought out elsewhere; the room only learns that it was told."""
    held = held_seats(room, command.account)
    match = running_match(room, command.match)
    if not room.settings.is_casual:
        refuse(ErrorCode.NOT_ALLOWED, "there are no hints in a room that is not casual")
    if not room.settings.hints:
        refuse(ErrorCode.NOT_ALLOWED, "this room gives no hints")
    if (command.ply, command.revision) != (len(match.actions), match.revision):
        refuse(ErrorCode.STALE_PLY, "the position has moved on: ask again")
    player = match.to_move
    if player is None or player not in held:
        refuse(ErrorCode.NOT_YOUR_TURN, "hints are for the player to move, and it is the other player's turn")
    last_ms = match.hinted_at_ms[player]
    # A hint ahead of now is from before the machine's clock was set back.
    if last_ms is not None and last_ms <= now_ms < last_ms + HINT_PAUSE_MS:
        seconds = HINT_PAUSE_MS // 1000
        refuse(ErrorCode.LIMIT_REACHED, f"you had a hint just now: at most one in {seconds} seconds")
    return (HintTaken(match.number, Ply(command.ply), player),)
