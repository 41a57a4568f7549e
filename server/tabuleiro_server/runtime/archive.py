"""Matches as they were played, read back from the events of their room."""

from __future__ import annotations

from collections.abc import Iterable

from tabuleiro.clock import format_time_control
from tabuleiro.errors import CommandError, StoreError
from tabuleiro.ids import Seq
from tabuleiro.protocol.codes import ErrorCode
from tabuleiro.protocol.events import MatchEnded, SequencedEvent
from tabuleiro.protocol.messages import RecordPlayed
from tabuleiro_server.room.commands import Watch
from tabuleiro_server.room.evolve import evolve
from tabuleiro_server.room.seating import decide_watch
from tabuleiro_server.room.state import Match, RoomState
from tabuleiro_server.runtime.journal import Journal
from tabuleiro_server.runtime.refusals import no_such_room, parse_room_code, unavailable


class Archive:
    """All matches of all rooms, also of closed ones."""

    def __init__(self, journal: Journal) -> None:
        self._journal = journal

    async def find(self, code_text: str, number: int | None, watch: Watch) -> RecordPlayed:
        """Return a match of a room: the last one when ``number`` is ``None``.

        Raises: CommandError when there is none, when ``watch`` is refused, or when the disk refuses.
        """
        code = parse_room_code(code_text)
        if code is None:
            raise no_such_room(code_text)
        try:
            events = await self._journal.events_after(code, Seq(0))
        except StoreError as error:
            raise unavailable(error) from error
        if not events:
            raise no_such_room(code_text)
        room, records = records_of(events)
        decide_watch(room, watch, room.updated_at_ms)
        wanted = [record for record in records if number in (None, record.match)]
        if not wanted:
            which = "no match" if number is None else f"no match {number}"
            raise CommandError(ErrorCode.WRONG_PHASE, f"{which} has begun in room {code}")
        return wanted[-1]


def records_of(events: Iterable[SequencedEvent]) -> tuple[RoomState, list[RecordPlayed]]:
    """Replay a room; return it and its matches in order, a running one last. ``events`` is not empty."""
    room: RoomState | None = None
    records = []
    for event in events:
        room = evolve(room, event)
        if isinstance(event.event, MatchEnded) and room.match is not None:
            records.append(_record(room, room.match))
    assert room is not None
    if room.match is not None and room.match.termination is None:
        records.append(_record(room, room.match))
    return room, records


def _record(room: RoomState, match: Match) -> RecordPlayed:
    return RecordPlayed(
        room=room.code,
        match=match.number,
        game=room.game.name,
        options=dict(room.game.options),
        players=match.players,
        actions=match.actions,
        started_at_ms=match.started_at_ms,
        time_control=format_time_control(match.time_control),
        ended_at_ms=match.ended_at_ms,
        winner=match.winner,
        termination=match.termination,
    )
