"""When a room's snapshot is written, so that its next load has little to replay."""

from __future__ import annotations

from typing import Final

import structlog

from tabuleiro.ids import Seq
from tabuleiro_server.room.state import RoomState
from tabuleiro_server.rooms.journal import Journal

SNAPSHOT_EVERY_COUNT: Final = 200
"""Events since its last snapshot after which a room gets one.

So no load has more to replay, which takes about five milliseconds. The snapshot is one more row to commit and,
with the longest chat and match, a tenth of a millisecond to write. Most rooms never come to it.
"""

log = structlog.get_logger(__name__)


class SnapshotKeeper:
    """Writes the snapshots of one room. ``snapshot_seq`` is the event after which the one on disk was taken."""

    def __init__(self, journal: Journal, snapshot_seq: Seq) -> None:
        self._journal = journal
        self._snapshot_seq = snapshot_seq

    def is_due(self, room: RoomState) -> bool:
        """Whether the next load would have much to replay."""
        return room.seq - self._snapshot_seq >= SNAPSHOT_EVERY_COUNT

    async def keep(self, room: RoomState) -> None:
        """Write the snapshot of a room whose events are all on disk.

        One that cannot be written is not tried again before as many events have come: a disk in trouble has other
        things to do.
        """
        self._snapshot_seq = room.seq
        try:
            await self._journal.save_snapshot(room)
        except Exception:
            # A fault of ours in writing it down costs the next load some time; it must not cost anybody the match.
            log.exception("snapshot not made", room=room.code, seq=room.seq)
