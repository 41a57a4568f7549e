"""What the servers on one database know of each other."""

from __future__ import annotations

from collections.abc import AsyncGenerator, Callable, Mapping

from tabuleiro.ids import RoomCode, Seq
from tabuleiro_server.store.port import Peers
from tabuleiro_server.store.postgres.connection import Database
from tabuleiro_server.store.postgres.notices import Notices


class PostgresPeers(Peers):
    """The other servers on one database; see :class:`.Peers` for what each method promises."""

    def __init__(self, database: Database, is_own: Callable[[int], bool]) -> None:
        """``is_own`` tells the number of a backend that this server commits by."""
        self.notices = Notices(database, is_own)

    def changes(self) -> AsyncGenerator[Mapping[RoomCode, Seq]]:
        """Yield batches of rooms that other servers have changed, with their last events."""
        return self.notices.batches()
