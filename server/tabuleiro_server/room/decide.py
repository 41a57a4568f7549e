"""Decisions: the events that follow from a command, or its refusal.

All checks of permissions and legality are made here. A refusal (`CommandError`) changes nothing.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import Any

from tabuleiro.ids import Seq, TimestampMs
from tabuleiro.protocol.codes import ErrorCode
from tabuleiro.protocol.events import Events, SequencedEvent
from tabuleiro_server.room import commands
from tabuleiro_server.room.chat import decide_mute, decide_say
from tabuleiro_server.room.deadlines import decide_expire
from tabuleiro_server.room.evolve import replay
from tabuleiro_server.room.offers import decide_answer, decide_offer
from tabuleiro_server.room.permissions import refuse
from tabuleiro_server.room.playing import (
    decide_abort,
    decide_claim,
    decide_explanation,
    decide_hint,
    decide_play,
    decide_resign,
    decide_undo,
)
from tabuleiro_server.room.seating import (
    decide_change_settings,
    decide_close,
    decide_connect,
    decide_disconnect,
    decide_join,
    decide_leave,
    decide_resume,
    decide_seat_bot,
    decide_swap,
    decide_watch,
    open_room,
)
from tabuleiro_server.room.state import RoomState

__all__ = ["Events", "decide", "decide_together", "open_room"]


def decide(room: RoomState, command: commands.Command, now_ms: int) -> Events:
    """Return the events that follow from ``command`` at ``now_ms``.

    Raises:
        CommandError: The command is refused.
    """
    if room.phase == "closed":
        refuse(ErrorCode.NO_SUCH_ROOM, f"room {room.code} is closed")
    return _DECIDERS[type(command)](room, command, now_ms)


def decide_together(
    room: RoomState, together: Iterable[commands.Command], now_ms: TimestampMs
) -> tuple[SequencedEvent, ...]:
    """Return the events that follow from all commands, each decided in the room after the ones before.

    Raises:
        CommandError: One of the commands is refused.
    """
    found: tuple[SequencedEvent, ...] = ()
    for command in together:
        before = replay(found, room)
        decided = enumerate(decide(before, command, now_ms), start=before.seq + 1)
        found += tuple([SequencedEvent(Seq(seq), now_ms, event) for seq, event in decided])
    return found


_DECIDERS: dict[type[commands.Command], Callable[[RoomState, Any, int], Events]] = {
    commands.Join: decide_join,
    commands.Watch: decide_watch,
    commands.Leave: decide_leave,
    commands.SeatBot: decide_seat_bot,
    commands.SwapSeats: decide_swap,
    commands.ChangeSettings: decide_change_settings,
    commands.Play: decide_play,
    commands.Undo: decide_undo,
    commands.TakeHint: decide_hint,
    commands.Explain: decide_explanation,
    commands.Resign: decide_resign,
    commands.Abort: decide_abort,
    commands.ClaimWin: decide_claim,
    commands.MakeOffer: decide_offer,
    commands.AnswerOffer: decide_answer,
    commands.Say: decide_say,
    commands.Mute: decide_mute,
    commands.Connect: decide_connect,
    commands.Disconnect: decide_disconnect,
    commands.Resume: decide_resume,
    commands.Expire: decide_expire,
    commands.Close: decide_close,
}
