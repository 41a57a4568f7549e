"""Records of matches, read back from the events of their rooms."""

from __future__ import annotations

import asyncio
from collections.abc import Iterable
from typing import Final

import structlog

from tabuleiro.clock import format_time_control
from tabuleiro.errors import CommandError, DamagedRoomError, GameOptionError, NotationError, StoreError
from tabuleiro.ids import Seq
from tabuleiro.protocol.boards import board_of, layout_of
from tabuleiro.protocol.codes import ErrorCode
from tabuleiro.protocol.events import MatchEnded, SequencedEvent
from tabuleiro.protocol.messages import BoardsShown, RecordPlayed
from tabuleiro.rules import registry
from tabuleiro_server.room.commands import Watch
from tabuleiro_server.room.evolve import evolve
from tabuleiro_server.room.seating import decide_watch
from tabuleiro_server.room.state import Match, RoomState
from tabuleiro_server.rooms.journal import Journal, chunked
from tabuleiro_server.rooms.refusals import code_of_room, damaged, no_such_room, unavailable

BOARDS_CHUNK_COUNT: Final = 20
"""Positions that are replayed and drawn in one piece; others have their turn in between."""

log = structlog.get_logger(__name__)


class Archive:
    """All matches of all rooms, closed ones too.

    Replaying a long match takes a while, and anybody may ask for it again and again: it is done in chunks, and for
    one request after the other.
    """

    def __init__(self, journal: Journal) -> None:
        self._journal = journal
        self._replaying = asyncio.Lock()

    async def find(self, code_text: str, number: int | None, watch: Watch) -> RecordPlayed:
        """Return a match of a room: the last one when ``number`` is ``None``.

        Raises:
            CommandError: There is no such match, or ``watch`` is refused, or the room cannot be read.
        """
        code = code_of_room(code_text)
        async with self._replaying:
            try:
                events = await self._journal.events_after(code, Seq(0))
                if not events:
                    raise no_such_room(code_text)
                replayed = _Replay()
                async for chunk in chunked(events):
                    replayed.take(chunk)
                room, records = replayed.result()
            except (DamagedRoomError, GameOptionError, NotationError) as error:
                # What is stored cannot be read, or cannot be by the rules: waiting mends nothing.
                log.warning("room damaged", room=code, reason=str(error))
                raise damaged(code) from error
            except StoreError as error:
                raise unavailable(error) from error
        decide_watch(room, watch, room.updated_at_ms)
        wanted = [record for record in records if number in (None, record.match)]
        if not wanted:
            which = "no match" if number is None else f"no match {number}"
            raise CommandError(ErrorCode.WRONG_PHASE, f"{which} has begun in room {code}")
        return wanted[-1]

    async def boards(
        self, code_text: str, number: int | None, watch: Watch, first_ply: int, count: int
    ) -> BoardsShown:
        """Return positions of a match in order: after ``first_ply`` actions, and up to ``count`` in a row.

        Raises:
            CommandError: As :meth:`find`, and stale-ply when the match is shorter.
        """
        record = await self.find(code_text, number, watch)
        actions_count = len(record.actions)
        if first_ply > actions_count:
            message = f"match {record.match} has {actions_count} actions: there is no position after {first_ply}"
            raise CommandError(ErrorCode.STALE_PLY, message)
        state = registry.load(record.game, record.options).initial_state()
        layout, boards, last_ply = layout_of(state), [], min(first_ply + count - 1, actions_count)
        async with self._replaying:
            for ply in range(last_ply + 1):
                if ply > 0:
                    state = state.child(state.string_to_action(record.actions[ply - 1]))
                if ply >= first_ply:
                    boards.append(board_of(state, ply))
                if ply % BOARDS_CHUNK_COUNT == 0:
                    await asyncio.sleep(0)
        return BoardsShown(layout, tuple(boards), actions_count)


def records_of(events: Iterable[SequencedEvent]) -> tuple[RoomState, list[RecordPlayed]]:
    """Replay a room; return it and its matches in order, a running one last. ``events`` is not empty."""
    replay = _Replay()
    replay.take(events)
    return replay.result()


class _Replay:
    """A room during its replay, and its matches that have ended so far."""

    def __init__(self) -> None:
        self._room: RoomState | None = None
        self._records: list[RecordPlayed] = []

    def take(self, events: Iterable[SequencedEvent]) -> None:
        for event in events:
            self._room = evolve(self._room, event)
            if isinstance(event.event, MatchEnded) and self._room.match is not None:
                self._records.append(_record(self._room, self._room.match))

    def result(self) -> tuple[RoomState, list[RecordPlayed]]:
        room = self._room
        assert room is not None
        if room.match is not None and room.match.termination is None:
            return room, [*self._records, _record(room, room.match)]
        return room, self._records


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
