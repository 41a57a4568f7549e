"""The parts of a server that sessions use."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from tabuleiro.ids import TimestampMs
from tabuleiro_server.config import Config
from tabuleiro_server.memory import Memory
from tabuleiro_server.rooms.archive import Archive
from tabuleiro_server.rooms.change_feed import ChangeFeed
from tabuleiro_server.rooms.directory import Directory
from tabuleiro_server.rooms.followers import Followers
from tabuleiro_server.rooms.hints import Hints
from tabuleiro_server.rooms.nodes import Nodes
from tabuleiro_server.sessions.budgets import Budgets
from tabuleiro_server.sessions.guests import Guests, RoomQuota
from tabuleiro_server.sessions.levels import Levels
from tabuleiro_server.sessions.lifecycle import Lifecycle
from tabuleiro_server.sessions.lobby import Lobby
from tabuleiro_server.sessions.peers import LobbyPeers


@dataclass(frozen=True, slots=True)
class Services:
    """The parts of a running server that sessions use."""

    config: Config
    guests: Guests
    directory: Directory
    nodes: Nodes
    lobby: Lobby
    lobby_peers: LobbyPeers
    feed: ChangeFeed
    followers: Followers
    archive: Archive
    lifecycle: Lifecycle
    quota: RoomQuota
    budgets: Budgets
    memory: Memory
    hints: Hints
    levels: Levels
    now_ms: Callable[[], TimestampMs]
    version: str
