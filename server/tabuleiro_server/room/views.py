"""Views of a room for its clients: heads, snapshots, list lines and events, made from its state.

There are two kinds of viewers: players of the running match, from whom watchers' chat may be hidden, and everybody
else. A player can read the hidden chat after the match, on entering the room again.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping
from enum import Enum
from types import MappingProxyType

from msgspec.structs import replace

from tabuleiro.clock import NoClock
from tabuleiro.ids import PLAYERS, AccountId, Player, Ply, TimestampMs
from tabuleiro.protocol.boards import Board, BoardLayout, board_of, layout_of
from tabuleiro.protocol.events import OfferView, RoomOpened, Said, SeatInfo, SequencedEvent, Withheld
from tabuleiro.protocol.messages import (
    BotThought,
    ChatLine,
    FirstTurn,
    MatchView,
    RoomHead,
    RoomSummary,
    SeatView,
    Snapshot,
)
from tabuleiro.rules.base import State
from tabuleiro_server.room.state import Match, RoomState, first_turn_due_ms, first_turn_limit_ms


class Viewer(Enum):
    """The kinds of viewers of a room: players of its running match, and everybody else."""

    PLAYER = "player"
    WATCHER = "watcher"


def viewer_of(room: RoomState, account: AccountId) -> Viewer:
    """Return the kind of viewer that ``account`` is now."""
    is_playing = room.phase == "playing" and room.seats_of(account)
    return Viewer.PLAYER if is_playing else Viewer.WATCHER


def head_of(
    room: RoomState,
    now_ms: TimestampMs,
    *,
    connected: Collection[AccountId] = (),
    lost_ms: Mapping[AccountId, TimestampMs] = MappingProxyType({}),
    watchers_count: int = 0,
    thinking: BotThought | None = None,
) -> RoomHead:
    """Return the head of a room.

    ``connected`` are the accounts with a connection in the room; ``lost_ms`` are the times when others lost their
    last one, for departures that are not stored yet.
    """
    return RoomHead(
        room=room.code,
        seq=room.seq,
        phase=room.phase,
        game=room.game.name,
        options=dict(room.game.options),
        host_name=room.host_name,
        created_at_ms=room.created_at_ms,
        seats=(_seat_view(room, 0, connected, lost_ms), _seat_view(room, 1, connected, lost_ms)),
        now_ms=now_ms,
        settings=room.settings,
        watchers=watchers_count,
        match=None if room.match is None else _match_view(room, room.match),
        offers=tuple([OfferView(offer.kind, offer.player) for offer in room.offers]),
        thinking=thinking,
    )


def _seat_view(
    room: RoomState, seat: Player, connected: Collection[AccountId], lost_ms: Mapping[AccountId, TimestampMs]
) -> SeatView:
    holder: SeatInfo = room.seats[seat]
    if holder.kind == "bot" or holder.account is None:
        return SeatView(holder, holder.kind == "bot")
    if holder.account in connected:
        return SeatView(holder, True)
    since_ms = room.away_since_ms[seat]
    return SeatView(holder, False, lost_ms.get(holder.account) if since_ms is None else since_ms)


def _match_view(room: RoomState, match: Match) -> MatchView:
    # Clients read the clock by the settings of the room, which may be other ones after the match.
    control = room.settings.time_control
    due_ms = first_turn_due_ms(room)
    is_readable = not isinstance(control, NoClock) and match.time_control == control
    return MatchView(
        number=match.number,
        ply=Ply(len(match.actions)),
        to_move=match.to_move,
        digest=match.state.digest(),
        started_at_ms=match.started_at_ms,
        ended_at_ms=match.ended_at_ms,
        winner=match.winner,
        termination=match.termination,
        clock=match.clock if is_readable else None,
        revision=match.revision,
        can_abort=match.termination is None and not match.has_begun,
        players=_player_names(match),
        first_turn=None if due_ms is None else FirstTurn(due_ms, first_turn_limit_ms(room)),
    )


def _player_names(match: Match) -> tuple[str, str]:
    first, second = match.players
    return first.name or "", second.name or ""


def layout_in(room: RoomState) -> BoardLayout:
    """Return the layout of the room's board."""
    return layout_of(_position(room))


def board_in(room: RoomState, *, with_choices: bool) -> Board:
    """Return the position of the running or last match, before the first one the start position.

    Choices are there while the match goes on; somebody who is not to move gets none.
    """
    match = room.match
    is_on = match is not None and match.termination is None
    ply = 0 if match is None else len(match.actions)
    board = board_of(_position(room), ply, with_choices=with_choices and is_on)
    return board if is_on else replace(board, to_move=None)


def is_chooser(room: RoomState, account: AccountId) -> bool:
    """Return True if ``account`` is to move in the running match."""
    to_move = None if room.match is None else room.match.to_move
    return to_move is not None and to_move in room.seats_of(account)


def _position(room: RoomState) -> State:
    return room.game.initial_state() if room.match is None else room.match.state


def snapshot_of(room: RoomState, viewer: Viewer) -> Snapshot:
    """Return the lists of a room as a viewer may see them."""
    return Snapshot(
        actions=() if room.match is None else room.match.actions,
        chat=tuple(
            ChatLine(line.at_ms, line.account, line.name, line.text, line.is_player)
            for line in room.chat
            if not (line.is_hidden and viewer is Viewer.PLAYER)
        ),
    )


def event_for(sequenced: SequencedEvent, viewer: Viewer) -> SequencedEvent:
    """Return the event as a viewer may see it: nobody sees secrets, players see no hidden chat."""
    # Asked at every move: of a struct `isinstance` takes long to say no.
    event = sequenced.event
    if type(event) is RoomOpened and event.secrets is not None:
        return replace(sequenced, event=replace(event, secrets=None))
    if type(event) is Said and event.is_hidden and viewer is Viewer.PLAYER:
        return replace(sequenced, event=Withheld())
    return sequenced


def summary_of(room: RoomState, watchers_count: int = 0) -> RoomSummary:
    """Return the room as a line of the list of rooms."""
    match = room.match
    return RoomSummary(
        room=room.code,
        phase=room.phase,
        game=room.game.name,
        options=dict(room.game.options),
        seats=(room.seats[PLAYERS[0]], room.seats[PLAYERS[1]]),
        created_at_ms=room.created_at_ms,
        settings=room.settings,
        watchers=watchers_count,
        plies=0 if match is None else len(match.actions),
        winner=None if match is None else match.winner,
        termination=None if match is None else match.termination,
        players=None if match is None else _player_names(match),
    )
