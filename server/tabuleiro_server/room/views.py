"""What others may see of a room: heads, snapshots and list lines made from its state."""

from __future__ import annotations

from collections.abc import Collection

from tabuleiro.ids import AccountId, Ply
from tabuleiro.protocol.messages import MatchView, RoomHead, RoomSummary, SeatView, Snapshot
from tabuleiro_server.room.state import Match, RoomState


def head_of(room: RoomState, connected: Collection[AccountId] = (), watchers_count: int = 0) -> RoomHead:
    """The head of a room. ``connected`` are the accounts that have a connection in the room."""
    seat_views = tuple(
        SeatView(seat, seat.kind == "bot" or (seat.account is not None and seat.account in connected))
        for seat in room.seats
    )
    return RoomHead(
        room=room.code,
        seq=room.seq,
        phase=room.phase,
        game=room.game.name,
        options=dict(room.game.options),
        host_name=room.host_name,
        created_at_ms=room.created_at_ms,
        seats=(seat_views[0], seat_views[1]),
        watchers=watchers_count,
        match=None if room.match is None else match_view_of(room.match),
    )


def match_view_of(match: Match) -> MatchView:
    """The running or last match, without its actions."""
    return MatchView(
        number=match.number,
        ply=Ply(len(match.actions)),
        to_move=match.to_move,
        digest=match.state.digest(),
        started_at_ms=match.started_at_ms,
        ended_at_ms=match.ended_at_ms,
        winner=match.winner,
        termination=match.termination,
    )


def snapshot_of(room: RoomState) -> Snapshot:
    """The lists of a room."""
    return Snapshot(actions=() if room.match is None else room.match.actions)


def summary_of(room: RoomState, watchers_count: int = 0) -> RoomSummary:
    """The room as a line of the list of rooms."""
    match = room.match
    return RoomSummary(
        room=room.code,
        phase=room.phase,
        game=room.game.name,
        options=dict(room.game.options),
        seats=room.seats,
        created_at_ms=room.created_at_ms,
        watchers=watchers_count,
        plies=0 if match is None else len(match.actions),
        winner=None if match is None else match.winner,
        termination=None if match is None else match.termination,
    )
