"""What the query tables say of a room, and when that is written.

Moves and talk change nothing in a room's row but times and the count of moves. Writing that with each of them
took a fifth of the server's time, so the first one marks the row as provisional, and it is made exact again when
anything else changes and when the room leaves memory. If the server dies before, the next one finds the mark,
loads the room, and sees to what is due.
"""

from __future__ import annotations

import json
from typing import Final, NamedTuple

import msgspec
from msgspec.structs import replace

from tabuleiro.ids import Phase, TimestampMs
from tabuleiro.protocol.events import SeatInfo
from tabuleiro.protocol.messages import RoomSummary
from tabuleiro.protocol.settings import RoomSettings
from tabuleiro.rules.base import Game
from tabuleiro_server.room.deadlines import Deadline
from tabuleiro_server.room.state import RoomState, Seats
from tabuleiro_server.room.views import summary_of
from tabuleiro_server.store.rows import MatchRow, PlayerRow, RoomRow

_ENCODER: Final = msgspec.msgpack.Encoder()
_SUMMARY_DECODER: Final = msgspec.msgpack.Decoder(RoomSummary)


class Outline(NamedTuple):
    """What a room's row tells beside times and the count of moves. ``match`` is 0 before the first."""

    phase: Phase
    game: Game
    seats: Seats
    settings: RoomSettings
    match: int
    termination: str | None


class RowOnDisk(NamedTuple):
    """What is known of the row on disk. ``outline`` is ``None`` when that is nothing, or there is no row."""

    outline: Outline | None
    is_provisional: bool


UNKNOWN_ROW: Final = RowOnDisk(None, True)


def outline_of(room: RoomState) -> Outline:
    """What the room's row has to tell now."""
    match = room.match
    number, termination = (0, None) if match is None else (match.number, match.termination)
    return Outline(room.phase, room.game, room.seats, room.settings, number, termination)


def row_due(on_disk: RowOnDisk, room: RoomState, deadline: Deadline | None) -> tuple[RoomRow | None, RowOnDisk]:
    """The row to be written with the events that led to ``room``, and what is on disk then.

    ``None`` when the row on disk does.
    """
    outline = outline_of(room)
    if outline != on_disk.outline:
        return room_row(room, deadline), RowOnDisk(outline, is_provisional=False)
    if on_disk.is_provisional:
        return None, on_disk
    return room_row(room, deadline).provisional(), RowOnDisk(outline, is_provisional=True)


def room_row(room: RoomState, deadline: Deadline | None) -> RoomRow:
    """The exact row of a room that time will bring ``deadline`` next."""
    return RoomRow(
        code=room.code,
        phase=room.phase,
        is_listed=not room.settings.is_private,
        created_at_ms=room.created_at_ms,
        updated_at_ms=room.updated_at_ms,
        next_deadline_ms=_wake_at_ms(room, deadline),
        summary=_ENCODER.encode(summary_of(room)),
    )


def read_summary(row: RoomRow) -> RoomSummary:
    """The list line in a row. Raises: msgspec.DecodeError."""
    return _SUMMARY_DECODER.decode(row.summary)


def allowed_row(stored: RoomRow | None, exact: RoomRow) -> RoomRow:
    """The row that has to be on disk where ``stored`` is: as far behind as a provisional one may be."""
    if stored is None or not stored.is_provisional:
        return exact
    try:
        stored_plies, summary = read_summary(stored).plies, read_summary(exact)
    except msgspec.DecodeError:
        return exact
    return replace(
        exact.provisional(),
        updated_at_ms=min(stored.updated_at_ms, exact.updated_at_ms),
        summary=_ENCODER.encode(replace(summary, plies=stored_plies)),
    )


def _wake_at_ms(room: RoomState, deadline: Deadline | None) -> TimestampMs | None:
    """When the room must be loaded if nobody has touched it: at its deadline, or at once for a bot's turn."""
    if room.is_bot_to_move:
        return room.updated_at_ms
    return None if deadline is None else deadline.at_ms


def match_rows(before: RoomState | None, after: RoomState) -> list[MatchRow]:
    """The row of the match when it has begun or ended between the two; it is not written in between."""
    match = after.match
    if match is None:
        return []
    old = before.match if before is not None else None
    if old is not None and old.number == match.number and old.termination == match.termination:
        return []
    return [
        MatchRow(
            room=after.code,
            number=match.number,
            game=after.game.name,
            options_json=json.dumps(dict(after.game.options), sort_keys=True),
            players=(_player_row(match.players[0]), _player_row(match.players[1])),
            started_at_ms=match.started_at_ms,
            ended_at_ms=match.ended_at_ms,
            winner=match.winner,
            termination=match.termination,
            action_count=len(match.actions),
        )
    ]


def _player_row(seat: SeatInfo) -> PlayerRow:
    return PlayerRow(
        account=None if seat.kind == "bot" else seat.account, name=seat.name or "", bot_level=seat.level
    )
